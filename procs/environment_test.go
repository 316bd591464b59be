package procs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// oneTable is a session with the table m.t of a definition, which stands under
// tables: without its schema and name, and in which statements were run before
// it was made and after.
func oneTable(t *testing.T, before []string, definition string, after ...string) *session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\ntables:\n  - {schema: m, name: t, "+definition+"}\n"), 0o600))
	url := pgtest.NewDatabase(t)
	s := connect(t, url)
	for _, sql := range before {
		s.exec(sql)
	}
	pgtest.Install(t, url, path)
	for _, sql := range after {
		s.exec(sql)
	}
	return s
}

// stage brings a run of m.t with one plan to the end of its plans; {t} stands
// for the run's own table.
func (s *session) stage(key, mode string, statements ...string) {
	s.t.Helper()
	require.NoError(s.t, s.conn.QueryRow(s.t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', $1, '{m.t}', '[1]', p_publish_mode => $2)", key, mode).
		Scan(&s.run, &s.attempt))
	require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
	for _, sql := range statements {
		if strings.Contains(sql, "{t}") {
			sql = strings.ReplaceAll(sql, "{t}", pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, 'm.t')", s.run))
		}
		s.exec(sql)
	}
	s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
}

// all is the live table as text.
func (s *session) all() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, "SELECT coalesce(string_agg(cs9_t::text, ' ' ORDER BY cs9_t::text), '') FROM m.t AS cs9_t")
}

// refusedBeforehand expects that the run is refused by finish_run, or once it is
// ready by the begin of its publish, and that no live row was touched.
func (s *session) refusedBeforehand(state string, reasons ...string) *pgconn.PgError {
	s.t.Helper()
	before := s.all()
	err := s.finish()
	if err == nil {
		err = s.try("CALL cs9.publish('t', 'k')")
		require.Equal(s.t, "ready", s.runState("k"))
	}
	pgErr := requireState(s.t, state, err)
	for _, reason := range reasons {
		require.Contains(s.t, pgErr.Message+" "+pgErr.Detail+" "+pgErr.Hint, reason)
	}
	require.Equal(s.t, before, s.all())
	require.Zero(s.t, pgtest.Scalar[int](s.t, s.conn, "SELECT count(*)::integer FROM pg_class WHERE relname LIKE 'cs9_trial%'"))
	return pgErr
}

const (
	dropT    = "SELECT cs9.drop_all_rows('m.t')"
	keyAndN  = "columns: [{name: k, type: integer}, {name: n, type: integer}], keys: [k]"
	keyAndX  = "columns: [{name: k, type: integer}, {name: x, type: text}], keys: [k]"
	noise    = "(SELECT string_agg(md5(g::text), '') FROM generate_series(1, 200) AS g)" // 6,400 bytes that do not compress
	makeOne  = "CREATE FUNCTION m.one() RETURNS integer LANGUAGE sql AS 'SELECT 1'"
	makePos  = "CREATE FUNCTION m.pos(i integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN i >= one(); END'"
	makeTwo  = "CREATE FUNCTION m.two(i integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN i + one(); END'"
	userPath = "SET search_path = m, public"
)

