package matrix

import (
	"database/sql"
	"database/sql/driver"
	"math"
	"math/big"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// grade is a number that can print itself, as many enumerations in Go do.
type grade int

func (g grade) String() string { return "grade" }

// decimal stands for a decimal type as users have it: a driver.Valuer that gives
// text.
type decimal string

func (d decimal) Value() (driver.Value, error) { return string(d), nil }

func numeric(text string) (n pgtype.Numeric) {
	if err := n.Scan(text); err != nil {
		panic(err)
	}
	return n
}

func pointer[T any](v T) *T { return &v }

func bigInt(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

func numberKinds() []kind {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	return []kind{
		{name: "smallint", sql: "smallint", values: []value{
			lit("-32768", g(int16(-32768)), g(-32768), g(-32768.0)), lit("32767", g(uint16(32767)), g(pgtype.Int2{Int16: 32767, Valid: true})),
			lit("0", g(int8(0)), g(uint8(0)), g(0.0)), null(g((*int)(nil)), g[any](nil), g(pgtype.Int2{})),
		}},
		{name: "integer", sql: "integer", values: []value{
			lit("-2147483648", g(int32(math.MinInt32)), g(int64(math.MinInt32))), lit("2147483647", g(pointer(math.MaxInt32)), g(2147483647.0), g(uint32(math.MaxInt32))),
			lit("3", g(grade(3)), g(pointer(grade(3))), g(float32(3))), lit(" 7 "), null(g((*float64)(nil))),
		}},
		{name: "bigint", sql: "bigint", values: []value{
			lit("-9223372036854775808", g(int64(math.MinInt64)), g(-float64(1<<63)), g(bigInt("-9223372036854775808"))),
			lit("9223372036854775807", g(int64(math.MaxInt64)), g(uint64(math.MaxInt64)), g(decimal("9223372036854775807"))),
			lit("9007199254740992", g(float64(1<<53))), null(g((*big.Int)(nil))),
		}},
		{name: "oid", sql: "oid", values: []value{lit("4294967295", g(uint32(math.MaxUint32))), lit("0", g(uint32(0)))}},
		{name: "numeric", sql: "numeric", values: []value{
			lit("0", g(0), g(bigInt("0")), g(0.0)), same(lit("0.00", g(decimal("0.00")), g(numeric("0.00")))),
			lit("1.50", g(numeric("1.50")), g(pointer(numeric("1.50"))), g(decimal("1.50"))), same(lit("1.5", g(1.5), g(float32(1.5)))),
			lit("-0.000001", g(-0.000001), g(numeric("-0.000001"))),
			lit("123456789012345678901234567890.123456789", g(numeric("123456789012345678901234567890.123456789"))),
			lit("100000000000000000000", g(bigInt("100000000000000000000")), g(1e20), g(numeric("100000000000000000000"))),
			lit("18446744073709551615", g(uint64(math.MaxUint64)), g(uint(math.MaxUint64))),
			lit("100000000000000001", g(int64(100000000000000001))), lit("1e3"), lit("-1.5E-7"), lit("1e-100"),
			lit("NaN", g(nan), g(pgtype.Numeric{NaN: true, Valid: true})),
			lit("Infinity", g(inf), g(pgtype.Numeric{InfinityModifier: pgtype.Infinity, Valid: true})), lit("-Infinity", g(-inf)),
			null(g(pgtype.Numeric{}), g((*decimal)(nil))),
		}},
		{name: "numeric_scale", sql: "numeric(10,2)", values: []value{
			lit("1.50", g(1.5), g(numeric("1.500")), g(decimal("1.5"))), lit("0.00", g(0), g(bigInt("0"))), lit("-99999999.99", g(numeric("-99999999.99"))),
			lit("0.10", g(0.1)), lit("1.2e1"), lit("NaN", g(nan)), lit("12345678.00", g(12345678)), null(),
		}},
		{name: "numeric_tens", sql: "numeric(3,-2)", needs: "SELECT '1200'::numeric(3,-2)", values: []value{lit("1200", g(1200), g(1200.0))}},
		{name: "real", sql: "real", values: []value{
			lit("1.5", g(float32(1.5)), g(1.5), g(pgtype.Float4{Float32: 1.5, Valid: true})), lit("0.1", g(float32(0.1))), lit("0", g(0)), same(lit("-0", g(float32(zero)), g(zero))),
			lit("1e-45", g(float32(math.SmallestNonzeroFloat32))), lit("3.4028235e+38", g(float32(math.MaxFloat32))), lit("16777216", g(1<<24)),
			lit("NaN", g(float32(nan)), g(nan)), lit("Infinity", g(float32(inf)), g(inf)), lit("-Infinity", g(-inf)), null(),
		}},
		{name: "double", sql: "double precision", values: []value{
			lit("0.1", g(0.1), g(pointer(0.1)), g(pgtype.Float8{Float64: 0.1, Valid: true})), lit("0", g(0), g(0.0)), same(lit("-0", g(zero))),
			lit("0.10000000149011612", g(float32(0.1))), lit("5e-324", g(math.SmallestNonzeroFloat64)), lit("1.7976931348623157e+308", g(math.MaxFloat64)),
			lit("9007199254740992", g(int64(1)<<53), g(bigInt("9007199254740992"))), lit("100000000000000000", g(1e17), g(int64(1e17))),
			lit("NaN", g(nan), g(pointer(nan)), g(number(nan)), g(float32(nan)), g(pgtype.Float8{Float64: nan, Valid: true}), g(pointer(pgtype.Float8{Float64: nan, Valid: true})), g(sql.NullFloat64{Float64: nan, Valid: true})),
			lit("Infinity", g(inf)), lit("-Infinity", g(-inf)), null(g((*float64)(nil)), g(pgtype.Float8{}), g((*pgtype.Float8)(nil))),
		}},
		{name: "money", sql: "money", values: []value{
			lit("12", g(12), g(12.0)), lit("12.34", g(12.34), g(decimal("12.34"))), lit("$12,345.67"), same(lit("12345.67", g(12345.67), g(decimal("12345.67")))), lit("-0.01", g(-0.01)), null(),
		}},
		{name: "boolean", sql: "boolean", values: []value{lit("true", g(true), g(pgtype.Bool{Bool: true, Valid: true})), same(lit("yes")), lit("false", g(false)), null(g((*bool)(nil)))}},
		{name: "bits", sql: "bit(8)", values: []value{lit("10101010", g(pgtype.Bits{Bytes: []byte{0xaa}, Len: 8, Valid: true})), lit("00000000"), null(g(pgtype.Bits{}))}},
		{name: "varbits", sql: "bit varying(12)", values: []value{lit(""), lit("101", g(pgtype.Bits{Bytes: []byte{0xa0}, Len: 3, Valid: true})), lit(strings.Repeat("1", 12))}},
	}
}
