package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// verdict is what a case came to.
type verdict string

const (
	both      verdict = "both published"
	neither   verdict = "both refused"
	refused   verdict = "cs9gen refused"         // plain SQL did it
	notTaken  verdict = "the table is not taken" // by inspect or by its migration
	noCase    verdict = "no case"                // PostgreSQL refused the world, or the settings of a session
	different verdict = "a finding"
)

// result is a verdict, why, and the script that shows it.
type result struct {
	verdict verdict
	reason  string // of a refusal
	finding string
	kind    string // of the finding, without names and numbers
	script  string
}

func finding(kind, format string, args ...any) *result {
	return &result{verdict: different, kind: kind, finding: kind + ": " + fmt.Sprintf(format, args...)}
}

// try makes the world of a case in the lab's database, and compares.
func (c *testCase) try(l *lab) *result {
	r, err := c.compare(l)
	var world *noWorld
	var taken *refusedTable
	switch {
	case errors.As(err, &world):
		r = &result{verdict: noCase, reason: sqlState(err)}
	case errors.As(err, &taken):
		r = &result{verdict: notTaken, reason: taken.where + ": " + normal(taken.text)}
	case err != nil:
		r = finding("error "+sqlState(err)+" "+normal(err.Error()), "%v", err)
	}
	r.script = l.script.String()
	return r
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func (c *testCase) compare(l *lab) (*result, error) {
	if err := c.world.make(l); err != nil {
		return nil, err
	}
	tables, err := l.tables()
	if err != nil {
		return nil, err
	}
	before, err := c.world.contents(l.reader(), tables)
	if err != nil {
		return nil, err
	}
	l.script.note("plain SQL, taken back")
	plain, err := c.plain(l, tables)
	if err != nil {
		return nil, err
	}
	l.script.note("cs9gen")
	if err := c.world.adopt(l); err != nil {
		return nil, err
	}
	if l.spoil != nil {
		if err := l.spoil(l); err != nil {
			return nil, err
		}
	}
	hanging, err := l.hanging()
	if err != nil {
		return nil, err
	}
	stopped := make([]stop, len(c.runs))
	for i, r := range c.runs {
		if stopped[i].where, stopped[i].err = c.stageRun(l, r); i == 0 && stopped[i].err != nil {
			break
		}
	}
	var out *result
	for i, r := range c.runs {
		if stopped[i].err == nil {
			stopped[i].where, stopped[i].err = c.publishReady(l, r)
		}
		after, err := c.world.contents(l.reader(), tables)
		if err != nil {
			return nil, err
		}
		if stopped[i].err != nil && plain[i].first != nil {
			plain[i].err = plain[i].first
		}
		if out = c.judge(before, plain[i].rows, after, plain[i].err, stopped[i].err, stopped[i].where); out.verdict != both {
			break // what comes behind begins with other rows
		}
		before = after
	}
	if out.verdict == both && !slices.ContainsFunc(c.events, func(e event) bool { return len(e.between) > 0 }) {
		now, err := l.hanging()
		if err != nil {
			return nil, err
		}
		if d := differences(hanging, now); d != "" {
			return finding("the publish changed what hangs on a table", "%s", d), nil
		}
	}
	return out, nil
}

// stop is where and why cs9gen stopped.
type stop struct {
	where string
	err   error
}

// step is what plain SQL came to with a run: the rows, or why it failed.
type step struct {
	rows  map[string][]string
	err   error
	first error // why it failed under the settings of the session that stages, where those of the other one did it
}

// judge compares what both came to.
func (c *testCase) judge(before, plain, after map[string][]string, oracleErr, cs9Err error, where string) *result {
	state := sqlState(cs9Err)
	changed := rowsDiffer(before, after)
	switch {
	case cs9Err == nil && oracleErr == nil:
		if d := rowsDiffer(plain, after); d != "" {
			return finding("the rows are not those of plain SQL", "%s", d)
		}
		return &result{verdict: both}
	case errors.Is(cs9Err, errStuck):
		return finding("stuck in "+where, "%v", cs9Err)
	case cs9Err == nil && strings.Contains(oracleErr.Error(), "ON CONFLICT does not support deferrable"):
		return &result{verdict: noCase, reason: "plain SQL has no upsert by this key"}
	case cs9Err == nil && strings.Contains(oracleErr.Error(), "could not identify a comparison function"):
		return &result{verdict: noCase, reason: "an index over values that nothing compares takes what is alone in it"}
	case cs9Err == nil && sqlState(oracleErr) == "23503" && strings.Contains(oracleErr.Error(), "update or delete on table") && c.leavesRowsAlone():
		return &result{verdict: noCase, reason: "plain SQL deletes a referenced row that atomic leaves alone"}
	case cs9Err == nil:
		return finding("published what plain SQL refuses "+sqlState(oracleErr), "%v", oracleErr)
	case byTrigger(cs9Err) && byTrigger(oracleErr):
		return &result{verdict: neither, reason: "a trigger raises"}
	case state == skipped && oracleErr == nil && c.refusalOf(cs9Err, where) != nil:
		return &result{verdict: refused, reason: c.refusalOf(cs9Err, where).name}
	case changed != "":
		return finding("stopped with rows changed "+state+" in "+where, "%v\n%s", cs9Err, changed)
	case !strings.HasPrefix(state, "S9") && where != "staging":
		return finding("an error of PostgreSQL "+state+" in "+where+" "+normal(cs9Err.Error()), "%v", cs9Err)
	case oracleErr != nil:
		return &result{verdict: neither, reason: state + " " + where}
	}
	if r := c.refusalOf(cs9Err, where); r != nil {
		return &result{verdict: refused, reason: r.name}
	}
	return finding("a refusal that is not listed "+state+" "+normal(cs9Err.Error()), "in %s: %v", where, cs9Err)
}

// leavesRowsAlone says whether an atomic table is referenced: a row that is deleted and staged again stays there, which
// plain SQL does in two statements, between which the foreign key is broken.
func (c *testCase) leavesRowsAlone() bool {
	return slices.ContainsFunc(c.world.tables, func(t *table) bool { return t.mode == "atomic" && len(t.children) > 0 })
}

// plain does the run by plain SQL in a transaction, reads the tables, and takes it back. Tables are
// written in the order of the world; where that fails, in the opposite one. What the settings of the
// session that stages do not allow is tried with those of the one that publishes.
func (c *testCase) plain(l *lab, tables []string) ([]step, error) {
	// whether keys and triggers are in force is the publisher's choice
	replica := func(s setting) bool { return s.name == "session_replication_role" }
	mixed := append(slices.DeleteFunc(slices.Clone(c.stage), replica), slices.DeleteFunc(slices.Clone(c.publish), func(s setting) bool { return !replica(s) })...)
	var steps []step
	for i, settings := range [][]setting{mixed, c.publish} {
		s, err := l.open("plain SQL", settings)
		if err != nil {
			return nil, &noWorld{err}
		}
		again, err := c.plainBy(s, tables)
		if err := errors.Join(err, s.close()); err != nil {
			return nil, err
		}
		if i == 0 {
			steps = again
		} else if again[0].err == nil {
			again[0].first, steps = steps[0].err, again
		}
		if again[0].err == nil || !strings.HasPrefix(sqlState(again[0].err), "42") {
			break
		}
	}
	return steps, nil
}

// plainBy does all runs in a transaction of a session, and takes it back.
func (c *testCase) plainBy(s *session, tables []string) ([]step, error) {
	if _, err := s.do("BEGIN"); err != nil {
		return nil, err
	}
	var steps []step
	for i, r := range c.runs {
		backwards := slices.Clone(r.tables)
		slices.Reverse(backwards)
		var now step
		for _, order := range [][]*table{r.tables, backwards} {
			if _, err := s.do("SAVEPOINT before"); err != nil {
				return nil, err
			}
			if now.err = c.plainIn(s, r, order, i == 0); now.err == nil || len(order) < 2 {
				break
			}
			if _, err := s.do("ROLLBACK TO before"); err != nil {
				return nil, err
			}
		}
		if now.err != nil {
			if _, err := s.do("ROLLBACK TO before"); err != nil {
				return nil, err
			}
		} else {
			var err error
			if now.rows, err = c.world.contents(s, tables); err != nil {
				return nil, err
			}
			if err := s.again(); err != nil {
				return nil, err
			}
		}
		steps = append(steps, now)
	}
	_, err := s.do("ROLLBACK")
	return steps, err
}

// again sets the settings of a session again.
func (s *session) again() error {
	if _, err := s.raw("RESET ALL"); err != nil {
		return err
	}
	for _, x := range s.settings {
		if _, err := s.raw(x.set()); err != nil {
			return err
		}
	}
	return nil
}

func (c *testCase) plainIn(s *session, r *run, order []*table, first bool) error {
	for _, e := range c.events {
		if !e.counts || !first {
			continue
		}
		for _, sql := range e.between { // what PostgreSQL refuses does not happen
			if _, err := s.do("SAVEPOINT event"); err != nil {
				return err
			}
			if _, err := s.do("%s", sql); err == nil {
				continue
			}
			if _, err := s.do("ROLLBACK TO event"); err != nil {
				return err
			}
		}
	}
	statements, writes := r.plainSQL(order)
	for _, w := range writes {
		statements = append(statements, w...)
	}
	for _, sql := range append(statements, "SET CONSTRAINTS ALL IMMEDIATE") {
		if _, err := s.do("%s", sql); err != nil {
			return err
		}
	}
	_, err := s.raw("SET CONSTRAINTS ALL DEFERRED")
	return err
}

// byTrigger says whether an error comes from the function of a trigger: nobody can prove what that will say.
func byTrigger(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.Contains(pg.Where, triggerFunction)
}

// rowsDiffer returns the first differences of two databases.
func rowsDiffer(want, got map[string][]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if d := differences(want[name], got[name]); d != "" {
			out = append(out, name+":\n"+d)
		}
	}
	return strings.Join(out, "\n")
}

