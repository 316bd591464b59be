package runner

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// A condition is recorded, and read again by the session that publishes. A text
// that is meant as a date must mean the same in both, whatever their DateStyle,
// IntervalStyle and TimeZone are: only the ISO form does.

// textCheck refuses a text that would mean something else in another session.
type textCheck func(text string) error

// checkedLiteral is [literal] for a value whose text was looked at.
func checkedLiteral(value any, check textCheck) (string, error) {
	text, isText := value.(string)
	if v := reflect.ValueOf(value); !isText && v.Kind() == reflect.String {
		text, isText = v.String(), true
	} else if stringer, ok := value.(fmt.Stringer); !isText && ok && v.Kind() == reflect.Struct && v.Type() != timeType {
		text, isText = stringer.String(), true
	}
	if isText {
		if err := check(text); err != nil {
			return "", err
		}
	}
	return literal(value)
}

const (
	isoDay    = `[0-9]{4,7}-[0-9]{2}-[0-9]{2}`
	isoClock  = `[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`
	isoOffset = ` ?(Z|[+-][0-9]{2}(:?[0-9]{2})?)`
	isoEra    = `( BC)?`
	unbounded = `-?infinity|`
)

// isoForms are the texts that mean the same in every session, by type.
var isoForms = map[uint32]struct {
	form *regexp.Regexp
	says string
}{
	pgtype.DateOID:        {regexp.MustCompile(`^(?i:` + unbounded + isoDay + isoEra + `)$`), "2026-04-03"},
	pgtype.TimestampOID:   {regexp.MustCompile(`^(?i:` + unbounded + isoDay + `([ T]` + isoClock + `)?` + isoEra + `)$`), "2026-04-03 12:00:00"},
	pgtype.TimestamptzOID: {regexp.MustCompile(`^(?i:` + unbounded + isoDay + `[ T]` + isoClock + isoOffset + isoEra + `)$`), "2026-04-03 12:00:00+00, with its time zone"},
	pgtype.TimeOID:        {regexp.MustCompile(`^` + isoClock + `$`), "12:00:00"},
	pgtype.TimetzOID:      {regexp.MustCompile(`^` + isoClock + isoOffset + `$`), "12:00:00+00, with its time zone"},
	// a sign in front of all fields means all of them in one IntervalStyle, the first in another
	pgtype.IntervalOID: {regexp.MustCompile(`^(?i:P[0-9.,WYMDTHS-]+|(` + signed + `|` + unsigned + `))$`), "1 day 02:00:00, or P1DT2H, with a sign at each number or at none"},
}

const (
	unsigned = `([0-9.]+ *[a-z]+ *)*([0-9]+:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?`
	signed   = `([+-][0-9.]+ *[a-z]+ *)*([+-][0-9]+:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?`
)

// checkText refuses a text for a column of dates or times that is not in ISO form.
func (c *column) checkText(text string) error {
	iso, ok := isoForms[c.oid]
	if !ok || text != "" && iso.form.MatchString(text) {
		return nil
	}
	return fmt.Errorf("%q can mean something else in another session (DateStyle, TimeZone, IntervalStyle): pass a time.Time, or write %s", text, iso.says)
}

// ambiguousText finds what is read by DateStyle, or by the clock.
var ambiguousText = regexp.MustCompile(`^(?i:\s*([0-9]{1,2}[-/. ][0-9]{1,2}[-/. ][0-9]{2,4}\b|now|today|tomorrow|yesterday|allballs|[0-9]{1,2}[-/. ]?[a-z]{3,9}[-/. ][0-9]{2,4}\b))`)

// checkArgument returns the check for the arguments of a condition written in
// SQL: which of them is for a column of dates is not known, only whether the
// text names one.
func (p predicate) checkArgument(sql string) textCheck {
	named := ""
	pieces, _ := sqlgen.Pieces(sql) // what is wrong is said elsewhere
	for i := range p.columns {
		c := &p.columns[i]
		if _, ok := isoForms[c.oid]; ok && namesColumn(pieces, c.name) {
			named = c.name
		}
	}
	return func(text string) error {
		if named == "" || !ambiguousText.MatchString(text) {
			return nil
		}
		return fmt.Errorf("%q can mean another day in another session (DateStyle), and the condition names the column %s: pass a time.Time, or write it like 2026-04-03", text, named)
	}
}

func namesColumn(pieces []sqlgen.Piece, name string) bool {
	for _, piece := range pieces {
		switch piece.Kind {
		case sqlgen.Name:
			if piece.Text == `"`+strings.ReplaceAll(name, `"`, `""`)+`"` {
				return true
			}
		case sqlgen.Code:
			for word := range strings.FieldsFuncSeq(piece.Text, func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) && r != '$' }) {
				if strings.ToLower(word) == name {
					return true
				}
			}
		}
	}
	return false
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
