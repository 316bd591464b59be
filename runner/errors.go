package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// What a caller branches on, with errors.Is. Those of the database are matched
// by SQLSTATE, never by message.
var (
	// ErrRunAlive: another live session owns the task (S9001).
	ErrRunAlive = errors.New("the task is owned by another live session")
	// ErrRunUnknown: there is no such run (S9002).
	ErrRunUnknown = errors.New("there is no such run")
	// ErrNotReady: the run's state does not allow the call (S9003).
	ErrNotReady = errors.New("the run is not ready for this")
	// ErrPublished: the run has been published, which is its end (S9004).
	ErrPublished = errors.New("the run has been published")
	// ErrDiscarded: the run has been discarded (S9005).
	ErrDiscarded = errors.New("the run has been discarded")
	// ErrStaleAttempt: a later attempt of the run has begun, or another session
	// has taken the plan (S9006).
	ErrStaleAttempt = errors.New("a later attempt of the run has begun")
	// ErrNotInPlan: a write outside a running plan (S9007).
	ErrNotInPlan = errors.New("no plan is running for this write")
	// ErrPlansChanged: the plan list is not that of the first attempt (S9008).
	ErrPlansChanged = errors.New("the plan list changed between attempts")
	// ErrTablesChanged: the tables are not those the run began with (S9009).
	ErrTablesChanged = errors.New("the tables of the run changed")
	// ErrTableUnknown: cs9gen did not generate the table (S9010).
	ErrTableUnknown = errors.New("the table is not one that cs9gen publishes")
	// ErrDuplicateRow: the run wrote one row twice (S9011).
	ErrDuplicateRow = errors.New("the run wrote a row twice")
	// ErrDeletesOthersRows: a plan deletes what another plan wrote (S9012).
	ErrDeletesOthersRows = errors.New("a plan deletes rows that another plan wrote")
	// ErrCannotFinish: something would refuse a row of the publish (S9013).
	ErrCannotFinish = errors.New("the publish could not finish, so it did not start")
	// ErrNothingStaged: a table would be left empty (S9014).
	ErrNothingStaged = errors.New("nothing was staged")
	// ErrBadCondition: not one boolean expression, one that is always true, or one that
	// compares with NULL (S9015).
	ErrBadCondition = errors.New("bad condition")
	// ErrBadArgument: a wrong argument (S9016).
	ErrBadArgument = errors.New("bad argument")
	// ErrPublishStopped: a lock was not granted in time; the publish can be resumed (S9017).
	ErrPublishStopped = errors.New("the publish stopped and can be resumed")
	// ErrStagedRewritten: the staged rows were moved by VACUUM FULL, CLUSTER or the like, or are gone (S9018).
	ErrStagedRewritten = errors.New("the staged rows were rewritten or are gone")
	// ErrRowsSkipped: a trigger skipped rows of a step, which was undone (S9022).
	ErrRowsSkipped = errors.New("a trigger skipped rows")
	// ErrNotOwner: this run lost its task's lock, or never had it (S9019).
	ErrNotOwner = errors.New("this session does not own the task")
	// ErrLocked: another session holds a lock that the call needs; the detail names it (S9024).
	ErrLocked = errors.New("another session holds a lock")
	// ErrOutcomeUnknown: the connection was lost while the server was at work, and it may have ended well.
	ErrOutcomeUnknown = errors.New("whether it was done is unknown")
	// ErrReadOnly: the server is a standby, or the session is read-only (S9023, 25006).
	ErrReadOnly = errors.New("nothing can be written here")
	// ErrNotMigrated: the database has no cs9 schema.
	ErrNotMigrated = errors.New("the database has no cs9 schema")
	// ErrSchemaVersion: the cs9 schema is of another version than this package.
	ErrSchemaVersion = errors.New("the cs9 schema has another version")
	// ErrInTransaction: a committing procedure was called inside a transaction (2D000).
	ErrInTransaction = errors.New("a publish commits and cannot run inside a transaction")
	// ErrLossy: a value that the column could not hold as it is.
	ErrLossy = errors.New("the value would be changed")
	// ErrNoRows: a nil row source; no rows is a source without rows.
	ErrNoRows = errors.New("there is no row source")
)

// sentinels are the errors of the SQLSTATEs that callers branch on.
var sentinels = map[string]error{
	"S9001": ErrRunAlive,
	"S9002": ErrRunUnknown,
	"S9003": ErrNotReady,
	"S9004": ErrPublished,
	"S9005": ErrDiscarded,
	"S9006": ErrStaleAttempt,
	"S9007": ErrNotInPlan,
	"S9008": ErrPlansChanged,
	"S9009": ErrTablesChanged,
	"S9010": ErrTableUnknown,
	"S9011": ErrDuplicateRow,
	"S9012": ErrDeletesOthersRows,
	"S9013": ErrCannotFinish,
	"S9014": ErrNothingStaged,
	"S9015": ErrBadCondition,
	"S9016": ErrBadArgument,
	"S9017": ErrPublishStopped,
	"S9018": ErrStagedRewritten,
	"S9019": ErrNotOwner,
	"S9022": ErrRowsSkipped,
	"S9023": ErrReadOnly,
	"S9024": ErrLocked,
	"25006": ErrReadOnly,
	"2D000": ErrInTransaction,
}