// differences of two sorted lists.
func differences(want, got []string) string {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		count[line]--
	}
	var out []string
	for _, line := range slices.Sorted(maps.Keys(count)) {
		switch n := count[line]; {
		case n > 0:
			out = append(out, fmt.Sprintf("  lacks %d× %s", n, cut(line)))
		case n < 0:
			out = append(out, fmt.Sprintf("  has   %d× %s", -n, cut(line)))
		}
	}
	return strings.Join(out, "\n")
}

func cut(line string) string {
	if len(line) > 300 {
		return line[:300] + "…"
	}
	return line
}

// stageRun drives a run by the SQL interface until it is ready, and says where it failed.
func (c *testCase) stageRun(l *lab, r *run) (where string, err error) {
	owner, err := l.open("stages", c.stage)
	if err != nil {
		return "", &noWorld{err}
	}
	defer func() { owner.close() }() //nolint:errcheck // nothing is lost with it
	attempt := 1
	if r.failed != nil {
		attempt = 2
		if err := c.attempt(l, owner, r, 1); err != nil {
			return "staging", err
		}
		if r.failed.kill {
			l.script.note("the session ends")
			if err := owner.close(); err != nil {
				return "", err
			}
			if err := l.waitForEnd(owner); err != nil {
				return "", err
			}
			if owner, err = l.open("stages again", c.stage); err != nil {
				return "", err
			}
		}
	}
	if err := c.attempt(l, owner, r, attempt); err != nil {
		return "staging", err
	}
	if _, err := owner.do("SELECT cs9.finish_run(%d, %d)", r.id, attempt); err != nil {
		return "finish_run", err
	}
	if c.oldSnapshot(r) {
		if _, err := owner.do("COMMIT"); err != nil {
			return "finish_run", err
		}
	}
	if err := owner.close(); err != nil {
		return "", err
	}
	return "", l.waitForEnd(owner)
}

