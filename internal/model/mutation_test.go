package model

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cs9gen/cs9gen/procs"
)

// mutations are faults put into one routine each. The model has to find every
// one, or it proves nothing.
var mutations = []struct {
	name, routine string
	replace       []string // pairs of old and new text
}{
	{"the fence is skipped", "assert_live_attempt", []string{"IF v_run.attempt IS DISTINCT FROM p_attempt THEN", "IF false THEN"}},
	{"a rerun plan is not cleared", "open_plan", []string{"IF v_plan.attempt IS NOT NULL THEN", "IF false THEN"}},
	{"a swapped table is still on record", "apply_swaps", []string{"SET staged_name = NULL", "SET staged_name = t.staged_name"}},
	{"nothing is looked at when the publish begins", "begin_publish", []string{"PERFORM cs9.check_publish(v_run.run_id);", ""}},
	{"the watermark is not recorded", "run_step", []string{"coalesce(v_watermark, s.watermark)", "s.watermark"}},
	{"atomic and swap tables are not looked at behind their lock", "apply_run", []string{"PERFORM cs9.check_table(p_run_id, v_table.table_id);", "NULL;"}},
	{"a CALL commits at its end only", "publish_table", []string{"COMMIT;\n        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n        IF v_message", "IF v_message"}},
	{"the watermark is recorded one transaction late", "run_step", []string{
		// what is in a setting of the session is lost with the session
		"    CASE p_step.kind\n",
		`    IF split_part(cs9.setting('late', ''), ' ', 1) = p_step.run_id || '/' || p_step.step THEN
        p_step.watermark := split_part(cs9.setting('late', ''), ' ', 2)::tid;
        UPDATE cs9.publish_step AS s SET watermark = p_step.watermark WHERE s.run_id = p_step.run_id AND s.step = p_step.step;
    END IF;
    CASE p_step.kind
`,
		"    UPDATE cs9.publish_step AS s\n    SET state",
		`    PERFORM set_config('cs9.late', p_step.run_id || '/' || p_step.step || ' ' || coalesce(v_watermark::text, ''), false);
    UPDATE cs9.publish_step AS s
    SET state`,
		"coalesce(v_watermark, s.watermark)", "s.watermark",
	}},
	{"the date of the last attempt is kept", "begin_run", []string{"PERFORM cs9.resume_run(v_run, p_allow_empty, p_owner);",
		"PERFORM cs9.resume_run(v_run, p_allow_empty, p_owner); UPDATE cs9.run AS r SET today = p_today WHERE r.run_id = v_run.run_id;"}},
	{"a published key does away with the run of another", "begin_run", []string{"IF v_run.state = 'published' AND NOT",
		"IF v_run.state = 'published' AND cs9.retire_older_runs(p_task, v_task_id, p_run_key) IS NULL AND NOT"}},
	{"a rerun plan that follows another is not cleared", "end_plan", []string{"p.state = 'pending'", "p.state <> 'done'"}},
	{"the last plan follows another before its turn", "end_plan", []string{"p_next < v_plans", "p_next <= v_plans"}},
	{"the last of the plans is skipped", "unfinished_plan", []string{"p.plan NOT IN (1, v_plans)", "p.plan <> 1"}},
	{"recorded deletes of a rerun plan stay", "clear_plan", []string{"DELETE FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id AND d.plan = p_plan;", ""}},
	{"plans delete each other's rows", "check_deletes", []string{"IF v_found THEN", "IF false THEN"}},
	{"a rewritten staged table goes unnoticed", "move_batch", []string{"IF pg_relation_filenode(to_regclass(v_staged)) IS DISTINCT FROM v_table.staged_filenode THEN", "IF false THEN"}},
	{"a CALL that has ended keeps the task", "owner_alive", []string{"IN (0, 1)", ">= 0"}},
	{"an earlier taking of a plan may write", "assert_taking", []string{"IF v_taking <> p_plan.taking::text THEN", "IF false THEN"}},
	{"a plan of a session that has gone cannot be taken", "open_plan", []string{" AND cs9.taker_alive(v_plan)", ""}},
	{"a session does not hand its claim over to its CALL", "claim_publish", []string{"claim = NULL, publisher = cs9.current_transaction()", "publisher = CASE WHEN t.claim IS NULL THEN cs9.current_transaction() END"}},
	{"a piece that met a lock counts as the last", "publish_next", []string{"lock_waits, SQLERRM) AS w;\n            more := true;", "lock_waits, SQLERRM) AS w;\n            more := false;"}},
	{"an atomic publish leaves the rows that are upserted", "m.pairs_apply_changes", []string{"NOT cs9_l.cs9_deleted AND", "false AND"}},
	{"partitions that were swapped are left", "drop_staged", []string{"ARRAY[t.split_name, t.staged_name] || t.retired_names", "ARRAY[t.split_name, t.staged_name]"}},
	{"a swap leaves the rows of a partition that the run only deletes", "apply_swaps", []string{"EXECUTE format('TRUNCATE TABLE ONLY %s', v_pair.leaf::regclass);", "NULL;"}},
	{"a swap does not ask for the rows that stay", "swap_obstacle", []string{"IF v_pair.survives THEN", "IF false THEN"}},
	{"a mode that the staged rows do not allow is taken", "change_publish_mode", []string{"ELSIF v_split AND p_mode = 'batched' THEN", "ELSIF false THEN"}},
	{"an empty table is refused when the publish resumes", "resume_run", []string{"CASE r.state WHEN 'publishing' THEN r.allow_empty ELSE coalesce(p_allow_empty, false) END", "coalesce(p_allow_empty, false)"}},
	{"staged tables are left", "drop_unless_held", []string{"EXECUTE format('DROP TABLE IF EXISTS cs9_staging.%I', p_name);", ""}},
	{"what could not be dropped is forgotten", "drop_leftovers", []string{"t.retired_names <> '{}'", "false"}},
}

