package readers_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// TestP12TwentySwapsKeepWhatIsTheTables: what the user has made of a table, and of
// its partitions, is the same after 20 swaps.
func TestP12TwentySwapsKeepWhatIsTheTables(t *testing.T) {
	admin := pgtest.Server(t).URL("postgres")
	var role string
	t.Cleanup(func() { // after the database has gone
		conn, err := pgx.Connect(context.Background(), admin)
		if err == nil && !t.Failed() {
			_, err = conn.Exec(context.Background(), "DROP ROLE IF EXISTS "+role)
			_ = conn.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	l := newLab(t, "swap")
	role = pgtest.Scalar[string](t, l.conn, "SELECT current_database() || '_user'")
	pgtest.Exec(t, l.conn, "CREATE ROLE "+role)
	before := map[string][]string{}
	for _, table := range tables {
		l.byHand("survive.sql", "@table", table, "@role", role)
		leaves := l.lines("SELECT relid::regclass::text FROM pg_partition_tree($1::regclass) WHERE isleaf", "readers."+table)
		for _, leaf := range leaves {
			l.byHand("survive_leaf.sql", "@leaf", leaf, "@role", role)
		}
	}
	for _, table := range tables {
		before[table] = l.facts(table)
		if len(before[table]) < 40 {
			t.Fatalf("only %d facts of %s:\n%s", len(before[table]), table, strings.Join(before[table], "\n"))
		}
	}
	const swaps = 20
	for gen := 1; gen <= swaps; gen++ {
		l.stage(gen, nil)
		l.publish(gen)
	}
	for _, table := range tables {
		if diff := lineDiff(before[table], l.facts(table)); diff != "" {
			t.Errorf("readers.%s after %d swaps (- before, + after)\n%s", table, swaps, diff)
		}
		// as the role: the grant holds on the view, and the policy on the table
		pgtest.Exec(t, l.conn, "SET ROLE "+role)
		l.wantLines([]string{"north 20 12"}, "SELECT concat_ws(' ', region, gen, count(*)) FROM readers."+table+" GROUP BY region, gen")
		l.wantLines([]string{"north 20 12", "south 20 12"}, "SELECT concat_ws(' ', region, gen, rows) FROM readers."+table+"_seen ORDER BY 1")
		pgtest.Exec(t, l.conn, "RESET ROLE")
	}
	l.wantLines(nil, "SELECT relname::text FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace")
}

// lineDiff lists the lines that only one of two sorted lists has.
func lineDiff(before, after []string) string {
	var out strings.Builder
	for _, line := range before {
		if !slices.Contains(after, line) {
			out.WriteString("- " + line + "\n")
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			out.WriteString("+ " + line + "\n")
		}
	}
	return out.String()
}

// byHand runs a script of testdata with placeholders replaced.
func (l *lab) byHand(script string, replace ...string) {
	l.Helper()
	text, err := os.ReadFile("testdata/" + script)
	if err != nil {
		l.Fatal(err)
	}
	pgtest.Exec(l, l.conn, strings.NewReplacer(replace...).Replace(string(text)))
}

// facts are what testdata/facts.sql finds of a table.
func (l *lab) facts(table string) []string {
	l.Helper()
	query, err := os.ReadFile("testdata/facts.sql")
	if err != nil {
		l.Fatal(err)
	}
	return l.lines(string(query), "readers."+table)
}

func (l *lab) lines(query string, args ...any) []string {
	l.Helper()
	rows, err := l.conn.Query(l.Context(), query, args...)
	if err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	return lines
}

func (l *lab) wantLines(want []string, query string) {
	l.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(l.lines(query), "\n")); diff != "" {
		l.Errorf("%s (-want +got)\n%s", query, diff)
	}
}
