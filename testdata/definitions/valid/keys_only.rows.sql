-- old
INSERT INTO %s (a, b) VALUES (1, 'x');
-- new
INSERT INTO %s (a, b) SELECT g, 'y' FROM generate_series(1, 20) AS g;
