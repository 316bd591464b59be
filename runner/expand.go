package runner

import (
	"fmt"
	"reflect"
)

// Axis is one field of an argset and the values it takes. [Over] makes one.
type Axis struct {
	field  string
	values []any
}

// Over is an axis of [ExpandList].
func Over[V any](field string, values ...V) Axis {
	axis := Axis{field: field, values: make([]any, len(values))}
	for i, value := range values {
		axis.values[i] = value
	}
	return axis
}

// ExpandList returns an argset for each combination of the axes' values; the
// last axis varies fastest. A is a struct, whose fields the axes name, or a map
// with string keys. An axis without values gives an empty list.
//
//	runner.ExpandList[args](
//		runner.Over("Region", "north", "south"),
//		runner.Over("Week", 1, 2, 3),
//	)
func ExpandList[A any](axes ...Axis) ([]A, error) {
	setters, err := axisSetters(reflect.TypeFor[A](), axes)
	if err != nil {
		return nil, err
	}
	size := 1
	for _, axis := range axes {
		size *= len(axis.values)
	}
	if len(axes) == 0 {
		size = 0
	}
	list := make([]A, size)
	for i := range list {
		target := reflect.ValueOf(&list[i]).Elem()
		if target.Kind() == reflect.Map {
			target.Set(reflect.MakeMapWithSize(target.Type(), len(axes)))
		}
		rest := i
		for at := len(axes) - 1; at >= 0; at-- {
			values := axes[at].values
			setters[at](target, values[rest%len(values)])
			rest /= len(values)
		}
	}
	return list, nil
}

type axisSetter func(target reflect.Value, value any)

func axisSetters(t reflect.Type, axes []Axis) ([]axisSetter, error) {
	setters := make([]axisSetter, len(axes))
	seen := map[string]bool{}
	for i, axis := range axes {
		if seen[axis.field] {
			return nil, badArgument("give each field one axis", "ExpandList: field %q is there twice", axis.field)
		}
		seen[axis.field] = true
		var err error
		switch {
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
			setters[i], err = mapSetter(t, axis)
		case t.Kind() == reflect.Struct:
			setters[i], err = fieldSetter(t, axis)
		default:
			err = badArgument("use a struct, or map[string]any", "ExpandList: a %s has no fields", t)
		}
		if err != nil {
			return nil, err
		}
	}
	return setters, nil
}

func mapSetter(t reflect.Type, axis Axis) (axisSetter, error) {
	if err := assignable(t.Elem(), axis, fmt.Sprintf("the values of %s", t)); err != nil {
		return nil, err
	}
	key := reflect.ValueOf(axis.field).Convert(t.Key())
	return func(target reflect.Value, value any) { target.SetMapIndex(key, valueFor(t.Elem(), value)) }, nil
}

func fieldSetter(t reflect.Type, axis Axis) (axisSetter, error) {
	field, ok := t.FieldByName(axis.field)
	if !ok || !field.IsExported() {
		return nil, badArgument("name an exported field", "ExpandList: %s has no field %q", t, axis.field)
	}
	if throughPointer(t, field.Index) {
		return nil, badArgument("embed the struct itself, or name a field of the argset's own",
			"ExpandList: the field %q of %s is that of an embedded pointer, which is nil", axis.field, t)
	}
	if err := assignable(field.Type, axis, fmt.Sprintf("%s.%s", t, axis.field)); err != nil {
		return nil, err
	}
	return func(target reflect.Value, value any) {
		target.FieldByIndex(field.Index).Set(valueFor(field.Type, value))
	}, nil
}

// throughPointer reports whether a field is reached by an embedded pointer.
func throughPointer(t reflect.Type, path []int) bool {
	for _, at := range path[:len(path)-1] {
		if t = t.Field(at).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// assignable checks all values of an axis, so that setting them cannot fail.
func assignable(t reflect.Type, axis Axis, what string) error {
	for _, value := range axis.values {
		v := reflect.ValueOf(value)
		switch {
		case !v.IsValid():
			if kind := t.Kind(); kind == reflect.Pointer || kind == reflect.Interface || kind == reflect.Map || kind == reflect.Slice {
				continue
			}
		case v.Type().AssignableTo(t), sameKind(v.Type(), t):
			continue
		}
		return badArgument("give Over values of the field's type", "ExpandList: %v (%T) does not fit %s, which is %s", value, value, what, t)
	}
	return nil
}

// sameKind allows an untyped constant's type for a named one: Over("Week", 1)
// for a field of type week, where week is an int.
func sameKind(from, to reflect.Type) bool {
	return from.Kind() == to.Kind() && from.PkgPath() == "" && from.ConvertibleTo(to) &&
		from.Kind() != reflect.Slice && from.Kind() != reflect.Struct
}

func valueFor(t reflect.Type, value any) reflect.Value {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return reflect.Zero(t)
	case v.Type().AssignableTo(t):
		return v
	default:
		return v.Convert(t)
	}
}
