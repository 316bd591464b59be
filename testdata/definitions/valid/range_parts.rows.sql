-- old
INSERT INTO %s (day, hour, n) VALUES ('2023-05-05', 1, 1), ('2024-01-01', 12, 2), ('2025-06-01', 23, 3);
-- new
INSERT INTO %s (day, hour, n) SELECT d, h, h FROM generate_series(1, 12) AS h, unnest(ARRAY['-infinity', '2024-01-01', '2024-12-31', '2025-01-01', '2025-06-01', '2025-12-01', 'infinity']::date[]) AS d;
