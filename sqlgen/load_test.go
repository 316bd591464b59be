package sqlgen

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

const invalidFolder = "../testdata/definitions/invalid"

// Every file in testdata/definitions/invalid is refused, and its .err file
// holds the whole error.
func TestLoadRefuses(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(invalidFolder, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			definitions, err := Load(file)
			require.Error(t, err)
			require.Nil(t, definitions)
			var problems *Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems.List)
			for _, p := range problems.List {
				require.Equal(t, file, p.File)
				require.Positive(t, p.Line)
				require.Positive(t, p.Column)
				require.NotContains(t, p.Message, "\n")
			}
			got := strings.ReplaceAll(err.Error(), invalidFolder+"/", "") + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".err"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run go test ./sqlgen -run TestLoadRefuses -update")
			require.Equal(t, string(want), got)
		})
	}
	goldens, err := filepath.Glob(filepath.Join(invalidFolder, "*.err"))
	require.NoError(t, err)
	require.Len(t, goldens, len(files), "a .err file has no .yaml file")
}

const countsExample = `version: 1
tables:
  - access: anon              # schema anon, table anon_rebuild_counts; or schema: and name: as they are
    grouping: rebuild
    variant: counts
    comment: Counts per week
    columns:
      - {name: week, type: INTEGER}
      - {name: region, type: TEXT}
      - {name: n, type: INTEGER, not_null: true, default: "0"}
    keys: [week, region]
    indexes: {by_n: [n]}
    checks: {n_not_negative: n >= 0}
    partitions: {column: region, values: [north, south]}
    publish: batched
`

func TestLoadReadsTheExample(t *testing.T) {
	file := write(t, t.TempDir(), "counts.yaml", countsExample)
	definitions, err := Load(file)
	require.NoError(t, err)
	require.Len(t, definitions.Tables, 1)
	name, line := definitions.Tables[0].File()
	require.Equal(t, file, name)
	require.Equal(t, 3, line)

	require.Equal(t, []Table{{
		Access: "anon", Grouping: "rebuild", Variant: "counts",
		Schema: "anon", Name: "anon_rebuild_counts",
		Comment: "Counts per week",
		Columns: []Column{
			{Name: "week", Type: "INTEGER", NotNull: true},
			{Name: "region", Type: "TEXT", NotNull: true},
			{Name: "n", Type: "INTEGER", NotNull: true, Default: "0"},
		},
		Keys:       []string{"week", "region"},
		Indexes:    Named[Index]{{"by_n", Index{Columns: []IndexColumn{{Column: "n"}}}}},
		Checks:     Named[Check]{{"n_not_negative", Check{Expression: "n >= 0"}}},
		Partitions: &Partitions{Column: "region", Values: []string{"north", "south"}},
		Publish:    "batched",
	}}, withoutSource(definitions.Tables))
}

// withoutSource returns tables as they would be if they were made in Go.
func withoutSource(tables []Table) []Table {
	tables = slices.Clone(tables)
	for i := range tables {
		tables[i].src, tables[i].path = nil, ""
	}
	return tables
}

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func loadText(t *testing.T, text string) []Table {
	t.Helper()
	definitions, err := Load(write(t, t.TempDir(), "a.yaml", text))
	require.NoError(t, err)
	return definitions.Tables
}

// Scalars stay as they were written, and are told apart.
func TestLoadKeepsPartitionValuesAsWritten(t *testing.T) {
	tables := loadText(t, `version: 1
tables:
  - schema: s
    name: t
    columns: [{name: k, type: text}]
    keys: [k]
    partitions:
      column: k
      values: [9, 09, 9.50, 0x10, true, Yes, a b, a_b, A, a, "", "null", .inf, 2026-01-01, 'it''s', "x\ny", -1, 1e3]
`)
	require.Equal(t, []string{
		"9", "09", "9.50", "0x10", "true", "Yes", "a b", "a_b", "A", "a", "", "null", ".inf",
		"2026-01-01", "it's", "x\ny", "-1", "1e3",
	}, tables[0].Partitions.Values)
	seen := map[string]bool{}
	for _, partition := range NamesOf(&tables[0]).Partitions {
		require.False(t, seen[partition.Value], partition.Value)
		require.NotContains(t, partition.Value, "\n")
		seen[partition.Value] = true
	}
}

