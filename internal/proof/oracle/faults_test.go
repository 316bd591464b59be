package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// fault is one that is put into a routine. The net has to find it, or it proves nothing.
type fault struct {
	name string
	// routine is one of cs9, or "*_move_batch", one that is generated for each table.
	routine string
	replace []string // pairs of old and new text
	quick   bool     // tried without CS9GEN_ORACLE_CASES, too
}

// faults are tried one by one.
var faults = []fault{
	{"a retry keeps what the failed attempt staged", "clear_plan", []string{"EXECUTE format('DELETE FROM %s WHERE cs9_plan = $1', cs9.staged_label(p_run_id, v_table)) USING p_plan;", "NULL;"}, false},
	{"a retry keeps the deletes of the failed attempt", "clear_plan", []string{"DELETE FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id AND d.plan = p_plan;", ""}, false},
	{"rows for which a kept condition is null stay", "deleted_rows", []string{"IS NOT TRUE", "IS FALSE"}, false},
	{"rows for which a condition is null go", "deleted_rows", []string{"WHEN 'where' THEN format(E'(%s\\n)'", "WHEN 'where' THEN format(E'(%s\\n) IS NOT FALSE'"}, true},
	{"no row is looked at that references", "check_foreign_keys_in", []string{"IF v_deletes = 'false' AND", "IF true OR v_deletes = 'false' AND"}, false},
	{"no foreign key out is looked at", "check_table", []string{"PERFORM cs9.check_foreign_keys_out(p_run_id, p_table_id);", ""}, false},
	{"no unique index is looked at", "check_table", []string{"PERFORM cs9.check_unique(p_run_id, p_table_id);", ""}, false},
	{"no partition is looked for", "check_table", []string{"PERFORM cs9.check_partitions(p_run_id, p_table_id);", ""}, false},
	{"a swap takes the rows that stay", "swap_obstacle", []string{"IF v_pair.survives THEN", "IF false THEN"}, false},
	{"the watermark of a batch is lost", "run_step", []string{"coalesce(v_watermark, s.watermark)", "s.watermark"}, false},
	{"a verdict is a text of a name that a column can have", "check_foreign_keys_in", []string{
		"EXECUTE format('SELECT EXISTS (SELECT %s)', v_rows) INTO v_found;", "EXECUTE format('SELECT c::text IS NOT NULL %s LIMIT 1', replace(v_rows, 'cs9_c', 'c')) INTO v_found;",
	}, false},
	{"a type is printed without its length", "base_cast", []string{"cs9.type_name(v_type, -1)", "format_type(v_type, NULL)"}, false},
	{"a swap knows the live indexes of its proof alone", "index_pairs", []string{"AND i.indisvalid", "AND i.indisvalid AND (i.indrelid = p_staged OR i.indexrelid < p_staged)"}, false},
	{"a staged table can have the name of its index", "staged_name", []string{"concat(p_kind, p_number), p_name)", "CASE WHEN p_name IS NULL THEN concat(p_kind, p_number) END, p_name)"}, false},
	{"numbers that are equal and print otherwise are left as they were", "*_apply_changes", []string{"*<>", "<>"}, false},
	{"an index that is not unique can refuse a row", "check_table", []string{"PERFORM cs9.check_indexes(p_run_id, p_table_id, v_tree);", ""}, false},
	{"rows move under another search_path than they were proved under", "*_move_batch", []string{"set_config('search_path', cs9.table_path(", "set_config('application_name', cs9.table_path("}, false},
	{"a staged table has no replica identity", "fence_staged", []string{"EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', v_relation);", "NULL;"}, false},
	{"a swap loses the settings of a partition", "prepare_swap", []string{"PERFORM cs9.copy_partition_settings(p_table_id, v_pair.leaf, v_pair.staged);", ""}, false},
	{"a composite of nulls references nothing", "check_foreign_keys_out", []string{"'cs9_c.%I IS DISTINCT FROM NULL'", "'cs9_c.%I IS NOT NULL'"}, false},
	{"a condition on citext compares texts", "condition_path", []string{"n.nspname <> 'pg_catalog'", "false"}, false},
	{"an old snapshot proves", "assert_read_committed", []string{"BEGIN\n", "BEGIN\n    RETURN;\n"}, false},
	{"a domain is compared as it is", "base_cast", []string{"CASE WHEN v_type = p_type THEN ''", "CASE WHEN true THEN ''"}, false},
}

