package matrix

import (
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// number is a floating-point number of a type of one's own.
type number float64

// mood is a label of an enumeration.
type mood string

func rangeOf[T any](lower T, lowerType pgtype.BoundType, upper T, upperType pgtype.BoundType) pgtype.Range[T] {
	return pgtype.Range[T]{Lower: lower, Upper: upper, LowerType: lowerType, UpperType: upperType, Valid: true}
}

// madeKinds are the types that are made of others.
func madeKinds() []kind {
	const in, out, open, empty = pgtype.Inclusive, pgtype.Exclusive, pgtype.Unbounded, pgtype.Empty
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	later := day.AddDate(0, 0, 5)
	from0 := pgtype.Array[int32]{Elements: []int32{5, 6}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 0}}, Valid: true}
	minus, plus := pgtype.Interval{Months: -1, Days: 2, Microseconds: 1, Valid: true}, pgtype.Interval{Months: 1, Days: -2, Microseconds: 3.5e6, Valid: true}
	nan := math.NaN()
	texts := []*string{pointer("a b"), pointer("NULL"), nil, pointer(""), pointer(`"\,{}`), pointer("\n\t")}
	return []kind{
		{name: "integers", sql: "integer[]", values: []value{
			lit("{}", g([]int{}), g([]int32{})), lit("{1,NULL,3}", g([]*int{pointer(1), nil, pointer(3)})), lit("{{1,2},{3,4}}", g([][]int{{1, 2}, {3, 4}}), g([2][2]int{{1, 2}, {3, 4}}), g([][]*int{{pointer(1), pointer(2)}, {pointer(3), pointer(4)}})),
			lit("[0:1]={5,6}", g(from0)), lit("{7}", g([1]int{7}), g([]string{"7"}), g([]any{7}), g(pointer([]int{7})), g([]float64{7})), null(g([]int(nil)), g(pgtype.Array[int32]{})),
		}},
		{name: "texts", sql: "text[]", values: []value{
			lit(`{"a b","NULL",NULL,"","\"\\,{}","`+"\n\t"+`"}`, g(texts)), lit("{😀}", g([]string{"😀"}), g([]label{"😀"})), lit("{}", g([]string{})), null(g([]string(nil))),
		}},
		{name: "doubles", sql: "double precision[]", values: []value{
			lit("{NaN,-0,Infinity,0.1}", g([]float64{nan, math.Copysign(0, -1), math.Inf(1), 0.1}), g([4]number{number(nan), number(math.Copysign(0, -1)), number(math.Inf(1)), 0.1}), g([]any{nan, math.Copysign(0, -1), math.Inf(1), 0.1})),
			lit("{0.1,2}", g([]float64{0.1, 2})),
			lit("{NaN,NULL}", g([]*float64{&nan, nil}), g([]pgtype.Float8{{Float64: nan, Valid: true}, {}}), g(&[]pgtype.Float8{{Float64: nan, Valid: true}, {}})), lit("{{NaN},{2}}", g([][]float64{{nan}, {2}})),
			lit("[0:1]={NaN,2}", g(pgtype.Array[float64]{Elements: []float64{nan, 2}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 0}}, Valid: true})),
			lit("{NaN}", g(pgtype.FlatArray[float64]{nan}), g(pgtype.Array[*float64]{Elements: []*float64{&nan}, Dims: []pgtype.ArrayDimension{{Length: 1, LowerBound: 1}}, Valid: true}), g([]float32{float32(nan)})),
			null(g([]float64(nil)), g((*[]float64)(nil)), g(pgtype.Array[float64]{}), g((*pgtype.Array[float64])(nil)), g(pgtype.FlatArray[float64](nil))),
		}},
		{name: "intervals", sql: "interval[]", values: []value{
			lit(`{"-1 mons +2 days +00:00:00.000001","+1 mons -2 days +00:00:03.5",NULL}`, g([]pgtype.Interval{minus, plus, {}}), g([]*pgtype.Interval{&minus, &plus, nil}), g(&[]pgtype.Interval{minus, plus, {}}), g([]any{minus, "+1 mons -2 days +00:00:03.5", nil})),
			lit("{-01:30:00,02:00:00}", g([]time.Duration{-90 * time.Minute, 2 * time.Hour}), g([2]time.Duration{-90 * time.Minute, 2 * time.Hour}), g([]string{"-01:30:00", "02:00:00"})),
			lit(`{{"-1 mons +2 days +00:00:00.000001"},{"+1 mons -2 days +00:00:03.5"}}`, g([][]pgtype.Interval{{minus}, {plus}})), lit("{}", g([]time.Duration{}), g([]pgtype.Interval{}), g(pgtype.Array[pgtype.Interval]{Dims: []pgtype.ArrayDimension{}, Valid: true})), null(g([]time.Duration(nil)), g((*[]pgtype.Interval)(nil)), g(pgtype.Array[pgtype.Interval]{}), g((*pgtype.Array[pgtype.Interval])(nil))),
			lit(`[0:1]={"-1 mons +2 days +00:00:00.000001","+1 mons -2 days +00:00:03.5"}`, g(pgtype.Array[pgtype.Interval]{Elements: []pgtype.Interval{minus, plus}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 0}}, Valid: true})),
		}},
		{name: "numerics", sql: "numeric(10,2)[]", values: []value{lit("{1.50,0.00}", g([]float64{1.5, 0}), g([]decimal{"1.5", "0"}))}},
		{name: "moments", sql: "timestamptz[]", values: []value{lit("{2026-01-02 00:00:00+00,infinity}"), lit("{2026-01-02 00:00:00+00}", g([]time.Time{day}))}},
		{name: "byteas", sql: "bytea[]", values: []value{lit(`{"\\x00ff","\\x",NULL}`, g([][]byte{{0, 255}, {}, nil}))}},
		{name: "jsonbs", sql: "jsonb[]", values: []value{lit(`{"{\"a\": \"?\"}",NULL}`)}},
		{name: "boxes", sql: "box[]", noKey: true, values: []value{lit("{(2,2),(1,1);(4,4),(3,3)}")}},
		{name: "mood", sql: "odd.mood", values: []value{lit("good", g(mood("good")), g(pointer("good"))), lit(`so, "so"`, g(mood(`so, "so"`))), null(g((*mood)(nil)))}},
		{name: "moods", sql: "odd.mood[]", values: []value{lit("{good,bad}", g([]mood{"good", "bad"}), g([]string{"good", "bad"})), lit(`{"so, \"so\"",NULL}`), lit("{}", g([]mood{}), g([][]mood{{}})), lit("{{good,bad}}", g([][]mood{{"good", "bad"}})), null(g([]mood(nil)))}},
		{name: "small", sql: "odd.small", values: []value{lit("-2147483648", g(math32), g(int64(math32))), lit("9", g(9), g(9.0)), null()}},
		{name: "smalls", sql: "odd.small[]", values: []value{lit("{1,NULL,9}", g([]*int{pointer(1), nil, pointer(9)})), lit("{}", g([]int{}))}},
		{name: "mail", sql: "odd.mail", values: []value{textValue("a@b"), textValue(`\N@`), null()}},
		{name: "feeling", sql: "odd.feeling", values: []value{lit("bad", g(mood("bad"))), null()}},
		{name: "pair", sql: "odd.pair", values: []value{lit(`(1,"x y\\")`), lit("(,)"), lit(`(2,"")`), null()}},
		{name: "pairs", sql: "odd.pair[]", values: []value{lit(`{"(1,\"x y\")",NULL}`), lit("{}")}},
		{name: "int4range", sql: "int4range", values: []value{
			lit("[1,5)", g(rangeOf(1, in, 5, out)), g(rangeOf(int32(1), in, 4, in)), g(pointer(rangeOf(1, in, 5, out)))), lit("empty", g(rangeOf(0, empty, 0, empty))),
			lit("(,)", g(rangeOf(0, open, 0, open))), lit("(2,)", g(rangeOf(2, out, 0, open))), null(g(pgtype.Range[int]{})),
		}},
		{name: "int8range", sql: "int8range", values: []value{lit("[-9223372036854775808,9223372036854775807)", g(rangeOf(int64(-1<<63), in, int64(1<<63-1), out)))}},
		{name: "numrange", sql: "numrange", values: []value{lit("(1.50,2.5]", g(rangeOf(numeric("1.50"), out, numeric("2.5"), in))), lit("[-Infinity,NaN]"), lit("empty")}},
		{name: "daterange", sql: "daterange", values: []value{lit("[2026-01-02,2026-01-07)", g(rangeOf(day, in, later, out))), lit("[2026-01-02,infinity)"), lit("(-infinity,)")}},
		{name: "tsrange", sql: "tsrange", values: []value{lit("[2026-01-02 00:00:00,2026-01-07 00:00:00)", g(rangeOf(day, in, later, out)))}},
		{name: "tstzrange", sql: "tstzrange", values: []value{lit("[2026-01-02 00:00:00+00,)", g(rangeOf(day, in, time.Time{}, open))), lit("[2026-01-02 00:00,2026-01-03 00:00]")}},
		{name: "span", sql: "odd.span", values: []value{lit("[1.5,2.5]"), lit("empty"), lit("(,)"), null()}},
		{name: "int4multirange", sql: "int4multirange", values: []value{
			lit("{[1,3),[5,8)}", g(pgtype.Multirange[pgtype.Range[int32]]{rangeOf(int32(1), in, 3, out), rangeOf(int32(5), in, 8, out)})), lit("{}", g(pgtype.Multirange[pgtype.Range[int32]]{})),
			lit("{(,)}"), null(g(pgtype.Multirange[pgtype.Range[int32]](nil))),
		}},
		{name: "tstzmultirange", sql: "tstzmultirange", values: []value{lit("{[2026-01-02 00:00:00+00,)}", g(pgtype.Multirange[pgtype.Range[time.Time]]{rangeOf(day, in, time.Time{}, open)}))}},
		{name: "span_multirange", sql: "odd.span_multirange", needs: "SELECT '{}'::odd.span_multirange", values: []value{lit("{[1.5,2.5],[3,4)}"), lit("{}")}},
	}
}

const math32 = -1 << 31
