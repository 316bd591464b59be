package sqlgen

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdentBytes is the length at which PostgreSQL cuts an identifier, with no
// more than a notice. It counts bytes, not characters.
const maxIdentBytes = 63

// Names are the names of everything that belongs to one table. All of them are
// in the table's own schema, at most 63 bytes long, and never the table's name.
type Names struct {
	Staging       string        // the staging template, a table
	Publish       string        // the procedure that publishes this table alone
	DeleteStep    string        // the function that applies one delete
	MoveBatch     string        // the function that moves one batch
	ApplyChanges  string        // the function that applies what differs, for atomic
	Part          string        // the one partition of a table that is swapped and has no partitions of its own
	PrimaryKey    string        // the primary key constraint and its index
	RoutableCheck string        // the staging template's check of partition values
	Guard         string        // the trigger on the staging template
	Indexes       Named[string] // by the name in the definition, in its order
	Unique        Named[string] // by the name in the definition, in its order
	Checks        Named[string] // by the name in the definition, in its order
	ForeignKeys   Named[string] // by the name in the definition, in its order
	Partitions    Named[string] // by the part's name, or the value in the short form, in order of the definition
	Sequences     Named[string] // of identity columns, by the column's name, in order of the definition

	// SubPartitions are the partitions of each part that is split once more, by
	// the name of the part and then by their own.
	SubPartitions Named[Named[string]]
}

// guardTrigger is the same for every table: a trigger's name belongs to its table.
const guardTrigger = "cs9_guard"

// NamesOf derives the names of the objects that belong to t. It is the only
// place where a name is made from another one. A name that the definition gives
// exactly, such as [Index].Name, is taken as it is.
//
// A name is base + suffix when that fits 63 bytes. Otherwise the base is cut,
// between two characters, to make room for "_", eight hexadecimal digits that
// depend on the whole name, and the suffix. Two owners can still come to one
// name ("a" with index "b_c", "a_b" with index "c"): [Load] reports that.
func NamesOf(t *Table) Names {
	n := Names{
		Staging:       derive(t.Name, "_staging"),
		Publish:       derive(t.Name, "_publish"),
		DeleteStep:    derive(t.Name, "_delete_step"),
		MoveBatch:     derive(t.Name, "_move_batch"),
		ApplyChanges:  derive(t.Name, "_apply_changes"),
		Part:          derive(t.Name, "_part"),
		PrimaryKey:    primaryKeyName(t),
		RoutableCheck: derive(t.Name, "_routable_check"),
		Guard:         guardTrigger,
	}
	n.Indexes = namesIn(t.Name, t.Indexes)
	n.Unique = namesIn(t.Name, t.Unique)
	n.Checks = namesIn(t.Name, t.Checks)
	n.ForeignKeys = namesIn(t.Name, t.ForeignKeys)
	for _, p := range t.partitionTables() {
		if p.of == nil {
			n.Partitions = n.Partitions.add(p.part.Name, p.table)
			continue
		}
		if last := len(n.SubPartitions) - 1; last < 0 || n.SubPartitions[last].Name != p.of.Name {
			n.SubPartitions = n.SubPartitions.add(p.of.Name, nil)
		}
		subs := &n.SubPartitions[len(n.SubPartitions)-1]
		subs.Value = subs.Value.add(p.part.Name, p.table)
	}
	for _, column := range t.Columns {
		if column.Identity != "" {
			n.Sequences = n.Sequences.add(column.Name, cmp.Or(column.Sequence, derive(t.Name+"_"+column.Name, "_seq")))
		}
	}
	return n
}

func primaryKeyName(t *Table) string { return cmp.Or(t.PrimaryKeyName, derive(t.Name, "_pkey")) }

// namesIn returns the names of the entries of a table.
func namesIn[T tableEntry](table string, entries Named[T]) Named[string] {
	var out Named[string]
	for _, e := range entries {
		out = out.add(e.Name, nameOf(table, e))
	}
	return out
}

// nameOf returns the name of one entry of a table: the exact one, or a derived one.
func nameOf[T tableEntry](table string, e NamedItem[T]) string {
	exact, suffix := e.Value.naming()
	return cmp.Or(exact, derive(table+"_"+e.Name, suffix))
}

// derive returns base + suffix, made to fit. A base with a control character,
// which only a partition value can bring in, is hashed too, so that no name
// breaks a line of a migration.
func derive(base, suffix string) string {
	name := base + suffix
	if len(name) <= maxIdentBytes && !strings.ContainsFunc(base, unicode.IsControl) {
		return name
	}
	sum := sha256.Sum256([]byte(base + "\x00" + suffix))
	tail := "_" + hex.EncodeToString(sum[:4]) + suffix
	return cut(strings.Map(visible, base), maxIdentBytes-len(tail)) + tail
}

// indexOfPart returns the name of the index that a partition gets for the entry
// called id, where it is built by itself. It always has the digits, because
// PostgreSQL names the indexes of partitions after tables and columns.
func indexOfPart(table, id string) string { return derive(table+"\x00"+id, "_idx") }

func visible(r rune) rune {
	if unicode.IsControl(r) {
		return '_'
	}
	return r
}

// cut returns the longest prefix of s of at most size bytes that ends between
// two characters.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}
