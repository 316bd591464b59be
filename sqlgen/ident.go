package sqlgen

import "strings"

// Qualified returns schema and name quoted where needed and joined by a dot.
func Qualified(schema, name string) string {
	return QuoteIdent(schema) + "." + QuoteIdent(name)
}

// QuoteIdent returns name as an SQL identifier. Like PostgreSQL's quote_ident it
// adds quotes only when the name needs them: when it is not made of lower-case
// ASCII letters, digits and underscores, starts with a digit, or is a key word
// of any supported PostgreSQL that is more than unreserved.
func QuoteIdent(name string) string {
	if isPlainIdent(name) && !keywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isPlainIdent(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c == '_':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// QuoteLiteral returns text as an SQL string literal. Text that holds a
// backslash or a line break is written as E'…' with escapes, so that the
// literal means the same whatever standard_conforming_strings says and never
// puts a raw line break into a migration, where a line could be taken for one
// of goose's annotations.
func QuoteLiteral(text string) string {
	if !strings.ContainsAny(text, "\\\n\r") {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return "E'" + literalEscapes.Replace(text) + "'"
}

var literalEscapes = strings.NewReplacer(
	`\`, `\\`,
	"'", "''",
	"\n", `\n`,
	"\r", `\r`,
	"\t", `\t`,
)

// keywords are PostgreSQL's reserved words, those that may be function or type
// names, and those that may be column names, of releases 14 to 18 together.
// Unreserved words are not here: they need no quotes.
var keywords = keywordSet(`
	all analyse analyze and any array as asc asymmetric both case cast check
	collate column constraint create current_catalog current_date current_role
	current_time current_timestamp current_user default deferrable desc distinct
	do else end except false fetch for foreign from grant group having in
	initially intersect into lateral leading limit localtime localtimestamp not
	null offset on only or order placing primary references returning select
	session_user some symmetric system_user table then to trailing true union
	unique user using variadic when where window with

	authorization binary collation concurrently cross current_schema freeze full
	ilike inner is isnull join left like natural notnull outer overlaps right
	similar tablesample verbose

	between bigint bit boolean char character coalesce dec decimal exists extract
	float greatest grouping inout int integer interval json json_array
	json_arrayagg json_exists json_object json_objectagg json_query json_scalar
	json_serialize json_table json_value least merge_action national nchar none
	normalize nullif numeric out overlay position precision real row setof
	smallint substring time timestamp treat trim values varchar xmlattributes
	xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
	xmlserialize xmltable
`)

func keywordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
