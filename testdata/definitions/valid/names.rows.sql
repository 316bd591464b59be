-- old
INSERT INTO %s ("C Odd%.x", "select") VALUES (1, 'A'), (2, 'a b');
-- new
INSERT INTO %s ("C Odd%.x", "select", "a""b", "back\slash", "år", "$insert$")
SELECT g, v, g + 0.25, '\', g, '$x$' FROM generate_series(1, 10) AS g, unnest(ARRAY['a b', 'a_b', 'A', '', '9', 'it''s; -- $$', '100%']) AS v;
