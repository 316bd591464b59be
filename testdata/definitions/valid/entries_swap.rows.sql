-- old
INSERT INTO %s (id, title, code, n) SELECT g, 'Title ' || g, g, g FROM generate_series(1, 7) AS g;
-- new
INSERT INTO %s (id, title, code, n) SELECT g, 'Title ' || g, g + 1, g % 6 + 1 FROM generate_series(1, 39) AS g;
