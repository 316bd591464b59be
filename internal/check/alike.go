package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// settledSQL makes a function that returns the text of a check, or what an index
// is after USING, as it prints once it was read as often as it takes to print the
// same again. PostgreSQL prints some of it otherwise after a dump was restored:
// varchar IN (…), BETWEEN … AND ….
const settledSQL = `
CREATE FUNCTION pg_temp.settled(p_kind text, p_table text, p_text text) RETURNS text LANGUAGE plpgsql AS $settled$
DECLARE
    v_text    text := p_text;
    v_printed text;
BEGIN
    FOR i IN 1 .. 10 LOOP
        EXECUTE format('CREATE TABLE pg_temp.cs9_reading (LIKE %s)', p_table);
        IF p_kind = 'index' THEN
            EXECUTE 'CREATE INDEX cs9_read ON pg_temp.cs9_reading USING ' || v_text;
            v_printed := pg_get_indexdef('pg_temp.cs9_read'::regclass);
            v_printed := substr(v_printed, strpos(v_printed, ' USING ') + length(' USING '));
        ELSE
            EXECUTE 'ALTER TABLE pg_temp.cs9_reading ADD CONSTRAINT cs9_read ' || v_text;
            SELECT pg_get_constraintdef(k.oid) INTO STRICT v_printed FROM pg_constraint AS k WHERE k.conrelid = 'pg_temp.cs9_reading'::regclass AND k.conname = 'cs9_read';
        END IF;
        DROP TABLE pg_temp.cs9_reading;
        EXIT WHEN v_printed = v_text;
        v_text := v_printed;
    END LOOP;
    RETURN v_text;
END
$settled$`

// takeAlike replaces what was found by what is expected where the two say the
// same in other words. The scratch database reads both.
func takeAlike(ctx context.Context, scratch *pgx.ConnConfig, expected, found catalogue) error {
	conn, err := pgx.ConnectConfig(ctx, scratch)
	if err != nil {
		return fmt.Errorf("check: connect to the scratch database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the database is dropped
	for _, sql := range []string{"SET search_path = ''", settledSQL} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("check: prepare the scratch database: %w", err)
		}
	}
	for name, e := range expected {
		f, ok := found[name]
		table, isOfTable := strings.CutPrefix(e.belongs, "table ")
		if !ok || !isOfTable {
			continue
		}
		for _, aspect := range []string{"definition", "default", "generated"} {
			if same, err := alike(ctx, conn, table, readable(name, aspect, e.facts[aspect]), readable(name, aspect, f.facts[aspect])); err != nil {
				return err
			} else if same {
				f.facts[aspect] = e.facts[aspect]
			}
		}
	}
	return nil
}

// reading is a text as pg_temp.settled takes it, and what it must have in common
// with another one.
type reading struct{ kind, head, text string }

// readable returns how an aspect of an object is read; a reading without a kind
// where it is compared as it is.
func readable(object, aspect, text string) reading {
	kind := kindOf(object)
	switch {
	case text == "":
		return reading{}
	case kind == "constraint" && strings.HasPrefix(text, "CHECK "):
		return reading{kind, "", text}
	case kind == "index" && aspect == "definition":
		head, tail, _ := strings.Cut(text, " USING ")
		return reading{kind, head, tail}
	case kind == "column" && aspect == "default":
		return reading{kind, "", fmt.Sprintf("CHECK ((%s) IS NULL)", text)}
	case kind == "column" && aspect == "generated":
		expression, stored := strings.CutSuffix(text, " STORED")
		return reading{kind, fmt.Sprint(stored), fmt.Sprintf("CHECK ((%s) IS NULL)", strings.TrimSuffix(expression, " VIRTUAL"))}
	}
	return reading{}
}

func alike(ctx context.Context, conn *pgx.Conn, table string, one, other reading) (bool, error) {
	if one.kind == "" || one.kind != other.kind || one.head != other.head || one.text == other.text {
		return false, nil
	}
	var same bool
	err := conn.QueryRow(ctx, "SELECT pg_temp.settled($1, $2, $3) = pg_temp.settled($1, $2, $4)", one.kind, table, one.text, other.text).Scan(&same)
	if err != nil && ctx.Err() == nil && !conn.IsClosed() {
		return false, nil // one of them means nothing here: they differ
	}
	if err != nil {
		return false, fmt.Errorf("check: compare expressions: %w", err)
	}
	return same, nil
}
