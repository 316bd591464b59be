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

// modesYAML are tables of each mode: twice has a second unique index, whole and
// split are swapped, as one partition and as two.
const modesYAML = `
version: 1
tables:
  - {schema: m, name: plain, columns: [{name: k, type: integer}, {name: v, type: numeric}, {name: j, type: json}], keys: [k], publish: atomic}
  - {schema: m, name: twice, columns: [{name: k, type: integer}, {name: u, type: integer}], keys: [k], unique: {u: [u]}, publish: atomic}
  - {schema: m, name: moved, columns: [{name: k, type: integer}, {name: v, type: integer}], keys: [k]}
  - {schema: m, name: whole, columns: [{name: k, type: integer}, {name: v, type: integer}], keys: [k], publish: swap}
  - schema: m
    name: split
    columns: [{name: k, type: integer}, {name: region, type: text}, {name: v, type: integer}]
    keys: [k, region]
    partitions: {column: region, values: [north, south]}
    publish: swap_or_atomic
`

// modes is a session with the tables of modesYAML.
type modes struct{ *session }

func newModes(t *testing.T) modes {
	t.Helper()
	path := filepath.Join(t.TempDir(), "modes.yaml")
	require.NoError(t, os.WriteFile(path, []byte(modesYAML), 0o600))
	return modes{connect(t, pgtest.NewDatabase(t, path))}
}

// plans begins a run of the tables, and runs each plan's statements; {x} in a
// statement is the run's own table for m.x.
func (s modes) plans(key string, tables []string, plans ...[]string) error {
	s.t.Helper()
	err := s.conn.QueryRow(s.t.Context(), `SELECT run_id, attempt FROM cs9.begin_run('t', $1, $2, $3::jsonb)`,
		key, tables, "["+strings.TrimSuffix(strings.Repeat("1,", len(plans)), ",")+"]").Scan(&s.run, &s.attempt)
	require.NoError(s.t, err)
	for i, statements := range plans {
		require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, $2, $3)", s.run, i+1, s.attempt))
		for _, sql := range statements {
			for _, table := range tables {
				if name := "{" + strings.TrimPrefix(table, "m.") + "}"; strings.Contains(sql, name) {
					staged := pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, $2)", s.run, table)
					sql = strings.ReplaceAll(sql, name, staged)
				}
			}
			s.exec(sql)
		}
		if err := s.try("SELECT cs9.finish_plan($1, $2, $3)", s.run, i+1, s.attempt); err != nil {
			return err
		}
	}
	return s.finish()
}

// rows is a table as text, in order of k.
func (s modes) rows(table string) string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, fmt.Sprintf("SELECT coalesce(string_agg(r::text, ' ' ORDER BY k), '') FROM %s AS r", table))
}

// note is what the publish said it did.
func (s modes) note() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, "SELECT note FROM cs9.publish_progress WHERE run_id = $1 AND kind = 'apply'", s.run)
}

func drop(table string) string { return fmt.Sprintf("SELECT cs9.drop_all_rows('%s')", table) }

func TestAtomicTouchesOnlyTheRowsThatDiffer(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec(`INSERT INTO m.plain SELECT k, 1.0, '{"a": 1}' FROM generate_series(1, 100) AS k`)
	untouched := "SELECT string_agg(format('%s %s', ctid, xmin), ' ' ORDER BY k) FROM m.plain WHERE k BETWEEN 4 AND 100"
	before := pgtest.Scalar[string](t, s.conn, untouched)
	require.NoError(t, s.plans("k", []string{"m.plain"}, []string{drop("m.plain"),
		`INSERT INTO {plain} (k, v, j) SELECT k, CASE k WHEN 2 THEN 1.00 ELSE 1.0 END, CASE k WHEN 3 THEN '{"a":1}' ELSE '{"a": 1}' END::json FROM generate_series(2, 101) AS k`}))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "m.plain: 1 deleted, 2 updated, 1 inserted", s.note(), "1.00 is not 1.0, and json has no operator =")
	require.Equal(t, before, pgtest.Scalar[string](t, s.conn, untouched))
	require.Equal(t, `(2,1.00,"{""a"": 1}") (3,1.0,"{""a"":1}") (101,1.0,"{""a"": 1}")`,
		pgtest.Scalar[string](t, s.conn, "SELECT string_agg(p::text, ' ' ORDER BY k) FROM m.plain AS p WHERE k IN (1, 2, 3, 101)"))
	s.nothingLeft()
}

