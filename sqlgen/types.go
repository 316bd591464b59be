package sqlgen

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// typeNames are the other names of PostgreSQL's types.
var typeNames = map[string]string{
	"int2": "smallint", "int": "integer", "int4": "integer", "int8": "bigint",
	"float4": "real", "float8": "double precision", "float": "double precision", "bool": "boolean",
	"character varying": "varchar", "character": "char", "decimal": "numeric", "dec": "numeric",
	"timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
	"smallint": "", "integer": "", "bigint": "", "real": "", "double precision": "", "boolean": "", "varchar": "",
	"char": "", "numeric": "", "timestamptz": "", "timestamp": "", "text": "", "date": "", "uuid": "", "jsonb": "", "json": "", "bytea": "",
}

var typeParts = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9 ]*?)\s*(?:\(([0-9 ,-]+)\))?$`)

// oneSpelling returns a type that PostgreSQL has several names for by one of
// them; any other type as it was written.
func oneSpelling(sqlType string) string {
	base, numbers, ok := splitType(sqlType)
	if !ok {
		return sqlType
	}
	if len(numbers) == 0 {
		return base
	}
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return base + "(" + strings.Join(words, ",") + ")"
}

// splitType returns a type's name and the numbers in its parentheses; false for
// a type that is not among the usual ones.
func splitType(sqlType string) (base string, numbers []int, ok bool) {
	match := typeParts.FindStringSubmatch(trimSQL(sqlType))
	if match == nil {
		return "", nil, false
	}
	base = strings.Join(strings.Fields(strings.ToLower(match[1])), " ")
	other, ok := typeNames[base]
	if !ok || base == "float" && match[2] != "" {
		return "", nil, false
	}
	if other != "" {
		base = other
	}
	if match[2] == "" {
		return base, nil, true
	}
	for word := range strings.SplitSeq(match[2], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return "", nil, false
		}
		numbers = append(numbers, n)
	}
	return base, numbers, true
}

// widening says how a column's values get another type.
type widening int

const (
	narrows  widening = iota // a value may be cut, changed or refused
	rewrites                 // each value stays what it is, and is written anew
	free                     // the stored values serve as they are
)

// widen compares a column's type with the one it is to have.
func widen(from, to string) widening {
	a, m, ok := splitType(from)
	b, n, known := splitType(to)
	if !ok || !known {
		return narrows
	}
	order := []string{"smallint", "integer", "bigint", "numeric"}
	i, j := slices.Index(order, a), slices.Index(order, b)
	switch {
	case i >= 0 && i < j && len(n) == 0, a == "real" && b == "double precision":
		return rewrites
	case a == "varchar" && (b == "text" || b == "varchar" && (len(n) == 0 || len(m) == 1 && m[0] <= n[0])):
		return free
	case a == "numeric" && b == "numeric" && len(n) == 0:
		return free
	case a == "numeric" && b == "numeric" && len(m) > 0:
		return widenNumeric(scaled(m), scaled(n))
	}
	return narrows
}

func scaled(numbers []int) [2]int {
	if len(numbers) == 1 {
		return [2]int{numbers[0], 0}
	}
	return [2]int{numbers[0], numbers[1]}
}

func widenNumeric(from, to [2]int) widening {
	switch {
	case to[1] < from[1], to[0]-to[1] < from[0]-from[1]:
		return narrows
	case to[1] == from[1]:
		return free
	}
	return rewrites
}
