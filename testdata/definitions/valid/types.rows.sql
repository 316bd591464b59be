-- old
INSERT INTO %s (day, code, whole) VALUES ('2026-01-01', 'old', 1);
-- new
INSERT INTO %s (day, code, label, whole, ratio, at, flag, amount, tags, extra)
SELECT date '2026-01-01' + g, 'c' || g % 4, CASE WHEN g % 5 > 0 THEN 'l' || g END, g, g / 7.0, timestamptz '2026-01-01 00:00:00+00' + g * interval '1 hour',
       g % 2 = 0, g * 1.25, ARRAY['x', NULL, g::text], jsonb_build_object('g', g, 'q', '?')
FROM generate_series(1, 60) AS g;
