-- old
INSERT INTO %s (week, n) VALUES (1, 0), (2, 0);
-- new
INSERT INTO %s (week, n) SELECT g, g FROM generate_series(1, 30) AS g;
