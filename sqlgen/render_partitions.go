package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// clause returns PARTITION BY ….
func (p *Partitions) clause() string {
	long := p.Long()
	return fmt.Sprintf("PARTITION BY %s (%s)", strings.ToUpper(long.By), quoteList(long.Columns))
}

// bound returns what a part takes, as CREATE TABLE and ATTACH PARTITION say it.
func (p *Part) bound(by string) string {
	switch {
	case p.Default:
		return "DEFAULT"
	case by == byRange:
		return fmt.Sprintf("FOR VALUES FROM (%s) TO (%s)", strings.Join(limitTexts(p.From), ", "), strings.Join(limitTexts(p.To), ", "))
	case by == byHash:
		return fmt.Sprintf("FOR VALUES WITH (MODULUS %d, REMAINDER %d)", p.Modulus, p.Remainder)
	}
	values := literals(p.Values)
	if p.NullToo {
		values = append(values, "NULL")
	}
	return fmt.Sprintf("FOR VALUES IN (%s)", strings.Join(values, ", "))
}

func literals(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = QuoteLiteral(value)
	}
	return out
}

// limitTexts returns the values of a bound of a range: literals, and the words
// that stand for no value.
func limitTexts(values []string) []string {
	out := literals(values)
	for i, value := range values {
		if value == minValue || value == maxValue {
			out[i] = value
		}
	}
	return out
}

// partition returns one of the tables that the table is split into.
func (r *renderer) partition(p partitionTable) object {
	own, parent, bound := r.own(p.table), r.own(p.parent), p.part.bound(p.among.By)
	o := object{
		kind: partition, id: p.id, name: p.table,
		create: fmt.Sprintf("CREATE TABLE %s\n    PARTITION OF %s\n    %s", own, parent, bound),
		attach: fmt.Sprintf("ALTER TABLE %s\n    ATTACH PARTITION %s\n    %s", parent, own, bound),
		detach: fmt.Sprintf("ALTER TABLE %s\n    DETACH PARTITION %s", parent, own),
		drop:   "DROP TABLE " + own,
		beside: p.beside,
	}
	if p.part.Partitions != nil {
		o.create += "\n    " + p.part.Partitions.clause()
	}
	return o
}

// takenBy returns a condition that is true for the rows that some partition
// takes; "" where every row is taken. It names columns and nothing else, so that
// a staged row can be checked wherever it lies. Where parts by hash are split
// again the condition is a necessary one only: which rows a hash gives to a part
// cannot be said that way.
func takenBy(p *Partitions) string {
	if p == nil {
		return ""
	}
	long := p.Long()
	groups := long.groups()
	whole := func(g partGroup) bool { return g.within == "" }
	if slices.ContainsFunc(groups, whole) && (long.By == byHash || len(groups) == 1 && long.defaultPart() != nil) {
		return ""
	}
	var ways []string
	if long.By == byHash {
		for _, g := range groups {
			ways = append(ways, g.within)
		}
		return either(ways)
	}
	if rest := long.defaultPart(); rest != nil {
		return long.takenBeside(rest, groups)
	}
	for _, g := range groups {
		way := both(long.union(g.parts), g.within)
		if way == "" {
			return ""
		}
		ways = append(ways, way)
	}
	return either(ways)
}

// takenBeside is takenBy where a default part takes what no other does.
func (p *Partitions) takenBeside(rest *Part, groups []partGroup) string {
	var out []string
	var others []Part
	for _, g := range groups {
		parts := slices.DeleteFunc(slices.Clone(g.parts), func(part Part) bool { return part.Default })
		others = append(others, parts...)
		if g.within == "" || len(parts) == 0 {
			continue
		}
		// what these parts take is to be taken by what they are split into
		if union := p.union(parts); union == "" {
			out = append(out, g.within)
		} else {
			out = append(out, either([]string{"NOT (" + union + ")", g.within}))
		}
	}
	within := takenBy(rest.Partitions)
	switch union := p.union(others); {
	case within == "" || union == "" && len(others) > 0:
	case len(others) == 0:
		out = append(out, within)
	default:
		out = append(out, either([]string{union, within}))
	}
	condition := ""
	for _, more := range out {
		condition = both(condition, more)
	}
	return condition
}

