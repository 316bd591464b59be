package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// Without a run key each write goes to the live table at once, as one
// transaction: all of it or nothing.

func (w *pgWorker) deleteDirect(ctx context.Context, table *tableInfo, kind, condition string) error {
	var text any
	if kind != "all" {
		text = condition
	}
	return w.exec(ctx, "delete_rows", "SELECT cs9.delete_rows($1, $2, $3)", table.label, kind, text)
}

func (w *pgWorker) writeDirect(ctx context.Context, table *tableInfo, op Op, rows *rowStream, clear bool) (n int64, err error) {
	if rows.columns == nil && !clear {
		return 0, nil
	}
	err = w.transaction(ctx, func() error {
		if err := w.usePath(ctx, table); err != nil {
			return err
		}
		if clear {
			if err := w.deleteDirect(ctx, table, "all", ""); err != nil {
				return err
			}
		}
		switch {
		case rows.columns == nil:
			return nil
		case op == Upsert:
			n, err = w.upsertDirect(ctx, table, rows)
		default:
			n, err = w.copyRows(ctx, table, pgx.Identifier{table.schema, table.name}, rows)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// upsertDirect copies into a temporary table of the written columns alone, and
// merges it: one key twice in it is an error, as it is everywhere.
func (w *pgWorker) upsertDirect(ctx context.Context, table *tableInfo, rows *rowStream) (int64, error) {
	columns := quoteAll(rows.columns)
	err := w.exec(ctx, "upsert", fmt.Sprintf("CREATE TEMPORARY TABLE cs9_upsert ON COMMIT DROP AS SELECT %s FROM %s WITH NO DATA", columns, table.label))
	if err != nil {
		return 0, err
	}
	if _, err := w.copyRows(ctx, table, pgx.Identifier{"pg_temp", "cs9_upsert"}, rows); err != nil {
		return 0, err
	}
	tag, err := w.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM pg_temp.cs9_upsert ON CONFLICT (%s) %s",
		table.label, columns, columns, quoteAll(table.keys), onConflict(table, rows.columns)))
	if err != nil {
		return 0, dbError(ctx, "upsert", "", err)
	}
	return tag.RowsAffected(), nil
}

// onConflict replaces every written column but the key; a table of key columns
// only has nothing to replace.
func onConflict(table *tableInfo, columns []string) string {
	var set []string
	for _, name := range columns {
		if c := table.column(name); !c.key {
			quoted := sqlgen.QuoteIdent(name)
			set = append(set, quoted+" = EXCLUDED."+quoted)
		}
	}
	if len(set) == 0 {
		return "DO NOTHING"
	}
	return "DO UPDATE SET " + strings.Join(set, ", ")
}

func (w *pgWorker) transaction(ctx context.Context, body func() error) error {
	tx, err := w.conn.Begin(ctx)
	if err != nil {
		return dbError(ctx, "begin", "", err)
	}
	if err := body(); err != nil {
		// in spite of a cancel
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
		defer cancel()
		_ = tx.Rollback(clean)
		return err
	}
	return dbError(ctx, "commit", "", tx.Commit(ctx))
}