// oldSnapshot says whether the owner of a run is in a transaction that began before the rows came.
func (c *testCase) oldSnapshot(r *run) bool {
	return r.id == 1 && slices.ContainsFunc(c.events, func(e event) bool { return e.readTransaction })
}

// waitForEnd waits until the server has ended a session: until then it owns its task.
func (l *lab) waitForEnd(s *session) error {
	for {
		var alive bool
		err := l.watch.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", s.conn.PgConn().PID()).Scan(&alive)
		if err != nil || !alive {
			return err
		}
	}
}

// attempt begins an attempt and runs its plans; the first one as far as it is to fail.
func (c *testCase) attempt(l *lab, owner *session, r *run, attempt int) error {
	var names []string
	for _, t := range r.tables {
		names = append(names, sqlgen.QuoteLiteral(t.live()))
	}
	plans := strings.TrimSuffix(strings.Repeat(`{}, `, len(r.plans)), ", ")
	if _, err := owner.do("SELECT outcome FROM cs9.begin_run('%s', 'k', ARRAY[%s], '[%s]', p_allow_empty => %t)", r.task(), strings.Join(names, ", "), plans, r.allowEmpty); err != nil {
		return err
	}
	if attempt == 1 {
		for _, t := range r.tables {
			if t.mode != "batched" && !t.defined {
				if _, err := owner.do("SELECT cs9.set_publish_mode('%s', 'k', '%s', %s)", r.task(), t.mode, sqlgen.QuoteLiteral(t.live())); err != nil {
					return err
				}
			}
		}
	}
	for i := range r.plans {
		fails := r.failed != nil && attempt == 1 && r.failed.plan == i
		if err := c.plan(l, owner, r, attempt, i, fails); err != nil || fails {
			return err
		}
	}
	return nil
}

