package matrix

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// written is one value in a row that a run writes, and plain SQL too.
type written struct {
	slot int
	how  string
	n    int
	v    value
	any  any
}

// rowsOf returns the rows of a group, each of one value: as text, and as each Go
// value that means it.
func rowsOf(group []kind, prefix string) []written {
	var out []written
	for slot, k := range group {
		for i, v := range k.values {
			how := fmt.Sprintf("%s%s as ", prefix, k.name)
			if v.text == nil {
				out = append(out, written{slot, how + "nil", i, v, nil})
			} else {
				out = append(out, written{slot, how + "text", i, v, *v.text})
			}
			for j, x := range v.gos {
				out = append(out, written{slot, fmt.Sprintf("%sgo %d (%T)", how, j, x.any), i, v, x.any})
			}
		}
	}
	return out
}

// structRows are rows that are written as structs with a field of the value's type.
func structRows(group []kind) (rows []written, sources []runner.Source) {
	for slot, k := range group {
		for i, v := range k.values {
			gos := v.gos
			if v.text != nil {
				gos = append([]goValue{g(*v.text)}, gos...)
			}
			for j, x := range gos {
				how := fmt.Sprintf("%s in a struct %d (%T)", k.name, j, x.any)
				rows = append(rows, written{slot, how, i, v, x.any})
				sources = append(sources, x.row(slot, how, i))
			}
		}
	}
	return rows, sources
}

func source(group []kind, rows []written) runner.Source {
	out := make([][]any, len(rows))
	for i, r := range rows {
		out[i] = make([]any, 2+len(group))
		out[i][0], out[i][1], out[i][2+r.slot] = r.how, r.n, r.any
	}
	return runner.Values(strings.Split("how, n, "+names("v", group), ", "), out)
}

// keyRow is a row whose key is a value of each kind of a group. Old is the key
// that is there before the run: equal, and not the same where it can be.
type keyRow struct {
	how      string
	n        int
	key, old []value
	any      []any
}

// keyRows returns as many rows as the kind with the most values has, and a
// round of them for each way to write a value.
func keyRows(group []kind, prefix string) []keyRow {
	var out []keyRow
	for way := range 3 {
		rows := 0
		for _, k := range group {
			rows = max(rows, len(keys(k)))
		}
		for i := range rows {
			r := keyRow{how: fmt.Sprintf("%sway %d", prefix, way), n: i}
			equal := false
			for _, k := range group {
				at := i % len(keys(k))
				v := keys(k)[at]
				old, x := v, any(*v.text)
				if v.same {
					old, equal = keys(k)[at-1], true
				}
				if way > 0 && len(v.gos) > 0 {
					x = v.gos[way%len(v.gos)].any
				}
				r.key, r.old, r.any = append(r.key, v), append(r.old, old), append(r.any, x)
			}
			if equal {
				r.how += " of equals"
			}
			out = append(out, r)
		}
	}
	return out
}

// keys are the values that can be keys.
func keys(k kind) []value {
	return slices.DeleteFunc(slices.Clone(k.values), func(v value) bool { return v.text == nil || v.tooLong })
}

func keySource(group []kind, rows []keyRow) runner.Source {
	out := make([][]any, len(rows))
	for i, r := range rows {
		out[i] = append(slices.Clone(r.any), r.how, r.n)
	}
	return runner.Values(strings.Split(names("k", group)+", how, n", ", "), out)
}

func (v value) sql() string {
	if v.text == nil {
		return "NULL"
	}
	return sqlgen.QuoteLiteral(*v.text)
}

func sqlOf(values []value) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.sql()
	}
	return strings.Join(list, ", ")
}

// insertWide returns the statements that do in plain SQL what source does.
func insertWide(table string, rows []written, conflict bool) (statements []string) {
	for slot := range slots {
		var list []string
		for _, r := range rows {
			if r.slot == slot {
				list = append(list, fmt.Sprintf("(%s, %d, %s)", sqlgen.QuoteLiteral(r.how), r.n, r.v.sql()))
			}
		}
		if list == nil {
			continue
		}
		statement := fmt.Sprintf("INSERT INTO %s (how, n, v%d) VALUES %s", table, slot, strings.Join(list, ", "))
		if conflict {
			statement += fmt.Sprintf(" ON CONFLICT (how, n) DO UPDATE SET v%d = EXCLUDED.v%[1]d", slot)
		}
		statements = append(statements, statement)
	}
	return statements
}

// insertKeys returns the statement that does in plain SQL what keySource does.
func insertKeys(table string, group []kind, rows []keyRow, conflict string) string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = fmt.Sprintf("(%s, %s, %d)", sqlOf(r.key), sqlgen.QuoteLiteral(r.how), r.n)
	}
	return fmt.Sprintf("INSERT INTO %s (%s, how, n) VALUES %s%s", table, names("k", group), strings.Join(list, ", "), conflict)
}

// prepare empties all tables, and gives each and its twin the same old rows:
// some that go, some that stay, and some that an upsert replaces.
func (l *typeLab) prepare() {
	l.Helper()
	var statements []string
	for _, schema := range []string{"matrix.", "plain."} {
		for name := range l.tables {
			statements = append(statements, "TRUNCATE "+schema+name)
		}
		for i, group := range l.wide {
			table := fmt.Sprintf("%sw%d", schema, i)
			statements = append(statements, "INSERT INTO "+table+" (how, n) VALUES ('gone', 0), ('stays', 0)")
			rows := rowsOf(group, "upsert ")
			for j, r := range rows { // another value of the kind
				rows[j].v = group[r.slot].values[0]
			}
			statements = append(statements, insertWide(table, rows, false)...)
		}
		for i, group := range l.keyed {
			table := fmt.Sprintf("%sk%d", schema, i)
			var old []keyRow
			for _, r := range append(keyRows(group, "upsert "), keyRows(group, "gone ")...) {
				old = append(old, keyRow{how: r.how, n: -1, key: r.old})
			}
			statements = append(statements, insertKeys(table, group, old, ""))
		}
	}
	execAll(l.T, l.conn, statements...)
}

