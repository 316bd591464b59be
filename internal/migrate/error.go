package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Error is a migration that failed. Where the database refused a statement,
// errors.As finds the *[pgconn.PgError] with its DETAIL and HINT.
type Error struct {
	Op   string // apply, take back, status
	File string // the migration; the folder when it was none of them
	Line int    // of the statement that failed; 0 when it is not known
	Hint string

	err error
}

// Error says which file, which line, and why, in one line.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, e.Line)
	}
	reason := e.err.Error()
	var pgErr *pgconn.PgError
	if errors.As(e.err, &pgErr) {
		reason = pgErr.Message
	}
	what := map[string]string{"apply": "cannot be applied", "take back": "cannot be taken back"}[e.Op]
	if what == "" {
		what = "its state cannot be read"
	}
	return fmt.Sprintf("%s: %s: %s", place, what, strings.Join(strings.Fields(reason), " "))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// failedStatement keeps the last statement that the database refused, to find
// it again in its file: goose does not tell which one it was.
type failedStatement struct {
	sql      string
	position int // of the error in it, in characters from 1; 0 when not known
}

type statementKey struct{}

// TraceQueryStart keeps the statement for TraceQueryEnd.
func (f *failedStatement) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, statementKey{}, data.SQL)
}

// TraceQueryEnd keeps the statement if it failed.
func (f *failedStatement) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	var pgErr *pgconn.PgError
	if !errors.As(data.Err, &pgErr) {
		return
	}
	f.sql, _ = ctx.Value(statementKey{}).(string)
	f.position = int(pgErr.Position)
}

// line returns the line of file on which the statement fails, or 0.
func (f *failedStatement) line(file string) int {
	text, err := os.ReadFile(file)
	if err != nil || f.sql == "" {
		return 0
	}
	before, _, found := strings.Cut(string(text), strings.TrimSpace(f.sql))
	if !found {
		return 0
	}
	line := 1 + strings.Count(before, "\n")
	if trimmed := []rune(strings.TrimLeft(f.sql, " \t\r\n")); f.position > 0 {
		skipped := len([]rune(f.sql)) - len(trimmed)
		end := min(max(f.position-1-skipped, 0), len(trimmed))
		line += strings.Count(string(trimmed[:end]), "\n")
	}
	return line
}
