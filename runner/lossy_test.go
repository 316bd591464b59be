package runner

import (
	"database/sql"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestNothingRounds(t *testing.T) {
	half, three := 3.7, 3.0
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	oslo := time.Date(2026, 1, 2, 0, 0, 0, 0, time.FixedZone("Oslo", 3600))
	numeric := func(precision, scale int32) int32 { return precision<<16 | scale&0x7ff + 4 }
	decimal := func(text string) (n pgtype.Numeric) {
		if err := n.Scan(text); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		oid    uint32
		typmod int32
		value  any
		lost   bool
	}{
		{pgtype.Int4OID, -1, 3.7, true},
		{pgtype.Int4OID, -1, &half, true},
		{pgtype.Int4OID, -1, sql.NullFloat64{Float64: 3.7, Valid: true}, true},
		{pgtype.Int4OID, -1, float32(3.5), true},
		{pgtype.Int4OID, -1, math.NaN(), true},
		{pgtype.Int4OID, -1, math.Inf(1), true},
		{pgtype.Int4OID, -1, int64(1) << 31, true},
		{pgtype.Int4OID, -1, -(int64(1) << 31), false},
		{pgtype.Int4OID, -1, uint64(math.MaxUint64), true},
		{pgtype.Int4OID, -1, 3.0, false},
		{pgtype.Int4OID, -1, &three, false},
		{pgtype.Int4OID, -1, (*float64)(nil), false},
		{pgtype.Int4OID, -1, nil, false},
		{pgtype.Int4OID, -1, grade(3), false},
		{pgtype.Int2OID, -1, 40000, true},
		{pgtype.Int2OID, -1, -32768, false},
		{pgtype.Int8OID, -1, float64(1 << 63), true},
		{pgtype.Int8OID, -1, -float64(1 << 63), false},
		{pgtype.Int8OID, -1, uint64(1 << 63), true},
		{pgtype.Int4ArrayOID, -1, []float64{1, 2.5}, true},
		{pgtype.Int4ArrayOID, -1, [][]float64{{1, 2}, {3, 4.5}}, true},
		{pgtype.Int4ArrayOID, -1, []int{1, 2}, false},
		{pgtype.Float8OID, -1, int64(1)<<53 + 1, true},
		{pgtype.Float8OID, -1, int64(1) << 53, false},
		{pgtype.Float8OID, -1, math.NaN(), false},
		{pgtype.Float4OID, -1, 0.1, true},
		{pgtype.Float4OID, -1, float32(0.1), false},
		{pgtype.Float4OID, -1, 1e300, true},
		{pgtype.Float4OID, -1, 1<<24 + 1, true},
		{pgtype.NumericOID, numeric(10, 2), 0.125, true},
		{pgtype.NumericOID, numeric(10, 2), 0.25, false},
		{pgtype.NumericOID, numeric(10, 2), "1.005", true},
		{pgtype.NumericOID, numeric(10, 2), "1.500", false},
		{pgtype.NumericOID, numeric(10, 2), decimal("1.005"), true},
		{pgtype.NumericOID, numeric(10, 2), 7, false},
		{pgtype.NumericOID, numeric(3, -2), 1250, true},
		{pgtype.NumericOID, numeric(3, -2), 1200, false},
		{pgtype.NumericOID, numeric(10, 2), math.NaN(), false},
		{pgtype.NumericOID, -1, 0.125, false},
		{pgtype.DateOID, -1, noon, true},
		{pgtype.DateOID, -1, oslo, false},
		{pgtype.DateOID, -1, time.Time{}, true},
		{pgtype.DateOID, -1, sql.NullTime{}, false},
		{pgtype.TimestampOID, -1, noon, false},
		{pgtype.TimestampOID, -1, oslo, true},
		{pgtype.TimestamptzOID, -1, oslo, false},
		{pgtype.TimestamptzOID, -1, time.Time{}, true},
		{pgtype.TextOID, -1, "anything", false},
	} {
		if why := loss(c.oid, c.typmod, c.value); (why != "") != c.lost {
			t.Errorf("type %d, typmod %d, value %v (%T): lost is %q, want %v", c.oid, c.typmod, c.value, c.value, why, c.lost)
		}
	}
}
