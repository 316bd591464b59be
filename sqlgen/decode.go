package sqlgen

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// position is a place in a definition file; line and column count from 1.
type position struct{ line, column int }

// source remembers where each part of one definition file was written, and
// which parts could not be read. A part goes by its path: "tables[0].keys[1]".
type source struct {
	file   string
	values map[string]position // where the part's value starts
	keys   map[string]position // where the field's name, or the entry's, starts
	bad    map[string]bool     // parts that a problem was already reported for
}

// at returns where the value of path starts, or else its name, or else the
// nearest part around it.
func (s *source) at(path string) position {
	for {
		if pos, ok := s.values[path]; ok {
			return pos
		}
		if pos, ok := s.keys[path]; ok {
			return pos
		}
		if path == "" {
			return position{1, 1}
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// given reports whether the file says anything about path.
func (s *source) given(path string) bool {
	_, ok := s.keys[path]
	return ok
}

// badUnder reports whether path, or a part of it, could not be read.
func (s *source) badUnder(path string) bool {
	for bad := range s.bad {
		rest, ok := strings.CutPrefix(bad, path)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// decoder fills the types of a definition file from its syntax tree. It differs
// from a general YAML decoder in three ways: it goes on after a problem, it
// refuses whatever a definition has no meaning for, and it keeps every scalar
// as it was written.
type decoder struct {
	src      *source
	problems []Problem
}

// fail reports a problem at pos and marks path as read badly.
func (d *decoder) fail(pos position, path, format string, args ...any) {
	d.src.bad[path] = true
	d.problems = append(d.problems, Problem{
		File: d.src.file, Line: pos.line, Column: pos.column, Path: path,
		Message: fmt.Sprintf(format, args...),
	})
}

// decode fills target from node. Scalar says that a text may also be written as
// a number or as true or false.
func (d *decoder) decode(node ast.Node, target reflect.Value, path string, scalar bool) {
	pos := positionOf(node)
	d.src.values[path] = pos
	switch node := node.(type) {
	case *ast.AnchorNode:
		d.fail(pos, path, "anchors (&name) are not supported: write the value out where it is needed")
		if node.Value != nil {
			d.decode(node.Value, target, path, scalar)
		}
		return
	case *ast.AliasNode:
		d.fail(pos, path, "aliases (*name) are not supported: write the value out here")
		return
	case *ast.TagNode:
		d.fail(pos, path, "tags (%s) are not supported: remove it, and put text in quotes", node.GetToken().Value)
		return
	case *ast.NullNode:
		switch {
		case partValue.MatchString(path):
			d.fail(pos, path, `null is not a value here: for the text put it in quotes, "null"; for rows without a value write null_too: true`)
		case scalar:
			d.fail(pos, path, `null is not a value here: for the text put it in quotes, "null"; otherwise leave it out`)
		default:
			d.fail(pos, path, "there is no value here: give one or leave the field out")
		}
		return
	}
	if named, ok := target.Addr().Interface().(entryAdder); ok {
		d.decodeNamed(node, named, path)
		return
	}
	if short, ok := shortFieldOf(target.Type()); ok && !isMapping(node) {
		d.decode(node, target.Field(short.index), path, short.scalar)
		return
	}
	switch target.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))
		d.decode(node, target.Elem(), path, scalar)
	case reflect.Struct:
		d.decodeStruct(node, target, path)
	case reflect.Slice:
		d.decodeList(node, target, path, scalar)
	case reflect.String:
		d.decodeText(node, target, path, scalar)
	case reflect.Bool:
		if b, ok := node.(*ast.BoolNode); ok {
			target.SetBool(b.Value)
			return
		}
		d.fail(pos, path, "want true or false without quotes, got %s", describe(node))
	case reflect.Int:
		if n, ok := wholeNumber(node); ok {
			target.SetInt(n)
			return
		}
		d.fail(pos, path, "want a whole number without quotes, got %s", describe(node))
	}
}

func (d *decoder) decodeText(node ast.Node, target reflect.Value, path string, scalar bool) {
	var text string
	switch n := node.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		if !scalar {
			d.fail(positionOf(node), path, "want text, got %s: put it in quotes", describe(node))
			return
		}
		text = node.GetToken().Value
	default:
		d.fail(positionOf(node), path, "want text, got %s", describe(node))
		return
	}
	if strings.ContainsRune(text, 0) {
		d.fail(positionOf(node), path, "the text holds a NUL character, which PostgreSQL cannot store: remove it")
		return
	}
	target.SetString(text)
}

func (d *decoder) decodeList(node ast.Node, target reflect.Value, path string, scalar bool) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		d.fail(positionOf(node), path, "want a list, got %s: write [a, b], or one \"- item\" a line", describe(node))
		return
	}
	target.Set(reflect.MakeSlice(target.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		d.decode(item, target.Index(i), indexed(path, i), scalar)
	}
}

func isMapping(node ast.Node) bool {
	_, ok := node.(*ast.MappingNode)
	return ok
}

// entry is one "name: value" of a mapping.
type entry struct {
	name  string
	path  string
	value ast.Node
}

