package readers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const code = "gen * 1000 + k * 2 + (region = 'north')::integer"

// tables that a single-table reader reads in turn: one that is not partitioned
// in its definition, and one that is.
var tables = []string{"one", "parts"}

// poller is a kind of reader that reads without pause while a run is published.
type poller struct {
	name  string
	group group
	both  bool // two tables in one statement; table names the first
	setup func(table string) string
	read  func(ctx context.Context, conn *pgx.Conn, table string) ([]int, error)
}

// pollers are the kinds of readers, in the order of the report.
var pollers = []poller{
	{name: "plain statement", group: statement, read: simple("SELECT " + code + " FROM readers.%s")},
	{name: "view", group: statement, read: simple("SELECT code FROM readers.%s_view")},
	{name: "prepared (extended protocol)", group: statement, read: extended("SELECT " + code + " FROM readers.%s")},
	{
		name: "PREPARE, EXECUTE", group: statement,
		setup: func(table string) string {
			return fmt.Sprintf("PREPARE read_%s AS SELECT %s FROM readers.%[1]s", table, code)
		},
		read: simple("EXECUTE read_%s"),
	},
	{name: "STABLE SQL function in FROM", group: statement, read: simple("SELECT * FROM readers.%s_stable_sql()")},
	{name: "VOLATILE SQL function", group: statement, read: simple("SELECT readers.%s_volatile_sql()")},
	{name: "VOLATILE PL/pgSQL function", group: statement, read: simple("SELECT * FROM readers.%s_volatile_plpgsql()")},
	{name: "STABLE SQL function", group: stable, read: simple("SELECT readers.%s_stable_sql()")},
	{name: "STABLE PL/pgSQL function", group: stable, read: extended("SELECT * FROM readers.%s_stable_plpgsql()")},
	{name: "REPEATABLE READ begun meanwhile", group: stable, read: repeatableRead},
	{name: "two tables, UNION", group: both, both: true, read: union("one", "parts")},
	{name: "two tables, UNION, other order", group: both, both: true, read: union("parts", "one")},
	{name: "two tables, JOIN", group: both, both: true, read: join("one", "parts")},
	{name: "two tables, JOIN, other order", group: both, both: true, read: join("parts", "one")},
	{name: "SELECT FOR SHARE", group: locking, read: simple("SELECT " + code + " FROM readers.%s FOR SHARE")},
}

type readFunc = func(ctx context.Context, conn *pgx.Conn, table string) ([]int, error)

func collect(ctx context.Context, conn *pgx.Conn, mode pgx.QueryExecMode, sql string) ([]int, error) {
	rows, err := conn.Query(ctx, sql, mode)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

// simple sends a statement as text, as psql does.
func simple(sql string) readFunc {
	return func(ctx context.Context, conn *pgx.Conn, table string) ([]int, error) {
		return collect(ctx, conn, pgx.QueryExecModeSimpleProtocol, fmt.Sprintf(sql, table))
	}
}

// extended prepares a statement once and executes it from then on, as pgx does
// when nothing else is asked for.
func extended(sql string) readFunc {
	return func(ctx context.Context, conn *pgx.Conn, table string) ([]int, error) {
		return collect(ctx, conn, pgx.QueryExecModeCacheStatement, fmt.Sprintf(sql, table))
	}
}

func union(first, second string) readFunc {
	return func(ctx context.Context, conn *pgx.Conn, _ string) ([]int, error) {
		return collect(ctx, conn, pgx.QueryExecModeSimpleProtocol, fmt.Sprintf(
			"SELECT %s FROM readers.%s UNION ALL SELECT %d + %[1]s FROM readers.%[4]s", code, first, otherTable, second))
	}
}

func join(first, second string) readFunc {
	return func(ctx context.Context, conn *pgx.Conn, _ string) ([]int, error) {
		return collect(ctx, conn, pgx.QueryExecModeSimpleProtocol, fmt.Sprintf(`
			SELECT v.code
			FROM (SELECT k, region, %s AS code FROM readers.%s) AS a
			FULL JOIN (SELECT k, region, %[1]s AS code FROM readers.%[3]s) AS b USING (k, region)
			CROSS JOIN LATERAL (VALUES (a.code), (b.code + %[4]d)) AS v (code)
			WHERE v.code IS NOT NULL`, code, first, second, otherTable))
	}
}

// repeatableRead takes its snapshot a millisecond before it reads the table
// for the first time.
func repeatableRead(ctx context.Context, conn *pgx.Conn, table string) (codes []int, err error) {
	if _, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT pg_sleep(0.001)"); err == nil {
		codes, err = simple("SELECT "+code+" FROM readers.%s")(ctx, conn, table)
	}
	_, end := conn.Exec(ctx, "ROLLBACK")
	return codes, errors.Join(err, end)
}
