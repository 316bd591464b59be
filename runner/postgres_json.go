package runner

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"unicode/utf8"
)

// writesReplacement reports whether a JSON text has the replacement character as an
// escape, which is how encoding/json writes bytes that are no UTF-8. Slashes is how
// many backslashes an escape has in the text: in an array they are doubled.
func writesReplacement(text []byte, slashes int) bool {
	for rest := text; ; {
		at := bytes.Index(rest, []byte(`ufffd`))
		if at < 0 {
			return false
		}
		if found := at - len(bytes.TrimRight(rest[:at], "\\")); found/slashes%2 == 1 {
			return true
		}
		rest = rest[at+5:]
	}
}

// hasBrokenText reports whether encoding/json would replace bytes in a text of a
// value. What the caller wrote as JSON, a json.RawMessage or what a method gives,
// is kept as it is and may have such an escape of its own.
func hasBrokenText(v reflect.Value) bool {
	if !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return false
	}
	if broken, own := ownText(v); own {
		return broken
	}
	switch v.Kind() {
	case reflect.String:
		return !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return hasBrokenText(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return false // in base 64
		}
		for i := range v.Len() {
			if hasBrokenText(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if hasBrokenText(entry.Key()) || hasBrokenText(entry.Value()) {
				return true
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if inJSON(field) && hasBrokenText(value) {
				return true
			}
		}
	}
	return false
}

// inJSON reports whether encoding/json writes a field of a struct.
func inJSON(field reflect.StructField) bool {
	return (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-"
}

// ownText reports whether a method of a value gives its JSON, and whether that is
// a text which encoding/json would replace bytes in.
func ownText(v reflect.Value) (broken, own bool) {
	if !v.CanInterface() {
		return false, false
	}
	value := v.Interface()
	if v.CanAddr() {
		value = v.Addr().Interface() // which has all methods
	}
	switch value := value.(type) {
	case json.Marshaler:
		return false, true
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return err == nil && !utf8.Valid(text), true
	}
	return false, false
}
