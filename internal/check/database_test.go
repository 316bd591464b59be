package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// site is a folder of migrations, and a database to which they are applied.
type site struct {
	folder, url string
	conn        *pgx.Conn
}

// newSite generates the migrations of definitions and applies them. First comes
// SQL for the database, if any.
func newSite(t *testing.T, definitions string, setup ...string) *site {
	t.Helper()
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.NewDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	pgtest.Exec(t, s.conn, setup...)
	s.generate(t, definitions)
	s.up(t)
	return s
}

func (s *site) generate(t *testing.T, definitions string) {
	t.Helper()
	defs, err := sqlgen.Load(definitions)
	require.NoError(t, err)
	change, err := sqlgen.PlanChange(s.folder, defs, sqlgen.ChangeOptions{AllowDestroy: []string{"all"}})
	require.NoError(t, err)
	_, err = change.Write()
	require.NoError(t, err)
}

func (s *site) up(t *testing.T) {
	t.Helper()
	m, err := migrate.Open(s.config(t), s.folder)
	require.NoError(t, err)
	_, err = m.Up(t.Context())
	require.NoError(t, errors.Join(err, m.Close()))
}

func (s *site) config(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	return config(t, s.url)
}

func config(t *testing.T, url string) *pgx.ConnConfig {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	return cfg
}

// check compares the whole way, scratch database and all.
func (s *site) check(t *testing.T, o Options) []string {
	t.Helper()
	o.Folder = s.folder
	found, err := Database(t.Context(), s.config(t), o)
	require.NoError(t, err)
	return lines(found)
}

func lines(found []sqlgen.Difference) []string {
	out := []string{}
	for _, d := range found {
		out = append(out, d.String())
	}
	return out
}

// differences returns what compares the database, after edits that are taken
// back, with what its migrations make now.
func (s *site) differences(t *testing.T) func(t *testing.T, edits ...string) []string {
	t.Helper()
	var like locale
	require.NoError(t, readOnly(t.Context(), s.config(t), func(tx pgx.Tx) (err error) { like, err = readLocale(t.Context(), tx); return err }))
	expected, err := expect(t.Context(), like, Options{Folder: s.folder, Scratch: s.config(t)}, 100, func(*pgx.ConnConfig, expectation) error { return nil })
	require.NoError(t, err)
	return func(t *testing.T, edits ...string) []string {
		t.Helper()
		tx, err := s.conn.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }()
		for _, edit := range edits {
			_, err := tx.Exec(t.Context(), edit)
			require.NoError(t, err, edit)
		}
		found, err := readCatalogue(t.Context(), tx, expected.scope)
		require.NoError(t, err)
		return lines(compare(expected, found))
	}
}

// publish has a run replace the rows of a table, in a mode.
func (s *site) publish(t *testing.T, table, key, mode, insert string) {
	t.Helper()
	var run int64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run($1, $2, ARRAY[$1], '[1]', p_publish_mode => $3)", table, key, mode).Scan(&run))
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
	pgtest.Exec(t, s.conn, "SELECT cs9.drop_all_rows('"+table+"')")
	staged := pgtest.Scalar[string](t, s.conn, "SELECT cs9.staging_table($1, $2)", run, table)
	pgtest.Exec(t, s.conn, strings.ReplaceAll(insert, "%s", staged),
		fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run),
		fmt.Sprintf("CALL cs9.publish('%s', '%s')", table, key))
	require.Positive(t, pgtest.Scalar[int64](t, s.conn, "SELECT count(*) FROM "+table))
}

var inserts = map[string]string{
	"anon.counts":  "INSERT INTO %s (week, region, n) SELECT w, 'north', w FROM generate_series(1, 5) AS w",
	"anon.parts":   "INSERT INTO %s (week, region, n) SELECT w, r, w FROM generate_series(1, 5) AS w, unnest(ARRAY['north', 'south']) AS r",
	"anon.swapped": "INSERT INTO %s (week, code) SELECT w, w FROM generate_series(1, 5) AS w",
}

