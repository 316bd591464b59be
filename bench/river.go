package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// emptyArgs are those of a job that does nothing.
type emptyArgs struct {
	Plan int `json:"plan"`
}

// Kind names the job to River.
func (emptyArgs) Kind() string { return "empty" }

type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
}

// Work does nothing.
func (*emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error { return nil }

// driveRiver inserts jobs that do nothing, and waits until they are done.
func (l *lab) driveRiver(ctx context.Context) (s sample, err error) {
	database, drop, err := l.clone(ctx, "template0")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	pool, err := pgxpool.New(ctx, l.server.URL(database))
	if err != nil {
		return s, fmt.Errorf("connect: %w", err)
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return s, fmt.Errorf("open River's migrations: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return s, fmt.Errorf("migrate River: %w", err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &emptyWorker{})
	client, err := river.NewClient(driver, &river.Config{
		Logger:  slog.New(slog.DiscardHandler),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}},
		Workers: workers,
	})
	if err != nil {
		return s, fmt.Errorf("make River's client: %w", err)
	}
	events, stop := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: l.cfg.plans(), Kinds: []river.EventKind{river.EventKindJobCompleted},
	})
	defer stop()
	if err := client.Start(ctx); err != nil {
		return s, fmt.Errorf("start River: %w", err)
	}
	defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
	s, err = l.timed(ctx, func() error {
		jobs := make([]river.InsertManyParams, l.cfg.plans())
		for i := range jobs {
			jobs[i].Args = emptyArgs{Plan: i}
		}
		if _, err := client.InsertMany(ctx, jobs); err != nil {
			return fmt.Errorf("insert jobs: %w", err)
		}
		for range jobs {
			select {
			case <-events:
			case <-ctx.Done():
				return ctx.Err() //nolint:wrapcheck // the run was stopped
			}
		}
		return nil
	})
	return s, err
}
