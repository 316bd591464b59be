package sqlgen_test

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

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

func (h *history) provider(t *testing.T, url string) *goose.Provider {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	provider, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(h.dir))
	require.NoError(t, err)
	return provider
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
