package runner

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// rowShape is how rows of one type become values. It is made once a write, so
// that a row costs no look-up by name.
type rowShape struct {
	columns []string
	types   []reflect.Type // of the columns' values; nil where rows may differ
	read    func(row reflect.Value, into []any) error
}

func structShape(t reflect.Type) (*rowShape, error) {
	base := t
	if t.Kind() == reflect.Pointer {
		base = t.Elem()
	}
	if base.Kind() != reflect.Struct {
		return nil, badArgument("use a struct, a pointer to one, or map[string]any; or runner.Values", "rows of type %s have no columns", t)
	}
	var shape rowShape
	var paths [][]int
	collectFields(base, nil, func(column string, path []int, t reflect.Type) {
		shape.columns = append(shape.columns, column)
		shape.types = append(shape.types, t)
		paths = append(paths, path)
	})
	if len(shape.columns) == 0 {
		return nil, badArgument("export the fields that are columns", "rows of type %s have no exported field", t)
	}
	if err := noneTwice(shape.columns); err != nil {
		return nil, err
	}
	shape.read = func(row reflect.Value, into []any) error {
		if row.Kind() == reflect.Pointer {
			if row.IsNil() {
				return badArgument("leave missing rows out", "it is a nil *%s", base)
			}
			row = row.Elem()
		}
		for i, path := range paths {
			into[i] = fieldValue(row, path)
		}
		return nil
	}
	return &shape, nil
}

// maxEmbedding ends the walk through a struct that embeds a pointer to itself.
const maxEmbedding = 10

// collectFields calls found for each field that is a column, those of embedded
// structs in their place.
func collectFields(t reflect.Type, path []int, found func(column string, path []int, t reflect.Type)) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("db"), ",")
		here := append(slices.Clone(path), i)
		if embedded := field.Type; field.Anonymous && tag == "" {
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			// a pointer to an unexported struct cannot be followed from here
			readable := field.IsExported() || field.Type.Kind() == reflect.Struct
			if embedded.Kind() == reflect.Struct && readable && hasFields(embedded) && len(path) < maxEmbedding {
				collectFields(embedded, here, found)
				continue
			}
		}
		if tag == "-" || !field.IsExported() {
			continue
		}
		if tag == "" {
			tag = snakeCase(field.Name)
		}
		found(tag, here, field.Type)
	}
}

// hasFields reports whether a struct has fields of its own to offer. One that
// has none, like time.Time, is a value.
func hasFields(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

func fieldValue(row reflect.Value, path []int) any {
	for i, at := range path {
		if i > 0 && row.Kind() == reflect.Pointer {
			if row.IsNil() {
				return nil
			}
			row = row.Elem()
		}
		row = row.Field(at)
	}
	return row.Interface()
}

// mapShape takes the columns of the first row.
func mapShape(t reflect.Type, first reflect.Value, present bool) (*rowShape, error) {
	if t.Key().Kind() != reflect.String {
		return nil, badArgument("use map[string]any", "rows of type %s have no column names", t)
	}
	if !present {
		return &rowShape{}, nil
	}
	columns := slices.Sorted(maps.Keys(keysOf(first)))
	if len(columns) == 0 {
		return nil, badArgument("give each row its columns", "the first row is an empty map")
	}
	return &rowShape{columns: columns, types: slices.Repeat([]reflect.Type{t.Elem()}, len(columns)), read: func(row reflect.Value, into []any) error {
		if row.Len() != len(columns) {
			return differentKeys(columns, row)
		}
		for i, column := range columns {
			value := row.MapIndex(reflect.ValueOf(column).Convert(t.Key()))
			if !value.IsValid() {
				return differentKeys(columns, row)
			}
			into[i] = value.Interface()
		}
		return nil
	}}, nil
}

func keysOf(row reflect.Value) map[string]bool {
	keys := make(map[string]bool, row.Len())
	for _, key := range row.MapKeys() {
		keys[key.String()] = true
	}
	return keys
}

func differentKeys(columns []string, row reflect.Value) error {
	return badArgument("give every row the same columns, nil where there is no value",
		"its columns are %s, and those of the first row %s",
		strings.Join(slices.Sorted(maps.Keys(keysOf(row))), ", "), strings.Join(columns, ", "))
}

// snakeCase turns UserID into user_id and ISOWeek into iso_week.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			before, after := runes[i-1], rune(0)
			if i+1 < len(runes) {
				after = runes[i+1]
			}
			if before != '_' && (!unicode.IsUpper(before) || unicode.IsLower(after)) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
