package procs_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

const guarded = "../testdata/definitions/valid/roles.yaml"

// rolesFixture is a database whose owner, no superuser, has migrated it, and a
// login for each role of the definition.
type rolesFixture struct {
	t                                  *testing.T
	url                                string
	super, owner                       *session
	reader, runner, publisher, nothing *session
}

func newRolesFixture(t *testing.T) *rolesFixture {
	t.Helper()
	f := &rolesFixture{t: t, url: pgtest.EmptyDatabase(t)}
	f.super = connect(t, f.url)
	database := pgtest.Scalar[string](t, f.super.conn, "SELECT current_database()")
	ownerURL := f.login(database+"_owner", "CREATEROLE")
	f.super.exec("ALTER DATABASE " + database + " OWNER TO " + database + "_owner")
	pgtest.InstallSchema(t, ownerURL)
	// as on a managed service, where roles are often made beforehand
	for _, role := range []string{"demo_reader", "demo_runner", "demo_publisher"} {
		require.NoError(t, f.super.try("DO $$ BEGIN CREATE ROLE "+role+" NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"))
	}
	pgtest.Install(t, ownerURL, guarded)
	f.owner = connect(t, ownerURL)
	f.owner.exec("INSERT INTO demo.guarded (week, n) VALUES (1, 0)")
	f.reader = connect(t, f.login(database+"_reader", "IN ROLE demo_reader"))
	f.runner = connect(t, f.login(database+"_runner", "IN ROLE demo_runner"))
	f.publisher = connect(t, f.login(database+"_publisher", "IN ROLE demo_publisher"))
	f.nothing = connect(t, f.login(database+"_nothing", ""))
	return f
}

// login makes a login, which goes with the server, and returns its URL.
func (f *rolesFixture) login(name, options string) string {
	f.t.Helper()
	f.super.exec("CREATE ROLE " + name + " LOGIN NOSUPERUSER PASSWORD 'secret' " + options)
	u, err := url.Parse(f.url)
	require.NoError(f.t, err)
	u.User = url.UserPassword(name, "secret")
	return u.String()
}

const (
	beginGuarded = "SELECT run_id, attempt FROM cs9.begin_run('t', 'k', ARRAY['demo.guarded'], '[1, 2]')"
	denied       = "42501"
)

