package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// lab is a server with a database to clone: the cs9 schema, and the tables with
// the rows that each run begins with.
type lab struct {
	server   *pgserver.Server
	template string
	shape    string // of the live tables, as they were made

	mu   sync.Mutex
	idle []string // databases that are as new
	made int
}

// The tables of testdata/tables.yaml, and those of them that have partitions.
var (
	liveTables  = []string{"one", "other", "wide", "exact", "kept", "whole", "parts", "split"}
	partitioned = []string{"parts", "split"}
)

// each is SQL for each live table; @table and @region stand for what differs.
func each(sql string) string {
	var all strings.Builder
	for _, table := range liveTables {
		region := "'old'"
		if slices.Contains(partitioned, table) {
			region = "CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END"
		}
		all.WriteString(strings.NewReplacer("@table", table, "@region", region).Replace(sql))
	}
	return all.String()
}

var seed = each("INSERT INTO crash.@table SELECT i, @region, i FROM generate_series(1, 20) AS i;")

// newLab makes the template on a server. With stops a publish can be stopped
// inside its statements.
func newLab(t *testing.T, server *pgserver.Server, stops bool) *lab {
	t.Helper()
	l := &lab{server: server, template: "crash"}
	if stops {
		l.template = "crash_inside"
	}
	ctx := t.Context()
	must(t, l.exec(ctx, "postgres", "CREATE DATABASE "+l.template))
	defs, err := sqlgen.Load("testdata/tables.yaml")
	must(t, err)
	files, err := sqlgen.Generate(defs)
	must(t, err)
	dir := t.TempDir()
	planned, err := sqlgen.Plan(dir, files)
	must(t, err)
	_, err = sqlgen.Write(dir, planned)
	must(t, err)
	cfg, err := pgx.ParseConfig(server.URL(l.template))
	must(t, err)
	migrator, err := migrate.Open(cfg, dir)
	must(t, err)
	_, err = migrator.Up(ctx)
	must(t, errors.Join(err, migrator.Close()))
	must(t, l.exec(ctx, l.template, slowBatches+stopSQL+seed))
	conn, err := pgx.Connect(ctx, server.URL(l.template))
	must(t, err)
	if stops {
		must(t, addStops(ctx, conn))
	}
	l.shape, err = shape(ctx, conn)
	must(t, errors.Join(err, conn.Close(ctx)))
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exec runs SQL in a database, on a connection of its own.
func (l *lab) exec(ctx context.Context, database, sql string) error {
	conn, err := pgx.Connect(ctx, l.server.URL(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// inClone calls f with the name of a database that is as the template was made.
// One in which all went well is used again; another one is kept as it is.
func (l *lab) inClone(ctx context.Context, f func(database string) error) error {
	name, err := l.take(ctx)
	if err != nil {
		return err
	}
	if err := f(name); err != nil {
		return fmt.Errorf("in the database %s: %w", name, err)
	}
	if err := l.exec(ctx, name, reset); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, name)
	return nil
}

func (l *lab) take(ctx context.Context) (name string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.idle) - 1; last >= 0 {
		name, l.idle = l.idle[last], l.idle[:last]
		return name, nil
	}
	l.made++
	name = fmt.Sprintf("%s_%d", l.template, l.made)
	return name, l.exec(ctx, "postgres", "CREATE DATABASE "+name+" TEMPLATE "+l.template)
}

// reset makes a database as new, faster than a clone is made. It finds nothing
// staged: that was looked for.
var reset = `DELETE FROM cs9.publish_step; DELETE FROM cs9.plan; DELETE FROM cs9.run_table; DELETE FROM cs9.run; DELETE FROM cs9.task;
	DELETE FROM crash.stop; ALTER SEQUENCE crash.at RESTART;` + each("DELETE FROM crash.@table;") + seed

// wanted is what the tables hold when plain SQL has done the work of the keys,
// one after the other.
func (l *lab) wanted(ctx context.Context, s *scenario) (w wanted, err error) {
	err = l.inClone(ctx, func(database string) (err error) {
		conn, err := pgx.Connect(ctx, l.server.URL(database))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close(ctx)) }()
		expect := func(live *string, keys ...string) error {
			sql := "BEGIN;"
			for _, key := range keys {
				sql += s.plainSQL(key) + ";"
			}
			_, err := conn.Exec(ctx, sql)
			if err == nil {
				*live, err = liveRows(ctx, conn)
			}
			_, undo := conn.Exec(ctx, "ROLLBACK")
			return errors.Join(err, undo)
		}
		return errors.Join(expect(&w.first, "first"), expect(&w.second, "second"), expect(&w.both, "first", "second"))
	})
	return w, err
}

var rowsSQL = `SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (` +
	strings.TrimSuffix(each("SELECT '@table ' || t::text FROM crash.@table AS t UNION ALL "), "UNION ALL ") + `) AS r (line)`

func liveRows(ctx context.Context, conn *pgx.Conn) (text string, err error) {
	err = conn.QueryRow(ctx, rowsSQL).Scan(&text)
	return text, err
}

