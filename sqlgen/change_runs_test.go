package sqlgen_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// site is a database and the folder of migrations that leads to it.
type site struct {
	t    *testing.T
	dir  string
	url  string
	conn *pgx.Conn
}

func newSite(t *testing.T, each ...string) *site {
	t.Helper()
	s := &site{t: t, dir: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	s.change(sqlgen.ChangeOptions{}, each...)
	require.NoError(t, s.up())
	return s
}

// change generates the migrations to the tables that are named.
func (s *site) change(options sqlgen.ChangeOptions, each ...string) []string {
	s.t.Helper()
	written := generate(s.t, s.dir, tables(s.t, each...), options)
	require.NotEmpty(s.t, written)
	return written
}

func (s *site) provider() *goose.Provider {
	h := history{dir: s.dir}
	return h.provider(s.t, s.url)
}

func (s *site) up() error {
	_, err := s.provider().Up(s.t.Context())
	return err
}

func (s *site) down() error {
	_, err := s.provider().Down(s.t.Context())
	return err
}

func (s *site) exec(statements ...string) {
	s.t.Helper()
	pgtest.Exec(s.t, s.conn, statements...)
}

func (s *site) text(sql string, args ...any) string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, sql, args...)
}

// raised returns an error of the database, which must have this SQLSTATE.
func raised(t *testing.T, sqlState string, err error) *pgconn.PgError {
	t.Helper()
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr)
	require.Equal(t, sqlState, pgErr.Code, pgErr.Message)
	return pgErr
}

const begin = "SELECT run_id FROM cs9.begin_run('nightly', 'week 40', ARRAY['anon.a'], '[1, 2]')"

// A table does not change under a run: the run loses nothing, and neither does
// the migration, which goes through when the run has ended.
func TestARunInFlightRefusesAChange(t *testing.T) {
	t.Parallel()
	first, second := named("a", column("n"))+", publish: %s", named("b")
	for _, c := range []struct {
		name, mode string
		after      []string
	}{
		{"columns", "batched", []string{fmt.Sprintf(named("a", column("n"), column("m"))+", publish: %s", "batched"), second}},
		{"publish mode", "batched", []string{fmt.Sprintf(first, "swap"), second}},
		{"publish mode back", "swap", []string{fmt.Sprintf(first, "batched"), second}},
		{"dropped", "atomic", []string{second}},
		{"renamed", "atomic", []string{named("c", column("n")) + ", was: a, publish: atomic", second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, fmt.Sprintf(first, c.mode), second)
			s.exec("INSERT INTO anon.a SELECT i, i FROM generate_series(1, 9) AS i")
			s.change(destroyAll, c.after...)
			before := wholeCatalogue(t, s.conn)
			refuses := func(state string) {
				t.Helper()
				err := raised(t, "S9020", s.up())
				require.Equal(t, fmt.Sprintf("run 'week 40' of task 'nightly' writes to anon.a and is %s", state), err.Message)
				require.Contains(t, err.Hint, "Publish the run, or discard it")
			}
			var run int64
			require.NoError(t, s.conn.QueryRow(t.Context(), begin).Scan(&run))
			refuses("running")
			require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
			s.exec("SELECT cs9.drop_all_rows('anon.a')")
			staged := s.text("SELECT cs9.staging_table($1, 'anon.a')", run)
			s.exec("INSERT INTO "+staged+" (id, n) SELECT i, 0 FROM generate_series(1, 4) AS i", fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run))
			refuses("running")
			s.exec(fmt.Sprintf("SELECT cs9.begin_plan(%d, 2, 1), cs9.finish_plan(%[1]d, 2, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run))
			refuses("ready")
			s.exec("SELECT cs9.begin_publish('nightly', 'week 40', NULL, 2)")
			refuses("publishing")
			require.Equal(t, before, wholeCatalogueBut(t, s.conn, staged), "a refused migration leaves nothing behind")
			s.exec("CALL cs9.publish('nightly', 'week 40')")
			require.Equal(t, "4", s.text("SELECT count(*)::text FROM anon.a"))
			require.NoError(t, s.up())
		})
	}
}

