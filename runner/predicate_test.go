package runner

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5/pgtype"
)

type region string

type grade int

func (g grade) String() string { return "not this" }

type code struct{ letter string }

func (c code) String() string { return c.letter }

func TestConditionIsOneTextWithLiterals(t *testing.T) {
	oslo := time.FixedZone("Oslo", 3600)
	columns := testColumns
	three := 3
	for name, c := range map[string]struct {
		pred any
		args []any
		want string
	}{
		"text":                           {"week > 3", nil, "week > 3"},
		"arguments":                      {"week > ? AND region = ?", []any{3, "no'rth"}, "week > 3 AND region = 'no''rth'"},
		"named types":                    {"region = ? AND g = ?", []any{region("north"), grade(2)}, "region = 'north' AND g = 2"},
		"pointer":                        {"week = ?", []any{&three}, "week = 3"},
		"valuer":                         {"week = ?", []any{sql.NullInt64{Int64: 4, Valid: true}}, "week = 4"},
		"stringer":                       {"region = ?", []any{code{"x"}}, "region = 'x'"},
		"negative":                       {"week -? > 0", []any{-5}, "week -(-5) > 0"},
		"floats":                         {"x IN (?, ?, ?)", []any{1.5, float32(0.1), math.Inf(-1)}, "x IN ('1.5'::float8, '0.1'::real, '-Infinity'::float8)"},
		"bool":                           {"ok = ?", []any{true}, "ok = TRUE"},
		"bytes":                          {"b = ?", []any{[]byte("a\\")}, `b = E'\\x615c'::bytea`},
		"uuid":                           {"u = ?", []any{[16]byte{0x12, 15: 0xff}}, "u = '12000000-0000-0000-0000-0000000000ff'"},
		"backslash":                      {"region = ?", []any{`a\'; --`}, `region = E'a\\''; --'`},
		"midnight":                       {"day = ?", []any{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, "day = '2026-01-02 00:00:00+00'"},
		"time":                           {"at < ?", []any{time.Date(2026, 1, 2, 0, 30, 0, 5000, oslo)}, "at < '2026-01-01 23:30:00.000005+00'::timestamptz"},
		"question mark":                  {"tags ?? 'x' AND a = ?", []any{1}, "tags ? 'x' AND a = 1"},
		"mark in a literal":              {"a = 'why?' AND b = ?", []any{1}, "a = 'why?' AND b = 1"},
		"mark in others":                 {"\"a?\" = $x$?$x$ AND c = E'\\'?' /* ? /* ? */ ? */ AND d = ? -- ?", []any{1}, "\"a?\" = $x$?$x$ AND c = E'\\'?' /* ? /* ? */ ? */ AND d = 1 -- ?"},
		"list":                           {"week IN (?)", []any{[]int{1, 2}}, "week IN (1, 2)"},
		"any":                            {"region = ANY (?)", []any{[]string{"a", "b"}}, "region = ANY (ARRAY['a', 'b'])"},
		"mark in a literal that goes on": {"c = E'\\'a' -- it's\n'?\\'' AND a = ?", []any{1}, "c = E'\\'a' -- it's\n'?\\'' AND a = 1"},
		"operators":                      {"tags ?| ARRAY['a'] AND tags ?& ARRAY['b'] AND j @? '$' AND a=?", []any{1}, "tags ?| ARRAY['a'] AND tags ?& ARRAY['b'] AND j @? '$' AND a=1"},
		"map":                            {map[string]any{"C Odd.x": 1, "User": "b"}, nil, `"C Odd.x" = 1 AND "User" = 'b'`},
		"map with nil":                   {map[string]any{"region": nil}, nil, `region IS NULL`},
		"eq":                             {sq.Eq{"C Odd.x": 1, "select": nil}, nil, `"C Odd.x" = 1 AND "select" IS NULL`},
		"eq list":                        {sq.Eq{"region": []string{"a", "b"}}, nil, "region IN ('a', 'b')"},
		"pointer to eq":                  {&sq.Eq{"a": 1}, nil, "a = 1"},
		"not eq":                         {sq.NotEq{"region": []region{"a"}, "x": nil}, nil, "region NOT IN ('a') AND x IS NOT NULL"},
		"iso texts":                      {map[string]any{"day": "2026-04-03", "at": "2026-04-03T12:00:00.5+02:00", "d": []string{"infinity", "2026-04-03"}}, nil, "at = '2026-04-03T12:00:00.5+02:00' AND d IN ('infinity', '2026-04-03') AND day = '2026-04-03'"},
		"intervals":                      {sq.Eq{"span": []string{"1 day 02:00:00", "P-1DT2H", "-1 day -02:00:00", "1 mon"}}, nil, "span IN ('1 day 02:00:00', 'P-1DT2H', '-1 day -02:00:00', '1 mon')"},
		"a date in a text":               {"region = ?", []any{"03/04/2026"}, "region = '03/04/2026'"},
		"and or":                         {sq.And{sq.Gt{"a": 1}, sq.Or{sq.LtOrEq{"b": 2}, sq.Like{"region": "n%"}}}, nil, "(a > 1) AND ((b <= 2) OR (region LIKE 'n%'))"},
		"expr":                           {sq.Expr("a + ? > b", 2), nil, "a + 2 > b"},
		"expr list":                      {sq.And{sq.Expr("a = ANY(?)", []int{7})}, nil, "(a = ANY(ARRAY[7]))"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := condition(c.pred, c.args, columns)
			if err != nil || got != c.want {
				t.Errorf("got  %s\nwant %s\nerr  %v", got, c.want, err)
			}
		})
	}
}

