package model

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

func (s *sequence) key() string {
	if r := s.w.open(); r != nil && s.chance("the open run", 60) {
		return r.key
	}
	return rapid.SampledFrom([]string{"k1", "k2", "k3"}).Draw(s.T, "key")
}

// request is what a scheduler would ask for, and at times what it should not.
func (s *sequence) request() request {
	q := request{key: rapid.SampledFrom([]string{"k1", "k2", "k3"}).Draw(s.T, "key"), list: s.base, tables: s.names}
	if s.chance("another plan list", 7) {
		q.list = slices.Clone(s.base)
		q.list[len(q.list)-1]++
		if s.chance("a longer one", 50) {
			q.list = append(slices.Clone(s.base), 0)
		}
	}
	if s.chance("other tables", 4) {
		q.tables = []string{rapid.SampledFrom(tables).Draw(s.T, "table").name}
	}
	q.today = fmt.Sprintf("2024-01-%02d", 1+s.draw("today", 28))
	q.allowEmpty = s.chance("allow empty", 30)
	q.again = s.chance("again", 50)
	q.mode = s.mode(40)
	return q
}

func (s *sequence) oneTable() string {
	if s.chance("one table", 20) {
		return rapid.SampledFrom(tables).Draw(s.T, "table").name
	}
	return ""
}

func (s *sequence) batch() int { return 1 + s.draw("batch", 3) }

func (s *sequence) killController(c int) {
	s.log("kill controller %d", c)
	s.must(s.db.kill(c))
	s.w.release(c)
	s.same("", "")
}

func (s *sequence) beginRun(c int, q request) {
	s.log("controller %d: begin_run %+v", c, q)
	want, outcome, r := s.w.beginRun(c, q)
	var got, today, publishKey string
	var id int64
	var attempt int
	state, err := s.db.query(c, fmt.Sprintf(
		"SELECT outcome, coalesce(run_id, 0), coalesce(attempt, 0), coalesce(today::text, ''), coalesce(publish_key, '') FROM cs9.begin_run('t', %s, %s, %s, %s, %t, %t, '', %s)",
		literal(q.key), tableList(q.tables), planList(q.list), literal(q.today), q.allowEmpty, q.again, orNull(q.mode)),
		&got, &id, &attempt, &today, &publishKey)
	s.must(err)
	if outcome == "new" && state == "" {
		for _, other := range s.w.runs {
			if other.id >= id {
				s.differ("run_id", "a greater one", id)
			}
		}
		r.id = id
	}
	if got != outcome {
		s.differ("outcome", outcome, got)
	}
	switch outcome {
	case "":
	case "publish_older":
		if publishKey != r.key {
			s.differ("publish_key", r.key, publishKey)
		}
	default:
		if id != r.id || attempt != r.attempt || today != r.today {
			s.differ("run", fmt.Sprint(r.id, r.attempt, r.today), fmt.Sprint(id, attempt, today))
		}
		s.known[c].run, s.known[c].attempt = r, attempt
	}
	if outcome != "" {
		s.stats[outcome]++
	}
	s.same(want, state)
}

func (s *sequence) beginPlan(n int, r *run, number, attempt int) bool {
	s.log("worker %d: begin_plan run %d plan %d attempt %d", n, r.id, number, attempt)
	want, runs := r.beginPlan(n, number, attempt)
	var got bool
	state, err := s.db.query(controllers+n, fmt.Sprintf("SELECT cs9.begin_plan(%d, %d, %d)", r.id, number, attempt), &got)
	s.must(err)
	if runs != got {
		s.differ("begin_plan", runs, got)
	}
	if runs {
		s.set[n] = settings{r, number, attempt, r.plans[number-1].taking}
		s.stats["plans run"]++
	} else if want == "" {
		s.stats["plans skipped"]++
	}
	s.same(want, state)
	return runs
}

func (s *sequence) endPlan(n int, failed bool) {
	if x := s.set[n]; x.run != nil {
		s.end1(n, x.run, x.plan, x.attempt, failed)
	}
}

func (s *sequence) end1(n int, r *run, number, attempt int, failed bool) {
	state, call := "done", "finish_plan(%d, %d, %d)"
	if failed {
		state, call = "failed", "fail_plan(%d, %d, %d, 'it failed')"
	}
	call = fmt.Sprintf(call, r.id, number, attempt)
	s.log("worker %d: %s", n, call)
	want := s.w.endPlan(s.set[n], r, number, attempt, state)
	got, err := s.db.query(controllers+n, "SELECT cs9."+call)
	s.must(err)
	if want == "" {
		s.set[n] = settings{}
	}
	s.same(want, got)
}

