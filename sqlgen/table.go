package sqlgen

import "strings"

// File is one definition file.
type File struct {
	Version int     `yaml:"version" jsonschema:"required,enum=1" jsonschema_description:"Version of the file format. Must be 1."`
	Tables  []Table `yaml:"tables" jsonschema:"required,minItems=1" jsonschema_description:"The tables this file defines."`
}

// Definitions are the tables of all the files that one call of [Load] read, in
// order of path, then of their place in the file.
type Definitions struct {
	Tables []Table
}

// Table is the definition of one table.
//
// A file names it either by Access, Grouping and Variant (schema "access",
// table "access_grouping_variant") or by Schema and Name as they are. After
// [Load] Schema and Name are always filled, and every key column is NotNull.
type Table struct {
	Access         string            `yaml:"access" jsonschema:"minLength=1" jsonschema_description:"First part of the table's name, and its schema. Used with grouping and variant instead of schema and name."`
	Grouping       string            `yaml:"grouping" jsonschema:"minLength=1" jsonschema_description:"Second part of the table's name: access_grouping_variant."`
	Variant        string            `yaml:"variant" jsonschema:"minLength=1" jsonschema_description:"Third part of the table's name: access_grouping_variant."`
	Schema         string            `yaml:"schema" jsonschema:"minLength=1" jsonschema_description:"The table's schema, as it is. Used with name instead of access, grouping and variant."`
	Name           string            `yaml:"name" jsonschema:"minLength=1" jsonschema_description:"The table's name, as it is, without the schema. At most 63 bytes."`
	Was            string            `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What the table was called before: its name, or schema.name when the schema was another one. Without it a table of another name is a new one."`
	Comment        string            `yaml:"comment" jsonschema_description:"What the table holds. Becomes its COMMENT."`
	Columns        []Column          `yaml:"columns" jsonschema:"required,minItems=1" jsonschema_description:"The columns, in order."`
	Keys           []string          `yaml:"keys" jsonschema:"required,minItems=1,minLength=1" jsonschema_description:"The columns that identify a row: the primary key. They become NOT NULL."`
	PrimaryKeyName string            `yaml:"primary_key_name" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The exact name of the primary key, for a table that exists already. Derived from the table's name when it is not given."`
	Indexes        Named[Index]      `yaml:"indexes" jsonschema_description:"Indexes: a name of your own for each, and its columns in order, or a mapping that says more."`
	Unique         Named[Unique]     `yaml:"unique" jsonschema_description:"Unique constraints besides the key: a name of your own for each, and its columns in order, or a mapping that says more."`
	Checks         Named[Check]      `yaml:"checks" jsonschema_description:"Check constraints: a name of your own for each, and a boolean SQL expression over the table's columns, or a mapping that says more."`
	ForeignKeys    Named[ForeignKey] `yaml:"foreign_keys" json:",omitempty" jsonschema_description:"Foreign keys: a name of your own for each, its columns and what they reference. Not for a table that is swapped."`
	Partitions     *Partitions       `yaml:"partitions" jsonschema_description:"Splits the table: column and values give one LIST partition a value; by, columns and parts say more."`
	Roles          *Roles            `yaml:"roles" jsonschema_description:"Roles that get what they need for this table, and no more. Made where they are missing."`
	SearchPath     []string          `yaml:"search_path" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The schemas, in order, that functions of the table count on: those in its checks, generated columns, indexes and triggers. Rows are staged and published under it. Only schemas in which nobody but the owner of the cs9 schema may create. Without it: pg_catalog alone."`
	Publish        string            `yaml:"publish" jsonschema:"enum=batched,enum=atomic,enum=swap,enum=swap_or_atomic,default=batched" jsonschema_description:"How staged rows become live. batched: moves of at most 200000 rows, each its own transaction. atomic: one transaction that touches only the rows that differ. swap: the staged table takes the place of the old one; for runs that empty the table. swap_or_atomic: swap where the run empties the table, else atomic."`

	Adopt bool `yaml:"adopt" json:",omitempty" jsonschema_description:"The table is there already, with its rows: its migration makes only what cs9gen needs besides it, and taking it back leaves the table alone. Never changed once the table is known."`

	// src and path say where the table was read, for messages. A table made in
	// Go has neither.
	src  *source
	path string
}