// wholeCatalogueBut is the catalogue without what a run staged.
func wholeCatalogueBut(t *testing.T, conn *pgx.Conn, staged string) string {
	t.Helper()
	pgtest.Exec(t, conn, "BEGIN", "DROP TABLE "+staged)
	out := wholeCatalogue(t, conn)
	pgtest.Exec(t, conn, "ROLLBACK")
	return out
}

// A run that begins while a migration changes the table waits, and then begins
// with the table as it is.
func TestARunThatBeginsDuringAChangeWaitsForIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a", column("n")))
	s.exec("BEGIN", "SELECT cs9.begin_change('anon', 'a')", "ALTER TABLE anon.a ADD COLUMN m integer",
		"UPDATE cs9.table_definition SET definition_hash = 'new', publish_mode = 'atomic'")
	other := pgtest.Connect(t, s.url)
	pid := other.PgConn().PID()
	done := make(chan error, 1)
	var run int64
	go func() { done <- other.QueryRow(context.WithoutCancel(t.Context()), begin).Scan(&run) }()
	require.Eventually(t, func() bool {
		return pgtest.Scalar[bool](t, s.conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", pid)
	}, 20*time.Second, 10*time.Millisecond)
	s.exec("COMMIT")
	require.NoError(t, <-done)
	require.Equal(t, "new atomic", s.text("SELECT definition_hash || ' ' || publish_mode FROM cs9.run_table WHERE run_id = $1", run))
}

// A table that is dropped meanwhile is no table of the run.
func TestARunThatBeginsDuringADropIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a", column("n")))
	s.exec("BEGIN", "SELECT cs9.unregister_table('anon', 'a')")
	other := pgtest.Connect(t, s.url)
	pid := other.PgConn().PID()
	done := make(chan error, 1)
	go func() {
		_, err := other.Exec(context.WithoutCancel(t.Context()), begin)
		done <- err
	}()
	require.Eventually(t, func() bool {
		return pgtest.Scalar[bool](t, s.conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", pid)
	}, 20*time.Second, 10*time.Millisecond)
	s.exec("COMMIT")
	raised(t, "S9010", <-done)
	require.Equal(t, "0", s.text("SELECT count(*)::text FROM cs9.run"))
}

// A migration that comes upon a run whose beginning is not committed yet waits
// for it, and is refused then.
func TestAChangeWaitsForARunThatIsJustBeginning(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a"))
	s.change(destroyAll, named("a", column("n")))
	s.exec("BEGIN", begin)
	done := make(chan error, 1)
	go func() { done <- s.up() }()
	require.Eventually(t, func() bool {
		return pgtest.Scalar[bool](t, s.conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
	}, 20*time.Second, time.Millisecond)
	s.exec("COMMIT")
	raised(t, "S9020", <-done)
}

// Two branches changed one table, and both files were taken all the same: the
// second was made of another definition, and does not go through.
func TestAChangeOfAnotherDefinitionIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a"))
	other := &site{t: t, dir: copyFolder(t, s.dir), url: s.url, conn: s.conn}
	s.change(destroyAll, named("a", column("n")))
	other.change(destroyAll, named("a", column("m")))
	require.NoError(t, s.up())
	_, err := s.conn.Exec(t.Context(), "DELETE FROM public.goose_db_version WHERE version_id = 5")
	require.NoError(t, err)
	pgErr := raised(t, "S9021", other.up())
	require.Equal(t, "anon.a is not as the migration expects it", pgErr.Message)
	require.Equal(t, "f", s.text("SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'anon.a'::regclass AND attname = 'm')::text")[:1])
}

// A migration does not hold readers up for long: it gives up when it does not
// get a lock, and can be done again.
func TestAChangeDoesNotWaitLongForALock(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a"))
	s.exec("ALTER DATABASE "+s.conn.Config().Database+" SET cs9.lock_timeout = '50ms'", "BEGIN", "SELECT FROM anon.a")
	s.change(destroyAll, named("a")+", publish: swap")
	raised(t, "55P03", s.up())
	s.exec("COMMIT")
	require.NoError(t, s.up())
}

