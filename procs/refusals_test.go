package procs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// upsertAll is a run that drops nothing: it upserts a live row and adds one.
var upsertAll = []string{"INSERT INTO %s (week, region, n, cs9_op) VALUES (1, 'north', 11, 'u'), (9, 'south', 99, 'u')"}

// TestP6 changes the surroundings of a run whose plans are done, in each way
// that would stop its publish in the middle, and expects the refusal before the
// first live row is touched: by finish_run, and again by publish when the
// change comes after it.
func TestP6WhatCouldNotFinishDoesNotBegin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan1  []string
		change string
		reason string
	}{
		"insert against a surviving live row": {one(insert1), "", "collides with a live row in the unique index anon_rebuild_counts_pkey"},
		"insert against a row that stays by a keep": {
			one("SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', 'week < 2') /* %s */", insert1), "", "collides with a live row"},
		"second unique index among staged rows": {
			one(dropAll, "INSERT INTO %s (week, region, n) VALUES (1, 'north', 7), (2, 'north', 7)"),
			"TRUNCATE anon.anon_rebuild_counts; CREATE UNIQUE INDEX u ON anon.anon_rebuild_counts (n, region)", "two staged rows have one value in the unique index u"},
		"second unique index against a live row": {
			one("INSERT INTO %s (week, region, n) VALUES (7, 'north', 0)"),
			"TRUNCATE anon.anon_rebuild_counts; INSERT INTO anon.anon_rebuild_counts VALUES (1, 'north', 0); CREATE UNIQUE INDEX u ON anon.anon_rebuild_counts (n, region)",
			"collides with a live row in the unique index u"},
		"second unique index, a swap of values": {
			one("INSERT INTO %s (week, region, n, cs9_op) VALUES (1, 'north', 2, 'u'), (2, 'north', 1, 'u')"),
			"UPDATE anon.anon_rebuild_counts SET n = week; CREATE UNIQUE INDEX u ON anon.anon_rebuild_counts (n, region)",
			"collides with a live row in the unique index u"},
		"unique index on an expression, partial": {
			one(dropAll, "INSERT INTO %s (week, region, n) VALUES (1, 'north', 7), (2, 'north', -(-7))"),
			"CREATE UNIQUE INDEX u ON anon.anon_rebuild_counts ((n * 2), region) WHERE n > 5", "two staged rows have one value in the unique index u"},
		"foreign key out": {
			one(dropAll, insert1),
			"CREATE TABLE weeks (week integer PRIMARY KEY); TRUNCATE anon.anon_rebuild_counts; ALTER TABLE anon.anon_rebuild_counts ADD CONSTRAINT f FOREIGN KEY (week) REFERENCES weeks",
			"a staged row breaks the foreign key f"},
		"foreign key in": {
			one(dropAll, insert1),
			"CREATE TABLE child (week integer, region text, CONSTRAINT f FOREIGN KEY (week, region) REFERENCES anon.anon_rebuild_counts); INSERT INTO child VALUES (2, 'north')",
			"rows that the run deletes are referenced by the foreign key f"},
		"foreign key in, cascading": {
			one(dropAll, insert1),
			"CREATE TABLE child (week integer, region text, CONSTRAINT f FOREIGN KEY (week, region) REFERENCES anon.anon_rebuild_counts ON DELETE CASCADE); INSERT INTO child VALUES (2, 'north')",
			"rows that the run deletes are referenced by the foreign key f"},
		"foreign key of the table to itself": {
			one("SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 1') /* %s */"),
			"UPDATE anon.anon_rebuild_counts SET n = 1; ALTER TABLE anon.anon_rebuild_counts ADD CONSTRAINT f FOREIGN KEY (n, region) REFERENCES anon.anon_rebuild_counts",
			"rows that the run deletes are referenced by the foreign key f"},
		"check added since": {
			one(dropAll, insert1), "ALTER TABLE anon.anon_rebuild_counts ADD CONSTRAINT c CHECK (n < 5)", "a staged row fails the check c"},
		"check added to a partition": {
			one(dropAll, insert1), "ALTER TABLE anon.anon_rebuild_counts_north ADD CONSTRAINT c CHECK (n < 5)", "a staged row fails the check c"},
		"column added": {
			one(dropAll, insert1), "ALTER TABLE anon.anon_rebuild_counts ADD COLUMN extra integer", "its columns are not those that were staged"},
		"column dropped": {
			one(dropAll, insert1), "ALTER TABLE anon.anon_rebuild_counts DROP COLUMN n", "its columns are not those that were staged"},
		"column retyped": {
			one(dropAll, insert1), "ALTER TABLE anon.anon_rebuild_counts ALTER COLUMN n TYPE bigint", "its columns are not those that were staged"},
		"partition dropped": {
			one(dropAll, insert1), "DROP TABLE anon.anon_rebuild_counts_north", "a staged row has no partition to go to"},
		"rule": {
			one(dropAll, insert1), "CREATE RULE r AS ON INSERT TO anon.anon_rebuild_counts DO INSTEAD NOTHING", "it has the rule r"},
		"exclusion constraint": {
			one(dropAll, insert1), "CREATE EXTENSION btree_gist; ALTER TABLE anon.anon_rebuild_counts_north ADD CONSTRAINT x EXCLUDE USING gist (n WITH =)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.reason == "" {
				t.Run("on a plain table", testP6ExclusionConstraint)
				return
			}
			s := newSession(t)
			s.ready("k", c.plan1, nil, nil)
			s.execAll(c.change)
			before := s.live0()
			err := requireState(t, "S9013", s.finish())
			require.Contains(t, err.Message, c.reason)
			require.Contains(t, err.Hint, "No live row of the table was touched.")
			require.Equal(t, "anon_rebuild_counts", err.TableName)
			require.Equal(t, before, s.live0())
			if c.change == "" {
				return
			}

			late := newSession(t) // the change comes after finish_run
			late.ready("k", c.plan1, nil, nil)
			if err := late.finish(); err != nil {
				requireState(t, "S9013", err) // refused for the rows themselves
				return
			}
			late.execAll(c.change)
			before = late.live0()
			err = late.refused("S9013", "CALL cs9.publish('t', 'k')")
			require.Contains(t, err.Message, c.reason)
			require.Equal(t, before, late.live0())
			require.Equal(t, "ready", late.runState("k"))
			require.False(t, pgtest.Scalar[bool](t, late.conn, "SELECT owner_alive FROM cs9.run_status"), "the session does not keep the lock")
			require.Zero(t, pgtest.Scalar[int](t, late.conn, "SELECT count(*)::integer FROM cs9.publish_step"))
		})
	}
}