// publishAll publishes each table in each mode that it can have, twice.
func (s *site) publishAll(t *testing.T) {
	t.Helper()
	for table, insert := range inserts {
		modes := []string{"batched", "atomic", "swap"}
		if table == "anon.counts" {
			modes = modes[:2]
		}
		for _, key := range []string{"first", "second"} {
			for _, mode := range modes {
				s.publish(t, table, key+" "+mode, mode, insert)
			}
		}
	}
}

const definitions = "testdata/tables.yaml"

// TestEachEditIsSeen edits a database by hand, one thing at a time, after runs
// were published in each mode and beside one that is not: runs change nothing
// that is compared.
func TestEachEditIsSeen(t *testing.T) {
	s := newSite(t, definitions)
	differences := s.differences(t)
	require.Empty(t, differences(t), "as it was installed")
	s.publishAll(t)
	require.Empty(t, differences(t), "after runs")
	s.watchPublish(t, func(step string) { require.Empty(t, differences(t), step) })
	lock, err := os.ReadFile(filepath.Join(s.folder, sqlgen.LockName))
	require.NoError(t, err)
	_, ofCounts, _ := strings.Cut(string(lock), "\"anon.counts\":\n    definition: \"")
	hash, _, found := strings.Cut(ofCounts, "\"")
	require.True(t, found)
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			var want []string
			for _, line := range e.want {
				want = append(want, strings.ReplaceAll(line, "HASH", hash))
			}
			require.NotEmpty(t, want)
			require.Equal(t, want, differences(t, e.sql...))
		})
	}
	for name, sql := range passes {
		t.Run("passes: "+name, func(t *testing.T) { require.Empty(t, differences(t, sql...)) })
	}
	require.Empty(t, differences(t), "each was taken back")
}

// watchPublish has a run replace the rows of all tables, and calls look while it
// stages, when it is ready, and after each commit of its publish.
func (s *site) watchPublish(t *testing.T, look func(step string)) {
	t.Helper()
	var run int64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run('all', 'watched', ARRAY['anon.counts', 'anon.parts', 'anon.swapped'], '[1]')").Scan(&run))
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
	for table, insert := range inserts {
		pgtest.Exec(t, s.conn, "SELECT cs9.drop_all_rows('"+table+"')",
			strings.ReplaceAll(insert, "%s", pgtest.Scalar[string](t, s.conn, "SELECT cs9.staging_table($1, $2)", run, table)))
	}
	look("while it stages")
	pgtest.Exec(t, s.conn, fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run))
	look("when it is ready")
	require.Equal(t, run, pgtest.Scalar[int64](t, s.conn, "SELECT cs9.begin_publish('all', 'watched', NULL, 2)"))
	steps := 0
	for more := true; more; steps++ {
		more = pgtest.Scalar[bool](t, s.conn, "SELECT more FROM cs9.publish_next($1, NULL, 2, 0)", run)
		look(fmt.Sprintf("after commit %d of the publish", steps))
	}
	require.Greater(t, steps, 5)
	require.Equal(t, "published", pgtest.Scalar[string](t, s.conn, "SELECT state FROM cs9.run WHERE run_id = $1", run))
}

// TestMigrationsThatAreNotApplied tells what is pending from what was edited.
func TestMigrationsThatAreNotApplied(t *testing.T) {
	s := newSite(t, definitions)
	text, err := os.ReadFile(definitions)
	require.NoError(t, err)
	later := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(later, []byte(strings.Replace(string(text), "{name: note, type: TEXT}", "{name: note, type: TEXT}\n      - {name: more, type: TEXT}", 1)), 0o600))
	s.generate(t, later)
	pending := "migration 00007_change_anon_counts.sql: expected to be applied, found pending"
	require.Equal(t, []string{pending}, s.check(t, Options{}))
	pgtest.Exec(t, s.conn, "DROP INDEX anon.counts_by_note_idx")
	require.Equal(t, []string{pending, "index anon.counts_by_note_idx: expected CREATE INDEX counts_by_note_idx ON anon.counts USING btree (note), found nothing"}, s.check(t, Options{}))

	s.up(t)
	file := filepath.Join(s.folder, "00007_change_anon_counts.sql")
	require.NoError(t, os.Rename(file, file+".gone"))
	got := s.check(t, Options{})
	require.Contains(t, got, "migration 7: expected a file in "+s.folder+", found applied, without a file")
	require.Contains(t, got, "column anon.counts.more: expected nothing, found text")

	empty := &site{folder: s.folder, url: pgtest.EmptyDatabase(t)}
	require.Len(t, empty.check(t, Options{}), 6)
	conn := pgtest.Connect(t, empty.url)
	require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM pg_class WHERE relnamespace = 'public'::regnamespace"), "not even goose's table is made")
}

