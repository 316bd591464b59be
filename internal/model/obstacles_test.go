package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// stopSQL makes a session sleep in the middle of a batch: at the row, or the
// TRUNCATE ("all"), that its setting model.stop names. There it is killed; what
// is tried before the publish begins passes.
var stopSQL = func() string {
	sql := `CREATE FUNCTION m.stop() RETURNS trigger LANGUAGE plpgsql AS $$
		DECLARE
			c text;
		BEGIN
			GET DIAGNOSTICS c = PG_CONTEXT;
			IF c NOT LIKE '%cs9.try_step%' THEN
				PERFORM pg_sleep(600);
			END IF;
			RETURN coalesce(NEW, OLD);
		END $$;`
	// autovacuum takes locks, too
	for _, name := range []string{"task", "run", "run_table", "plan", "staged_delete", "publish_step"} {
		sql += fmt.Sprintf("ALTER TABLE cs9.%s SET (autovacuum_enabled = false);", name)
	}
	for _, t := range tables {
		sql += fmt.Sprintf(`
			CREATE TRIGGER stop_insert BEFORE INSERT ON %[1]s FOR EACH ROW
			WHEN (NEW.v::text = current_setting('model.stop', true)) EXECUTE FUNCTION m.stop();
			CREATE TRIGGER stop_delete BEFORE DELETE ON %[1]s FOR EACH ROW
			WHEN (OLD.v::text = current_setting('model.stop', true)) EXECUTE FUNCTION m.stop();
			CREATE TRIGGER stop_update BEFORE UPDATE ON %[1]s FOR EACH ROW
			WHEN (NEW.v::text = current_setting('model.stop', true)) EXECUTE FUNCTION m.stop();`, t.name)
		for _, leaf := range t.leaves {
			sql += fmt.Sprintf(`ALTER TABLE %[1]s SET (autovacuum_enabled = false);`, leaf)
		}
		if !t.partitioned { // a partition with a trigger of its own is not swapped
			sql += fmt.Sprintf(`
				CREATE TRIGGER stop_truncate BEFORE TRUNCATE ON %[1]s
				WHEN (current_setting('model.stop', true) = 'all') EXECUTE FUNCTION m.stop();`, t.name)
		}
	}
	return sql
}()

// lock is what a rival holds during one call: on a live table, or on what the
// run staged for it.
type lock struct {
	table   string
	staged  bool
	mode    string
	retries int
}

// blocks says whether a step, other than apply, has to wait for it.
func (l *lock) blocks(s *step) bool {
	switch {
	case l == nil || s.kind == "apply" || s.kind == "analyze":
		return false
	case l.staged: // only the DROP TABLE would have to wait for a reader, and does not
		return false
	case l.mode == "ACCESS SHARE":
		return s.table == l.table && s.kind == "truncate"
	default:
		return s.table == l.table
	}
}

func (l *lock) blocksReaders(name string) bool {
	return l != nil && !l.staged && l.table == name && l.mode == "ACCESS EXCLUSIVE"
}

// hidesPartitions says whether the partitions that a step deletes from cannot be seen.
func (l *lock) hidesPartitions(s *step) bool {
	return l.blocksReaders(s.table) && tableOf(s.table).partitioned && (s.kind == "truncate" || s.kind == "delete")
}

// hindered predicts what becomes of a piece that meets what is in its way.
func (w *world) hindered(c int, r *run, s *step, batch int) (state string, is bool) {
	switch {
	case s.kind == "move" && r.rewritten[s.table]:
		return "S9018", true
	case !w.lock.blocks(s) && (s.kind != "apply" || !w.blocksApply(r)):
	case w.lock.retries > 0:
		w.lock.retries--
		return "", true
	default:
		return "S9017", true
	}
	if w.stop != "" && w.stops(r, s, batch) {
		w.stats["killed in "+s.kind]++
		w.release(c)
		return "57P01", true
	}
	return "", false
}

