package sqlgen_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// splitBy is a table that is split by its parts.
func splitBy(by, columns, parts string) string {
	return fmt.Sprintf("name: a, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}, {name: n, type: INTEGER}], keys: [id, r], partitions: {by: %s, columns: [%s], parts: [%s]}", by, columns, parts)
}

// A partition more beside a default one: PostgreSQL reads the default one, and
// refuses when a row of it belongs to the new one. The migration says so, loses
// nothing, and can be done again.
func TestAPartitionMoreBesideADefaultOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, splitBy("list", "r", "{name: x, values: [x]}, {name: rest, default: true}"))
	s.exec("INSERT INTO anon.a (id, r) VALUES (1, 'x'), (2, 'y'), (3, 'z')")
	after := splitBy("list", "r", "{name: x, values: [x]}, {name: y, values: [y]}, {name: rest, default: true}")
	change, err := sqlgen.PlanChange(s.dir, tables(t, after), sqlgen.ChangeOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"all rows of the default partition anon.a_rest are read under ACCESS EXCLUSIVE, readers and writers wait. It fails where one belongs to a_y: delete such rows before, and let a run write them again after"}, change.Hazards)
	s.change(sqlgen.ChangeOptions{}, after)
	before := wholeCatalogue(t, s.conn)
	raised(t, "23514", s.up())
	require.Equal(t, before, wholeCatalogue(t, s.conn))
	require.Equal(t, "x y z", s.text("SELECT string_agg(r, ' ' ORDER BY r) FROM anon.a"))
	s.exec("DELETE FROM anon.a WHERE r = 'y'")
	require.NoError(t, s.up())
	s.exec("INSERT INTO anon.a (id, r) VALUES (2, 'y')")
	require.Equal(t, "anon.a_x anon.a_y anon.a_rest", s.text("SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY id) FROM anon.a"))
}

// A partition that is to take other rows keeps those that still belong there, or
// the migration fails and nothing has happened.
func TestAPartitionThatTakesOtherRows(t *testing.T) {
	t.Parallel()
	s := newSite(t, splitBy("list", "r", "{name: x, values: [x, y]}, {name: z, values: [z]}"))
	s.exec("INSERT INTO anon.a (id, r) VALUES (1, 'x'), (2, 'y'), (3, 'z')", "CREATE INDEX by_hand ON anon.a (n)", "CREATE VIEW anon.v AS SELECT * FROM anon.a_x")
	after := splitBy("list", "r", "{name: x, values: [x]}, {name: z, values: [z, y]}")
	change, err := sqlgen.PlanChange(s.dir, tables(t, after), sqlgen.ChangeOptions{})
	require.NoError(t, err, "it destroys nothing")
	require.Len(t, change.Hazards, 2)
	require.Equal(t, "the partition a_x of anon.a takes other rows than before: all its rows are read under ACCESS EXCLUSIVE, readers and writers wait. It fails where one does not belong there any more", change.Hazards[0])
	s.change(sqlgen.ChangeOptions{}, after)
	before := wholeCatalogue(t, s.conn)
	raised(t, "23514", s.up())
	require.Equal(t, before, wholeCatalogue(t, s.conn))
	s.exec("DELETE FROM anon.a WHERE r = 'y'")
	require.NoError(t, s.up())
	s.exec("INSERT INTO anon.a (id, r) VALUES (2, 'y')")
	require.Equal(t, "anon.a_x anon.a_z anon.a_z", s.text("SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY id) FROM anon.a"))
	require.Equal(t, "1", s.text("SELECT count(*)::text FROM anon.v"), "the partition is the table it was")
	require.Equal(t, "3", s.text("SELECT count(*)::text FROM pg_partition_tree('anon.by_hand')"), "and has its indexes")
	raised(t, "23514", s.down())
	s.exec("DELETE FROM anon.a WHERE r = 'y'")
	require.NoError(t, s.down())
	require.Equal(t, before, wholeCatalogue(t, s.conn))
}

// What takes the same rows is the same partition, whatever it is called and
// however its values are written; anything else goes with its rows, by leave.
func TestAPartIsKnownByItsNameOrByWhatItTakes(t *testing.T) {
	t.Parallel()
	number := splitBy("list", "id", `{name: one, values: [1, 2]}, {name: three, values: [3]}`)
	s := newSite(t, number)
	s.exec("INSERT INTO anon.a (id, r) VALUES (1, 'a'), (3, 'c')")
	oids := "SELECT string_agg(inhrelid::text, ' ' ORDER BY inhrelid) FROM pg_inherits WHERE inhparent = 'anon.a'::regclass"
	before := s.text(oids)
	s.change(sqlgen.ChangeOptions{}, splitBy("list", "id", `{name: three, values: ["03"], table: one}, {name: few, values: ["+2", 1], table: three}`))
	require.NoError(t, s.up())
	require.Equal(t, before, s.text(oids))
	require.Equal(t, "anon.three anon.one", s.text("SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY id) FROM anon.a"))

	var destroys *sqlgen.DestroyError
	require.ErrorAs(t, refused(t, s.dir, tables(t, splitBy("list", "id", `{name: few, values: [1, 2]}, {name: others, values: [3, 4]}`)), sqlgen.ChangeOptions{}), &destroys)
	require.Equal(t, []sqlgen.Destroyed{{Name: "anon.one", What: "the partition 'three' is dropped with its rows"}}, destroys.List)
}

