package inspect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

const samplesDir = "../../testdata/samples"

// samples are schemas that were not made by cs9gen.
var samples = []struct{ name, schema string }{{"rental", "public"}, {"orders", "North Wind"}}

// TestSamples inspects each sample into the golden file beside it, which loads,
// and makes the same tables of it in another database.
func TestSamples(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			prelude, tables := readSample(t, s.name)
			url := pgtest.EmptyDatabase(t)
			conn := pgtest.Connect(t, url)
			run(t, conn, prelude+tables)
			result := inspected(t, url, inspect.Options{Schema: s.schema})
			require.Empty(t, result.LeftOut)
			golden(t, filepath.Join(samplesDir, s.name+".yaml"), string(result.File))
			golden(t, filepath.Join(samplesDir, s.name+".notes"), notes(result.Notes))
			for _, table := range loaded(t, result.File) {
				require.True(t, table.Adopt, table.Name)
			}

			other := pgtest.NewDatabase(t)
			otherConn := pgtest.Connect(t, other)
			run(t, otherConn, prelude)
			for _, sequence := range serials(t, conn) {
				pgtest.Exec(t, otherConn, "CREATE SEQUENCE "+sequence)
			}
			text, later := madeAnew(t, result.File)
			pgtest.Install(t, other, saved(t, text))
			for _, statement := range later {
				pgtest.Exec(t, otherConn, statement)
			}
			require.ElementsMatch(t, dump(t, conn, s.schema), dump(t, otherConn, s.schema))
		})
	}
}

func readSample(t *testing.T, name string) (prelude, tables string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samplesDir, name+".sql"))
	require.NoError(t, err)
	prelude, tables, ok := strings.Cut(string(text), "-- Tables\n")
	require.True(t, ok)
	return prelude, tables
}

// run runs statements as psql -f would.
func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

func notes(list []inspect.Remark) string {
	var b strings.Builder
	for _, n := range list {
		fmt.Fprintf(&b, "%s: %s\n", n.Table, n.Text)
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got), "go test ./internal/inspect -update writes it anew")
}

// serials returns the sequences that defaults take from.
func serials(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT DISTINCT s.oid::regclass::text
		FROM pg_class AS s
		JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid AND d.classid = 'pg_attrdef'::regclass
		WHERE s.relkind = 'S'`)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

// madeAnew returns definitions that make the tables instead of adopting them, and
// as statements the foreign keys to tables that come later: two that reference
// each other cannot both be made with their keys.
func madeAnew(t *testing.T, text []byte) ([]byte, []string) {
	t.Helper()
	var later []string
	made := map[string]bool{}
	tables := loaded(t, text)
	for i := range tables {
		table := &tables[i]
		table.Adopt = false
		made[table.Name] = true
		var now sqlgen.Named[sqlgen.ForeignKey]
		for j, key := range table.ForeignKeys {
			if made[key.Value.References] {
				now = append(now, key)
				continue
			}
			require.Equal(t, sqlgen.ForeignKey{Columns: []string{"store_id"}, References: "store", Deferrable: "deferred"}, key.Value)
			later = append(later, fmt.Sprintf(
				"ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (store_id) REFERENCES public.store DEFERRABLE INITIALLY DEFERRED",
				sqlgen.Qualified(table.Schema, table.Name), sqlgen.QuoteIdent(sqlgen.NamesOf(table).ForeignKeys[j].Value)))
		}
		table.ForeignKeys = now
	}
	return inspect.WriteFile("Made anew.", tables), later
}
