package sqlgen_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// What a long form says besides may be what the short one means anyway.
func TestALongFormThatSaysNoMoreIsNoChange(t *testing.T) {
	dir := t.TempDir()
	const table = `name: a, columns: [{name: id, type: INTEGER}, {name: n, type: TEXT, collation: C}], keys: [id], `
	generate(t, dir, tables(t, table+`indexes: {x: [n], y: {columns: [n, {column: id, order: desc}]}}, unique: {u: [n]}, checks: {c: id > 0}, foreign_keys: {f: {columns: [id], references: o}}`), sqlgen.ChangeOptions{})
	before := read(t, filepath.Join(dir, sqlgen.LockName))
	require.Contains(t, before, "        \"x\":\n          - \"n\"\n")
	require.Contains(t, before, "        \"y\":\n          - \"n\"\n          - column: \"id\"\n            order: \"desc\"\n")
	require.Contains(t, before, "        \"c\": \"id > 0\"\n")
	require.Empty(t, generate(t, dir, tables(t, table+`indexes: {x: {columns: [{column: n, order: asc, nulls: last}], method: btree, was: z, name: a_x_idx}, y: {columns: [n, {column: id, order: desc, nulls: first}]}},
    unique: {u: {columns: [n], name: a_u_key}}, checks: {c: {expression: id > 0, was: d}}, primary_key_name: a_pkey,
    foreign_keys: {f: {columns: [id], references: anon.o, match: simple, on_delete: no action, on_update: no action}}`), sqlgen.ChangeOptions{}))
	require.Equal(t, before, read(t, filepath.Join(dir, sqlgen.LockName)))
}

// An entry that is not said to be another one is a new one.
func TestAnEntryIsNeverGuessedToBeRenamed(t *testing.T) {
	const table = `name: a, columns: [{name: id, type: INTEGER}, {name: n, type: INTEGER}], keys: [id], indexes: {%s}`
	change := func(after string) string {
		dir := t.TempDir()
		generate(t, dir, tables(t, fmt.Sprintf(table, "x: [n]")), sqlgen.ChangeOptions{})
		return read(t, filepath.Join(dir, generate(t, dir, tables(t, fmt.Sprintf(table, after)), sqlgen.ChangeOptions{})[0]))
	}
	require.Contains(t, change("y: [n]"), "DROP INDEX anon.a_x_idx;")
	renamed := change("y: {columns: [n], was: x}")
	require.Contains(t, renamed, "ALTER INDEX anon.a_x_idx RENAME TO a_y_idx;")
	require.NotContains(t, renamed, "DROP INDEX")
	require.Contains(t, change("x: {columns: [n], name: by n}"), `ALTER INDEX anon.a_x_idx RENAME TO "by n";`)
	both := change("x: [id], y: {columns: [n], was: x}")
	require.Contains(t, both, "ALTER INDEX anon.a_x_idx RENAME TO a_y_idx;")
	require.Contains(t, both, "CREATE INDEX a_x_idx\n    ON anon.a (id);")
}

// Foreign keys decide in which order tables come.
func TestATableComesAfterThoseItReferences(t *testing.T) {
	to := func(name string, others ...string) string {
		keys := ""
		for _, other := range others {
			keys += fmt.Sprintf("%s: {columns: [id], references: %[1]s}, ", other)
		}
		return named(name) + ", foreign_keys: {" + keys + "}"
	}
	dir := t.TempDir()
	require.Equal(t, []string{"00004_anon_z.sql", "00005_anon_b.sql", "00006_anon_a.sql", "00007_anon_c.sql"},
		generate(t, dir, tables(t, to("a", "b", "outside", "a"), to("b", "z"), named("c"), named("z")), sqlgen.ChangeOptions{})[3:])

	// a table that is new comes before the change that references it
	require.Equal(t, []string{"00008_anon_n.sql", "00009_change_anon_c.sql"},
		generate(t, dir, tables(t, to("a", "b", "outside", "a"), to("b", "z"), to("c", "n"), named("z"), to("n", "a")), sqlgen.ChangeOptions{}))

	err := refused(t, dir, tables(t, to("a", "b", "outside", "a"), to("b", "z", "new"), to("c", "n"), named("z"), to("n", "a"), to("new", "b")), destroyAll)
	require.ErrorIs(t, err, sqlgen.ErrCannotChange)
	require.ErrorContains(t, err, "a foreign key of anon.b references the new table anon.new, and the new table anon.new references anon.b, which changes: leave the foreign key out")
	err = refused(t, t.TempDir(), tables(t, to("a", "b"), to("b", "c"), to("c", "a")), destroyAll)
	require.ErrorIs(t, err, sqlgen.ErrCannotChange)
	require.ErrorContains(t, err, "foreign keys go round in a circle: anon.a → anon.b → anon.c → anon.a")

	// tables that are there already need no order
	dir = t.TempDir()
	require.Len(t, generate(t, dir, tables(t, to("a", "b")+", adopt: true", to("b", "a")+", adopt: true", to("c", "a")), sqlgen.ChangeOptions{}), 6)
}

