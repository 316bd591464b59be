-- old
INSERT INTO %s (week, place, n) VALUES (1, 5, 1), (1, 7, 1);
-- new
INSERT INTO %s (week, place, n) SELECT g, p, g FROM generate_series(1, 15) AS g, unnest(ARRAY[5, 7, 9]) AS p;