// entries returns the entries of a mapping that can be read, and reports the
// others: names that are not text, or that were given before. Its second result
// is false when node is no mapping.
func (d *decoder) entries(node ast.Node, path string) ([]entry, bool) {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		d.fail(positionOf(node), path, "want a mapping (name: value), got %s", describe(node))
		return nil, false
	}
	var found []entry
	for _, value := range mapping.Values {
		name, ok := d.entryName(value.Key, path)
		if !ok {
			continue
		}
		e := entry{name: name, path: joinPath(path, name), value: value.Value}
		pos := positionOf(value.Key)
		if first, ok := d.src.keys[e.path]; ok {
			d.fail(pos, e.path, "%q is given twice, first on line %d: remove one of the two", name, first.line)
			continue
		}
		d.src.keys[e.path] = pos
		found = append(found, e)
	}
	return found, true
}

func (d *decoder) entryName(key ast.MapKeyNode, path string) (string, bool) {
	switch key := key.(type) {
	case *ast.StringNode:
		if strings.ContainsRune(key.Value, 0) {
			d.fail(positionOf(key), path, "the name %q holds a NUL character: remove it", key.Value)
			return "", false
		}
		return key.Value, true
	case *ast.MergeKeyNode:
		d.fail(positionOf(key), path, "merge keys (<<) are not supported: write the fields out here")
	case *ast.MappingKeyNode:
		d.fail(positionOf(key), path, `keys written with "?" are not supported: write "name: value"`)
	default:
		d.fail(positionOf(key), path, "want a name, got %s: put it in quotes", describe(key))
	}
	return "", false
}

func (d *decoder) decodeStruct(node ast.Node, target reflect.Value, path string) {
	entries, ok := d.entries(node, path)
	if !ok {
		return
	}
	fields := fieldsOf(target.Type())
	given := map[string]bool{}
	for _, e := range entries {
		given[e.name] = true
		field, ok := fields.named(e.name)
		if !ok {
			d.fail(d.src.keys[e.path], e.path, "unknown field %q: %s", e.name, fields.suggest(e.name))
			continue
		}
		d.decode(e.value, target.Field(field.index), e.path, field.scalar)
	}
	for _, field := range fields {
		if field.required && !given[field.name] {
			d.fail(positionOf(node), joinPath(path, field.name), "the field %q is missing: add it", field.name)
		}
	}
}

// entryAdder is a [Named] of any type: addEntry appends an entry and returns a
// pointer to its value.
type entryAdder interface{ addEntry(name string) any }

func (n *Named[T]) addEntry(name string) any {
	*n = append(*n, NamedItem[T]{Name: name})
	return &(*n)[len(*n)-1].Value
}

func (d *decoder) decodeNamed(node ast.Node, target entryAdder, path string) {
	entries, _ := d.entries(node, path)
	for _, e := range entries {
		value := reflect.ValueOf(target.addEntry(e.name)).Elem()
		d.decode(e.value, value, e.path, false)
	}
}

// positionOf returns where node starts. A block mapping has no token of its
// own: it starts with its first name.
func positionOf(node ast.Node) position {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return positionOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key)
	}
	if token := node.GetToken(); token != nil && token.Position != nil {
		return position{token.Position.Line, token.Position.Column}
	}
	return position{1, 1}
}

// describe says what kind of value node is, for messages.
func describe(node ast.Node) string {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return "the text " + strconv.Quote(shorten(n.Value))
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.NullNode:
		return "nothing"
	}
	return "something else"
}

// shorten returns text short enough for a message.
func shorten(text string) string {
	const size = 60
	if len(text) <= size {
		return text
	}
	return cut(text, size) + "…"
}

func wholeNumber(node ast.Node) (int64, bool) {
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(n.GetToken().Value, 10, 32)
	return v, err == nil
}

// partValue is the path of a value of a partition.
var partValue = regexp.MustCompile(`\.parts\[[0-9]+\]\.values\[[0-9]+\]$`)

// indexed returns the path of an item of the list at path.
func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// joinPath returns the path of the part called name inside path.
func joinPath(path, name string) string {
	switch {
	case !isPlainIdent(name):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// field is a field that a mapping of a definition file may have, as the tags of
// the Go type say.
type field struct {
	name     string
	index    int
	required bool
	scalar   bool // a number or a boolean is as good as text
	short    bool // its value may stand for the whole mapping
}

type fieldList []field

func fieldsOf(t reflect.Type) fieldList {
	var fields fieldList
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("yaml")
		if !ok {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		fields = append(fields, field{
			name:     name,
			index:    i,
			required: slices.Contains(strings.Split(t.Field(i).Tag.Get("jsonschema"), ","), "required"),
			scalar:   option == "scalar",
			short:    option == "short",
		})
	}
	return fields
}

func (l fieldList) named(name string) (field, bool) {
	for _, f := range l {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// suggest says what somebody who wrote name may have meant.
func (l fieldList) suggest(name string) string {
	names := make([]string, len(l))
	for i, f := range l {
		names[i] = f.name
	}
	if near, ok := nearest(name, names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the fields here are " + strings.Join(names, ", ")
}
