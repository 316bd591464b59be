package readers_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// held is a reader whose snapshot is taken at a point of the run, and which
// reads only when the publish has ended.
type held struct {
	name  string
	table string
	group group
	conn  *pgx.Conn
	sql   string // of a statement that waits at the gate; "": REPEATABLE READ
	done  chan reading
}

// kindsHeld are the statements that wait at the gate, and then call a function.
var kindsHeld = map[string]string{
	"STABLE SQL function":      "SELECT readers.%s_stable_sql() FROM readers.gate() OFFSET 0",
	"STABLE PL/pgSQL function": "SELECT readers.%s_stable_plpgsql() FROM readers.gate() OFFSET 0",
}

// heldAt returns the readers of one point of the run.
func (l *lab) heldAt(g group) []*held {
	l.Helper()
	var all []*held
	for _, table := range tables {
		add := func(name, sql string, g group) {
			all = append(all, &held{name: name + ", " + points[g], table: table, group: g, sql: sql, conn: l.readerSession()})
		}
		add("REPEATABLE READ", "", g)
		for name, sql := range kindsHeld {
			add(name, fmt.Sprintf(sql, table), g)
		}
		if g == afterStaging {
			add("VOLATILE PL/pgSQL function", fmt.Sprintf("SELECT readers.%s_volatile_plpgsql() FROM readers.gate() OFFSET 0", table), volatileLater)
		}
	}
	return all
}

var points = map[group]string{
	beforeStaging: "snapshot before staging",
	whileStaging:  "snapshot while staging",
	afterStaging:  "snapshot after staging",
	volatileLater: "called later",
}

// begin takes the snapshot of each reader.
func (l *lab) begin(all []*held, gate *gate) {
	l.Helper()
	for _, h := range all {
		if h.sql == "" {
			pgtest.Exec(l, h.conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
			continue
		}
		h.done = make(chan reading, 1)
		go func() {
			start := time.Now()
			codes, err := collect(context.WithoutCancel(l.Context()), h.conn, pgx.QueryExecModeSimpleProtocol, h.sql)
			h.done <- reading{codes: codes, err: err, took: time.Since(start)}
		}()
		gate.waiting++
	}
	gate.await()
}

// end lets each reader read, now that the gate is open.
func (l *lab) end(all []*held, target int) {
	l.Helper()
	for _, h := range all {
		var r reading
		if h.sql == "" {
			r.codes, r.err = simple("SELECT "+code+" FROM readers.%s")(l.Context(), h.conn, h.table)
			pgtest.Exec(l, h.conn, "ROLLBACK")
		} else {
			r = <-h.done
		}
		r.reader, r.table, r.group, r.target, r.low = h.name, h.table, h.group, target, target-1
		r.took = 0 // it waited for the test
		l.note(r)
	}
}

// gate holds back the statements that call readers.gate().
type gate struct {
	*lab
	conn    *pgx.Conn
	waiting int
}

func (l *lab) newGate() *gate { return &gate{lab: l, conn: l.session()} }

func (g *gate) shut() { pgtest.Exec(g, g.conn, "SELECT pg_advisory_lock(12)") }

func (g *gate) open() {
	g.waiting = 0
	pgtest.Exec(g, g.conn, "SELECT pg_advisory_unlock(12)")
}

// await waits until every statement is at the gate, and so has its snapshot.
func (g *gate) await() {
	g.Helper()
	for start := time.Now(); ; {
		if pgtest.Scalar[int](g, g.conn, `SELECT count(*)::integer FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND objid = 12 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == g.waiting {
			return
		}
		if time.Since(start) > 30*time.Second {
			g.Fatal("the statements that call readers.gate() are not there after 30 s")
		}
	}
}
