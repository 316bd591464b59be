package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

const selectRuns = `
	SELECT run_id, task, run_key, state, attempt, plans, plans_done, rows_staged, rows_to_publish, rows_published,
	       today, age, owner_alive, owner, coalesce(error, ''), begun_at, attempt_at, ended_at, is_current
	FROM cs9.run_status`

func (o *pgOwner) runs(ctx context.Context, f RunFilter) ([]RunStatus, error) {
	var where []string
	var args []any
	add := func(condition string, value any, present bool) {
		if present {
			args = append(args, value)
			where = append(where, fmt.Sprintf(condition, len(args)))
		}
	}
	add("run_id = $%d", f.RunID, f.RunID != 0)
	add("task = $%d", f.Task, f.Task != "")
	add("run_key = $%d", f.RunKey, f.RunKey != "")
	add("state = ANY ($%d)", f.States, len(f.States) > 0)
	add("is_current = $%d", true, f.CurrentOnly)
	sql := selectRuns
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	sql += " ORDER BY run_id DESC"
	if f.Limit > 0 {
		sql += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	rows, err := o.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, dbError(ctx, "list runs", "", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[RunStatus])
	return list, dbError(ctx, "list runs", "", err)
}

func (o *pgOwner) show(ctx context.Context, runID int64) ([]PlanStatus, []StepStatus, error) {
	rows, err := o.conn.Query(ctx, `
		SELECT plan, argsets, state, attempt, skipped, rows_staged, coalesce(error, ''), began_at, finished_at
		FROM cs9.plan_status WHERE run_id = $1 ORDER BY plan`, runID)
	if err != nil {
		return nil, nil, dbError(ctx, "show plans", "", err)
	}
	plans, err := pgx.CollectRows(rows, pgx.RowToStructByPos[PlanStatus])
	if err != nil {
		return nil, nil, dbError(ctx, "show plans", "", err)
	}
	rows, err = o.conn.Query(ctx, `
		SELECT step, kind, coalesce(table_name, ''), coalesce(relation, ''), state, rows_total, rows_done, percent::float8, batches, coalesce(note, ''),
		       began_at, finished_at
		FROM cs9.publish_progress WHERE run_id = $1 ORDER BY step`, runID)
	if err != nil {
		return nil, nil, dbError(ctx, "show the publish", "", err)
	}
	steps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[StepStatus])
	return plans, steps, dbError(ctx, "show the publish", "", err)
}
