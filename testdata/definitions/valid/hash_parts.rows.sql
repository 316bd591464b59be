-- old
INSERT INTO %s (kind, id, n) SELECT 'old', i, i FROM generate_series(1, 20) AS i;
-- new
INSERT INTO %s (kind, id, n) SELECT k, i, i FROM generate_series(1, 20) AS i, unnest(ARRAY['old', 'new']) AS k;
