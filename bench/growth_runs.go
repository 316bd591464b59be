package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// grown is a database in which runs touch a part of what is there, and what they
// touch.
type grown struct {
	name   string
	tables string // the tables of a definition file
	fill   []string
	run    []string // statements from the first plan on; {t} is the run's own table for m.t, or m.t1, m.t2 …
	names  []string // the tables of the run
	size   int      // how much there is
	units  int      // for how much of it the time counts
	memory bool     // tell the peak of the session's memory
}

// measureGrowthOfRuns compares runs in a large database with those in a small
// one: each touches the same part of it, or the time counts per unit.
func measureGrowthOfRuns(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	size := func(n, least int) int { return max(n*l.cfg.rows/fullRows, least) }
	few := []grown{oneDay(size(100, 40)), plansThatDelete(size(10, 2)), severalTables(1)}
	many := []grown{oneDay(size(1000, 50)), plansThatDelete(size(400, 4)), severalTables(size(100, 2))}
	years := oneDay(size(3000, 60))
	years.memory = true
	var pieces []piece
	for _, g := range slices.Concat(few, many, []grown{years}) {
		template, err := l.grown(ctx, g)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, l.piece(g.name, l.grownJob(template, g)))
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	b := figures.Benchmark{
		ID: "B13", Measured: "a run in a large database", Against: "the same in a small one, per unit",
		Notes: []string{
			"From begin_run to the end of its publish, in one session. One day of daily partitions is replaced by swap, 1,000 rows. Plans delete 10 rows by key and insert as many each. A run of tables rebuilds each of them, 100 rows, batched.",
			"Memory is VmHWM of the server's process, its shared buffers included, after such a run beside 3,000 partitions; against it stands what was aimed at.",
		},
	}
	for i, label := range []string{"one of %s daily partitions replaced by swap", "each of %s plans that delete and insert", "each of %s tables of a run"} {
		series := func(g grown) figures.Series {
			return s.series(g.name, fmt.Sprintf(label, thousands(g.size)), func(s sample) float64 { return s.seconds * 1000 / float64(g.units) })
		}
		b.Figures = append(b.Figures, figures.NewFigure("time per unit", "ms", series(many[i]), series(few[i]), 1.5))
	}
	peak := s.series(years.name, fmt.Sprintf("one of %s daily partitions replaced by swap", thousands(years.size)), part("peak"))
	bound := figures.Series{Label: "300 MiB", Median: 300}
	for range peak.Samples {
		bound.Samples = append(bound.Samples, 300)
	}
	b.Figures = append(b.Figures, figures.NewFigure("peak memory", "MiB", peak, bound, 1))
	return []figures.Benchmark{b}, nil
}

// oneDay replaces one day of a table with a partition a day. A migration makes
// the first of them, because it would lock them all at once; the others come one
// by one.
func oneDay(days int) grown {
	var b strings.Builder
	b.WriteString("  - schema: m\n    name: t\n    columns: [{name: day, type: integer}, {name: id, type: integer}, {name: v, type: text}]\n    keys: [day, id]\n" +
		"    publish: swap\n    partitions:\n      by: range\n      columns: [day]\n      parts:\n")
	first := min(days, 100)
	for i := range first {
		fmt.Fprintf(&b, "        - {name: d%d, from: [%d], to: [%d]}\n", i, i, i+1)
	}
	var fill []string
	for i := first; i < days; i++ {
		fill = append(fill, fmt.Sprintf("CREATE TABLE m.t_d%d PARTITION OF m.t FOR VALUES FROM (%d) TO (%d)", i, i, i+1))
	}
	return grown{
		name: fmt.Sprintf("partitions %d", days), tables: b.String(), names: []string{"m.t"}, size: days, units: 1,
		fill: append(fill, fmt.Sprintf("INSERT INTO m.t SELECT d, i, 'old' FROM generate_series(0, %d) AS d, generate_series(1, 10) AS i", days-1)),
		run: []string{
			"SELECT cs9.drop_rows_where('m.t', 'day = 7')",
			"INSERT INTO {m.t} (day, id, v) SELECT 7, i, 'new' FROM generate_series(1, 1000) AS i",
		},
	}
}

// plansThatDelete are plans of which each deletes rows by their key, and inserts
// them anew.
func plansThatDelete(plans int) grown {
	g := grown{
		name: fmt.Sprintf("plans %d", plans), names: []string{"m.t"}, size: plans, units: plans,
		tables: "  - schema: m\n    name: t\n    columns: [{name: k, type: integer}, {name: id, type: integer}, {name: v, type: text}]\n    keys: [k, id]\n",
		fill:   []string{fmt.Sprintf("INSERT INTO m.t SELECT p, i, 'old' FROM generate_series(1, %d) AS p, generate_series(1, 10) AS i", plans), "ANALYZE m.t"},
	}
	for i := range plans {
		g.run = append(g.run,
			fmt.Sprintf("SELECT cs9.drop_rows_where('m.t', 'k = %d')", i+1),
			fmt.Sprintf("INSERT INTO {m.t} (k, id, v) SELECT %d, i, 'new' FROM generate_series(1, 10) AS i", i+1))
	}
	return g
}

