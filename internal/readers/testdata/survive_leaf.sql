-- The same for a partition: what can be set of a partition alone.
ALTER TABLE @leaf SET (fillfactor = 71, autovacuum_enabled = false, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE @leaf SET (toast.autovacuum_enabled = false);
GRANT SELECT ON @leaf TO @role;
GRANT UPDATE (gen) ON @leaf TO @role;
COMMENT ON TABLE @leaf IS 'a partition';
COMMENT ON COLUMN @leaf.gen IS 'the generation, here';
ALTER TABLE @leaf REPLICA IDENTITY FULL;
COMMENT ON INDEX @leaf_pkey IS 'the key, here';
CREATE INDEX ON @leaf (gen, region DESC) WITH (fillfactor = 81);
ALTER TABLE @leaf ADD CONSTRAINT leaf_hand_check CHECK (k > 0);
COMMENT ON CONSTRAINT leaf_hand_check ON @leaf IS 'no key below 1';
