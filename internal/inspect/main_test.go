package inspect_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { pgtest.Main(m) }

// inspected inspects a schema twice, and requires the same of both.
func inspected(t *testing.T, url string, options inspect.Options) *inspect.Result {
	t.Helper()
	first, err := inspect.Inspect(t.Context(), pgtest.Connect(t, url), options)
	require.NoError(t, err)
	second, err := inspect.Inspect(t.Context(), pgtest.Connect(t, url), options)
	require.NoError(t, err)
	require.Equal(t, string(first.File), string(second.File))
	require.Equal(t, first.Notes, second.Notes)
	require.Equal(t, first.LeftOut, second.LeftOut)
	return first
}

// loaded reads a definition file as a user's program would.
func loaded(t *testing.T, text []byte) []sqlgen.Table {
	t.Helper()
	defs, err := sqlgen.Load(saved(t, text))
	require.NoError(t, err, string(text))
	return defs.Tables
}

func saved(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	return path
}

// dump lists what PostgreSQL itself says of the tables of a schema, one object a
// line: it is not what inspect reads.
func dump(t *testing.T, conn *pgx.Conn, schema string) []string {
	t.Helper()
	pgtest.Exec(t, conn, "SET search_path = pg_catalog")
	rows, err := conn.Query(t.Context(), `
		WITH of AS (
			SELECT c.oid, c.relname, c.relkind, c.relispartition, c.relpartbound FROM pg_class AS c
			WHERE c.relnamespace = quote_ident($1)::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'goose_db_version'
			  AND NOT EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND g.tgname = 'cs9_guard')
		)
		SELECT format('table %s %s %s /%s', relname, CASE relkind WHEN 'p' THEN pg_get_partkeydef(oid) END,
			CASE WHEN relispartition THEN (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = oid) || ' ' || pg_get_expr(relpartbound, oid) END,
			obj_description(oid, 'pg_class')) AS line FROM of
		UNION ALL
		SELECT format('column %s.%s %s %s null=%s identity=%s %s generated=%s collation=%s default=%s /%s', of.relname, a.attname, a.attnum,
			format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, a.attidentity, CASE WHEN a.attidentity <> '' THEN pg_get_serial_sequence(of.oid::regclass::text, a.attname) END,
			a.attgenerated, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid), col_description(of.oid, a.attnum))
		FROM of JOIN pg_attribute AS a ON a.attrelid = of.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		UNION ALL
		SELECT format('constraint %s.%s %s', of.relname, k.conname, pg_get_constraintdef(k.oid)) FROM of JOIN pg_constraint AS k ON k.conrelid = of.oid AND k.contype <> 'n'
		UNION ALL
		-- the index of a partition is named by PostgreSQL, with a number in the order in which they are made
		SELECT format('index %s', CASE WHEN c.relispartition THEN regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX .* ON ', ' INDEX ON ')
			ELSE pg_get_indexdef(i.indexrelid) END)
		FROM of JOIN pg_index AS i ON i.indrelid = of.oid JOIN pg_class AS c ON c.oid = i.indexrelid`, schema)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " /")
	}
	return lines
}
