package sqlgen

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of a definition file, for
// editors that complete and check YAML. It is made from the Go types that
// [Load] fills, so the two cannot drift apart; [Load] checks much more.
func JSONSchema() ([]byte, error) {
	reflector := &jsonschema.Reflector{
		Anonymous:                  true,
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Mapper:                     namedSchema,
	}
	schema := reflector.Reflect(&File{})
	schema.Title = "cs9gen table definitions"
	for _, entry := range []any{&Index{}, &Unique{}, &Check{}, &ForeignKey{}} {
		for name, definition := range reflector.Reflect(entry).Definitions {
			schema.Definitions[name] = definition
		}
	}
	columns, _ := schema.Definitions["Index"].Properties.Get("columns")
	columns.Items = &jsonschema.Schema{OneOf: []*jsonschema.Schema{aText(), columns.Items}}
	for _, t := range []reflect.Type{reflect.TypeFor[Column](), reflect.TypeFor[Partitions](), reflect.TypeFor[Part]()} {
		allowScalars(schema.Definitions[t.Name()], t)
	}
	twoWaysToName(schema.Definitions["Table"])
	eitherOr(schema.Definitions["Partitions"], []string{"column", "values"}, []string{"by", "columns", "parts"})
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot write the JSON schema of definition files: %w", err)
	}
	return append(text, '\n'), nil
}

// namedSchema returns the schema of a [Named]: an object with any names, whose
// values are written in a short form or in a long one.
func namedSchema(t reflect.Type) *jsonschema.Schema {
	var short *jsonschema.Schema
	var long reflect.Type
	switch t {
	case reflect.TypeFor[Named[Index]]():
		short, long = aList(), reflect.TypeFor[Index]()
		short.Items = &jsonschema.Schema{OneOf: []*jsonschema.Schema{aText(), reference(reflect.TypeFor[IndexColumn]())}}
	case reflect.TypeFor[Named[Unique]]():
		short, long = aList(), reflect.TypeFor[Unique]()
	case reflect.TypeFor[Named[Check]]():
		short, long = aText(), reflect.TypeFor[Check]()
	case reflect.TypeFor[Named[ForeignKey]]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: reference(reflect.TypeFor[ForeignKey]())}
	default:
		return nil
	}
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{OneOf: []*jsonschema.Schema{short, reference(long)}}}
}

func aText() *jsonschema.Schema {
	one := uint64(1)
	return &jsonschema.Schema{Type: "string", MinLength: &one}
}

func aList() *jsonschema.Schema {
	one := uint64(1)
	return &jsonschema.Schema{Type: "array", Items: aText(), MinItems: &one, UniqueItems: true}
}

func reference(t reflect.Type) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
}

// allowScalars lets a number or a boolean stand where a text may be written
// without quotes.
func allowScalars(schema *jsonschema.Schema, t reflect.Type) {
	for _, f := range fieldsOf(t) {
		if !f.scalar {
			continue
		}
		property, _ := schema.Properties.Get(f.name)
		if property.Items != nil {
			property = property.Items
		}
		property.Type = ""
		for _, name := range []string{"string", "number", "boolean"} {
			property.AnyOf = append(property.AnyOf, &jsonschema.Schema{Type: name})
		}
	}
}

// twoWaysToName says that a table has access, grouping and variant, or schema
// and name, and nothing of the other.
func twoWaysToName(table *jsonschema.Schema) {
	eitherOr(table, []string{"access", "grouping", "variant"}, []string{"schema", "name"})
}

// eitherOr says that an object has all of some fields, and none of some others,
// or the other way round.
func eitherOr(object *jsonschema.Schema, some, others []string) {
	either := func(these, those []string) *jsonschema.Schema {
		s := &jsonschema.Schema{Required: these, Not: &jsonschema.Schema{}}
		for _, name := range those {
			s.Not.AnyOf = append(s.Not.AnyOf, &jsonschema.Schema{Required: []string{name}})
		}
		return s
	}
	object.OneOf = []*jsonschema.Schema{either(some, others), either(others, some)}
}
