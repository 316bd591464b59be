-- Purpose: whether a printed condition has a NULL where a value is meant: as an operand of an operator, of AND, OR or NOT, as the
--          whole, or as an element of what follows IN, ANY or ALL (a row of values too). It would be true for no row, and
--          NOT of it too. A NULL in COALESCE, CASE or another function, and IS DISTINCT FROM NULL, have a meaning.
CREATE FUNCTION cs9.has_null_operand(p_printed text)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $has_null_operand$
#variable_conflict error
DECLARE
    c_operator CONSTANT text := E'(?:[-+*/<>=~!@#%^&|?`]+|OPERATOR\\([^()]*\\)|\\mAND|\\mOR)';
    c_null     CONSTANT text := E'NULL::(?:(?:""|[\\w$]+)\\.)?(?:time(?:stamp)?(?:\\([0-9]+\\))? with(?:out)? time zone|double precision|(?:character|bit) varying|interval[\\w ]*|""|[\\w$]+)'
                                || E'(?:\\([0-9]+(?:,-?[0-9]+)?\\))?(?:\\[\\])*';
    v_bare     text;
BEGIN
    IF p_printed NOT LIKE '%NULL%' THEN
        RETURN false;
    END IF;
    -- what literals and quoted names hold does not count, but for an array's elements
    SELECT string_agg(CASE left(t.token, 1)
                          WHEN '"' THEN '""'
                          WHEN '''' THEN CASE WHEN regexp_replace(t.token, E'"(?:[^"\\\\]|\\\\.)*"', '', 'g') ~ '[{,]NULL[,}]' THEN '''{NULL}''' ELSE '''''' END
                          ELSE t.token
                      END, '' ORDER BY t.n)
    INTO v_bare
    FROM cs9.condition_tokens(p_printed) AS t;
    RETURN v_bare ~ concat(E'^\\(*', c_null, E'\\)*$')
        OR v_bare ~ concat('(?:', c_operator, E'|\\mNOT|\\mWHEN) \\(*', c_null)
        -- a bracket that no function opens
        OR v_bare ~ concat(E'(?:^|[\\s([])\\(', c_null, E'(?:\\)+::[\\w ]+(?:\\[\\])*)?\\)* ', c_operator, ' ')
        OR v_bare ~ concat(E'\\m(?:ANY|ALL) \\(+(?:', c_null, E'|E?''\\{NULL\\}''|ARRAY\\[[^\\]]*', c_null, ')')
        OR v_bare ~ concat(c_operator, E' \\(*ROW\\([^()]*', c_null)
        OR v_bare ~ concat(E'ROW\\([^()]*', c_null, E'[^()]*\\)+ ', c_operator, ' ');
END;
$has_null_operand$;
COMMENT ON FUNCTION cs9.has_null_operand(text) IS 'Whether a printed condition has a NULL where a value is meant';