// partGroup is the parts that are split alike, as far as rows are refused.
type partGroup struct {
	parts  []Part
	within string // the condition that their own parts make; "" for none
}

func (p *Partitions) groups() []partGroup {
	var out []partGroup
	for _, part := range p.Parts {
		within := takenBy(part.Partitions)
		i := slices.IndexFunc(out, func(g partGroup) bool { return g.within == within })
		if i < 0 {
			out, i = append(out, partGroup{within: within}), len(out)
		}
		out[i].parts = append(out[i].parts, part)
	}
	return out
}

// union returns the condition that one of some parts by list or range takes a
// row; "" where they take every one.
func (p *Partitions) union(parts []Part) string {
	if p.By == byRange {
		return p.unionOfRanges(parts)
	}
	var values, ways []string
	var null bool
	for _, part := range parts {
		values = append(values, literals(part.Values)...)
		null = null || part.NullToo
	}
	column := QuoteIdent(p.Columns[0])
	if len(values) > 0 {
		ways = append(ways, fmt.Sprintf("%s IN (%s)", column, strings.Join(values, ", ")))
	}
	if null {
		ways = append(ways, column+" IS NULL")
	}
	return either(ways)
}

// unionOfRanges puts ranges that touch together: months become years.
func (p *Partitions) unionOfRanges(parts []Part) string {
	key := func(values []string) string { return strings.Join(values, "\x00") }
	after, reached := map[string]Part{}, map[string]bool{}
	for _, part := range parts {
		after[key(part.From)] = part
		reached[key(part.To)] = true
	}
	var ways []string
	for _, part := range parts {
		if reached[key(part.From)] {
			continue
		}
		to := part.To
		for range parts {
			if next, ok := after[key(to)]; ok {
				to = next.To
			}
		}
		way := both(p.atLeast(part.From), p.before(to))
		if way == "" {
			return ""
		}
		ways = append(ways, way)
	}
	return either(ways)
}

// atLeast and before return the condition that a row is not before a bound, or
// is before it; "" for every row.
func (p *Partitions) atLeast(values []string) string {
	switch column, word := p.firstWord(values); {
	case word == minValue && column == 0:
		return ""
	case word == maxValue:
		return p.compare(">", values[:column])
	default:
		return p.compare(">=", values[:column])
	}
}

func (p *Partitions) before(values []string) string {
	switch column, word := p.firstWord(values); {
	case word == maxValue && column == 0:
		return ""
	case word == maxValue:
		return p.compare("<=", values[:column])
	default:
		return p.compare("<", values[:column])
	}
}

// firstWord returns the place of the first MINVALUE or MAXVALUE of a bound, after
// which nothing matters, and which of the two it is.
func (p *Partitions) firstWord(values []string) (at int, word string) {
	for i, value := range values {
		if value == minValue || value == maxValue {
			return i, value
		}
	}
	return len(values), ""
}

// compare compares the first columns with values, as the database orders rows.
func (p *Partitions) compare(operator string, values []string) string {
	columns, texts := quoteList(p.Columns[:len(values)]), strings.Join(literals(values), ", ")
	if len(values) > 1 {
		columns, texts = "("+columns+")", "("+texts+")"
	}
	return columns + " " + operator + " " + texts
}

// both joins two conditions by AND; "" is true for every row.
func both(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return bracketed(a) + " AND " + bracketed(b)
}

// either joins conditions by OR.
func either(ways []string) string {
	if len(ways) == 1 {
		return ways[0]
	}
	out := make([]string, len(ways))
	for i, way := range ways {
		out[i] = "(" + way + ")"
	}
	return strings.Join(out, " OR ")
}

// bracketed puts a condition that is made of others into brackets.
func bracketed(condition string) string {
	if strings.HasPrefix(condition, "(") {
		return "(" + condition + ")"
	}
	return condition
}
