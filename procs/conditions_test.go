package procs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

const conditionsYAML = `
version: 1
tables:
  - schema: m
    name: t
    columns:
      - {name: id, type: integer}
      - {name: day, type: date}
      - {name: at, type: timestamptz}
      - {name: took, type: interval}
      - {name: code, type: varchar(20)}
      - {name: name, type: text}
      - {name: raw, type: bytea}
      - {name: u, type: uuid}
      - {name: tags, type: "text[]"}
      - {name: price, type: money}
      - {name: doc, type: xml}
      - {name: twice, type: integer, generated: id * 2}
    keys: [id]
`

// conditioned is a session with m.t, whose plan 1 runs.
func conditioned(t *testing.T) modes {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conditions.yaml")
	require.NoError(t, os.WriteFile(path, []byte(conditionsYAML), 0o600))
	s := modes{connect(t, pgtest.NewDatabase(t, path))}
	s.exec(`INSERT INTO m.t (id, day, at, took, code, name, raw, tags) VALUES
		(1, '2026-04-03', '2026-02-28 23:30+00', '-1 day -2:00', 'a', 'O''Brien', '\x00ff', '{a,NULL}'),
		(2, '2026-03-04', '2026-03-01 00:30+00', '-1 day +2:00', 'b', 'back\slash', '\x5c', '{"NULL"}'),
		(3, '0044-03-15 BC', '2026-03-01 05:30+00', '1 mon', NULL, NULL, NULL, NULL)`)
	return s
}

func (s modes) beginPlan(key string) {
	s.t.Helper()
	require.NoError(s.t, s.conn.QueryRow(s.t.Context(), `SELECT run_id, attempt FROM cs9.begin_run('t', $1, '{m.t}', '[1]', p_allow_empty => true)`, key).Scan(&s.run, &s.attempt))
	require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
}

func (s modes) endPlan() {
	s.t.Helper()
	s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
	require.NoError(s.t, s.finish())
}

// A condition says in the session that publishes what it said in the one that
// recorded it.
func TestAConditionMeansWhatItsSessionReads(t *testing.T) {
	t.Parallel()
	elsewhere := "SET datestyle = 'SQL, MDY'; SET timezone = 'America/New_York'; SET intervalstyle = 'iso_8601'; SET standard_conforming_strings = off; SET xmloption = document; SET array_nulls = off"
	for _, c := range []struct{ settings, condition, stays string }{
		{"SET datestyle = 'ISO, DMY'", "day = '03/04/2026'", "2 3"},
		{"SET datestyle = 'ISO, MDY'", "day = '03/04/2026'", "1 3"},
		{"SET datestyle = 'German, DMY'", "day IN ('3.4.2026', '15.3.0044 BC')", "2"},
		{"SET timezone = 'UTC'", "at >= '2026-03-01'", "1"},
		{"SET timezone = 'Asia/Tokyo'", "at >= '2026-03-01'", ""},
		{"SET timezone = 'Europe/Oslo'", "at BETWEEN '2026-03-01' AND '2026-03-01 04:00'", "3"},
		{"SET timezone = 'Europe/Oslo'", "tstzrange('2026-03-01', '2026-03-01 02:00') @> at", "3"},
		{"SET timezone = 'Europe/Oslo'", "'[2026-03-01, 2026-03-01 02:00)'::tstzrange @> at", "3"},
		{"SET intervalstyle = 'sql_standard'", "took = '-1 2:00'", "2 3"},
		{"SET intervalstyle = 'postgres'", "took = '-1 2:00'", "1 3"},
		{"SET intervalstyle = 'iso_8601'", "took = 'P1M'", "1 2"},
		{"SET standard_conforming_strings = off", `name = 'back\\slash'`, "1 3"},
		{"SET standard_conforming_strings = on", `name = 'back\slash' OR raw = '\x00ff'`, "3"},
		{"SET standard_conforming_strings = on", `name = 'O''Brien' AND name <> '"\'`, "2 3"},
		{"SET standard_conforming_strings = off", `raw = '\\x5c'`, "1 3"},
		{"SET quote_all_identifiers = on", "code IN ('a', 'c')", "2 3"},
		{"SET transform_null_equals = on", "code = NULL", "1 2"},
		{"", "code BETWEEN 'a' AND 'a' OR twice = 6", "2"},
		{"", "code LIKE 'b%' AND tags = ARRAY['NULL']", "1 3"},
	} {
		for _, kind := range []string{"drop", "keep"} {
			t.Run(c.settings+" "+c.condition+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := conditioned(t)
				s.beginPlan("k")
				s.execAll(c.settings)
				const ids = "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM m.t"
				stays := pgtest.Scalar[string](t, s.conn, ids+" WHERE ("+c.condition+") IS NOT TRUE")
				require.Equal(t, c.stays, stays, "what plain SQL says")
				if kind == "keep" {
					stays = pgtest.Scalar[string](t, s.conn, ids+" WHERE "+c.condition)
				}
				s.exec("SELECT cs9."+kind+"_rows_where('m.t', $1)", c.condition)

				other := modes{connect(t, s.url)}
				other.run, other.attempt = s.run, s.attempt
				other.execAll(elsewhere)
				s.execAll(elsewhere) // finish_run reads it too
				s.endPlan()
				s.exec("SELECT cs9.release_run('t')")
				other.exec("CALL cs9.publish('t', 'k')")
				require.Equal(t, stays, pgtest.Scalar[string](t, other.conn, ids))
			})
		}
	}
}