// A foreign key follows a table and its columns to their new names, its own table's too.
func TestAForeignKeyFollowsWhatItReferences(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("a", column("n"))+", unique: {n: [n]}, foreign_keys: {up: {columns: [id], references: a, to: [n]}}",
		named("b")+", foreign_keys: {a: {columns: [id], references: anon.a, to: [n]}}")
	before := wholeCatalogue(t, s.conn)
	after := []string{
		named("c", "{name: m, type: INTEGER, was: n}") + ", was: a, unique: {n: [m]}, foreign_keys: {up: {columns: [id], references: c, to: [m]}}",
		named("b") + ", foreign_keys: {a: {columns: [id], references: c, to: [m]}}",
	}
	text := read(t, filepath.Join(s.dir, s.change(sqlgen.ChangeOptions{}, after...)[0]))
	require.Contains(t, text, "-- Changes: anon.b, anon.c\n", "b is registered anew: its definition is another one")
	require.Contains(t, text, "ALTER TABLE anon.c RENAME CONSTRAINT a_up_fkey TO c_up_fkey;")
	require.NotContains(t, text, "FOREIGN KEY")
	require.NotContains(t, text, "DROP CONSTRAINT")
	require.Empty(t, generate(t, s.dir, tables(t, after...), sqlgen.ChangeOptions{}))
	require.NoError(t, s.up())
	fresh := pgtest.Connect(t, pgtest.EmptyDatabase(t))
	install(t, fresh, tables(t, after...))
	require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
	require.NoError(t, s.down())
	require.Equal(t, before, wholeCatalogue(t, s.conn))
}

// Tables that reference each other are dropped together, and come back.
func TestTablesWithForeignKeysAreDroppedTogether(t *testing.T) {
	t.Parallel()
	a, b := named("a"), named("b", column("n"))+", foreign_keys: {n: {columns: [n], references: a}}"
	s := newSite(t, a, b, named("c"))
	s.exec("INSERT INTO anon.a VALUES (1)", "INSERT INTO anon.b VALUES (1, 1), (2, NULL)")
	before := wholeCatalogue(t, s.conn)
	s.change(destroyAll, named("c"))
	require.NoError(t, s.up())
	require.Equal(t, "", s.text("SELECT coalesce(to_regclass('anon.a')::text, '') || coalesce(to_regclass('anon.b')::text, '')"))
	require.NoError(t, s.down())
	require.Equal(t, before, wholeCatalogue(t, s.conn))
}

// A foreign key holds for what runs publish.
func TestAForeignKeyOfTheDefinitionIsCheckedBeforeAPublish(t *testing.T) {
	t.Parallel()
	s := newSite(t, named("o"), named("a", column("n"))+", foreign_keys: {n: {columns: [n], references: o}}")
	s.exec("INSERT INTO anon.o VALUES (1)", "INSERT INTO anon.a VALUES (9, 1)")
	var run int64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY['anon.a'], '[1]')").Scan(&run))
	s.exec(fmt.Sprintf("SELECT cs9.begin_plan(%d, 1, 1)", run))
	s.exec("INSERT INTO " + s.text("SELECT cs9.staging_table($1, 'anon.a')", run) + " VALUES (1, 1), (2, 2)")
	s.exec(fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run))
	_, err := s.conn.Exec(t.Context(), "SELECT cs9.finish_run($1, 1)", run)
	require.Contains(t, raised(t, "S9013", err).Message, "a staged row breaks the foreign key a_n_fkey")
	s.exec("INSERT INTO anon.o VALUES (2)", fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run), "CALL cs9.publish('t', 'k')")
	require.Equal(t, "3", s.text("SELECT count(*)::text FROM anon.a"))
}

