package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// partmanTables are a heap with a key, from which rows are moved, and a
// partitioned table with the same key, one partition of which takes them all.
var partmanTables = []string{
	"CREATE SCHEMA anon",
	"CREATE TABLE anon.source (day integer, location text, n integer NOT NULL, rate double precision, status text)",
	"CREATE TABLE anon.target (LIKE anon.source, PRIMARY KEY (day, location)) PARTITION BY RANGE (day)",
}

// partmanSetUp hands the target over to pg_partman: by number, with an interval
// that no row is beyond.
var partmanSetUp = []string{
	"CREATE SCHEMA partman",
	"CREATE EXTENSION pg_partman SCHEMA partman",
	"SELECT partman.create_parent('anon.target', 'day', 'native', '1000000', p_premake => 1, p_start_partition => '0')",
}

// partmanJob moves the rows of a dataset with pg_partman, or, where it cannot
// be installed, as it does.
func (l *lab) partmanJob(ctx context.Context, d dataset) (job, error) {
	const name = "partman"
	err := l.template(ctx, name, "template0", func(ctx context.Context, database string) error {
		return l.with(ctx, database, func(conn *pgx.Conn) error {
			if err := execute(ctx, conn, partmanTables...); err != nil {
				return err
			}
			setUp := partmanSetUp
			if !l.partman {
				setUp = []string{"CREATE TABLE anon.target_p0 PARTITION OF anon.target FOR VALUES FROM (0) TO (1000000)"}
			}
			if err := execute(ctx, conn, setUp...); err != nil {
				return err
			}
			if err := copyInto(ctx, conn, "anon.source", d); err != nil {
				return err
			}
			return execute(ctx, conn, "ALTER TABLE anon.source ADD PRIMARY KEY (day, location)", "VACUUM (ANALYZE) anon.source")
		})
	})
	work := func(ctx context.Context, conn *pgx.Conn, _ string) error {
		return execute(ctx, conn, fmt.Sprintf("CALL partman.partition_data_proc('anon.target', p_interval => '%d', p_wait => 0, p_source_table => 'anon.source', p_quiet => true)", l.cfg.batch()/locations))
	}
	if !l.partman {
		work = func(ctx context.Context, conn *pgx.Conn, _ string) error {
			return moveByDelete(ctx, conn, d, l.cfg.batch()/locations)
		}
	}
	return job{
		template: name,
		work:     work,
		check:    func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, "anon.target", d) },
	}, err
}

// moveByDelete moves days in batches, each its own transaction.
func moveByDelete(ctx context.Context, conn *pgx.Conn, d dataset, days int) error {
	for from := 0; from < d.rows/locations; from += days {
		err := execute(ctx, conn, fmt.Sprintf(
			"WITH moved AS (DELETE FROM anon.source WHERE day >= %d AND day < %d RETURNING *) INSERT INTO anon.target SELECT * FROM moved", from, from+days))
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) partmanNote() string {
	if !l.partman {
		return "pg_partman is not installed for this server (Debian: postgresql-15-partman), so that its pattern was measured: DELETE … RETURNING of 200 days into INSERT, a commit each."
	}
	return "The rows lie in a heap with a primary key, in random order, and go into the one partition of a table that pg_partman manages by number: p_interval 200 days, which are 200,000 rows; p_wait 0, where its default is to sleep a second after each batch."
}
