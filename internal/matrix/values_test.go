package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// rule is a line of docs/values.md: what becomes of a Go value in a column.
type rule struct {
	column string
	goText string // how a program writes the value
	value  any
	stored string // the value's text in SQL; "NULL" for none
	refuse string // or why it is refused: a part of the message
}

func keeps(column, goText string, value any, stored string) rule {
	return rule{column: column, goText: goText, value: value, stored: stored}
}

func refuses(column, goText string, value any, why string) rule {
	return rule{column: column, goText: goText, value: value, refuse: why}
}

type section struct {
	title string
	rules []rule
}

// valueRules are the rules, a function a section: one of all of them takes the
// compiler minutes.
func valueRules() []section {
	return []section{
		{"Nothing there", nothingRules()},
		{"Numbers", numberRules()},
		{"Text and bytes", textRules()},
		{"Times", timeRules()},
		{"Others", otherRules()},
	}
}

var (
	oslo = time.FixedZone("", 3600)
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	day  = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
)

func nothingRules() []rule {
	return []rule{
		keeps("any", "nil, a nil pointer, map, slice, sql.Null… or pgtype value that is not Valid", []int(nil), "NULL"),
		keeps("integer[]", "[]int{}", []int{}, "{}"), keeps("bytea", "[]byte{}", []byte{}, `\x`), keeps("text", `""`, "", ""),
		keeps("jsonb", "map[string]int(nil)", map[string]int(nil), "NULL"), keeps("jsonb", `json.RawMessage("null"), "null"`, "null", "null"),
		refuses("date, timestamp, timestamptz, time", "time.Time{}", time.Time{}, "the zero time"),
	}
}

func numberRules() []rule {
	big20 := bigInt("12345678901234567890")
	return []rule{
		keeps("integer", "3.0", 3.0, "3"), refuses("integer", "3.7", 3.7, "its decimals would be lost"), refuses("integer", `"3.7"`, "3.7", "invalid input syntax"),
		refuses("integer", "math.NaN()", math.NaN(), "an integer column has no NaN"), refuses("integer", "int64(1) << 31", int64(1)<<31, "out of range"),
		refuses("bigint", "uint64(math.MaxUint64)", uint64(math.MaxUint64), "out of range"), refuses("bigint", "big.Int of 12345678901234567890", big20, "out of range"),
		keeps("double precision", "int64(1e17)", int64(1e17), "1e+17"), refuses("double precision", "int64(1e17) + 1", int64(1e17)+1, "its last digits would be lost"),
		refuses("double precision", "big.Int of 12345678901234567890", big20, "its last digits would be lost"),
		refuses("real", "0.1, a float64", 0.1, "more digits than real keeps"), keeps("real", "float32(0.1)", float32(0.1), "0.1"), keeps("real", `"0.1"`, "0.1", "0.1"),
		keeps("double precision", "float32(0.1)", float32(0.1), "0.10000000149011612"),
		keeps("numeric", "0.1, the shortest text of the float64", 0.1, "0.1"), keeps("numeric", "big.Int of 12345678901234567890", big20, "12345678901234567890"),
		refuses("numeric", "*big.Float", big.NewFloat(0.1), "10 digits"), keeps("numeric", `"1.500", or a driver.Valuer that gives it`, decimal("1.500"), "1.500"),
		keeps("numeric(10,2)", "1.5", 1.5, "1.50"), refuses("numeric(10,2)", "0.125", 0.125, "its digits after scale 2 would be rounded"),
		refuses("numeric(10,2)", `"1.005"`, "1.005", "its digits after scale 2 would be rounded"), refuses("numeric(10,2)", `"1005e-3"`, "1005e-3", "its digits after scale 2 would be rounded"),
		refuses("double precision", `json.Number("9007199254740993")`, json.Number("9007199254740993"), "its last digits would be lost"),
		refuses("double precision", "pgtype.Numeric of 9007199254740993", numeric("9007199254740993"), "its last digits would be lost"),
		refuses("double precision", `"0.12345678901234567891"`, "0.12345678901234567891", "its last digits would be lost"), keeps("double precision", `"0.1"`, "0.1", "0.1"),
		refuses("real", "pgtype.Numeric of 16777217", numeric("16777217"), "its last digits would be lost"), keeps("real", "pgtype.Numeric of 0.1", numeric("0.1"), "0.1"),
		refuses("real", "pgtype.Numeric of 0.123456789", numeric("0.123456789"), "its last digits would be lost"),
		refuses("oid, xid", "3.7", 3.7, "its decimals would be lost"), keeps("oid, xid", "3.0", 3.0, "3"), refuses("oid, xid", "-1", -1, "is out of range"), refuses("oid", "int64(1) << 32", int64(1)<<32, "out of range"),
		refuses("numeric(10,2)[]", `"{1.00,1.005}"`, "{1.00,1.005}", "element 2: its digits after scale 2 would be rounded"), refuses("numeric(10,2)[]", `"[0:1]={{1.1},{\"2.345\"}}"`, `{{1.1},{"2.345"}}`, "element 2: its digits"),
		refuses("money", `"$0.125"`, "$0.125", "would be rounded"), refuses("numeric(4,2)", "100", 100, "numeric field overflow"), refuses("money", "0.125", 0.125, "would be rounded"),
	}
}