// swaps reports whether the staged table may take the place of a partition.
func (t *Table) swaps() bool { return t.Publish == "swap" || t.Publish == "swap_or_atomic" }

// hasPart reports whether the table is split for the sake of the swap alone: it
// has one partition, which takes every row.
func (t *Table) hasPart() bool { return t.swaps() && t.Partitions == nil }

// Column is one column of a [Table].
type Column struct {
	Name      string `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The column's name. At most 63 bytes; not cs9_…, which is kept for cs9gen."`
	Was       string `yaml:"was" json:"-" jsonschema:"minLength=1" jsonschema_description:"What the column was called before. Without it a column of another name is a new one, and the old one is dropped."`
	Type      string `yaml:"type" jsonschema:"required,minLength=1" jsonschema_description:"TEXT, INTEGER, DOUBLE, DATE, DATETIME, BOOLEAN, or any PostgreSQL type as written."`
	NotNull   bool   `yaml:"not_null" jsonschema_description:"Whether the column refuses NULL. Key columns always do."`
	Default   string `yaml:"default,scalar" jsonschema:"minLength=1" jsonschema_description:"Default value: an SQL expression, as written. A text value needs its SQL quotes."`
	Generated string `yaml:"generated" jsonschema:"minLength=1" jsonschema_description:"GENERATED ALWAYS AS (…) STORED: an immutable SQL expression over the other columns."`
	Identity  string `yaml:"identity" jsonschema:"enum=always,enum=by default" jsonschema_description:"Makes the column an identity column: always or by default. For smallint, integer and bigint."`
	Comment   string `yaml:"comment" jsonschema_description:"What the column holds. Becomes its COMMENT."`
	Collation string `yaml:"collation" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The collation: a name such as C, or schema.name. Letters keep their case; a part with a dot in it stands in double quotes."`
	Sequence  string `yaml:"sequence" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The exact name of the sequence of an identity column, in the table's schema. Derived from the table's and the column's name when it is not given."`
}

// Roles are the roles that the migration of a [Table] grants to. Each may be
// left out. Without any only the role that migrates can stage and publish.
type Roles struct {
	Reader    string `yaml:"reader" jsonschema:"minLength=1" jsonschema_description:"May read the live table."`
	Runner    string `yaml:"runner" jsonschema:"minLength=1" jsonschema_description:"May read the live table, drive runs and stage rows; not publish."`
	Publisher string `yaml:"publisher" jsonschema:"minLength=1" jsonschema_description:"May publish runs; neither read nor write the table."`
}

// sqlTypes are the type names of a definition that are not PostgreSQL's own.
var sqlTypes = map[string]string{
	"TEXT":     "text",
	"INTEGER":  "integer",
	"DOUBLE":   "double precision",
	"DATE":     "date",
	"DATETIME": "timestamptz",
	"BOOLEAN":  "boolean",
}

// SQLType returns the PostgreSQL type of the column: the portable names TEXT,
// INTEGER, DOUBLE, DATE, DATETIME and BOOLEAN are translated, in any letter
// case; every other type is returned as it was written.
func (c Column) SQLType() string {
	if sql, ok := sqlTypes[strings.ToUpper(c.Type)]; ok {
		return sql
	}
	return c.Type
}

// collated returns the type of the column with its collation, as SQL.
func (c Column) collated() string {
	if c.Collation == "" {
		return c.SQLType()
	}
	return c.SQLType() + " COLLATE " + sqlName(c.Collation)
}

// Column returns the column called name, or nil when the table has none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// File returns the path of the definition file the table was read from, and
// the line it starts at: "" and 0 for a table made in Go.
func (t *Table) File() (name string, line int) {
	if t.src == nil {
		return "", 0
	}
	return t.src.file, t.src.at(t.path).line
}
