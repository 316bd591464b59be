-- old
INSERT INTO %s (id, title, code) SELECT g, 'Title ' || g, g FROM generate_series(1, 7) AS g;
-- new
INSERT INTO %s (id, title, note, code, tags) SELECT g, 'Title ' || g, 'note ' || g % 5, nullif(g, 39), ARRAY[g, 1] FROM generate_series(1, 39) AS g;