func textRules() []rule {
	return []rule{
		refuses("text, varchar, char, json, …", `"a\x00b"`, "a\x00b", "zero byte"), refuses("text, varchar, char, json, …", `"\xff"`, "\xff", "not valid UTF-8"),
		refuses("text", `[]byte("\xff")`, []byte("\xff"), "not valid UTF-8"), keeps("bytea", `[]byte("\x00\xff")`, []byte("\x00\xff"), `\x00ff`),
		refuses("text", "7", 7, "does not fit text"), refuses("text", "time.Now()", noon, "Go's own way of writing it"),
		refuses("varchar(3)", `"abcd"`, "abcd", "too long"), refuses("varchar(3)", `"abc "`, "abc ", "its blanks after 3 characters would be cut"), keeps("char(3)", `"a"`, "a", "a"),
		refuses("varchar(3)", `[]byte("abc ")`, []byte("abc "), "its blanks after 3 characters would be cut"),
		refuses("varchar(3)[], odd.code[], odd.shorter[]", `"{NULL,\"abc \"}"`, `{NULL,"abc "}`, "its blanks after 3 characters would be cut"),
		refuses("varchar(3)[], odd.code[]", `[]string{"abc "}`, []string{"abc "}, "element 1: its blanks after 3 characters would be cut"), keeps("varchar(3)[]", `"{abc,\"a \"}"`, `{abc,"a "}`, `{abc,"a "}`),
		refuses(`"char"`, `"ab"`, "ab", "cut after its first byte"), refuses(`"char"`, `"é"`, "é", "cut after its first byte"), refuses(`"char"[]`, `"{a,bc}"`, "{a,bc}", "element 2: it would be cut after its first byte"),
		refuses("name", "64 bytes", strings.Repeat("x", 64), "cut after 63 bytes"),
		refuses("jsonb", `"text"`, "text", "invalid input syntax"), keeps("jsonb", `"\"text\""`, `"text"`, `"text"`), keeps("jsonb", "map[string]any{…}, a struct", map[string]any{"a": 1}, `{"a": 1}`),
		refuses("json, jsonb", `struct{ A string }{"\xff"}`, struct{ A string }{"a\xff"}, "not valid UTF-8"), refuses("json, jsonb", `map[string]int{"\xff": 1}`, map[string]int{"\xff": 1}, "not valid UTF-8"),
		refuses("jsonb[]", `[]any{map[string]any{"a": "\xff"}}`, []map[string]any{{"a": "\xff"}}, "not valid UTF-8"), keeps("jsonb", `struct{ A string }{"\ufffd and \\ufffd"}`, struct{ A string }{"\ufffd and \\ufffd"}, "{\"A\": \"\ufffd and \\\\ufffd\"}"),
		keeps("json", "map[string]any{\"a\": json.RawMessage(`\"\\ufffd\"`)}", map[string]any{"a": json.RawMessage(`"\ufffd"`)}, `{"a":"\ufffd"}`),
		keeps("jsonb[]", "[]struct{ A json.RawMessage }{{`\"\\ufffd\"`}}", []struct{ A json.RawMessage }{{json.RawMessage(`"\ufffd"`)}}, "{\"{\\\"A\\\": \\\"\ufffd\\\"}\"}"),
		refuses("json", "map[string]any{\"a\": json.RawMessage(`\"\\ufffd\"`), \"b\": \"\\xff\"}", map[string]any{"a": json.RawMessage(`"\ufffd"`), "b": "\xff"}, "not valid UTF-8"),
		refuses("an enum, or another type that the driver does not know", `[]byte("good")`, []byte("good"), "pass the text"),
	}
}

