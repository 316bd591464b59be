-- old
INSERT INTO %s (id, n) VALUES (1, 1), (2, NULL);
-- new
INSERT INTO %s (id, n) SELECT g, nullif(g % 3, 0) FROM generate_series(1, 50) AS g;
