package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readOnly makes the transaction read-only that it is part of.
const readOnly = "SELECT pg_catalog.set_config('transaction_read_only', 'on', true)"

// query reads in a transaction of its own that cannot write: the two statements
// go to the server together, and are one transaction there, which ends when the
// rows were sent. It has the snapshot, the locks and the round trips of the query
// alone.
func (w *pgWorker) query(ctx context.Context, _ *tableInfo, sql string, args []any) (pgx.Rows, error) {
	batch := &pgx.Batch{}
	batch.Queue(readOnly)
	batch.Queue(sql, args...)
	results := w.conn.SendBatch(ctx, batch)
	_, err := results.Exec()
	var rows pgx.Rows
	if err == nil {
		rows, err = results.Query()
	}
	if err != nil {
		_ = results.Close() // has the same error
		return nil, queryError(ctx, err)
	}
	return &pgRows{Rows: rows, ctx: ctx, end: sync.OnceValue(results.Close)}, nil
}

// pgRows are the rows of a query, which end together with its transaction.
type pgRows struct {
	pgx.Rows
	ctx    context.Context
	end    func() error
	closed bool
}

// Next ends the transaction behind the last row.
func (r *pgRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close reads what is left, and ends the transaction.
func (r *pgRows) Close() {
	r.Rows.Close()
	r.closed = true
	_ = r.end() // Err returns it
}

// Err returns what stopped the query, or the end of its transaction.
func (r *pgRows) Err() error {
	err := r.Rows.Err()
	if err == nil && r.closed {
		err = r.end()
	}
	return queryError(r.ctx, err)
}

func queryError(ctx context.Context, err error) error {
	err = dbError(ctx, "query", "", err)
	var pgErr *pgconn.PgError
	var e *Error
	if errors.As(err, &pgErr) && pgErr.Code == "25006" && errors.As(err, &e) {
		e.Hint = "a query only reads, and has changed nothing: write by Insert, Upsert and DropRowsWhere of the handle"
	}
	return err
}
