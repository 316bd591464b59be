package inspect

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// SQL that PostgreSQL writes, by pg_get_expr and the like, has balanced brackets,
// no comment and no dollar quote. That is all these functions rely on.

// skip returns the size of the literal, the quoted name or the bracketed text
// that sql starts with; 1 for any other character.
func skip(sql string) int {
	switch {
	case strings.HasPrefix(sql, "E'"):
		return 1 + quotedSize(sql[1:], '\'', true)
	case sql[0] == '\'':
		return quotedSize(sql, '\'', false)
	case sql[0] == '"':
		return quotedSize(sql, '"', false)
	case sql[0] == '(' || sql[0] == '[':
		at := 1
		for at < len(sql) && sql[at] != ')' && sql[at] != ']' {
			at += skip(sql[at:])
		}
		return min(at+1, len(sql))
	}
	return 1
}

func quotedSize(sql string, quote byte, escapes bool) int {
	for at := 1; at < len(sql); at++ {
		switch {
		case escapes && sql[at] == '\\':
			at++
		case sql[at] != quote:
		case at+1 < len(sql) && sql[at+1] == quote:
			at++
		default:
			return at + 1
		}
	}
	return len(sql)
}

// until returns how far sql goes before one of the characters of ends, outside
// quotes and brackets.
func until(sql, ends string) int {
	at := 0
	for at < len(sql) && !strings.Contains(ends, sql[at:at+1]) {
		at += skip(sql[at:])
	}
	return min(at, len(sql))
}

// splitList splits at the commas outside quotes and brackets.
func splitList(sql string) []string {
	var out []string
	for {
		n := until(sql, ",")
		out = append(out, strings.TrimSpace(sql[:n]))
		if n >= len(sql) {
			return out
		}
		sql = sql[n+1:]
	}
}

// oneLine makes a space of each line break, with the indentation after it, that
// is outside quotes.
func oneLine(sql string) string {
	var b strings.Builder
	for at := 0; at < len(sql); {
		if sql[at] == '\n' {
			at = len(sql) - len(strings.TrimLeft(sql[at:], " \n"))
			b.WriteByte(' ')
			continue
		}
		size := 1
		if sql[at] != '(' && sql[at] != '[' { // inside brackets there are line breaks too
			size = skip(sql[at:])
		}
		b.WriteString(sql[at : at+size])
		at += size
	}
	return strings.TrimSpace(b.String())
}

// bare puts an expression on one line, without brackets around the whole of it.
func bare(sql string) string {
	sql = oneLine(sql)
	for strings.HasPrefix(sql, "(") && skip(sql) == len(sql) && len(sql) > 2 {
		sql = strings.TrimSpace(sql[1 : len(sql)-1])
	}
	return sql
}

var (
	castLiteral = regexp.MustCompile(`(?s)^(E?'.*')::([^']+)$`)
	numberText  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	numberTypes = map[string]bool{
		"smallint": true, "integer": true, "bigint": true, "numeric": true, "real": true, "double precision": true,
	}
	modifier = regexp.MustCompile(`\([0-9, -]+\)`)
)

// plainDefault returns a default as a person would write it: without brackets
// around it, and without a cast of a literal to what it becomes by itself.
func plainDefault(sql, columnType string) string {
	sql = bare(sql)
	m := castLiteral.FindStringSubmatch(sql)
	if m == nil || skip(sql) != len(m[1]) {
		return sql
	}
	literal, cast := m[1], m[2]
	number := strings.Trim(literal, "'")
	ofColumn := strings.TrimSpace(modifier.ReplaceAllString(columnType, ""))
	if numberText.MatchString(number) && numberTypes[ofColumn] && cast == typeOfNumber(number) {
		return number
	}
	if cast == ofColumn {
		return literal
	}
	return sql
}

// typeOfNumber returns the type that a number without quotes has.
func typeOfNumber(text string) string {
	if strings.Contains(text, ".") {
		return "numeric"
	}
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return "integer"
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return "bigint"
	}
	return "numeric"
}

// bound is what FOR VALUES says of a partition. Values are those of literals.
type bound struct {
	isDefault          bool
	values             []boundValue // list
	from, to           []boundValue // range
	modulus, remainder int          // hash
}

// boundValue is a value of a bound: a text, or one of the words NULL, MINVALUE
// and MAXVALUE.
type boundValue struct{ text, word string }

var hashBound = regexp.MustCompile(`^FOR VALUES WITH \(modulus ([0-9]+), remainder ([0-9]+)\)$`)