// always is how many of them are tried without CS9GEN_MODEL_CHECKS: those that
// are found within seconds.
const always = 4

// recorder is what rapid reports a difference to: here it is what is wanted.
type recorder struct {
	testing.TB // Helper, Name, and the logs of the draws, which nobody reads
	failed     bool
	message    []string
}

type stopped struct{}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Log(...any)          {}
func (r *recorder) Failed() bool        { return r.failed }
func (r *recorder) Fail()               { r.failed = true }
func (r *recorder) FailNow()            { r.failed = true; panic(stopped{}) }
func (r *recorder) Error(a ...any)      { r.failed = true; r.message = append(r.message, fmt.Sprint(a...)) }
func (r *recorder) Fatal(a ...any)      { r.Error(a...); r.FailNow() }
func (r *recorder) Errorf(f string, a ...any) {
	r.Error(fmt.Sprintf(f, a...))
}
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...); r.FailNow() }

// differs says whether the property fails, and after how many sequences.
func differs(t *testing.T, db *database) (found bool, sequences int) {
	t.Helper()
	r, stats := &recorder{TB: t}, map[string]int{}
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, ours := p.(stopped); !ours {
					panic(p)
				}
			}
		}()
		rapid.Check(r, property(db, stats))
	}()
	return r.failed, stats["sequences"]
}

func TestTheModelFindsEachMutation(t *testing.T) {
	setFlag(t, "rapid.checks", "400")
	setFlag(t, "rapid.seed", fmt.Sprint(defaultSeed))
	setFlag(t, "rapid.nofailfile", "true")
	setFlag(t, "rapid.shrinktime", "0s")
	db := newModelDatabase(t)
	tried := mutations[:always]
	if os.Getenv("CS9GEN_MODEL_CHECKS") != "" {
		tried = mutations
	}
	for _, m := range mutations { // also those that are not tried: their texts must keep up with the routines
		original := create(t, db, m.routine)
		for i := 0; i < len(m.replace); i += 2 {
			require.Equal(t, 1, strings.Count(original, m.replace[i]), "%s: %s", m.name, m.replace[i])
		}
	}
	for _, m := range tried {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			original := create(t, db, m.routine)
			mutated := original
			for i := 0; i < len(m.replace); i += 2 {
				mutated = strings.Replace(mutated, m.replace[i], m.replace[i+1], 1)
			}
			install(t, db, mutated)
			defer install(t, db, original)
			found, sequences := differs(t, db)
			require.True(t, found, "%d sequences without a difference", sequences)
			t.Logf("found within %d sequences", sequences)
		})
	}
}

// create is the CREATE OR REPLACE of a routine of procs, or of one that was
// generated, by its schema and name.
func create(t *testing.T, db *database, name string) (sql string) {
	t.Helper()
	if strings.Contains(name, ".") {
		require.NoError(t, db.observer.QueryRow(context.Background(), "SELECT pg_get_functiondef($1::regproc)", name).Scan(&sql))
		return sql
	}
	routines, err := procs.Routines()
	require.NoError(t, err)
	for _, r := range routines {
		if r.Name == name {
			return strings.Replace(r.Create(), "CREATE ", "CREATE OR REPLACE ", 1)
		}
	}
	require.Fail(t, "no routine "+name)
	return ""
}

func install(t *testing.T, db *database, sql string) {
	t.Helper()
	_, err := db.observer.Exec(context.Background(), sql)
	require.NoError(t, err)
}
