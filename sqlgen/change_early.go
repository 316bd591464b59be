package sqlgen

import (
	"slices"
	"strings"
)

// earlyDrops takes out of what is to be dropped all that has, or would get, a
// name which another object of the table gets, and returns it by its keys, with
// the steps that drop it before anything is renamed.
func (c tableChange) earlyDrops(mid *Table, d *diff) (map[string]bool, []step) {
	before, after := newRenderer(c.from).liveObjects(), newRenderer(mid).liveObjects()
	early := map[string]bool{}
	for i, o := range after {
		if !slices.ContainsFunc(d.drops, o.same) || !inTheWay(before, after, i) {
			continue
		}
		for _, inside := range after {
			if inside.same(o) || o.kind == partition && inside.kind == partition && strings.HasPrefix(inside.id, o.id+"\x00") {
				early[inside.key()] = true
			}
		}
	}
	var steps []step
	for i, o := range slices.Backward(after) {
		if early[o.key()] {
			steps = append(steps, step{sql: before[i].drop})
		}
	}
	d.drops = slices.DeleteFunc(d.drops, func(o object) bool { return early[o.key()] })
	return early, steps
}

// inTheWay reports whether another object is to get the name that the object at i
// has, or the one that it would get.
func inTheWay(before, after []object, i int) bool {
	for j, o := range after {
		renamed := before[j].name != o.name
		if j != i && o.name != "" && (o.name == after[i].name || renamed && o.name == before[i].name) {
			return true
		}
	}
	return false
}

// withoutEarly returns what is left of both when these are dropped.
func withoutEarly(before, after []object, early map[string]bool) (was, is []object) {
	for i, o := range after {
		if !early[o.key()] {
			was, is = append(was, before[i]), append(is, o)
		}
	}
	return was, is
}
