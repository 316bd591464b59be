package sqlgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// checkCatalogue compares what PostgreSQL made of a table with its definition.
func checkCatalogue(t *testing.T, conn *pgx.Conn, d definition) {
	t.Helper()
	require.Equal(t, wantColumns(t, conn, d), query(t, conn, `
		SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'not null' END,
			CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END, CASE a.attgenerated WHEN 's' THEN 'generated' END,
			CASE WHEN d.oid IS NOT NULL AND a.attgenerated = '' THEN 'default' END, '/' || col_description(a.attrelid, a.attnum))
		FROM pg_attribute AS a
		LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attnum`, d.live()))
	require.Equal(t, d.table.Comment, pgtest.Scalar[string](t, conn, "SELECT coalesce(obj_description($1::regclass), '')", d.live()))
	require.Equal(t, wantIndexes(d), query(t, conn, `
		SELECT format('%s: %s%s', c.relname, CASE WHEN i.indisprimary THEN 'primary ' WHEN i.indisunique THEN 'unique ' END,
			(SELECT string_agg(a.attname, ', ' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
			 JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum))
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1::regclass
		   OR NOT c.relispartition AND i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass)
		ORDER BY c.relname COLLATE "C"`, d.live()))
	require.Equal(t, len(d.table.Checks), pgtest.Scalar[int](t, conn,
		"SELECT count(*)::integer FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'", d.live()))
	require.Equal(t, len(d.table.ForeignKeys), pgtest.Scalar[int](t, conn,
		"SELECT count(*)::integer FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'f'", d.live()))
	values := 0
	switch {
	case d.table.Partitions != nil:
		values = len(d.table.Partitions.Long().Parts)
	case strings.HasPrefix(d.table.Publish, "swap"):
		values = 1
	}
	require.Equal(t, values, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM pg_inherits WHERE inhparent = $1::regclass", d.live()))
	require.Empty(t, query(t, conn, `
		SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname IN ('cs9', 'anon', 'demo') AND c.relkind IN ('r', 'v') AND obj_description(c.oid) IS NULL
		  AND c.relispartition = false AND c.relname NOT IN ($1)`, d.table.Name), "every object has a comment")
}

func query(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

func wantColumns(t *testing.T, conn *pgx.Conn, d definition) []string {
	t.Helper()
	var out []string
	for _, c := range d.table.Columns {
		pgtest.Exec(t, conn, fmt.Sprintf("CREATE TEMP TABLE one_column (c %s)", c.SQLType()))
		words := []string{c.Name, pgtest.Scalar[string](t, conn,
			"SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'one_column'::regclass AND attnum = 1")}
		pgtest.Exec(t, conn, "DROP TABLE one_column")
		if c.NotNull {
			words = append(words, "not null")
		}
		if c.Identity != "" {
			words = append(words, c.Identity)
		}
		if c.Generated != "" {
			words = append(words, "generated")
		}
		if c.Default != "" {
			words = append(words, "default")
		}
		if c.Comment != "" {
			words = append(words, "/"+c.Comment)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func wantIndexes(d definition) []string {
	names := sqlgen.NamesOf(d.table)
	out := []string{names.PrimaryKey + ": primary " + strings.Join(d.table.Keys, ", ")}
	for i, index := range d.table.Indexes {
		var columns []string
		for _, c := range index.Value.Columns {
			if c.Column != "" {
				columns = append(columns, c.Column)
			}
		}
		kind := ""
		if index.Value.Unique {
			kind = "unique "
		}
		out = append(out, names.Indexes[i].Value+": "+kind+strings.Join(append(columns, index.Value.Include...), ", "))
	}
	for i, unique := range d.table.Unique {
		out = append(out, names.Unique[i].Value+": unique "+strings.Join(slices.Concat(unique.Value.Columns, unique.Value.Include), ", "))
	}
	slices.Sort(out)
	return out
}