// live0 is the live table as text, whatever its columns.
func (s *session) live0() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, "SELECT coalesce(string_agg(c::text, ' ' ORDER BY c::text), '') FROM anon.anon_rebuild_counts AS c")
}

// execAll runs statements that are separated by semicolons.
func (s *session) execAll(statements string) {
	s.t.Helper()
	for _, sql := range strings.Split(statements, "; ") {
		if sql != "" {
			s.exec(sql)
		}
	}
}

const plain = "../testdata/definitions/valid/plain.yaml"

func testP6ExclusionConstraint(t *testing.T) {
	s := connect(t, pgtest.NewDatabase(t, plain))
	s.execAll("CREATE EXTENSION btree_gist; ALTER TABLE anon.plain ADD CONSTRAINT x EXCLUDE USING gist (n WITH =)")
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', 'k', ARRAY['anon.plain'], '[1]')").Scan(&s.run, &s.attempt))
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", s.run))
	s.exec("INSERT INTO " + pgtest.Scalar[string](t, s.conn, "SELECT cs9.staging_table($1, 'anon.plain')", s.run) + " (id, n) VALUES (1, 1)")
	s.exec("SELECT cs9.finish_plan($1, 1, 1)", s.run)
	err := requireState(t, "S9013", s.finish())
	require.Contains(t, err.Message, "it has the exclusion constraint x")
}

