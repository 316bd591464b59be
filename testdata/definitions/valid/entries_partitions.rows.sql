-- old
INSERT INTO %s (id, region, title, n) SELECT g, 'north', 'Title ' || g, g FROM generate_series(1, 7) AS g;
-- new
INSERT INTO %s (id, region, title, n) SELECT g, CASE g % 2 WHEN 0 THEN 'north' ELSE 'south west' END, 'Title ' || g, g % 6 FROM generate_series(1, 39) AS g;
