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
		return p.compare(pred, "", true)
	case squirrel.Eq:
		return p.compare(pred, "=", false)
	case squirrel.NotEq:
		return p.compare(pred, "<>", false)
	case squirrel.Lt:
		return p.compare(pred, "<", false)
	case squirrel.LtOrEq:
		return p.compare(pred, "<=", false)
	case squirrel.Gt:
		return p.compare(pred, ">", false)
	case squirrel.GtOrEq:
		return p.compare(pred, ">=", false)
	case squirrel.Like:
		return p.compare(pred, "LIKE", false)
	case squirrel.NotLike:
		return p.compare(pred, "NOT LIKE", false)
	case squirrel.ILike:
		return p.compare(pred, "ILIKE", false)
	case squirrel.NotILike:
		return p.compare(pred, "NOT ILIKE", false)
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
	if v := reflect.ValueOf(pred); v.Kind() == reflect.Pointer && v.IsNil() {
		return "", fmt.Errorf("the condition is a nil %T", pred)
	}
	text, args, err := pred.ToSql()
	if err != nil {
		return "", err
	}
	return p.text(text, args)
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

// compare renders a map from column to value. The keys of a plain map are
// column names; those of Squirrel's maps may be expressions too.
func (p predicate) compare(values map[string]any, operator string, namesOnly bool) (string, error) {
	if len(values) == 0 {
		return "", fmt.Errorf("the comparison has no columns, which is true of every row")
	}
	if operator == "" {
		operator = "="
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if strings.TrimSpace(key) == "" {
			return "", fmt.Errorf("the comparison has an empty column name")
		}
		left := key
		if namesOnly || slices.ContainsFunc(p.columns, func(c column) bool { return c.name == key }) {
			left = sqlgen.QuoteIdent(key)
		}
		part, err := compareOne(left, operator, values[key])
		if err != nil {
			return "", fmt.Errorf("column %s: %w", key, err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND "), nil
}

func compareOne(left, operator string, value any) (string, error) {
	value, err := settle(value)
	if err != nil {
		return "", err
	}
	equality := operator == "=" || operator == "<>"
	switch {
	case value == nil && operator == "=":
		return left + " IS NULL", nil
	case value == nil && operator == "<>":
		return left + " IS NOT NULL", nil
	case value == nil:
		return "", fmt.Errorf("%s with NULL is never true", operator)
	}
	if list, ok := listOf(value); ok {
		if !equality {
			return "", fmt.Errorf("%s cannot take a list", operator)
		}
		text, err := literalList(list)
		if err != nil {
			return "", err
		}
		in := " IN ("
		if operator == "<>" {
			in = " NOT IN ("
		}
		return left + in + text + ")", nil
	}
	text, err := literal(value)
	if err != nil {
		return "", err
	}
	return left + " " + operator + " " + text, nil
}

// settle follows pointers and driver.Valuers to the value that is meant.
func settle(value any) (any, error) {
	for range 4 {
		v := reflect.ValueOf(value)
		if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, nil
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

// text renders a condition written in SQL: ? stands for an argument, ?? for a
// question mark. Inside quotes and comments a ? is just that.
func (p predicate) text(sql string, args []any) (string, error) {
	if strings.TrimSpace(sql) == "" {
		return "", fmt.Errorf("the condition is empty")
	}
	var b strings.Builder
	used, bare := 0, false
	for i := 0; i < len(sql); {
		if end := quotedEnd(sql, i); end > i {
			quoted := sql[i:end]
			if strings.Contains(quoted, "??") {
				return "", fmt.Errorf("?? inside %s could mean one question mark or two: pass the text as an argument", quoted)
			}
			b.WriteString(quoted)
			bare = bare || !isComment(quoted)
			i = end
			continue
		}
		c := sql[i]
		switch {
		case c == '?' && i+1 < len(sql) && sql[i+1] == '?':
			b.WriteByte('?')
			i += 2
			continue
		case c == '?':
			if used == len(args) {
				return "", fmt.Errorf("the condition has more ? than its %d arguments (a ? operator is written ??)", len(args))
			}
			text, err := argument(b.String(), args[used])
			if err != nil {
				return "", fmt.Errorf("argument %d: %w", used+1, err)
			}
			b.WriteString(text)
			used++
		default:
			b.WriteByte(c)
		}
		bare = bare || !strings.ContainsRune(" \t\r\n\f\v", rune(c))
		i++
	}
	switch text := b.String(); {
	case used < len(args):
		return "", fmt.Errorf("the condition has %d ? for %d arguments", used, len(args))
	case !bare:
		return "", fmt.Errorf("the condition is empty")
	case strings.Contains(text, "(1=1)"), strings.Contains(text, "(1=0)"):
		// what Squirrel makes of an empty Eq, And, Or or list inside an expression
		return "", fmt.Errorf("a part of the condition was empty: %s", text)
	default:
		return text, nil
	}
}

// argument renders the argument that follows the text before it.
func argument(before string, value any) (string, error) {
	value, err := settle(value)
	if err != nil {
		return "", err
	}
	before = strings.TrimRight(before, " \t\r\n")
	if value == nil {
		if strings.HasSuffix(before, "=") || strings.HasSuffix(before, "<") || strings.HasSuffix(before, ">") {
			return "", fmt.Errorf("a comparison with NULL is never true: write IS NULL or IS NOT DISTINCT FROM")
		}
		return "NULL", nil
	}
	list, ok := listOf(value)
	if !ok {
		return literal(value)
	}
	text, err := literalList(list)
	if err != nil || endsWithIn(before) {
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

func isComment(quoted string) bool {
	return strings.HasPrefix(quoted, "--") || strings.HasPrefix(quoted, "/*")
}