// stops says whether the piece has the row, or is the TRUNCATE, that the session dies at.
func (w *world) stops(r *run, s *step, batch int) bool {
	switch s.kind {
	case "truncate":
		return w.stop == "all" && !tableOf(s.table).partitioned
	case "apply":
		return w.checkPublish(r, r.apart()) == "" && slices.Contains(w.stopsApply(r), w.stop)
	case "delete":
		for _, l := range w.live[s.table] {
			if l.inLeaf(s.relation) && s.remove.removes(l) && fmt.Sprint(l.V) == w.stop {
				return true
			}
		}
	case "move":
		return slices.ContainsFunc(s.rows[:min(batch, len(s.rows))], func(m stagedRow) bool { return fmt.Sprint(m.V) == w.stop })
	}
	return false
}

// doomed says whether the publish cannot come to its end as things are.
func (w *world) doomed(r *run) bool {
	return slices.ContainsFunc(r.steps, func(s *step) bool {
		return !s.finished && (s.kind == "move" && r.rewritten[s.table] || s.kind == "apply" && w.checkPublish(r, r.apart()) != "")
	})
}

// hinder puts something in the way of the next call: a lock, or (of a CALL) the
// end of its session in the middle of a batch. It is called before each publish.
func (s *sequence) hinder(c int, r *run, percent int, kills bool) {
	if r == nil || r.state != "ready" && r.state != "publishing" {
		return
	}
	if r.state == "ready" {
		s.lies(r)
	}
	if s.ends || !s.chance("hinder", percent) {
		return
	}
	var set string
	if at := s.stops(r); kills && len(at) > 0 && !s.chance("lock", 70) {
		s.w.stop = rapid.SampledFrom(at).Draw(s.T, "stop")
		s.log("... and is killed at %s", s.w.stop)
		set = "SET model.stop = " + literal(s.w.stop)
	} else if r.state == "ready" {
		return // a lock that stands against a try of a row stops it before it begins, which tests of procs hold
	} else {
		set = s.holdLock(r)
	}
	state, err := s.db.query(c, set)
	s.must(err)
	if state != "" {
		s.differ("SQLSTATE of "+set, "", state)
	}
}

// stops are where the publish could be stopped, the last first.
func (s *sequence) stops(r *run) (at []string) {
	steps := r.steps
	if r.state == "ready" {
		would := *r
		would.recordSteps()
		steps = would.steps
	}
	for _, st := range steps {
		for _, l := range sortedRows(s.w.live[st.table]) {
			if st.kind == "delete" && l.inLeaf(st.relation) && st.remove.removes(l) {
				at = append(at, fmt.Sprint(l.V))
			}
		}
		for _, m := range st.rows {
			at = append(at, fmt.Sprint(m.V))
		}
		if st.kind == "truncate" && !st.finished && !tableOf(st.table).partitioned {
			at = append(at, "all")
		}
		if st.kind == "apply" && !st.finished {
			at = append(at, s.w.stopsApply(r)...)
		}
	}
	slices.Reverse(at)
	return at
}

func (s *sequence) holdLock(r *run) (set string) {
	l := &lock{table: rapid.SampledFrom(r.tables).Draw(s.T, "locked"), retries: s.draw("retries", 2)}
	l.mode = rapid.SampledFrom([]string{"ACCESS SHARE", "SHARE", "ACCESS EXCLUSIVE"}).Draw(s.T, "mode")
	on := l.table
	// before its publish a table that is to be swapped is got ready, or is ready already
	unknown := r.state == "ready" && swaps(r.modes[l.table])
	if _, made := r.staged[l.table]; made && !unknown && s.chance("staged", 15) {
		l.staged, l.mode, on = true, "ACCESS SHARE", s.db.stagedName(r, l.table)
	}
	s.w.lock = l
	s.log("... while %s is locked in mode %s, retries %d", on, l.mode, l.retries)
	_, err := s.db.observer.Exec(context.Background(), fmt.Sprintf("BEGIN; LOCK TABLE %s IN %s MODE", on, l.mode))
	s.must(err)
	return fmt.Sprintf("SET cs9.lock_timeout = '20ms'; SET cs9.lock_backoff = '1ms'; SET cs9.lock_retries = %d", l.retries)
}

