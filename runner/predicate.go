package runner

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/Masterminds/squirrel"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// A condition says which rows go, and it is recorded and applied later, so it
// becomes one text with its values as literals. A condition that is true of
// every row because something was missing (no keys, an empty list, a filter
// that vanished) must never come out: it would empty the table.

// condition is what a caller may pass to DropRowsWhere: a string with ? for its
// args, a map from column to value, or anything of Squirrel's.
func condition(pred any, args []any, columns []column) (string, error) {
	p := predicate{columns: columns}
	var text string
	err := protect(func() (err error) {
		text, err = p.render(pred, args)
		return err
	})
	if err != nil {
		return "", refuse(ErrBadCondition, "", err.Error(), "nothing was deleted; to delete all rows, say so with DropAllRows")
	}
	return text, nil
}

type predicate struct {
	columns []column
}

func (p predicate) render(pred any, args []any) (string, error) {
	if _, isText := pred.(string); !isText && len(args) > 0 {
		return "", fmt.Errorf("a %T takes no arguments beside it", pred)
	}
	switch pred := pred.(type) {
	case nil:
		return "", fmt.Errorf("the condition is nil")
	case string:
		return p.text(pred, args)
	case map[string]any:
		return p.compare(pred, "=")
	case squirrel.Eq:
		return p.compare(pred, "=")
	case squirrel.NotEq:
		return p.compare(pred, "<>")
	case squirrel.Lt:
		return p.compare(pred, "<")
	case squirrel.LtOrEq:
		return p.compare(pred, "<=")
	case squirrel.Gt:
		return p.compare(pred, ">")
	case squirrel.GtOrEq:
		return p.compare(pred, ">=")
	case squirrel.Like:
		return p.compare(pred, "LIKE")
	case squirrel.NotLike:
		return p.compare(pred, "NOT LIKE")
	case squirrel.ILike:
		return p.compare(pred, "ILIKE")
	case squirrel.NotILike:
		return p.compare(pred, "NOT ILIKE")
	case squirrel.And:
		return p.join(pred, " AND ")
	case squirrel.Or:
		return p.join(pred, " OR ")
	case squirrel.Sqlizer:
		return p.opaque(pred)
	}
	return "", fmt.Errorf("a condition cannot be a %T: use a string, a map or a Squirrel expression", pred)
}

// opaque renders a Sqlizer that cannot be looked into.
func (p predicate) opaque(pred squirrel.Sqlizer) (string, error) {
	v := reflect.ValueOf(pred)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", fmt.Errorf("the condition is a nil %T", pred)
		}
		if inner, ok := v.Elem().Interface().(squirrel.Sqlizer); ok {
			return p.render(inner, nil)
		}
	}
	if found := comparisonIn(v, map[uintptr]bool{}); found != nil {
		return "", fmt.Errorf("a %s inside a %T would make IS NULL of a value that is missing: put it into squirrel.And or squirrel.Or, or write it as text", found, pred)
	}
	text, args, err := pred.ToSql()
	if err != nil {
		return "", err
	}
	return p.text(text, args)
}

var comparisons = []reflect.Type{
	reflect.TypeFor[squirrel.Eq](), reflect.TypeFor[squirrel.NotEq](), reflect.TypeFor[squirrel.Lt](), reflect.TypeFor[squirrel.LtOrEq](),
	reflect.TypeFor[squirrel.Gt](), reflect.TypeFor[squirrel.GtOrEq](), reflect.TypeFor[squirrel.Like](), reflect.TypeFor[squirrel.NotLike](),
	reflect.TypeFor[squirrel.ILike](), reflect.TypeFor[squirrel.NotILike](),
}

