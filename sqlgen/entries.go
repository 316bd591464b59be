package sqlgen

import (
	"encoding/json"
	"reflect"
)

// Index is one index of a [Table]. Where nothing but the columns is set, a file
// may hold the list of the columns in its place.
type Index struct {
	Columns          []IndexColumn `yaml:"columns,short" json:",omitempty" jsonschema:"required,minItems=1" jsonschema_description:"The indexed columns and expressions, in order."`
	Include          []string      `yaml:"include" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"Columns that the index holds besides, for scans of the index alone."`
	Where            string        `yaml:"where" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"Indexes only the rows for which this SQL expression is true."`
	Unique           bool          `yaml:"unique" json:",omitempty" jsonschema_description:"A unique index that is no constraint: for expressions, and for a part of the rows."`
	NullsNotDistinct bool          `yaml:"nulls_not_distinct" json:",omitempty" jsonschema_description:"Of a unique index: two NULLs are the same value. Needs PostgreSQL 15."`
	Method           string        `yaml:"method" json:",omitempty" jsonschema:"minLength=1,default=btree" jsonschema_description:"The index method: btree, hash, gin, gist, brin or another."`
	Name             string        `yaml:"name" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The index's exact name. Derived from the table's name and the entry's when it is not given."`
	Was              string        `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What this entry was called before. Without it an entry of another name is a new index."`
}

// IndexColumn is one column, or one expression, of an [Index]. Where nothing but
// the column is set, a file may hold its name in its place.
type IndexColumn struct {
	Column     string `yaml:"column,short" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"A column of the table."`
	Expression string `yaml:"expression" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"Instead of a column: an immutable SQL expression over the columns, as written."`
	Collation  string `yaml:"collation" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"A collation other than the column's: a name such as C, or schema.name."`
	Opclass    string `yaml:"opclass" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"An operator class other than the default: a name, or schema.name."`
	Order      string `yaml:"order" json:",omitempty" jsonschema:"enum=asc,enum=desc,default=asc" jsonschema_description:"Whether values ascend or descend."`
	Nulls      string `yaml:"nulls" json:",omitempty" jsonschema:"enum=first,enum=last" jsonschema_description:"Where NULLs stand. Last by default, first where values descend."`
}

// Unique is one unique constraint of a [Table] besides its key. Where nothing but
// the columns is set, a file may hold the list of them in its place.
type Unique struct {
	Columns          []string `yaml:"columns,short" json:",omitempty" jsonschema:"required,minItems=1" jsonschema_description:"The columns, in order."`
	Include          []string `yaml:"include" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"Columns that the constraint's index holds besides."`
	NullsNotDistinct bool     `yaml:"nulls_not_distinct" json:",omitempty" jsonschema_description:"Two NULLs are the same value. Needs PostgreSQL 15."`
	Deferrable       string   `yaml:"deferrable" json:",omitempty" jsonschema:"enum=deferred,enum=immediate" jsonschema_description:"The constraint can be looked at when a transaction ends: deferred does so by default, immediate when it is asked for."`
	Name             string   `yaml:"name" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The constraint's exact name. Derived from the table's name and the entry's when it is not given."`
	Was              string   `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What this entry was called before. Without it an entry of another name is a new constraint."`
}

// Check is one check constraint of a [Table]. Where nothing but the expression is
// set, a file may hold it in its place.
type Check struct {
	Expression string `yaml:"expression,short" json:",omitempty" jsonschema:"required,minLength=1" jsonschema_description:"A boolean SQL expression over the table's columns, as written."`
	Name       string `yaml:"name" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The constraint's exact name. Derived from the table's name and the entry's when it is not given."`
	Was        string `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What this entry was called before. Without it an entry of another name is a new constraint."`
}