// ready brings a run to its end as the runner's login.
func (f *rolesFixture) ready() {
	f.t.Helper()
	s := f.runner
	require.NoError(f.t, s.conn.QueryRow(f.t.Context(), beginGuarded).Scan(&s.run, &s.attempt))
	require.True(f.t, pgtest.Scalar[bool](f.t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
	s.exec("SELECT cs9.drop_all_rows('demo.guarded')")
	s.exec("INSERT INTO " + pgtest.Scalar[string](f.t, s.conn, "SELECT cs9.staging_table($1, 'demo.guarded')", s.run) + " (week, n) VALUES (7, 7)")
	s.exec("SELECT cs9.next_plan($1, 1, $2, 1, 2)", s.run, s.attempt)
	s.exec("SELECT cs9.finish_plan($1, 2, $2)", s.run, s.attempt)
	s.exec("SELECT cs9.finish_run($1, $2)", s.run, s.attempt)
}

func TestRolesEachDoesItsPartAndNoMore(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.ready()
	staged := pgtest.Scalar[string](t, f.owner.conn, "SELECT cs9.staged_label($1, 1)", f.runner.run)

	t.Log("the runner stages, and neither publishes nor writes elsewhere")
	for _, sql := range []string{
		"CALL cs9.publish('t', 'k')", "CALL demo.guarded_publish('t', 'k')", "SELECT cs9.begin_publish('t', 'k', NULL, 1)",
		"INSERT INTO demo.guarded (week, n) VALUES (9, 9)", "DELETE FROM demo.guarded", "TRUNCATE demo.guarded", "UPDATE demo.guarded SET n = 1",
		"UPDATE cs9.run SET state = 'ready'", "DELETE FROM cs9.plan", "INSERT INTO cs9.task (task) VALUES ('x')", "SELECT * FROM cs9.run",
		"CREATE TABLE cs9_staging.mine ()", "CREATE TABLE cs9.mine ()", "DROP TABLE " + staged, "ALTER TABLE " + staged + " DISABLE TRIGGER ALL",
		"DELETE FROM " + staged, "TRUNCATE " + staged, "SELECT cs9.drop_staged(1)", "SELECT cs9.delete_rows('demo.guarded', 'all')",
		"SELECT demo.guarded_delete_step('demo.guarded', NULL)", "SELECT cs9.register_table('a', 'b', '{c}', 'batched', 'd', 'e', 'f', 'g', 'h', 'i')",
		"SELECT cs9.run_step(NULL, 1)", "SELECT cs9.end_plan(1, 1, 1, 'done', 0, NULL, NULL)", "SELECT cs9.open_plan(1, 1, 1, 1)",
		"SELECT cs9.grant_role('demo_runner', 'publisher')",
	} {
		f.runner.refused(denied, sql)
	}
	require.Equal(t, "1", pgtest.Scalar[string](t, f.runner.conn, "SELECT count(*)::text FROM demo.guarded"), "it may read")
	require.Equal(t, "ready", f.runner.runState("k"))
	require.True(t, pgtest.Scalar[bool](t, f.runner.conn, "SELECT cs9.owns_task(task_id) FROM cs9.task"), "what the runner's heartbeat asks")

	t.Log("the reader reads the live table alone")
	require.Equal(t, "1", pgtest.Scalar[string](t, f.reader.conn, "SELECT count(*)::text FROM demo.guarded"))
	for _, sql := range []string{
		"SELECT * FROM " + staged, "SELECT * FROM demo.guarded_staging", "INSERT INTO demo.guarded (week, n) VALUES (9, 9)", beginGuarded,
		"CALL cs9.publish('t', 'k')", "SELECT * FROM cs9.run_status", "SELECT cs9.discard_run('t', 'k')", "DELETE FROM demo.guarded",
	} {
		f.reader.refused(denied, sql)
	}

	t.Log("others do nothing at all")
	for _, sql := range []string{"SELECT * FROM demo.guarded", "SELECT * FROM cs9.run_status", beginGuarded, "CALL cs9.publish('t', 'k')", "SELECT cs9.claim_run('t', 'k')"} {
		f.nothing.refused(denied, sql)
	}

	t.Log("the publisher publishes, and neither reads, stages nor discards")
	for _, sql := range []string{
		"SELECT * FROM demo.guarded", "SELECT * FROM " + staged, beginGuarded, "SELECT cs9.discard_run('t', 'k')", "DELETE FROM demo.guarded",
		"INSERT INTO demo.guarded (week, n) VALUES (9, 9)", "SELECT demo.guarded_move_batch('" + staged + "', '(0,0)', '(9,0)', 1, false)",
	} {
		f.publisher.refused(denied, sql)
	}
	f.runner.exec("SELECT cs9.release_run('t')")
	f.publisher.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "7", pgtest.Scalar[string](t, f.reader.conn, "SELECT string_agg(week::text, ',') FROM demo.guarded"))
	require.Equal(t, "published", f.publisher.runState("k"))
}

// TestRolesGoByTheTable: a login that may run one table may not run another.
func TestRolesGoByTheTable(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.owner.exec("UPDATE cs9.table_definition SET runner_role = NULL, publisher_role = NULL")
	err := f.runner.refused(denied, beginGuarded)
	require.Contains(t, err.Message, "is no runner of demo.guarded")
	require.Equal(t, "The table's definition names no runner role.", err.Detail)
	require.Equal(t, "guarded", err.TableName)
	f.owner.exec("UPDATE cs9.table_definition SET runner_role = 'demo_runner'")
	f.ready()
	f.runner.exec("SELECT cs9.release_run('t')")
	err = f.publisher.refused(denied, "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Message, "is no publisher of demo.guarded")
	f.owner.exec("CALL cs9.publish('t', 'k')")
}

func TestP6PrivilegesAndPoliciesAreCheckedBefore(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.ready()
	f.runner.exec("SELECT cs9.release_run('t')")
	f.super.execAll("ALTER TABLE demo.guarded OWNER TO postgres; ALTER SEQUENCE demo.guarded_id_seq OWNER TO postgres")
	owner := pgtest.Scalar[string](t, f.owner.conn, "SELECT current_user")
	f.super.exec("GRANT SELECT, INSERT, DELETE ON demo.guarded TO " + owner)
	err := f.publisher.refused("S9013", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Message, "role "+owner+" lacks TRUNCATE on demo.guarded")
	f.super.execAll("GRANT TRUNCATE ON demo.guarded TO " + owner + "; ALTER TABLE demo.guarded ENABLE ROW LEVEL SECURITY")
	err = f.publisher.refused("S9013", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Message, "row-level security applies to role "+owner)
	require.Equal(t, 1, pgtest.Scalar[int](t, f.super.conn, "SELECT count(*)::integer FROM demo.guarded"))
	f.super.exec("ALTER TABLE demo.guarded DISABLE ROW LEVEL SECURITY")
	f.publisher.exec("CALL cs9.publish('t', 'k')")
}

// TestP6AnAtomicPublishNeedsTemporaryTables, which a role may be denied.
func TestP6AnAtomicPublishNeedsTemporaryTables(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.ready()
	f.runner.exec("SELECT cs9.release_run('t')")
	database := pgtest.Scalar[string](t, f.super.conn, "SELECT current_database()")
	f.super.execAll("ALTER DATABASE " + database + " OWNER TO postgres; REVOKE TEMPORARY ON DATABASE " + database + " FROM PUBLIC")
	f.publisher.exec("SELECT cs9.set_publish_mode('t', 'k', 'atomic')")
	err := f.publisher.refused("S9013", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Message, "lacks TEMPORARY on database "+database)
	require.Equal(t, 1, pgtest.Scalar[int](t, f.super.conn, "SELECT count(*)::integer FROM demo.guarded"))
	f.super.exec("GRANT TEMPORARY ON DATABASE " + database + " TO " + database + "_owner")
	f.publisher.exec("CALL cs9.publish('t', 'k')")
}

// TestRolesAConditionRunsNobodyElsesCode: conditions run with the rights of the
// owner, so that they may call nothing that another role could change.
func TestRolesAConditionRunsNobodyElsesCode(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.super.execAll("CREATE SCHEMA playground; GRANT ALL ON SCHEMA playground TO demo_runner; GRANT USAGE ON SCHEMA playground TO PUBLIC")
	f.runner.exec("CREATE FUNCTION playground.evil(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'run as %', current_user; END $$")
	f.runner.exec("CREATE OPERATOR playground.=== (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4eq)")
	f.super.exec("CREATE FUNCTION playground.fine(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 3'")
	s := f.runner
	require.NoError(t, s.conn.QueryRow(t.Context(), beginGuarded).Scan(&s.run, &s.attempt))
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
	err := s.refused("S9015", "SELECT cs9.drop_rows_where('demo.guarded', 'playground.evil(week)')")
	require.Equal(t, "it calls playground.evil(integer), which belongs to another role", err.Detail)
	s.exec("SELECT cs9.drop_rows_where('demo.guarded', 'playground.fine(week)')")
	s.exec("SELECT cs9.drop_rows_where('demo.guarded', 'week OPERATOR(playground.===) 3')")
}
