package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// grants returns the statements that give each role of the definition what it
// needs for this table, and no more.
func (r *renderer) grants() []string {
	roles := r.t.Roles
	if roles == nil {
		return nil
	}
	var out []string
	readers := present(roles.Reader, roles.Runner)
	all := present(roles.Reader, roles.Runner, roles.Publisher)
	for _, role := range all {
		out = append(out, fmt.Sprintf("SELECT cs9.ensure_role(%s)", QuoteLiteral(role)))
	}
	if len(all) > 0 {
		out = append(out, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", QuoteIdent(r.t.Schema), quoteList(all)))
	}
	if len(readers) > 0 {
		out = append(out, fmt.Sprintf("GRANT SELECT ON %s TO %s", r.live(), quoteList(readers)))
	}
	if roles.Runner != "" {
		for _, sequence := range r.names.Sequences {
			out = append(out, fmt.Sprintf("GRANT USAGE ON SEQUENCE %s TO %s", r.own(sequence.Value), QuoteIdent(roles.Runner)))
		}
		out = append(out, fmt.Sprintf("SELECT cs9.grant_role(%s, 'runner')", QuoteLiteral(roles.Runner)))
	}
	if roles.Publisher != "" {
		out = append(out,
			fmt.Sprintf("GRANT EXECUTE ON PROCEDURE %s(text, text, integer) TO %s", r.own(r.names.Publish), QuoteIdent(roles.Publisher)),
			fmt.Sprintf("SELECT cs9.grant_role(%s, 'publisher')", QuoteLiteral(roles.Publisher)))
	}
	return out
}

// roleArguments are the last arguments of cs9.register_table.
func (r *renderer) roleArguments() string {
	roles := r.t.Roles
	if roles == nil {
		return ""
	}
	var b strings.Builder
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