// TestATriggerThatRaisesStopsThePublish: what a user's trigger does cannot be
// known before. The publish stops with the trigger's own error, keeps what it
// committed, and goes on when the trigger is gone.
func TestATriggerThatRaisesStopsThePublish(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$")
	s.exec("CREATE TRIGGER refuse BEFORE INSERT ON anon.anon_rebuild_counts FOR EACH ROW WHEN (NEW.week = 3) EXECUTE FUNCTION refuse()")
	err := s.refused("P0001", "CALL cs9.publish('t', 'k', 1)")
	require.Equal(t, "not this one", err.Message)
	require.Equal(t, "n1=11 s2=12", s.live(), "the batches before it are live")
	require.Equal(t, "publishing", s.runState("k"))
	s.exec("DROP TRIGGER refuse ON anon.anon_rebuild_counts")
	s.exec("CALL cs9.publish('t', 'k', 1)")
	require.Equal(t, newRows, s.live())
}

// TestADeferredTriggerThatRaisesGivesTheTaskBack: what is deferred is looked at
// in the step itself, not by the COMMIT behind it, which nobody could catch.
func TestADeferredTriggerThatRaisesGivesTheTaskBack(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
			require.NoError(t, s.finish())
			s.exec("SELECT cs9.set_publish_mode('t', 'k', $1)", mode)
			s.exec("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$")
			s.exec("CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON anon.anon_rebuild_counts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.week = 3) EXECUTE FUNCTION refuse()")
			s.refused("P0001", "CALL cs9.publish('t', 'k', 1)")
			require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the session does not keep the lock")
			s.exec("DROP TRIGGER refuse ON anon.anon_rebuild_counts")
			s.exec("CALL cs9.publish('t', 'k', 1)")
			require.Equal(t, newRows, s.live())
		})
	}
}

func TestP6AnEmptiedTableWithNothingStagedIsRefused(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll), nil, nil)
	err := requireState(t, "S9014", s.finish())
	require.Contains(t, err.Hint, "p_allow_empty")
	require.Equal(t, oldRows, s.live())

	require.NoError(t, s.conn.QueryRow(t.Context(),
		"SELECT attempt FROM cs9.begin_run('t', 'k', $1, $2, p_allow_empty => true)", []string{table}, planList).Scan(&s.attempt))
	s.plan(1, dropAll)
	s.plan(3)
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Empty(t, s.live())
}

func TestUpsertsKeepWhatTheyDoNotTouch(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", upsertAll, nil, nil)
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "n1=11 n2=0 n3=0 n4=0 n5=0 s9=99", s.live())
}

func TestATableAtWhichAForeignKeyPointsIsDeletedNotTruncated(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.execAll("CREATE TABLE child (week integer, region text, FOREIGN KEY (week, region) REFERENCES anon.anon_rebuild_counts ON DELETE CASCADE)")
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, s.live())
	require.Equal(t, "5", pgtest.Scalar[string](t, s.conn, "SELECT sum(rows_done)::text FROM cs9.publish_progress WHERE kind = 'delete'"))
}

