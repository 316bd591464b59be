package sqlgen

import (
	"maps"
	"slices"
	"strings"
)

// hasAnnotation reports whether a line of sql is one that goose would take for
// one of its own commands: it looks at every line of a migration, inside texts
// too, and past white space of any script before it.
func hasAnnotation(sql string) bool {
	for line := range strings.SplitSeq(sql, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "--") && strings.Contains(strings.ToLower(line), "+goose") {
			return true
		}
	}
	return false
}

// trimSQL returns sql without the white space around it. What else is a space to
// Unicode is a letter to PostgreSQL.
func trimSQL(sql string) string { return strings.Trim(sql, " \t\n\r\f\v") }

// checkSQL returns what keeps sql from being pasted into a statement: anything
// that could end the statement, or swallow or split what follows. Whether it
// is a valid expression is for the database to say. With single set a comma
// outside parentheses is refused too.
func checkSQL(sql string, single bool) []string {
	if strings.TrimSpace(sql) == "" {
		return []string{"it is empty: write it or remove it"}
	}
	var problems []string
	if hasAnnotation(strings.ReplaceAll(sql, "\r", "\n")) {
		problems = append(problems, `a line of it looks like a goose annotation (-- +goose …): write the line break as E'\n'`)
	} else if strings.Contains(sql, "\r") {
		problems = append(problems, `it holds a carriage return, which a migration does not keep: write E'\r'`)
	}
	tokens, err := lex(sql)
	if err != nil {
		problems = append(problems, err.Error())
	}
	report := map[string]bool{}
	open := "" // the brackets that are open, outermost first
	for _, t := range tokens {
		switch {
		case t.kind == tokenComment:
			report["it holds a comment ("+shorten(t.text)+"): remove it; what follows it could be lost"] = true
		case t.kind != tokenSymbol:
		case t.text == ";":
			report["it holds a semicolon outside quotes: remove it, one expression is all that fits here"] = true
		case t.text == "," && single && open == "":
			report["it holds a comma outside parentheses: one item is all that fits here"] = true
		case t.text == "(" || t.text == "[":
			open += t.text
		case t.text == ")" || t.text == "]":
			if !strings.HasSuffix(open, opening[t.text]) {
				report["a \""+t.text+"\" closes nothing: balance the brackets"] = true
				continue
			}
			open = open[:len(open)-1]
		}
	}
	if open != "" && err == nil {
		report["a \""+open[len(open)-1:]+"\" is not closed: balance the brackets"] = true
	}
	return append(problems, slices.Sorted(maps.Keys(report))...)
}

var opening = map[string]string{")": "(", "]": "["}
