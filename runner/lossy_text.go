package runner

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// brokenText returns the text of a value that no column can hold as text, and
// what is wrong with it.
func brokenText(oid uint32, inside any) (text, why string) {
	text, ok := textOf(inside)
	if raw, isRaw := inside.([]byte); isRaw && isTextual(oid) {
		text, ok = string(raw), true
	}
	switch {
	case !ok:
		return "", ""
	case strings.IndexByte(text, 0) >= 0:
		return text, "it holds a zero byte, which no text of PostgreSQL can; bytea keeps any bytes"
	case !utf8.ValidString(text):
		return text, "it is not valid UTF-8; bytea keeps any bytes"
	}
	return "", ""
}

// textOf returns a string, of whatever named type.
func textOf(inside any) (string, bool) {
	if text, ok := inside.(string); ok {
		return text, true
	}
	if v := reflect.ValueOf(inside); v.Kind() == reflect.String {
		return v.String(), true
	}
	return "", false
}

// maxName is how many bytes the type name keeps.
const maxName = 63

// lossOfText looks for what PostgreSQL itself would drop of a text without a
// word. What it refuses is its business.
func lossOfText(oid uint32, typmod int32, text string) string {
	switch oid {
	case pgtype.VarcharOID:
		if length := int(typmod) - 4; typmod >= 4 && len(text) > length && utf8.RuneCountInString(text) > length && strings.HasSuffix(text, " ") {
			return fmt.Sprintf("its blanks after %d characters would be cut", length)
		}
	case pgtype.NameOID:
		if len(text) > maxName {
			return fmt.Sprintf("it would be cut after %d bytes", maxName)
		}
	case pgtype.QCharOID:
		if len(text) > 1 {
			return "it would be cut after its first byte"
		}
	case pgtype.DateOID, pgtype.TimeOID, pgtype.TimetzOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		return lossOfTimeText(oid, typmod, text)
	}
	return ""
}

var (
	// dateText finds a date, in the ways in which people write one.
	dateText = regexp.MustCompile(`(?i)[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}|[0-9]{1,2}[-/. ][a-z]{3,9}[-/. ,]+[0-9]{2,4}|` +
		`[a-z]{3,9}[-/. ]+[0-9]{1,2}[-/., ]+[0-9]{2,4}|[0-9]{4}[-/. ][a-z]{3,9}[-/. ][0-9]{1,2}|[0-9]{4}\.[0-9]{3}|(?:^|\s)[0-9]{8}`)
	// clockText finds a time of day: hours, minutes, seconds, fraction. Without
	// colons it follows a date.
	clockText   = regexp.MustCompile(`([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?`)
	compactText = regexp.MustCompile(`^[Tt ]?([0-9]{2})([0-9]{2})?([0-9]{2})?(?:\.([0-9]+))?`)
	utcText     = regexp.MustCompile(`^(?i:z|ut|utc|gmt|zulu|[+-]00?(:?00)?(:?00)?)$`)
	offsetText  = regexp.MustCompile(`[+-][0-9][0-9:]*`)
	wordText    = regexp.MustCompile(`[A-Za-z][A-Za-z_/]*`)
	// notZone are words beside a date or a time of day that are no time zone.
	notZone = regexp.MustCompile(`^(?i:t|bc|ad|am|pm|at|on|infinity|epoch|now|today|tomorrow|yesterday|allballs|j|` +
		`jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?|` +
		`mon(day)?|tue(s|sday)?|wed(s|nesday|nes)?|thu(r|rs|rsday)?|fri(day)?|sat(urday)?|sun(day)?)$`)
)

// lossOfTimeText does for text what lossOfTime does for a time.Time: it takes the
// date off, then the time of day, and what is left is a time zone.
func lossOfTimeText(oid uint32, typmod int32, text string) string {
	rest, hasDate := text, false
	if at := dateText.FindStringIndex(text); at != nil {
		rest, hasDate = text[:at[0]]+" "+text[at[1]:], true
	}
	clock := clockText.FindStringSubmatchIndex(rest)
	if clock == nil {
		if trimmed := strings.TrimLeft(rest, " "); hasDate || oid == pgtype.TimeOID || oid == pgtype.TimetzOID {
			if clock = compactText.FindStringSubmatchIndex(trimmed); clock != nil {
				rest = trimmed
			}
		}
	}
	field := func(i int) string {
		if clock == nil || clock[2*i] < 0 {
			return ""
		}
		return rest[clock[2*i]:clock[2*i+1]]
	}
	fraction, clockDigits := field(4), field(1)+field(2)+field(3)+field(4)
	if clock != nil {
		rest = rest[:clock[0]] + " " + rest[clock[1]:]
	}
	switch {
	case oid == pgtype.DateOID && strings.Trim(clockDigits, "0") != "":
		return timeOfDayLost
	case (oid == pgtype.TimeOID || oid == pgtype.TimetzOID && clock != nil) && hasDate:
		return "its date would be lost"
	case (oid == pgtype.TimestampOID || oid == pgtype.TimeOID) && hasZone(rest):
		return "its time zone would be lost"
	case oid == pgtype.DateOID:
		return ""
	}
	return lossOfDecimals(fraction, typmodOf(oid, typmod))
}