// nextPlan finishes a plan of a worker and begins another one.
func (s *sequence) nextPlan(n, next int) bool {
	x := s.set[n]
	s.log("worker %d: next_plan run %d plan %d attempt %d next %d", n, x.run.id, x.plan, x.attempt, next)
	want, runs := s.w.nextPlan(n, x, next)
	var got bool
	state, err := s.db.query(controllers+n, fmt.Sprintf("SELECT cs9.next_plan(%d, %d, %d, NULL, %d)", x.run.id, x.plan, x.attempt, next), &got)
	s.must(err)
	if runs != got {
		s.differ("next_plan", runs, got)
	}
	if want == "" {
		s.set[n] = settings{}
		s.stats["next plans"]++
	}
	if runs {
		s.set[n] = settings{x.run, next, x.attempt, x.run.plans[next-1].taking}
	}
	s.same(want, state)
	return runs
}

// write is one write of a worker: of a live plan, or of what was one.
func (s *sequence) write(n int) {
	x := s.set[n]
	name := rapid.SampledFrom(s.names).Draw(s.T, "table")
	if s.chance("any table", 3) {
		name = rapid.SampledFrom(tables).Draw(s.T, "table").name
	}
	deletes := 12
	if x.plan == 1 {
		deletes = 50
	}
	if s.chance("delete", deletes) {
		s.stageDelete(n, s.deletion(name))
		return
	}
	if x.run == nil {
		return
	}
	op := rapid.SampledFrom([]string{"i", "u"}).Draw(s.T, "op")
	rows := make([]row, 1+s.draw("rows", 4))
	for i := range rows {
		rows[i] = s.row(name, x, rows[:i])
	}
	bySetting := s.chance("by setting", 50)
	s.log("worker %d: run %d plan %d attempt %d writes %s %s %v", n, x.run.id, x.plan, x.attempt, name, op, rows)
	if _, made := x.run.staged[name]; !made {
		want := x.use(name)
		var label string
		got, err := s.db.query(controllers+n, fmt.Sprintf("SELECT cs9.staging_table(%d, %s)", x.run.id, literal(name)), &label)
		s.must(err)
		s.same(want, got)
		if want != "" {
			return
		}
		if label != s.db.stagedName(x.run, name) {
			s.differ("staging_table", s.db.stagedName(x.run, name), label)
		}
	}
	want := x.write(name, op, rows)
	got, err := s.db.query(controllers+n, s.db.insert(x.run, name, op, bySetting, rows))
	s.must(err)
	s.same(want, got)
}

// row is a row with a key that is free in the run, most of the time.
func (s *sequence) row(name string, x settings, others []row) row {
	s.next++
	r := row{V: s.next}
	used := map[string]bool{}
	for _, o := range others {
		used[o.key()] = true
	}
	for _, o := range x.run.staged[name] {
		used[o.key()] = used[o.key()] || o.plan != 0
	}
	r.K = s.draw("k", 10)
	if name == "m.parts" {
		r.P = rapid.SampledFrom([]string{"a", "b"}).Draw(s.T, "p")
		if s.chance("no partition", 1) {
			r.P = "z"
		}
	}
	for used[r.key()] && !s.chance("twice", 4) {
		r.K++
	}
	if slices.Contains(tableOf(name).columns, "u") && s.chance("u", 50) {
		r.U = s.next + 100
		if s.chance("a common u", 15) {
			r.U = 1 + s.draw("u", 4)
		}
	}
	return r
}

func (s *sequence) deletion(name string) deletion {
	d := deletion{table: name, kind: rapid.SampledFrom([]string{"all", "where", "keep"}).Draw(s.T, "kind")}
	if d.kind == "all" {
		return d
	}
	d.cond = condition{
		column: rapid.SampledFrom(append([]string{"k"}, tableOf(name).columns...)).Draw(s.T, "column"),
		op:     rapid.SampledFrom([]string{"=", "<", "even"}).Draw(s.T, "op"),
		value:  s.draw("value", 8),
	}
	if d.cond.column == "p" {
		d.cond.text = rapid.SampledFrom([]string{"a", "b"}).Draw(s.T, "p")
	}
	return d
}

func (d deletion) call() (name, args string) {
	switch d.kind {
	case "all":
		return "drop_all_rows", literal(d.table)
	case "where":
		return "drop_rows_where", literal(d.table) + ", " + literal(d.sql())
	default:
		return "keep_rows_where", literal(d.table) + ", " + literal(d.sql())
	}
}

func (s *sequence) stageDelete(n int, d deletion) {
	routine, args := d.call()
	s.log("worker %d: plan %d attempt %d: %s(%s)", n, s.set[n].plan, s.set[n].attempt, routine, args)
	want := s.set[n].drop(d)
	got, err := s.db.query(controllers+n, fmt.Sprintf("SELECT cs9.%s(%s)", routine, args))
	s.must(err)
	s.same(want, got)
}