// TestHistoriesLeaveNothingBehind migrates through changes of the definitions,
// among them of the shape of a table, with runs between them.
func TestHistoriesLeaveNothingBehind(t *testing.T) {
	steps, err := filepath.Glob("../../testdata/changes/modes/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	s := newSite(t, steps[0])
	for i, step := range steps {
		s.generate(t, step)
		s.up(t)
		modes := []string{"batched", "atomic"}
		if pgtest.Scalar[bool](t, s.conn, "SELECT relkind = 'p' FROM pg_class WHERE oid = 'anon.weekly'::regclass") {
			modes = append(modes, "swap")
		}
		for _, mode := range modes {
			s.publish(t, "anon.weekly", fmt.Sprint(i, mode), mode, "INSERT INTO %s (week, region, code) SELECT w, 'north', w FROM generate_series(1, 5) AS w")
		}
		if i >= 3 { // swap_or_atomic; a plain table again; swap again
			require.Empty(t, s.check(t, Options{}), step)
		}
	}
}

// TestIndexesBuiltConcurrently are made outside a transaction in the scratch
// database too.
func TestIndexesBuiltConcurrently(t *testing.T) {
	table := func(more string) *sqlgen.Definitions {
		t.Helper()
		path := filepath.Join(t.TempDir(), "tables.yaml")
		require.NoError(t, os.WriteFile(path, []byte("version: 1\ntables:\n  - {schema: anon, name: a, columns: [{name: id, type: INTEGER}], keys: [id]"+more+"}\n"), 0o600))
		defs, err := sqlgen.Load(path)
		require.NoError(t, err)
		return defs
	}
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.NewDatabase(t)}
	for _, more := range []string{"", ", publish: swap", ", publish: swap, indexes: {again: [id]}"} {
		change, err := sqlgen.PlanChange(s.folder, table(more), sqlgen.ChangeOptions{ConcurrentIndexes: true})
		require.NoError(t, err)
		_, err = change.Write()
		require.NoError(t, err)
	}
	require.FileExists(t, filepath.Join(s.folder, "00007_index_anon_a.sql"))
	folder, err := sqlgen.CheckFolder(s.folder, table(", publish: swap, indexes: {again: [id]}"))
	require.NoError(t, err)
	require.Empty(t, lines(folder.Differences))
	s.up(t)
	require.Empty(t, s.check(t, Options{}))
}

// TestAnInterruptedCheckLeavesNothing interrupts it while the scratch database
// is in use.
func TestAnInterruptedCheckLeavesNothing(t *testing.T) {
	s := newSite(t, definitions)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Database(ctx, config(t, s.url), Options{Folder: s.folder, SetupSQL: "SELECT 'interrupt me', pg_sleep(600)"})
		done <- err
	}()
	for waiting := true; waiting; {
		waiting = !pgtest.Scalar[bool](t, s.conn, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname LIKE 'cs9gen\\_check\\_%' AND query LIKE '%interrupt me%' AND wait_event = 'PgSleep')")
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Zero(t, scratchDatabases(t, s))
}

// TestTheScratchDatabaseLeavesNothing looks for what the comparison makes: a
// database, and roles that were not there.
func TestTheScratchDatabaseLeavesNothing(t *testing.T) {
	s := newSite(t, definitions)
	role := "check_gone_" + strings.TrimPrefix(config(t, s.url).Database, "test_")
	named := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(named, []byte("version: 1\ntables:\n  - {schema: anon, name: a, columns: [{name: id, type: INTEGER}], keys: [id], roles: {reader: "+role+"}}\n"), 0o600))
	s.generate(t, named)
	s.up(t)
	require.Empty(t, s.check(t, Options{}))
	pgtest.Exec(t, s.conn, "DROP OWNED BY "+role, "DROP ROLE "+role)
	require.Equal(t, []string{
		"schema anon: grant USAGE to " + role + ": expected granted, found nothing",
		"table anon.a: grant SELECT to " + role + ": expected granted, found nothing",
	}, s.check(t, Options{}))
	require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role), "the role that the scratch database made is gone again")
	require.Zero(t, scratchDatabases(t, s))
}