// A partition that goes has a name that another one gets: it goes before.
func TestAPartitionGetsTheNameOfOneThatGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, rows string }{
		"a partition": {
			splitBy("list", "r", "{name: x, values: [x]}, {name: y, values: [y]}"),
			splitBy("list", "r", "{name: y, values: [y], table: a_x}"), "y in anon.a_x",
		},
		"its derived name": {
			splitBy("list", "r", "{name: x, values: [x]}, {name: y, values: [y]}"),
			strings.Replace(splitBy("list", "r", "{name: y, values: [y], table: b_x}"), "name: a,", "name: b, was: a,", 1), "y in anon.b_x",
		},
		"one that is split": {
			splitBy("list", "r", "{name: x, values: [x], partitions: {column: id, values: [1, 2]}}, {name: y, values: [y]}"),
			splitBy("list", "r", "{name: y, values: [y], table: a_x_2}"), "y in anon.a_x_2",
		},
		"the whole of one that is split": {
			splitBy("list", "r", "{name: x, values: [x], partitions: {column: id, values: [1, 2]}}, {name: y, values: [y]}"),
			splitBy("list", "r", "{name: y, values: [y], table: a_x}"), "y in anon.a_x",
		},
		"an index": {
			splitBy("list", "r", "{name: y, values: [y]}") + ", indexes: {n: [n]}",
			splitBy("list", "r", "{name: y, values: [y], table: a_n_idx}"), "y in anon.a_n_idx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.before)
			s.exec("INSERT INTO anon.a (id, r) VALUES (1, 'y')")
			before := wholeCatalogue(t, s.conn)
			s.change(destroyAll, c.after)
			require.NoError(t, s.up())
			of := strings.Fields(c.rows)
			require.Equal(t, c.rows, s.text("SELECT r || ' in ' || tableoid::regclass FROM "+of[2]))
			fresh := pgtest.Connect(t, pgtest.EmptyDatabase(t))
			install(t, fresh, tables(t, strings.Replace(c.after, ", was: a", "", 1)))
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
			require.NoError(t, s.down())
			require.Equal(t, before, wholeCatalogue(t, s.conn))
			require.NoError(t, s.up())
		})
	}
}

func TestAPartOfAPartGoesWithItsRows(t *testing.T) {
	t.Parallel()
	const sub = `{name: x, values: [x], partitions: {column: id, values: %s}}, {name: y, values: [y], partitions: {column: id, values: [1, 2]}}`
	dir := t.TempDir()
	generate(t, dir, tables(t, splitBy("list", "r", fmt.Sprintf(sub, "[1, 2]"))), sqlgen.ChangeOptions{})
	var destroys *sqlgen.DestroyError
	require.ErrorAs(t, refused(t, dir, tables(t, splitBy("list", "r", fmt.Sprintf(sub, "[2]"))), sqlgen.ChangeOptions{}), &destroys)
	require.Equal(t, []sqlgen.Destroyed{{Name: "anon.a_x_1", What: "the partition of '1' is dropped with its rows"}}, destroys.List)
	require.ErrorAs(t, refused(t, dir, tables(t, splitBy("list", "r", `{name: x, values: [x], partitions: {column: id, values: [1, 2]}}`)), sqlgen.ChangeOptions{}), &destroys)
	require.Equal(t, []sqlgen.Destroyed{{Name: "anon.a_y", What: "the partition of 'y' is dropped with its rows"}}, destroys.List)

	for name, after := range map[string]string{
		"a part is split no more":  `{name: x, values: [x]}, {name: y, values: [y], partitions: {column: id, values: [1, 2]}}`,
		"in another way":           strings.ReplaceAll(fmt.Sprintf(sub, "[1, 2]"), "{column: id, values: [1, 2]}}, ", "{by: hash, columns: [id], parts: [{name: h, modulus: 1, remainder: 0}]}}, "),
		"a part that was not is":   fmt.Sprintf(sub, "[1, 2]") + `, {name: z, values: [z]}`,
		"and the table is as well": "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyFolder(t, dir)
			next := splitBy("list", "r", after)
			switch name {
			case "a part that was not is":
				generate(t, dir, tables(t, next), sqlgen.ChangeOptions{})
				next = splitBy("list", "r", fmt.Sprintf(sub, "[1, 2]")+`, {name: z, values: [z], partitions: {column: id, values: [1]}}`)
			case "and the table is as well":
				next = splitBy("range", "r", `{name: x, from: [x], to: [y]}`)
			}
			require.ErrorIs(t, refused(t, dir, tables(t, next), destroyAll), sqlgen.ErrCannotChange)
		})
	}
}

// An index is built over parts of parts without keeping writers out.
func TestIndexesOfPartsOfParts(t *testing.T) {
	t.Parallel()
	parts := splitBy("list", "r", `{name: x, values: [x], partitions: {by: hash, columns: [id], parts: [{name: h0, modulus: 2, remainder: 0}, {name: h1, modulus: 2, remainder: 1}]}}, {name: y, values: [y]}, {name: z, values: [z], partitions: {column: id, values: [1]}}`)
	s := newSite(t, parts)
	s.exec("INSERT INTO anon.a SELECT i, 'x', i FROM generate_series(1, 100) AS i")
	written := s.change(sqlgen.ChangeOptions{ConcurrentIndexes: true}, parts+", indexes: {new: [n, r]}")
	own := regexp.MustCompile(`a_x_h1_new_[0-9a-f]{8}_idx`).FindString(read(t, filepath.Join(s.dir, written[1])))
	s.leaveInvalidIndex(own, "anon.a_x_h1")
	require.NoError(t, s.up())
	fresh := pgtest.Connect(t, pgtest.EmptyDatabase(t))
	install(t, fresh, tables(t, parts+", indexes: {new: [n, r]}"))
	require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
	require.NoError(t, s.down())
	require.NoError(t, s.up())
	require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
}