// 'now' and 'today' are what they were when the condition was recorded.
func TestNowInAConditionIsWhenItWasRecorded(t *testing.T) {
	t.Parallel()
	s := conditioned(t)
	s.beginPlan("k")
	s.exec("SELECT cs9.drop_rows_where('m.t', 'at < ''now'' AND day < ''today''')")
	s.endPlan()
	s.exec("INSERT INTO m.t (id, day, at) VALUES (9, current_date - 1, clock_timestamp())")
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "9", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(id::text, ' ') FROM m.t"))
}

// A NULL where a value is meant would make "no rows" or "all rows" of a condition.
func TestAConditionComparesWithNoNull(t *testing.T) {
	t.Parallel()
	s := conditioned(t)
	s.beginPlan("k")
	for _, bad := range []string{
		"id = NULL", "NULL = id", "id IN (NULL)", "id IN (1, NULL)", "id NOT IN (1, NULL)", "id = ANY (NULL)", "id <> ALL (NULL)",
		"id = ANY ('{1,NULL}')", "id <> ALL ('{1,null}')", "id BETWEEN 1 AND NULL", "id BETWEEN NULL AND 1", "id NOT BETWEEN 1 AND NULL",
		"name LIKE NULL", "name NOT LIKE NULL", "name ILIKE NULL", "name ~ NULL", "NULL", "id = 1 AND NULL", "id = 1 OR NULL", "NOT NULL",
		"code = NULL", "code IN ('a', NULL)", "code NOT IN ('a', NULL)", "code = ANY ('{a,NULL}')", "(id, name) = (1, NULL)", "(id, name) < (1, NULL)",
		"(id, name) IN ((1, NULL))", "day = NULL::date", "at < NULL", "took > NULL::interval", "id = NULL + 1", "name = lower(NULL)",
		"name = NULL || 'x'", "NULL = ANY (tags)", "tags @> NULL", "(id = NULL) IS NOT TRUE", "CASE id WHEN NULL THEN true ELSE false END",
		"id = 1 OR name = 'O''Brien' AND id = (NULL)", "NULLIF(id, 1) = NULL", "id = ((NULL::numeric(10, 2))::integer)", "NULL::numeric(10, 2) = id", "(id = 2) = (NULL = name)",
		"NULL LIKE code", "NULL::boolean AND id = 1", "id = ALL (ARRAY[1, NULL])", "id = 1 OR (NULL)",
	} {
		for _, kind := range []string{"drop", "keep"} {
			err := s.refused("S9015", "SELECT cs9."+kind+"_rows_where('m.t', $1)", bad)
			require.Contains(t, err.Detail, "it compares with NULL", bad)
		}
	}
	for _, good := range []string{
		"id IS NULL", "name IS NOT NULL", "id IS DISTINCT FROM NULL", "name IS NOT DISTINCT FROM NULL", "COALESCE(id, NULL, 1) = 1",
		"name = 'NULL::text'", "name = ' = NULL::integer'", "name IN ('NULL', 'x')", "tags = ARRAY[NULL, 'a']", "code = ANY ('{NULLS,\"NULL\",\"a,NULL,b\"}')",
		"CASE WHEN id = 1 THEN NULL ELSE true END", "(name IS NULL) = false",
		"num_nulls(id, NULL) = 1", "COALESCE(id, NULL) = 1", "1 = COALESCE(NULL, id)", "(id > 1) = COALESCE(NULL, true)", "GREATEST(id, NULL) = 3",
	} {
		s.exec("SELECT cs9.drop_rows_where('m.t', $1)", good)
	}
}

