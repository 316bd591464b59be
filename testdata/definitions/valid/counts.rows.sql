-- old
INSERT INTO %s (week, region, n) SELECT w, 'north', 0 FROM generate_series(1, 5) AS w;
-- new
INSERT INTO %s (week, region, n) SELECT w, r, w * length(r) FROM generate_series(1, 30) AS w, unnest(ARRAY['north', 'south']) AS r;