// TestP6NoIndexRefusesARow: an index of any kind may raise for a row, or find it
// too large, and its publish would stop behind the TRUNCATE.
func TestP6NoIndexRefusesARow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		definition string
		after      []string
		row        string // a row that is refused
		reason     string
		good       string // and one that is not
	}{
		"an expression that raises": {keyAndN + ", indexes: {inv: {columns: [{expression: (1 / n)}]}}", nil,
			"(1, 0)", "division by zero", "(1, 5)"},
		"a predicate that raises": {keyAndN, []string{"CREATE INDEX by_k ON m.t (k) WHERE 10 / n > 1"},
			"(1, 0)", "the index m.by_k fails: division by zero", "(1, 5)"},
		"an expression of an unique index": {keyAndN, []string{"CREATE UNIQUE INDEX u ON m.t ((10 / n), k)"},
			"(1, 0)", "division by zero", "(1, 5)"},
		"a text too long for a btree": {keyAndX + ", indexes: {by_x: [x]}", nil,
			"(1, " + noise + ")", "index row size", "(1, repeat('x', 5000))"},
		"a text too long for a unique constraint": {keyAndX + ", unique: {by_x: [x]}", nil,
			"(1, " + noise + ")", "index row size", "(1, 'short')"},
		"a text too long for what INCLUDE adds": {keyAndX, []string{"CREATE UNIQUE INDEX u ON m.t (k) INCLUDE (x)"},
			"(1, " + noise + ")", "index row size", "(1, 'short')"},
		"an expression too long for a btree": {keyAndN, []string{"CREATE FUNCTION m.long(n integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT string_agg(md5(g::text), '') FROM generate_series(1, n) AS g $$; CREATE INDEX by_long ON m.t (m.long(n))"},
			"(1, 200)", "an insert into the index m.by_long fails: index row size", "(1, 1)"},
		"a text too long for tsvector": {keyAndX, []string{"CREATE INDEX words ON m.t USING gin (to_tsvector('simple', x))"},
			"(1, (SELECT string_agg(md5(g::text), ' ') FROM generate_series(1, 40000) AS g))", "too long for tsvector", "(1, repeat('word ', 1000))"},
		"an element too long for gin": {"columns: [{name: k, type: integer}, {name: x, type: 'text[]'}], keys: [k]", []string{"CREATE INDEX words ON m.t USING gin (x)"},
			"(1, ARRAY[" + noise + "])", "an insert into the index m.words fails", "(1, ARRAY['short'])"},
		"a range too long for gist": {"columns: [{name: k, type: integer}, {name: x, type: m.words}], keys: [k]", []string{"CREATE INDEX ranges ON m.t USING gist (x)"},
			"(1, m.words('', " + noise + " || " + noise + "))", "an insert into the index m.ranges fails", "(1, '[a,b]')"},
		"a function that counts on a search_path": {keyAndN, []string{makeOne, makePos, "CREATE INDEX pos ON m.t (m.pos(n))"},
			"(1, 5)", "function one() does not exist", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := append([]string{userPath}, c.after...)
			s := oneTable(t, []string{"CREATE SCHEMA m", "CREATE TYPE m.words AS RANGE (subtype = text)"}, c.definition, append(after, "RESET search_path")...)
			s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES "+c.row)
			s.refusedBeforehand("S9013", c.reason)
			if c.good == "" {
				return
			}
			s.exec("SELECT cs9.discard_run('t', 'k')")
			s.stage("good", "batched", dropT, "INSERT INTO {t} VALUES "+c.good)
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'good')")
			require.NotEmpty(t, s.all())
		})
	}
}

// TestP6WhatAPartitionAloneRefuses: an index or a NOT NULL that one partition has
// stands against the rows that go there, and no others.
func TestP6WhatAPartitionAloneRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"an index": "CREATE INDEX ON m.t_north ((1 / n))",
		"not null": "ALTER TABLE m.t_north ALTER n SET NOT NULL",
		"a check":  "ALTER TABLE m.t_north ADD CHECK (1 / n > 0 AND n IS NOT NULL)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const definition = "columns: [{name: k, type: integer}, {name: region, type: text}, {name: n, type: integer}], keys: [k, region], partitions: {column: region, values: [north, south]}"
			s := oneTable(t, nil, definition, change)
			bad := map[bool]string{true: "NULL", false: "0"}[name == "not null"]
			s.stage("south", "batched", dropT, fmt.Sprintf("INSERT INTO {t} VALUES (1, 'south', %s), (2, 'north', 1)", bad))
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'south')")
			s.stage("k", "batched", dropT, fmt.Sprintf("INSERT INTO {t} VALUES (1, 'north', %s)", bad))
			s.refusedBeforehand("S9013")
		})
	}
}

// TestP6WhatRunsUnderAnotherSearchPathIsRefused: rows pass their checks when they
// are staged in a session with a search_path of its own, and would not when they
// are published.
func TestP6WhatRunsUnderAnotherSearchPathIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		definition string
		after      []string
		reason     []string
	}{
		"a check": {keyAndN + ", checks: {positive: m.pos(n)}", nil,
			[]string{"the check t_positive_check, which calls m.pos(integer), fails: function one() does not exist", "PL/pgSQL function m.pos(integer)", "search_path:"}},
		"a check that was made by hand": {keyAndN, []string{"ALTER TABLE m.t ADD CONSTRAINT by_hand CHECK (m.pos(n))"},
			[]string{"the check by_hand"}},
		"a generated column": {"columns: [{name: k, type: integer}, {name: n, type: integer}, {name: g, type: integer, generated: m.two(n)}], keys: [k]", nil,
			[]string{"the generated column g, which calls m.two(integer), fails"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, []string{"CREATE SCHEMA m", makeOne, makePos, makeTwo, userPath}, c.definition, c.after...)
			s.stage("k", "batched", dropT, "INSERT INTO {t} (k, n) VALUES (1, 5)")
			s.refusedBeforehand("S9013", c.reason...)
		})
	}
}

