package sqlgen_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

const changesDir = "../testdata/changes"

// ofSchema are the digests in a lock file that every change of a routine changes.
var ofSchema = regexp.MustCompile(`("[0-9]+_(?:cs9_[a-z]+)\.sql": )".*"`)

// history is a folder of definition files, each the successor of the one before,
// and the migrations that were generated after each.
type history struct {
	dir     string // of the migrations
	steps   []string
	defs    []*sqlgen.Definitions
	written [][]string // new files of each step
}

// TestChanges generates each history of testdata, and takes a database with rows
// through it.
func TestChanges(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(changesDir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			h := generateHistory(t, folder, sqlgen.ChangeOptions{AllowDestroy: []string{"all"}})
			t.Run("golden SQL", func(t *testing.T) { h.testGolden(t, folder) })
			t.Run("is a fresh install of the last definition", func(t *testing.T) { h.testDatabase(t) })
		})
	}
}

func generateHistory(t *testing.T, folder string, options sqlgen.ChangeOptions) *history {
	t.Helper()
	h := &history{dir: filepath.Join(t.TempDir(), "migrations")}
	var err error
	h.steps, err = filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	for _, step := range h.steps {
		defs, err := sqlgen.Load(step)
		require.NoError(t, err)
		h.defs = append(h.defs, defs)
		h.written = append(h.written, generate(t, h.dir, defs, options))
		require.Empty(t, generate(t, h.dir, defs, options), "no difference, nothing written")
	}
	return h
}

// generate does what the command does, and returns the new files.
func generate(t *testing.T, dir string, defs *sqlgen.Definitions, options sqlgen.ChangeOptions) []string {
	t.Helper()
	change, err := sqlgen.PlanChange(dir, defs, options)
	require.NoError(t, err)
	written, err := change.Write()
	require.NoError(t, err)
	return written
}

func (h *history) testGolden(t *testing.T, folder string) {
	names := []string{sqlgen.LockName}
	for _, written := range h.written[1:] {
		names = append(names, written...)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(h.dir, name))
		require.NoError(t, err)
		got := ofSchema.ReplaceAll(text, []byte(`$1"…"`))
		path := filepath.Join(folder, "golden", name)
		if flag.Lookup("update").Value.String() == "true" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "make golden writes it")
		require.Empty(t, cmp.Diff(string(want), string(got)), "make golden writes it anew")
	}
	golden, err := filepath.Glob(filepath.Join(folder, "golden", "*"))
	require.NoError(t, err)
	require.Len(t, golden, len(names))
}

// testDatabase migrates a table with rows through the history. After each step
// the catalogue is that of a fresh install; so it is after down and up again; and
// a run is published in each mode.
func (h *history) testDatabase(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	provider := h.provider(t, url)
	last := int64(3)
	before := ""
	for i := range h.steps {
		first := last
		last += int64(len(h.written[i]))
		if i == 0 {
			last -= 3 // the cs9 schema
		}
		up := func() {
			t.Helper()
			_, err := provider.UpTo(t.Context(), last)
			require.NoError(t, err, h.steps[i])
			require.Empty(t, cmp.Diff(h.fresh(t, i), wholeCatalogue(t, conn)), "%s: fresh install (-), migrated (+)", h.steps[i])
		}
		keepsRows := func(migrate func()) {
			t.Helper()
			had := counts(t, conn)
			migrate()
			for table, n := range counts(t, conn) {
				if had[table] > 0 {
					require.Equal(t, had[table], n, "rows of table %d", table)
				}
			}
		}
		keepsRows(up)
		h.publish(t, conn, i, "a")
		if i > 0 {
			keepsRows(func() {
				_, err := provider.DownTo(t.Context(), first)
				require.NoError(t, err, h.steps[i])
			})
			require.Empty(t, cmp.Diff(before, wholeCatalogue(t, conn)), "%s: before (-), after down (+)", h.steps[i])
			keepsRows(up)
			h.publish(t, conn, i, "b")
		}
		before = wholeCatalogue(t, conn)
		require.Empty(t, pgtest.Scalar[string](t, conn, "SELECT coalesce(string_agg(relname, ', '), '') FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace"))
	}
}

func (h *history) provider(t *testing.T, url string) *goose.Provider {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	provider, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(h.dir))
	require.NoError(t, err)
	return provider
}

// fresh returns the catalogue of a fresh install of a step's definitions.
func (h *history) fresh(t *testing.T, i int) string {
	t.Helper()
	conn := pgtest.Connect(t, pgtest.NewDatabase(t, h.steps[i]))
	return wholeCatalogue(t, conn)
}

// counts returns how many rows each registered table has, by the number that it
// keeps whatever its name is.
func counts(t *testing.T, conn *pgx.Conn) map[int]int64 {
	t.Helper()
	out := map[int]int64{}
	if pgtest.Scalar[bool](t, conn, "SELECT to_regclass('cs9.table_definition') IS NULL") {
		return out
	}
	rows, err := conn.Query(t.Context(), "SELECT table_id, format('%I.%I', schema_name, table_name) FROM cs9.table_definition")
	require.NoError(t, err)
	var id int
	var name string
	names := map[int]string{}
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil })
	require.NoError(t, err)
	for id, name := range names {
		out[id] = pgtest.Scalar[int64](t, conn, "SELECT count(*) FROM "+name)
	}
	return out
}

