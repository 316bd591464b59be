package sqlgen

import (
	"errors"
	"fmt"
	"slices"
)

// allowed asks whether a change can be made, and whether what it destroys was
// given up.
func (p *changePlan) allowed(m matched) error {
	var problems []error
	for _, c := range m.changed {
		for _, problem := range c.refusals() {
			problems = append(problems, differs("table "+Qualified(c.to.Schema, c.to.Name), "a change that a migration can make", problem,
				fmt.Errorf("%w: %s", ErrCannotChange, problem)))
		}
		p.destroys = append(p.destroys, c.destroys()...)
	}
	for _, e := range m.dropped {
		if e.Table.Adopt {
			continue // it is not dropped
		}
		p.destroys = append(p.destroys, Destroyed{Qualified(e.Table.Schema, e.Table.Name), "the table is dropped with all its rows, and with what was recorded of its runs"})
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	var refused []Destroyed
	for _, d := range p.destroys {
		if !slices.Contains(p.options.AllowDestroy, d.Name) && !slices.Contains(p.options.AllowDestroy, "all") {
			refused = append(refused, d)
		}
	}
	if len(refused) > 0 {
		return &DestroyError{refused}
	}
	return nil
}

// destroys returns the data that a change of a table destroys.
func (c tableChange) destroys() []Destroyed {
	mid := c.renamed()
	live := Qualified(c.to.Schema, c.to.Name)
	var out []Destroyed
	for _, column := range mid.Columns {
		name := live + "." + QuoteIdent(column.Name)
		after := c.to.Column(column.Name)
		switch {
		case after == nil:
			out = append(out, Destroyed{name, "the column is dropped with its values"})
		case after.Generated != "" && column.Generated == "":
			out = append(out, Destroyed{name, "its values are replaced by generated ones"})
		case after.Generated == "" && after.Type != column.Type && widen(column.Type, after.Type) == narrows:
			out = append(out, Destroyed{name, fmt.Sprintf("its values are cast from %s to %s, which may change or refuse some", column.Type, after.Type)})
		}
	}
	return append(out, droppedPartitions(mid, c.to)...)
}
