package sqlgen_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// testDatabase migrates tables with rows through the history, and at the end all
// the way down and up again. After each step the catalogue is that of a fresh
// install, and after each step back that of the step before; no migration changes
// a row. After each a run of each table is published, the first time one in every
// mode.
func (h *history) testDatabase(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	j := &journey{history: h, t: t, provider: h.provider(t, url), conn: pgtest.Connect(t, url)}
	version := int64(0)
	for i, written := range h.written {
		version += int64(len(written))
		j.versions = append(j.versions, version)
		j.catalogues = append(j.catalogues, j.fresh(i))
		j.up(i)
		j.publish(i, "first", "batched", "atomic", "swap")
		if i > 0 {
			j.down(i)
			j.up(i)
			j.publish(i, "again")
		}
	}
	for i := len(h.steps) - 1; i > 0; i-- {
		j.down(i)
		j.publish(i-1, "on the way back")
	}
	for i := 1; i < len(h.steps); i++ {
		j.up(i)
		j.publish(i, "at last")
	}
}

// journey is a database on its way through a history.
type journey struct {
	*history
	t          *testing.T
	provider   *goose.Provider
	conn       *pgx.Conn
	versions   []int64  // of each step's last migration
	catalogues []string // of a fresh install of each step
}

func (j *journey) up(i int) {
	j.t.Helper()
	j.keepsRows(func() {
		_, err := j.provider.UpTo(j.t.Context(), j.versions[i])
		require.NoError(j.t, err, j.steps[i])
	})
	j.is(i, "up to")
}

// down takes a step back.
func (j *journey) down(i int) {
	j.t.Helper()
	j.keepsRows(func() {
		_, err := j.provider.DownTo(j.t.Context(), j.versions[i-1])
		require.NoError(j.t, err, j.steps[i])
	})
	j.is(i-1, "down to")
}

// is compares the catalogue with that of a fresh install of a step, and looks for
// what a publish left.
func (j *journey) is(i int, how string) {
	j.t.Helper()
	require.Empty(j.t, cmp.Diff(j.catalogues[i], wholeCatalogue(j.t, j.conn)), "%s %s: fresh install (-), migrated (+)", how, j.steps[i])
	require.Empty(j.t, pgtest.Scalar[string](j.t, j.conn, "SELECT coalesce(string_agg(relname, ', '), '') FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace"))
}

// fresh returns the catalogue of a fresh install of a step's definitions.
func (j *journey) fresh(i int) (catalogue string) {
	j.t.Helper()
	j.t.Run("fresh "+filepath.Base(j.steps[i]), func(t *testing.T) { // which drops the database at its end
		catalogue = wholeCatalogue(t, pgtest.Connect(t, pgtest.NewDatabase(t, j.steps[i])))
	})
	require.NotEmpty(j.t, catalogue)
	return catalogue
}

// keepsRows checks that a migration leaves the rows of each table as they are, in
// the columns that the table has before and after it.
func (j *journey) keepsRows(migrate func()) {
	j.t.Helper()
	before := j.contents()
	migrate()
	for id, after := range j.contents() {
		if had, known := before[id]; known {
			columns := slices.DeleteFunc(slices.Sorted(maps.Keys(had.columns)), func(c string) bool { return !after.columns[c] })
			require.Equal(j.t, had.rowsOf(columns), after.rowsOf(columns), "rows of %s, in the columns %q", after.name, columns)
		}
	}
}

// contents are the rows of a table, in the columns that are not generated.
type contents struct {
	name    string
	columns map[string]bool
	rows    []map[string]any
}