// plan runs one plan.
func (c *testCase) plan(l *lab, owner *session, r *run, attempt, i int, fails bool) error {
	p := r.plans[i]
	begun, err := owner.do("SELECT cs9.begin_plan(%d, %d, %d)", r.id, i+1, attempt)
	if err != nil {
		return err
	}
	if len(begun) == 1 && begun[0] == "f" {
		return nil
	}
	for _, d := range p.deletes {
		if _, err := owner.do("%s", d.call()); err != nil {
			return err
		}
	}
	writer := owner
	if c.oldSnapshot(r) && i == len(r.plans)-1 && (r.failed == nil || attempt == 2) {
		for _, w := range p.writes {
			if _, err := owner.do("SELECT cs9.staging_table(%d, %s)", r.id, sqlgen.QuoteLiteral(w.table.live())); err != nil {
				return err
			}
		}
		if _, err := owner.do("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"); err != nil {
			return err
		}
		taking, err := owner.raw("SELECT current_setting('cs9.taking')")
		if err != nil {
			return err
		}
		if writer, err = l.open("writes for the plan, while the other one stays open", c.stage); err != nil {
			return err
		}
		defer writer.close() //nolint:errcheck // nothing is lost with it
		if _, err := writer.do("SET cs9.run_id = %d; SET cs9.plan = %d; SET cs9.attempt = %d; SET cs9.taking = '%s'", r.id, i+1, attempt, taking[0]); err != nil {
			return err
		}
	}
	for _, w := range p.writes {
		staged, err := writer.do("SELECT cs9.staging_table(%d, %s)", r.id, sqlgen.QuoteLiteral(w.table.live()))
		if err != nil {
			return err
		}
		op := "i"
		if w.upsert {
			op = "u"
		}
		if _, err := writer.do("SET cs9.op = '%s'", op); err != nil {
			return err
		}
		if _, err := writer.do("%s", w.table.insert(staged[0], w.rows)); err != nil {
			return err
		}
	}
	if fails {
		if r.failed.kill {
			return nil
		}
		_, err = owner.do("SELECT cs9.fail_plan(%[1]d, %[2]d, %[3]d, 'it fails'), cs9.end_attempt(%[1]d, %[3]d, 'it fails')", r.id, i+1, attempt)
		return err
	}
	_, err = owner.do("SELECT cs9.finish_plan(%d, %d, %d)", r.id, i+1, attempt)
	return err
}

// publishReady lets happen what happens to a run that is ready, and publishes it.
func (c *testCase) publishReady(l *lab, r *run) (where string, err error) {
	killAt := 0
	for _, e := range c.events {
		if r.id > 1 {
			break
		}
		killAt = max(killAt, e.afterNotice)
		if e.between == nil {
			continue
		}
		s, err := l.open("does something else", nil)
		if err != nil {
			return "", err
		}
		for _, sql := range e.between {
			s.do("%s", sql) //nolint:errcheck // what PostgreSQL refuses does not happen
		}
		if err := s.close(); err != nil {
			return "", err
		}
	}
	if r.id == 1 && slices.ContainsFunc(c.events, func(e event) bool { return e.dumped }) {
		if err := l.restore(c.world); err != nil {
			return "", err
		}
	}
	for try := range 2 {
		s, err := l.open("publishes", c.publish)
		if err != nil {
			return "", &noWorld{err}
		}
		if killAt > 0 && try == 0 {
			l.script.note("kill this session at NOTICE %d", killAt)
			l.killAt(s, killAt)
		}
		_, err = s.do("CALL cs9.publish('%s', 'k', %d)", r.task(), r.batchRows)
		l.notices = nil
		s.close()                                 //nolint:errcheck // it may be dead
		if try == 1 && sqlState(err) == "S9004" { // it was killed behind its end
			err = nil
		}
		if killed := err != nil && sqlState(err) == "57P01"; !killed {
			return "publish", err
		}
		if err := l.waitForEnd(s); err != nil {
			return "", err
		}
	}
	return "publish", errors.New("killed twice")
}

// killAt ends the session's backend at a NOTICE.
func (l *lab) killAt(s *session, notice int) {
	seen := 0
	l.notices = func(*pgconn.Notice) {
		if seen++; seen == notice {
			l.watch.Exec(context.Background(), "SELECT pg_terminate_backend($1)", s.conn.PgConn().PID()) //nolint:errcheck // seen by what the CALL returns
		}
	}
}

// repository is the root of the sources, from this package.
const repository = "../../.."

func init() {
	if _, err := os.Stat(repository + "/go.mod"); err != nil {
		panic(err)
	}
}