// clear takes away what hinder did.
func (s *sequence) clear(c int) {
	if s.w.lock == nil && s.w.stop == "" {
		return
	}
	s.must(s.db.unlock())
	s.w.lock, s.w.stop = nil, ""
	if s.db.sessions[c] != nil {
		_, err := s.db.query(c, "RESET ALL")
		s.must(err)
	}
}

// unlock ends the transaction of holdLock, if there is one.
func (db *database) unlock() error {
	if db.observer.PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := db.observer.Exec(context.Background(), "ROLLBACK")
	return err
}

// call runs a CALL, and (kills) ends its session where it sleeps, if it does.
func (db *database) call(n int, sql string, kills bool) (state string, err error) {
	if !kills {
		return db.query(n, sql)
	}
	conn, err := db.session(n)
	if err != nil {
		return "", err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		state, err = db.query(n, sql)
	}()
	const kill = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
	for {
		select {
		case <-done:
			return state, err
		default:
		}
		var gone bool
		killErr := db.observer.QueryRow(context.Background(), kill, int(conn.PgConn().PID())).Scan(&gone)
		if errors.Is(killErr, pgx.ErrNoRows) {
			continue
		}
		<-done
		db.sessions[n] = nil
		return state, errors.Join(err, killErr, conn.Close(context.Background()))
	}
}

// rewrite moves the rows of a staged table under their publish.
func (s *sequence) rewrite() {
	r := s.w.open()
	if r == nil || len(r.staged) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(r.staged))).Draw(s.T, "rewritten")
	s.log("VACUUM FULL %s", s.db.stagedName(r, name))
	r.rewritten[name] = r.state == "publishing" || r.rewritten[name]
	_, err := s.db.observer.Exec(context.Background(), "VACUUM FULL "+s.db.stagedName(r, name))
	s.must(err)
	s.same("", "")
}

// collide publishes a run whose row somebody else has inserted meanwhile, and
// again when that row has gone.
func (s *sequence) collide(c int, r *run) {
	var names []string
	for _, name := range r.tables {
		if len(r.staged[name]) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	t := tableOf(rapid.SampledFrom(names).Draw(s.T, "table"))
	staged := r.staged[t.name]
	live := staged[s.draw("row", len(staged))].row
	s.next++
	live.V = s.next
	s.insertRow(t, live)
	s.publish(c, r)
	if r.state == "ready" && !s.chance("it stays", 20) {
		s.stats["collisions refused"]++
		s.deleteLive(deletion{table: t.name, kind: "where", cond: condition{column: "v", op: "=", value: live.V}})
		s.publish(c, r)
	}
}

// collideApart is the same after the publish has begun, for a table that is not
// batched: its one transaction finds the row. False: there is no such table.
func (s *sequence) collideApart(c int, r *run) bool {
	applied := slices.ContainsFunc(r.steps, func(st *step) bool { return st.kind == "apply" && st.finished })
	names := slices.DeleteFunc(r.apart(), func(name string) bool { return applied || len(r.staged[name]) == 0 })
	if len(names) == 0 {
		return false
	}
	t := tableOf(rapid.SampledFrom(names).Draw(s.T, "table"))
	live := r.staged[t.name][s.draw("row", len(r.staged[t.name]))].row
	s.next++
	live.V = s.next
	s.insertRow(t, live)
	s.callPublish(c, r.key, "")
	if r.state == "publishing" && s.chance("it goes", 80) {
		s.deleteLive(deletion{table: t.name, kind: "where", cond: condition{column: "v", op: "=", value: live.V}})
	}
	return true
}

func (s *sequence) publish(c int, r *run) {
	if s.chance("CALL", 40) {
		s.callPublish(c, r.key, "")
	} else {
		s.beginPublish(c, r.key, "")
	}
}

// lies puts the rows of each staged table in the order in which they lie.
func (s *sequence) lies(r *run) {
	for name, staged := range r.staged {
		rows, err := s.db.observer.Query(context.Background(), "SELECT v FROM "+s.db.stagedName(r, name)+" ORDER BY ctid")
		s.must(err)
		order, err := pgx.CollectRows(rows, pgx.RowTo[int])
		s.must(err)
		slices.SortFunc(staged, func(a, b stagedRow) int { return slices.Index(order, a.V) - slices.Index(order, b.V) })
	}
}
