package runner

import (
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// loss says what a column of this type would change in value, or "" when it
// keeps value as it is. A value of a type that the column cannot take at all
// is not its business: the driver refuses that one, or the server.
func loss(oid uint32, typmod int32, value any) string {
	return lossOf(oid, typmod, value, plain(value))
}

// loss is [loss] for a value and what [plain] makes of it. The elements of an
// array may be of a domain, which only the database knows.
func (c *column) loss(value, inside any) string {
	switch e := c.element; {
	case e == nil || inside == nil:
		return lossOf(c.oid, c.typmod, value, inside)
	default:
		if text, ok := textOf(inside); ok {
			return lossOfElementsText(c.oid, e.oid, e.typmod, text)
		}
		return lossOfElements(e.oid, e.typmod, inside)
	}
}

// lossOf is loss for a value and what [plain] makes of it.
func lossOf(oid uint32, typmod int32, value, inside any) string {
	if inside == nil {
		return ""
	}
	if element, ok := elementOf(oid); ok {
		if text, isText := textOf(inside); isText {
			return lossOfElementsText(oid, element, typmod, text)
		}
		return lossOfElements(element, typmod, inside)
	}
	if t, ok := inside.(time.Time); ok {
		return lossOfTime(oid, typmod, t)
	}
	switch oid {
	case pgtype.Int2OID:
		return lossOfInteger(16, inside)
	case pgtype.Int4OID:
		return lossOfInteger(32, inside)
	case pgtype.Int8OID:
		return lossOfInteger(64, inside)
	case pgtype.OIDOID, pgtype.XIDOID, pgtype.CIDOID:
		return lossOfUnsigned(32, inside)
	case xid8OID:
		return lossOfUnsigned(64, inside)
	case pgtype.Float4OID:
		return lossOfFloat(32, value, inside)
	case pgtype.Float8OID:
		return lossOfFloat(64, value, inside)
	case pgtype.NumericOID:
		return lossOfNumeric(typmod, value, inside)
	case moneyOID:
		return lossOfNumeric(moneyTypmod, value, inside)
	case pgtype.IntervalOID:
		return lossOfInterval(typmod, inside)
	case pgtype.InetOID, pgtype.CIDROID:
		return lossOfAddress(inside)
	}
	text, ok := textOf(inside)
	if raw, isRaw := inside.([]byte); isRaw && isTextual(oid) {
		text, ok = string(raw), true
	}
	if ok {
		return lossOfText(oid, typmod, text)
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
		case v.Type() == reflect.TypeFor[pgtype.Numeric](), v.Type() == reflect.TypeFor[pgtype.Interval]():
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

// xid8OID is the type that the driver has no name for.
const xid8OID = 5069

// lossOfUnsigned is lossOfInteger for object and transaction identifiers.
func lossOfUnsigned(bits int, value any) string {
	v := reflect.ValueOf(value)
	high := math.Ldexp(1, bits) // one more than fits
	switch {
	case v.CanInt() && v.Int() < 0, v.CanUint() && bits < 64 && v.Uint() >= 1<<bits, v.CanInt() && bits < 64 && v.Int() >= 1<<bits:
		return "it is out of range"
	case v.CanFloat():
		f := v.Float()
		switch {
		case math.IsNaN(f), f < 0, f >= high:
			return "it is out of range"
		case f != math.Trunc(f):
			return "its decimals would be lost"
		}
	}
	return ""
}

const (
	lastDigits = "its last digits would be lost"
	moreDigits = "it has more digits than real keeps; convert it to float32, or make the column double precision"
)

// isFinite reports whether a numeric is a number with digits of its own.
func isFinite(n pgtype.Numeric) bool {
	return n.Valid && !n.NaN && n.InfinityModifier == pgtype.Finite && n.Int != nil && n.Int.Sign() != 0
}

// givesBack reports whether a float is read back as the decimal. An integer may
// have more digits than the shortest decimal of its float.
func givesBack(f float64, bits int, n pgtype.Numeric) bool {
	if back, ok := decimalOf(f, strconv.FormatFloat(f, 'e', -1, bits)); ok && sameDecimal(n, back) {
		return true
	}
	if n.Exp < 0 || f != math.Trunc(f) {
		return false
	}
	whole, _ := new(big.Float).SetFloat64(f).Int(nil)
	return sameDecimal(n, pgtype.Numeric{Int: whole, Valid: true})
}

// lossOfFloat compares a number with the one that the column would give back, by
// their shortest decimals: 0.1 is given back, 9007199254740993 is not.
func lossOfFloat(bits int, value, inside any) string {
	v := reflect.ValueOf(inside)
	if v.CanFloat() {
		if f := v.Float(); bits == 32 && float64(float32(f)) != f && !math.IsNaN(f) {
			return moreDigits
		}
		return ""
	}
	if v.CanInt() && v.Int() <= 1<<24 && v.Int() >= -1<<24 {
		return "" // nearly all are
	}
	switch n := inside.(type) {
	case big.Float:
		return tenDigits
	case big.Int:
		value = &n // it is a Stringer
	}
	n, ok := decimalOf(value, inside)
	if !ok || !isFinite(n) {
		return "" // not a number, or one that is refused
	}
	// no float needs more digits, and none of these exponents is in range
	if n.Exp > 400 || len(n.Int.String())+int(n.Exp) > 400 || n.Exp < -20000 {
		return "" // out of range, which the server says
	}
	text := n.Int.String() + "e" + strconv.Itoa(int(n.Exp))
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return ""
	}
	switch {
	case givesBack(f, bits, n):
		return ""
	case bits == 32:
		return lastDigits + ": " + moreDigits
	}
	return lastDigits
}

// sameDecimal compares two finite numbers.
func sameDecimal(a, b pgtype.Numeric) bool {
	low := min(a.Exp, b.Exp)
	scaled := func(n pgtype.Numeric) *big.Int {
		return new(big.Int).Mul(n.Int, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Exp-low)), nil))
	}
	return scaled(a).Cmp(scaled(b)) == 0
}

