package sqlgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// grantObjects returns what gives each role of the definition what it needs for
// this table, and no more.
func (r *renderer) grantObjects() []object {
	roles := r.t.Roles
	if roles == nil {
		return nil
	}
	var out []object
	for _, name := range present(roles.Reader, roles.Runner, roles.Publisher) {
		out = append(out,
			object{kind: role, id: name, create: fmt.Sprintf("SELECT cs9.ensure_role(%s)", QuoteLiteral(name))},
			object{kind: role, id: name + " in the schema", create: fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", QuoteIdent(r.t.Schema), QuoteIdent(name))})
	}
	allow := func(what, name string) {
		out = append(out, object{
			kind: grant, id: what + " " + name,
			create: fmt.Sprintf("GRANT %s TO %s", what, QuoteIdent(name)),
			drop:   fmt.Sprintf("REVOKE %s FROM %s", what, QuoteIdent(name)),
		})
	}
	for _, name := range present(roles.Reader, roles.Runner) {
		allow("SELECT ON "+r.live(), name)
		out[len(out)-1].adopted = r.grantAdopted(name)
	}
	if roles.Runner != "" {
		for _, s := range r.names.Sequences {
			allow("USAGE ON SEQUENCE "+r.own(s.Value), roles.Runner)
			out[len(out)-1].columns = []string{s.Name}
			out[len(out)-1].adopted = r.grantAdopted(roles.Runner, s.Name)
		}
		for _, s := range r.t.drawnFrom() {
			allow("USAGE ON SEQUENCE "+s, roles.Runner)
			out[len(out)-1].adopted = fmt.Sprintf("SELECT cs9.grant_adopted(%s, %s, %s, p_sequence => %s)",
				QuoteLiteral(r.t.Schema), QuoteLiteral(r.t.Name), QuoteLiteral(roles.Runner), QuoteLiteral(s))
		}
		out = append(out, object{kind: role, id: roles.Runner + " runs", create: fmt.Sprintf("SELECT cs9.grant_role(%s, 'runner')", QuoteLiteral(roles.Runner))})
	}
	if roles.Publisher != "" {
		procedures := r.ownRoutines()
		allow("EXECUTE ON "+r.signature(procedures[len(procedures)-1]), roles.Publisher)
		out = append(out, object{kind: role, id: roles.Publisher + " publishes", create: fmt.Sprintf("SELECT cs9.grant_role(%s, 'publisher')", QuoteLiteral(roles.Publisher))})
	}
	return out
}

// nextValue finds the sequence, as SQL names it, that a default draws from: it is
// drawn from with the rights of whoever stages a row.
var nextValue = regexp.MustCompile(`(?i)\bnextval\(\s*\(?'((?:[^'"]|''|"(?:[^"]|"")*")+)'`)

// plainSequence is a name that can be pasted.
var plainSequence = regexp.MustCompile(`^(?:(?:[A-Za-z_][A-Za-z0-9_$]*|"(?:[^"]|"")+")(?:\.|$)){1,2}$`)

// drawnFrom returns the sequences that defaults of the table draw from, each once,
// but for those of identity columns.
func (t *Table) drawnFrom() []string {
	var out []string
	for _, c := range t.Columns {
		for _, m := range nextValue.FindAllStringSubmatch(c.Default, -1) {
			if name := strings.ReplaceAll(m[1], "''", "'"); plainSequence.MatchString(name) {
				out = append(out, name)
			}
		}
	}
	return present(out...)
}

// grantAdopted returns the statement that lets a role read an adopted table, or
// draw from the sequence of a column, and remembers that it could not before.
func (r *renderer) grantAdopted(role string, column ...string) string {
	arguments := []string{QuoteLiteral(r.t.Schema), QuoteLiteral(r.t.Name), QuoteLiteral(role)}
	for _, name := range column {
		arguments = append(arguments, QuoteLiteral(name))
	}
	return fmt.Sprintf("SELECT cs9.grant_adopted(%s)", strings.Join(arguments, ", "))
}

// roleArguments are the last arguments of cs9.register_table: what not every
// table has.
func (r *renderer) roleArguments() string {
	var b strings.Builder
	if len(r.t.SearchPath) > 0 {
		fmt.Fprintf(&b, ",\n    p_search_path       => %s", nameArray(r.t.SearchPath))
	}
	roles := r.t.Roles
	if roles == nil {
		return b.String()
	}
	if roles.Runner != "" {
		fmt.Fprintf(&b, ",\n    p_runner_role       => %s", QuoteLiteral(roles.Runner))
	}
	if roles.Publisher != "" {
		fmt.Fprintf(&b, ",\n    p_publisher_role    => %s", QuoteLiteral(roles.Publisher))
	}
	return b.String()
}

// present returns the names that are given, each once, in order.
func present(names ...string) []string {
	var out []string
	for _, name := range names {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// nameArray returns names as an array of SQL.
func nameArray(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = QuoteLiteral(name)
	}
	return fmt.Sprintf("ARRAY[%s]::name[]", strings.Join(quoted, ", "))
}
