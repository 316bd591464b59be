package runner

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// elements are the array types whose elements can lose something.
var elements = map[uint32]uint32{
	pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID,
	pgtype.Float4ArrayOID: pgtype.Float4OID, pgtype.Float8ArrayOID: pgtype.Float8OID, pgtype.NumericArrayOID: pgtype.NumericOID,
	pgtype.DateArrayOID: pgtype.DateOID, pgtype.TimeArrayOID: pgtype.TimeOID, pgtype.TimetzArrayOID: pgtype.TimetzOID,
	pgtype.TimestampArrayOID: pgtype.TimestampOID, pgtype.TimestamptzArrayOID: pgtype.TimestamptzOID, pgtype.IntervalArrayOID: pgtype.IntervalOID,
	pgtype.TextArrayOID: pgtype.TextOID, pgtype.VarcharArrayOID: pgtype.VarcharOID, pgtype.NameArrayOID: pgtype.NameOID,
	pgtype.InetArrayOID: pgtype.InetOID, pgtype.CIDRArrayOID: pgtype.CIDROID, pgtype.QCharArrayOID: pgtype.QCharOID,
	pgtype.OIDArrayOID: pgtype.OIDOID, pgtype.XIDArrayOID: pgtype.XIDOID, moneyArrayOID: moneyOID,
	pgtype.Int4rangeArrayOID: pgtype.Int4rangeOID, pgtype.Int8rangeArrayOID: pgtype.Int8rangeOID, pgtype.NumrangeArrayOID: pgtype.NumrangeOID,
	pgtype.DaterangeArrayOID: pgtype.DaterangeOID, pgtype.TsrangeArrayOID: pgtype.TsrangeOID, pgtype.TstzrangeArrayOID: pgtype.TstzrangeOID,
	pgtype.DatemultirangeArrayOID: pgtype.DatemultirangeOID, pgtype.TsmultirangeArrayOID: pgtype.TsmultirangeOID, pgtype.TstzmultirangeArrayOID: pgtype.TstzmultirangeOID,
}

// multiranges are the types whose elements are ranges.
var multiranges = map[uint32]uint32{
	pgtype.Int4multirangeOID: pgtype.Int4rangeOID, pgtype.Int8multirangeOID: pgtype.Int8rangeOID, pgtype.NummultirangeOID: pgtype.NumrangeOID,
	pgtype.DatemultirangeOID: pgtype.DaterangeOID, pgtype.TsmultirangeOID: pgtype.TsrangeOID, pgtype.TstzmultirangeOID: pgtype.TstzrangeOID,
}

// bounds are the types of what the ranges lie between.
var bounds = map[uint32]uint32{
	pgtype.Int4rangeOID: pgtype.Int4OID, pgtype.Int8rangeOID: pgtype.Int8OID, pgtype.NumrangeOID: pgtype.NumericOID,
	pgtype.DaterangeOID: pgtype.DateOID, pgtype.TsrangeOID: pgtype.TimestampOID, pgtype.TstzrangeOID: pgtype.TimestamptzOID,
}

// elementOf gives the element type of an array, range or multirange.
func elementOf(oid uint32) (uint32, bool) {
	element, ok := elements[oid]
	if !ok {
		element, ok = multiranges[oid]
	}
	if !ok {
		element, ok = bounds[oid]
	}
	return element, ok
}

// lossOfElementsText does for the text of an array, a range or a multirange what
// lossOfElements does for a value. A text that is none of its type is refused by
// the server.
func lossOfElementsText(oid, element uint32, typmod int32, text string) string {
	if _, isRange := bounds[oid]; isRange {
		return lossOfBoundsText(element, text)
	}
	if _, isMultirange := multiranges[oid]; isMultirange {
		return lossOfMultirangeText(bounds[element], text)
	}
	for i, item := range arrayItems(text) {
		if why := loss(element, typmod, item); why != "" {
			return fmt.Sprintf("element %d: %s", i+1, why)
		}
	}
	return ""
}

func lossOfBoundsText(oid uint32, text string) string {
	for i, bound := range rangeBounds(text) {
		if why := loss(oid, -1, bound); why != "" {
			return fmt.Sprintf("%s bound: %s", []string{"lower", "upper"}[min(i, 1)], why)
		}
	}
	return ""
}

