package runner

import (
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// elementOf gives the element type of the array types whose elements can lose
// something.
func elementOf(oid uint32) (uint32, bool) {
	switch oid {
	case pgtype.Int2ArrayOID:
		return pgtype.Int2OID, true
	case pgtype.Int4ArrayOID:
		return pgtype.Int4OID, true
	case pgtype.Int8ArrayOID:
		return pgtype.Int8OID, true
	case pgtype.Float4ArrayOID:
		return pgtype.Float4OID, true
	case pgtype.Float8ArrayOID:
		return pgtype.Float8OID, true
	case pgtype.NumericArrayOID:
		return pgtype.NumericOID, true
	case pgtype.DateArrayOID:
		return pgtype.DateOID, true
	case pgtype.TimestampArrayOID:
		return pgtype.TimestampOID, true
	case pgtype.TimestamptzArrayOID:
		return pgtype.TimestamptzOID, true
	}
	return 0, false
}

// loss says what a column of this type would change in value, or "" when it
// keeps value as it is. A value of a type that the column cannot take at all
// is not its business: the driver refuses that one.
func loss(oid uint32, typmod int32, value any) string {
	value = plain(value)
	if value == nil {
		return ""
	}
	if element, ok := elementOf(oid); ok {
		return lossOfElements(element, typmod, value)
	}
	switch oid {
	case pgtype.Int2OID:
		return lossOfInteger(16, value)
	case pgtype.Int4OID:
		return lossOfInteger(32, value)
	case pgtype.Int8OID:
		return lossOfInteger(64, value)
	case pgtype.Float4OID:
		return lossOfFloat(32, value)
	case pgtype.Float8OID:
		return lossOfFloat(64, value)
	case pgtype.NumericOID:
		return lossOfNumeric(typmod, value)
	case pgtype.DateOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		if t, ok := value.(time.Time); ok {
			return lossOfTime(oid, t)
		}
	}
	return ""
}

// plain follows pointers and asks driver.Valuers, so that what is behind them
// can be looked at. It never changes what is sent.
func plain(value any) any {
	for range 4 {
		v := reflect.ValueOf(value)
		switch {
		case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
			return nil
		case v.Type() == reflect.TypeFor[pgtype.Numeric]():
			return value
		}
		if valuer, ok := value.(driver.Valuer); ok {
			inner, err := valuer.Value()
			if err != nil {
				return value
			}
			value = inner
			continue
		}
		if v.Kind() != reflect.Pointer {
			return value
		}
		value = v.Elem().Interface()
	}
	return value
}

func lossOfElements(oid uint32, typmod int32, value any) string {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return ""
	}
	for i := range v.Len() {
		element := v.Index(i).Interface()
		var why string
		if kind := reflect.ValueOf(element).Kind(); kind == reflect.Slice || kind == reflect.Array {
			why = lossOfElements(oid, typmod, element)
		} else {
			why = loss(oid, typmod, element)
		}
		if why != "" {
			return fmt.Sprintf("element %d: %s", i+1, why)
		}
	}
	return ""
}

func lossOfInteger(bits int, value any) string {
	low, high := -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) // high is one more than fits
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		if n := v.Int(); bits < 64 && (n < int64(low) || n >= int64(high)) {
			return "it is out of range"
		}
	case v.CanUint():
		if v.Uint() >= 1<<(bits-1) {
			return "it is out of range"
		}
	case v.CanFloat():
		f := v.Float()
		switch {
		case math.IsNaN(f):
			return "an integer column has no NaN"
		case f < low || f >= high:
			return "it is out of range"
		case f != math.Trunc(f):
			return "its decimals would be lost"
		}
	}
	return ""
}

func lossOfFloat(bits int, value any) string {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		n := v.Int()
		f := float64(n)
		if bits == 32 {
			f = float64(float32(n))
		}
		if back, _ := big.NewFloat(f).Int(nil); back.Cmp(big.NewInt(n)) != 0 {
			return "its last digits would be lost"
		}
	case v.CanUint():
		n := v.Uint()
		f := float64(n)
		if bits == 32 {
			f = float64(float32(n))
		}
		if back, _ := big.NewFloat(f).Int(nil); back.Cmp(new(big.Int).SetUint64(n)) != 0 {
			return "its last digits would be lost"
		}
	case v.CanFloat() && bits == 32:
		f := v.Float()
		if float64(float32(f)) != f && !math.IsNaN(f) {
			return "it has more digits than real keeps; convert it to float32, or make the column double precision"
		}
	}
	return ""
}

// lossOfNumeric looks for digits after the scale of a numeric(p, s).
func lossOfNumeric(typmod int32, value any) string {
	if typmod < 4 {
		return "" // no precision: keeps all digits
	}
	scale := (typmod - 4) & 0x7ff
	if scale > 1000 {
		scale -= 2048 // a negative scale, in 11 bits
	}
	n, ok := decimalOf(value)
	if !ok || !n.Valid || n.NaN || n.Int == nil || n.Exp >= -scale {
		return ""
	}
	cut := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)-int64(n.Exp)), nil)
	if new(big.Int).Rem(n.Int, cut).Sign() != 0 {
		return fmt.Sprintf("its digits after scale %d would be rounded", scale)
	}
	return ""
}

func decimalOf(value any) (n pgtype.Numeric, ok bool) {
	if n, ok = value.(pgtype.Numeric); ok {
		return n, true
	}
	var text string
	v := reflect.ValueOf(value)
	switch {
	case v.CanFloat():
		text = strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case v.CanInt():
		text = strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		text = strconv.FormatUint(v.Uint(), 10)
	case v.Kind() == reflect.String:
		text = v.String()
	default:
		return n, false
	}
	return n, n.Scan(text) == nil
}

// lossOfTime: a date takes the day in the time's own location, and a timestamp
// without time zone the clock of UTC.
func lossOfTime(oid uint32, t time.Time) string {
	if t.IsZero() {
		return "the zero time would become the year 1; use nil, or a nil pointer, where there is no value"
	}
	hour, minute, second := t.Clock()
	if oid == pgtype.DateOID && (hour != 0 || minute != 0 || second != 0 || t.Nanosecond() != 0) {
		return "its time of day would be lost; pass the midnight that begins the day"
	}
	if _, offset := t.Zone(); oid == pgtype.TimestampOID && offset != 0 {
		return "its time zone would be lost; pass t.UTC(), or make the column timestamptz"
	}
	return ""
}

// lossy is the error for one value.
func lossy(c *column, row int64, value any, why string) error {
	return refuse(ErrLossy, "", fmt.Sprintf("row %d, column %s: %s does not fit %s as it is: %s", row, c.name, show(value), c.typeName, why),
		"convert it before the write; no row of this write was kept")
}

// show prints a value for a message, cut when it is long.
func show(value any) string {
	text := fmt.Sprint(plain(value))
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return text
}