// contents returns what each registered table holds, by the number that it keeps
// whatever its name is.
func (j *journey) contents() map[int]contents {
	j.t.Helper()
	out := map[int]contents{}
	if pgtest.Scalar[bool](j.t, j.conn, "SELECT to_regclass('cs9.table_definition') IS NULL") {
		return out
	}
	rows, err := j.conn.Query(j.t.Context(), `
		SELECT d.table_id, format('%I.%I', d.schema_name, d.table_name), array_agg(a.attname)
		FROM cs9.table_definition AS d
		JOIN pg_attribute AS a ON a.attrelid = format('%I.%I', d.schema_name, d.table_name)::regclass
		WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		GROUP BY d.table_id`)
	require.NoError(j.t, err)
	var id int
	var name string
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&id, &name, &columns}, func() error {
		c := contents{name: name, columns: map[string]bool{}}
		for _, column := range columns {
			c.columns[column] = true
		}
		out[id] = c
		return nil
	})
	require.NoError(j.t, err)
	for id, c := range out {
		rows, err := j.conn.Query(j.t.Context(), "SELECT to_jsonb(x) FROM "+c.name+" AS x")
		require.NoError(j.t, err)
		c.rows, err = pgx.CollectRows(rows, pgx.RowTo[map[string]any])
		require.NoError(j.t, err)
		out[id] = c
	}
	return out
}

// rowsOf returns the rows in some columns as text, whatever types they have, sorted.
func (c contents) rowsOf(columns []string) []string {
	var out []string
	for _, row := range c.rows {
		values := make([]string, len(columns))
		for i, column := range columns {
			values[i] = fmt.Sprintf("%q", fmt.Sprint(row[column]))
		}
		out = append(out, strings.Join(values, " "))
	}
	slices.Sort(out)
	return out
}

// publish has a run replace the rows of each table, in its own mode or in those of
// the modes that it can have.
func (j *journey) publish(i int, key string, modes ...string) {
	j.t.Helper()
	text, err := os.ReadFile(j.steps[i])
	require.NoError(j.t, err)
	var inserts []string
	for line := range strings.Lines(string(text)) {
		if insert, ok := strings.CutPrefix(line, "# rows: "); ok {
			inserts = append(inserts, insert)
		}
	}
	require.Len(j.t, inserts, len(j.defs[i].Tables), "%s: one line of rows for each table", j.steps[i])
	for n := range j.defs[i].Tables {
		d := definition{table: &j.defs[i].Tables[n]}
		if len(modes) == 0 {
			j.publishTable(d.live(), fmt.Sprintf("%d %s", i, key), "", inserts[n])
		}
		for _, mode := range modes {
			if slices.Contains(d.modes(), mode) {
				j.publishTable(d.live(), fmt.Sprintf("%d %s %s", i, key, mode), mode, inserts[n])
			}
		}
	}
}

func (j *journey) publishTable(live, runKey, mode, insert string) {
	j.t.Helper()
	var run int64
	require.NoError(j.t, j.conn.QueryRow(j.t.Context(),
		"SELECT run_id FROM cs9.begin_run($1, $2, ARRAY[$1], '[1]', p_publish_mode => nullif($3, ''))", live, runKey, mode).Scan(&run))
	require.True(j.t, pgtest.Scalar[bool](j.t, j.conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
	pgtest.Exec(j.t, j.conn, "SELECT cs9.drop_all_rows("+sqlgen.QuoteLiteral(live)+")")
	staged := pgtest.Scalar[string](j.t, j.conn, "SELECT cs9.staging_table($1, $2)", run, live)
	pgtest.Exec(j.t, j.conn, strings.ReplaceAll(insert, "%s", staged),
		fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run))
	want := pgtest.Scalar[int64](j.t, j.conn, "SELECT count(*) FROM "+staged)
	require.Positive(j.t, want)
	pgtest.Exec(j.t, j.conn, fmt.Sprintf("CALL cs9.publish(%s, %s, 2)", sqlgen.QuoteLiteral(live), sqlgen.QuoteLiteral(runKey)))
	require.Equal(j.t, want, pgtest.Scalar[int64](j.t, j.conn, "SELECT count(*) FROM "+live))
}
