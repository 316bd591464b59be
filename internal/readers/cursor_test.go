package readers_test

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// cursorReader holds a cursor open over a publish, in a REPEATABLE READ
// transaction that then reads the table once more. It holds a lock, ACCESS
// SHARE: a publish that empties or switches the table waits for its end.
type cursorReader struct {
	*lab
	conn  *pgx.Conn
	table string
	codes []int
}

func (c *cursorReader) begin(table string) {
	c.Helper()
	c.table, c.codes = table, nil
	pgtest.Exec(c, c.conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; DECLARE c CURSOR FOR SELECT "+code+" FROM readers."+c.table)
	c.fetch("FETCH 5 FROM c")
}

func (c *cursorReader) fetch(sql string) {
	c.Helper()
	codes, err := collect(c.Context(), c.conn, pgx.QueryExecModeSimpleProtocol, sql)
	if err != nil {
		c.Fatal(err)
	}
	c.codes = append(c.codes, codes...)
}

// queue says whether the publisher $2 waits for the cursor $1, and another
// reader waits behind it.
const queue = `SELECT $1 = ANY (pg_blocking_pids($2)) AND EXISTS (
	SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND mode IN ('AccessShareLock', 'RowShareLock')
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

// end reads the rest as soon as the publish waits for the cursor and a reader
// waits behind the publish, or the publish has ended without.
func (c *cursorReader) end(look *pgx.Conn, w *window) (queued bool) {
	c.Helper()
	publisher, own := int(c.lab.conn.PgConn().PID()), int(c.conn.PgConn().PID())
	for start := time.Now(); !queued && !w.published.Load(); {
		queued = pgtest.Scalar[bool](c, look, queue, own, publisher)
		if time.Since(start) > 30*time.Second {
			c.Fatal("the publish neither ends nor waits for the cursor")
		}
	}
	c.fetch("FETCH 5 FROM c")
	c.fetch("FETCH ALL FROM c")
	r := reading{reader: "cursor", table: c.table, group: cursor, codes: c.codes, low: w.target - 1, target: w.target}
	c.note(r)
	r.reader = "the table once more, after the cursor"
	r.codes, r.err = simple("SELECT "+code+" FROM readers.%s")(c.Context(), c.conn, c.table)
	c.note(r)
	pgtest.Exec(c, c.conn, "COMMIT")
	return queued
}