func TestAtomicKeepsTheMeaningOfDeletesAndUpserts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan []string
		want string
		note string
	}{
		"upserts delete nothing": {
			[]string{"INSERT INTO {plain} (k, v, cs9_op) VALUES (2, 20, 'u'), (3, 3, 'u'), (4, 4, 'u')"},
			"(1,1,) (2,20,) (3,3,) (4,4,)", "0 deleted, 1 updated, 1 inserted"},
		"where": {
			[]string{"SELECT cs9.drop_rows_where('m.plain', 'v < 3')", "INSERT INTO {plain} (k, v) VALUES (2, 2)", "INSERT INTO {plain} (k, v) VALUES (5, 5)"},
			"(2,2,) (3,3,) (5,5,)", "1 deleted, 0 updated, 1 inserted"},
		"keep": {
			[]string{"SELECT cs9.keep_rows_where('m.plain', 'k = 2')", "INSERT INTO {plain} (k, v) VALUES (1, 10)"},
			"(1,10,) (2,2,)", "1 deleted, 1 updated, 0 inserted"},
		"deletes alone": {
			[]string{"SELECT cs9.drop_rows_where('m.plain', 'k = 1')"},
			"(2,2,) (3,3,)", "1 deleted, 0 updated, 0 inserted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newModes(t)
			s.exec("INSERT INTO m.plain (k, v) VALUES (1, 1), (2, 2), (3, 3)")
			require.NoError(t, s.plans("k", []string{"m.plain"}, c.plan))
			s.exec("CALL m.plain_publish('t', 'k')")
			require.Equal(t, c.want, s.rows("m.plain"))
			require.Equal(t, "m.plain: "+c.note, s.note())
			require.Equal(t, "published", s.runState("k"))
		})
	}
}

func TestAtomicLetsUniqueValuesChangePlaces(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec("INSERT INTO m.twice VALUES (1, 1), (2, 2), (3, 3)")
	require.NoError(t, s.plans("k", []string{"m.twice"}, []string{drop("m.twice"), "INSERT INTO {twice} (k, u) VALUES (1, 2), (2, 1), (3, 3)"}))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "(1,2) (2,1) (3,3)", s.rows("m.twice"))
	require.Equal(t, "m.twice: 2 deleted, 0 updated, 2 inserted", s.note())
}

func TestAtomicLeavesReferencedRowsAlone(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec("INSERT INTO m.plain (k, v) VALUES (1, 1), (2, 2)")
	s.exec("CREATE TABLE m.child (k integer REFERENCES m.plain ON DELETE CASCADE)")
	s.exec("INSERT INTO m.child VALUES (1)")
	require.NoError(t, s.plans("k", []string{"m.plain"}, []string{drop("m.plain"), "INSERT INTO {plain} (k, v) VALUES (1, 10)"}))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "(1,10,)", s.rows("m.plain"))
	require.Equal(t, "1", s.rows2("SELECT k::text FROM m.child"))
	err := requireState(t, "S9013", s.plans("k2", []string{"m.plain"}, []string{drop("m.plain"), "INSERT INTO {plain} (k, v) VALUES (2, 2)"}))
	require.Contains(t, err.Message, "rows that the run deletes are referenced by the foreign key")
}

func (s modes) rows2(sql string) string { return pgtest.Scalar[string](s.t, s.conn, sql) }

