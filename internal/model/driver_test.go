package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	controllers = 2 // sessions 0 and 1 begin, finish and publish runs
	workers     = 2 // sessions 2 and 3 run plans
)

// database is the real thing: the sessions that a sequence works with. They
// outlive a sequence, because a new session has to compile every routine again.
type database struct {
	url      string
	observer *pgx.Conn
	sessions [controllers + workers]*pgx.Conn
	ids      map[string]int
	notices  int // of publishes, since the last look
}

func (db *database) dial() (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(db.url)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["statement_timeout"] = "10s"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.HasPrefix(n.Detail, "{") {
			db.notices++
		}
	}
	return pgx.ConnectConfig(context.Background(), config)
}

func openDatabase(url string) (*database, error) {
	db := &database{url: url, ids: map[string]int{}}
	var err error
	if db.observer, err = db.dial(); err != nil {
		return nil, err
	}
	for _, t := range tables {
		var id int
		if err := db.observer.QueryRow(context.Background(), "SELECT cs9.find_table($1)", t.name).Scan(&id); err != nil {
			return nil, err
		}
		db.ids[t.name] = id
	}
	_, err = db.observer.Exec(context.Background(), stopSQL)
	return db, err
}

func (db *database) close() {
	for _, conn := range append(db.sessions[:], db.observer) {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}
}

// reset takes every trace of the last sequence away, also of one that failed.
func (db *database) reset() error {
	for _, conn := range db.sessions {
		if conn == nil {
			continue
		}
		if _, err := conn.Exec(context.Background(), "SELECT pg_advisory_unlock_all(); RESET ALL"); err != nil {
			return err
		}
	}
	_, err := db.observer.Exec(context.Background(), `
		DO $reset$
		DECLARE
			v_staged text;
		BEGIN
			FOR v_staged IN SELECT c.oid::regclass FROM pg_class AS c WHERE c.relnamespace = 'cs9_staging'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition LOOP
				EXECUTE 'DROP TABLE ' || v_staged;
			END LOOP;
		END
		$reset$;
		DELETE FROM cs9.publish_step;
		DELETE FROM cs9.staged_delete;
		DELETE FROM cs9.plan;
		DELETE FROM cs9.run_table;
		DELETE FROM cs9.run;
		DELETE FROM cs9.task;
		DELETE FROM m.pairs;
		DELETE FROM m.parts;
		DELETE FROM m.plain;
		DELETE FROM m.whole`)
	return err
}

// session is the connection of a session, made anew after a kill.
func (db *database) session(n int) (*pgx.Conn, error) {
	if db.sessions[n] == nil {
		conn, err := db.dial()
		if err != nil {
			return nil, err
		}
		db.sessions[n] = conn
	}
	return db.sessions[n], nil
}

// kill ends a session as a crash of its client would.
func (db *database) kill(n int) error {
	conn := db.sessions[n]
	if conn == nil {
		return nil
	}
	db.sessions[n] = nil
	var gone bool
	err := db.observer.QueryRow(context.Background(), "SELECT pg_terminate_backend($1, 10000)", int(conn.PgConn().PID())).Scan(&gone)
	_ = conn.Close(context.Background())
	if err == nil && !gone {
		err = errors.New("the backend did not end")
	}
	return err
}

// query runs a statement in a session and scans its row, where it has columns.
// It returns the SQLSTATE of a refusal; err is any other failure.
func (db *database) query(n int, sql string, into ...any) (state string, err error) {
	conn, err := db.session(n)
	if err != nil {
		return "", err
	}
	if len(into) == 0 {
		_, err = conn.Exec(context.Background(), sql)
	} else {
		err = conn.QueryRow(context.Background(), sql).Scan(into...)
	}
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Code, nil
	}
	return "", err
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func orNull(s string) string {
	if s == "" {
		return "NULL"
	}
	return literal(s)
}

// planList is a plan list as begin_run takes it.
func planList(list []int) string {
	var args []string
	for i, x := range list {
		args = append(args, fmt.Sprintf(`{"plan": %d, "x": %d}`, i+1, x))
	}
	return literal("["+strings.Join(args, ",")+"]") + "::jsonb"
}

func tableList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = literal(name)
	}
	return "ARRAY[" + strings.Join(quoted, ",") + "]"
}