// plainSQL does to the twins what the run does.
func (l *typeLab) plainSQL(mode string) {
	l.Helper()
	var statements []string
	for name := range l.tables {
		if mode == "swap" {
			statements = append(statements, "TRUNCATE plain."+name)
		} else {
			statements = append(statements, "DELETE FROM plain."+name+" WHERE how LIKE 'gone%'")
		}
	}
	for i, group := range l.wide {
		table := fmt.Sprintf("plain.w%d", i)
		rows := rowsOf(group, "")
		if mode == "direct" {
			structs, _ := structRows(group)
			rows = append(rows, structs...)
		}
		statements = append(statements, insertWide(table, rows, false)...)
		statements = append(statements, insertWide(table, rowsOf(group, "upsert "), true)...)
	}
	for i, group := range l.keyed {
		table := fmt.Sprintf("plain.k%d", i)
		statements = append(statements, insertKeys(table, group, append(keyRows(group, ""), keyRows(group, "gone ")...), ""),
			insertKeys(table, group, keyRows(group, "upsert "), fmt.Sprintf(" ON CONFLICT (%s, how) DO UPDATE SET n = EXCLUDED.n", names("k", group))))
	}
	execAll(l.T, l.conn, statements...)
}

func (l *typeLab) clear(mode string) step {
	return func(ctx context.Context, tables runner.Handles) error {
		for _, table := range tables {
			var err error
			if mode == "swap" {
				err = table.DropAllRows(ctx)
			} else {
				err = table.DropRowsWhere(ctx, "how LIKE ?", "gone%")
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (l *typeLab) run(mode string) error {
	insert := func(ctx context.Context, tables runner.Handles) error {
		for i, group := range l.wide {
			sources := []runner.Source{source(group, rowsOf(group, ""))}
			if mode == "direct" {
				_, structs := structRows(group)
				sources = append(sources, structs...)
			}
			for _, s := range sources {
				if err := tables[fmt.Sprintf("w%d", i)].Insert(ctx, s); err != nil {
					return err
				}
			}
		}
		for i, group := range l.keyed {
			if err := tables[fmt.Sprintf("k%d", i)].Insert(ctx, keySource(group, append(keyRows(group, ""), keyRows(group, "gone ")...))); err != nil {
				return err
			}
		}
		return nil
	}
	upsert := func(ctx context.Context, tables runner.Handles) error {
		for i, group := range l.wide {
			if err := tables[fmt.Sprintf("w%d", i)].Upsert(ctx, source(group, rowsOf(group, "upsert "))); err != nil {
				return err
			}
		}
		for i, group := range l.keyed {
			if err := tables[fmt.Sprintf("k%d", i)].Upsert(ctx, keySource(group, keyRows(group, "upsert "))); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := task("types", l.tables, l.clear(mode), insert, upsert).Run(l.Context(), l.runner, options(mode, mode)...)
	return err
}

// differences compares a column of a table with its twin: the image of each
// value, its text and its type.
func (l *typeLab) differences(t *testing.T, table, column string) string {
	t.Helper()
	return pgtest.Scalar[string](t, l.conn, fmt.Sprintf(`
		SELECT coalesce(string_agg(format('%%s, value %%s: %%s (%%s); plain SQL has %%s (%%s)', coalesce(l.how, p.how), coalesce(l.n, p.n),
			CASE WHEN l.how IS NULL THEN 'no row' ELSE coalesce(left(l.%[2]s::text, 80), 'NULL') END, pg_typeof(l.%[2]s),
			CASE WHEN p.how IS NULL THEN 'no row' ELSE coalesce(left(p.%[2]s::text, 80), 'NULL') END, pg_typeof(p.%[2]s)), E'\n'), '')
		FROM matrix.%[1]s AS l
		FULL JOIN plain.%[1]s AS p ON l.how = p.how AND l.n = p.n
		WHERE l.how IS NULL OR p.how IS NULL OR ROW(l.%[2]s)::record *<> ROW(p.%[2]s)::record
		   OR l.%[2]s::text IS DISTINCT FROM p.%[2]s::text OR pg_typeof(l.%[2]s) <> pg_typeof(p.%[2]s)`, table, column))
}

// TestTypesEqualPlainSQL writes each value of each type by Insert and Upsert, as
// text and as each Go value that means it, among values of other types and as
// the field of a struct, and publishes it in each mode.
func TestTypesEqualPlainSQL(t *testing.T) {
	t.Parallel()
	l := newTypeLab(t, allKinds())
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			l.prepare()
			l.plainSQL(mode)
			if err := l.run(mode); err != nil {
				t.Fatal(err)
			}
			for table, letter := range l.tables {
				_, letter, _ = strings.Cut(letter, ".")
				groups, column := l.wide, "v"
				if letter[0] == 'k' {
					groups, column = l.keyed, "k"
				}
				var at int
				fmt.Sscanf(table[1:], "%d", &at)
				for slot, k := range groups[at] {
					if got := l.differences(t, table, fmt.Sprintf("%s%d", column, slot)); got != "" {
						t.Errorf("%s in %s:\n%s", k.sql, table, got)
					}
				}
			}
		})
	}
}
