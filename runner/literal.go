package runner

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// literal renders a value as SQL that means the same in every session, whatever
// its settings (standard_conforming_strings, DateStyle, TimeZone) are.
func literal(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "NULL", nil
	case time.Time:
		return timeLiteral(value)
	case []byte:
		return bytesLiteral(value), nil
	}
	v := reflect.ValueOf(value)
	switch {
	case v.Kind() == reflect.Bool:
		return strings.ToUpper(strconv.FormatBool(v.Bool())), nil
	case v.CanInt():
		return intLiteral(strconv.FormatInt(v.Int(), 10)), nil
	case v.CanUint():
		return intLiteral(strconv.FormatUint(v.Uint(), 10)), nil
	case v.Kind() == reflect.Float32:
		return floatLiteral(v.Float(), 32, "real"), nil
	case v.CanFloat():
		return floatLiteral(v.Float(), 64, "float8"), nil
	case v.Kind() == reflect.String:
		return textLiteral(v.String())
	}
	if stringer, ok := value.(fmt.Stringer); ok {
		return textLiteral(stringer.String())
	}
	if v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8 {
		return byteArrayLiteral(v), nil
	}
	return "", fmt.Errorf("a %T cannot be written as an SQL literal: pass a string, number, bool, time or []byte", value)
}

// intLiteral puts a negative number in brackets: "3 -" and -5 would be a comment.
func intLiteral(digits string) string {
	if strings.HasPrefix(digits, "-") {
		return "(" + digits + ")"
	}
	return digits
}

func floatLiteral(f float64, bits int, sqlType string) string {
	text := strconv.FormatFloat(f, 'g', -1, bits)
	switch {
	case math.IsInf(f, 1):
		text = "Infinity"
	case math.IsInf(f, -1):
		text = "-Infinity"
	}
	return "'" + text + "'::" + sqlType
}

func textLiteral(text string) (string, error) {
	switch {
	case strings.ContainsRune(text, 0):
		return "", fmt.Errorf("%q holds a zero byte, which no PostgreSQL text can", text)
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%q is not valid UTF-8; pass bytes as []byte", text)
	}
	return sqlgen.QuoteLiteral(text), nil
}

// bytesLiteral doubles the backslash, which an E string asks for and which does not
// depend on standard_conforming_strings.
func bytesLiteral(b []byte) string {
	return `E'\\x` + hex.EncodeToString(b) + `'::bytea`
}

// byteArrayLiteral takes 16 bytes for a UUID, as the driver does.
func byteArrayLiteral(v reflect.Value) string {
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	if len(b) != 16 {
		return bytesLiteral(b)
	}
	return fmt.Sprintf("'%x-%x-%x-%x-%x'", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// timeLiteral leaves a UTC midnight without a type, so that it fits a date and
// a timestamp column too. Any other time is a timestamptz: compared with one of
// the others its meaning depends on the session's TimeZone, which PostgreSQL
// then refuses, where an untyped one would silently lose its time of day or zone.
// A write cuts nanoseconds; a condition without them would mean other rows.
func timeLiteral(t time.Time) (string, error) {
	if t.IsZero() {
		return "", fmt.Errorf("the zero time would mean the year 1")
	}
	utc := t.UTC()
	if utc.Nanosecond()%1000 != 0 {
		return "", fmt.Errorf("%s has nanoseconds, and no column does: no row is equal to it, and without them it means other rows; pass it with Truncate(time.Microsecond), which is what a write keeps of a time", utc.Format(time.RFC3339Nano))
	}
	text := "'" + utc.Format("2006-01-02 15:04:05.999999+00") + "'"
	if year := utc.Year(); year < 1 || year > 9999 {
		return "", fmt.Errorf("the year %d cannot be written", year)
	}
	if utc.Equal(dateOf(utc)) {
		return text, nil
	}
	return text + "::timestamptz", nil
}

// isList reports a type of several values. Bytes are one.
func isList(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() != reflect.Uint8
}

// listOf returns the elements of a slice or array that stands for several
// values, not for one.
func listOf(value any) ([]any, bool) {
	v := reflect.ValueOf(value)
	if !v.IsValid() || !isList(v.Type()) {
		return nil, false
	}
	if _, ok := value.(fmt.Stringer); ok {
		return nil, false
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return list, true
}

// literalList renders the inside of IN ( ) or ARRAY[ ].
func literalList(list []any, check textCheck) (string, error) {
	if len(list) == 0 {
		return "", fmt.Errorf("the list is empty, which is true or false of every row")
	}
	parts := make([]string, len(list))
	for i, element := range list {
		element, err := settle(element)
		if err != nil {
			return "", err
		}
		if element == nil {
			return "", fmt.Errorf("the list holds NULL, which equals nothing: ask for IS NULL beside it")
		}
		if parts[i], err = checkedLiteral(element, check); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, ", "), nil
}
