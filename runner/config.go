package runner

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// SchemaVersion is the version of the cs9 schema that this package works with.
// A run refuses a database with another one.
const SchemaVersion = 1

// Config says how a [Runner] works. The zero value is useful: every field has a
// default.
type Config struct {
	// Logger gets what a run does. Defaults to slog.Default().
	Logger *slog.Logger
	// Owner names this process in messages and in cs9.run_status. Defaults to
	// "host:pid".
	Owner string
	// BatchRows is how many rows one transaction of a publish moves. Defaults
	// to 200,000.
	BatchRows int
	// LockTimeout bounds each wait for a lock on a live table: while it waits,
	// every later reader queues behind it. Defaults to 2 s.
	LockTimeout time.Duration
	// LockRetries is how often a publish tries again after a LockTimeout before
	// it stops with [ErrPublishStopped]. Defaults to 5; negative: never.
	LockRetries int
	// LockBackoff is the pause before the first of these tries; it doubles with
	// each, up to 30 s. Defaults to 500 ms.
	LockBackoff time.Duration
	// AliveGrace is how long a start waits for the lock of a process that has
	// just died, before it stops with [ErrRunAlive]. Defaults to 1 s; negative:
	// not at all.
	AliveGrace time.Duration
	// Heartbeat is how often a run asks, and how long it then waits to hear,
	// whether it still owns its task. Defaults to 10 s.
	Heartbeat time.Duration
	// Progress is told what happens, one call at a time, from the goroutine in
	// which it happens: a slow one slows the run down. Defaults to none.
	Progress func(Progress)
	// Now is the clock that gives a new run its date. Defaults to time.Now.
	Now func() time.Time
}

// Runner runs tasks against one database. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	store store
}

// New returns a Runner for the database that pool connects to. A nil cfg means
// the defaults. The pool is asked for its settings only: a run opens its own
// connections.
func New(pool *pgxpool.Pool, cfg *Config) (*Runner, error) {
	if pool == nil {
		return nil, badArgument("make one with pgxpool.New", "runner.New: the pool is nil")
	}
	if cfg == nil {
		cfg = &Config{}
	}
	full, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: full, store: newPostgres(pool, &full)}, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.BatchRows < 0 {
		return c, badBatchRows(c.BatchRows)
	}
	for _, d := range []struct {
		field string
		is    time.Duration
	}{{"LockTimeout", c.LockTimeout}, {"LockBackoff", c.LockBackoff}, {"Heartbeat", c.Heartbeat}} {
		// PostgreSQL counts in milliseconds, and takes a LockTimeout of 0 for "wait for ever"
		if d.is != 0 && d.is < time.Millisecond {
			return c, badArgument("use a millisecond or more, or leave it zero for the default", "runner.New: %s is %s", d.field, d.is)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		c.Owner = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	c.BatchRows = orDefault(c.BatchRows, 200_000)
	c.LockTimeout = orDefault(c.LockTimeout, 2*time.Second)
	c.LockRetries = max(orDefault(c.LockRetries, 5), 0)
	c.LockBackoff = orDefault(c.LockBackoff, 500*time.Millisecond)
	c.AliveGrace = max(orDefault(c.AliveGrace, time.Second), 0)
	c.Heartbeat = orDefault(c.Heartbeat, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

func orDefault[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}

func badBatchRows(rows int) error {
	return badArgument("use 1 or more; 200000 is the default", "batch rows is %d", rows)
}

// Option changes one run, or one publish.
type Option func(*options)

type options struct {
	runKey     string
	hasRunKey  bool
	again      bool
	allowEmpty bool
	batchRows  int

	movers      int
	publishMode string
}

// RunKey gives the run its key, the scheduler's name for it: a task that is run
// again with the same key resumes, and a key that is published is never run
// again. Without this option the task writes straight to its live tables.
func RunKey(key string) Option {
	return func(o *options) { o.runKey, o.hasRunKey = key, true }
}

// Again does a published run key over.
func Again() Option { return func(o *options) { o.again = true } }

// BatchRows is how many rows one transaction of the publish moves, instead of
// [Config].BatchRows.
func BatchRows(rows int) Option { return func(o *options) { o.batchRows = rows } }

// Movers is how many sessions move the rows of batched tables side by side,
// each a range of its own. Defaults to 1. The ranges are made when the publish
// begins: what is left of a stopped one is split as it was then.
func Movers(n int) Option { return func(o *options) { o.movers = n } }

// PublishMode publishes all tables of this run in a mode, instead of each as its
// definition says: "batched", "atomic", "swap" or "swap_or_atomic". "swap" needs
// a table that was generated with partitions or with publish: swap, and a run
// that empties what it swaps. Where a table has several partitions, a run that
// has staged rows can change to "atomic" only. A publish that has begun goes on
// in the mode it began with.
func PublishMode(mode string) Option { return func(o *options) { o.publishMode = mode } }

// AllowEmpty lets the run leave a table empty, like [Task].AllowEmpty.
func AllowEmpty() Option { return func(o *options) { o.allowEmpty = true } }

func (c *Config) options(opts []Option) (options, error) {
	o := options{batchRows: c.BatchRows, movers: 1}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.batchRows < 1 {
		return o, badBatchRows(o.batchRows)
	}
	if o.movers < 1 {
		return o, badArgument("use 1 or more; 1 is the default", "the number of movers is %d", o.movers)
	}
	return o, nil
}

// forPublish refuses the options that only a run has.
func (o options) forPublish() error {
	if o.hasRunKey || o.again || o.allowEmpty {
		return badArgument("pass BatchRows, Movers and PublishMode only: what is published was decided when the run was made",
			"Publish does not take RunKey, Again or AllowEmpty")
	}
	return nil
}