// shapeSQL is what the catalogue says of the live tables and their partitions:
// whatever readers and views hold on to, by its oid; the rest by name.
const shapeSQL = `
	WITH parent AS (SELECT c.oid FROM pg_class AS c WHERE relnamespace = 'crash'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition),
	r AS (SELECT t.relid, t.isleaf, t.level FROM parent, pg_partition_tree(parent.oid) AS t
		UNION SELECT oid, true, 0 FROM parent)
	SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
		SELECT concat_ws(' ', 'table', relid::regclass, relkind, CASE level WHEN 0 THEN relid END, relpersistence, relowner::regrole,
			pg_get_partkeydef(relid), pg_get_expr(relpartbound, relid), reloptions) FROM r JOIN pg_class AS c ON c.oid = relid
		UNION ALL
		SELECT concat_ws(' ', 'column', relid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attislocal, attinhcount,
			count(*) OVER (PARTITION BY relid ORDER BY attnum)) FROM r JOIN pg_attribute ON attrelid = relid WHERE attnum > 0 AND NOT attisdropped
		UNION ALL
		SELECT concat_ws(' ', 'index', CASE level WHEN 0 THEN indexrelid END, pg_get_indexdef(indexrelid), indisprimary, indisvalid, inhparent::regclass)
			FROM r JOIN pg_index ON indrelid = relid LEFT JOIN pg_inherits ON inhrelid = indexrelid
		UNION ALL
		SELECT concat_ws(' ', 'constraint', CASE level WHEN 0 THEN k.oid END, relid::regclass, conname, pg_get_constraintdef(k.oid), conislocal, coninhcount, convalidated)
			FROM r JOIN pg_constraint AS k ON conrelid = relid
		UNION ALL
		SELECT concat_ws(' ', 'trigger', tgrelid::regclass, tgname) FROM r JOIN pg_trigger ON tgrelid = relid
	) AS f (line)`

func shape(ctx context.Context, conn *pgx.Conn) (text string, err error) {
	err = conn.QueryRow(ctx, shapeSQL).Scan(&text)
	return text, err
}

// runState is the state of a run, "none" when it had not begun; and how far its
// publish has come.
func runState(ctx context.Context, conn *pgx.Conn, key string) (state, commit string, err error) {
	err = conn.QueryRow(ctx, `SELECT coalesce(min(r.state), 'none'),
		format(', %s steps and %s batches', count(*) FILTER (WHERE s.state = 'done'), coalesce(sum(s.batches), 0))
		FROM cs9.run AS r LEFT JOIN cs9.publish_step AS s USING (run_id) WHERE r.run_key = $1 AND r.is_current`, key).Scan(&state, &commit)
	return state, commit, err
}

// leftovers are what must not be there when a run has ended, each with its number.
const leftovers = `
	SELECT what, n FROM (VALUES
		('runs that are neither published nor discarded', (SELECT count(*) FROM cs9.run WHERE state NOT IN ('published', 'discarded'))),
		('current runs that are not published', (SELECT count(*) FROM cs9.run WHERE is_current AND state <> 'published')),
		('plans of published runs that are not done',
			(SELECT count(*) FROM cs9.plan JOIN cs9.run USING (run_id) WHERE run.state = 'published' AND plan.state <> 'done')),
		('steps that are not done', (SELECT count(*) FROM cs9.publish_step WHERE state <> 'done' AND kind <> 'analyze')),
		('steps of runs that never published',
			(SELECT count(*) FROM cs9.publish_step JOIN cs9.run USING (run_id) WHERE run.state <> 'published')),
		('steps that published another number of rows than was to be published',
			(SELECT count(*) FROM cs9.publish_step WHERE kind IN ('move', 'apply') AND rows_done IS DISTINCT FROM rows_total)),
		('tables to which another number of rows was moved than was staged',
			(SELECT count(*) FROM (
				SELECT 1 FROM cs9.publish_step AS s JOIN cs9.run_table AS t USING (run_id, table_id)
				WHERE s.kind = 'move' GROUP BY s.run_id, s.table_id, t.rows_inserted, t.rows_upserted
				HAVING sum(s.rows_done) <> t.rows_inserted + t.rows_upserted) AS m)),
		('relations in cs9_staging', (SELECT count(*) FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace)),
		('staged tables on record', (SELECT count(*) FROM cs9.run_table WHERE staged_name IS NOT NULL OR retired_names <> '{}')),
		('staged deletes', (SELECT count(*) FROM cs9.staged_delete)),
		('advisory locks', (SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
			WHERE locktype = 'advisory' AND datname = current_database())),
		('sessions', (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cs9gen %')),
		('prepared transactions', (SELECT count(*) FROM pg_prepared_xacts))
	) AS c (what, n) WHERE n <> 0`

// clean waits until the server has noticed that the sessions have gone, and
// says what is left then.
func clean(ctx context.Context, conn *pgx.Conn) error {
	giveUp := time.Now().Add(10 * time.Second)
	for {
		list, err := conn.Query(ctx, leftovers)
		if err != nil {
			return err
		}
		left, err := pgx.CollectRows(list, func(row pgx.CollectableRow) (string, error) {
			var what string
			var n int
			err := row.Scan(&what, &n)
			return fmt.Sprintf("%d %s", n, what), err
		})
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return nil
		case time.Now().After(giveUp):
			return fmt.Errorf("left over: %q", left)
		}
		time.Sleep(2 * time.Millisecond) // until the next look
	}
}

// through returns the URL with another host and port.
func through(address, databaseURL string) (string, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", err
	}
	u.Host = address
	return u.String(), nil
}

// runTask runs the scenario with a key, over the wire that the URL names.
func runTask(ctx context.Context, databaseURL string, s *scenario, key string) (*runner.Result, error) {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	r, err := runner.New(pool, &runner.Config{
		Logger:     slog.New(slog.NewTextHandler(io.Discard, nil)),
		BatchRows:  batchRows,
		AliveGrace: 20 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return s.task(key).Run(ctx, r, runner.RunKey(key), runner.Movers(max(1, s.movers)))
}
