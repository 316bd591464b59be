package oracle

import "fmt"

// event is something that happens besides the run.
type event struct {
	name string
	// between is SQL that is run when the run is ready, before its publish.
	between []string
	// counts says that the oracle does it too, before its changes: it changes what rows may be.
	counts bool
	// afterNotice kills the session that publishes at this NOTICE, counted from 1; then it is called again.
	afterNotice int
	// readTransaction lets the session that owns the run be in a transaction, whose snapshot is
	// older than the rows, which another session of the plan writes.
	readTransaction bool
	// dumped takes a dump of the database when the run is ready, and goes on in what is restored from it.
	dumped bool
}

var eventKinds = []struct {
	percent int
	draw    func(d *drawer, w *world) event
}{
	{12, func(d *drawer, _ *world) event {
		return event{name: "the publish is killed", afterNotice: 1 + d.below(4)}
	}},
	{6, func(d *drawer, w *world) event {
		return event{name: "reindex", between: []string{fmt.Sprintf("REINDEX TABLE CONCURRENTLY %s", pickOf(d, w.tables).live())}}
	}},
	{5, func(d *drawer, w *world) event {
		t := pickOf(d, w.tables)
		return event{name: "an index", between: []string{fmt.Sprintf("CREATE INDEX ON %s (%s)", t.live(), pickOf(d, t.columns).quoted())}, counts: true}
	}},
	{3, func(d *drawer, w *world) event {
		t := pickOf(d, w.tables)
		return event{name: "a unique index", between: []string{fmt.Sprintf("CREATE UNIQUE INDEX ON %s (%s)", t.live(), quotedColumns(t.columnsOf(d)))}, counts: true}
	}},
	{3, func(d *drawer, w *world) event {
		t := pickOf(d, w.tables)
		return event{name: "a check", between: []string{fmt.Sprintf("ALTER TABLE %s ADD CHECK (%s) NOT VALID", t.live(), t.condition(d, true))}, counts: true}
	}},
	{3, func(d *drawer, w *world) event {
		return event{name: "vacuum full", between: []string{fmt.Sprintf("VACUUM FULL %s", pickOf(d, w.tables).live())}}
	}},
	{2, func(*drawer, *world) event { return event{name: "dump and restore", dumped: true} }},
	{6, func(*drawer, *world) event { return event{name: "an old snapshot", readTransaction: true} }},
}

func drawEvents(d *drawer, w *world) []event {
	var out []event
	for i, k := range eventKinds {
		if s, there := d.option(k.percent, "event %d", i); there {
			out = append(out, k.draw(s, w))
		}
	}
	return out
}

func drawCase(d *drawer) *testCase {
	c := &testCase{world: drawWorld(d.sub("world"))}
	c.runs = []*run{drawRun(d.sub("run"), c.world, 1)}
	if s, there := d.option(8, "a rival"); there {
		c.runs = append(c.runs, drawRun(s, c.world, 2))
	}
	c.stage = drawSettings(d.sub("staging session"), c.world, sessionSettings)
	c.publish = drawSettings(d.sub("publishing session"), c.world, sessionSettings)
	c.events = drawEvents(d.sub("events"), c.world)
	return c
}