// comparisonIn returns the type of a comparison of Squirrel's that a value holds,
// or nil. Squirrel would render it without a look at its values. Each pointer is
// followed once.
func comparisonIn(v reflect.Value, seen map[uintptr]bool) reflect.Type {
	if !v.IsValid() {
		return nil
	}
	if slices.Contains(comparisons, v.Type()) {
		return v.Type()
	}
	inner := func(v reflect.Value) reflect.Type { return comparisonIn(v, seen) }
	switch v.Kind() {
	case reflect.Pointer:
		if seen[v.Pointer()] {
			return nil
		}
		seen[v.Pointer()] = true
		return inner(v.Elem())
	case reflect.Interface:
		return inner(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if found := inner(v.Field(i)); found != nil {
				return found
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if found := inner(v.Index(i)); found != nil {
				return found
			}
		}
	}
	return nil
}

func (p predicate) join(parts []squirrel.Sqlizer, with string) (string, error) {
	if len(parts) == 0 {
		return "", fmt.Errorf("the%sis empty, which is true or false of every row", with)
	}
	rendered := make([]string, len(parts))
	for i, part := range parts {
		text, err := p.render(part, nil)
		if err != nil {
			return "", err
		}
		rendered[i] = "(" + text + ")"
	}
	return strings.Join(rendered, with), nil
}

// compare renders a map from column to value.
func (p predicate) compare(values map[string]any, operator string) (string, error) {
	if len(values) == 0 {
		return "", fmt.Errorf("the comparison has no columns, which is true of every row")
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := slices.IndexFunc(p.columns, func(c column) bool { return c.name == key })
		if at < 0 {
			return "", fmt.Errorf("the table has no column %q; write what is an expression as text, with a ? for its value", key)
		}
		part, err := compareOne(&p.columns[at], operator, values[key])
		if err != nil {
			return "", fmt.Errorf("column %s: %w", key, err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND "), nil
}

func compareOne(c *column, operator string, given any) (string, error) {
	left := sqlgen.QuoteIdent(c.name)
	value, err := settle(given)
	if err != nil {
		return "", err
	}
	equality := operator == "=" || operator == "<>"
	switch {
	case given == nil && operator == "=":
		return left + " IS NULL", nil
	case given == nil && operator == "<>":
		return left + " IS NOT NULL", nil
	case value == nil && equality:
		return "", fmt.Errorf("the %T is NULL, as what is missing is: give nil itself to ask for IS NULL", given)
	case value == nil:
		return "", fmt.Errorf("%s with NULL is never true", operator)
	}
	if list, ok := listOf(value); ok {
		if !equality {
			return "", fmt.Errorf("%s cannot take a list", operator)
		}
		text, err := literalList(list, c.checkText)
		if err != nil {
			return "", err
		}
		in := " IN ("
		if operator == "<>" {
			in = " NOT IN ("
		}
		return left + in + text + ")", nil
	}
	text, err := checkedLiteral(value, c.checkText)
	if err != nil {
		return "", err
	}
	return left + " " + operator + " " + text, nil
}

// settle follows pointers and driver.Valuers to the value that is meant.
func settle(value any) (any, error) {
	for range 4 {
		v := reflect.ValueOf(value)
		if !v.IsValid() {
			return nil, nil
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan:
			if v.IsNil() && !isList(v.Type()) {
				return nil, nil
			}
		}
		if valuer, ok := value.(driver.Valuer); ok {
			inner, err := valuer.Value()
			if err != nil {
				return nil, err
			}
			value = inner
			continue
		}
		if v.Kind() != reflect.Pointer {
			return value, nil
		}
		value = v.Elem().Interface()
	}
	return value, nil
}

// text renders a condition written in SQL: see [bind].
func (p predicate) text(sql string, args []any) (string, error) {
	if strings.TrimSpace(sql) == "" {
		return "", fmt.Errorf("the condition is empty")
	}
	check := p.checkArgument(sql)
	text, bare, err := bind(sql, len(args), func(before string, i int) (string, error) { return argument(before, args[i], check) })
	switch {
	case err != nil:
		return "", err
	case !bare:
		return "", fmt.Errorf("the condition is empty")
	case strings.Contains(text, "(1=1)"), strings.Contains(text, "(1=0)"):
		// what Squirrel makes of an empty Eq, And, Or or list inside an expression
		return "", fmt.Errorf("a part of the condition was empty: %s", text)
	}
	return text, nil
}

// argument renders the argument that follows the text before it. NULL is none:
// whatever is made with it is NULL, which is true of no row, and keeps none.
func argument(before string, value any, check textCheck) (string, error) {
	value, err := settle(value)
	if err != nil {
		return "", err
	}
	if value == nil {
		return "", fmt.Errorf("it is NULL, and a comparison with NULL is never true: leave it out, or write IS NULL")
	}
	list, ok := listOf(value)
	if !ok {
		return checkedLiteral(value, check)
	}
	text, err := literalList(list, check)
	if err != nil || endsWithIn(strings.TrimRight(before, " \t\r\n")) {
		return text, err
	}
	return "ARRAY[" + text + "]", nil
}

// endsWithIn reports whether a list follows as IN (?).
func endsWithIn(before string) bool {
	before, ok := strings.CutSuffix(before, "(")
	fields := strings.Fields(before)
	return ok && len(fields) > 0 && strings.EqualFold(fields[len(fields)-1], "in")
}