// parseBound reads what pg_get_expr writes for relpartbound; false when it is
// none of the known forms.
func parseBound(sql string) (bound, bool) {
	if sql == "DEFAULT" {
		return bound{isDefault: true}, true
	}
	if m := hashBound.FindStringSubmatch(sql); m != nil {
		modulus, err1 := strconv.Atoi(m[1])
		remainder, err2 := strconv.Atoi(m[2])
		return bound{modulus: modulus, remainder: remainder}, err1 == nil && err2 == nil
	}
	if rest, ok := strings.CutPrefix(sql, "FOR VALUES IN "); ok {
		values, ok := boundValues(rest)
		return bound{values: values}, ok
	}
	rest, ok := strings.CutPrefix(sql, "FOR VALUES FROM ")
	if !ok || !strings.HasPrefix(rest, "(") {
		return bound{}, false
	}
	n := skip(rest)
	after, ok := strings.CutPrefix(rest[n:], " TO ")
	if !ok {
		return bound{}, false
	}
	from, fromOK := boundValues(rest[:n])
	to, toOK := boundValues(after)
	return bound{from: from, to: to}, fromOK && toOK
}

func boundValues(sql string) ([]boundValue, bool) {
	if !strings.HasPrefix(sql, "(") || skip(sql) != len(sql) {
		return nil, false
	}
	var out []boundValue
	for _, item := range splitList(sql[1 : len(sql)-1]) {
		switch {
		case item == "NULL" || item == "MINVALUE" || item == "MAXVALUE":
			out = append(out, boundValue{word: item})
		case strings.HasPrefix(item, "'") && skip(item) == len(item):
			out = append(out, boundValue{text: strings.ReplaceAll(item[1:len(item)-1], "''", "'")})
		case strings.HasPrefix(item, "E'") && skip(item) == len(item):
			text := strings.ReplaceAll(item[2:len(item)-1], "''", "'")
			out = append(out, boundValue{text: strings.ReplaceAll(text, `\\`, `\`)})
		case numberText.MatchString(item) || item == "true" || item == "false":
			out = append(out, boundValue{text: item})
		default:
			return nil, false
		}
	}
	return out, true
}

// itemRest is what follows the column or the expression of an index item.
type itemRest struct {
	collation, opclass, order, nulls string // SQL; order and nulls in lower case
	options                          bool   // the operator class has parameters
}

// indexItems reads the items of CREATE INDEX, whose texts are known; false when
// the definition is not what was expected.
func indexItems(definition, head string, items []string) ([]itemRest, bool) {
	at := strings.Index(definition, head)
	if at < 0 {
		return nil, false
	}
	rest := definition[at+len(head):]
	out := make([]itemRest, len(items))
	for i, item := range items {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, item); !ok {
			return nil, false
		}
		n := until(rest, ",)")
		if out[i], ok = parseRest(rest[:n]); !ok || n >= len(rest) {
			return nil, false
		}
		rest = strings.TrimPrefix(rest[n:], ", ")
	}
	return out, strings.HasPrefix(rest, ")")
}

func parseRest(sql string) (itemRest, bool) {
	var out itemRest
	words := splitWords(sql)
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch word := words[i]; {
		case word == "COLLATE" && next != "":
			out.collation = next
			i++
		case word == "DESC":
			out.order = "desc"
		case word == "NULLS" && (next == "FIRST" || next == "LAST"):
			out.nulls = strings.ToLower(next)
			i++
		case strings.HasPrefix(word, "(") && out.opclass != "":
			out.options = true
		case out.opclass == "":
			out.opclass = word
		default:
			return itemRest{}, false
		}
	}
	return out, true
}

// splitWords splits at the spaces outside quotes and brackets.
func splitWords(sql string) []string {
	var out []string
	for sql = strings.TrimLeft(sql, " "); sql != ""; sql = strings.TrimLeft(sql, " ") {
		n := until(sql, " ")
		out = append(out, sql[:n])
		sql = sql[n:]
	}
	return out
}

// nameInFile returns a name that PostgreSQL writes, such as public."German", as
// a definition file holds it.
func nameInFile(sql string) string {
	n := until(sql, ".")
	if n >= len(sql) {
		return sqlgen.JoinName("", unquote(sql))
	}
	return sqlgen.JoinName(unquote(sql[:n]), unquote(sql[n+1:]))
}

func unquote(ident string) string {
	if !strings.HasPrefix(ident, `"`) {
		return ident
	}
	return strings.ReplaceAll(ident[1:len(ident)-1], `""`, `"`)
}