// Literals that no printing can fix are refused.
func TestAConditionHasNoLiteralThatSettingsChange(t *testing.T) {
	t.Parallel()
	s := conditioned(t)
	s.beginPlan("k")
	for _, bad := range []string{"price = '$1,000.00'", "price > 5::money", "tags = '{NULL,a}'", "doc IS DOCUMENT AND 'a<b/>'::xml IS NOT DOCUMENT", "tableoid = 'm.t'::regclass", "ctid = '(0,1)'", "t IS NOT NULL", "cs9_rows IS NULL"} {
		s.refused("S9015", "SELECT cs9.drop_rows_where('m.t', $1)", bad)
	}
	s.exec("SELECT cs9.drop_rows_where('m.t', 'name = ''cs9_run''')")
}

// A delete may name thousands of ids.
func TestADeleteByManyIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ column, value string }{
		"integers":   {"id", "i"},
		"uuids":      {"u", "md5(i::text)::uuid"},
		"texts":      {"name", "md5(i::text) || '''\\\"'"},
		"char codes": {"code", "'c' || i"},
		"timestamps": {"at", "'2026-01-01'::timestamptz + i * interval '1 minute'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := conditioned(t)
			s.exec("TRUNCATE m.t")
			s.exec(fmt.Sprintf("INSERT INTO m.t (id, %[1]s) SELECT i, %[2]s FROM generate_series(1, 5003) AS i ON CONFLICT DO NOTHING", strings.ReplaceAll(c.column, "id", "raw"), strings.ReplaceAll(c.value, "i", map[bool]string{true: "int4send(i)", false: "i"}[c.value == "i"])))
			s.beginPlan("k")
			s.exec(fmt.Sprintf("SELECT cs9.drop_rows_where('m.t', (SELECT format('%s IN (%%s)', string_agg(quote_literal(%s), ', ')) FROM generate_series(1, 5000) AS i))", c.column, c.value))
			s.endPlan()
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "5001 5002 5003", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM m.t"))
		})
	}
}

// Recording a condition leaves nothing behind, and no lock that another plan or
// a migration would wait for.
func TestRecordingAConditionHoldsNothing(t *testing.T) {
	t.Parallel()
	s := conditioned(t)
	s.beginPlan("k")
	relations := "SELECT count(*)::integer FROM pg_class"
	before := pgtest.Scalar[int](t, s.conn, relations)
	s.exec("BEGIN")
	s.exec("SELECT cs9.drop_rows_where('m.t', 'id = 1')")
	require.Equal(t, before, pgtest.Scalar[int](t, s.conn, relations))
	require.Empty(t, pgtest.Scalar[string](t, s.conn, `SELECT coalesce(string_agg(l.relation::regclass::text, ' '), '') FROM pg_locks AS l
		WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation = ANY (ARRAY['m.t'::regclass, 'm.t_staging'::regclass])`))
	s.exec("COMMIT")
}

// P6: an operator is that of the column's type, wherever the type is: a comparison of citext is none of texts.
func TestAConditionComparesAsTheTypesOfItsColumnsDo(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t)
	s := modes{connect(t, url)}
	s.execAll("CREATE SCHEMA x; CREATE EXTENSION citext SCHEMA x; CREATE EXTENSION ltree SCHEMA x; CREATE SCHEMA m; CREATE DOMAIN m.word AS x.citext")
	pgtest.Install(t, url, definition(t, `
  - {schema: m, name: c, columns: [{name: k, type: x.citext}, {name: w, type: m.word}, {name: l, type: x.ltree}], keys: [k]}
`))
	for condition, left := range map[string]string{
		"k = 'A'":                  "(b,B,b.c)",
		"k BETWEEN 'B ' AND 'b'":   "(a,A,a) (b,B,b.c)",
		"w IN ('a', 'z')":          "(b,B,b.c)",
		"l OPERATOR(x.<@) 'b'":     "(a,A,a)",
		"l <@ 'b' AND NOT k < 'A'": "(a,A,a)",
	} {
		s.execAll("TRUNCATE m.c; INSERT INTO m.c VALUES ('a', 'A', 'a'), ('b', 'B', 'b.c')")
		require.NoError(t, s.onePlan(condition, "batched", []string{"m.c"}, "SELECT cs9.drop_rows_where('m.c', $$"+condition+"$$)"), condition)
		s.exec("CALL cs9.publish('t', $1)", condition)
		require.Equal(t, left, s.content("m.c"), condition)
	}
}