func TestLoadKeepsExpressionsAsWritten(t *testing.T) {
	tables := loadText(t, "\ufeff"+strings.ReplaceAll(`version: 1
tables:
  - schema: "S.x"
    name: "T.y Z"
    comment: |
      It's "$$" and $body$; -- not code
      -- +goose Down
    columns:
      - {name: k, type: BIGINT, identity: by default}
      - {name: a, type: INTEGER, default: 0}
      - {name: b, type: BOOLEAN, default: true}
      - {name: c, type: "numeric(10, 2)", default: -1.50}
      - {name: d, type: TEXT, default: "'it''s; -- $$ */ --> \\'"}
      - {name: e, type: TEXT, generated: "E'a\\nb\\';' || $x$ ' ( $x$ || d"}
      - {name: "select", type: 'public."My Type"'}
    keys: [k]
    checks:
      multi: |
        a > 0
        AND b
      odd: d <> ';' AND "select" IS NOT NULL
`, "\n", "\r\n"))
	table := tables[0]
	require.Equal(t, "It's \"$$\" and $body$; -- not code\n-- +goose Down\n", table.Comment)
	require.True(t, table.Columns[0].NotNull)
	for i, want := range []string{"", "0", "true", "-1.50", `'it''s; -- $$ */ --> \'`} {
		require.Equal(t, want, table.Columns[i].Default)
	}
	require.Equal(t, `E'a\nb\';' || $x$ ' ( $x$ || d`, table.Columns[5].Generated)
	require.Equal(t, Named[Check]{
		{"multi", Check{Expression: "a > 0\nAND b"}},
		{"odd", Check{Expression: `d <> ';' AND "select" IS NOT NULL`}},
	}, table.Checks)
}

// Names with dots are not taken for a schema and a table.
func TestLoadTellsDottedNamesApart(t *testing.T) {
	table := func(schema, name string) string {
		return "  - schema: " + schema + "\n    name: " + name + "\n    columns: [{name: k, type: text}]\n    keys: [k]\n"
	}
	tables := loadText(t, "version: 1\ntables:\n"+table("a.b", "c")+table("a", "b.c"))
	require.Equal(t, `"a.b".c`, Qualified(tables[0].Schema, tables[0].Name))
	require.Equal(t, `a."b.c"`, Qualified(tables[1].Schema, tables[1].Name))
}

// Two tables of one schema may call their index the same.
func TestLoadGivesEachTableItsIndex(t *testing.T) {
	prefix := strings.Repeat("p", 60)
	table := func(name string) string {
		return "  - schema: a\n    name: " + name + "\n    columns: [{name: k, type: text}]\n    keys: [k]\n    indexes: {ind1: [k], " +
			prefix + "_a: [k], " + prefix + "_b: [k]}\n"
	}
	tables := loadText(t, "version: 1\ntables:\n"+table("t1")+table("t2")+table(prefix+"_1")+table(prefix+"_2"))
	seen := map[string]bool{}
	for i := range tables {
		for _, index := range NamesOf(&tables[i]).Indexes {
			require.False(t, seen[index.Value], index.Value)
			seen[index.Value] = true
		}
	}
	require.Len(t, seen, 12)
}

func TestLoadReadsFoldersInOrder(t *testing.T) {
	folder := t.TempDir()
	table := func(names ...string) string {
		text := "version: 1\ntables:\n"
		for _, name := range names {
			text += "  - {schema: s, name: " + name + ", columns: [{name: k, type: text}], keys: [k]}\n"
		}
		return text
	}
	write(t, folder, "b.yml", table("z", "a"))
	first := write(t, folder, "a.yaml", table("y", "b"))
	write(t, folder, ".hidden.yaml", "no: definition\n")
	write(t, folder, "notes.txt", "no definition")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "c.yaml"), 0o755))

	definitions, err := Load(folder, first, folder+"/./a.yaml")
	require.NoError(t, err)
	var names []string
	for _, table := range definitions.Tables {
		names = append(names, table.Name)
	}
	require.Equal(t, []string{"y", "b", "z", "a"}, names)
}

