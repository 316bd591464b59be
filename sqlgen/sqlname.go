package sqlgen

import (
	"fmt"
	"strings"
)

// splitName reads a name as a definition file holds it: "name", or "schema.name".
// Letters keep their case. A part that holds a dot or a double quote stands in
// double quotes, like an identifier of SQL. Schema is "" when there is none.
func splitName(text string) (schema, name string, err error) {
	var parts []string
	for rest := text; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			size, err := quotedSize(rest)
			if err != nil {
				return "", "", err
			}
			part, rest = strings.ReplaceAll(rest[1:size-1], `""`, `"`), rest[size:]
		} else {
			size := strings.IndexAny(rest, `."`)
			if size < 0 {
				size = len(rest)
			}
			part, rest = rest[:size], rest[size:]
		}
		if problem := identProblem(part); problem != "" {
			return "", "", fmt.Errorf("%s", problem)
		}
		if len(part) > maxIdentBytes {
			return "", "", fmt.Errorf("the name %q is %d bytes long, PostgreSQL allows %d: shorten it", part, len(part), maxIdentBytes)
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		if rest[0] != '.' {
			return "", "", fmt.Errorf("after %q comes %q: put double quotes around each part that holds a dot or a quote", part, rest)
		}
		rest = rest[1:]
	}
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", fmt.Errorf("it has %d parts: write a name, or schema.name; a part that holds a dot stands in double quotes", len(parts))
}

// JoinName returns the text that a definition file holds for a name of a
// collation, an operator class or a referenced table. Schema may be "".
func JoinName(schema, name string) string {
	quoted := func(part string) string {
		if part == "" || strings.ContainsAny(part, `."`) {
			return `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
		}
		return part
	}
	if schema == "" {
		return quoted(name)
	}
	return quoted(schema) + "." + quoted(name)
}

// sqlName returns a name of a definition file as an SQL identifier. It was
// validated before.
func sqlName(text string) string {
	schema, name, err := splitName(text)
	switch {
	case err != nil:
		return QuoteIdent(text)
	case schema == "":
		return QuoteIdent(name)
	}
	return Qualified(schema, name)
}

// oneName returns the one spelling of a name of a definition file; within is the
// schema that is meant where it has none, or "".
func oneName(text, within string) string {
	if text == "" {
		return ""
	}
	schema, name, err := splitName(text)
	if err != nil {
		return text
	}
	if schema == "" {
		schema = within
	}
	return JoinName(schema, name)
}
