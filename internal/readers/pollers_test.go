package readers_test

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// atOnce is how many pollers read beside one publish. They take turns: they read
// without pause, and more at once would leave the publish no processor.
const atOnce = 1

// window is the time of one publish, from before the run is made ready until
// after the publish has returned.
type window struct {
	target    int
	published atomic.Bool
	closed    atomic.Bool
	untimed   atomic.Bool // readers wait for what the test does, not only for the publish
	readers   sync.WaitGroup
}

// pollerSession is a poller with its connection.
type pollerSession struct {
	poller
	conn *pgx.Conn
	turn int
}

func (l *lab) pollerSessions() []*pollerSession {
	l.Helper()
	var all []*pollerSession
	for _, p := range pollers {
		s := &pollerSession{poller: p, conn: l.readerSession()}
		if p.group == locking {
			pgtest.Exec(l, s.conn, "RESET lock_timeout")
		}
		for _, table := range tables {
			if p.setup != nil {
				if _, err := s.conn.Exec(l.Context(), p.setup(table)); err != nil {
					l.Fatal(err)
				}
			}
		}
		l.pids[s.conn.PgConn().PID()] = p.name
		all = append(all, s)
	}
	return all
}

// open starts the pollers whose turn it is.
func (l *lab) open(target int, all []*pollerSession) *window {
	w := &window{target: target}
	for i := range atOnce {
		s := all[(target*atOnce+i)%len(all)]
		w.readers.Go(func() { l.poll(w, s) })
	}
	return w
}

// close says that the publish has returned, and waits for the last readings,
// which begin after it.
func (w *window) close() {
	w.published.Store(true)
	w.closed.Store(true)
	w.readers.Wait()
}

// poll reads without pause as long as the window is open, and once more after it.
func (l *lab) poll(w *window, s *pollerSession) {
	for last := false; !last; {
		last = w.closed.Load()
		r := reading{reader: s.name, table: "both", group: s.group, both: s.both, target: w.target, low: w.target - 1}
		table := tables[s.turn%len(tables)]
		s.turn++
		if !s.both {
			r.table = table
		}
		if w.published.Load() {
			r.low = w.target
		}
		start := time.Now()
		r.codes, r.err = s.read(l.Context(), s.conn, table)
		if !w.untimed.Load() {
			r.took = time.Since(start)
		}
		if c := l.note(r); c == failed {
			return
		}
	}
}
