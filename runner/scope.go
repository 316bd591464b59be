package runner

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// scope is what the handles of one plan share: its connection, and the one call
// that may use it at a time.
type scope struct {
	worker   worker
	run      Run
	alive    context.Context // ends when the run must stop, with the cause
	readOnly string          // why nothing can be written, or ""
	rows     int64           // written so far

	mu    sync.Mutex
	doing string                  // the call under way, or ""
	abort context.CancelCauseFunc // ends that call
	done  chan struct{}           // closed when it has ended
	ended bool                    // the plan is over
	open  *planRows               // rows of a query that were not closed yet
}

// handles makes the handles of the scope.
func (s *scope) handles(tables map[string]*tableInfo) Handles {
	handles := make(Handles, len(tables))
	for alias, info := range tables {
		handles[alias] = &Table{alias: alias, info: info, scope: s}
	}
	return handles
}

// enter begins a call. The context it returns also ends with the run: a run
// that lost its task must not write, whatever context the caller passes.
func (t *Table) enter(ctx context.Context, what string, writes bool) (context.Context, func(), error) {
	s := t.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil, nil, t.name(what, badArgument("use the handles that the function is given, and only while it runs", "the plan of this handle has ended"))
	case s.alive.Err() != nil:
		e := refuse(context.Cause(s.alive), what, "the run has stopped: "+context.Cause(s.alive).Error(), "")
		return nil, nil, t.name(what, joinCause(s.alive, e))
	case writes && s.readOnly != "":
		return nil, nil, t.name(what, badArgument("write in a plan", "%s can only read", s.readOnly))
	case s.open != nil:
		return nil, nil, t.name(what, badArgument("read them to the end or close them first", "the rows of a query on this plan's connection are still open"))
	case s.doing != "":
		return nil, nil, t.name(what, badArgument("a plan has one connection: let its calls come one after the other",
			"another call (%s) of this plan is under way", s.doing))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(s.alive, func() { cancel(context.Cause(s.alive)) })
	s.doing, s.abort, s.done = what, cancel, make(chan struct{})
	return ctx, func() {
		unlink()
		cancel(nil)
		s.mu.Lock()
		s.doing = ""
		close(s.done)
		s.mu.Unlock()
	}, nil
}

// end closes the scope: its handles refuse every further call, and the
// connection is free when it returns. A call that a goroutine of the caller's
// has left behind is stopped, and is an error: nobody saw how it ended.
func (s *scope) end() error {
	s.mu.Lock()
	s.ended = true
	open, doing, abort, done := s.open, s.doing, s.abort, s.done
	s.mu.Unlock()
	if open != nil {
		open.Close()
		return nil
	}
	if doing == "" {
		return nil
	}
	err := badArgument("wait for all goroutines before the function returns", "the function returned while its call (%s) was still under way", doing)
	abort(err)
	<-done
	return err
}

// track keeps the call of a query going until its rows are closed.
func (s *scope) track(rows pgx.Rows, done func()) pgx.Rows {
	r := &planRows{Rows: rows}
	r.done = sync.OnceFunc(func() {
		s.mu.Lock()
		s.open = nil
		s.mu.Unlock()
		done()
	})
	s.mu.Lock()
	s.open = r
	ended := s.ended
	s.mu.Unlock()
	if ended {
		// the plan is over and waits for its connection
		r.Close()
	}
	return r
}

// planRows are the rows of a query on a plan's connection.
type planRows struct {
	pgx.Rows
	done func()
}

// Next closes the rows after the last one, as every pgx.Rows does.
func (r *planRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.done()
	return false
}

// Close gives the connection back to the plan.
func (r *planRows) Close() {
	r.Rows.Close()
	r.done()
}
