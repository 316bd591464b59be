package runner

import (
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// elements are the array types whose elements can lose something, and the
// multiranges, whose elements are ranges.
var elements = map[uint32]uint32{
	pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID,
	pgtype.Float4ArrayOID: pgtype.Float4OID, pgtype.Float8ArrayOID: pgtype.Float8OID, pgtype.NumericArrayOID: pgtype.NumericOID,
	pgtype.DateArrayOID: pgtype.DateOID, pgtype.TimeArrayOID: pgtype.TimeOID, pgtype.TimetzArrayOID: pgtype.TimetzOID,
	pgtype.TimestampArrayOID: pgtype.TimestampOID, pgtype.TimestamptzArrayOID: pgtype.TimestamptzOID, pgtype.IntervalArrayOID: pgtype.IntervalOID,
	pgtype.TextArrayOID: pgtype.TextOID, pgtype.VarcharArrayOID: pgtype.VarcharOID, pgtype.NameArrayOID: pgtype.NameOID,
	pgtype.InetArrayOID: pgtype.InetOID, pgtype.CIDRArrayOID: pgtype.CIDROID,
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
		element, ok = bounds[oid]
	}
	return element, ok
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
