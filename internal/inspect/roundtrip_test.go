package inspect_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

const validDir = "../../testdata/definitions/valid"

// spelledAnew are the definitions with an expression that PostgreSQL gives back in
// another spelling.
var spelledAnew = map[string]bool{"types": true, "names": true, "list_parts": true}

// longWinded say more than they must: columns that are the primary key anyway, the
// collation that an expression has. That they mean the same is seen in what they make.
var longWinded = map[string]bool{"entries": true}

// TestRoundTrip inspects what was generated from each definition of testdata:
// the definition comes back, with the mode and the roles it was registered with.
func TestRoundTrip(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(validDir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defs, err := sqlgen.Load(path)
			require.NoError(t, err)
			schema := defs.Tables[0].Schema
			url := pgtest.NewDatabase(t, path)
			result := inspected(t, url, inspect.Options{Schema: schema})
			require.Empty(t, result.LeftOut)
			require.Empty(t, result.Notes)
			got := loaded(t, result.File)
			require.Len(t, got, len(defs.Tables))
			for i := range got {
				sameDefinition(t, name, &defs.Tables[i], &got[i])
			}

			again := pgtest.NewDatabase(t, saved(t, result.File))
			require.ElementsMatch(t, dump(t, pgtest.Connect(t, url), schema), dump(t, pgtest.Connect(t, again), schema),
				"what is generated from it is the same\n%s", result.File)
			require.Equal(t, string(result.File), string(inspected(t, again, inspect.Options{Schema: schema}).File))
		})
	}
}

// sameDefinition compares a definition with the one that was inspected.
func sameDefinition(t *testing.T, name string, want, got *sqlgen.Table) {
	t.Helper()
	require.False(t, got.Adopt)
	require.Equal(t, want.Roles, got.Roles)
	require.ElementsMatch(t, exactNames(sqlgen.NamesOf(want)), exactNames(sqlgen.NamesOf(got)))
	if longWinded[name] {
		return
	}
	w, g := plainly(t, want, spelledAnew[name]), plainly(t, got, spelledAnew[name])
	require.Equal(t, digest(t, &w), digest(t, &g), cmp.Diff(w, g, cmpopts.IgnoreUnexported(sqlgen.Table{})))
}

// plainly returns a table without what a database does not keep: the order of
// what is listed by name, an entry's own name beside an exact one, or where the
// name derived from it was cut. Every name is the exact one. Where expressions are
// spelled anew they are made the same: that they are is seen by making them.
func plainly(t *testing.T, table *sqlgen.Table, spelledAnew bool) sqlgen.Table {
	t.Helper()
	out, names := *table, sqlgen.NamesOf(table)
	expression := func(sql *string) {
		if spelledAnew && *sql != "" {
			*sql = "1 = 1"
		}
	}
	out.Columns = slices.Clone(table.Columns)
	for i := range out.Columns {
		expression(&out.Columns[i].Default)
		expression(&out.Columns[i].Generated)
	}
	out.Indexes = entries(table.Indexes, names.Indexes, func(x *sqlgen.Index) {
		x.Name = ""
		x.Columns = slices.Clone(x.Columns)
		expression(&x.Where)
		for i := range x.Columns {
			expression(&x.Columns[i].Expression)
		}
	})
	out.Unique = entries(table.Unique, names.Unique, func(u *sqlgen.Unique) { u.Name = "" })
	out.Checks = entries(table.Checks, names.Checks, func(c *sqlgen.Check) { c.Name = ""; expression(&c.Expression) })
	out.ForeignKeys = entries(table.ForeignKeys, names.ForeignKeys, func(f *sqlgen.ForeignKey) { f.Name = "" })
	out.Partitions = plainParts(table.Partitions, names.Partitions, names.SubPartitions)
	return out
}

// entries returns entries under their exact names, in the order of these.
func entries[T any](list sqlgen.Named[T], names sqlgen.Named[string], change func(*T)) sqlgen.Named[T] {
	out := slices.Clone(list)
	for i := range out {
		out[i].Name = names[i].Value
		change(&out[i].Value)
	}
	slices.SortFunc(out, func(a, b sqlgen.NamedItem[T]) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// plainParts returns partitions in the long form under their exact names.
func plainParts(p *sqlgen.Partitions, names sqlgen.Named[string], subs sqlgen.Named[sqlgen.Named[string]]) *sqlgen.Partitions {
	if p == nil {
		return nil
	}
	out := *p.Long()
	out.Parts = slices.Clone(out.Parts)
	for i := range out.Parts {
		part := &out.Parts[i]
		sub, _ := subs.Get(part.Name)
		part.Partitions = plainParts(part.Partitions, sub, nil)
		part.Name, part.Table = names[i].Value, ""
		part.Values = slices.Sorted(slices.Values(part.Values))
	}
	slices.SortFunc(out.Parts, func(a, b sqlgen.Part) int { return strings.Compare(a.Name, b.Name) })
	return &out
}

func exactNames(n sqlgen.Names) []string {
	out := []string{n.PrimaryKey, n.Staging}
	for _, list := range []sqlgen.Named[string]{n.Indexes, n.Unique, n.Checks, n.ForeignKeys, n.Partitions, n.Sequences} {
		for _, item := range list {
			out = append(out, item.Value)
		}
	}
	return out
}

// digest returns the digest of a definition, as its migration registers it.
func digest(t *testing.T, table *sqlgen.Table) string {
	t.Helper()
	files, err := sqlgen.Generate(&sqlgen.Definitions{Tables: []sqlgen.Table{*table}})
	require.NoError(t, err)
	_, after, ok := strings.Cut(files[len(files)-1].SQL, "p_definition_hash   => ")
	require.True(t, ok)
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSuffix(line, ",")
}
