package inspect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
)

const pathWorld = `
CREATE SCHEMA m; CREATE SCHEMA "Odd, one"; CREATE SCHEMA open; GRANT CREATE ON SCHEMA open TO PUBLIC;
CREATE FUNCTION m.one() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION m.pos(i integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN i >= one(); END';
CREATE FUNCTION m.settled(i integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = m AS 'BEGIN RETURN i >= one(); END';
CREATE FUNCTION m.parsed(i integer) RETURNS boolean LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT i > 0; END;
CREATE FUNCTION m.trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION m.more(a integer, b integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN a > b; END';
CREATE OPERATOR m.>> (FUNCTION = m.more, LEFTARG = integer, RIGHTARG = integer);`

// TestTheSearchPathOfTheDatabaseIsWritten where something on the table may count on
// it: as it is set for the database, or for the role that inspects.
func TestTheSearchPathOfTheDatabaseIsWritten(t *testing.T) {
	t.Parallel()
	const check = "CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (m.pos(n)))"
	for name, c := range map[string]struct{ setting, table, want string }{
		"of the database":                {"ALTER DATABASE %s SET search_path = m, pg_catalog", check, "search_path: [m, pg_catalog]"},
		"with names that are quoted":     {`ALTER DATABASE %s SET search_path = "Odd, one", m`, check, `search_path: ["Odd, one", m]`},
		"with schemas that are not":      {`ALTER DATABASE %s SET search_path = "$user", gone, m, pg_temp, m`, check, "search_path: [m]"},
		"of a role":                      {"ALTER ROLE CURRENT_USER IN DATABASE %s SET search_path = m", check, "search_path: [m]"},
		"for a trigger":                  {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY); CREATE TRIGGER g BEFORE INSERT ON m.t FOR EACH ROW EXECUTE FUNCTION m.trg()", "search_path: [m]"},
		"for a partition's trigger":      {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY) PARTITION BY LIST (k); CREATE TABLE m.t1 PARTITION OF m.t FOR VALUES IN (1); CREATE TRIGGER g BEFORE INSERT ON m.t1 FOR EACH ROW EXECUTE FUNCTION m.trg()", "search_path: [m]"},
		"for an index":                   {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int); CREATE INDEX ON m.t (m.pos(n))", "search_path: [m]"},
		"for the predicate of an index":  {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int); CREATE INDEX ON m.t (n) WHERE m.pos(n)", "search_path: [m]"},
		"for a generated column":         {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int, g boolean GENERATED ALWAYS AS (m.pos(n)) STORED)", "search_path: [m]"},
		"for a default":                  {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, g boolean DEFAULT m.pos(1))", "search_path: [m]"},
		"for an operator":                {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (n OPERATOR(m.>>) 0))", "search_path: [m]"},
		"nothing counts on it":           {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (n > 0))", ""},
		"a function that says its own":   {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (m.settled(n)))", ""},
		"a function that is parsed":      {"ALTER DATABASE %s SET search_path = m", "CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (m.parsed(n)))", ""},
		"nothing is set":                 {"", check, ""},
		"a setting of the session alone": {"SET search_path = m", check, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.NewDatabase(t)
			conn := pgtest.Connect(t, url)
			run(t, conn, pathWorld+c.table)
			if c.setting != "" {
				pgtest.Exec(t, conn, strings.ReplaceAll(c.setting, "%s", pgtest.Scalar[string](t, conn, "SELECT current_database()")))
			}
			if !strings.HasPrefix(c.setting, "SET ") {
				conn = pgtest.Connect(t, url)
			}
			result, err := inspect.Inspect(t.Context(), conn, inspect.Options{Schema: "m", Tables: []string{"t"}})
			require.NoError(t, err)
			require.Empty(t, result.LeftOut)
			if c.want == "" {
				require.NotContains(t, string(result.File), "search_path")
				return
			}
			require.Contains(t, string(result.File), "    "+c.want+"\n")

			// what is registered keeps it, whatever the database says later
			pgtest.Install(t, url, saved(t, result.File))
			pgtest.Exec(t, conn, "ALTER DATABASE "+pgtest.Scalar[string](t, conn, "SELECT current_database()")+" SET search_path = public",
				"ALTER ROLE CURRENT_USER IN DATABASE "+pgtest.Scalar[string](t, conn, "SELECT current_database()")+" RESET search_path")
			require.Equal(t, string(result.File)+"    publish: batched\n", string(inspected(t, url, inspect.Options{Schema: "m", Tables: []string{"t"}}).File))
		})
	}
}

// TestASearchPathInWhichOthersMayCreateIsNoted, and not written: no migration
// would take it.
func TestASearchPathInWhichOthersMayCreateIsNoted(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t)
	conn := pgtest.Connect(t, url)
	run(t, conn, pathWorld+"CREATE TABLE m.t (k int PRIMARY KEY, n int CHECK (m.pos(n)))")
	pgtest.Exec(t, conn, "ALTER DATABASE "+pgtest.Scalar[string](t, conn, "SELECT current_database()")+" SET search_path = m, open")
	result := inspected(t, url, inspect.Options{Schema: "m"})
	require.NotContains(t, string(result.File), "search_path")
	require.Contains(t, notes(result.Notes), "search_path (m, open), which is not written because everybody may create in open")
}
