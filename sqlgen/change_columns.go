package sqlgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// columnDiff is what happens to the columns of a table.
type columnDiff struct {
	steps              []step
	recreated, dropped map[string]bool
	retyped            map[string]bool
}

// diffColumns compares the columns of two tables of one name and shape.
func diffColumns(was, is *Table) columnDiff {
	d := columnDiff{recreated: map[string]bool{}, dropped: map[string]bool{}, retyped: map[string]bool{}}
	for _, c := range was.Columns {
		after := is.Column(c.Name)
		switch {
		case after == nil:
			d.dropped[c.Name] = true
		case after.collated() != c.collated() && after.Generated == "":
			d.retyped[c.Name] = true
		}
	}
	for _, c := range was.Columns {
		after := is.Column(c.Name)
		if after == nil || after.Generated == "" {
			continue
		}
		ofRetyped := slices.ContainsFunc(is.mentioned(after.Generated), func(name string) bool { return d.retyped[name] })
		if after.Generated != c.Generated || after.collated() != c.collated() || ofRetyped {
			d.recreated[c.Name] = true
		}
	}
	d.drop(was)
	d.alter(was, is)
	return d
}

// drop drops columns, generated ones first: they depend on others.
func (d *columnDiff) drop(was *Table) {
	r := newRenderer(was)
	var generated, plain []string
	for _, c := range was.Columns {
		switch clause := "DROP COLUMN " + QuoteIdent(c.Name); {
		case !d.recreated[c.Name] && !d.dropped[c.Name]:
		case c.Generated != "":
			generated = append(generated, clause)
		default:
			plain = append(plain, clause)
		}
	}
	d.alterTable(r.live(), slices.Concat(generated, plain), nil)
}

func (d *columnDiff) alterTable(live string, clauses, hazards []string) {
	if len(clauses) > 0 {
		d.steps = append(d.steps, step{sql: fmt.Sprintf("ALTER TABLE %s\n    %s", live, strings.Join(clauses, ",\n    ")), hazards: hazards})
	}
}

// alter changes and adds columns: all that can be done together in one
// statement, so that the rows are written anew once at most.
func (d *columnDiff) alter(was, is *Table) {
	r := newRenderer(is)
	var clauses, hazards, added []string
	var identities []step
	for _, c := range is.Columns {
		before := was.Column(c.Name)
		if before == nil || d.recreated[c.Name] {
			clause, hazard := r.addColumn(c)
			if c.Identity != "" {
				identities = append(identities, r.addIdentity(c, clause, hazard)...)
				continue
			}
			added = append(added, clause)
			hazards = append(hazards, hazard...)
			continue
		}
		more, hazard := r.alterColumn(*before, c)
		clauses = append(clauses, more...)
		hazards = append(hazards, hazard...)
		identities = append(identities, r.alterIdentity(*before, c)...)
	}
	d.alterTable(r.live(), slices.Concat(clauses, added), hazards)
	d.steps = append(d.steps, identities...)
}

// plainValue is a default that is one value: PostgreSQL adds a column with it
// without touching a row.
var plainValue = regexp.MustCompile(`(?i)^(?:-?[0-9.]+|true|false|null|'(?:[^'\\]|'')*'(?:::[a-z ]+)?|now\(\)|current_(?:date|timestamp)(?:\(\))?)$`)

// addColumn returns the clause that adds a column, and what it costs.
func (r *renderer) addColumn(c Column) (clause string, hazards []string) {
	column := fmt.Sprintf("the column %s of %s", QuoteIdent(c.Name), r.live())
	switch {
	case c.Generated != "":
		hazards = []string{fmt.Sprintf("%s is generated: all rows are written anew under ACCESS EXCLUSIVE, readers and writers wait", column)}
	case c.Identity != "":
		hazards = []string{fmt.Sprintf("%s gets numbers: all rows are written anew under ACCESS EXCLUSIVE, readers and writers wait", column)}
	case c.Default == "" && c.NotNull:
		hazards = []string{fmt.Sprintf("%s is NOT NULL and has no default: this fails when the table has a row; give it a default, or leave not_null out until a run has filled it", column)}
	case c.Default != "" && !plainValue.MatchString(c.Default):
		hazards = []string{fmt.Sprintf("the default of %s may differ from row to row: then all rows are written anew under ACCESS EXCLUSIVE, readers and writers wait", column)}
	}
	return strings.TrimRight(fmt.Sprintf("ADD COLUMN %s %s %s", QuoteIdent(c.Name), c.collated(), r.liveColumn(c)), " "), hazards
}