// TestP6AGeneratedColumnThatWouldChangeIsRefused: both paths have the function,
// and it gives another value under each.
func TestP6AGeneratedColumnThatWouldChangeIsRefused(t *testing.T) {
	t.Parallel()
	s := oneTable(t, []string{"CREATE SCHEMA m", "CREATE FUNCTION m.upper(text) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$",
		"CREATE FUNCTION m.g(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN upper(x); END'"},
		"columns: [{name: k, type: integer}, {name: x, type: text}, {name: g, type: text, generated: m.g(x)}], keys: [k]", "SET search_path = m, pg_catalog")
	s.stage("k", "batched", dropT, "INSERT INTO {t} (k, x) VALUES (1, 'a')")
	s.refusedBeforehand("S9013", "the generated column g gives another value")
}

// TestP6ARowThatDoesNotFitOnAPageIsRefused: the live table may keep values in the
// row that the run's own table moves out of it.
func TestP6ARowThatDoesNotFitOnAPageIsRefused(t *testing.T) {
	t.Parallel()
	for name, after := range map[string][]string{
		"storage plain": {"ALTER TABLE m.t ALTER x SET STORAGE PLAIN"},
		"compressed":    {"ALTER TABLE m.t ALTER x SET STORAGE PLAIN", "SET cs9.op = 'i'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndX, after...)
			long := map[bool]string{true: "repeat('x', 9000)", false: noise + " || " + noise}[name == "compressed"]
			s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1, "+long+")")
			s.refusedBeforehand("S9013", "a staged row does not fit on a page")
			s.exec("SELECT cs9.discard_run('t', 'k')")
			s.stage("good", "batched", dropT, "INSERT INTO {t} VALUES (1, repeat('x', 8000))")
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'good')")
		})
	}
}

// TestP6WideRowsThatFitAreTaken: many columns are measured, not guessed.
func TestP6WideRowsThatFitAreTaken(t *testing.T) {
	t.Parallel()
	var columns strings.Builder
	for i := range 900 {
		fmt.Fprintf(&columns, ", {name: c%d, type: bigint}", i)
	}
	s := oneTable(t, nil, "columns: [{name: k, type: bigint}"+columns.String()+"], keys: [k]")
	s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1"+strings.Repeat(", 7", 900)+")")
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
}

// TestP6AConditionThatRaisesForALiveRowIsRefused: it would stop the publish when
// its delete comes, behind those of other tables.
func TestP6AConditionThatRaisesForALiveRowIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		for _, sql := range []string{"SELECT cs9.drop_rows_where('m.t', '1 / n > 0')", "SELECT cs9.keep_rows_where('m.t', '10 / n = 2')"} {
			t.Run(mode+" "+sql[11:15], func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1), (2, 0)")
				s.stage("k", mode, sql, "INSERT INTO {t} VALUES (3, 3)")
				s.refusedBeforehand("S9013", "the condition of a delete", "division by zero")
			})
		}
	}
}

// TestP6ADeleteThatLeavesNothingIsRefused, in whatever words.
func TestP6ADeleteThatLeavesNothingIsRefused(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"all":    dropT,
		"true":   "SELECT cs9.drop_rows_where('m.t', 'true')",
		"where":  "SELECT cs9.drop_rows_where('m.t', 'n < 5')",
		"keep":   "SELECT cs9.keep_rows_where('m.t', 'n > 5')",
		"twice":  "SELECT cs9.drop_rows_where('m.t', 'k = 1'), cs9.drop_rows_where('m.t', 'k <> 1')",
		"a part": "SELECT cs9.drop_rows_where('m.t', 'n < 2')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1), (2, 2)")
			s.stage("k", "batched", sql)
			if name != "a part" {
				s.refusedBeforehand("S9014")
				return
			}
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "(2,2)", s.all())
			s.stage("again", "batched", "SELECT cs9.drop_rows_where('m.t', 'n > 7')")
			require.NoError(t, s.finish(), "a delete that finds nothing empties nothing")
		})
	}
}