// values is a row as VALUES takes it.
func (t table) values(r row) []string {
	var out []string
	for _, c := range t.columns {
		switch {
		case c == "k":
			out = append(out, fmt.Sprint(r.K))
		case c == "p":
			out = append(out, literal(r.P))
		case c == "u" && r.U == 0:
			out = append(out, "NULL")
		case c == "u":
			out = append(out, fmt.Sprint(r.U))
		default:
			out = append(out, fmt.Sprint(r.V))
		}
	}
	return out
}

// stagedName is the name of the run's own table.
func (db *database) stagedName(r *run, name string) string {
	return fmt.Sprintf("cs9_staging.cs9_r%d_t%d_rows_%s", r.id, db.ids[name], strings.TrimPrefix(name, "m."))
}

// insert is the INSERT of rows into the run's own table; half of the upserts
// say so by the setting of the session, half by the column.
func (db *database) insert(r *run, name, op string, bySetting bool, rows []row) string {
	t := tableOf(name)
	columns := strings.Join(t.columns, ", ")
	var values []string
	for _, v := range rows {
		value := t.values(v)
		if !bySetting {
			value = append(value, literal(op))
		}
		values = append(values, "("+strings.Join(value, ", ")+")")
	}
	into := fmt.Sprintf("INSERT INTO %s (%s", db.stagedName(r, name), columns)
	if bySetting {
		return fmt.Sprintf("SET cs9.op = %s; %s) VALUES %s; RESET cs9.op", literal(op), into, strings.Join(values, ", "))
	}
	return fmt.Sprintf("%s, cs9_op) VALUES %s", into, strings.Join(values, ", "))
}

// lookSQL reads all that a reader and the views show, one line of text a fact.
const lookSQL = `
SELECT format('live m.pairs %s %s %s', k, coalesce(u, 0), v) FROM m.pairs
UNION ALL SELECT format('live m.parts %s%s 0 %s', k, p, v) FROM m.parts
UNION ALL SELECT format('live m.plain %s 0 %s', k, v) FROM m.plain
UNION ALL SELECT format('live m.whole %s %s %s', k, coalesce(u, 0), v) FROM m.whole
UNION ALL SELECT concat_ws(' ', 'run', run_id, run_key, state, 'attempt', attempt, 'plans', plans_done, 'of', plans, 'staged', rows_staged,
                           'published', rows_published, 'of', rows_to_publish, today, owner_alive, is_current) FROM cs9.run_status
UNION ALL SELECT concat_ws(' ', 'plan', run_id, plan, state, 'attempt', coalesce(attempt, 0), 'rows', coalesce(rows_staged, -1), skipped) FROM cs9.plan_status
UNION ALL SELECT concat_ws(' ', 'step', run_id, kind, coalesce(relation, '-'), state, rows_done, 'of', coalesce(rows_total, -1)) FROM cs9.publish_progress
UNION ALL SELECT concat_ws(' ', 'delete', run_id, table_id, plan, kind, coalesce(condition, '-')) FROM cs9.staged_delete
UNION ALL SELECT concat_ws(' ', 'publishes', run_id, table_id, publish_mode, 'from', coalesce(staged_name, '-'), 'retired', cardinality(retired_names)) FROM cs9.run_table
UNION ALL SELECT CASE
        WHEN relname ~ '_old[0-9]+$' THEN format('old partition of %s', substring(relname FROM 'r[0-9]+_t[0-9]+'))
        WHEN relispartition THEN format('part of %s %s', (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = c.oid), pg_get_expr(relpartbound, c.oid))
        ELSE format('table cs9_staging.%s', relname)
    END FROM pg_class AS c WHERE relnamespace = 'cs9_staging'::regnamespace AND relkind IN ('r', 'p')
      -- what a proof makes for a swap, and a run has on record: the model has no idea of it. What is left behind is seen.
      AND NOT EXISTS (SELECT FROM cs9.run_table AS t
                      WHERE t.split_name = c.relname
                         OR t.split_name = (SELECT p.relname FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhparent WHERE i.inhrelid = c.oid))
UNION ALL SELECT format('session %s owns %s', cs9.task_owner(task_id), task) FROM cs9.task WHERE cs9.task_owner(task_id) IS NOT NULL`