// addIdentity returns the statements that add an identity column. PostgreSQL
// before 17 adds none to a table with partitions: there the rows get their
// numbers from a default, and the column becomes an identity column after.
func (r *renderer) addIdentity(c Column, clause string, hazards []string) []step {
	if r.t.Partitions == nil {
		return []step{{sql: fmt.Sprintf("ALTER TABLE %s\n    %s", r.live(), clause), hazards: hazards}}
	}
	name, _ := r.names.Sequences.Get(c.Name)
	filler := r.own(name)
	was := c
	was.Identity = ""
	out := []step{
		{sql: "CREATE SEQUENCE " + filler},
		{sql: fmt.Sprintf("ALTER TABLE %s\n    ADD COLUMN %s %s NOT NULL DEFAULT nextval(%s)", r.live(), QuoteIdent(c.Name), c.collated(), QuoteLiteral(filler)), hazards: hazards},
		{sql: fmt.Sprintf("ALTER TABLE %s\n    ALTER COLUMN %s DROP DEFAULT", r.live(), QuoteIdent(c.Name))},
		{sql: "DROP SEQUENCE " + filler},
	}
	return append(out, r.alterIdentity(was, c)...)
}

// alterColumn returns the clauses that change a column, but for its identity,
// and what they cost.
func (r *renderer) alterColumn(was, is Column) (clauses, hazards []string) {
	name := QuoteIdent(is.Name)
	alter := func(format string, args ...any) {
		clauses = append(clauses, "ALTER COLUMN "+name+" "+fmt.Sprintf(format, args...))
	}
	if was.Generated != "" && is.Generated == "" {
		alter("DROP EXPRESSION")
	}
	if was.Identity != "" && is.Identity == "" {
		alter("DROP IDENTITY")
	}
	retyped := was.collated() != is.collated()
	if was.Default != "" && (retyped || is.Default == "") {
		alter("DROP DEFAULT")
	}
	if retyped {
		clause, hazard := r.retype(was, is)
		alter("%s", clause)
		hazards = append(hazards, hazard...)
	}
	if is.Default != "" && (retyped || was.Default != is.Default) {
		alter("SET DEFAULT %s", defaultExpression(is.Default))
	}
	if !was.NotNull && is.NotNull {
		alter("SET NOT NULL")
		hazards = append(hazards, fmt.Sprintf("the column %s of %s becomes NOT NULL: all rows are read under ACCESS EXCLUSIVE, readers and writers wait. It fails where one is NULL", name, r.live()))
	}
	if was.NotNull && !is.NotNull {
		alter("DROP NOT NULL")
	}
	return clauses, hazards
}

// retype returns what gives a column another type or collation, and what it costs.
func (r *renderer) retype(was, is Column) (clause string, hazards []string) {
	name := QuoteIdent(is.Name)
	how, using := widen(was.Type, is.Type), ""
	if was.Type == is.Type {
		how = free
	}
	if how == narrows && !strings.Contains(strings.ToUpper(is.Type), "COLLATE") {
		using = fmt.Sprintf(" USING CAST(%s AS %s)", name, is.Type)
	}
	if was.Collation != is.Collation {
		hazards = append(hazards, fmt.Sprintf("the column %s of %s gets another collation: its indexes are built anew under ACCESS EXCLUSIVE, readers and writers wait", name, r.live()))
	}
	if how != free {
		hazards = append(hazards, fmt.Sprintf("the column %s of %s gets another type: all rows and their indexes are written anew under ACCESS EXCLUSIVE, readers and writers wait", name, r.live()))
	}
	return "TYPE " + is.collated() + using, hazards
}

// alterIdentity returns the statements that make a column an identity column, or
// another kind of one.
func (r *renderer) alterIdentity(was, is Column) []step {
	switch {
	case is.Identity == "" || was.Identity == is.Identity:
		return nil
	case was.Identity != "":
		return plainSteps(fmt.Sprintf("ALTER TABLE %s\n    ALTER COLUMN %s SET GENERATED %s", r.live(), QuoteIdent(is.Name), strings.ToUpper(is.Identity)))
	}
	name, _ := r.names.Sequences.Get(is.Name)
	column := QuoteIdent(is.Name)
	return []step{
		{sql: fmt.Sprintf("ALTER TABLE %s\n    ALTER COLUMN %s ADD %s", r.live(), column, strings.TrimPrefix(r.liveColumn(is), "NOT NULL "))},
		{
			sql:     fmt.Sprintf("SELECT setval(%s, greatest(coalesce(max(%s), 0) + 1, 1), false)\nFROM %s", QuoteLiteral(r.own(name)), column, r.live()),
			hazards: []string{fmt.Sprintf("all rows of %s are read for the highest %s, readers and writers wait", r.live(), column)},
		},
	}
}