func TestBatchedTablesComeFirstThenAllOthersInOneTransaction(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	tables := []string{"m.plain", "m.twice", "m.moved", "m.whole", "m.split"}
	fill := []string{
		"INSERT INTO {plain} (k, v) VALUES (1, 1)", "INSERT INTO {twice} (k, u) VALUES (1, 1)", "INSERT INTO {moved} (k, v) VALUES (1, 1)",
		"INSERT INTO {whole} (k, v) VALUES (1, 1)", "INSERT INTO {split} (k, region, v) VALUES (1, 'south', 1)"}
	require.NoError(t, s.plans("k", tables, []string{drop("m.plain"), drop("m.twice"), drop("m.moved"), drop("m.whole"), drop("m.split")}, fill))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "truncate move apply close analyze analyze analyze analyze analyze",
		s.rows2("SELECT string_agg(kind, ' ' ORDER BY step) FROM cs9.publish_step"))
	require.Equal(t, "m.plain: 0 deleted, 0 updated, 1 inserted; m.twice: 0 deleted, 0 updated, 1 inserted; m.whole: 1 partition swapped; m.split: 1 partition swapped", s.note())
	for _, table := range tables {
		require.NotEmpty(t, s.rows(table), table)
	}
	require.Equal(t, "5 5", s.rows2("SELECT format('%s %s', rows_to_publish, rows_published) FROM cs9.run_status"))
	s.nothingLeft()

	// as plain as the first time, and again
	require.NoError(t, s.plans("k2", tables, []string{drop("m.plain"), drop("m.twice"), drop("m.moved"), drop("m.whole"), drop("m.split")}, fill))
	s.exec("CALL cs9.publish('t', 'k2')")
	require.Equal(t, "(1,1)", s.rows("m.whole"))
	require.Equal(t, "k v", s.rows2("SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'm.whole_part'::regclass AND attnum > 0 AND NOT attisdropped"))
	require.Equal(t, "whole_part_pkey", s.rows2("SELECT string_agg(conname, ' ') FROM pg_constraint WHERE conrelid = 'm.whole_part'::regclass AND contype <> 'n'"))
	s.nothingLeft()
}

func TestSwapIsRefusedWhereItCouldNotBeDone(t *testing.T) {
	t.Parallel()
	rebuild := []string{drop("m.whole"), "INSERT INTO {whole} (k, v) VALUES (1, 1)"}
	for name, c := range map[string]struct {
		before, change string
		plan           []string
		reason         string
	}{
		"nothing deleted": {"", "", []string{"INSERT INTO {whole} (k, v) VALUES (9, 9)"}, "rows of m.whole_part stay, which the run does not delete"},
		"not all deleted": {"", "", []string{"SELECT cs9.drop_rows_where('m.whole', 'k = 1')", "INSERT INTO {whole} (k, v) VALUES (1, 9)"}, "rows of m.whole_part stay"},
		"foreign key in":  {"CREATE TABLE m.child (k integer REFERENCES m.whole)", "", rebuild, "the foreign key child_k_fkey of m.child would have to be checked"},
		"foreign key out": {"ALTER TABLE m.whole ADD FOREIGN KEY (v) REFERENCES m.plain", "", rebuild, "the foreign key whole_v_fkey of m.whole"},
		"a trigger of the partition": {
			"", "CREATE TRIGGER tr AFTER INSERT ON m.whole_part EXECUTE FUNCTION suppress_redundant_updates_trigger()", rebuild, "has the trigger tr of its own"},
		"a view of the partition":        {"", "CREATE VIEW m.v AS SELECT * FROM m.whole_part", rebuild, "is used by rule _RETURN on view m.v"},
		"a publication of the partition": {"", "CREATE PUBLICATION p FOR TABLE m.whole_part", rebuild, "is named by the publication p"},
		"statistics of the partition":    {"", "CREATE STATISTICS m.st ON k, v FROM m.whole_part", rebuild, "has the statistics object st"},
		"row-level security of it":       {"", "ALTER TABLE m.whole_part ENABLE ROW LEVEL SECURITY", rebuild, "has row-level security of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newModes(t)
			s.exec("INSERT INTO m.plain (k) VALUES (1)")
			s.exec("INSERT INTO m.whole VALUES (1, 1), (2, 1)")
			s.execAll(c.before)
			err := s.plans("k", []string{"m.whole"}, c.plan, []string{"SELECT 1"})
			if c.change != "" {
				require.NoError(t, err)
				s.exec(c.change) // the run is ready
				err = s.try("CALL cs9.publish('t', 'k')")
			}
			require.Contains(t, requireState(t, "S9013", err).Message, "publishing into m.whole could not finish: it cannot be swapped: ")
			require.Contains(t, requireState(t, "S9013", err).Message, c.reason)
			require.Equal(t, "(1,1) (2,1)", s.rows("m.whole"))
		})
	}
}

