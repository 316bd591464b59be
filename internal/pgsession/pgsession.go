// Package pgsession gives a session of cs9gen's own the settings that it counts
// on, whatever the database, the role or the connection string say. How to
// connect, and what runs then, is decided elsewhere.
package pgsession

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Setting is a setting of a session, as set_config takes it.
type Setting struct{ Name, Value string }

// counted are the settings that each session counts on. A setting that the
// server's version does not know is left out. Limits on locks are not among
// them: the routines of the cs9 schema bound each wait that readers queue behind.
var counted = []Setting{
	// the driver sends and reads UTF-8
	{"client_encoding", "UTF8"},
	{"standard_conforming_strings", "on"},
	{"array_nulls", "on"},
	{"transform_null_equals", "off"},
	// each statement sees what the other sessions of the run have committed
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"default_transaction_deferrable", "off"},
	// a proof or a publish takes as long as its rows do, and a worker waits for
	// its source: whoever wants a limit gives a context
	{"statement_timeout", "0"},
	{"transaction_timeout", "0"},
	{"idle_in_transaction_session_timeout", "0"},
	{"idle_session_timeout", "0"},
}

// tolerated are settings that not every platform takes, a group a statement.
var tolerated = [][]Setting{
	// the server notices within a second that a client has gone while its statement runs
	{{"client_connection_check_interval", "1s"}},
	keepAlive,
}

// Prepare sets them, and more that the caller needs. It must reach the session
// that later statements reach: not one that a proxy lends for a transaction.
func Prepare(ctx context.Context, conn *pgconn.PgConn, more ...Setting) error {
	for _, s := range tolerated {
		if err := set(ctx, conn, s); err != nil && conn.IsClosed() {
			return err
		}
	}
	return set(ctx, conn, append(counted[:len(counted):len(counted)], more...))
}

// set is one statement, and needs no answer from the extended protocol, which
// may not work before client_encoding is set.
func set(ctx context.Context, conn *pgconn.PgConn, settings []Setting) error {
	calls := make([]string, len(settings))
	for i, s := range settings {
		name, value := quote(s.Name), quote(s.Value)
		calls[i] = fmt.Sprintf("CASE WHEN pg_catalog.current_setting(%s, true) IS NOT NULL OR pg_catalog.strpos(%[1]s, '.') > 0 THEN pg_catalog.set_config(%[1]s, %s, false) END", name, value)
	}
	_, err := conn.Exec(ctx, "SELECT "+strings.Join(calls, ", ")).ReadAll()
	if err != nil {
		return fmt.Errorf("set up the session: %w", err)
	}
	return nil
}

// quote takes names and values of the program itself.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Discard takes back all that a session was given, for a proxy that hands it on
// to another client.
func Discard(ctx context.Context, conn *pgconn.PgConn) error {
	_, err := conn.Exec(ctx, "DISCARD ALL").ReadAll()
	if err != nil {
		return fmt.Errorf("give the session back: %w", err)
	}
	return nil
}
