package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// driveDBOS runs one workflow whose steps do nothing.
func (l *lab) driveDBOS(ctx context.Context) (s sample, err error) {
	database, drop, err := l.clone(ctx, "template0")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	app, err := dbos.NewContext(ctx, dbos.Config{
		AppName: taskName, DatabaseURL: l.server.URL(database), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return s, fmt.Errorf("open DBOS: %w", err)
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(app, time.Minute)) }()
	dbos.RegisterWorkflow(app, driveSteps)
	if err := dbos.Launch(app); err != nil {
		return s, fmt.Errorf("launch DBOS: %w", err)
	}
	s, err = l.timed(ctx, func() error {
		handle, err := dbos.RunWorkflow(app, driveSteps, l.cfg.plans())
		if err != nil {
			return fmt.Errorf("run workflow: %w", err)
		}
		done, err := handle.GetResult()
		if err != nil {
			return fmt.Errorf("workflow: %w", err)
		}
		if done != l.cfg.plans() {
			return fmt.Errorf("ran %d steps of %d", done, l.cfg.plans())
		}
		return nil
	})
	return s, err
}

func driveSteps(ctx dbos.Context, steps int) (int, error) {
	done := 0
	for i := range steps {
		n, err := dbos.RunAsStep(ctx, func(context.Context) (int, error) { return i, nil })
		if err != nil {
			return done, fmt.Errorf("step %d: %w", i, err)
		}
		if n == i {
			done++
		}
	}
	return done, nil
}
