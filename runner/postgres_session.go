package runner

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// pgWorker is a session that plans write on, one plan at a time.
type pgWorker struct {
	*pgSession
	direct bool              // writes go straight to the live table
	runID  int64             // of the plan that has begun, or 0
	staged map[string]string // the run's own tables that this plan wrote to
	op     string            // cs9.op as it is set
}

func (p *postgres) openWorker(ctx context.Context, label, where string, direct bool) (worker, error) {
	s, err := p.connect(ctx, label, nil)
	if err != nil {
		return nil, err
	}
	if err := s.mustBeAt(where); err != nil {
		return nil, err
	}
	// a direct one outlives no transaction, and a proxy may pool them; the owner
	// of any other has made certain that it does not
	if !direct {
		if err := s.settle(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	return &pgWorker{pgSession: s, direct: direct}, nil
}

func (w *pgWorker) beginPlan(ctx context.Context, runID int64, attempt, plan int) (bool, error) {
	return w.enterPlan(ctx, "begin_plan", runID, "SELECT cs9.begin_plan($1, $2, $3)", runID, plan, attempt)
}

func (w *pgWorker) nextPlan(ctx context.Context, runID int64, attempt, plan int, rows int64, next int) (bool, error) {
	w.runID = 0
	return w.enterPlan(ctx, "next_plan", runID, "SELECT cs9.next_plan($1, $2, $3, $4, $5)", runID, plan, attempt, rows, next)
}

// enterPlan calls a routine that begins a plan or says that it is done. The
// statement stays prepared: it is sent once a plan, and what its routine does
// to tables is planned anew when a migration has changed them.
func (w *pgWorker) enterPlan(ctx context.Context, op string, runID int64, sql string, args ...any) (run bool, err error) {
	if _, err = w.conn.Prepare(ctx, sql, sql); err == nil {
		err = w.conn.QueryRow(ctx, sql, args...).Scan(&run)
	}
	if err != nil {
		return false, dbError(ctx, op, "", err)
	}
	if run {
		w.runID, w.staged, w.op = runID, map[string]string{}, ""
	}
	return run, nil
}

func (w *pgWorker) finishPlan(ctx context.Context, runID int64, attempt, plan int, rows int64) error {
	w.runID = 0
	return w.exec(ctx, "finish_plan", "SELECT cs9.finish_plan($1, $2, $3, $4)", runID, plan, attempt, rows)
}

func (w *pgWorker) write(ctx context.Context, table *tableInfo, op Op, rows *rowStream, clear bool) (int64, error) {
	if w.direct {
		return w.writeDirect(ctx, table, op, rows, clear)
	}
	if clear {
		if err := w.deleteRows(ctx, table, "all", ""); err != nil {
			return 0, err
		}
	}
	if rows.columns == nil {
		return 0, nil
	}
	staged, err := w.stagedTable(ctx, table, op)
	if err != nil {
		return 0, err
	}
	if table.path == "" {
		return w.copyRows(ctx, table, staged, rows)
	}
	var n int64
	err = w.transaction(ctx, func() (err error) {
		if err = w.usePath(ctx, table); err == nil {
			n, err = w.copyRows(ctx, table, staged, rows)
		}
		return err
	})
	return n, err
}

// usePath takes over the search_path of a table's definition, to the end of the
// transaction: its checks, defaults and generated columns count on it.
func (w *pgWorker) usePath(ctx context.Context, table *tableInfo) error {
	if table.path == "" {
		return nil
	}
	return w.exec(ctx, "stage", "SELECT pg_catalog.set_config('search_path', $1, true)", table.path)
}

// stagedTable returns the run's own table, and tells the session how the rows
// that follow are meant.
func (w *pgWorker) stagedTable(ctx context.Context, table *tableInfo, op Op) (pgx.Identifier, error) {
	letter := "i"
	if op == Upsert {
		letter = "u"
	}
	if w.op != letter {
		if err := w.exec(ctx, "stage", "SELECT pg_catalog.set_config('cs9.op', $1, false)", letter); err != nil {
			return nil, err
		}
		w.op = letter
	}
	name, ok := w.staged[table.label]
	if !ok {
		err := w.conn.QueryRow(ctx, `SELECT (pg_catalog.parse_ident(cs9.staging_table($1, $2)))[2]`, w.runID, table.label).Scan(&name)
		if err != nil {
			return nil, dbError(ctx, "staging_table", "", err)
		}
		w.staged[table.label] = name
	}
	return pgx.Identifier{"cs9_staging", name}, nil
}

func (w *pgWorker) deleteRows(ctx context.Context, table *tableInfo, kind, condition string) error {
	if w.direct {
		return w.deleteDirect(ctx, table, kind, condition)
	}
	switch kind {
	case "all":
		return w.exec(ctx, "drop_all_rows", "SELECT cs9.drop_all_rows($1)", table.label)
	case "where":
		return w.exec(ctx, "drop_rows_where", "SELECT cs9.drop_rows_where($1, $2)", table.label, condition)
	default:
		return w.exec(ctx, "keep_rows_where", "SELECT cs9.keep_rows_where($1, $2)", table.label, condition)
	}
}

func (w *pgWorker) countLive(ctx context.Context, table *tableInfo) (n int64, err error) {
	err = w.conn.QueryRow(ctx, "SELECT pg_catalog.count(*) FROM "+table.label).Scan(&n)
	return n, dbError(ctx, "count rows", "", err)
}

func (w *pgWorker) countStaged(ctx context.Context, table *tableInfo, runID int64) (n int64, err error) {
	var staged pgtype.Text
	err = w.conn.QueryRow(ctx, "SELECT cs9.staged_label($1, cs9.find_table($2))", runID, table.label).Scan(&staged)
	if err == nil && staged.Valid {
		err = w.conn.QueryRow(ctx, "SELECT pg_catalog.count(*) FROM "+staged.String).Scan(&n)
	}
	return n, dbError(ctx, "count staged rows", "", err)
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqlgen.QuoteIdent(name)
	}
	return strings.Join(quoted, ", ")
}