// lossOfDecimals does for the digits of a second what lossOfFraction does for
// nanoseconds.
func lossOfDecimals(fraction string, digits int) string {
	if len(fraction) > digits && strings.Trim(fraction[digits:], "0") != "" {
		return fmt.Sprintf("its digits after %d decimals of a second would be rounded", digits)
	}
	return ""
}

// hasZone reports whether what is left of a text names a time zone other than UTC.
func hasZone(rest string) bool {
	for _, offset := range offsetText.FindAllString(rest, -1) {
		if !utcText.MatchString(offset) {
			return true
		}
	}
	for _, word := range wordText.FindAllString(rest, -1) {
		if !notZone.MatchString(word) && !utcText.MatchString(word) {
			return true
		}
	}
	return false
}

// typmodOf returns how many decimals of a second a column keeps.
func typmodOf(oid uint32, typmod int32) int {
	if oid == pgtype.IntervalOID {
		typmod &= 0xffff // beside it is which fields it keeps
	}
	if typmod < 0 || typmod > 6 {
		return 6
	}
	return int(typmod)
}

// lossOfFraction looks for nanoseconds that are not in so many decimals.
func lossOfFraction(digits int, nanoseconds int64) string {
	unit := time.Second
	for range digits {
		unit /= 10
	}
	if nanoseconds%int64(unit) == 0 {
		return ""
	}
	name, ok := map[int]string{0: "Second", 3: "Millisecond", 6: "Microsecond"}[digits]
	if !ok {
		name = fmt.Sprintf("Second/%d", time.Second/unit)
	}
	return fmt.Sprintf("its digits after %d decimals of a second would be lost; pass it with Truncate(time.%s) where that is meant", digits, name)
}

const timeOfDayLost = "its time of day would be lost; pass the midnight that begins the day"

// PostgreSQL's dates and timestamps end with these years; before the first of
// them it has none.
const (
	firstYear         = -4713
	lastYear          = 5874897
	lastYearTimestamp = 294276
)

// lossOfTime: a date takes the day in the time's own location, a timestamp
// without time zone its clock, and the driver counts years past PostgreSQL's
// as if they began anew.
func lossOfTime(oid uint32, typmod int32, t time.Time) string {
	_, offset := t.Zone()
	last := lastYearTimestamp
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID:
		return "it would become Go's own way of writing it; format it"
	case pgtype.TimetzOID:
		return "a time of day with time zone is neither its date nor its instant; pass text, such as 15:04:05+02"
	case pgtype.DateOID:
		last = lastYear
	case pgtype.TimestampOID, pgtype.TimestamptzOID, pgtype.TimeOID:
	default:
		return ""
	}
	switch year, month, day := t.Date(); {
	case t.IsZero():
		return "the zero time would become the year 1; use nil, or a nil pointer, where there is no value"
	case oid == pgtype.TimeOID && (year != 0 && year != 1 || month != 1 || day != 1):
		return "its date would be lost; pass text, such as 15:04:05, or pgtype.Time"
	case year < firstYear || year > last:
		return "it is out of range"
	}
	hour, minute, second := t.Clock()
	switch {
	case oid == pgtype.DateOID && (hour != 0 || minute != 0 || second != 0 || t.Nanosecond() != 0):
		return timeOfDayLost
	case oid == pgtype.DateOID:
		return ""
	case oid != pgtype.TimestamptzOID && offset != 0:
		return "its time zone would be lost; pass t.UTC(), or make the column timestamptz"
	}
	// What is below a microsecond is cut: every clock of Go has it, no column keeps it.
	return lossOfFraction(typmodOf(oid, typmod), int64(t.Nanosecond()/1000*1000))
}

// lossOfAddress: the driver drops the zone of an address, and takes a mask with
// holes for one of no bits.
func lossOfAddress(value any) string {
	switch value := value.(type) {
	case netip.Addr:
		if value.Zone() != "" {
			return "its zone would be lost"
		}
	case net.IPNet:
		if ones, bits := value.Mask.Size(); ones == 0 && bits == 0 {
			return "its mask is no number of bits"
		}
	}
	return ""
}