func TestSwapOfUntouchedPartitionsAndFallback(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec("INSERT INTO m.split VALUES (1, 'north', 1), (2, 'south', 2)")
	south := "SELECT 'm.split_south'::regclass::oid::text"
	before := s.rows2(south)
	require.NoError(t, s.plans("k", []string{"m.split"}, []string{
		"SELECT cs9.drop_rows_where('m.split', 'region = ''north''')", "INSERT INTO {split} (k, region, v) VALUES (3, 'north', 3)"}))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "m.split: 1 partition swapped", s.note())
	require.Equal(t, "(2,south,2) (3,north,3)", s.rows("m.split"))
	require.Equal(t, before, s.rows2(south), "south is the table it was")

	require.NoError(t, s.plans("k2", []string{"m.split"}, []string{
		"SELECT cs9.drop_rows_where('m.split', 'k = 3')", "INSERT INTO {split} (k, region, v) VALUES (4, 'north', 4)", "INSERT INTO {split} (k, region, v) VALUES (5, 'south', 5)"}))
	s.exec("CALL cs9.publish('t', 'k2')")
	require.Equal(t, "m.split: 1 deleted, 0 updated, 2 inserted", s.note(), "a row of south stays, so that it is published atomic")
	require.Equal(t, "(2,south,2) (4,north,4) (5,south,5)", s.rows("m.split"))
	s.nothingLeft()
}

func TestAModeForOneRun(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	require.NoError(t, s.plans("k", []string{"m.plain", "m.moved"}, []string{drop("m.plain"), "INSERT INTO {plain} (k) VALUES (1)"}))
	require.Contains(t, s.refused("S9016", "SELECT cs9.set_publish_mode('t', 'k', 'swap')").Message, "m.plain cannot be published by swap: it has no partition to swap")
	require.Contains(t, s.refused("S9016", "SELECT cs9.set_publish_mode('t', 'k', NULL)").Message, "NULL is no publish mode")
	s.refused("S9009", "SELECT cs9.set_publish_mode('t', 'k', 'atomic', 'm.whole')")
	s.exec("SELECT cs9.set_publish_mode('t', 'k', 'batched', 'm.plain')")
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "truncate move close analyze", s.rows2("SELECT string_agg(kind, ' ' ORDER BY step) FROM cs9.publish_step"))
	s.refused("S9004", "SELECT cs9.set_publish_mode('t', 'k', 'atomic')")

	require.NoError(t, s.plans("k2", []string{"m.split"}, []string{drop("m.split"), "INSERT INTO {split} (k, region) VALUES (1, 'north')"}))
	require.Contains(t, s.refused("S9016", "SELECT cs9.set_publish_mode('t', 'k2', 'batched')").Message, "its rows are staged by partition")
}

// A direct write that comes after the steps were recorded is found behind the
// lock, and nothing is done.
func TestAWriteBeforeTheOneTransactionIsFound(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"plain", "split"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			s := newModes(t)
			columns := map[string]string{"plain": "(k) VALUES (%d)", "split": "(k, region) VALUES (%d, 'north')"}[table]
			row := func(k int) string { return fmt.Sprintf(columns, k) }
			require.NoError(t, s.plans("k", []string{"m." + table}, []string{
				fmt.Sprintf("SELECT cs9.drop_rows_where('m.%s', 'k > 5')", table), fmt.Sprintf("INSERT INTO {%s} %s", table, row(1))}))
			run := pgtest.Scalar[int64](t, s.conn, "SELECT cs9.begin_publish('t', 'k', NULL, 100)")
			s.exec("INSERT INTO m." + table + row(1))
			before := s.rows("m." + table)
			s.refused("S9013", "SELECT cs9.publish_next($1, NULL, 100, 0)", run)
			require.Equal(t, before, s.rows("m."+table))
			s.exec("DELETE FROM m." + table)
			s.exec("CALL cs9.publish('t', 'k')")
			require.Contains(t, s.rows("m."+table), "(1,")
			s.nothingLeft()
		})
	}
}

