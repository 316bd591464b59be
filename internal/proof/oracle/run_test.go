package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// run is what a task does, in plain words.
type run struct {
	id         int // in cs9.run, and of its task
	tables     []*table
	plans      []*plan
	allowEmpty bool
	failed     *failure // of the first attempt
	batchRows  int
}

// plan deletes, then writes.
type plan struct {
	deletes []*remove
	writes  []*write
}

// remove is a delete, of the kind that cs9 calls by the same name.
type remove struct {
	table *table
	kind  string // drop_all_rows, drop_rows_where, keep_rows_where
	where string
}

type write struct {
	table  *table
	upsert bool
	rows   []row
}

// failure is the end of the first attempt: behind the writes of a plan.
type failure struct {
	plan int
	kill bool // the session dies, instead of saying that the plan failed
}

func drawRun(d *drawer, w *world, id int) *run {
	r := &run{id: id, tables: w.publishedTables(), allowEmpty: d.chance(85), batchRows: pick(d, 200000, 200000, 1, 2, 3)}
	for range d.some(1, pick(d, 1, 1, 2, 3, 5), "plan") {
		r.plans = append(r.plans, &plan{})
	}
	if id > 1 && len(r.tables) > 1 && d.chance(50) {
		r.tables = r.tables[:1]
	}
	for i, t := range r.tables {
		r.change(d.sub("table %d", i), t)
	}
	if s, there := d.option(15, "failed attempt"); there && id == 1 {
		r.failed = &failure{plan: s.below(len(r.plans)), kill: s.chance(50)}
	}
	return r
}

func (r *run) task() string { return fmt.Sprintf("task %d", r.id) }

// change draws what the run does to one table. Plan 1 deletes; every plan may write.
func (r *run) change(d *drawer, t *table) {
	used := map[string]bool{}
	style := d.weighted(5, 3, 3, 2)
	if len(t.children) > 0 && d.chance(75) {
		style = 1
	}
	upsert := style == 1 || style == 3 && d.chance(50)
	if !upsert && style != 0 && d.chance(85) { // rows that are there would collide
		for _, r := range t.rows {
			t.take(r, used, false)
		}
	}
	if t.mode == "swap" && d.chance(80) {
		style, upsert = 0, false
	}
	first := r.plans[0]
	switch style {
	case 0: // rebuild
		first.deletes = append(first.deletes, &remove{t, "drop_all_rows", ""})
	case 1: // upsert
	default: // delete some
		kind := pick(d, "drop_rows_where", "drop_rows_where", "keep_rows_where")
		first.deletes = append(first.deletes, &remove{t, kind, t.condition(d.sub("condition"), false)})
		if s, there := d.option(20, "another delete"); there {
			p := pickOf(s, r.plans)
			p.deletes = append(p.deletes, &remove{t, "drop_rows_where", t.condition(s, false)})
		}
	}
	for i, p := range r.plans {
		s, there := d.option(80, "writes of plan %d", i)
		if !there {
			continue
		}
		out := &write{table: t, upsert: upsert}
		if s.chance(5) {
			out.upsert = !out.upsert
		}
		for _, n := range s.some(1, 4, "row") {
			if same, ok := n.option(30, "a row that is there"); ok && len(t.rows) > 0 && (style == 0 || out.upsert) {
				if old := t.again(same, used); old != nil {
					out.rows = append(out.rows, old)
					continue
				}
			}
			if fresh := t.row(n, used); fresh != nil {
				out.rows = append(out.rows, fresh)
			}
		}
		if len(out.rows) > 0 {
			p.writes = append(p.writes, out)
		}
	}
}

// again returns a row that is live, as it is or with another value, under its key.
func (t *table) again(d *drawer, used map[string]bool) row {
	old := pickOf(d, t.rows)
	out := maps.Clone(old)
	if plain := t.plain(); len(plain) > 0 && d.chance(60) {
		c := pickOf(d, plain)
		if c.from == nil {
			out[c.name] = c.value(d.sub("other value"))
		}
	}
	if !t.take(out, used, true) {
		return nil
	}
	return out
}

// plainSQL returns the run as plain SQL: the deletes of all plans, then the writes, each table's rows in one statement.
func (r *run) plainSQL(order []*table) (deletes []string, writes [][]string) {
	for _, p := range r.plans {
		for _, d := range p.deletes {
			deletes = append(deletes, d.plain())
		}
	}
	for _, t := range order {
		var statements []string
		for _, upsert := range []bool{false, true} {
			var rows []row
			for _, p := range r.plans {
				for _, w := range p.writes {
					if w.table == t && w.upsert == upsert {
						rows = append(rows, w.rows...)
					}
				}
			}
			if len(rows) > 0 {
				statements = append(statements, t.insert(t.live(), rows, t.onConflict(upsert)))
			}
		}
		if statements != nil {
			writes = append(writes, statements)
		}
	}
	return deletes, writes
}

func (d *remove) plain() string {
	switch d.kind {
	case "drop_all_rows":
		// TRUNCATE is refused where a foreign key of another table points at it: it is the same for the rows
		if d.table.mode == "batched" && len(d.table.children) == 0 {
			return "TRUNCATE TABLE " + d.table.live()
		}
		return "DELETE FROM " + d.table.live()
	case "keep_rows_where":
		return fmt.Sprintf("DELETE FROM %s WHERE (%s) IS NOT TRUE", d.table.live(), d.where)
	}
	return fmt.Sprintf("DELETE FROM %s WHERE %s", d.table.live(), d.where)
}

// call writes a delete as a call of cs9.
func (d *remove) call() string {
	args := []string{sqlgen.QuoteLiteral(d.table.live())}
	if d.kind != "drop_all_rows" {
		args = append(args, sqlgen.QuoteLiteral(d.where))
	}
	return fmt.Sprintf("SELECT cs9.%s(%s)", d.kind, strings.Join(args, ", "))
}

func (t *table) onConflict(upsert bool) string {
	if !upsert {
		return ""
	}
	var set []string
	for _, c := range t.columns {
		if !slices.Contains(t.key, c) && !strings.HasPrefix(c.rest, "GENERATED ALWAYS AS (") {
			set = append(set, fmt.Sprintf("%s = EXCLUDED.%[1]s", c.quoted()))
		}
	}
	if set == nil {
		return fmt.Sprintf(" ON CONFLICT (%s) DO NOTHING", quotedColumns(t.key))
	}
	return fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s", quotedColumns(t.key), strings.Join(set, ", "))
}