func timeRules() []rule {
	return []rule{
		keeps("date", "midnight in any time zone: its own day", day.In(time.UTC).Add(-time.Hour).In(oslo), "2026-01-02"), refuses("date", "noon", noon, "its time of day would be lost"),
		refuses("date", `"2026-01-02 12:00"`, "2026-01-02 12:00", "its time of day would be lost"), keeps("date", `"infinity"`, "infinity", "infinity"),
		keeps("timestamp", "a time in UTC", noon, "2026-01-02 12:00:00"), refuses("timestamp", "a time at another offset", noon.In(oslo), "its time zone would be lost"),
		refuses("timestamp", `"2026-01-02 12:00+01"`, "2026-01-02 12:00+01", "its time zone would be lost"),
		keeps("timestamptz", "a time in any time zone: its instant", noon.In(oslo), "2026-01-02 12:00:00+00"), keeps("timestamptz", `"2026-01-02 12:00": read in the session's time zone`, "2026-01-02 12:00", "2026-01-02 12:00:00+00"),
		keeps("timestamptz", "time.Now(): its nanoseconds are cut", noon.Add(1234), "2026-01-02 12:00:00.000001+00"), refuses("timestamptz(3)", "with microseconds", noon.Add(time.Microsecond), "Truncate(time.Millisecond)"),
		refuses("timestamptz", `"2026-01-02 12:00:00.1234567Z"`, "2026-01-02 12:00:00.1234567Z", "would be rounded"),
		refuses("timestamptz, timestamp", "the year 300000", noon.AddDate(298000, 0, 0), "out of range"), refuses("date", "the year 6000000", day.AddDate(5998000, 0, 0), "out of range"),
		refuses("time", "a time.Time with a date", noon, "its date would be lost"), keeps("time", `the time that time.Parse("15:04", "12:30") gives`, time.Date(0, 1, 1, 12, 30, 0, 0, time.UTC), "12:30:00"),
		refuses("timetz", "a time.Time", noon, "pass text"), keeps("timetz", `"12:30+02"`, "12:30+02", "12:30:00+02"),
		keeps("interval", "90 * time.Minute", 90*time.Minute, "01:30:00"), refuses("interval day", "26 * time.Hour", 26*time.Hour, "does not keep all of its fields"), refuses("interval day", `"26 hours"`, "26 hours", "does not keep all of its fields"), keeps("interval day", `"2 days"`, "2 days", "2 days"),
		refuses("interval year to month", "pgtype.Interval of a month and a day", pgtype.Interval{Months: 1, Days: 1, Valid: true}, "does not keep all of its fields"), refuses("interval hour to minute", `"01:02:03"`, "01:02:03", "does not keep all of its fields"),
		refuses("interval day[]", "[]time.Duration{26 * time.Hour}", []time.Duration{26 * time.Hour}, "element 1: the column does not keep all of its fields"), refuses("interval day", `"P1DT2H"`, "P1DT2H", "cannot be told"),
		refuses("interval(0)", `"1.6 seconds"`, "1.6 seconds", "its digits after 0 decimals of a second would be lost"), refuses("interval(0)", `"00:00:01.6"`, "00:00:01.6", "its digits after 0 decimals"), refuses("interval(3)", "time.Microsecond", time.Microsecond, "Truncate(time.Millisecond)"),
		refuses("date[]", `"{2026-01-02 12:00}"`, "{2026-01-02 12:00}", "element 1: its time of day would be lost"), refuses("date", `"20260102T120000"`, "20260102T120000", "its time of day would be lost"), refuses("date", `"Jan 2 2026 12:00"`, "Jan 2 2026 12:00", "its time of day would be lost"),
		refuses("daterange", `"[2026-01-02 12:00,2026-01-05)"`, "[2026-01-02 12:00,2026-01-05)", "lower bound: its time of day would be lost"), refuses("datemultirange", `"{[2026-01-02,2026-01-03),[2026-01-05,\"2026-01-06 12:00\")}"`, `{[2026-01-02,2026-01-03),[2026-01-05,"2026-01-06 12:00")}`, "element 2: upper bound: its time of day"),
		refuses("daterange[]", `"{\"[2026-01-02 12:00,)\"}"`, `{"[2026-01-02 12:00,)"}`, "element 1: lower bound: its time of day"), keeps("daterange", `"[2026-01-02,)"`, "[2026-01-02,)", "[2026-01-02,)"),
		refuses("timestamp", `"2026-01-02+02"`, "2026-01-02+02", "its time zone would be lost"), refuses("timestamp", `"20260102T120000+02"`, "20260102T120000+02", "its time zone would be lost"), refuses("timestamp", `"Jan 2 2026 12:00 CET"`, "Jan 2 2026 12:00 CET", "its time zone would be lost"),
		refuses("timestamp", `"2026-01-02 Europe/Oslo"`, "2026-01-02 Europe/Oslo", "its time zone would be lost"), keeps("timestamp", `"20260102T120000Z"`, "20260102T120000Z", "2026-01-02 12:00:00"), refuses("timestamp(0)", `"20260102T120000.6"`, "20260102T120000.6", "would be rounded"),
		refuses("timestamp[]", `"{2026-01-02 12:00+01}"`, "{2026-01-02 12:00+01}", "element 1: its time zone would be lost"), refuses("tsrange", `"[2026-01-02 12:00+01,)"`, "[2026-01-02 12:00+01,)", "lower bound: its time zone would be lost"),
		refuses("time", `"120000+02"`, "120000+02", "its time zone would be lost"), refuses("time", `"2026-01-02 12:00"`, "2026-01-02 12:00", "its date would be lost"),
		refuses("interval", "time.Nanosecond", time.Nanosecond, "Truncate(time.Microsecond)"),
	}
}