// Whatever the default of the session: what a lock was waited for is seen.
func TestAPublishIsReadCommitted(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		s := newModes(t)
		require.NoError(t, s.plans("k", []string{"m.moved"}, []string{drop("m.moved"), "INSERT INTO {moved} (k) VALUES (1)"}))
		s.exec("SET default_transaction_isolation = '" + level + "'")
		s.exec("CREATE FUNCTION m.level() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN CREATE TABLE m.level AS SELECT current_setting(''transaction_isolation'') AS level; RETURN NULL; END'")
		s.exec("CREATE TRIGGER level AFTER INSERT ON m.moved EXECUTE FUNCTION m.level()")
		s.exec("CALL cs9.publish('t', 'k')")
		require.Equal(t, "read committed", s.rows2("SELECT level FROM m.level"))
	}
}

func TestALockStopsTheOneTransactionAndItResumes(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"m.plain", "m.whole"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			s := newModes(t)
			name := strings.TrimPrefix(table, "m.")
			require.NoError(t, s.plans("k", []string{table}, []string{drop(table), fmt.Sprintf("INSERT INTO {%s} (k) VALUES (1)", name)}))
			rival := connect(t, s.url)
			rival.exec("BEGIN")
			rival.exec("LOCK TABLE " + table + " IN " + map[string]string{"m.plain": "ROW EXCLUSIVE", "m.whole": "ACCESS SHARE"}[table] + " MODE")
			s.execAll("SET cs9.lock_timeout = '20ms'; SET cs9.lock_retries = '2'; SET cs9.lock_backoff = '10ms'")
			err := s.refused("S9017", "CALL cs9.publish('t', 'k')")
			require.Contains(t, err.Message, "one of its atomic and swap tables is locked by another session")
			require.Empty(t, s.rows(table))
			rival.exec("COMMIT")
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM "+table))
			s.nothingLeft()
		})
	}
}

