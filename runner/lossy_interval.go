package runner

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// The fields that an interval can be restricted to, as its typmod has them.
const (
	fieldMonth  = 1 << 1
	fieldYear   = 1 << 2
	fieldDay    = 1 << 3
	fieldHour   = 1 << 10
	fieldMinute = 1 << 11
	fieldSecond = 1 << 12
	allFields   = 0x7fff
)

// intervalUnit is what the last field that a column keeps counts, in months, days
// and microseconds: what is less is lost.
func intervalUnit(typmod int32) (months, days int32, micros int64) {
	fields := int(typmod>>16) & allFields
	if typmod < 0 || fields == allFields {
		return 1, 1, 1
	}
	switch {
	case fields&fieldSecond != 0:
		return 1, 1, 1
	case fields&fieldMinute != 0:
		return 1, 1, int64(time.Minute / time.Microsecond)
	case fields&fieldHour != 0:
		return 1, 1, int64(time.Hour / time.Microsecond)
	case fields&fieldDay != 0:
		return 1, 1, 0
	case fields&fieldMonth != 0:
		return 1, 0, 0
	case fields&fieldYear != 0:
		return 12, 0, 0
	}
	return 1, 1, 1
}

// lossOfInterval looks for what the fields and decimals of a column do not keep.
func lossOfInterval(typmod int32, inside any) string {
	switch value := inside.(type) {
	case time.Duration:
		if value%time.Microsecond != 0 {
			return lossOfFraction(6, int64(value%time.Second))
		}
		return lossOfParts(typmod, 0, 0, int64(value/time.Microsecond))
	case pgtype.Interval:
		if !value.Valid {
			return ""
		}
		return lossOfParts(typmod, value.Months, value.Days, value.Microseconds)
	}
	text, ok := textOf(inside)
	if !ok {
		return ""
	}
	months, days, micros, exact, known := intervalOf(text)
	switch {
	case known && !exact:
		return fmt.Sprintf("its digits after %d decimals of a second would be rounded", typmodOf(pgtype.IntervalOID, typmod))
	case known:
		return lossOfParts(typmod, months, days, micros)
	case typmod >= 0 && !strings.Contains(strings.ToLower(text), "infinity"):
		return "whether the column keeps all of it cannot be told: write it like 1 mon 2 days 03:04:05.6, or pass pgtype.Interval"
	}
	return ""
}

func lossOfParts(typmod int32, months, days int32, micros int64) string {
	unitMonths, unitDays, unitMicros := intervalUnit(typmod)
	lost := func(value, unit int64) bool { return unit == 0 && value != 0 || unit > 1 && value%unit != 0 }
	if lost(int64(months), int64(unitMonths)) || lost(int64(days), int64(unitDays)) || lost(micros, unitMicros) {
		return "the column does not keep all of its fields"
	}
	if unitMicros == 1 {
		return lossOfFraction(typmodOf(pgtype.IntervalOID, typmod), micros%1e6*1000)
	}
	return ""
}

var (
	intervalPart  = regexp.MustCompile(`^\s*([+-]?)([0-9]+)(?:\.([0-9]+))?\s*([A-Za-z]+)`)
	intervalClock = regexp.MustCompile(`^\s*([+-]?)([0-9]+):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?\s*$`)
)

// unitsOf gives what a unit counts, in months, days or microseconds.
var unitsOf = map[string]struct {
	months, days int32
	micros       int64
}{
	"year": {months: 12}, "month": {months: 1}, "mon": {months: 1}, "week": {days: 7}, "day": {days: 1},
	"hour": {micros: 3600e6}, "minute": {micros: 60e6}, "min": {micros: 60e6}, "second": {micros: 1e6}, "sec": {micros: 1e6},
	"y": {months: 12}, "d": {days: 1}, "h": {micros: 3600e6}, "m": {micros: 60e6}, "s": {micros: 1e6},
	"millisecond": {micros: 1000}, "microsecond": {micros: 1}, "ms": {micros: 1000}, "us": {micros: 1}, "w": {days: 7},
}

// intervalOf reads the plainest texts of an interval: numbers with their units,
// and a time of day. Known is false for any other, and exact for one whose
// fraction is finer than a microsecond.
func intervalOf(text string) (months, days int32, micros int64, exact, known bool) {
	exact = true
	var m, d, us int64
	rest := text
	for {
		part := intervalPart.FindStringSubmatch(rest)
		if part == nil {
			break
		}
		rest = rest[len(part[0]):]
		name := strings.ToLower(part[4])
		unit, ok := unitsOf[name]
		if !ok && len(name) > 2 {
			unit, ok = unitsOf[strings.TrimSuffix(name, "s")]
		}
		n, err := strconv.ParseInt(part[1]+part[2], 10, 32)
		if !ok || err != nil || part[3] != "" && (unit.micros == 0 || len(part[3]) > 12) {
			return 0, 0, 0, true, false // a part of a day or a month goes to the fields below it
		}
		m, d, us = m+n*int64(unit.months), d+n*int64(unit.days), us+n*unit.micros
		if part[3] != "" {
			fraction, scale := fractionOf(part[3])
			exact = exact && fraction*unit.micros%scale == 0
			if part[1] == "-" {
				fraction = -fraction
			}
			us += fraction * unit.micros / scale
		}
	}
	if clock := intervalClock.FindStringSubmatch(rest); clock != nil {
		time, exactTime, ok := clockOf(clock)
		if !ok {
			return 0, 0, 0, true, false
		}
		rest, us, exact = "", us+time, exact && exactTime
	}
	return int32(m), int32(d), us, exact, strings.TrimSpace(rest) == "" && strings.TrimSpace(text) != "" && m == int64(int32(m)) && d == int64(int32(d))
}

// clockOf returns the microseconds of a time of day, a match of intervalClock. It
// is not ok where it is too long, and not exact where it is too fine.
func clockOf(clock []string) (micros int64, exact, ok bool) {
	sign := int64(1)
	if clock[1] == "-" {
		sign = -1
	}
	for i, factor := range []int64{3600, 60, 1} {
		n, err := strconv.ParseInt("0"+clock[i+2], 10, 32)
		if err != nil {
			return 0, false, false
		}
		micros += sign * n * factor * 1e6
	}
	if clock[5] == "" {
		return micros, true, true
	}
	if len(clock[5]) > 12 {
		return 0, false, false
	}
	fraction, scale := fractionOf(clock[5])
	return micros + sign*(fraction*1e6/scale), fraction*1e6%scale == 0, true
}

// fractionOf returns the digits behind a point as fraction / scale, without the
// zeros at their end.
func fractionOf(digits string) (fraction, scale int64) {
	digits = strings.TrimRight(digits, "0")
	scale = 1
	for _, c := range digits {
		fraction, scale = fraction*10+int64(c-'0'), scale*10
	}
	return fraction, scale
}
