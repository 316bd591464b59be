package sqlgen

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// valueKind says how values of a type are compared: two ways of writing one
// value must not become two partitions.
type valueKind int

const (
	kindText valueKind = iota // compared as written
	kindPadded
	kindInteger
	kindNumeric
	kindReal
	kindDouble
	kindBoolean
	kindDate
	kindTimestamp
	kindTimestamptz
	kindUUID
)

var valueKinds = map[string]valueKind{
	"smallint": kindInteger, "int2": kindInteger,
	"integer": kindInteger, "int": kindInteger, "int4": kindInteger,
	"bigint": kindInteger, "int8": kindInteger,
	"numeric": kindNumeric, "decimal": kindNumeric, "dec": kindNumeric,
	"real": kindReal, "float4": kindReal,
	"double precision": kindDouble, "float8": kindDouble, "float": kindDouble,
	"boolean": kindBoolean, "bool": kindBoolean,
	"date":      kindDate,
	"timestamp": kindTimestamp, "timestamp without time zone": kindTimestamp,
	"timestamptz": kindTimestamptz, "timestamp with time zone": kindTimestamptz,
	"uuid": kindUUID,
	"char": kindPadded, "character": kindPadded, "bpchar": kindPadded,
}

var typeModifier = regexp.MustCompile(`\([^)]*\)`)

// valueKindOf returns the kind of a PostgreSQL type.
func valueKindOf(sqlType string) valueKind {
	plain := strings.ToLower(typeModifier.ReplaceAllString(sqlType, " "))
	plain = strings.Join(strings.Fields(plain), " ")
	return valueKinds[strings.TrimPrefix(plain, "pg_catalog.")]
}

var (
	integerText = regexp.MustCompile(`^[+-]?[0-9]+$`)
	numericText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)
	uuidText    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// canonical returns the one text that stands for all the ways to write value,
// or an error that says how such a value is written.
func (k valueKind) canonical(value string) (string, error) {
	switch k {
	case kindPadded:
		return strings.TrimRight(value, " "), nil
	case kindInteger:
		if n, ok := new(big.Int).SetString(value, 10); ok && integerText.MatchString(value) {
			return n.String(), nil
		}
		return "", fmt.Errorf("write a whole number")
	case kindNumeric:
		if n, ok := new(big.Rat).SetString(value); ok && numericText.MatchString(value) {
			return n.RatString(), nil
		}
		return "", fmt.Errorf("write a number, such as 1.5")
	case kindReal, kindDouble:
		bits := map[valueKind]int{kindReal: 32, kindDouble: 64}[k]
		if n, err := strconv.ParseFloat(value, bits); err == nil && numericText.MatchString(value) {
			return strconv.FormatFloat(n+0, 'g', -1, bits), nil
		}
		return "", fmt.Errorf("write a number, such as 1.5")
	case kindBoolean:
		if value == "true" || value == "false" {
			return value, nil
		}
		return "", fmt.Errorf("write true or false")
	case kindUUID:
		if same := strings.ToLower(value); uuidText.MatchString(same) {
			return same, nil
		}
		return "", fmt.Errorf("write it as 01234567-89ab-cdef-0123-456789abcdef")
	case kindDate, kindTimestamp, kindTimestamptz:
		return k.canonicalTime(value)
	}
	return value, nil
}

// canonicalTime insists on ISO 8601, because other ways of writing a time mean
// different times in sessions with another DateStyle or TimeZone.
func (k valueKind) canonicalTime(value string) (string, error) {
	layouts := map[valueKind][]string{
		kindDate:        {"2006-01-02"},
		kindTimestamp:   {"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02"},
		kindTimestamptz: {"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07"},
	}[k]
	for _, layout := range layouts {
		if t, err := time.Parse(layout, value); err == nil && t.Year() > 0 {
			return t.UTC().Format(time.RFC3339Nano), nil
		}
	}
	if value == "infinity" || value == "-infinity" {
		return value, nil
	}
	return "", fmt.Errorf("write it as %s", map[valueKind]string{
		kindDate:        "2026-01-31",
		kindTimestamp:   "2026-01-31 15:04:05",
		kindTimestamptz: "2026-01-31 15:04:05Z, with its time zone",
	}[k])
}

// number returns a number that orders as the database orders the value; nil where
// that is not known, as for text, whose order its collation says.
func (k valueKind) number(value string) *big.Rat {
	same, err := k.canonical(value)
	if err != nil {
		return nil
	}
	switch k {
	case kindInteger, kindNumeric, kindReal, kindDouble:
		n, _ := new(big.Rat).SetString(same)
		return n
	case kindBoolean:
		return big.NewRat(int64(len("false")-len(same)), 1)
	case kindUUID:
		n, _ := new(big.Int).SetString(strings.ReplaceAll(same, "-", ""), 16)
		return new(big.Rat).SetInt(n)
	case kindDate, kindTimestamp, kindTimestamptz:
		return timeNumber(same)
	}
	return nil
}

// timeNumber returns the nanoseconds since 1970 of a time in its canonical form.
func timeNumber(same string) *big.Rat {
	const beyond = 1 << 62 // times 2^64: later than any time that PostgreSQL has
	switch same {
	case "infinity":
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(beyond), 64))
	case "-infinity":
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-beyond), 64))
	}
	t, err := time.Parse(time.RFC3339Nano, same)
	if err != nil {
		return nil
	}
	n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
	return new(big.Rat).SetInt(n.Add(n, big.NewInt(int64(t.Nanosecond()))))
}