// Error is every error that this package returns: where it happened, what is
// wrong, and what to do. errors.Is finds the sentinels above, and errors.As a
// *[pgconn.PgError] where the database raised it. Fields that do not apply are
// zero.
type Error struct {
	Op       string // what was being done, for example "publish" or "insert"
	Task     string
	RunKey   string
	Table    string
	Plan     int
	SQLState string
	Message  string
	Detail   string
	Hint     string // what was kept, and what to do next

	err error
}

// Error returns all of it in one line.
func (e *Error) Error() string {
	var place []string
	add := func(format string, value any, present bool) {
		if present {
			place = append(place, fmt.Sprintf(format, value))
		}
	}
	// what a caller wrapped around an error of ours says these already
	says := func(text string) bool { return text == "" || strings.Contains(e.Message, text) }
	add("%s", e.Op, !says(e.Op))
	add("task %q", e.Task, e.Task != "")
	add("run key %q", e.RunKey, e.RunKey != "")
	add("plan %d", e.Plan, e.Plan != 0)
	add("table %s", e.Table, !says(e.Table))

	var b strings.Builder
	b.WriteString(strings.Join(place, ", "))
	if len(place) > 0 {
		b.WriteString(": ")
	}
	b.WriteString(oneLine(e.Message))
	if !says(e.Detail) {
		fmt.Fprintf(&b, ": %s", strings.TrimSuffix(oneLine(e.Detail), "."))
	}
	if !says(e.SQLState) {
		fmt.Fprintf(&b, " (SQLSTATE %s)", e.SQLState)
	}
	if !says(e.Hint) {
		fmt.Fprintf(&b, "; %s", oneLine(e.Hint))
	}
	return b.String()
}

// oneLine joins the lines of a text, and says one that is repeated once: the
// driver has a line for each way of connecting that it tried.
func oneLine(text string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == last:
			continue
		case strings.HasSuffix(last, ":"):
			b.WriteByte(' ')
		case last != "":
			b.WriteString("; ")
		}
		b.WriteString(line)
		last = line
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// Is reports whether target is the sentinel of the error's SQLSTATE.
func (e *Error) Is(target error) bool {
	sentinel := sentinels[e.SQLState]
	return sentinel != nil && sentinel == target
}

// refuse makes an error of this package's own, which matches sentinel.
func refuse(sentinel error, op, message, hint string) *Error {
	return &Error{Op: op, Message: message, Hint: hint, err: sentinel}
}

// badArgument is the error for what the caller got wrong.
func badArgument(hint, format string, args ...any) *Error {
	return refuse(ErrBadArgument, "", fmt.Sprintf(format, args...), hint)
}

// dbError turns what a database call returned into an *Error, and joins the
// cause of a cancelled context, which the driver does not report: a cancelled
// query comes back as SQLSTATE 57014.
func dbError(ctx context.Context, op, table string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, Table: table, Message: err.Error(), err: err}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		e.SQLState, e.Message, e.Detail, e.Hint = pgErr.Code, pgErr.Message, pgErr.Detail, pgErr.Hint
		if e.Detail == "" {
			e.Detail = pgErr.Where
		}
		if table == "" && pgErr.TableName != "" && pgErr.SchemaName != "cs9" {
			e.Table = pgErr.SchemaName + "." + pgErr.TableName
		}
	}
	if pgErr != nil && e.Hint == "" && strings.HasSuffix(pgErr.ConstraintName, "_routable_check") { // see sqlgen.Names
		e.Hint = "no partition takes the row: correct it, or define a partition for it"
	}
	if e.SQLState == "25006" {
		e.Hint = "nothing can be written here: " + failover
	}
	if e.SQLState == "2D000" {
		e.Hint = "the server runs this connection's statements inside a transaction; a proxy or a hook of the pool began one"
	}
	return joinCause(ctx, e)
}

// joinCause makes e match the cause of a cancelled context too.
func joinCause(ctx context.Context, e *Error) *Error {
	if ctx.Err() == nil {
		return e
	}
	cause := context.Cause(ctx)
	e.err = errors.Join(e.err, ctx.Err(), cause)
	if cause != nil && !errors.Is(cause, ctx.Err()) && !strings.Contains(e.Message, cause.Error()) {
		e.Message += ": " + cause.Error()
	}
	return e
}

// place fills in where a run was when err happened, and what to do next. The
// first *Error in the chain lends its fields.
func place(err error, task, runKey string, plan int, next string) *Error {
	e := &Error{Task: task, RunKey: runKey, Plan: plan, err: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.Op, e.Table, e.SQLState = inner.Op, inner.Table, inner.SQLState
		e.Detail, e.Hint = inner.Detail, inner.Hint
		if plan == 0 {
			e.Plan = inner.Plan
		}
	}
	switch {
	case inner == nil:
		e.Message = err.Error()
	case inner.Error() == err.Error():
		e.Message = inner.Message
	default:
		// the caller's own words around it, and ours inside them
		e.Message = err.Error()
	}
	for clause := range strings.SplitSeq(next, "; ") {
		switch {
		case strings.Contains(e.Message, clause) || strings.Contains(e.Hint, clause): // "" too
		case e.Hint == "":
			e.Hint = clause
		default:
			e.Hint = strings.TrimSuffix(e.Hint, ".") + "; " + clause
		}
	}
	return e
}