// An index is built while the table is in use; what failed is built again.
func TestIndexesOfTheirOwnFile(t *testing.T) {
	t.Parallel()
	const columns = "columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}, {name: n, type: INTEGER}], keys: [id, r]"
	for name, more := range map[string]string{
		"plain": "", "swapped": ", publish: swap", "partitions": `, partitions: {column: r, values: [x, "y z"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			table := "name: a, " + columns + more
			s := newSite(t, table+", indexes: {changed: [n]}")
			s.exec("INSERT INTO anon.a SELECT i, 'x', i FROM generate_series(1, 100) AS i")
			after := table + ", indexes: {changed: [r], new: [n, r], other: [n]}"
			written := s.change(sqlgen.ChangeOptions{ConcurrentIndexes: true}, after)
			require.Equal(t, []string{"00005_change_anon_a.sql", "00006_index_anon_a.sql"}, written)
			change, index := read(t, filepath.Join(s.dir, written[0])), read(t, filepath.Join(s.dir, written[1]))
			require.NotContains(t, change, "CREATE INDEX a_new_idx")
			require.Contains(t, index, "-- +goose NO TRANSACTION")
			require.Contains(t, index, "CREATE INDEX CONCURRENTLY IF NOT EXISTS")

			_, err := s.provider().UpTo(t.Context(), 5)
			require.NoError(t, err)
			relation := map[string]string{"plain": "anon.a", "swapped": "anon.a_part", "partitions": "anon.a_x"}[name]
			pattern := map[string]string{"plain": `a_new_idx`, "swapped": `a_part_new_[0-9a-f]{8}_idx`, "partitions": `a_x_new_[0-9a-f]{8}_idx`}[name]
			broken := regexp.MustCompile(pattern).FindString(index)
			s.leaveInvalidIndex(broken, relation)
			require.Equal(t, "false", s.text("SELECT indisvalid::text FROM pg_index WHERE indexrelid = $1::regclass", "anon."+broken))
			require.NoError(t, s.up())
			fresh := pgtest.Connect(t, pgtest.EmptyDatabase(t))
			defs := tables(t, after)
			install(t, fresh, defs)
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))

			require.NoError(t, s.down())
			require.NoError(t, s.up(), "built again after down")
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
			require.NoError(t, s.down())
			require.NoError(t, s.down())
			require.NoError(t, s.up())
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
		})
	}
}

// leaveInvalidIndex leaves what an index build leaves that is cancelled.
func (s *site) leaveInvalidIndex(name, relation string) {
	s.t.Helper()
	other := pgtest.Connect(s.t, s.url)
	pgtest.Exec(s.t, other, "BEGIN", "UPDATE "+relation+" SET n = n")
	s.exec("SET lock_timeout = '50ms'")
	_, err := s.conn.Exec(s.t.Context(), fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s (n, r)", name, relation))
	raised(s.t, "55P03", err)
	s.exec("RESET lock_timeout")
	pgtest.Exec(s.t, other, "ROLLBACK")
}

// install applies what a fresh folder of definitions gives.
func install(t *testing.T, conn *pgx.Conn, defs *sqlgen.Definitions) {
	t.Helper()
	h := history{dir: filepath.Join(t.TempDir(), "migrations")}
	generate(t, h.dir, defs, sqlgen.ChangeOptions{})
	_, err := h.provider(t, conn.Config().ConnString()).Up(t.Context())
	require.NoError(t, err)
}

// PostgreSQL names the index that a partition gets for an index on c as the
// entry c would be named.
func TestAnIndexIsCalledLikeAColumn(t *testing.T) {
	def := func(indexes string) string {
		return fmt.Sprintf("name: t, columns: [{name: k, type: TEXT}, {name: c, type: INTEGER}], keys: [k], partitions: {column: k, values: [a, a_b]}, indexes: {%s}", indexes)
	}
	s := newSite(t, def("by_c: [c]"))
	s.change(sqlgen.ChangeOptions{ConcurrentIndexes: true}, def("by_c: [c], c: [c, k], b_c: [k, c]"))
	require.NoError(t, s.up())
	require.Equal(t, "6 of 6", s.text("SELECT format('%s of %s', count(*) FILTER (WHERE x.indisvalid), count(*)) FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indexrelid AND c.relname LIKE '%idx' AND c.relispartition"))
	require.NoError(t, s.down())
	require.NoError(t, s.up())
}
