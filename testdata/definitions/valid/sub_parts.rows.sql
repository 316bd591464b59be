-- old
INSERT INTO %s (day, region, n) VALUES ('2024-05-05', 'north', 1), ('2025-05-05', 'south', 2), ('2026-05-05', 'west', 3), ('2030-01-01', 'north', 4), ('2030-01-01', 'west', 5);
-- new
INSERT INTO %s (day, region, n) SELECT d, r, g FROM generate_series(1, 8) AS g, unnest(ARRAY['2024-01-01', '2025-12-31', '2026-07-07', '1999-01-01']::date[]) AS d, unnest(ARRAY['north', 'south']) AS r;
