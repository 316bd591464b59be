package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// comparison finds what differs between what should be installed and what is.
type comparison struct {
	expected, found catalogue
	made            map[string]bool // what is expected of a definition that adopts it
	known           map[string]bool // to whom the expected objects grant anything
}

// compare returns what differs, in order of names, each thing once: not what
// belongs to an object that is missing, nor in a partition what is so in its table.
func compare(expected expectation, found catalogue) []sqlgen.Difference {
	c := comparison{expected.catalogue, found, expected.made, map[string]bool{"PUBLIC": true, "its owner": true}}
	for _, o := range expected.catalogue {
		for aspect := range o.facts {
			if name := grantee(aspect); name != "" {
				c.known[name] = true
			}
		}
	}
	names := map[string]bool{}
	for name := range expected.catalogue {
		names[name] = true
	}
	for name := range found {
		names[name] = true
	}
	var out []sqlgen.Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, c.object(name)...)
	}
	return out
}

func (c comparison) object(name string) []sqlgen.Difference {
	e, isExpected := c.expected[name]
	f, isFound := c.found[name]
	switch {
	case !isFound:
		if c.missing(e.belongs) || c.missing(e.copyOf) || c.namedFreely(e) {
			return nil
		}
		return []sqlgen.Difference{{Object: name, Expected: e.summary}}
	case !isExpected:
		if c.extra(f.belongs) || c.extra(f.copyOf) || c.besides(f) {
			return nil
		}
		return []sqlgen.Difference{{Object: name, Found: f.summary}}
	}
	aspects := map[string]bool{}
	for aspect := range e.facts {
		aspects[aspect] = true
	}
	for aspect := range f.facts {
		aspects[aspect] = true
	}
	var out []sqlgen.Difference
	for _, aspect := range slices.Sorted(maps.Keys(aspects)) {
		if c.differs(name, aspect) && !c.explained(e, aspect) && !c.unsaid(e, aspect) {
			out = append(out, sqlgen.Difference{Object: name, Aspect: aspect, Expected: e.facts[aspect], Found: f.facts[aspect]})
		}
	}
	return out
}

func (c comparison) missing(name string) bool {
	_, isExpected := c.expected[name]
	_, isFound := c.found[name]
	return isExpected && !isFound
}

func (c comparison) extra(name string) bool {
	_, isExpected := c.expected[name]
	_, isFound := c.found[name]
	return isFound && !isExpected
}

// differs reports whether an object is not as expected in one aspect. What is
// granted to a role that the migrations know nothing of is nobody's business; a
// grant to the owner, here or in the scratch database, is part of owning it.
func (c comparison) differs(name, aspect string) bool {
	e, f := c.expected[name], c.found[name]
	expected, isExpected := e.facts[aspect]
	if role := grantee(aspect); role != "" && (!isExpected && !c.known[role] || role == e.owner || role == f.owner) {
		return false
	}
	return expected != f.facts[aspect]
}

// partitionOf is the aspect of a partition, and of its indexes, that goes when
// it is detached.
const partitionOf = "partition of"

// explained reports whether an object differs only because another one does: a
// partition as its table, an index of a partition because that was detached.
func (c comparison) explained(e object, aspect string) bool {
	for up := e.belongs; aspect == partitionOf && up != ""; up = c.expected[up].belongs {
		if c.differs(up, partitionOf) {
			return true
		}
	}
	same := func(in catalogue) bool { return in[e.copyOf].facts[aspect] == in[e.name].facts[aspect] }
	return e.copyOf != "" && c.differs(e.copyOf, aspect) && same(c.expected) && same(c.found)
}

// grantee returns to whom an aspect is a grant; "" when it is none.
func grantee(aspect string) string {
	rest, isGrant := strings.CutPrefix(aspect, "grant ")
	if !isGrant {
		return ""
	}
	_, role, _ := strings.Cut(rest, " to ")
	return role
}