// publish has a run replace the rows of each table, in each mode that it can have.
func (h *history) publish(t *testing.T, conn *pgx.Conn, i int, key string) {
	t.Helper()
	text, err := os.ReadFile(h.steps[i])
	require.NoError(t, err)
	var inserts []string
	for line := range strings.Lines(string(text)) {
		if insert, ok := strings.CutPrefix(line, "# rows: "); ok {
			inserts = append(inserts, insert)
		}
	}
	require.Len(t, inserts, len(h.defs[i].Tables), "%s: one line of rows for each table", h.steps[i])
	for n := range h.defs[i].Tables {
		d := definition{table: &h.defs[i].Tables[n]}
		for _, mode := range append(d.modes(), "") {
			runKey := fmt.Sprintf("%d %s %s", i, key, mode)
			var run int64
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run($1, $2, ARRAY[$1], '[1]', p_publish_mode => nullif($3, ''))", d.live(), runKey, mode).Scan(&run))
			require.True(t, pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
			pgtest.Exec(t, conn, "SELECT cs9.drop_all_rows("+sqlgen.QuoteLiteral(d.live())+")")
			staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staging_table($1, $2)", run, d.live())
			pgtest.Exec(t, conn, strings.ReplaceAll(inserts[n], "%s", staged),
				fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run))
			want := pgtest.Scalar[int64](t, conn, "SELECT count(*) FROM "+staged)
			require.Positive(t, want)
			pgtest.Exec(t, conn, fmt.Sprintf("CALL cs9.publish(%s, %s, 2)", sqlgen.QuoteLiteral(d.live()), sqlgen.QuoteLiteral(runKey)))
			require.Equal(t, want, pgtest.Scalar[int64](t, conn, "SELECT count(*) FROM "+d.live()))
		}
	}
}

// wholeCatalogue is what a fresh install and a migrated database must have in
// common: all but the order of columns, the names that PostgreSQL gives the
// indexes of partitions, and what runs recorded.
func wholeCatalogue(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return strings.Join(query(t, conn, `
		WITH own AS (
			SELECT c.* FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
			WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'cs9') AND c.relname !~ '^goose_db'
		)
		SELECT x FROM (
			SELECT format('%s %s bound %s comment %s', relkind, oid::regclass, pg_get_expr(relpartbound, oid), obj_description(oid, 'pg_class'))
			FROM own WHERE NOT (relkind IN ('i', 'I') AND relispartition)
			UNION ALL
			SELECT format('column %s.%s %s %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), concat_ws(' ',
				CASE WHEN a.attnotnull THEN 'not null' END, 'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
				'local ' || a.attislocal, pg_get_expr(d.adbin, d.adrelid), 'comment ' || col_description(a.attrelid, a.attnum)))
			FROM own JOIN pg_attribute AS a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped
			LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
			WHERE own.relkind IN ('r', 'p', 'v')
			UNION ALL
			SELECT format('constraint %s %s %s local %s', c.conrelid::regclass, CASE WHEN c.conparentid = 0 AND c.contype <> 'n' THEN c.conname END, pg_get_constraintdef(c.oid), c.conislocal)
			FROM own JOIN pg_constraint AS c ON c.conrelid = own.oid
			UNION ALL
			SELECT format('index %s valid %s of %s', CASE WHEN own.relispartition THEN regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX ("[^"]*"|\S+) ON', 'INDEX ON') ELSE pg_get_indexdef(i.indexrelid) END,
				i.indisvalid, (SELECT CASE WHEN c.relispartition THEN format('one of %s', x.indrelid::regclass) ELSE c.oid::regclass::text END
				 FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhparent JOIN pg_index AS x ON x.indexrelid = c.oid WHERE h.inhrelid = i.indexrelid))
			FROM own JOIN pg_index AS i ON i.indexrelid = own.oid
			UNION ALL
			SELECT format('sequence %s %s %s %s of %s', s.seqrelid::regclass, s.seqtypid::regtype, s.seqincrement, s.seqmax, (
				SELECT pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype = 'i'))
			FROM own JOIN pg_sequence AS s ON s.seqrelid = own.oid
			UNION ALL
			SELECT format('grant %s on %s to %s', x.privilege_type, own.oid::regclass, x.grantee::regrole)
			FROM own CROSS JOIN LATERAL aclexplode(own.relacl) AS x WHERE x.grantee <> own.relowner
			UNION ALL
			SELECT format('routine %s %s comment %s', p.oid::regprocedure, md5(pg_get_functiondef(p.oid)), obj_description(p.oid, 'pg_proc'))
			FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
			WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'cs9') AND p.prokind IN ('f', 'p')
			UNION ALL
			SELECT format('grant %s on %s to %s', x.privilege_type, p.oid::regprocedure, x.grantee)
			FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
			CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS x
			WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'cs9') AND x.grantee <> p.proowner
			UNION ALL
			SELECT format('trigger %s', pg_get_triggerdef(g.oid)) FROM own JOIN pg_trigger AS g ON g.tgrelid = own.oid WHERE NOT g.tgisinternal
			UNION ALL
			SELECT format('registered %s', to_jsonb(d) - 'table_id') FROM cs9.table_definition AS d
		) AS o (x)
		ORDER BY x COLLATE "C"`), "\n")
}
