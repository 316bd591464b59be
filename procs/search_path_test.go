package procs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// TestATableIsStagedAndPublishedUnderItsSearchPath: the functions of its check,
// generated column, indexes and trigger count on one, and find it in each mode,
// whatever the session has that publishes.
func TestATableIsStagedAndPublishedUnderItsSearchPath(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic", "swap"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, []string{"CREATE SCHEMA m", "CREATE SCHEMA other", makeOne, makePos, makeTwo, "CREATE FUNCTION other.three() RETURNS integer LANGUAGE sql AS 'SELECT 3'",
				"CREATE FUNCTION m.five(i integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN i + one() + three(); END'", "SET search_path = m, other"},
				`columns: [{name: k, type: integer}, {name: n, type: integer}, {name: g, type: integer, generated: m.two(n)}], keys: [k],
					checks: {positive: m.pos(n)}, search_path: [m, other], publish: swap`,
				append([]string{"CREATE INDEX ON m.t (m.five(n))", "CREATE UNIQUE INDEX ON m.t (m.five(k), k)"},
					trigger("BEFORE INSERT OR UPDATE ON m.t FOR EACH ROW", "NEW.n := NEW.n + three(); RETURN NEW;")...)...)
			if pgtest.Scalar[int](t, s.conn, "SELECT current_setting('server_version_num')::integer / 10000") >= 17 && mode == "swap" {
				t.Skip("CREATE INDEX has a search_path of its own since PostgreSQL 17, for everybody")
			}
			s.stage("k", mode, dropT, "INSERT INTO {t} (k, n) VALUES (1, 5), (2, 6)")
			s.exec("SET search_path = pg_catalog")
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'k')")
			want := "(1,8,9) (2,9,10)"
			if mode == "swap" {
				want = "(1,5,6) (2,6,7)" // no row is written again, so that no trigger fires
			}
			require.Equal(t, want, s.all())
			require.Equal(t, "pg_catalog", pgtest.Scalar[string](t, s.conn, "SHOW search_path"))
			s.exec("DROP FUNCTION other.three")
			s.stage("bad", mode, dropT, "SET search_path = m, other", "INSERT INTO {t} (k, n) VALUES (1, 5)")
			require.Contains(t, requireState(t, "S9013", s.finish()).Message, "function three() does not exist")
		})
	}
}

// TestASearchPathIsOneInWhichNobodyElseMayCreate, when the table is registered
// and when it is published.
func TestASearchPathIsOneInWhichNobodyElseMayCreate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, reason string }{
		"public":         {"GRANT CREATE ON SCHEMA m TO PUBLIC", "everybody may create in schema m"},
		"another role":   {"GRANT CREATE ON SCHEMA m TO pg_monitor", "role pg_monitor may create in schema m"},
		"another owner":  {"ALTER SCHEMA m OWNER TO pg_monitor", "role pg_monitor owns schema m"},
		"no such schema": {"ALTER SCHEMA m RENAME TO n", "schema m is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndN+", search_path: [m]")
			if name != "no such schema" {
				s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1, 1)")
				s.exec(c.sql)
				s.refusedBeforehand("S9013", c.reason)
			} else {
				s.exec(c.sql)
			}
			err := s.refused("S9021", "SELECT cs9.assert_path('m', 't', '{m}')")
			require.Contains(t, err.Message, c.reason)
		})
	}
}

// P6: to plan a query by a check is to look into the function that it calls. What counts on a search_path is refused by the
// proof, which names the remedy, and by nothing before.
func TestACheckThatCountsOnASearchPathStopsNoPlan(t *testing.T) {
	t.Parallel()
	s := oneTable(t, []string{"CREATE SCHEMA m", "SET search_path = m", "CREATE FUNCTION one() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'",
		"CREATE FUNCTION big(i integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT i >= one()'"},
		"columns: [{name: k, type: integer}, {name: n, type: integer}], keys: [k], checks: {big: m.big(n)}", "SET constraint_exclusion = on")
	for attempt := range 2 { // the second one clears what the first one staged
		s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1, 1)")
		err := requireState(t, "S9013", s.finish())
		require.Contains(t, err.Message, "function one() does not exist", attempt)
	}
}