// TestWhatTheMigrationsDoNotMake is a folder that needs more than it makes.
func TestWhatTheMigrationsDoNotMake(t *testing.T) {
	const setup = "CREATE DOMAIN public.percent AS integer CHECK (VALUE BETWEEN 0 AND 100); CREATE TABLE public.region (code text PRIMARY KEY);"
	s := newSite(t, definitions, setup)
	byHand := "-- +goose Up\nALTER TABLE anon.counts ADD share public.percent, ADD FOREIGN KEY (region) REFERENCES public.region;\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "00020_by_hand.sql"), []byte(byHand), 0o600))
	s.up(t)
	_, err := Database(t.Context(), s.config(t), Options{Folder: s.folder})
	require.ErrorIs(t, err, ErrNotRepeatable)
	require.ErrorContains(t, err, `00020_by_hand.sql:2: cannot be applied: type "public.percent" does not exist`)
	require.Zero(t, scratchDatabases(t, s))

	require.Empty(t, s.check(t, Options{SetupSQL: setup}), "what a migration of one's own adds is expected")
	pgtest.Exec(t, s.conn, "ALTER TABLE anon.counts DROP CONSTRAINT counts_region_fkey")
	require.Equal(t, []string{"constraint counts_region_fkey of anon.counts: expected FOREIGN KEY (region) REFERENCES public.region(code), found nothing"},
		s.check(t, Options{SetupSQL: setup}))
	_, err = Database(t.Context(), s.config(t), Options{Folder: s.folder, SetupSQL: "CREATE TABLE nowhere.x ()"})
	require.ErrorIs(t, err, ErrSetup)
	require.Zero(t, scratchDatabases(t, s))
}

// TestARoleThatMayOnlyRead checks as a role without CREATEDB, which owns nothing.
func TestARoleThatMayOnlyRead(t *testing.T) {
	s := newSite(t, definitions)
	pgtest.Exec(t, s.conn, "CREATE ROLE check_looker LOGIN PASSWORD 'looks'")
	looker := s.config(t)
	looker.User, looker.Password = "check_looker", "looks"
	look := func(o Options) ([]sqlgen.Difference, error) {
		o.Folder = s.folder
		return Database(t.Context(), looker, o)
	}
	_, err := look(Options{})
	require.ErrorIs(t, err, ErrMayNotRead)
	pgtest.Exec(t, s.conn, "GRANT SELECT ON goose_db_version TO check_looker", "GRANT USAGE ON SCHEMA cs9 TO check_looker",
		"GRANT SELECT ON cs9.table_definition, cs9.schema_version TO check_looker")
	_, err = look(Options{})
	require.ErrorIs(t, err, ErrNoScratch)
	pgtest.Exec(t, s.conn, "ALTER ROLE check_looker CREATEDB", "ALTER ROLE check_looker SET default_transaction_read_only = on")
	_, err = look(Options{})
	require.ErrorIs(t, err, ErrNoScratch, "as on a standby")
	found, err := look(Options{Scratch: s.config(t)})
	require.NoError(t, err)
	require.Empty(t, lines(found))
	pgtest.Exec(t, s.conn, "COMMENT ON COLUMN anon.counts.week IS NULL")
	found, err = look(Options{Scratch: s.config(t)})
	require.NoError(t, err)
	require.Equal(t, []string{"column anon.counts.week: comment: expected The week, found nothing"}, lines(found))
}

