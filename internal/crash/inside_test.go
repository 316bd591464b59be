package crash_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/crash"
)

// A proxy sees what goes over the wire. What an atomic or swap publish does is
// one statement there; its parts are counted by a sequence, one before each
// statement of the procedures that publish.

// stopSQL makes crash.point, which waits where crash.stop names its number.
const stopSQL = `
	CREATE SEQUENCE crash.at;
	CREATE TABLE crash.stop (n bigint);
	CREATE FUNCTION crash.point() RETURNS void LANGUAGE plpgsql AS $point$
	DECLARE
		v_at bigint := nextval('crash.at');
	BEGIN
		WHILE EXISTS (SELECT FROM crash.stop WHERE n = v_at) LOOP
			PERFORM pg_advisory_xact_lock(0, 13), pg_sleep(0.002);
		END LOOP;
	END
	$point$;`

// stopped is the session that waits in crash.point.
const stopped = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = 13
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// stopsIn are the routines that publish, by name.
const stopsIn = `SELECT pg_get_functiondef(oid) FROM pg_proc
	WHERE pronamespace IN ('cs9'::regnamespace, 'crash'::regnamespace) AND provolatile = 'v' AND prokind = 'f' AND (
		proname IN ('run_step', 'move_batch', 'run_delete_step', 'apply_run', 'lock_apply_tables', 'apply_atomic', 'apply_swaps', 'prepare_swap',
			'copy_partition_settings', 'copy_partition_checks', 'build_partition_indexes', 'finish_partition', 'switch_partition', 'drop_staged')
		OR proname LIKE '%_apply_changes')
	ORDER BY proname`

// statement is the beginning of one, in a routine that is generated from procs.
var statement = regexp.MustCompile(`(?m)^( +)(PERFORM |EXECUTE |UPDATE cs9\.|DELETE FROM cs9\.|RETURN v_\w+;)`)

// addStops calls crash.point before each statement of the routines that publish.
func addStops(ctx context.Context, conn *pgx.Conn) error {
	list, err := conn.Query(ctx, stopsIn)
	if err != nil {
		return err
	}
	routines, err := pgx.CollectRows(list, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if len(routines) < 14 {
		return fmt.Errorf("only %d routines publish", len(routines))
	}
	for _, routine := range routines {
		if !statement.MatchString(routine) {
			return fmt.Errorf("no statement is seen in %s", routine)
		}
		routine = statement.ReplaceAllString(routine, "${1}PERFORM crash.point();\n${1}${2}")
		if _, err := conn.Exec(ctx, routine); err != nil {
			return fmt.Errorf("%w in %s", err, routine)
		}
	}
	return nil
}

// countInside runs the scenario without a kill, and says how many statements its
// publish has.
func (l *lab) countInside(ctx context.Context, s *scenario, want wanted) (n int, err error) {
	err = l.inClone(ctx, func(database string) error {
		_, err := runTask(ctx, l.server.URL(database), s, "first")
		if err != nil {
			return err
		}
		conn, err := pgx.Connect(ctx, l.server.URL(database))
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		if err := conn.QueryRow(ctx, "SELECT last_value FROM crash.at").Scan(&n); err != nil {
			return err
		}
		return l.judge(ctx, conn, shot{scenario: s, then: thenSame}, "published", want)
	})
	return n, err
}

// runInside runs the task, and kills it where its publish is before a statement.
func (l *lab) runInside(ctx context.Context, s shot, database string, h *hit) error {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	r := &doomed{lab: l, shot: s, started: make(chan struct{}), died: make(chan struct{})}
	var err error
	if r.admin, err = pgx.Connect(ctx, l.server.URL(database)); err != nil {
		return err
	}
	defer r.admin.Close(context.WithoutCancel(ctx))
	if _, err := r.admin.Exec(ctx, "INSERT INTO crash.stop VALUES ($1)", s.point); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		if s.kind == killProcess {
			ended <- r.process(ctx, l.server.URL(database), "first")
			return
		}
		_, err := runTask(ctx, l.server.URL(database), s.scenario, "first")
		ended <- err
	}()
	for {
		var pid uint32
		err := r.admin.QueryRow(ctx, stopped).Scan(&pid)
		if err == nil {
			h.kills = append(h.kills, crash.Point{Number: s.point, PID: pid, OwnerPID: pid, What: "inside of a statement"})
			return errors.Join(r.killInside(ctx, h.kills[0], ended), l.clearStop(ctx, database))
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		select {
		case err := <-ended:
			return err // nothing was killed: it must have gone well
		case <-time.After(2 * time.Millisecond): // until the next look
		}
	}
}

// killInside kills, and waits until the run has ended: with an error, unless it
// was one of several movers.
func (r *doomed) killInside(ctx context.Context, p crash.Point, ended <-chan error) error {
	if err := r.killNow(ctx, nil, p); err != nil {
		return err
	}
	if err := <-ended; err == nil && r.shot.scenario.movers < 2 {
		return errors.New("the run that was killed ended well")
	}
	if r.shot.kind == killServer {
		return r.lab.server.Restart(ctx)
	}
	return nil
}

// clearStop lets a publish go on whose client was killed.
func (l *lab) clearStop(ctx context.Context, database string) error {
	return l.exec(ctx, database, "DELETE FROM crash.stop")
}

// insidePoint is a point that was counted inside, as a shot's text has it.
const insidePoint = "inside "

func parsePoint(text string) (point int, inside bool, err error) {
	number, inside := strings.CutPrefix(text, insidePoint)
	point, err = strconv.Atoi(number)
	return point, inside, err
}