// Two NULLs are one value where the server knows that; an older one says so
// before anything is changed.
func TestNullsNotDistinctNeedsPostgreSQL15(t *testing.T) {
	t.Parallel()
	const table = `name: a, columns: [{name: id, type: INTEGER}, {name: n, type: INTEGER}], keys: [id], `
	s := newSite(t, table+"unique: {n: [n]}")
	s.change(sqlgen.ChangeOptions{}, table+"unique: {n: {columns: [n], nulls_not_distinct: true}}, indexes: {n: {columns: [{expression: n + 1}], unique: true, nulls_not_distinct: true, where: id > 0}}")
	err := s.up()
	if s.text("SHOW server_version_num") < "150000" {
		require.Equal(t, "the definition of anon.a has nulls_not_distinct, which needs PostgreSQL 15 or newer", raised(t, "S9021", err).Message)
		require.Equal(t, "UNIQUE (n)", s.text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'a_n_key'"))
		return
	}
	require.NoError(t, err)
	s.exec("INSERT INTO anon.a VALUES (1, NULL)")
	_, err = s.conn.Exec(t.Context(), "INSERT INTO anon.a VALUES (2, NULL)")
	raised(t, "23505", err)
	require.Equal(t, "2", s.text("SELECT count(*)::text FROM pg_index WHERE indrelid = 'anon.a'::regclass AND indnullsnotdistinct"))
	require.NoError(t, s.down())
	s.exec("INSERT INTO anon.a VALUES (2, NULL)")
}

// Indexes of every form are built while the table is in use; what failed is
// built again.
func TestIndexesOfEveryFormInTheirOwnFile(t *testing.T) {
	t.Parallel()
	const columns = "columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}, {name: n, type: INTEGER}], keys: [id, r]"
	for name, more := range map[string]string{
		"plain": "", "swapped": ", publish: swap", "partitions": `, partitions: {column: r, values: [x, "y z"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			table := "name: a, " + columns + more
			once := "{columns: [{expression: n + 1}, r], unique: true, where: n > 0, include: [n]}"
			s := newSite(t, table+", indexes: {kept: {columns: [{column: n, order: desc}]}, kept_too: {columns: [n], where: n > 5}}")
			s.exec("INSERT INTO anon.a SELECT i, 'x', i FROM generate_series(1, 100) AS i")
			after := table + ", indexes: {kept: {columns: [{column: n, order: desc}]}, renamed: {columns: [n], where: n > 5, was: kept_too}, once: " + once +
				", low: {columns: [{expression: lower(r), order: desc, nulls: last, collation: C}, n], name: exact low}}"
			written := s.change(sqlgen.ChangeOptions{ConcurrentIndexes: true}, after)
			require.Equal(t, []string{"00005_change_anon_a.sql", "00006_index_anon_a.sql"}, written)
			require.Contains(t, read(t, filepath.Join(s.dir, written[0])), "RENAME TO a_renamed_idx")
			require.Contains(t, read(t, filepath.Join(s.dir, written[1])), "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS")

			s.exec("INSERT INTO anon.a VALUES (101, 'x', 1)")
			raised(t, "23505", s.up())
			s.exec("DELETE FROM anon.a WHERE id = 101")
			require.NoError(t, s.up(), "what an attempt has left that failed is built anew")
			fresh := pgtest.Connect(t, pgtest.EmptyDatabase(t))
			install(t, fresh, tables(t, after))
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
			require.NoError(t, s.down())
			require.NoError(t, s.down())
			require.NoError(t, s.up())
			require.Equal(t, wholeCatalogue(t, fresh), wholeCatalogue(t, s.conn))
		})
	}
}

// A unique index compares by its own collation, and so does the proof.
func TestAUniqueIndexIsProvedByItsCollation(t *testing.T) {
	t.Parallel()
	s := &site{t: t, dir: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	s.exec("CREATE SCHEMA anon", "CREATE COLLATION anon.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
	s.change(sqlgen.ChangeOptions{}, `name: a, columns: [{name: id, type: INTEGER}, {name: t, type: TEXT}], keys: [id], indexes: {t: {columns: [{column: t, collation: anon.loose}], unique: true}}`)
	require.NoError(t, s.up())
	var run int64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY['anon.a'], '[1]')").Scan(&run))
	s.exec(fmt.Sprintf("SELECT cs9.begin_plan(%d, 1, 1)", run))
	s.exec("INSERT INTO " + s.text("SELECT cs9.staging_table($1, 'anon.a')", run) + " VALUES (1, 'One'), (2, 'ONE')")
	s.exec(fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run))
	_, err := s.conn.Exec(t.Context(), "SELECT cs9.finish_run($1, 1)", run)
	require.Contains(t, raised(t, "S9013", err).Message, "two staged rows have one value in the unique index a_t_idx")
}
