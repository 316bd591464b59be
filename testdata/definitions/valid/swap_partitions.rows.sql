-- old
INSERT INTO %s (region, n) VALUES ('north', 1), ('south', 2.5), ('100%', NULL);
-- new
INSERT INTO %s (region, n) SELECT r, g / 3.0 FROM generate_series(1, 20) AS g, unnest(ARRAY['north', '100%']) AS r;