// testColumns are the columns that the conditions of the tests name.
var testColumns = func() []column {
	columns := []column{
		{name: "day", oid: pgtype.DateOID}, {name: "d", oid: pgtype.DateOID}, {name: "at", oid: pgtype.TimestamptzOID}, {name: "ts", oid: pgtype.TimestampOID},
		{name: "span", oid: pgtype.IntervalOID}, {name: "clock", oid: pgtype.TimeOID}, {name: "zoned", oid: pgtype.TimetzOID},
	}
	for _, name := range []string{"C Odd.x", "select", "region", "User", "a", "b", "x"} {
		columns = append(columns, column{name: name})
	}
	return columns
}()

// Squirrel renders what is empty as true or false of every row.
func TestConditionNeverMeansAllRowsByAccident(t *testing.T) {
	var none *int
	for name, c := range map[string]struct {
		pred any
		args []any
		says string
	}{
		"nil":                     {nil, nil, "nil"},
		"nil pointer":             {(*sq.Eq)(nil), nil, "nil"},
		"blank":                   {" \n\t", nil, "empty"},
		"comment only":            {"-- all of it", nil, "empty"},
		"map":                     {map[string]any{}, nil, "no columns"},
		"nil map":                 {map[string]any(nil), nil, "no columns"},
		"eq":                      {sq.Eq{}, nil, "no columns"},
		"not eq":                  {sq.NotEq{}, nil, "no columns"},
		"lt":                      {sq.Lt{}, nil, "no columns"},
		"like":                    {sq.Like{}, nil, "no columns"},
		"and":                     {sq.And{}, nil, "empty"},
		"or":                      {sq.Or{}, nil, "empty"},
		"eq inside and":           {sq.And{sq.Eq{"a": 1}, sq.Eq{}}, nil, "no columns"},
		"nil inside and":          {sq.And{sq.Eq{"a": 1}, nil}, nil, "nil"},
		"vanished inside and":     {sq.And{sq.Eq{"a": 1}, sq.Expr("")}, nil, "empty"},
		"empty list":              {sq.Eq{"a": []int{}}, nil, "empty"},
		"empty negated list":      {sq.NotEq{"a": []int{}}, nil, "empty"},
		"empty list in text":      {"a IN (?)", []any{[]string{}}, "empty"},
		"empty any":               {"a = ANY(?)", []any{[]string{}}, "empty"},
		"empty inside expression": {sq.Expr("NOT ?", sq.And{}), nil, "part of the condition was empty"},
		"pointer to eq":           {&sq.Eq{}, nil, "no columns"},
		"null comparison":         {"a = ?", []any{none}, "never true"},
		"null bound":              {sq.Lt{"a": nil}, nil, "never true"},
		"null in list":            {sq.NotEq{"a": []any{1, nil}}, nil, "NULL"},
		"too few arguments":       {"a = ? AND b = ?", []any{1}, "more ?"},
		"too many arguments":      {"a = ?", []any{1, 2}, "1 ? for 2"},
		"arguments beside":        {sq.Eq{"a": 1}, []any{2}, "no arguments"},
		"doubled in a literal":    {"a = 'x??'", nil, "could mean"},
		"wrong type":              {42, nil, "cannot be a int"},
		"no literal":              {"a = ?", []any{struct{ x int }{1}}, "SQL literal"},
		"zero byte":               {"a = ?", []any{"x\x00"}, "zero byte"},
		"no UTF-8":                {"a = ?", []any{"\xff"}, "UTF-8"},
		"zero time":               {"a = ?", []any{time.Time{}}, "year 1"},
		"nanoseconds":             {"a < ?", []any{time.Date(2026, 1, 2, 0, 0, 0, 1, time.UTC)}, "Truncate(time.Microsecond)"},
		"nanoseconds in a list":   {sq.Eq{"a": []time.Time{time.Date(2026, 1, 2, 0, 0, 0, 1234, time.UTC)}}, nil, "column a: 2026-01-02T00:00:00.000001234Z"},
		"empty name":              {map[string]any{" ": 1}, nil, `no column " "`},
		"no column":               {sq.Eq{"1=1) OR (a": 1}, nil, `no column "1=1) OR (a"`},
		"an expression as a key":  {sq.Like{"lower(region)": "x"}, nil, "no column"},
		"no end":                  {"a = 'x", nil, "does not end"},
		"list for like":           {sq.Like{"a": []string{"x"}}, nil, "list"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := condition(c.pred, c.args, testColumns)
			if !errors.Is(err, ErrBadCondition) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %v; want ErrBadCondition that says %q", got, err, c.says)
			}
		})
	}
}

