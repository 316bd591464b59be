package sqlgen

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type schemaObject struct {
	Defs                 map[string]schemaObject `json:"$defs"`
	Properties           map[string]schemaObject `json:"properties"`
	AdditionalProperties any                     `json:"additionalProperties"`
	Required             []string                `json:"required"`
	Description          string                  `json:"description"`
	Type                 string                  `json:"type"`
}

// The schema names every field of the types with its description and refuses
// every other field.
func TestJSONSchemaNamesEveryField(t *testing.T) {
	text, err := JSONSchema()
	require.NoError(t, err)
	again, err := JSONSchema()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	var schema schemaObject
	require.NoError(t, json.Unmarshal(text, &schema))
	for _, typ := range []reflect.Type{
		reflect.TypeFor[File](), reflect.TypeFor[Table](), reflect.TypeFor[Column](), reflect.TypeFor[Partitions](), reflect.TypeFor[Part](),
		reflect.TypeFor[Index](), reflect.TypeFor[IndexColumn](), reflect.TypeFor[Unique](), reflect.TypeFor[Check](), reflect.TypeFor[ForeignKey](),
	} {
		object, ok := schema.Defs[typ.Name()]
		require.True(t, ok, "no definition of %s in\n%s", typ.Name(), text)
		require.Equal(t, false, object.AdditionalProperties, typ.Name())
		var names, required []string
		for _, f := range fieldsOf(typ) {
			names = append(names, f.name)
			if f.required {
				required = append(required, f.name)
			}
			require.NotEmpty(t, object.Properties[f.name].Description, "%s.%s", typ.Name(), f.name)
		}
		var got []string
		for name := range object.Properties {
			got = append(got, name)
		}
		require.ElementsMatch(t, names, got, typ.Name())
		require.ElementsMatch(t, required, object.Required, typ.Name())
	}
	for _, name := range []string{"indexes", "unique", "checks", "foreign_keys"} {
		require.Equal(t, "object", schema.Defs["Table"].Properties[name].Type, name)
	}
}
