package runner

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// store is what a run needs of a database, named after the life of a run.
// PostgreSQL is its first implementation. Keep it narrow.
type store interface {
	// openOwner opens the session that will own a task. Notices of a publish go
	// to progress.
	openOwner(ctx context.Context, label string, progress func(Progress)) (owner, error)
	// openWorker opens a session that writes. It must reach the same database as
	// the other sessions of the run: where says which that is, "" for the first. A
	// direct one writes to the live tables; any other stages, and only for a plan.
	openWorker(ctx context.Context, label, where string, direct bool) (worker, error)
	// openMover opens a session that helps with a publish of the same database.
	openMover(ctx context.Context, label, where string, progress func(Progress)) (mover, error)
}

// session is what both kinds of session can do.
type session interface {
	// where names the database that the session reaches.
	where() string
	// describe checks the schema's version, and returns the definitions of the
	// named tables; it refuses one that cs9gen does not publish.
	describe(ctx context.Context, names []string) ([]*tableInfo, error)
	// failPlan records that a plan failed.
	failPlan(ctx context.Context, runID int64, attempt, plan int, reason string) error
	// close ends the session and gives back all it held.
	close()
}

// owner is the session that owns the task: the run lives as long as it does.
type owner interface {
	session
	// assertSession fails unless all statements of this session reach one session
	// of the server, which is what can own a task. Call it before anything else.
	assertSession(ctx context.Context) error
	claim(ctx context.Context, task, runKey string) (claimed, error)
	begin(ctx context.Context, request beginRequest) (begun, error)
	// watch calls lost once when the session is lost, until stop is called.
	// Between the two the session must not be used.
	watch(task string, lost func(error)) (stop func())
	finishRun(ctx context.Context, runID int64, attempt int) error
	// mayPublish says whether the session's login may publish the run.
	mayPublish(ctx context.Context, task, runKey string) (bool, error)
	// setPublishMode changes how all tables of a run are published.
	setPublishMode(ctx context.Context, task, runKey, mode string) error
	// publish splits the rows of each batched table into as many ranges as there
	// are movers, and moves those that no other session moves.
	publish(ctx context.Context, task, runKey string, batchRows, movers int) error
	endAttempt(ctx context.Context, runID int64, attempt int, reason string) error
	release(ctx context.Context, task string) error
	discard(ctx context.Context, task, runKey string, force bool) error
	runs(ctx context.Context, filter RunFilter) ([]RunStatus, error)
	show(ctx context.Context, runID int64) (plans []PlanStatus, steps []StepStatus, err error)
}

// mover is a session that moves rows of a publish which another one runs.
type mover interface {
	// join waits for the publish to begin, and returns when no range is left.
	join(ctx context.Context, task, runKey string, batchRows int) error
	close()
}

// worker is the session that one plan at a time writes on.
type worker interface {
	session
	// beginPlan returns false when the plan is done and is not run again.
	beginPlan(ctx context.Context, runID int64, attempt, plan int) (bool, error)
	finishPlan(ctx context.Context, runID int64, attempt, plan int, rows int64) error
	// nextPlan does both in one transaction: it finishes a plan and begins the
	// next one. It returns what beginPlan returns; after an error neither is done.
	nextPlan(ctx context.Context, runID int64, attempt, plan int, rows int64, next int) (bool, error)
	// write writes the rows and returns how many: staged for the plan that has
	// begun, or by a direct worker to the live table. It clears the table first
	// if clear is set.
	write(ctx context.Context, table *tableInfo, op Op, rows *rowStream, clear bool) (int64, error)
	// deleteRows deletes likewise. The kind is "all", "where" or "keep".
	deleteRows(ctx context.Context, table *tableInfo, kind, condition string) error
	// query reads. The rows must be closed before the session is used again.
	query(ctx context.Context, table *tableInfo, sql string, args []any) (pgx.Rows, error)
	countLive(ctx context.Context, table *tableInfo) (int64, error)
	countStaged(ctx context.Context, table *tableInfo, runID int64) (int64, error)
}

// claimed is what is known of a run key before its plan list is built.
type claimed struct {
	runID int64 // 0: the key is new
	state string
	today time.Time
}

type beginRequest struct {
	task, runKey string
	tables       []string
	plans        []byte // JSON
	today        time.Time
	allowEmpty   bool
	again        bool
	publishMode  string // of all tables; "": each as it is defined
}

type begun struct {
	outcome    string
	runID      int64
	attempt    int
	today      time.Time
	publishKey string
}

// tableInfo is a table that cs9gen publishes.
type tableInfo struct {
	label        string // qualified and quoted, as SQL writes it
	schema, name string
	keys         []string
	path         string // the search_path of its definition, under which rows are written; "": that of the session
	columns      []column
}

// column is one column of a live table.
type column struct {
	name           string
	oid            uint32 // of the type, under a domain that of its base
	typmod         int32
	element        *elementType // of an array
	typeName       string
	notNull        bool
	generated      bool
	identityAlways bool
	hasDefault     bool // a default or an identity gives a value
	key            bool
	readsBinary    bool // the type has a binary form
}

// elementType is the type of an array's elements, under a domain that of its base.
type elementType struct {
	oid    uint32
	typmod int32
}
