package inspect_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// TestSamplesAreAdoptedAndRebuilt takes each table of the samples over as inspect
// wrote it, spoils its rows, and rebuilds them by a run: they are as before. Foreign
// keys say how (P6): where one points at the table, batched is refused before
// anything is published, and atomic does it; where it points at the table itself, the
// rows are upserted, because none may go that a staged one references.
func TestSamplesAreAdoptedAndRebuilt(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			prelude, tables := readSample(t, s.name)
			url := pgtest.NewDatabase(t)
			conn := pgtest.Connect(t, url)
			run(t, conn, prelude+tables)
			before := dump(t, conn, s.schema)
			result := inspected(t, url, inspect.Options{Schema: s.schema})
			pgtest.Install(t, url, saved(t, result.File))
			require.ElementsMatch(t, before, dump(t, conn, s.schema), "adopting changes no table")

			for _, table := range loaded(t, result.File) {
				rebuilt(t, conn, &table)
			}
			again := inspected(t, url, inspect.Options{Schema: s.schema})
			require.Empty(t, cmp.Diff(withoutMode(string(result.File)), withoutMode(string(again.File))), "a table that is known and was adopted is written as before")
		})
	}
}

// withoutMode leaves the publish mode out: a table that is known has one.
func withoutMode(file string) string {
	lines := slices.DeleteFunc(strings.Split(file, "\n"), func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "publish:") })
	return strings.Join(lines, "\n")
}

// rebuilt spoils a table and lets a run write its rows again.
func rebuilt(t *testing.T, conn *pgx.Conn, table *sqlgen.Table) {
	t.Helper()
	live := sqlgen.Qualified(table.Schema, table.Name)
	var written, compared []string
	for _, c := range table.Columns {
		if c.Generated == "" {
			written = append(written, sqlgen.QuoteIdent(c.Name))
		}
		if c.Name != "last_update" { // kept by a trigger, which fires for what a publish updates
			compared = append(compared, sqlgen.QuoteIdent(c.Name))
		}
	}
	list := strings.Join(written, ", ")
	rows := fmt.Sprintf(`SELECT string_agg(r::text, E'\n' ORDER BY r::text COLLATE "C") FROM (SELECT %s FROM %s) AS r`, strings.Join(compared, ", "), live)
	want := pgtest.Scalar[string](t, conn, rows)
	pgtest.Exec(t, conn, "DROP TABLE IF EXISTS pg_temp.copy", fmt.Sprintf("CREATE TEMP TABLE copy AS SELECT %s FROM %s", list, live))
	referenced := pgtest.Scalar[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = $1::regclass)", live)
	mode := "batched"
	if referenced {
		mode = "atomic"
	}
	// A changed row that would be deleted and inserted anew, for the sake of a second unique index, is gone in between, which
	// a foreign key at it forbids: such a run writes what is there.
	replaces := pgtest.Scalar[bool](t, conn, "SELECT cs9.replaces_rows(table_id) FROM cs9.table_definition WHERE schema_name = $1 AND table_name = $2", table.Schema, table.Name)
	if !referenced || !replaces {
		spoil(t, conn, table, referenced)
	}

	id := pgtest.Scalar[int64](t, conn, "SELECT run_id FROM cs9.begin_run('rebuild', $1, ARRAY[$1], '[{}]', p_publish_mode => $2)", live, mode)
	require.True(t, pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, 1, 1)", id))
	write := "i"
	if referencesItself(table) {
		write = "u"
	} else {
		pgtest.Exec(t, conn, "SELECT cs9.drop_all_rows("+sqlgen.QuoteLiteral(live)+")")
	}
	staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staging_table($1, $2)", id, live)
	pgtest.Exec(t, conn, fmt.Sprintf("SET cs9.op = '%s'", write),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM pg_temp.copy", staged, list), fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", id))
	if referenced && write == "i" {
		refusedInBatches(t, conn, id, live)
	}
	pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", id))
	run(t, conn, fmt.Sprintf("CALL cs9.publish('rebuild', %s, 50)", sqlgen.QuoteLiteral(live)))
	require.Equal(t, want, pgtest.Scalar[string](t, conn, rows), live)
	require.Equal(t, "published", pgtest.Scalar[string](t, conn, "SELECT state FROM cs9.run WHERE run_id = $1", id))
}

func referencesItself(table *sqlgen.Table) bool {
	return slices.ContainsFunc(table.ForeignKeys, func(f sqlgen.NamedItem[sqlgen.ForeignKey]) bool { return f.Value.References == table.Name })
}

// spoil deletes rows, or changes them where a foreign key keeps them and there is
// something to change.
func spoil(t *testing.T, conn *pgx.Conn, table *sqlgen.Table, referenced bool) {
	t.Helper()
	live := sqlgen.Qualified(table.Schema, table.Name)
	some := fmt.Sprintf("WHERE ctid IN (SELECT ctid FROM %s LIMIT 5)", live)
	if !referenced {
		tag, err := conn.Exec(t.Context(), fmt.Sprintf("DELETE FROM %s %s", live, some))
		require.NoError(t, err)
		require.NotZero(t, tag.RowsAffected(), live)
		return
	}
	tied := slices.Clone(table.Keys)
	for _, f := range table.ForeignKeys {
		tied = append(tied, f.Value.Columns...)
	}
	set := map[string]string{
		"TEXT": "'?'", "character varying": "'?'", "character": "'?'", "numeric": "0.5", "smallint": "17", "DATETIME": "'2024-12-31'",
	}
	for _, c := range table.Columns {
		base, _, _ := strings.Cut(c.Type, "(")
		if value := set[base]; value != "" && c.Generated == "" && c.Name != "last_update" && !slices.Contains(tied, c.Name) {
			tag, err := conn.Exec(t.Context(), fmt.Sprintf("UPDATE %s SET %s = %s %s", live, sqlgen.QuoteIdent(c.Name), value, some))
			require.NoError(t, err)
			require.NotZero(t, tag.RowsAffected(), live)
			return
		}
	}
	require.Contains(t, []string{"inventory"}, table.Name, "it has keys only")
}

// refusedInBatches asks for the batched mode, and takes it back.
func refusedInBatches(t *testing.T, conn *pgx.Conn, id int64, live string) {
	t.Helper()
	pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.set_publish_mode('rebuild', %s, 'batched')", sqlgen.QuoteLiteral(live)))
	_, err := conn.Exec(t.Context(), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", id))
	var refused *pgconn.PgError
	require.True(t, errors.As(err, &refused), "%s: %v", live, err)
	require.Equal(t, "S9013", refused.Code)
	pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.set_publish_mode('rebuild', %s, 'atomic')", sqlgen.QuoteLiteral(live)))
}