// nothingToSay is a driver.Valuer that gives NULL.
type nothingToSay struct{}

func (nothingToSay) Value() (driver.Value, error) { return nil, nil }

// A condition with NULL in it is true of no row, or, negated, keeps none.
func TestConditionWithNullIsRefused(t *testing.T) {
	var pointer *int
	var pointerToPointer = &pointer
	nulls := map[string]any{
		"nil": nil, "pointer": pointer, "pointer to pointer": pointerToPointer, "sql": sql.NullString{}, "sql generic": sql.Null[int]{}, "pointer to sql": &sql.NullInt64{},
		"pgtype": pgtype.Int4{}, "pgtype date": pgtype.Date{}, "pgtype numeric": pgtype.Numeric{}, "pgtype interval": &pgtype.Interval{}, "valuer": nothingToSay{},
		"bytes": []byte(nil), "map": map[string]int(nil), "nil valuer": (*sql.NullTime)(nil),
		"list": []any{1, nil}, "list of pointers": []*int{nil}, "list of sql": []sql.NullInt64{{Int64: 1, Valid: true}, {}}, "nil list": []int(nil),
	}
	texts := map[string]int{
		"a IN (?)": 1, "a NOT IN (?)": 1, "a = ANY(?)": 1, "? = a": 1, "a = (?)": 1, "c LIKE ?": 1, "a BETWEEN ? AND ?": 2, "a = ?": 1,
		"a IS NOT DISTINCT FROM ?": 1, "NOT (a < ?)": 1, "coalesce(a, ?) = 1": 1, "? IS NULL OR a = 1": 1, "a > ?": 1, "a in(?, 2)": 1,
	}
	for name, null := range nulls {
		preds := map[string]any{"lt": sq.Lt{"a": null}, "like": sq.Like{"a": null}, "and": sq.And{sq.Eq{"b": 1}, sq.Gt{"a": null}}, "or": sq.Or{sq.Eq{"b": 1}, sq.LtOrEq{"a": null}}, "expr": sq.Expr("a < ?", null)}
		if null != nil { // nil itself asks for IS NULL
			preds["map"], preds["eq"], preds["not eq"] = map[string]any{"a": null}, sq.Eq{"a": null}, sq.NotEq{"a": null}
			preds["nested"] = sq.And{sq.Or{sq.Eq{"b": 1}, &sq.Eq{"a": null}}}
			preds["eq in an expression"], preds["eq deep in an expression"] = sq.Expr("NOT ?", sq.Eq{"a": null}), sq.Select("a").Where(sq.Or{sq.Expr("?", &sq.NotEq{"a": null})})
			preds["concatenated"] = sq.ConcatExpr("a = 1 AND ", sq.Eq{"a": null})
		}
		for how, pred := range preds {
			if got, err := condition(pred, nil, testColumns); !errors.Is(err, ErrBadCondition) {
				t.Errorf("%s in %s: got %q, %v", name, how, got, err)
			}
		}
		for text, marks := range texts {
			args := []any{null}
			if marks == 2 {
				args = []any{1, null}
			}
			if got, err := condition(text, args, testColumns); !errors.Is(err, ErrBadCondition) {
				t.Errorf("%s in %s: got %q, %v", name, text, got, err)
			}
		}
	}
}

