package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// readyRun brings a run of one plan, which replaces the rows of m.plain, to its end.
func readyRun(t *testing.T, db *database, key string, v int) (id int64) {
	t.Helper()
	_, err := db.query(0, fmt.Sprintf(`SELECT run_id FROM cs9.begin_run('t', '%s', ARRAY['m.plain'], '[1]')`, key), &id)
	require.NoError(t, err)
	for _, call := range []string{
		"SELECT cs9.begin_plan(%[1]d, 1, 1)",
		"SELECT cs9.drop_all_rows('m.plain')",
		"SELECT cs9.staging_table(%[1]d, 'm.plain')",
		fmt.Sprintf("INSERT INTO %s (k, v) VALUES (1, %d)", db.stagedName(&run{id: id}, "m.plain"), v),
		"SELECT cs9.finish_plan(%[1]d, 1, 1)",
		"SELECT cs9.finish_run(%[1]d, 1)",
	} {
		if call[0] == 'S' && call != "SELECT cs9.drop_all_rows('m.plain')" {
			call = fmt.Sprintf(call, id)
		}
		requireCall(t, db, "", call)
	}
	return id
}

func requireCall(t *testing.T, db *database, want, call string) {
	t.Helper()
	state, err := db.query(0, call)
	require.NoError(t, err)
	require.Equal(t, want, state, call)
}

// TestP8ADiscardedRunPublishesNoMore: the steps it had left are a record only.
func TestP8ADiscardedRunPublishesNoMore(t *testing.T) {
	t.Parallel()
	db := newModelDatabase(t)
	requireCall(t, db, "", "INSERT INTO m.plain VALUES (1, 7)")
	id := readyRun(t, db, "k", 8)
	requireCall(t, db, "", "SELECT cs9.begin_publish('t', 'k', NULL, 1)")
	requireCall(t, db, "", "SELECT cs9.discard_run('t', 'k', true)")
	requireCall(t, db, "", "SELECT cs9.begin_run('t', 'next', ARRAY['m.plain'], '[1]')")
	requireCall(t, db, "S9005", fmt.Sprintf("SELECT cs9.publish_next(%d, NULL, 1, 0)", id))
	var v int
	_, err := db.query(0, "SELECT v FROM m.plain", &v)
	require.NoError(t, err)
	require.Equal(t, 7, v, "the live row is there")
}

// TestP11APublishedKeyLeavesTheOtherRunsAlone: its no-op is one for the task.
func TestP11APublishedKeyLeavesTheOtherRunsAlone(t *testing.T) {
	t.Parallel()
	db := newModelDatabase(t)
	readyRun(t, db, "week 40", 8)
	requireCall(t, db, "", "CALL cs9.publish('t', 'week 40')")
	readyRun(t, db, "week 41", 9)
	var outcome string
	const again = "SELECT outcome FROM cs9.begin_run('t', 'week 40', ARRAY['m.plain'], '[1]')"
	_, err := db.query(0, again, &outcome)
	require.NoError(t, err)
	require.Equal(t, "published", outcome)
	requireCall(t, db, "", "SELECT cs9.claim_run('t', 'week 41')")
	requireCall(t, db, "", "SELECT cs9.begin_publish('t', 'week 41', NULL, 1)")
	_, err = db.query(0, again, &outcome)
	require.NoError(t, err)
	require.Equal(t, "published", outcome)
	requireCall(t, db, "", "CALL cs9.publish('t', 'week 41')")
}

// TestP6ASwapMayEmptyATable: nothing was staged that could take the place of the
// partition.
func TestP6ASwapMayEmptyATable(t *testing.T) {
	t.Parallel()
	db := newModelDatabase(t)
	requireCall(t, db, "", "INSERT INTO m.whole VALUES (1, 1, 7)")
	requireCall(t, db, "", "SELECT cs9.begin_run('t', 'k', ARRAY['m.whole'], '[1]', p_allow_empty => true, p_publish_mode => 'swap')")
	for _, call := range []string{
		"SELECT cs9.begin_plan(%[1]d, 1, 1)", "SELECT cs9.drop_all_rows('m.whole') WHERE %[1]d > 0", "SELECT cs9.finish_plan(%[1]d, 1, 1)", "SELECT cs9.finish_run(%[1]d, 1)",
	} {
		var id int64
		_, err := db.query(0, "SELECT run_id FROM cs9.run_status", &id)
		require.NoError(t, err)
		requireCall(t, db, "", fmt.Sprintf(call, id))
	}
	requireCall(t, db, "", "CALL cs9.publish('t', 'k')")
	var left int
	_, err := db.query(0, "SELECT count(*)::integer FROM m.whole", &left)
	require.NoError(t, err)
	require.Zero(t, left)
}

// TestP8ABeginThatIsRefusedForItsModeOwnsNothing: not even a task that is new.
func TestP8ABeginThatIsRefusedForItsModeOwnsNothing(t *testing.T) {
	t.Parallel()
	db := newModelDatabase(t)
	for range 2 {
		requireCall(t, db, "S9016", "SELECT cs9.begin_run('t', 'k', ARRAY['m.plain'], '[1]', p_publish_mode => 'swap')")
		var owned int
		_, err := db.query(0, "SELECT count(*)::integer FROM cs9.task WHERE cs9.task_owner(task_id) IS NOT NULL", &owned)
		require.NoError(t, err)
		require.Zero(t, owned)
		requireCall(t, db, "", "INSERT INTO cs9.task (task) VALUES ('t') ON CONFLICT DO NOTHING")
	}
}

// TestP7ATableThatARunLeavesAloneMayBeLocked: nothing at it has to be proved.
func TestP7ATableThatARunLeavesAloneMayBeLocked(t *testing.T) {
	t.Parallel()
	db := newModelDatabase(t)
	for _, call := range []string{
		"SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY['m.parts'], '[1]')",
		"SELECT cs9.begin_plan(run_id, 1, 1) FROM cs9.run",
		"SELECT cs9.finish_plan(run_id, 1, 1) FROM cs9.run",
		"SELECT cs9.finish_run(run_id, 1) FROM cs9.run",
		"SET cs9.lock_timeout = '20ms'; SET cs9.lock_retries = 0",
	} {
		requireCall(t, db, "", call)
	}
	_, err := db.observer.Exec(t.Context(), "BEGIN; LOCK TABLE m.parts IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	requireCall(t, db, "", "SELECT cs9.begin_publish('t', 'k', NULL, 1)")
}