// severalTables rebuilds many tables in one run.
func severalTables(tables int) grown {
	g := grown{name: fmt.Sprintf("tables %d", tables), size: tables, units: tables}
	for i := range tables {
		name := fmt.Sprintf("m.t%d", i+1)
		g.names = append(g.names, name)
		g.tables += fmt.Sprintf("  - {schema: m, name: t%d, columns: [{name: id, type: integer}, {name: v, type: text}], keys: [id]}\n", i+1)
		g.run = append(g.run, "SELECT cs9.drop_all_rows('"+name+"')",
			"INSERT INTO {"+name+"} (id, v) SELECT i, 'new' FROM generate_series(1, 100) AS i")
		g.fill = append(g.fill, "INSERT INTO "+name+" SELECT i, 'old' FROM generate_series(1, 100) AS i")
	}
	return g
}

// grown makes a database for such runs.
func (l *lab) grown(ctx context.Context, g grown) (string, error) {
	name := "grown_" + strings.ReplaceAll(g.name, " ", "_")
	return name, l.template(ctx, name, "template0", func(ctx context.Context, database string) error {
		path := filepath.Join(l.dir, name+".yaml")
		if err := os.WriteFile(path, []byte("version: 1\ntables:\n"+g.tables), 0o600); err != nil {
			return fmt.Errorf("write definitions: %w", err)
		}
		if err := l.installFiles(ctx, database, path); err != nil {
			return err
		}
		return l.with(ctx, database, func(conn *pgx.Conn) error { return execute(ctx, conn, g.fill...) })
	})
}

// grownJob is one run, two statements a plan, or all in one where there is one
// unit.
func (l *lab) grownJob(template string, g grown) job {
	var peak float64
	return job{
		template: template,
		work: func(ctx context.Context, conn *pgx.Conn, _ string) error {
			if err := g.drive(ctx, conn); err != nil {
				return err
			}
			if !g.memory {
				return nil
			}
			var err error
			peak, err = peakOf(ctx, conn)
			return err
		},
		parts: func(context.Context, *pgx.Conn) (map[string]float64, error) {
			return map[string]float64{"peak": peak}, nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) error {
			for _, table := range g.names {
				var n int
				if err := conn.QueryRow(ctx, "SELECT count(*) FROM "+table+" WHERE v = 'new'").Scan(&n); err != nil {
					return fmt.Errorf("check %s: %w", table, err)
				}
				if n == 0 || n%10 != 0 {
					return fmt.Errorf("%s holds %d new rows", table, n)
				}
			}
			return nil
		},
	}
}

// drive runs all plans and publishes.
func (g grown) drive(ctx context.Context, conn *pgx.Conn) error {
	plans := len(g.run) / 2
	var run, attempt int64
	err := conn.QueryRow(ctx, "SELECT run_id, attempt FROM cs9.begin_run('grown', 'k', $1, $2::jsonb)",
		g.names, "["+strings.TrimSuffix(strings.Repeat("1,", plans), ",")+"]").Scan(&run, &attempt)
	if err != nil {
		return fmt.Errorf("begin a run: %w", err)
	}
	staged := regexp.MustCompile(`\{([a-z0-9.]+)\}`)
	for i := range plans {
		if err := execute(ctx, conn, fmt.Sprintf("SELECT cs9.begin_plan(%d, %d, %d)", run, i+1, attempt)); err != nil {
			return err
		}
		for _, sql := range g.run[2*i : 2*i+2] {
			if m := staged.FindStringSubmatch(sql); m != nil {
				var name string
				if err := conn.QueryRow(ctx, "SELECT cs9.staging_table($1, $2)", run, m[1]).Scan(&name); err != nil {
					return fmt.Errorf("make the run's own table: %w", err)
				}
				sql = strings.ReplaceAll(sql, m[0], name)
			}
			if err := execute(ctx, conn, sql); err != nil {
				return err
			}
		}
		if err := execute(ctx, conn, fmt.Sprintf("SELECT cs9.finish_plan(%d, %d, %d)", run, i+1, attempt)); err != nil {
			return err
		}
	}
	return execute(ctx, conn, fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt), "CALL cs9.publish('grown', 'k')")
}

// peakOf is the peak of the memory of the server's process for a session, in MiB.
func peakOf(ctx context.Context, conn *pgx.Conn) (float64, error) {
	var pid int
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return 0, fmt.Errorf("ask for the process: %w", err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the peak of memory: %w", err)
	}
	match := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(status)
	if match == nil {
		return 0, fmt.Errorf("process %d told no peak of memory", pid)
	}
	kib, err := strconv.Atoi(string(match[1]))
	return float64(kib) / 1024, err //nolint:wrapcheck // digits only
}
