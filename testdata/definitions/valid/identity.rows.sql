-- old
INSERT INTO %s (k) VALUES (1), (2);
-- new
INSERT INTO %s (k) SELECT g FROM generate_series(1, 40) AS g;