func TestLoadReportsAcrossFiles(t *testing.T) {
	folder := t.TempDir()
	text := "version: 1\ntables:\n  - {schema: s, name: %, columns: [{name: k, type: text}], keys: [k]}\n"
	write(t, folder, "a.yaml", strings.ReplaceAll(text, "%", "t"))
	write(t, folder, "b.yaml", strings.ReplaceAll(text, "%", "t"))
	write(t, folder, "c.yaml", strings.ReplaceAll(text, "%", "t_pkey"))
	write(t, folder, "d.yaml", strings.ReplaceAll(text, "%", "pg_x, nmae: y"))
	_, err := Load(folder, filepath.Join(folder, "missing.yaml"))
	require.EqualError(t, err, strings.ReplaceAll(`%/b.yaml:3:5: tables[0]: the table s.t is defined twice, first in %/a.yaml:3: rename or remove one of the two
%/c.yaml:3:5: tables[0]: the table s.t_pkey and the primary key of s.t (%/a.yaml:3) would both be named "t_pkey": rename one of the two
%/d.yaml:3:29: tables[0].nmae: unknown field "nmae": did you mean "name"?
%/missing.yaml: cannot read it: no such file or directory: check the path and its permissions`, "%", folder))
}

func TestLoadNeedsAFile(t *testing.T) {
	_, err := Load()
	require.EqualError(t, err, "no definition file is given: name a file, or a folder of *.yaml files")
	folder := t.TempDir()
	_, err = Load(folder)
	require.EqualError(t, err, folder+": the folder holds no *.yaml or *.yml file: put the definitions there, or name another folder")
}

// The long form of an entry says the same as the short one when it says no more.
func TestLoadReadsShortAndLongForms(t *testing.T) {
	const table = `version: 1
tables:
  - schema: s
    name: t
    columns: [{name: a, type: text}, {name: b, type: text}]
    keys: [a]
    `
	short := loadText(t, table+`indexes: {x: [a, b]}
    unique: {u: [b]}
    checks: {c: a > b}
`)
	long := loadText(t, table+`indexes: {x: {columns: [{column: a}, b]}}
    unique: {u: {columns: [b]}}
    checks: {c: {expression: " a > b "}}
`)
	require.Equal(t, withoutSource(short), withoutSource(long))

	more := loadText(t, table+`indexes:
      x:
        columns: [{expression: " lower(a)", collation: C, opclass: pg_catalog.text_pattern_ops, order: desc, nulls: last}]
        include: [b]
        where: b > ''
        unique: true
        nulls_not_distinct: true
        method: btree
        name: exact
        was: y
    foreign_keys: {f: {columns: [b], references: '"o.o".t', to: [x], on_delete: set null, on_update: cascade, deferrable: deferred, match: full, name: exact_fk, was: g}}
`)
	require.Equal(t, Named[Index]{{"x", Index{
		Columns: []IndexColumn{{Expression: "lower(a)", Collation: "C", Opclass: "pg_catalog.text_pattern_ops", Order: "desc", Nulls: "last"}},
		Include: []string{"b"}, Where: "b > ''", Unique: true, NullsNotDistinct: true, Method: "btree", Name: "exact", Was: "y",
	}}}, more[0].Indexes)
	require.Equal(t, Named[ForeignKey]{{"f", ForeignKey{
		Columns: []string{"b"}, References: `"o.o".t`, To: []string{"x"}, OnDelete: "set null", OnUpdate: "cascade", Deferrable: "deferred", Match: "full",
		Name: "exact_fk", Was: "g",
	}}}, more[0].ForeignKeys)
	require.Equal(t, "FOREIGN KEY (b)\n    REFERENCES \"o.o\".t (x) MATCH FULL ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED", more[0].ForeignKeys[0].Value.clause("s"))
}
