package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// The exit codes.
const (
	exitDone           = 0
	exitFailed         = 1
	exitWrongUse       = 2
	exitRunAlive       = 3 // another run of the task is alive
	exitPublishStopped = 4 // what is published stays, and the rest can be published
	exitDiffers        = 5 // check found a difference, and nothing else was wrong
)

// failure is what is told of an error: the fields of its JSON object, and the
// lines of its text.
type failure struct {
	Message  string   `json:"error"`
	Detail   string   `json:"detail,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Context  string   `json:"context,omitempty"` // where in the database's routines; for programs only
	SQLState string   `json:"sqlstate,omitempty"`
	Problems []string `json:"problems,omitempty"` // of definition files, one each
	ExitCode int      `json:"exit_code"`
}

// Error returns the message, so that a command can make its own failure.
func (f *failure) Error() string { return f.Message }

// failed is an error of a command of ours.
func failed(hint, format string, args ...any) error {
	return &failure{Message: fmt.Sprintf(format, args...), Hint: hint, ExitCode: exitFailed}
}

// advised is an error that the command knows more of than the package that
// returned it.
type advised struct {
	hint     string // instead of the error's own, unless empty
	exitCode int    // instead of the error's own, unless 0
	err      error
}

func (e *advised) Error() string { return e.err.Error() }
func (e *advised) Unwrap() error { return e.err }

// advise replaces the hint of an error that is sentinel. The database's hints
// speak to users of SQL.
func advise(err, sentinel error, hint string) error {
	if err == nil || !errors.Is(err, sentinel) {
		return err
	}
	return &advised{hint: hint, err: err}
}

// wrongUse is an error in the arguments of a command.
func wrongUse(cmd *cobra.Command, err error) error {
	return &failure{Message: err.Error(), Hint: cmd.CommandPath() + " --help shows how it is used", ExitCode: exitWrongUse}
}

// arguments makes the errors of a check of arguments wrong use, and refuses
// empty ones: a variable of a script that is not set.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrongUse(cmd, err)
		}
		for i, arg := range args {
			if strings.TrimSpace(arg) == "" {
				return wrongUse(cmd, fmt.Errorf("argument %d is empty", i+1))
			}
		}
		return nil
	}
}

// takes makes sure that a command is given the arguments that it names.
func takes(names ...string) cobra.PositionalArgs {
	return arguments(func(cmd *cobra.Command, args []string) error {
		given := fmt.Sprintf("%s takes %s, and was given %s", cmd.CommandPath(), strings.Join(names, " and "), count(int64(len(args)), "argument"))
		switch {
		case len(args) < len(names):
			return errors.New(given)
		case len(args) > len(names):
			return errors.New(given + ": quote one that holds blanks")
		}
		return nil
	})
}

// needsSubcommand is what a command does that only holds others.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrongUse(cmd, fmt.Errorf("there is no command %q", cmd.CommandPath()+" "+args[0]))
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			names = append(names, sub.Name())
		}
	}
	return wrongUse(cmd, fmt.Errorf("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", ")))
}

// describe finds out what to tell of an error.
func describe(err error) *failure {
	f := &failure{Message: err.Error(), ExitCode: exitFailed}
	var (
		own        *failure
		problems   *sqlgen.Problems
		ofRunner   *runner.Error
		ofMigrate  *migrate.Error
		connecting *pgconn.ConnectError
		pgErr      *pgconn.PgError
	)
	if errors.As(err, &pgErr) {
		f.Message, f.Detail, f.Hint, f.SQLState = pgErr.Message, pgErr.Detail, pgErr.Hint, pgErr.Code
		f.Context = pgErr.Where
	}
	switch {
	case errors.As(err, &own):
		*f = *own
	case errors.As(err, &problems):
		f.Message = "the definitions have " + count(int64(len(problems.List)), "problem")
		for _, p := range problems.List {
			f.Problems = append(f.Problems, p.String())
		}
	case errors.As(err, &connecting):
		f.Message = cannotConnect(connecting)
		if f.Hint == "" {
			f.Hint = "check that a server is there and takes this user; --" + databaseFlag + ", else DATABASE_URL, else the PG* variables say where"
		}
	case errors.As(err, &ofRunner):
		fromRunner(f, ofRunner)
	case errors.As(err, &ofMigrate):
		f.Message = ofMigrate.Error()
		if f.Hint == "" {
			f.Hint = ofMigrate.Hint
		}
	}
	if f.SQLState == "42501" && f.Hint == "" {
		f.Hint = "connect as another user, or make this one a member of the role that may: a definition names them (roles: {runner: ..., publisher: ...})"
	}
	if errors.Is(err, context.Canceled) && f.ExitCode == exitFailed {
		f.Message = "interrupted: " + f.Message
	}
	switch {
	case errors.Is(err, runner.ErrRunAlive):
		f.ExitCode = exitRunAlive
	case errors.Is(err, runner.ErrPublishStopped):
		f.ExitCode = exitPublishStopped
	case errors.Is(err, runner.ErrBadArgument):
		f.ExitCode = exitWrongUse
	}
	var known *advised
	if errors.As(err, &known) {
		if known.hint != "" {
			f.Hint = known.hint
		}
		if known.exitCode != 0 {
			f.ExitCode = known.exitCode
		}
	}
	return f
}

func fromRunner(f *failure, e *runner.Error) {
	f.Message, f.SQLState = e.Message, e.SQLState
	if e.Detail != f.Context {
		f.Detail = e.Detail
	}
	// the hints around the first one speak to a program that runs the task
	cause := e
	for errors.As(cause.Unwrap(), &cause) {
	}
	f.Hint = cause.Hint
	var place []string
	if e.Task != "" {
		place = append(place, fmt.Sprintf("task %q", e.Task))
	}
	if e.RunKey != "" {
		place = append(place, fmt.Sprintf("run key %q", e.RunKey))
	}
	if len(place) > 0 {
		f.Message = strings.Join(place, ", ") + ": " + f.Message
	}
}

// cannotConnect says where to and why, without what the driver repeats for each
// way of connecting that it tried.
func cannotConnect(e *pgconn.ConnectError) string {
	reason := e.Unwrap().Error()
	var pgErr *pgconn.PgError
	if errors.As(e, &pgErr) {
		reason = pgErr.Message
	}
	first, _, _ := strings.Cut(reason, "\n")
	return fmt.Sprintf("cannot connect to database %q at %s:%d as user %q: %s", e.Config.Database, e.Config.Host, e.Config.Port, e.Config.User, first)
}

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	f := describe(err)
	if a.json {
		a.noteJSON(f)
		return f.ExitCode
	}
	for _, problem := range f.Problems {
		a.note("%s\n", problem)
	}
	a.lines("cs9gen", f.Message) // several errors that were joined
	a.lines("detail", f.Detail)
	a.lines("hint", f.Hint)
	return f.ExitCode
}

// lines says in each line what it belongs to: a text of others cannot pass for
// another part of the report.
func (a *app) lines(name, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		a.note(name+": %s\n", strings.TrimRight(line, "\r\n"))
	}
}
