// Package runner runs batch tasks whose writes are staged inside PostgreSQL and
// published only after the last plan has succeeded.
//
// A [Task] names its tables and has a planner, which splits the work into
// plans, and an action, which writes. [Task.Run] with a [RunKey] drives the
// plans of one run, resumes what an earlier attempt left, and publishes. Without
// a run key every write goes straight to the live table.
//
// Where an older run of the task is ready, or its publish stopped, it is
// published first; what a failed one staged is removed, with a warning in the
// log. A login that may not publish ends its run as [Ready].
//
// # What this package decides, and what it leaves to others
//
// It decides the order of the calls: which plan runs when, on which
// connection, and what happens when one of them fails. It turns Go rows into
// COPY and Go predicates into SQL conditions, and refuses a value that the
// column could not hold as it is. Everything that makes a run safe is decided
// in the database, by the routines of the schema cs9: who owns a task, which
// attempt may write, which rows conflict, what is published. So a run that was
// begun here can be published from psql, and the other way round.
//
// # Connections
//
// The pool given to [New] is never borrowed from: it says how to connect, and its
// hooks BeforeConnect and AfterConnect are called. Its other hooks (PrepareConn,
// BeforeAcquire, AfterRelease, BeforeClose) are not: what a session of a run
// needs, such as a setting or a type, belongs into AfterConnect.
//
// A run opens connections of its own, one that owns the task for as long as the
// run lasts and at most [Task.Cores] that work, so that a pool of one connection
// cannot deadlock and no setting of a run leaks into the pool. A publish with
// [Movers] has one more for each mover but the first. One more asks after the
// owner's session while a run is proved or published, so that a network that goes
// silent does not leave the program waiting. They must reach the server
// itself: a proxy that pools transactions moves a session from one server
// connection to another, and would lose the session that the life of a run is. That
// is noticed, and stops the run with [ErrNotOwner].
//
// These sessions set what they count on, whatever database, role and hooks say:
// read committed, no statement_timeout, no idle timeout, UTF-8. A proof, a
// publish and the wait for a slow source take as long as they take: give the
// context a deadline where you want a limit. The limits on locks are those of
// [Config]. Through a proxy, direct writes keep the session's own settings.
//
// # Values
//
// Nothing is rounded, cut or wrapped on its way into a column: 3.7 for an
// integer, 0.125 for a numeric(10, 2), a clock time for a date and a time zone
// for a timestamp without one are errors that match [ErrLossy]. The one
// exception is time below the microsecond, which PostgreSQL does not keep. A
// missing value is nil; the zero [time.Time] is refused, because it would become
// the year 1.
package runner
