package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// kind is a type of column with the values that are tried.
type kind struct {
	name   string // of its tables
	sql    string // the type
	noKey  bool   // it cannot be a key
	needs  string // an extension, or a query that fails where the server lacks it
	values []value
}

// value is one value: the text that a literal has, nil for NULL, and the Go
// values that mean it.
type value struct {
	text    *string
	same    bool // as a key it is equal to the value before it
	tooLong bool // for an index
	gos     []goValue
}

func lit(text string, gos ...goValue) value { return value{text: &text, gos: gos} }

func null(gos ...goValue) value { return value{gos: gos} }

// same is for a value that is equal to the one before it, but is not the same.
func same(v value) value {
	v.same = true
	return v
}

func tooLong(v value) value {
	v.tooLong = true
	return v
}

// goValue is a Go value, alone and as the field of a struct of its own type, for
// the column of a slot.
type goValue struct {
	any any
	row func(slot int, how string, n int) runner.Source
}

func g[T any](v T) goValue {
	return goValue{any: v, row: func(slot int, how string, n int) runner.Source { return structRow(slot, how, n, v) }}
}

// types are what the kinds of columns need.
var types = []string{
	"CREATE SCHEMA odd",
	"CREATE TYPE odd.mood AS ENUM ('good', 'bad', 'so, \"so\"')",
	"CREATE DOMAIN odd.small AS integer CHECK (VALUE < 10)",
	"CREATE DOMAIN odd.mail AS text CHECK (VALUE LIKE '%@%')",
	"CREATE DOMAIN odd.feeling AS odd.mood",
	"CREATE DOMAIN odd.code AS varchar(3)",
	"CREATE DOMAIN odd.shorter AS odd.code",
	"CREATE TYPE odd.pair AS (a integer, b text)",
	"CREATE TYPE odd.span AS RANGE (SUBTYPE = float8)",
	// a type that has text in and out only, as PostGIS and others have more of
	"CREATE TYPE odd.shape",
	"CREATE FUNCTION odd.shape_in(cstring) RETURNS odd.shape LANGUAGE internal IMMUTABLE STRICT AS 'textin'",
	"CREATE FUNCTION odd.shape_out(odd.shape) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout'",
	"CREATE TYPE odd.shape (INPUT = odd.shape_in, OUTPUT = odd.shape_out, LIKE = text)",
}

// typeLab is a database with tables that have the kinds as columns: w… some kinds
// each, and each row a value of one of them; k… some kinds as their key. Their
// twins in the schema plain are written by plain SQL.
type typeLab struct {
	*testing.T
	conn   *pgx.Conn
	runner *runner.Runner
	wide   [][]kind // of w0, w1, …: the kind of v0, v1, …
	keyed  [][]kind // of k0, k1, …: the kind of k0, k1, …
	tables runner.Tables
}

// The sessions have settings under which text could be misread.
const oddSettings = "timezone=America/New_York&datestyle=SQL,%20DMY&intervalstyle=sql_standard&bytea_output=escape&extra_float_digits=3"

func newTypeLab(t *testing.T, kinds []kind) *typeLab {
	t.Helper()
	url := pgtest.NewDatabase(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	url += separator + oddSettings
	l := &typeLab{T: t, conn: pgtest.Connect(t, url), tables: runner.Tables{}}
	execAll(t, l.conn, append(types, "CREATE SCHEMA plain", "SET standard_conforming_strings = on")...)
	var all, keys []kind
	for _, k := range kinds {
		if why := l.lacks(k.needs); why != "" {
			t.Run(k.name, func(t *testing.T) { t.Skip(why) })
			continue
		}
		all = append(all, k)
		if !k.noKey {
			keys = append(keys, k)
		}
	}
	l.wide = slices.Collect(slices.Chunk(all, slots))
	// the first key of a table matters most: by it the table is split
	slices.SortStableFunc(keys, func(a, b kind) int { return cmp.Compare(leader(a), leader(b)) })
	l.keyed = make([][]kind, (len(keys)+slots-1)/slots)
	for i, k := range keys {
		at := i % len(l.keyed)
		l.keyed[at] = append(l.keyed[at], k)
	}
	var definitions []string
	for i, group := range l.wide {
		definitions = append(definitions, l.define(fmt.Sprintf("w%d", i), "how, n", append([]string{"how TEXT", "n INTEGER"}, columns("v", group)...)))
	}
	for i, group := range l.keyed {
		definitions = append(definitions, l.define(fmt.Sprintf("k%d", i), names("k", group)+", how", append(columns("k", group), "how TEXT", "n INTEGER")))
	}
	pgtest.Install(t, url, writeDefinition(t, definitions...))
	l.runner = newRunner(t, url)
	return l
}

// names lists the columns of a group of kinds: v0, v1, …
func names(letter string, group []kind) string {
	list := make([]string, len(group))
	for i := range group {
		list[i] = fmt.Sprintf("%s%d", letter, i)
	}
	return strings.Join(list, ", ")
}

func columns(letter string, group []kind) []string {
	list := make([]string, len(group))
	for i, k := range group {
		list[i] = fmt.Sprintf("%s%d %s", letter, i, k.sql)
	}
	return list
}

// leader orders the kinds that are first keys before the others.
func leader(k kind) int {
	leaders := []string{"pair", "citext", "double", "interval", "jsonb", "feeling", "numeric", "int4range", "timestamptz"}
	if at := slices.Index(leaders, k.name); at >= 0 {
		return at
	}
	return len(leaders)
}

// lacks says what the server does not have of what a kind needs.
func (l *typeLab) lacks(needs string) string {
	switch {
	case needs == "":
		return ""
	case strings.HasPrefix(needs, "SELECT"):
		if _, err := l.conn.Exec(l.Context(), needs); err != nil {
			return "this server lacks it: " + err.Error()
		}
	case !pgtest.Scalar[bool](l.T, l.conn, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = $1)", needs):
		return "the extension " + needs + " is not installed for this server"
	default:
		execAll(l.T, l.conn, "CREATE EXTENSION "+needs+" SCHEMA odd")
	}
	return ""
}

// define makes the plain twin of a table, and returns the table's definition.
func (l *typeLab) define(name, keys string, columns []string) string {
	l.tables[name] = "matrix." + name
	execAll(l.T, l.conn, fmt.Sprintf("CREATE TABLE plain.%s (%s, PRIMARY KEY (%s))", name, strings.Join(columns, ", "), keys))
	var b strings.Builder
	fmt.Fprintf(&b, "  - {schema: matrix, name: %s, publish: swap, keys: [%s], columns: [", name, keys)
	for _, column := range columns {
		column, sqlType, _ := strings.Cut(column, " ")
		fmt.Fprintf(&b, "{name: %s, type: %s}, ", column, strconv.Quote(sqlType))
	}
	return b.String() + "]}\n"
}

func allKinds() []kind {
	var out []kind
	for _, kinds := range [][]kind{numberKinds(), textKinds(), timeKinds(), madeKinds(), otherKinds()} {
		out = append(out, kinds...)
	}
	return out
}
