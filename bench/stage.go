package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// The names that every run of the benchmarks goes by.
const (
	taskName = "bench"
	counts   = "anon.counts"
	swapped  = "anon.swapped"
)

// base is a database with the cs9 schema and the measured tables, empty.
func (l *lab) base(ctx context.Context) (string, error) {
	const name = "base"
	return name, l.template(ctx, name, "template0", func(ctx context.Context, database string) error {
		return l.install(ctx, database, "tables.yaml", "swapped.yaml")
	})
}

// ready is a database in which a run for a table is ready to be published: it
// empties the table and staged a dataset. The table holds the rows of another,
// or none when that is nil.
func (l *lab) ready(ctx context.Context, table string, staged dataset, live *dataset) (string, error) {
	base, err := l.base(ctx)
	if err != nil {
		return "", err
	}
	name := "ready_" + table[len("anon."):] + "_" + staged.name()
	if live == nil {
		name += "_alone"
	}
	return name, l.template(ctx, name, base, func(ctx context.Context, database string) error {
		return l.with(ctx, database, func(conn *pgx.Conn) error {
			if live != nil {
				if err := l.fill(ctx, conn, table, *live); err != nil {
					return err
				}
			}
			return l.stage(ctx, conn, table, "new", staged)
		})
	})
}

// fill makes a dataset live, as a publish by swap or an insert would.
func (l *lab) fill(ctx context.Context, conn *pgx.Conn, table string, d dataset) error {
	if table == swapped {
		if err := l.stage(ctx, conn, table, "old", d); err != nil {
			return err
		}
		if err := execute(ctx, conn, "CALL cs9.publish('"+taskName+"', 'old')"); err != nil {
			return err
		}
	} else {
		d.order = sorted
		if err := copyInto(ctx, conn, table, d); err != nil {
			return err
		}
	}
	return execute(ctx, conn, "VACUUM (ANALYZE) "+table)
}

// stage does by SQL what the runner does for a run of one plan, up to the
// publish.
func (l *lab) stage(ctx context.Context, conn *pgx.Conn, table, key string, d dataset) error {
	var runID int64
	var attempt int
	err := conn.QueryRow(ctx, "SELECT run_id, attempt FROM cs9.begin_run($1, $2, ARRAY[$3], '[[{}]]')", taskName, key, table).Scan(&runID, &attempt)
	if err != nil {
		return fmt.Errorf("begin run: %w", err)
	}
	var staging string
	if err := execute(ctx, conn, fmt.Sprintf("SELECT cs9.begin_plan(%d, 1, %d)", runID, attempt), "SELECT cs9.drop_all_rows('"+table+"')"); err != nil {
		return err
	}
	if err := conn.QueryRow(ctx, "SELECT cs9.staging_table($1, $2)", runID, table).Scan(&staging); err != nil {
		return fmt.Errorf("make staging table: %w", err)
	}
	if err := copyInto(ctx, conn, staging, d); err != nil {
		return err
	}
	return execute(ctx, conn,
		fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, %d, %d)", runID, attempt, d.rows),
		fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", runID, attempt),
		"SELECT cs9.release_run('"+taskName+"')")
}

// copyInto copies a dataset into a table as it is made.
func copyInto(ctx context.Context, conn *pgx.Conn, table string, d dataset) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(d.write(writer)) }() //nolint:errcheck // it never fails
	tag, err := conn.PgConn().CopyFrom(ctx, reader, "COPY "+table+" (day, location, n, rate, status) FROM STDIN")
	reader.Close() //nolint:errcheck // it never fails
	if err != nil {
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	if tag.RowsAffected() != int64(d.rows) {
		return fmt.Errorf("copied %d rows of %d into %s", tag.RowsAffected(), d.rows, table)
	}
	return nil
}

// stagedName is the name of the table that holds what a run staged.
func stagedName(ctx context.Context, conn *pgx.Conn) (string, error) {
	var name string
	err := conn.QueryRow(ctx, "SELECT format('cs9_staging.%I', staged_name) FROM cs9.run_table WHERE staged_name IS NOT NULL").Scan(&name)
	if err != nil {
		return "", fmt.Errorf("find the staged table: %w", err)
	}
	return name, nil
}
