package oracle

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// split is how a table is partitioned.
type split struct {
	by    string // PARTITION BY …
	parts []string
	names []string // of the leaves
}

// split draws partitions of a table by a column of its key.
func (w *world) split(d *drawer, t *table) *split {
	c := pickOf(d, t.key)
	out := &split{}
	var values []string
	for _, v := range c.kind.values {
		if !strings.HasPrefix(v, "=") {
			values = append(values, literal(v))
		}
	}
	part := func(s *drawer, bound, rest string) {
		name := s.partName(w, t)
		out.names = append(out.names, name)
		out.parts = append(out.parts, fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s%s", sqlgen.Qualified(t.schema, name), t.live(), bound, rest))
	}
	switch d.weighted(5, 3, 2) {
	case 0:
		out.by = fmt.Sprintf("PARTITION BY LIST (%s)", c.quoted())
		for i, v := range values[:max(1, min(len(values), 2+d.below(3)))] {
			s := d.sub("part %d", i)
			if s.chance(15) && len(t.key) > 1 && i == 0 {
				sub := pickOf(s, t.key)
				name := s.partName(w, t)
				out.parts = append(out.parts, fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES IN (%s) PARTITION BY HASH (%s)", sqlgen.Qualified(t.schema, name), t.live(), v, sub.quoted()))
				for r := range 2 {
					leaf := s.sub("leaf %d", r).partName(w, t)
					out.names = append(out.names, leaf)
					out.parts = append(out.parts, fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS 2, REMAINDER %d)", sqlgen.Qualified(t.schema, leaf), sqlgen.Qualified(t.schema, name), r))
				}
				continue
			}
			part(s, fmt.Sprintf("FOR VALUES IN (%s)", v), "")
		}
		if d.chance(75) {
			part(d.sub("default"), "DEFAULT", "")
		}
	case 1:
		out.by = fmt.Sprintf("PARTITION BY RANGE (%s)", c.quoted())
		v := pickOf(d, values)
		part(d.sub("low"), fmt.Sprintf("FOR VALUES FROM (MINVALUE) TO (%s)", v), "")
		part(d.sub("high"), fmt.Sprintf("FOR VALUES FROM (%s) TO (MAXVALUE)", v), "")
		if d.chance(30) {
			part(d.sub("default"), "DEFAULT", "")
		}
	case 2:
		out.by = fmt.Sprintf("PARTITION BY HASH (%s)", c.quoted())
		for r := range 2 {
			part(d.sub("part %d", r), fmt.Sprintf("FOR VALUES WITH (MODULUS 2, REMAINDER %d)", r), "")
		}
	}
	return out
}

func (d *drawer) partName(w *world, t *table) string {
	if s, ok := d.option(30, "odd partition"); ok {
		return s.name(w.types, "partition")
	}
	for i := 0; ; i++ {
		name := cutName(t.name, 55) + fmt.Sprintf("_p%d", i)
		if !w.types[name] {
			w.types[name] = true
			return name
		}
	}
}
