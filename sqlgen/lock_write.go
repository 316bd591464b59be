package sqlgen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// lockWriter writes the fields that the decoder reads, each on a line of its
// own. What is not set is left out.
type lockWriter struct{ strings.Builder }

// value writes what comes after "name:", on the lines below it when it is more
// than one scalar.
func (w *lockWriter) value(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		w.value(v.Elem(), depth)
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if field := v.Field(f.index); !field.IsZero() {
				w.entry(f.name, field, depth)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.item(v.Index(i), depth)
		}
	}
}

// entry writes "name: value".
func (w *lockWriter) entry(name string, v reflect.Value, depth int) {
	v, _ = shortForm(v)
	w.WriteString(strings.Repeat("  ", depth) + name + ":")
	if text, ok := scalarText(v); ok {
		w.WriteString(" " + text + "\n")
		return
	}
	w.WriteString("\n")
	w.value(v, depth+1)
}

// item writes one item of a list, or one entry of a [Named].
func (w *lockWriter) item(v reflect.Value, depth int) {
	v, _ = shortForm(v)
	indent := strings.Repeat("  ", depth)
	if text, ok := scalarText(v); ok {
		w.WriteString(indent + "- " + text + "\n")
		return
	}
	if !v.FieldByName("Value").IsValid() {
		var inner lockWriter
		inner.value(v, depth+1)
		w.WriteString(indent + "- " + strings.TrimLeft(inner.String(), " "))
		return
	}
	if depth == 1 {
		w.WriteString("\n") // between tables
	}
	w.entry(jsonText(v.FieldByName("Name").String()), v.FieldByName("Value"), depth)
}

func scalarText(v reflect.Value) (string, bool) {
	switch v.Kind() {
	case reflect.String:
		return jsonText(v.String()), true
	case reflect.Int, reflect.Bool:
		return fmt.Sprint(v.Interface()), true
	}
	return "", false
}

// jsonText returns text in quotes as YAML reads it too.
func jsonText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}
