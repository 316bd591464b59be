package runner_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cs9gen/cs9gen/runner"
)

// TestStackOfAPanicIsLoggedOnce: it passes several places that log one, wherever
// it comes from.
func TestStackOfAPanicIsLoggedOnce(t *testing.T) {
	f := newFixture(t)
	boom := errors.New("boom")
	inPlan := stepsTask(nothing, func(context.Context, runner.Run, runner.Handles) error { panic(boom) }, nothing)
	inPlanner, before := stepsTask(nothing), stepsTask(nothing)
	inPlanner.Plans = func(context.Context, runner.Run) ([]int, error) { panic(boom) }
	before.Before = func(context.Context, runner.Run, runner.Handles) error { panic(boom) }
	for name, task := range map[string]runner.Task[int, any]{"plan": inPlan, "planner": inPlanner, "hook": before} {
		var log bytes.Buffer
		r := f.newRunner(func(c *runner.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		_, err := task.Run(t.Context(), r, runner.RunKey(name))
		f.wantIs(err, boom)
		if n := strings.Count(log.String(), "stack="); n != 1 {
			t.Errorf("%s: the stack is logged %d times", name, n)
		}
	}
}