// TestP6ASessionThatSwitchesTriggersOffPublishesNothing.
func TestP6ASessionThatSwitchesTriggersOffPublishesNothing(t *testing.T) {
	t.Parallel()
	s := oneTable(t, nil, keyAndN)
	s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1, 1)")
	require.NoError(t, s.finish())
	s.exec("SET session_replication_role = replica")
	s.refused("S9016", "CALL cs9.publish('t', 'k')")
	s.exec("RESET session_replication_role")
	s.exec("CALL cs9.publish('t', 'k')")
}

// TestPublishRunsUnderTheSettingsOfTheProof: a trigger that writes a time as text
// writes what it would have written in the session that staged.
func TestPublishRunsUnderTheSettingsOfTheProof(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, "columns: [{name: k, type: integer}, {name: at, type: timestamptz}, {name: x, type: text}], keys: [k]",
				"CREATE FUNCTION m.say() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.x := NEW.at::text; RETURN NEW; END'",
				"CREATE TRIGGER say BEFORE INSERT ON m.t FOR EACH ROW EXECUTE FUNCTION m.say()")
			s.exec("SET TimeZone = 'Asia/Tokyo'")
			s.exec("SET DateStyle = 'German'")
			s.stage("k", mode, dropT, "INSERT INTO {t} VALUES (1, '2026-01-02 03:04:05+00', NULL)")
			require.NoError(t, s.finish())
			other := connect(t, s.url)
			s.drop(other)
			other.exec("SET TimeZone = 'America/Lima'")
			other.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "02.01.2026 12:04:05 JST", pgtest.Scalar[string](t, other.conn, "SELECT x FROM m.t"))
			require.Equal(t, "America/Lima", pgtest.Scalar[string](t, other.conn, "SHOW TimeZone"))
		})
	}
}

// TestP6ATableFromWhichAnotherInheritsIsRefused: TRUNCATE would empty both, and
// DELETE FROM ONLY would leave rows that readers see in it.
func TestP6ATableFromWhichAnotherInheritsIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		for name, change := range map[string]string{
			"a child":      "CREATE TABLE m.child () INHERITS (m.t)",
			"one that was": "CREATE TABLE m.child (k integer NOT NULL, n integer); ALTER TABLE m.child INHERIT m.t",
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1)", change, "INSERT INTO m.child VALUES (5, 5)")
				s.stage("k", mode, dropT, "INSERT INTO {t} VALUES (9, 9)")
				s.refusedBeforehand("S9013", "m.child inherits from it")
				s.exec("ALTER TABLE m.child NO INHERIT m.t")
				s.stage("k", mode, dropT, "INSERT INTO {t} VALUES (9, 9)")
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'k')")
				require.Equal(t, "(9,9)", s.all())
				require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM m.child"))
			})
		}
	}
}

// TestP6ATableThatIsAnotherThingNowIsRefused: what stands where the table was takes
// no rows, or takes others.
func TestP6ATableThatIsAnotherThingNowIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, reason string }{
		"gone":                {"DROP TABLE m.t", "the table is not there any more"},
		"renamed":             {"ALTER TABLE m.t RENAME TO old", "the table is not there any more"},
		"elsewhere":           {"CREATE SCHEMA n; ALTER TABLE m.t SET SCHEMA n", "the table is not there any more"},
		"a view":              {"ALTER TABLE m.t RENAME TO old; CREATE VIEW m.t AS SELECT * FROM m.old", "its columns are not those that were staged"},
		"a materialized view": {"ALTER TABLE m.t RENAME TO old; CREATE MATERIALIZED VIEW m.t AS SELECT * FROM m.old", "its columns are not those that were staged"},
		"a sequence":          {"DROP TABLE m.t; CREATE SEQUENCE m.t", "its columns are not those that were staged"},
		"a foreign table":     {"DROP TABLE m.t; CREATE FOREIGN DATA WRAPPER w; CREATE SERVER v FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE m.t (k integer NOT NULL, n integer) SERVER v", "its partition m.t is a foreign table"},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1)")
				s.stage("k", mode, dropT, "INSERT INTO {t} VALUES (9, 9)")
				s.execAll(c.change)
				err := requireState(t, "S9013", s.finish())
				require.Contains(t, err.Message, c.reason)
			})
		}
	}
}
