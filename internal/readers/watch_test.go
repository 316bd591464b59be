package readers_test

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// watch is everybody who looks on while a lab publishes.
type watch struct {
	*lab
	pollers []*pollerSession
	gate    *gate
	held    map[group][]*held
	cursor  *cursorReader
	look    *pgx.Conn // looks at locks

	cursors, queues int // publishes beside a cursor, and those at which readers had to wait
}

func (l *lab) newWatch() *watch {
	l.Helper()
	w := &watch{
		lab: l, pollers: l.pollerSessions(), gate: l.newGate(), held: map[group][]*held{},
		cursor: &cursorReader{lab: l, conn: l.readerSession()}, look: l.session(),
	}
	for _, g := range []group{beforeStaging, whileStaging, afterStaging} {
		w.held[g] = l.heldAt(g)
	}
	return w
}

// one stages and publishes a generation. Readers that poll are there each time.
// One publish of four has beside it readers with an older snapshot, another a
// cursor, another someone who looks at locks.
func (w *watch) one(gen int) {
	w.Helper()
	withHeld, withCursor, withLook := gen%4 == 1, gen%4 == 2, gen%4 == 3
	begin := func(g group) {
		if withHeld {
			w.begin(w.held[g], w.gate)
		}
	}
	if withHeld {
		w.gate.shut()
	}
	begin(beforeStaging)
	var readers *window
	w.stage(gen, &moment{
		afterFirstPlan: func() { begin(whileStaging) },
		beforeFinish: func() { // readers see the end of the staging too, now and then
			if gen%7 == 0 {
				readers = w.open(gen, w.pollers)
			}
		},
	})
	begin(afterStaging)
	if readers == nil {
		readers = w.open(gen, w.pollers)
	}
	switch {
	case withCursor:
		w.publishBesideCursor(gen, readers)
	case withLook:
		w.publishBesideLook(gen, readers)
	default:
		w.publish(gen)
	}
	readers.close()
	if withHeld {
		w.gate.open()
		for _, all := range w.held {
			w.end(all, gen)
		}
	}
}

// publishMeanwhile publishes, and returns what to wait for.
func (w *watch) publishMeanwhile(gen int, readers *window) (wait func()) {
	published := make(chan error, 1)
	go func() {
		err := w.tryPublish(w.Context(), gen)
		readers.published.Store(true)
		published <- err
	}()
	return func() {
		w.Helper()
		if err := <-published; err != nil {
			w.Fatal(err)
		}
	}
}

// publishBesideCursor publishes while a cursor is open.
func (w *watch) publishBesideCursor(gen int, readers *window) {
	w.Helper()
	readers.untimed.Store(true)
	w.cursor.begin(tables[gen/4%len(tables)])
	wait := w.publishMeanwhile(gen, readers)
	w.cursors++
	if w.cursor.end(w.look, readers) {
		w.queues++
	}
	wait()
}

// lockWaits are the readers that wait for a table, and for how long they have.
const lockWaits = `SELECT pid, coalesce(extract(epoch FROM clock_timestamp() - waitstart), 0)::double precision
	FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND mode IN ('AccessShareLock', 'RowShareLock')
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// publishBesideLook publishes while the waits for locks are looked at.
func (w *watch) publishBesideLook(gen int, readers *window) {
	w.Helper()
	wait := w.publishMeanwhile(gen, readers)
	for !readers.published.Load() {
		rows, err := w.look.Query(w.Context(), lockWaits)
		if err != nil {
			w.Fatal(err)
		}
		var pid uint32
		var seconds float64
		if _, err := pgx.ForEachRow(rows, []any{&pid, &seconds}, func() error {
			w.noteWait(pid, time.Duration(seconds*float64(time.Second)))
			return nil
		}); err != nil {
			w.Fatal(err)
		}
	}
	wait()
}

// wantWaits checks that readers wait behind a publish that waits for a cursor,
// in the modes in which they wait for it at all.
func (w *watch) wantWaits() {
	w.Helper()
	want := w.cursors
	if waits[w.mode] == never {
		want = 0
	}
	if w.queues != want {
		w.Errorf("%s: readers waited behind %d of %d publishes that a cursor was beside; want %d", w.mode, w.queues, w.cursors, want)
	}
	// and that a reader that must not wait for a lock would fail if it had to
	if want == 0 {
		pgtest.Exec(w, w.conn, "BEGIN; LOCK TABLE readers.one IN ACCESS EXCLUSIVE MODE")
		if _, err := w.pollers[0].read(w.Context(), w.pollers[0].conn, "one"); err == nil {
			w.Error("a reader waits for a lock, and nobody notices")
		}
		pgtest.Exec(w, w.conn, "ROLLBACK")
	}
}