// look returns what is there, sorted.
func (db *database) look(w *world) ([]string, error) {
	// prepared once: to plan it costs more than to run it
	rows, err := db.observer.Query(context.Background(), lookSQL, pgx.QueryExecModeCacheStatement)
	if err != nil {
		return nil, err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	if r := w.open(); r != nil && len(r.staged) > 0 {
		var staged []string
		for name := range r.staged {
			staged = append(staged, db.lookStaged(r, name))
		}
		rows, err := db.observer.Query(context.Background(), strings.Join(staged, " UNION ALL "))
		if err != nil {
			return nil, err
		}
		more, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	slices.Sort(lines)
	return lines, nil
}

func (db *database) lookStaged(r *run, name string) string {
	cast := map[string]string{"m.pairs": "k, coalesce(u, 0), v", "m.parts": "k || p, 0, v", "m.plain": "k, 0, v", "m.whole": "k, coalesce(u, 0), v"}[name]
	return fmt.Sprintf("SELECT concat_ws(' ', 'staged', cs9_run, %s, cs9_plan, cs9_op, %s) FROM %s",
		literal(name), cast, db.stagedName(r, name))
}

// expect returns what the model says is there, sorted.
func (db *database) expect(w *world) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, t := range tables {
		for _, r := range sortedRows(w.live[t.name]) {
			say("live %s %s %d %d", t.name, r.key(), r.U, r.V)
		}
	}
	for _, r := range w.runs {
		db.expectRun(w, r, say)
	}
	if w.holder >= 0 {
		say("session %d owns t", db.sessions[w.holder].PgConn().PID())
	}
	slices.Sort(lines)
	return lines
}

func (db *database) expectRun(w *world, r *run, say func(string, ...any)) {
	done, staged, published, total := 0, 0, 0, 0
	for i, p := range r.plans {
		skipped := "f"
		if p.state == "done" {
			done++
			staged += p.rows
			if p.attempt < r.attempt {
				skipped = "t"
			}
		}
		say("plan %d %d %s attempt %d rows %d %s", r.id, i+1, p.state, p.attempt, p.rows, skipped)
	}
	for _, s := range r.steps {
		if s.kind == "move" || s.kind == "apply" {
			published += s.done
			total += s.total
		}
		state, relation := "pending", s.relation
		if s.finished {
			state = "done"
		}
		if relation == "" {
			relation = "-"
		}
		say("step %d %s %s %s %d of %d", r.id, s.kind, relation, state, s.done, s.total)
	}
	yes := map[bool]string{true: "t", false: "f"}
	say("run %d %s %s attempt %d plans %d of %d staged %d published %d of %d %s %s %s", r.id, r.key, r.state, r.attempt, done, len(r.plans),
		staged, published, total, r.today, yes[r.unfinished() && w.holder >= 0], yes[r.current])
	for _, d := range r.deletes {
		text := "-"
		if d.kind != "all" {
			text = d.cond.printed()
		}
		say("delete %d %d %d %s %s", r.id, db.ids[d.table], d.plan, d.kind, text)
	}
	for _, name := range r.tables {
		from := "-"
		if _, made := r.staged[name]; made {
			from = strings.TrimPrefix(db.stagedName(r, name), "cs9_staging.")
		}
		retired := r.old[name]
		for _, l := range r.left {
			if l.table != name {
				continue
			}
			retired++
			say("table %s", db.stagedName(r, name))
			for _, leaf := range l.parts {
				say("part of %s FOR VALUES IN ('%s')", db.stagedName(r, name), leaf[len(leaf)-1:])
			}
		}
		say("publishes %d %d %s from %s retired %d", r.id, db.ids[name], r.modes[name], from, retired)
		for range r.old[name] {
			say("old partition of r%d_t%d", r.id, db.ids[name])
		}
		for _, leaf := range r.parts[name] {
			say("part of %s FOR VALUES IN ('%s')", db.stagedName(r, name), leaf[len(leaf)-1:])
		}
	}
	for name, rows := range r.staged {
		say("table %s", db.stagedName(r, name))
		for _, s := range rows {
			say("staged %d %s %d %s %s %d %d", r.id, name, s.plan, s.op, s.key(), s.U, s.V)
		}
	}
}