// A text is read again by the session that publishes, whose settings are its own.
func TestConditionWithATextThatSettingsChangeIsRefused(t *testing.T) {
	for _, pred := range []any{
		map[string]any{"day": "03/04/2026"}, sq.Gt{"day": "3.4.2026"}, sq.Eq{"d": []string{"2026-04-03", "April 3 2026"}}, sq.LtOrEq{"ts": "03-04-2026 12:00"},
		map[string]any{"at": "2026-03-01"}, sq.Lt{"at": "2026-03-01 12:00"}, sq.Lt{"at": "now"}, sq.Lt{"day": "today"}, sq.Eq{"at": "2026-03-01 12:00 Europe/Oslo"},
		sq.Eq{"ts": "2026-03-01 12:00+02"}, sq.Eq{"day": "2026-03-01 12:00"}, sq.Eq{"span": "-1 day 02:00:00"}, sq.Eq{"span": "1 day ago"}, sq.Eq{"span": "5"},
		sq.Eq{"clock": "12:00+02"}, sq.Eq{"zoned": "12:00"}, sq.Eq{"day": ""}, sq.Eq{"day": region("1/2/3")}, sq.Eq{"day": code{"1/2/3"}}, sq.Eq{"ts": "2026-03-01 12:00:00.1234567"},
	} {
		got, err := condition(pred, nil, testColumns)
		if !errors.Is(err, ErrBadCondition) || !strings.Contains(err.Error(), "another session") {
			t.Errorf("%v: got %q, %v", pred, got, err)
		}
	}
	for text, arg := range map[string]any{
		"day = ?": "03/04/2026", "? <= \"day\"": "3.4.26", "d IN (?)": []string{"2026-04-03", "4-3-2026"}, "ts BETWEEN '2026-01-01' AND ?": "1/2/2026", "at < ?": "now", "DAY > ?": "3 Apr 2026",
	} {
		got, err := condition(text, []any{arg}, testColumns)
		if !errors.Is(err, ErrBadCondition) || !strings.Contains(err.Error(), "another day") {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
}
