package runner

import (
	"math"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// postgresNaN is the one NaN that PostgreSQL itself makes; Go's has another bit
// set, which it would keep. They are equal, and not the same to who compares
// bytes.
var postgresNaN = math.Float64frombits(0x7ff8 << 48)

// withPostgresNaN returns a value for a column in which each NaN is PostgreSQL's.
// What is the caller's stays as it is.
func withPostgresNaN(oid uint32, value any) any {
	switch oid {
	case pgtype.Float8OID:
		return numberWithNaN(value)
	case pgtype.Float8ArrayOID:
		return arrayWithNaN(value)
	}
	return value
}

func numberWithNaN(value any) any {
	if f, ok := value.(float64); ok { // nearly all are
		if f != f {
			return postgresNaN
		}
		return value
	}
	v := pointedTo(value)
	if v.Kind() == reflect.Float64 && math.IsNaN(v.Float()) {
		return postgresNaN
	}
	if v.IsValid() && v.CanInterface() {
		if f, ok := v.Interface().(pgtype.Float8); ok && f.Valid && math.IsNaN(f.Float64) {
			return postgresNaN
		}
	}
	return value
}

// arrayWithNaN takes slices, arrays, pointers to them, and arrays of the driver's.
func arrayWithNaN(value any) any {
	if list, ok := value.([]float64); ok && !slices.ContainsFunc(list, math.IsNaN) {
		return value
	}
	v := pointedTo(value)
	if !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil() {
		return value
	}
	if array, ok := v.Interface().(pgtype.ArrayGetter); ok {
		return nanArray{array}
	}
	if v.Kind() == reflect.Array || v.Kind() == reflect.Slice {
		return elementsWithNaN(v)
	}
	return value
}

func elementsWithNaN(list reflect.Value) []any {
	out := make([]any, list.Len())
	for i := range out {
		out[i] = numberWithNaN(list.Index(i).Interface())
	}
	return out
}

// nanArray is an array of the driver's with the NaN of PostgreSQL.
type nanArray struct{ pgtype.ArrayGetter }

// Index returns an element.
func (a nanArray) Index(i int) any { return numberWithNaN(a.ArrayGetter.Index(i)) }

// pointedTo follows the pointers of a value to their end, which may be nil.
func pointedTo(value any) reflect.Value {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v
}