// TestTheRoleThatMigratesIsARoleOfTheDefinition: what is granted to it there is
// part of owning things in one database, and a grant in the other.
func TestTheRoleThatMigratesIsARoleOfTheDefinition(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	super := config(t, url)
	conn := pgtest.Connect(t, url)
	pgtest.Exec(t, conn, "CREATE ROLE check_app LOGIN CREATEDB CREATEROLE PASSWORD 'app'", "ALTER DATABASE "+super.Database+" OWNER TO check_app")
	asApp := strings.Replace(url, super.User+":"+super.Password, "check_app:app", 1)
	app := config(t, asApp)
	require.Equal(t, "check_app", app.User)
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\ntables:\n  - {schema: anon, name: a, columns: [{name: id, type: bigint, identity: always}], keys: [id], roles: {reader: check_app_reader, runner: check_app, publisher: check_app}}\n"), 0o600))
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: asApp}
	s.generate(t, path)
	s.up(t)
	require.Empty(t, s.check(t, Options{}))
	require.Empty(t, s.check(t, Options{Scratch: super}))

	of := &site{folder: s.folder, url: pgtest.NewDatabase(t)}
	of.up(t)
	of.conn = pgtest.Connect(t, of.url)
	require.Empty(t, of.check(t, Options{Scratch: app}))
	pgtest.Exec(t, of.conn, "REVOKE SELECT ON anon.a FROM check_app_reader", "ALTER TABLE anon.a OWNER TO check_app")
	require.Equal(t, []string{
		"sequence anon.a_id_seq: owner: expected that of the cs9 routines, found check_app",
		"table anon.a: grant SELECT to check_app_reader: expected granted, found nothing",
		"table anon.a: owner: expected that of the cs9 routines, found check_app",
	}, of.check(t, Options{Scratch: app}))
}

func scratchDatabases(t *testing.T, s *site) int {
	t.Helper()
	return pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_database WHERE datname LIKE 'cs9gen\\_check\\_%'")
}

// TestSettingsOfADatabaseAreNoDrift neither where they change how PostgreSQL
// prints a definition, nor where they change how it reads one.
func TestSettingsOfADatabaseAreNoDrift(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	name := pgtest.Scalar[string](t, conn, "SELECT current_database()")
	for setting, value := range map[string]string{
		"TimeZone": "'Asia/Tokyo'", "DateStyle": "'German, DMY'", "IntervalStyle": "'sql_standard'", "quote_all_identifiers": "on", "extra_float_digits": "-3", "bytea_output": "'escape'",
		"statement_timeout": "'59s'",
	} {
		pgtest.Exec(t, conn, "ALTER DATABASE "+name+" SET "+setting+" = "+value)
	}
	dir := t.TempDir()
	text := `version: 1
tables:
  - schema: anon
    name: odd
    keys: [id]
    columns:
      - {name: id, type: INTEGER}
      - {name: at, type: timestamptz, default: "'2026-02-01 12:00'::timestamptz"}
      - {name: day, type: DATE, default: "'03/04/2026'::date"}
      - {name: span, type: interval, default: "'-1 day 02:00:00'::interval"}
      - {name: f, type: double precision, default: "0.1::double precision + 0.2"}
      - {name: b, type: bytea, default: "'\\x00ff'::bytea"}
    checks:
      late: at > '2020-01-01 00:00'::timestamptz AND day > '01/02/2020'::date
`
	path := filepath.Join(dir, "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	defs, err := sqlgen.Load(path)
	require.NoError(t, err)
	folder := filepath.Join(dir, "migrations")
	change, err := sqlgen.PlanChange(folder, defs, sqlgen.ChangeOptions{})
	require.NoError(t, err)
	_, err = change.Write()
	require.NoError(t, err)
	m, err := migrate.Open(config(t, url), folder)
	require.NoError(t, err)
	_, err = m.Up(t.Context())
	require.NoError(t, err)
	require.NoError(t, m.Close())

	found, err := Database(t.Context(), config(t, url), Options{Folder: folder, Tables: defs.Tables})
	require.NoError(t, err)
	require.Empty(t, lines(found))
	// a server where none of it is set reads and prints as that database does
	scratch := config(t, pgtest.Server(t).URL("postgres"))
	found, err = Database(t.Context(), config(t, url), Options{Folder: folder, Tables: defs.Tables, Scratch: scratch})
	require.NoError(t, err)
	require.Empty(t, lines(found))

	// what differs is still found
	pgtest.Exec(t, pgtest.Connect(t, url), "ALTER TABLE anon.odd ALTER COLUMN at SET DEFAULT '2026-02-01 12:00+00'::timestamptz")
	found, err = Database(t.Context(), config(t, url), Options{Folder: folder, Tables: defs.Tables})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, lines(found)[0], "2026-02-01 12:00:00+00")
}