func otherRules() []rule {
	return []rule{
		refuses("integer[]", "[]float64{1, 2.5}", []float64{1, 2.5}, "element 2: its decimals would be lost"), refuses("daterange", "a bound at noon", pgtype.Range[time.Time]{Lower: noon, LowerType: pgtype.Inclusive, UpperType: pgtype.Unbounded, Valid: true}, "lower bound: its time of day"),
		refuses("inet", "netip.Addr fe80::1%eth0", netip.MustParseAddr("fe80::1%eth0"), "its zone would be lost"), refuses("boolean", "1", 1, "does not fit boolean"),
	}
}

// tried are the columns that stand for a rule's.
func tried(column string) []string {
	switch {
	case column == "any":
		return []string{"integer", "text", "jsonb", "timestamptz", "integer[]", "bytea"}
	case strings.HasPrefix(column, "text, "):
		return []string{"text", "varchar", "char(3)", "json", "jsonb", "name", "odd.mood"}
	case strings.HasPrefix(column, "an enum"):
		return []string{"odd.mood"}
	case strings.Contains(column, ", "):
		return strings.Split(column, ", ")
	}
	return []string{column}
}

// TestValueRules tries each rule of docs/values.md, direct and staged, and keeps
// the page as the rules are.
func TestValueRules(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t)
	conn := pgtest.Connect(t, url)
	execAll(t, conn, types...)
	columns := map[string]string{} // the type: its table
	tables, definitions := runner.Tables{}, []string{}
	for _, s := range valueRules() {
		for _, r := range s.rules {
			for _, column := range tried(r.column) {
				if columns[column] == "" {
					name := fmt.Sprintf("t%d", len(columns))
					columns[column], tables[name] = name, "matrix."+name
					definitions = append(definitions, fmt.Sprintf("  - {schema: matrix, name: %s, keys: [how], columns: [{name: how, type: TEXT}, {name: n, type: INTEGER}, {name: v, type: %s}]}\n", name, strconv.Quote(column)))
				}
			}
		}
	}
	pgtest.Install(t, url, writeDefinition(t, definitions...))
	r := newRunner(t, url)
	for _, key := range []string{"", "k"} {
		var opts []runner.Option
		if key != "" {
			opts = options("batched", key)
		}
		_, err := task("values", tables, func(ctx context.Context, handles runner.Handles) error {
			for _, s := range valueRules() {
				for i, rule := range s.rules {
					for _, column := range tried(rule.column) {
						how := fmt.Sprintf("%s %d %q", s.title, i, key)
						table := handles[columns[column]]
						rows := [][]any{{how + " before", 0, nil}, {how, 1, rule.value}}
						checkRefusal(t, rule, column, table.Name(), table.Insert(ctx, runner.Values([]string{"how", "n", "v"}, rows)))
					}
				}
			}
			return nil
		}).Run(t.Context(), r, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range valueRules() {
			for i, rule := range s.rules {
				for _, column := range tried(rule.column) {
					got := pgtest.Scalar[string](t, conn, fmt.Sprintf("SELECT coalesce(string_agg(coalesce(v::text, 'NULL'), '|'), 'no row') FROM matrix.%s WHERE how = $1", columns[column]),
						fmt.Sprintf("%s %d %q", s.title, i, key))
					want := rule.stored
					if rule.refuse != "" {
						want = "no row"
					}
					if strings.TrimRight(got, " ") != want {
						t.Errorf("%s in %s: got %q, want %q", rule.goText, column, got, want)
					}
				}
			}
		}
	}
	checkPage(t)
}

