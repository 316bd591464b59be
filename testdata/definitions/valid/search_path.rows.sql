-- old
INSERT INTO %s (k, n) VALUES (1, 1), (2, 2);
-- new
INSERT INTO %s (k, n) SELECT g, g FROM generate_series(1, 50) AS g;