func (s *sequence) finishRun(c int) {
	k := s.known[c]
	s.log("controller %d: finish_run run %d attempt %d", c, k.run.id, k.attempt)
	want := s.w.finish(c, k.run, k.attempt)
	got, err := s.db.query(c, fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", k.run.id, k.attempt))
	s.must(err)
	if want == "" {
		s.stats["ready"]++
	}
	s.same(want, got)
}

func (s *sequence) beginPublish(c int, key, name string) {
	s.log("controller %d: begin_publish %s %s", c, key, name)
	if r := s.w.find(key); s.w.holder < 0 && r != nil {
		// what a CALL does by its transactions, a session does by its claim
		s.w.claim(c)
		state, err := s.db.query(c, fmt.Sprintf("SELECT cs9.claim_run('t', %s)", literal(key)))
		s.must(err)
		s.same("", state)
	}
	s.hinder(c, s.w.find(key), 20, false)
	want, r := s.w.beginPublish(c, key, name)
	var id int64
	got, err := s.db.query(c, fmt.Sprintf("SELECT cs9.begin_publish('t', %s, %s, %d)", literal(key), orNull(name), s.batch()), &id)
	s.must(err)
	if r != nil && got == "" && id != r.id {
		s.differ("begin_publish", r.id, id)
	}
	if r != nil {
		s.known[c].publishes, s.known[c].table = r, name
	}
	s.clear(c)
	s.same(want, got)
}

func (s *sequence) publishNext(c int) {
	k, batch := s.known[c], s.batch()
	if k.publishes == nil {
		return
	}
	s.log("controller %d: publish_next run %d %s by %d", c, k.publishes.id, k.table, batch)
	s.hinder(c, k.publishes, 20, false)
	want, more := s.w.publishNext(c, k.publishes, k.table, batch)
	var got bool
	state, err := s.db.query(c, fmt.Sprintf("SELECT more FROM cs9.publish_next(%d, %s, %d, 0)", k.publishes.id, orNull(k.table), batch), &got)
	s.must(err)
	if state == "" && more != got {
		s.differ("publish_next: more", more, got)
	}
	if k.publishes.state == "published" {
		s.stats["published by steps"]++
	}
	s.clear(c)
	s.same(want, state)
}

func (s *sequence) callPublish(c int, key, name string) {
	batch := s.batch()
	s.log("controller %d: CALL publish %s %s by %d", c, key, name, batch)
	s.hinder(c, s.w.find(key), 80, true)
	want, notices := s.w.publish(c, key, name, batch)
	call := fmt.Sprintf("CALL cs9.publish('t', %s, %d)", literal(key), batch)
	if name != "" {
		call = fmt.Sprintf("CALL %s_publish('t', %s, %d)", name, literal(key), batch)
	}
	s.db.notices = 0
	got, err := s.db.call(c, call, s.w.stop != "")
	s.must(err)
	if want == "" {
		s.stats["published by CALL"]++
	}
	s.clear(c)
	s.same(want, got)
	if s.db.notices != notices {
		s.differ("notices", notices, s.db.notices)
	}
}

func (s *sequence) discard(c int, key string, force bool) {
	s.log("controller %d: discard_run %s %t", c, key, force)
	want := s.w.discard(c, key, force)
	got, err := s.db.query(c, fmt.Sprintf("SELECT cs9.discard_run('t', %s, %t)", literal(key), force))
	s.must(err)
	s.same(want, got)
}

func (s *sequence) endAttempt(c int) {
	k := s.known[c]
	if k.run == nil {
		return
	}
	s.log("controller %d: end_attempt run %d attempt %d", c, k.run.id, k.attempt)
	s.w.release(c)
	got, err := s.db.query(c, fmt.Sprintf("SELECT cs9.end_attempt(%d, %d, 'gave up')", k.run.id, k.attempt))
	s.must(err)
	s.same("", got)
}

// changeLive is somebody else's write, without a run key; what it does to a
// batched table in the middle of its publish is not promised.
func (s *sequence) changeLive() {
	free := tables
	if r := s.w.open(); r != nil && r.state == "publishing" {
		free = slices.DeleteFunc(slices.Clone(tables), func(t table) bool { return r.modes[t.name] == "batched" })
	}
	if len(free) == 0 {
		return
	}
	t := rapid.SampledFrom(free).Draw(s.T, "table")
	if s.chance("insert", 60) {
		s.insertLive(t)
		return
	}
	s.deleteLive(s.deletion(t.name))
}

func (s *sequence) deleteLive(d deletion) {
	s.log("delete_rows %+v", d)
	s.w.deleteLive(d)
	got, err := s.db.query(0, fmt.Sprintf("SELECT cs9.delete_rows(%s, %s, %s)", literal(d.table), literal(d.kind), orNull(d.sql())))
	s.must(err)
	s.same("", got)
}

func (s *sequence) insertLive(t table) {
	r := s.row(t.name, settings{run: &run{}}, nil)
	if r.P == "z" {
		r.P = "a"
	}
	s.insertRow(t, r)
}

func (s *sequence) insertRow(t table, r row) {
	s.log("insert into %s %v", t.name, r)
	want := s.w.insertLive(t.name, r)
	got, err := s.db.query(0, fmt.Sprintf("INSERT INTO %s VALUES (%s)", t.name, strings.Join(t.values(r), ", ")))
	s.must(err)
	s.same(want, got)
}