// checkRefusal holds an error against its rule: it names table, row, column and value.
func checkRefusal(t *testing.T, r rule, column, table string, err error) {
	t.Helper()
	if r.refuse == "" {
		if err != nil {
			t.Errorf("%s in %s: %v", r.goText, column, err)
		}
		return
	}
	if err == nil || !errors.Is(err, runner.ErrLossy) && !errors.Is(err, runner.ErrBadArgument) {
		t.Errorf("%s in %s: got the error %v, want one that is ErrLossy or ErrBadArgument", r.goText, column, err)
		return
	}
	for _, part := range []string{r.refuse, table, "row 2", "column v"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s in %s: the error does not say %q: %v", r.goText, column, part, err)
		}
	}
}

const pagePath = "../../docs/values.md"

// checkPage compares the tables of docs/values.md with the rules.
func checkPage(t *testing.T) {
	t.Helper()
	path := filepath.FromSlash(pagePath)
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- rules: written by go test ./internal/matrix -run ValueRules -update -->\n", "<!-- end of rules -->\n"
	head, rest, ok := bytes.Cut(page, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the rules", path)
	}
	var b strings.Builder
	b.Write(head)
	b.WriteString(begin)
	for _, s := range valueRules() {
		fmt.Fprintf(&b, "\n## %s\n\n| column | Go value | becomes |\n| --- | --- | --- |\n", s.title)
		for _, r := range s.rules {
			becomes := "refused: " + r.refuse
			switch {
			case r.refuse == "" && r.stored == "":
				becomes = "`''`"
			case r.refuse == "" && r.stored == "NULL":
				becomes = "NULL"
			case r.refuse == "":
				becomes = "`" + r.stored + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.column, r.goText, becomes)
		}
	}
	b.WriteString("\n" + end)
	b.Write(tail)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(page) {
		t.Errorf("%s is not what the rules say; go test ./internal/matrix -run ValueRules -update writes it", path)
	}
}

// bomb is a value whose own method panics.
type bomb struct{ N int }

func (bomb) MarshalJSON() ([]byte, error) { panic("boom") }

// TestPanicOfAValueIsAnError: COPY reads the rows in a goroutine of its own, where
// a panic would end the program.
func TestPanicOfAValueIsAnError(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t, writeDefinition(t, "  - {schema: demo, name: docs, keys: [id], columns: [{name: id, type: INTEGER}, {name: doc, type: jsonb}]}\n"))
	r := newRunner(t, url)
	type row struct {
		ID  int
		Doc bomb
	}
	for _, source := range []runner.Source{
		runner.Rows([]row{{ID: 1}}), runner.Values([]string{"id", "doc"}, [][]any{{1, bomb{}}}), runner.Values([]string{"id", "doc"}, [][]any{{1, []any{&bomb{}}}}),
	} {
		_, err := task("docs", runner.Tables{"t": "demo.docs"}, func(ctx context.Context, tables runner.Handles) error {
			return tables["t"].Insert(ctx, source)
		}).Run(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "boom") || !strings.Contains(err.Error(), "demo.docs") {
			t.Errorf("got the error %v", err)
		}
	}
}