// faultCases is within how many cases each fault is found, and quickCases those that are quick.
const (
	faultCases = 2000
	quickCases = 80
)

func TestTheNetFindsEachFault(t *testing.T) {
	n := newNet(t)
	all := os.Getenv("CS9GEN_ORACLE_CASES") != ""
	for _, f := range faults {
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			with := n.faulty(t, f)
			if !all && !f.quick {
				t.Log("its text is in the routine; with CS9GEN_ORACLE_CASES the net is tried on it")
				return
			}
			limit := faultCases
			if !all {
				limit = quickCases
			}
			found, cases := with.find(t, n, limit)
			require.NotEmpty(t, found, "%d cases without a difference", cases)
			t.Logf("found within %d cases: %s", cases, found)
		})
	}
}

// faulty returns a net whose databases have a fault.
func (n *net) faulty(t *testing.T, f fault) *net {
	t.Helper()
	url := pgtest.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	out := &net{t: t, names: n.names, server: n.server, template: pgtest.Scalar[string](t, conn, "SELECT current_database()")}
	if suffix, generated := strings.CutPrefix(f.routine, "*"); generated {
		out.spoil = func(l *lab) error { return f.spoilTables(l, suffix) }
	} else {
		require.NoError(t, f.spoil(t.Context(), conn, "cs9."+f.routine))
	}
	require.NoError(t, conn.Close(t.Context()))
	return out
}

// spoil puts the fault into a routine.
func (f fault) spoil(ctx context.Context, conn *pgx.Conn, routine string) error {
	var text string
	if err := conn.QueryRow(ctx, "SELECT pg_get_functiondef($1::regproc)", routine).Scan(&text); err != nil {
		return err
	}
	for i := 0; i < len(f.replace); i += 2 {
		if strings.Count(text, f.replace[i]) == 0 {
			return fmt.Errorf("%s does not hold %q", routine, f.replace[i])
		}
		text = strings.ReplaceAll(text, f.replace[i], f.replace[i+1])
	}
	_, err := conn.Exec(ctx, text)
	return err
}

// spoilTables puts the fault into the routines of all tables.
func (f fault) spoilTables(l *lab, suffix string) error {
	ctx := context.Background()
	rows, err := l.watch.Query(ctx, "SELECT p.oid::regproc::text FROM pg_proc AS p WHERE p.proname LIKE '%' || $1 AND p.pronamespace <> 'cs9'::regnamespace", suffix)
	if err != nil {
		return err
	}
	routines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, r := range routines {
		if err := f.spoil(ctx, l.watch, r); err != nil {
			return err
		}
	}
	return nil
}

// find looks for a case that is a finding here, and none in the sound net.
func (n *net) find(t *testing.T, sound *net, limit int) (kind string, cases int) {
	t.Helper()
	err := n.run(fixedSeed, limit, func(w *worker, seed uint64, r *result, _ []string) (bool, error) {
		if r.verdict != different {
			return false, nil
		}
		other := &worker{net: sound, admin: w.admin}
		same, _, err := other.try(seed, nil)
		err = errors.Join(err, other.end(context.Background()))
		if err != nil || same.verdict == different && same.kind == r.kind {
			return false, err
		}
		n.lock.Lock()
		defer n.lock.Unlock()
		if kind == "" {
			kind, cases = r.kind, int(seed)-fixedSeed+1
		}
		return true, nil
	})
	require.NoError(t, err)
	if kind == "" {
		cases = limit
	}
	return kind, cases
}
