-- old
INSERT INTO %s (week, region, code, n) VALUES (1, 'north', 1, 1), (1, 'south', 2, 2), (2, 'north', 3, 3);
-- new
INSERT INTO %s (week, region, code, n) SELECT g, r, 2 * g + length(r) % 2, g % 7 FROM generate_series(1, 20) AS g, unnest(ARRAY['north', 'west']) AS r;
