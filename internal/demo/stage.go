package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/migrations"
)

const (
	schemaName = "anon_demo"
	tableName  = schemaName + ".counts"
	taskName   = "cs9gen demo"
)

// closeWait bounds the clean-up, which a cancelled context does not stop.
const closeWait = 30 * time.Second

// stage is the database that the demo works in: its table, and the three who
// use it.
type stage struct {
	server *pgserver.Server // nil in a database that was given
	hadCS9 bool             // the cs9 schema was there before the demo
	made   bool             // the demo's schema is there, and is the demo's own

	pool   *pgxpool.Pool // tells the runner how to connect
	reader *pgx.Conn     // looks, on a connection of its own
	gate   *pgx.Conn     // holds a publish up: see gateSQL
}

// gateSQL makes the second row of a publish wait while somebody holds the table
// gate, so that the publish can be killed there and nowhere else.
const gateSQL = `
CREATE TABLE anon_demo.gate ();
CREATE FUNCTION anon_demo.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $wait_at_gate$
BEGIN
    PERFORM FROM anon_demo.gate;
    RETURN NEW;
END;
$wait_at_gate$;
CREATE TRIGGER wait_at_gate BEFORE INSERT ON anon_demo.counts
    FOR EACH ROW WHEN (NEW.week = 2 AND NEW.n > 0) EXECUTE FUNCTION anon_demo.wait_at_gate();`

func openStage(ctx context.Context, database *pgxpool.Config) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if database == nil {
		if s.server, err = pgserver.Start(ctx, nil); err != nil {
			return nil, err
		}
		if database, err = pgxpool.ParseConfig(s.server.URL("postgres")); err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, database); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	for _, conn := range []**pgx.Conn{&s.reader, &s.gate} {
		if *conn, err = pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig); err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// make makes the demo's schema, and in it the table with all that a run needs.
func (s *stage) make(ctx context.Context) error {
	if err := s.lookForCS9(ctx); err != nil {
		return err
	}
	// not cut off by a cancel, which would leave open whether it is there
	_, err := s.gate.Exec(context.WithoutCancel(ctx), "CREATE SCHEMA "+schemaName)
	if pgErr := new(pgconn.PgError); errors.As(err, &pgErr) && pgErr.Code == "42P06" {
		return fmt.Errorf("the database has a schema %s already: use another database, or drop the schema if a demo left it", schemaName)
	}
	if err != nil {
		return fmt.Errorf("create schema: %w", err)
	}
	s.made = true
	if err := s.migrate(ctx, up); err != nil {
		return err
	}
	if _, err := s.gate.Exec(ctx, gateSQL); err != nil {
		return fmt.Errorf("create gate: %w", err)
	}
	return nil
}

// lookForCS9 says whether the database has a cs9 schema that the demo can use,
// and refuses to mix with a task of the demo's name.
func (s *stage) lookForCS9(ctx context.Context) error {
	err := s.gate.QueryRow(ctx, "SELECT to_regclass('cs9.schema_version') IS NOT NULL").Scan(&s.hadCS9)
	if err != nil || !s.hadCS9 {
		return err
	}
	var version int
	var taken bool
	err = s.gate.QueryRow(ctx, "SELECT version, EXISTS (SELECT FROM cs9.task WHERE task = $1) FROM cs9.schema_version", taskName).Scan(&version, &taken)
	switch {
	case err != nil:
		return fmt.Errorf("read the version of the cs9 schema: %w", err)
	case version != migrations.SchemaVersion:
		return fmt.Errorf("the cs9 schema has version %d and this program needs %d: use another database", version, migrations.SchemaVersion)
	case taken:
		return fmt.Errorf("the database has runs of a task %q already: use another database", taskName)
	}
	return nil
}

// close removes everything the demo made.
func (s *stage) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	var errs []error
	for _, conn := range []*pgx.Conn{s.reader, s.gate} {
		if conn != nil {
			errs = append(errs, conn.Close(ctx))
		}
	}
	if s.made && s.server == nil {
		errs = append(errs, s.remove(ctx))
	}
	if s.pool != nil {
		s.pool.Close()
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	return errors.Join(errs...)
}

// remove takes the demo out of a database that stays. It has a connection of
// its own: a cancel closes those that were busy.
func (s *stage) remove(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("clean up: connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is lost with it
	err = discardRuns(ctx, conn)
	if err == nil {
		err = s.migrate(ctx, down)
	}
	if err == nil && s.hadCS9 {
		err = forgetRuns(ctx, conn)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "DROP SCHEMA "+schemaName+" CASCADE")
	}
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	return nil
}

// discardRuns discards the run that a demo which failed left unfinished.
func discardRuns(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('cs9.run_status') IS NOT NULL").Scan(&there); err != nil || !there {
		return err
	}
	_, err := conn.Exec(ctx, `SELECT cs9.discard_run(task, run_key, true) FROM cs9.run_status
		WHERE task = $1 AND state IN ('running', 'ready', 'publishing')`, taskName)
	return err
}

// forgetRuns deletes the demo's runs from a cs9 schema that stays. Nothing but
// the demo's own task is touched: it was not there before.
func forgetRuns(ctx context.Context, conn *pgx.Conn) error {
	runs := "(SELECT r.run_id FROM cs9.run AS r JOIN cs9.task AS t USING (task_id) WHERE t.task = $1)"
	for _, statement := range []string{
		"DELETE FROM cs9.publish_step WHERE run_id IN " + runs,
		"DELETE FROM cs9.plan WHERE run_id IN " + runs,
		"DELETE FROM cs9.run WHERE run_id IN " + runs,
		"DELETE FROM cs9.task WHERE task = $1",
	} {
		if _, err := conn.Exec(ctx, statement, taskName); err != nil {
			return err
		}
	}
	return nil
}
