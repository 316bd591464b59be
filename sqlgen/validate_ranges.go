package sqlgen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// limit is one value of a bound of a range.
type limit struct {
	text   string   // as the database compares it for being the same
	beyond int      // -1 for MINVALUE, 1 for MAXVALUE, else 0
	number *big.Rat // orders it; nil where that is not known
}

func (k valueKind) limit(value string) (limit, error) {
	switch value {
	case minValue:
		return limit{text: value, beyond: -1}, nil
	case maxValue:
		return limit{text: value, beyond: 1}, nil
	}
	same, err := k.canonical(value)
	return limit{text: "=" + same, number: k.number(value)}, err
}

// compareLimits compares two bounds; known is false where only the database can.
func compareLimits(a, b []limit) (order int, known bool) {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		switch {
		case x.beyond != y.beyond:
			return x.beyond - y.beyond, true
		case x.text == y.text:
		case x.number == nil || y.number == nil:
			return 0, false
		default:
			if order := x.number.Cmp(y.number); order != 0 {
				return order, true
			}
		}
	}
	return 0, true
}

// checkRanges checks that each range holds something, and that no two overlap, as
// far as that can be known: the order of text is for the database to say.
func (c *checker) checkRanges(parts string, p *Partitions) {
	c.oneDefault(parts, p)
	from, to := make([][]limit, len(p.Parts)), make([][]limit, len(p.Parts))
	for i := range p.Parts {
		if part := &p.Parts[i]; !part.Default {
			at := indexed(parts, i)
			from[i], to[i] = c.checkLimits(at+".from", p, part.From), c.checkLimits(at+".to", p, part.To)
		}
	}
	if c.bad(parts) {
		return
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Default {
			continue
		}
		if order, known := compareLimits(from[i], to[i]); known && order >= 0 {
			c.fail(indexed(parts, i), "the range of %q is empty: (%s) is not before (%s); to is the first value that the part does not take", part.Name, strings.Join(part.From, ", "), strings.Join(part.To, ", "))
			continue
		}
		for j := range p.Parts[:i] {
			other := &p.Parts[j]
			if other.Default {
				continue
			}
			before, knownBefore := compareLimits(to[i], from[j])
			after, knownAfter := compareLimits(to[j], from[i])
			overlap := knownBefore && knownAfter && before > 0 && after > 0
			if overlap || slices.EqualFunc(from[i], from[j], func(a, b limit) bool { return a.text == b.text }) {
				c.fail(indexed(parts, i), "the ranges of %q and %q overlap: a row has one partition", other.Name, part.Name)
				break
			}
		}
	}
}

// checkLimits checks one bound, and returns it.
func (c *checker) checkLimits(at string, p *Partitions, values []string) []limit {
	if len(values) != len(p.Columns) {
		c.fail(at, "want a value for each of the columns (%s), got %d", strings.Join(p.Columns, ", "), len(values))
		return nil
	}
	var out []limit
	for i, value := range values {
		item := fmt.Sprintf("%s[%d]", at, i)
		one, err := c.kindOf(p.Columns[i]).limit(value)
		if err != nil {
			c.fail(item, "%q cannot be a value of the column %q: %v", value, p.Columns[i], err)
		}
		if i > 0 && out[i-1].beyond != 0 && out[i-1].beyond != one.beyond {
			c.fail(item, "what comes after %s must be %[1]s too: nothing else can matter", values[i-1])
		}
		out = append(out, one)
	}
	return out
}