func TestConditionsAreOneImmutableExpression(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", s.run))
	for _, good := range []string{
		"week = 1", "region = 'a b'", "region LIKE '%;%'", "n > 3 -- why", "week IN (1, 2)", "(week, region) = (1, 'x')",
		"true", "n IS NULL", "region = $q$ ) $q$", "region ~ '[)]'", "week = 1 OR week = 2", "/* why */ week = 3",
	} {
		s.exec("SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', $1)", good)
		s.exec("SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', $1)", good)
	}
	for _, bad := range []string{
		"", "  ", "week", "week =", "1", "nothere = 1", "week = 1; DROP TABLE anon.anon_rebuild_counts", "true) OR (true",
		"true) ; DROP TABLE anon.anon_rebuild_counts; SELECT (true", "true] ; DROP TABLE x; SELECT ARRAY[true", "true, true",
		"week = (SELECT 1)", "EXISTS (SELECT FROM pg_class)", "now() > '2026-01-01'", "random() < 0.5", "count(*) > 1",
		"week = 1 LIMIT 1", "week = 1 UNION SELECT", "true AND region = ') AND ARRAY[1", "region = 'x", "region = $q$ x", "/* x", "cs9_plan = 1",
		"row_number() OVER () = 1", "generate_series(1, 2) = 1", "true) IS TRUE OR (true", "(", ")", "]", "$1", "week = 'x'",
	} {
		for _, f := range []string{"drop_rows_where", "keep_rows_where"} {
			s.refused("S9015", "SELECT cs9."+f+"('anon.anon_rebuild_counts', $1)", bad)
		}
		s.refused("S9015", "SELECT cs9.delete_rows('anon.anon_rebuild_counts', 'where', $1)", bad)
	}
	s.refused("S9015", "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', NULL)")
	require.Contains(t, s.refused("S9015", "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'random() < 0.5')").Detail, "functions in a condition must be marked IMMUTABLE")
	require.Equal(t, oldRows, s.live())
	require.Equal(t, 24, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM cs9.staged_delete"))
}

func TestDeleteRowsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT cs9.delete_rows($1, 'where', 'week = 1')", table))
	require.Equal(t, 3, pgtest.Scalar[int](t, s.conn, "SELECT cs9.delete_rows($1, 'keep', 'week = 2')", table))
	require.Equal(t, "n2=0", s.live())
	s.exec("SELECT cs9.delete_rows($1, 'all')", table)
	require.Empty(t, s.live())
	s.refused("S9016", "SELECT cs9.delete_rows($1, 'some')", table)
	s.refused("S9016", "SELECT anon.anon_rebuild_counts_delete_step('cs9.run', NULL)")
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	const begin = "SELECT cs9.begin_run($1, $2, $3, $4)"
	tables := []string{table}
	s.refused("S9016", begin, "", "k", tables, planList)
	s.refused("S9016", begin, "t", " ", tables, planList)
	s.refused("S9016", begin, "t", nil, tables, planList)
	s.refused("S9016", begin, "t", strings.Repeat("x", 1001), tables, planList)
	s.refused("S9016", begin, "t", "k", []string{}, planList)
	s.refused("S9016", begin, "t", "k", tables, `[]`)
	s.refused("S9016", begin, "t", "k", tables, `{"week": 1}`)
	s.refused("S9016", begin, "t", "k", tables, nil)
	for _, bad := range []string{"anon.nothere", "cs9.run", "nothere", "", "a.b.c.d", `"`, "anon.anon_rebuild_counts_staging", "anon.anon_rebuild_counts; DROP"} {
		s.refused("S9010", begin, "t", "k", []string{bad}, planList)
	}
	for _, key := range []string{strings.Repeat("x", 300), "manual__2026-01-02T00:00:00+00:00", "'; DROP TABLE cs9.run; --", "å 💾"} {
		s.exec(begin, "t", key, tables, planList)
		require.Equal(t, "running", s.runState(key))
	}
	s.begin("k")
	s.refused("S9016", "SELECT cs9.begin_plan($1, 4, $2)", s.run, s.attempt)
	s.refused("S9003", "SELECT cs9.begin_plan($1, 2, $2)", s.run, s.attempt)
	s.refused("S9002", "SELECT cs9.begin_plan(4711, 1, 1)")
	s.refused("S9007", "SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
	s.refused("S9007", "SELECT cs9.staging_table($1, $2)", s.run, table)
	require.True(t, s.plan(1))
	s.refused("S9003", "SELECT cs9.begin_plan($1, 3, $2)", s.run, s.attempt)
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 2, $2)", s.run, s.attempt))
	s.refused("S9007", "SELECT cs9.begin_plan($1, 2, $2)", s.run, s.attempt)
	s.refused("S9020", "SELECT cs9.unregister_table('anon', 'anon_rebuild_counts')")
}
