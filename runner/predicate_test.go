package runner

import (
	"database/sql"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	sq "github.com/Masterminds/squirrel"
)

type region string

type grade int

func (g grade) String() string { return "not this" }

type code struct{ letter string }

func (c code) String() string { return c.letter }

func TestConditionIsOneTextWithLiterals(t *testing.T) {
	oslo := time.FixedZone("Oslo", 3600)
	columns := []column{{name: "C Odd.x"}, {name: "select"}, {name: "region"}}
	three := 3
	for name, c := range map[string]struct {
		pred any
		args []any
		want string
	}{
		"text":              {"week > 3", nil, "week > 3"},
		"arguments":         {"week > ? AND region = ?", []any{3, "no'rth"}, "week > 3 AND region = 'no''rth'"},
		"named types":       {"region = ? AND g = ?", []any{region("north"), grade(2)}, "region = 'north' AND g = 2"},
		"pointer":           {"week = ?", []any{&three}, "week = 3"},
		"valuer":            {"week = ?", []any{sql.NullInt64{Int64: 4, Valid: true}}, "week = 4"},
		"stringer":          {"region = ?", []any{code{"x"}}, "region = 'x'"},
		"negative":          {"week -? > 0", []any{-5}, "week -(-5) > 0"},
		"floats":            {"x IN (?, ?, ?)", []any{1.5, float32(0.1), math.Inf(-1)}, "x IN ('1.5'::float8, '0.1'::real, '-Infinity'::float8)"},
		"bool":              {"ok = ?", []any{true}, "ok = TRUE"},
		"bytes":             {"b = ?", []any{[]byte("a\\")}, `b = E'\\x615c'::bytea`},
		"uuid":              {"u = ?", []any{[16]byte{0x12, 15: 0xff}}, "u = '12000000-0000-0000-0000-0000000000ff'"},
		"backslash":         {"region = ?", []any{`a\'; --`}, `region = E'a\\''; --'`},
		"midnight":          {"day = ?", []any{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, "day = '2026-01-02 00:00:00+00'"},
		"time":              {"at < ?", []any{time.Date(2026, 1, 2, 0, 30, 0, 5000, oslo)}, "at < '2026-01-01 23:30:00.000005+00'::timestamptz"},
		"null":              {"a IS NOT DISTINCT FROM ?", []any{nil}, "a IS NOT DISTINCT FROM NULL"},
		"question mark":     {"tags ?? 'x' AND a = ?", []any{1}, "tags ? 'x' AND a = 1"},
		"mark in a literal": {"a = 'why?' AND b = ?", []any{1}, "a = 'why?' AND b = 1"},
		"mark in others":    {"\"a?\" = $x$?$x$ AND c = E'\\'?' /* ? /* ? */ ? */ AND d = ? -- ?", []any{1}, "\"a?\" = $x$?$x$ AND c = E'\\'?' /* ? /* ? */ ? */ AND d = 1 -- ?"},
		"list":              {"week IN (?)", []any{[]int{1, 2}}, "week IN (1, 2)"},
		"any":               {"region = ANY (?)", []any{[]string{"a", "b"}}, "region = ANY (ARRAY['a', 'b'])"},
		"map":               {map[string]any{"C Odd.x": 1, "User": "b"}, nil, `"C Odd.x" = 1 AND "User" = 'b'`},
		"eq":                {sq.Eq{"C Odd.x": 1, "lower(region)": "b", "select": nil}, nil, `"C Odd.x" = 1 AND lower(region) = 'b' AND "select" IS NULL`},
		"eq list":           {sq.Eq{"region": []string{"a", "b"}}, nil, "region IN ('a', 'b')"},
		"not eq":            {sq.NotEq{"region": []region{"a"}, "x": nil}, nil, "region NOT IN ('a') AND x IS NOT NULL"},
		"and or":            {sq.And{sq.Gt{"a": 1}, sq.Or{sq.LtOrEq{"b": 2}, sq.Like{"region": "n%"}}}, nil, "(a > 1) AND ((b <= 2) OR (region LIKE 'n%'))"},
		"expr":              {sq.Expr("a + ? > b", 2), nil, "a + 2 > b"},
		"expr list":         {sq.And{sq.Expr("a = ANY(?)", []int{7})}, nil, "(a = ANY(ARRAY[7]))"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := condition(c.pred, c.args, columns)
			if err != nil || got != c.want {
				t.Errorf("got  %s\nwant %s\nerr  %v", got, c.want, err)
			}
		})
	}
}

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
		"pointer to eq":           {&sq.Eq{}, nil, "part of the condition was empty"},
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
		"empty name":              {map[string]any{" ": 1}, nil, "empty column name"},
		"list for like":           {sq.Like{"a": []string{"x"}}, nil, "list"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := condition(c.pred, c.args, nil)
			if !errors.Is(err, ErrBadCondition) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %v; want ErrBadCondition that says %q", got, err, c.says)
			}
		})
	}
}