// ForeignKey is one foreign key of a [Table].
type ForeignKey struct {
	Columns    []string `yaml:"columns" json:",omitempty" jsonschema:"required,minItems=1" jsonschema_description:"The columns that reference, in order."`
	References string   `yaml:"references" json:",omitempty" jsonschema:"required,minLength=1" jsonschema_description:"The referenced table: schema.name, or the name alone for one of the same schema. Letters keep their case; a part with a dot in it stands in double quotes."`
	To         []string `yaml:"to" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"The referenced columns, in the order of columns. The primary key when they are not given."`
	OnDelete   string   `yaml:"on_delete" json:",omitempty" jsonschema:"enum=cascade,enum=set null,enum=set default,enum=restrict,enum=no action,default=no action" jsonschema_description:"What happens to rows when the row that they reference is deleted."`
	OnUpdate   string   `yaml:"on_update" json:",omitempty" jsonschema:"enum=cascade,enum=set null,enum=set default,enum=restrict,enum=no action,default=no action" jsonschema_description:"What happens to rows when the values that they reference change."`
	Deferrable string   `yaml:"deferrable" json:",omitempty" jsonschema:"enum=deferred,enum=immediate" jsonschema_description:"The constraint can be looked at when a transaction ends: deferred does so by default, immediate when it is asked for."`
	Match      string   `yaml:"match" json:",omitempty" jsonschema:"enum=full,enum=simple,default=simple" jsonschema_description:"full: of several columns either all are NULL or none is."`
	Name       string   `yaml:"name" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The constraint's exact name. Derived from the table's name and the entry's when it is not given."`
	Was        string   `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What this entry was called before. Without it an entry of another name is a new constraint."`
}

// tableEntry is what an entry of a table has in common with all others.
type tableEntry interface {
	naming() (exact, suffix string) // the exact name, if any, and the end of a derived one
	formerly() string               // what the entry was called
}

func (x Index) naming() (exact, suffix string)      { return x.Name, "_idx" }
func (u Unique) naming() (exact, suffix string)     { return u.Name, "_key" }
func (c Check) naming() (exact, suffix string)      { return c.Name, "_check" }
func (f ForeignKey) naming() (exact, suffix string) { return f.Name, "_fkey" }

func (x Index) formerly() string      { return x.Was }
func (u Unique) formerly() string     { return u.Was }
func (c Check) formerly() string      { return c.Was }
func (f ForeignKey) formerly() string { return f.Was }

func (x Index) unnamed() Index           { x.Name, x.Was = "", ""; return x }
func (u Unique) unnamed() Unique         { u.Name, u.Was = "", ""; return u }
func (c Check) unnamed() Check           { c.Name, c.Was = "", ""; return c }
func (f ForeignKey) unnamed() ForeignKey { f.Name, f.Was = "", ""; return f }

// plainColumns returns the names of the columns that are indexed as they are.
func (x Index) plainColumns() []string {
	var out []string
	for _, c := range x.Columns {
		if c.Column != "" {
			out = append(out, c.Column)
		}
	}
	return out
}

// MarshalJSON writes the short form where nothing but the columns is set. So it
// is for the other types here: the digest of a definition depends on it.
func (x Index) MarshalJSON() ([]byte, error) {
	type long Index
	return shortJSON(x, long(x))
}

// MarshalJSON is [Index.MarshalJSON] for a column.
func (c IndexColumn) MarshalJSON() ([]byte, error) {
	type long IndexColumn
	return shortJSON(c, long(c))
}

// MarshalJSON is [Index.MarshalJSON] for a unique constraint.
func (u Unique) MarshalJSON() ([]byte, error) {
	type long Unique
	return shortJSON(u, long(u))
}

// MarshalJSON is [Index.MarshalJSON] for a check.
func (c Check) MarshalJSON() ([]byte, error) {
	type long Check
	return shortJSON(c, long(c))
}

func shortJSON(v, long any) ([]byte, error) {
	if short, ok := shortForm(reflect.ValueOf(v)); ok {
		return json.Marshal(short.Interface())
	}
	return json.Marshal(long)
}

// shortForm returns the one field that stands for the whole of v, where v is of a
// type that has such a field and nothing else is set.
func shortForm(v reflect.Value) (reflect.Value, bool) {
	if v.Kind() != reflect.Struct {
		return v, false
	}
	fields := fieldsOf(v.Type())
	short, ok := fields.short()
	if !ok {
		return v, false
	}
	for _, f := range fields {
		if f.index != short.index && !v.Field(f.index).IsZero() {
			return v, false
		}
	}
	return v.Field(short.index), true
}

// short returns the field whose value may stand for the whole mapping.
func (l fieldList) short() (field, bool) {
	for _, f := range l {
		if f.short {
			return f, true
		}
	}
	return field{}, false
}

func shortFieldOf(t reflect.Type) (field, bool) {
	if t.Kind() != reflect.Struct {
		return field{}, false
	}
	return fieldsOf(t).short()
}
