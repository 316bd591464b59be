package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// builder makes the definition of one table, and gathers what it cannot say.
type builder struct {
	c      *catalogue
	schema string
	rel    relation
	t      sqlgen.Table

	reasons []string // why the table cannot be taken
	notes   []string // what stays as it is, and is not in the definition
}

func (b *builder) refuse(format string, args ...any) {
	b.reasons = append(b.reasons, fmt.Sprintf(format, args...))
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// build fills the table, as far as there is a definition for it.
func (b *builder) build() {
	b.t = sqlgen.Table{Schema: b.schema, Name: b.rel.Name, Comment: b.rel.Comment}
	b.judge()
	if len(b.reasons) > 0 {
		return
	}
	b.registration()
	b.searchPath()
	b.columns()
	b.key()
	for _, k := range b.c.keys {
		if k.OID == b.rel.OID {
			b.partitions(k)
		}
	}
	names := newOwnNames(b.t)
	for _, c := range b.ownConstraints() {
		switch c.Type {
		case "u":
			b.unique(c, names)
		case "c":
			b.check(c, names)
		case "f":
			b.foreignKey(c, names)
		}
	}
	for _, x := range b.ownIndexes() {
		b.index(x, names)
	}
}

// registration takes over what cs9gen knows of a table of its own.
func (b *builder) registration() {
	r, ok := b.c.registered[b.rel.OID]
	if !ok {
		b.t.Adopt = true
		return
	}
	b.t.Adopt = r.Adopted
	b.t.Publish = r.Mode
	if len(r.Path) > 0 {
		b.t.SearchPath = r.Path
	}
	roles := sqlgen.Roles{Runner: r.Runner, Publisher: r.Publisher}
	switch len(r.Readers) {
	case 0:
	case 1:
		roles.Reader = r.Readers[0]
	default:
		b.note("several roles may read it (%s): no reader is written, choose one", strings.Join(r.Readers, ", "))
	}
	if roles != (sqlgen.Roles{}) {
		b.t.Roles = &roles
	}
}

// searchPath writes the search_path of the database to a table that cs9gen does not
// know, where something hangs on it, or on a partition, that may count on it.
func (b *builder) searchPath() {
	if _, known := b.c.registered[b.rel.OID]; known || !b.counts(b.rel.OID) {
		return
	}
	var path []string
	for _, s := range b.c.path {
		path = append(path, s.Name)
	}
	for _, s := range b.c.path {
		if s.Others != "" {
			b.note("functions that it calls may count on the database's search_path (%s), which is not written because %s may create in %s: REVOKE CREATE ON SCHEMA, then write search_path: [%[1]s]",
				strings.Join(path, ", "), s.Others, sqlgen.QuoteIdent(s.Name))
			return
		}
	}
	b.t.SearchPath = path
}

// counts reports whether something on a relation, or on a partition of it, may count
// on a search_path.
func (b *builder) counts(oid uint32) bool {
	return b.c.counting[oid] || slices.ContainsFunc(b.c.partitions[oid], func(p partition) bool { return b.counts(p.OID) })
}

// portable are the types that a definition has a name of its own for, which
// means exactly the same.
var portable = map[string]string{
	"text": "TEXT", "integer": "INTEGER", "double precision": "DOUBLE", "date": "DATE",
	"timestamp with time zone": "DATETIME", "boolean": "BOOLEAN",
}

func (b *builder) columns() {
	for _, c := range b.c.columns[b.rel.OID] {
		out := sqlgen.Column{Name: c.Name, Type: c.Type, Comment: c.Comment}
		if name, ok := portable[c.Type]; ok {
			out.Type = name
		}
		if c.Collation != "" {
			out.Collation = sqlgen.JoinName(schemaUnlessCatalogue(c.CollationSchema), c.Collation)
		}
		switch {
		case c.Identity != "":
			out.Identity = map[string]string{"a": "always", "d": "by default"}[c.Identity]
			b.sequence(c, &out)
		case c.Generated != "":
			out.Generated = bare(c.Expression)
		case c.Expression != "":
			out.Default = plainDefault(c.Expression, c.Type)
			if strings.HasPrefix(out.Default, "nextval(") {
				b.note("the default of %s is %s: the sequence stays as it is, and no definition makes it", sqlgen.QuoteIdent(c.Name), out.Default)
			}
		}
		out.NotNull = c.NotNull && c.Identity == "" && !slices.Contains(b.keyColumns(), c.Name)
		b.t.Columns = append(b.t.Columns, out)
	}
}

// sequence names the sequence of an identity column where its name is not the
// derived one.
func (b *builder) sequence(c column, out *sqlgen.Column) {
	derived := sqlgen.NamesOf(&sqlgen.Table{Schema: b.schema, Name: b.rel.Name, Columns: []sqlgen.Column{*out}})
	if derived.Sequences[0].Value != c.Sequence {
		out.Sequence = c.Sequence
	}
	if !c.SequencePlain {
		b.note("the sequence of %s has options of its own (start, increment, limits, cache or cycle), which stay", sqlgen.QuoteIdent(c.Name))
	}
}

func schemaUnlessCatalogue(schema string) string {
	if schema == "pg_catalog" {
		return ""
	}
	return schema
}

// primaryKey returns the table's primary key.
func (b *builder) primaryKey() (constraint, bool) {
	for _, c := range b.c.constraints[b.rel.OID] {
		if c.Type == "p" {
			return c, true
		}
	}
	return constraint{}, false
}

func (b *builder) keyColumns() []string {
	c, _ := b.primaryKey()
	return c.Columns
}

func (b *builder) key() {
	c, _ := b.primaryKey()
	b.t.Keys = c.Columns
	if sqlgen.NamesOf(&b.t).PrimaryKey != c.Name {
		b.t.PrimaryKeyName = c.Name
	}
	b.constraintComment(c)
	b.indexSettings("primary key "+sqlgen.QuoteIdent(c.Name), b.indexOf(c))
}

// ownConstraints returns the constraints that are the table's own, and those
// that a swapped table has on its one partition.
func (b *builder) ownConstraints() []constraint {
	list := slices.Clone(b.c.constraints[b.rel.OID])
	if part, ok := b.swapPart(); ok {
		for _, c := range b.c.constraints[part.OID] {
			if c.Type == "u" && !c.Inherited {
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b constraint) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ownIndexes is [builder.ownConstraints] for the indexes that are no constraint.
func (b *builder) ownIndexes() []index {
	list := slices.Clone(b.c.indexes[b.rel.OID])
	if part, ok := b.swapPart(); ok {
		for _, x := range b.c.indexes[part.OID] {
			if x.Unique && !x.Attached {
				list = append(list, x)
			}
		}
	}
	list = slices.DeleteFunc(list, func(x index) bool { return x.Constraint })
	slices.SortStableFunc(list, func(a, b index) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// indexOf returns the index of a constraint.
func (b *builder) indexOf(c constraint) index {
	for _, x := range b.c.indexes[c.OID] {
		if x.IndexOID == c.IndexOID {
			return x
		}
	}
	return index{}
}

func (b *builder) unique(c constraint, names *ownNames) {
	x := b.indexOf(c)
	out := sqlgen.Unique{Columns: c.Columns, NullsNotDistinct: x.NullsNotDistinct, Deferrable: deferrable(c)}
	if len(x.Columns) > x.Keys {
		out.Include = x.Columns[x.Keys:]
	}
	b.constraintComment(c)
	b.indexSettings("unique constraint "+sqlgen.QuoteIdent(c.Name), x)
	add(&b.t.Unique, names.unique, c.Name, out, func(u *sqlgen.Unique) { u.Name = c.Name })
}

func (b *builder) check(c constraint, names *ownNames) {
	if words := unsaid(c); words != "" {
		b.note("the check %s is %s, which no definition says: it stays, and is not in the definition", sqlgen.QuoteIdent(c.Name), words)
		return
	}
	b.constraintComment(c)
	add(&b.t.Checks, names.check, c.Name, sqlgen.Check{Expression: bare(c.Expression)}, func(k *sqlgen.Check) { k.Name = c.Name })
}

// unsaid returns what a constraint is that a definition cannot say. It is held
// against staged rows all the same, where the database holds it against others.
func unsaid(c constraint) string {
	switch {
	case !c.Enforced:
		return "NOT ENFORCED"
	case !c.Validated:
		return "NOT VALID"
	case c.Type == "c" && c.NoInherit:
		return "NO INHERIT"
	case c.SetColumns:
		return "ON DELETE SET of some of its columns"
	}
	return ""
}

var referentialActions = map[string]string{"c": "cascade", "n": "set null", "d": "set default", "r": "restrict"}

func (b *builder) foreignKey(c constraint, names *ownNames) {
	if c.Inherited {
		return
	}
	if words := unsaid(c); words != "" {
		b.note("the foreign key %s is %s, which no definition says: it stays, and is not in the definition", sqlgen.QuoteIdent(c.Name), words)
		return
	}
	out := sqlgen.ForeignKey{
		Columns: c.Columns, References: sqlgen.JoinName(c.RefSchema, c.RefTable),
		OnDelete: referentialActions[c.OnDelete], OnUpdate: referentialActions[c.OnUpdate], Deferrable: deferrable(c),
	}
	if c.RefSchema == b.schema {
		out.References = sqlgen.JoinName("", c.RefTable)
	}
	if !c.RefKey {
		out.To = c.RefColumns
	}
	if c.Match == "f" {
		out.Match = "full"
	}
	b.constraintComment(c)
	add(&b.t.ForeignKeys, names.foreignKey, c.Name, out, func(f *sqlgen.ForeignKey) { f.Name = c.Name })
}

func deferrable(c constraint) string {
	switch {
	case c.Deferred:
		return "deferred"
	case c.Deferrable:
		return "immediate"
	}
	return ""
}

func (b *builder) index(x index, names *ownNames) {
	name := sqlgen.QuoteIdent(x.Name)
	if !x.Valid {
		b.note("the index %s is not valid: it stays, and is not in the definition; drop it or build it again", name)
		return
	}
	rests, ok := indexItems(x.Definition, x.Head, x.Items[:x.Keys])
	if !ok {
		b.note("the index %s cannot be read (%s): it stays, and is not in the definition", name, x.Definition)
		return
	}
	out := sqlgen.Index{Where: bare(x.Predicate), Unique: x.Unique, NullsNotDistinct: x.NullsNotDistinct}
	if x.Method != "btree" {
		out.Method = x.Method
	}
	for i, rest := range rests {
		if rest.options {
			b.note("the index %s has an operator class with parameters: it stays, and is not in the definition", name)
			return
		}
		item := sqlgen.IndexColumn{Column: x.Columns[i], Order: rest.order, Nulls: rest.nulls}
		if item.Column == "" {
			item.Expression = bare(x.Pretty[i])
		}
		if rest.collation != "" {
			item.Collation = nameInFile(rest.collation)
		}
		if rest.opclass != "" {
			item.Opclass = nameInFile(rest.opclass)
		}
		out.Columns = append(out.Columns, item)
	}
	if len(x.Columns) > x.Keys {
		out.Include = x.Columns[x.Keys:]
	}
	b.indexSettings("index "+name, x)
	add(&b.t.Indexes, names.index, x.Name, out, func(i *sqlgen.Index) { i.Name = x.Name })
}

// indexSettings notes what an index has that a definition has no field for.
func (b *builder) indexSettings(what string, x index) {
	if len(x.Options) > 0 {
		b.note("the %s has storage parameters (%s), which stay", what, strings.Join(x.Options, ", "))
	}
	if x.Tablespace != "" {
		b.note("the %s is in the tablespace %s, where it stays", what, sqlgen.QuoteIdent(x.Tablespace))
	}
	if x.Comment != "" {
		b.note("the %s has a comment, which stays", what)
	}
}

func (b *builder) constraintComment(c constraint) {
	if c.Comment != "" {
		b.note("the constraint %s has a comment, which stays", sqlgen.QuoteIdent(c.Name))
	}
}

func identList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqlgen.QuoteIdent(name)
	}
	return strings.Join(quoted, ", ")
}