// tenDigits is what is wrong with a big.Float: the driver takes its String.
const tenDigits = "the driver would write 10 digits of it; pass the text, f.Text('f', -1)"

// The type money has two decimals, in most settings of lc_monetary.
const (
	moneyOID      = 790
	moneyArrayOID = 791
	moneyTypmod   = 19<<16 | 2 + 4
)

// lossOfNumeric looks for digits after the scale of a numeric(p, s).
func lossOfNumeric(typmod int32, value, inside any) string {
	if _, ok := inside.(big.Float); ok {
		return tenDigits
	}
	if typmod < 4 {
		return "" // no precision: keeps all digits
	}
	scale := (typmod - 4) & 0x7ff
	if scale > 1000 {
		scale -= 2048 // a negative scale, in 11 bits
	}
	if text, isText := textOf(inside); isText && typmod == moneyTypmod {
		inside = strings.NewReplacer("$", "", ",", "", "(", "", ")", "").Replace(text)
	}
	n, ok := decimalOf(value, inside)
	switch {
	case !ok, !n.Valid, n.NaN, n.Int == nil, n.Int.Sign() == 0, n.Exp >= -scale:
		return ""
	case -scale-n.Exp < maxDigits:
		cut := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)-int64(n.Exp)), nil)
		if new(big.Int).Rem(n.Int, cut).Sign() == 0 {
			return ""
		}
	}
	return fmt.Sprintf("its digits after scale %d would be rounded", scale)
}

// maxDigits is more than what PostgreSQL keeps after the point.
const maxDigits = 20000

// decimalText is a number as PostgreSQL reads one.
var decimalText = regexp.MustCompile(`^\s*([+-]?)([0-9_]*)(?:\.([0-9_]*))?(?:[eE]([+-]?[0-9]{1,7}))?\s*$`)

// decimalOf returns the number that a value is, or that its text is.
func decimalOf(value, inside any) (n pgtype.Numeric, ok bool) {
	if n, ok = inside.(pgtype.Numeric); ok {
		return n, true
	}
	var text string
	v := reflect.ValueOf(inside)
	stringer, hasText := value.(fmt.Stringer)
	switch {
	case v.CanFloat():
		text = strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case v.CanInt():
		text = strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		text = strconv.FormatUint(v.Uint(), 10)
	case v.Kind() == reflect.String:
		text = v.String()
	case hasText:
		text = stringer.String()
	default:
		return n, false
	}
	match := decimalText.FindStringSubmatch(text)
	if match == nil {
		return n, false
	}
	digits := strings.ReplaceAll(match[2]+match[3], "_", "")
	exponent, _ := strconv.Atoi(match[4]) // none is 0
	n.Int, ok = new(big.Int).SetString(match[1]+digits, 10)
	n.Exp = int32(exponent - len(strings.ReplaceAll(match[3], "_", "")))
	n.Valid = ok
	return n, ok
}

// lossy is the error for one value.
func lossy(c *column, row int64, value any, why string) error {
	return refuse(ErrLossy, "", fmt.Sprintf("row %d, column %s: %s does not fit %s as it is: %s", row, c.name, show(value), c.typeName, why),
		"convert it before the write; no row of this write was kept")
}

// show prints a value for a message, cut when it is long.
func show(value any) string {
	inside := plain(value)
	text := fmt.Sprint(inside)
	if inside != nil && reflect.TypeOf(inside).Kind() == reflect.Struct {
		text = fmt.Sprint(value) // its methods may be those of a pointer
	}
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return text
}
