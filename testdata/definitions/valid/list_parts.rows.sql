-- old
INSERT INTO %s (region, n) VALUES ('north', 1), ('nord', 2.5), ('null', NULL), ('somewhere', 3);
-- new
INSERT INTO %s (region, n) SELECT r, g / 3.0 FROM generate_series(1, 12) AS g, unnest(ARRAY['north', 'it''s', 'south', 'null', 'else']) AS r;