func TestSeveralSessionsMoveDisjointRanges(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	require.NoError(t, s.plans("k", []string{"m.moved"}, []string{drop("m.moved"), "INSERT INTO {moved} (k, v) SELECT k, k FROM generate_series(1, 5000) AS k"}))
	first, second := modes{connect(t, s.url)}, modes{connect(t, s.url)}
	for call, why := range map[string]string{"movers => 0": "movers is 0", "movers => NULL": "movers is null", "0": "batch_rows is 0", "-1": "batch_rows is -1", "NULL": "batch_rows is null"} {
		require.Contains(t, s.refused("S9016", "CALL cs9.publish('t', 'k', "+call+")").Message, why)
		require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the session still owns the task")
	}
	run := pgtest.Scalar[int64](t, s.conn, "SELECT cs9.begin_publish('t', 'k', NULL, 100, 3)")
	require.Equal(t, "3 ranges, 5000 rows", s.rows2("SELECT format('%s ranges, %s rows', count(*), sum(rows_total)) FROM cs9.publish_step WHERE kind = 'move'"))
	next := "SELECT coalesce(message, '') FROM cs9.join_next('t', 'k', 1000)"
	require.Empty(t, first.rows2(next), "the truncate comes before the moves, and is for the session that publishes")
	s.exec("SELECT cs9.publish_next($1, NULL, 100, 0)", run)

	first.exec("BEGIN")
	require.Contains(t, first.rows2(next), "m.moved: 1000 of ")
	second.exec("BEGIN")
	require.Contains(t, second.rows2(next), "m.moved: 1000 of ")
	s.exec("SELECT cs9.publish_next($1, NULL, 1000, 0)", run)
	require.Equal(t, 1000, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM m.moved"))
	second.drop(s.session) // what it moved and did not commit is moved by another
	first.exec("COMMIT")
	s.exec("CALL cs9.publish('t', 'k', 100)")
	require.Equal(t, "5000 rows, 5000 keys, 12502500", s.rows2("SELECT format('%s rows, %s keys, %s', count(*), count(DISTINCT k), sum(v)) FROM m.moved"))
	require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT more FROM cs9.join_next('t', 'k', 100)"))
	s.exec("CALL cs9.join_publish('t', 'k')")
	s.nothingLeft()

	require.NoError(t, s.plans("k2", []string{"m.moved"}, []string{drop("m.moved"), "INSERT INTO {moved} (k, v) VALUES (1, 1)"}))
	s.exec("SELECT cs9.release_run('t')")
	require.Contains(t, s.refused("S9003", "CALL cs9.join_publish('t', 'k2')").Message, "run 'k2' is not being published: it is ready")
}

// A publish and a session that joins it, at the same time.
func TestJoinAPublish(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	require.NoError(t, s.plans("k", []string{"m.moved"}, []string{drop("m.moved"), "INSERT INTO {moved} (k, v) SELECT k, k FROM generate_series(1, 20000) AS k"}))
	joined := make(chan error, 1)
	other := connect(t, s.url)
	go func() { joined <- other.try("CALL cs9.join_publish('t', 'k', 50)") }()
	s.exec("CALL cs9.publish('t', 'k', 50, movers => 2)")
	require.NoError(t, <-joined)
	require.Equal(t, 20000, pgtest.Scalar[int](t, s.conn, "SELECT count(DISTINCT k)::integer FROM m.moved"))
	s.nothingLeft()
}

func TestASwapThatCannotBeIsSaidWhenPlan1IsDone(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec("INSERT INTO m.whole VALUES (1, 1)")
	requireState(t, "S9013", s.plans("k", []string{"m.whole"}, []string{"INSERT INTO {whole} (k, v) VALUES (9, 9)"}, []string{"SELECT 1"}))
	require.Equal(t, "1 running, 2 pending", s.rows2("SELECT string_agg(plan || ' ' || state, ', ' ORDER BY plan) FROM cs9.plan"), "not hours later")
}

func TestP6AUniqueIndexThatOnlyAPartitionHas(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	s.exec("CREATE UNIQUE INDEX only_here ON m.split_north (v)")
	s.exec("INSERT INTO m.split VALUES (1, 'north', 1), (2, 'south', 2)")
	for _, rows := range []string{"(3, 'north', 3), (4, 'north', 3)", "(3, 'north', 1)"} {
		s.exec("SELECT cs9.release_run('t')")
		err := requireState(t, "S9013", s.plans(rows, []string{"m.split"}, []string{"INSERT INTO {split} (k, region, v) VALUES " + rows}))
		require.Contains(t, err.Message, "in the unique index only_here")
	}
	require.NoError(t, s.plans("south", []string{"m.split"}, []string{"INSERT INTO {split} (k, region, v) VALUES (3, 'south', 1), (4, 'south', 1)"}))
}

// TestAtomicBesideTemporaryTablesOfTheSession: what a session calls its own
// does not matter.
func TestAtomicBesideTemporaryTablesOfTheSession(t *testing.T) {
	t.Parallel()
	for _, before := range []string{
		"CREATE TEMP TABLE cs9_diff (k integer); CREATE TEMP TABLE cs9_gone (k integer)",
		"CREATE TEMP VIEW cs9_gone AS SELECT 1 AS k; CREATE TEMP SEQUENCE cs9_diff",
		"CREATE TYPE pg_temp.cs9_diff AS ENUM ('a'); CREATE TEMP TABLE t AS SELECT 1 AS k; CREATE TEMP TABLE cs9_l (k integer)",
	} {
		t.Run(before[:24], func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1), (2, 2), (3, 3)", before)
			s.stage("k", "atomic", dropT, "INSERT INTO {t} VALUES (1, 1), (2, 9), (4, 4)")
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "(1,1) (2,9) (4,4)", s.all())
		})
	}
}
