package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// referenced returns the tables that the foreign keys of t reference, but not t
// itself.
func (t *Table) referenced() []string {
	own := JoinName(t.Schema, t.Name)
	var out []string
	for _, f := range t.ForeignKeys {
		if other := oneName(f.Value.References, t.Schema); other != own {
			out = append(out, other)
		}
	}
	return out
}

// creationOrder returns tables in an order in which they can be created: that in
// which they are given, but a table that another one references comes before it.
func creationOrder(tables []*Table) ([]*Table, error) {
	byName := map[string]*Table{}
	for _, t := range tables {
		byName[JoinName(t.Schema, t.Name)] = t
	}
	var out []*Table
	var path []string // tables that wait for the one that is looked at
	var visit func(t *Table) error
	visit = func(t *Table) error {
		name := JoinName(t.Schema, t.Name)
		if slices.Contains(out, t) {
			return nil
		}
		if i := slices.Index(path, name); i >= 0 {
			return fmt.Errorf("%w: foreign keys go round in a circle: %s: leave one of them out, generate, and add it then", ErrCannotChange, strings.Join(append(path[i:], name), " → "))
		}
		path = append(path, name)
		for _, other := range t.referenced() {
			// what is there already waits for nothing, and nothing waits for it
			if byName[other] == nil || t.Adopt || byName[other].Adopt {
				continue
			}
			if err := visit(byName[other]); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		out = append(out, t)
		return nil
	}
	for _, t := range tables {
		if err := visit(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// createFirst reports whether the new tables must be there before others change,
// because a foreign key of those references one. An error says that this is not
// possible.
func (m matched) createFirst() (bool, error) {
	isNew, changes := map[string]bool{}, map[string]bool{}
	for _, t := range m.created {
		isNew[JoinName(t.Schema, t.Name)] = true
	}
	var needs, reason string
	for _, c := range m.changed {
		was, is := JoinName(c.from.Schema, c.from.Name), JoinName(c.to.Schema, c.to.Name)
		if c.fromHash != c.toHash {
			changes[is] = true
		}
		if isNew[was] {
			reason = was + " is the name of another table until then"
		}
		for _, other := range c.to.referenced() {
			if isNew[other] && c.fromHash != c.toHash {
				needs = fmt.Sprintf("a foreign key of %s references the new table %s", is, other)
			}
		}
	}
	for _, t := range m.created {
		for _, other := range t.referenced() {
			if changes[other] {
				reason = fmt.Sprintf("the new table %s references %s, which changes", JoinName(t.Schema, t.Name), other)
			}
		}
	}
	if needs != "" && reason != "" {
		return false, fmt.Errorf("%w: %s, and %s: leave the foreign key out, generate, and add it then", ErrCannotChange, needs, reason)
	}
	return needs != "", nil
}