func lossOfMultirangeText(oid uint32, text string) string {
	inside := strings.Trim(strings.TrimSpace(text), "{}")
	// a range ends with its bracket, which no bound holds without quotes
	for i, part := range splitOutsideQuotes(inside, func(c byte) bool { return c == ')' || c == ']' }) {
		if why := lossOfBoundsText(oid, strings.TrimLeft(part, ", \t\n")); why != "" {
			return fmt.Sprintf("element %d: %s", i+1, why)
		}
	}
	return ""
}

// arrayItems returns the elements of an array's text, whatever its dimensions,
// without those that are NULL.
func arrayItems(text string) []string {
	if bounds, rest, ok := strings.Cut(text, "="); ok && strings.HasPrefix(strings.TrimSpace(bounds), "[") {
		text = rest
	}
	var items []string
	for _, part := range splitOutsideQuotes(text, func(c byte) bool { return c == '{' || c == '}' || c == ',' }) {
		item := strings.Trim(part, " \t\r\n\f\v")
		if item == "" || strings.EqualFold(item, "null") {
			continue
		}
		items = append(items, unquoted(item))
	}
	return items
}

// rangeBounds returns the bounds of a range's text: "" for one that is not there.
func rangeBounds(text string) []string {
	text = strings.Trim(text, " \t\r\n\f\v")
	if text == "" || strings.EqualFold(text, "empty") {
		return nil
	}
	var out []string
	for _, part := range splitOutsideQuotes(strings.Trim(text, "[]()"), func(c byte) bool { return c == ',' }) {
		out = append(out, unquoted(part))
	}
	return out
}

// splitOutsideQuotes splits a text at the bytes that separate its parts.
func splitOutsideQuotes(text string, separates func(byte) bool) []string {
	var parts []string
	quoted, from := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && separates(text[i]):
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[min(from, len(text)):])
}

// unquoted takes the quotes and backslashes off a part of an array or a range.
func unquoted(part string) string {
	if !strings.ContainsAny(part, `"\\`) {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch {
		case part[i] == '\\' && i+1 < len(part):
			i++
			b.WriteByte(part[i])
		case part[i] == '"' && i+1 < len(part) && part[i+1] == '"' && i > 0 && i+2 < len(part):
			i++
			b.WriteByte('"') // doubled, in a range
		case part[i] == '"':
		default:
			b.WriteByte(part[i])
		}
	}
	return b.String()
}

func lossOfElements(oid uint32, typmod int32, value any) string {
	if r, ok := value.(pgtype.RangeValuer); ok {
		return lossOfBounds(oid, r)
	}
	if array, ok := value.(pgtype.ArrayGetter); ok {
		return lossOfArray(oid, typmod, array)
	}
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

// lossOfArray looks at an array of the driver's own.
func lossOfArray(oid uint32, typmod int32, array pgtype.ArrayGetter) string {
	for i := range elementCount(array.Dimensions()) {
		if why := loss(oid, typmod, array.Index(i)); why != "" {
			return fmt.Sprintf("element %d: %s", i+1, why)
		}
	}
	return ""
}

func lossOfBounds(oid uint32, r pgtype.RangeValuer) string {
	if r.IsNull() {
		return ""
	}
	lowerType, upperType := r.BoundTypes()
	lower, upper := r.Bounds()
	for _, bound := range []struct {
		name  string
		kind  pgtype.BoundType
		value any
	}{{"lower", lowerType, lower}, {"upper", upperType, upper}} {
		if bound.kind != pgtype.Inclusive && bound.kind != pgtype.Exclusive {
			continue
		}
		if why := loss(oid, -1, bound.value); why != "" {
			return fmt.Sprintf("%s bound: %s", bound.name, why)
		}
	}
	return ""
}

// elementCount returns how many elements an array of these dimensions has: none
// when it has no dimension.
func elementCount(dimensions []pgtype.ArrayDimension) int {
	if len(dimensions) == 0 {
		return 0
	}
	count := 1
	for _, d := range dimensions {
		count *= int(d.Length)
	}
	return count
}
