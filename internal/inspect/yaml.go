package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// lineWidth is how long a line may get before a mapping or a list is written
// over several.
const lineWidth = 120

// node is a part of a YAML file: a scalar, a list or a mapping.
type node struct {
	scalar string
	list   []node
	fields []nodeField
	kind   reflect.Kind // String, Slice or Map
	inline bool         // on one line, however long
	blocks bool         // on several lines, however short
}

type nodeField struct {
	name  string
	value node
}

// writeFile returns the definition file of tables, with a comment above it.
func writeFile(head string, tables []sqlgen.Table) []byte {
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteString("version: 1\ntables:\n")
	for i := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		n := nodeOf(reflect.ValueOf(tables[i]), false)
		n.blocks = true
		n.item(&b, 1)
	}
	return []byte(b.String())
}

// ranks says which fields come before the others, or after them; 0 is in their
// midst, in the order of the type.
var ranks = map[reflect.Type]map[string]int{
	reflect.TypeFor[sqlgen.Table]():  {"schema": -3, "name": -2, "adopt": -1},
	reflect.TypeFor[sqlgen.Column](): {"comment": 1},
}

// nodeOf returns the node of a value of a definition. What is not set is left
// out. Scalar says that a number is as good as a text.
func nodeOf(v reflect.Value, scalar bool) node {
	switch v.Kind() {
	case reflect.Pointer:
		return nodeOf(v.Elem(), scalar)
	case reflect.Struct:
		return structNode(v)
	case reflect.Slice:
		if isNamed(v.Type()) {
			return namedNode(v)
		}
		n := node{kind: reflect.Slice}
		for i := range v.Len() {
			item := nodeOf(v.Index(i), scalar)
			item.inline = item.inline || v.Type().Elem() == reflect.TypeFor[sqlgen.Column]()
			n.list = append(n.list, item)
		}
		n.blocks = v.Type().Elem() == reflect.TypeFor[sqlgen.Column]() || v.Type().Elem() == reflect.TypeFor[sqlgen.Part]()
		return n
	case reflect.String:
		return node{kind: reflect.String, scalar: scalarText(v.String(), scalar)}
	}
	return node{kind: reflect.String, scalar: fmt.Sprint(v.Interface())}
}

func structNode(v reflect.Value) node {
	n := node{kind: reflect.Map}
	short := "" // the field that stands for the whole where no other is set
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("yaml")
		if !ok {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if v.Field(i).IsZero() && (name != "remainder" || v.FieldByName("Modulus").IsZero()) {
			continue
		}
		if option == "short" {
			short = name
		}
		n.fields = append(n.fields, nodeField{name, nodeOf(v.Field(i), option == "scalar")})
	}
	if len(n.fields) == 1 && n.fields[0].name == short {
		return n.fields[0].value
	}
	rank := ranks[v.Type()]
	slices.SortStableFunc(n.fields, func(a, b nodeField) int { return cmp.Compare(rank[a.name], rank[b.name]) })
	return n
}

// isNamed reports whether a type is a [sqlgen.Named].
func isNamed(t reflect.Type) bool {
	return strings.HasPrefix(t.Name(), "Named[") && t.Elem().Kind() == reflect.Struct
}

func namedNode(v reflect.Value) node {
	n := node{kind: reflect.Map}
	for i := range v.Len() {
		item := v.Index(i)
		n.fields = append(n.fields, nodeField{scalarText(item.FieldByName("Name").String(), false), nodeOf(item.FieldByName("Value"), false)})
	}
	return n
}

// flow returns the node on one line.
func (n node) flow() string {
	var parts []string
	switch n.kind {
	case reflect.Slice:
		for _, item := range n.list {
			parts = append(parts, item.flow())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		for _, f := range n.fields {
			parts = append(parts, f.name+": "+f.value.flow())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.scalar
}

// fits reports whether the node goes on one line, after what is there already.
func (n node) fits(indent int) bool {
	return n.kind == reflect.String || n.inline || !n.blocks && !n.holdsBlocks() && indent+len([]rune(n.flow())) <= lineWidth
}

func (n node) holdsBlocks() bool {
	for _, f := range n.fields {
		if f.value.blocks || f.value.holdsBlocks() {
			return true
		}
	}
	return false
}

// field writes "name: value".
func (f nodeField) write(b *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	if f.value.fits(len(indent) + len(f.name) + 2) {
		fmt.Fprintf(b, "%s%s: %s\n", indent, f.name, f.value.flow())
		return
	}
	fmt.Fprintf(b, "%s%s:\n", indent, f.name)
	for _, item := range f.value.list {
		item.item(b, depth+1)
	}
	for _, field := range f.value.fields {
		field.write(b, depth+1)
	}
}

// item writes "- value".
func (n node) item(b *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	if n.fits(len(indent) + 2) {
		fmt.Fprintf(b, "%s- %s\n", indent, n.flow())
		return
	}
	var inner strings.Builder
	for _, f := range n.fields {
		f.write(&inner, depth+1)
	}
	for _, item := range n.list {
		item.item(&inner, depth+1)
	}
	b.WriteString(indent + "- " + strings.TrimLeft(inner.String(), " "))
}

var (
	plainText = regexp.MustCompile(`^[\pL_][\pL\pN_ .;()*+<>=/-]*$`)
	number    = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15})$`)
	yamlWords = map[string]bool{
		"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	}
)

// scalarText returns text as YAML reads it, in the fewest quotes that no reader
// of YAML could misunderstand. Scalar: it may be a number, or true or false.
func scalarText(text string, scalar bool) string {
	switch {
	case scalar && (number.MatchString(text) || text == "true" || text == "false"):
		return text
	case plainText.MatchString(text) && !strings.HasSuffix(text, " ") && (!yamlWords[strings.ToLower(text)] || text == "n" || text == "y"):
		return text
	case strings.Contains(text, `"`) && !strings.Contains(text, "'") && !strings.ContainsFunc(text, notPrinted):
		return "'" + text + "'"
	}
	return quotedText(text)
}

func notPrinted(r rune) bool { return !unicode.IsPrint(r) }

// quotedText returns text in double quotes.
func quotedText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}
