package procs_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

const swapTables = `
  - schema: m
    name: one
    columns: [{name: k, type: integer}, {name: v, type: text}]
    keys: [k]
    indexes: {by_v: [v], same_a: [v, k], same_b: [v, k], some: {columns: [k], where: v > 'a'}}
    unique: {vk: [k, v]}
    publish: swap
  - schema: m
    name: two
    columns: [{name: k, type: integer}, {name: v, type: text}]
    keys: [k, v]
    indexes: {by_v: [v], same_a: [k], same_b: [k]}
    partitions: {column: v, values: [a, b]}
    publish: swap
`

// stagedBy brings a run of a task that rebuilds a table to its end.
func (s modes) stagedBy(task, table string, rows string) {
	s.t.Helper()
	s.exec("SELECT cs9.release_run('t')")
	require.NoError(s.t, s.conn.QueryRow(s.t.Context(), "SELECT run_id, attempt FROM cs9.begin_run($1, 'k', ARRAY[$2], '[1]')", task, table).Scan(&s.run, &s.attempt))
	s.exec("SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt)
	staged := pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, $2)", s.run, table)
	s.exec(drop(table))
	s.exec("INSERT INTO " + staged + " (k, v) VALUES " + rows)
	s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
	require.NoError(s.t, s.finish())
	s.exec("SELECT cs9.release_run($1)", task)
}

// indexes is what the schema m has of indexes, and what each belongs to.
func (s modes) indexes() string {
	s.t.Helper()
	return s.rows2(`
		SELECT string_agg(concat_ws(' ', pg_get_indexdef(i.indexrelid), h.inhparent::regclass, i.indisvalid, k.conname), E'\n' ORDER BY c.relname)
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid LEFT JOIN pg_inherits AS h ON h.inhrelid = c.oid
		LEFT JOIN pg_constraint AS k ON k.conindid = c.oid
		WHERE c.relnamespace = 'm'::regnamespace`)
}

func (s modes) nothingStaged() {
	s.t.Helper()
	require.Empty(s.t, s.rows2("SELECT coalesce(string_agg(relname, ' '), '') FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace"))
}

// P6: what happens to the indexes of a table between the proof and the publish.
func TestASwapFindsItsIndexesByWhatTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between []string
		differs bool // the schema does not have the indexes that it had
	}{
		"nothing":                               {},
		"another run publishes first":           {between: []string{"CALL cs9.publish('x', 'k')"}},
		"an index is built again":               {between: []string{"REINDEX INDEX CONCURRENTLY m.one_part_pkey"}},
		"all indexes are built again":           {between: []string{"REINDEX TABLE CONCURRENTLY m.one", "REINDEX TABLE CONCURRENTLY m.two"}},
		"an index is created":                   {between: []string{"CREATE INDEX mine ON m.one_part (v DESC)", "CREATE UNIQUE INDEX mine_too ON m.two_a (k, v)"}, differs: true},
		"an index of the table is created":      {between: []string{"CREATE INDEX mine ON m.one (v DESC)", "CREATE INDEX mine_too ON m.two (v DESC)"}, differs: true},
		"one that is alike is created":          {between: []string{"CREATE UNIQUE INDEX aaa ON m.one_part (k)", "CREATE INDEX zzz ON m.two_a (v)"}, differs: true},
		"an index is dropped":                   {between: []string{"DROP INDEX m.one_by_v_idx, m.two_same_a_idx"}, differs: true},
		"an index is dropped and created again": {between: []string{"DROP INDEX m.one_some_idx", "CREATE INDEX one_some_idx ON m.one (k) WHERE v > 'a'"}},
		"an index has another name":             {between: []string{"ALTER INDEX m.one_by_v_idx RENAME TO zzz", "ALTER INDEX m.two_a_v_idx RENAME TO aaa"}, differs: true},
		"an index that was not built to its end": {between: []string{
			"CREATE INDEX broken ON m.one_part (v, v)", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'm.broken'::regclass", "UPDATE pg_index SET indisvalid = indisvalid"}, differs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, swapTables)
			s.exec("INSERT INTO m.one VALUES (1, 'a'); INSERT INTO m.two VALUES (1, 'a'), (2, 'b')")
			before := s.indexes()
			s.stagedBy("x", "m.one", "(2, 'x'), (3, 'b')")
			s.stagedBy("y", "m.one", "(4, 'y'), (5, 'b')")
			s.stagedBy("z", "m.two", "(6, 'a')")
			s.each(c.between...)
			if c.differs {
				before = s.indexes()
			}
			s.exec("CALL cs9.publish('y', 'k')")
			s.exec("CALL cs9.publish('z', 'k')")
			require.Equal(t, "(4,y) (5,b)", s.content("m.one"))
			require.Equal(t, "(6,a)", s.content("m.two"))
			if !strings.Contains(name, "not built to its end") {
				require.Equal(t, before, s.indexes())
			}
			if !strings.Contains(name, "another run") {
				s.exec("SELECT cs9.discard_run('x', 'k')")
			}
			s.nothingStaged()
			s.stagedBy("again", "m.one", "(7, 'z')")
			s.exec("CALL cs9.publish('again', 'k')")
			s.nothingStaged()
		})
	}
}

// P14: ATTACH PARTITION takes whichever index is like that of the parent; names and directions stay where they were.
func TestASwapGivesEachIndexItsOwnPlace(t *testing.T) {
	t.Parallel()
	for name, made := range map[string][]string{
		"two of one shape, the later name first": {"CREATE INDEX zz ON m.one (v)", "CREATE INDEX aa ON m.one (v)"},
		"two directions, the later name first":   {"CREATE INDEX zz ON m.one (v DESC)", "CREATE INDEX aa ON m.one (v, k)", "CREATE INDEX bb ON m.one (v DESC NULLS LAST)", "CREATE INDEX yy ON m.one (v, k DESC)", "ALTER INDEX m.one_part_v_idx RENAME TO x2"},
		"a unique index before the primary key":  {"ALTER TABLE m.one DROP CONSTRAINT one_pkey", "CREATE UNIQUE INDEX zz ON m.one (k)", "ALTER TABLE m.one ADD CONSTRAINT one_pkey PRIMARY KEY (k)"},
		"one of another direction before it":     {"ALTER TABLE m.one DROP CONSTRAINT one_pkey", "CREATE UNIQUE INDEX zz ON m.one (k DESC)", "ALTER TABLE m.one ADD CONSTRAINT one_pkey PRIMARY KEY (k)"},
		"the partition's own beside the table's": {"CREATE INDEX zz ON m.one (v)", "CREATE INDEX aa ON m.one_part (v DESC)", "CREATE INDEX bb ON m.one_part (v)"},
		"another name for the partition's":       {"CREATE INDEX zz ON m.one (v)", "CREATE INDEX aa ON m.one (v)", "ALTER INDEX m.one_part_v_idx RENAME TO x2", "ALTER INDEX m.one_part_v_idx1 RENAME TO x1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, `
  - schema: m
    name: one
    columns: [{name: k, type: integer}, {name: v, type: text}]
    keys: [k]
    publish: swap
`)
			s.exec("INSERT INTO m.one VALUES (1, 'a')")
			s.each(made...)
			before := s.indexes()
			for run := range 2 {
				s.stagedBy(fmt.Sprint("x", run), "m.one", "(2, 'x'), (3, 'b')")
				s.exec(fmt.Sprintf("CALL cs9.publish('x%d', 'k')", run))
				require.Equal(t, "(2,x) (3,b)", s.content("m.one"))
				require.Equal(t, before, s.indexes())
				s.nothingStaged()
			}

			s.stagedBy("y", "m.one", "(4, 'x'), (5, 'b')")
			// made again between proof and publish, an index comes behind the others of its table
			for _, sql := range made {
				if name, ok := strings.CutPrefix(sql, "CREATE INDEX "); ok {
					s.exec("DROP INDEX m." + strings.Fields(name)[0])
					s.exec(sql)
					break
				}
			}
			before = s.indexes()
			s.exec("CALL cs9.publish('y', 'k')")
			require.Equal(t, before, s.indexes())
			s.nothingStaged()
		})
	}
}

func (s modes) each(statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		s.exec(sql)
	}
}

// P7: a run that is ready is published from a dump of its database.
func TestASwapOfARestoredDatabase(t *testing.T) {
	t.Parallel()
	s := newTables(t, swapTables)
	s.exec("INSERT INTO m.one VALUES (1, 'a'); INSERT INTO m.two VALUES (1, 'a'), (2, 'b')")
	before := s.indexes()
	s.stagedBy("x", "m.one", "(2, 'x'), (3, 'b')")
	s.stagedBy("z", "m.two", "(6, 'a')")
	dump := filepath.Join(t.TempDir(), "dump.sql")
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--dbname="+s.url, "--file="+dump).CombinedOutput()
	if strings.Contains(string(out), "server version mismatch") {
		t.Skip("pg_dump is of another version than the server")
	}
	require.NoError(t, err, string(out))

	url := pgtest.EmptyDatabase(t)
	_, stderr, err := pgtest.Psql(t, url, "-v", "ON_ERROR_STOP=1", "-q", "-f", dump)
	require.NoError(t, err, stderr)
	restored := modes{connect(t, url)}
	restored.each("CALL cs9.publish('x', 'k')", "CALL cs9.publish('z', 'k')")
	require.Equal(t, "(2,x) (3,b)", restored.content("m.one"))
	require.Equal(t, "(6,a)", restored.content("m.two"))
	require.Equal(t, before, restored.indexes())
	restored.nothingStaged()
}

// P6: what was staged breaks a unique index that was created since.
func TestASwapProvesAnIndexThatWasCreatedSince(t *testing.T) {
	t.Parallel()
	s := newTables(t, swapTables)
	s.exec("INSERT INTO m.one VALUES (1, 'a')")
	s.stagedBy("x", "m.one", "(2, 'x'), (3, 'x')")
	s.exec("CREATE UNIQUE INDEX mine ON m.one_part (v)")
	stops(t, s.try("CALL cs9.publish('x', 'k')"), "two staged rows have one value in the unique index mine")
	require.Equal(t, "(1,a)", s.content("m.one"))
	s.each("DROP INDEX m.mine", "CALL cs9.publish('x', 'k')")
	s.nothingStaged()
}

// A publication of all tables has the staged ones too.
func TestAPublicationOfAllTables(t *testing.T) {
	t.Parallel()
	for _, publication := range []string{"FOR ALL TABLES", "FOR ALL TABLES WITH (publish_via_partition_root)"} {
		t.Run(publication, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, swapTables+"  - {schema: m, name: t, columns: [{name: k, type: integer}, {name: v, type: json}], keys: [k]}\n")
			s.exec("CREATE PUBLICATION everything " + publication)
			s.exec("ALTER TABLE m.two_a REPLICA IDENTITY USING INDEX two_a_pkey; ALTER TABLE m.two_b REPLICA IDENTITY FULL")
			for i, mode := range []string{"batched", "atomic", "swap"} {
				table := []string{"m.t", "m.two", "m.two"}[i]
				value := []string{"1", "a", "b"}[i]
				key := fmt.Sprint(i)
				begin := func() {
					require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', $1, ARRAY[$2], '[1]', p_publish_mode => $3)", key, table, mode).Scan(&s.run, &s.attempt))
					s.exec("SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt)
				}
				begin()
				staged := pgtest.Scalar[string](t, s.conn, "SELECT cs9.staging_table($1, $2)", s.run, table)
				s.exec("INSERT INTO " + staged + " (k, v) VALUES (9, '" + value + "')")
				s.exec("SELECT cs9.release_run('t')")
				begin() // what the first attempt staged is removed
				s.exec(drop(table))
				s.exec("INSERT INTO " + staged + " (k, v) VALUES (" + key + ", '" + value + "')")
				s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', '" + key + "')")
				require.Equal(t, fmt.Sprintf("(%d,%s)", i, value), s.content(table))
			}
			require.Equal(t, "i f d", s.rows2("SELECT concat_ws(' ', (SELECT relreplident FROM pg_class WHERE oid = 'm.two_a'::regclass), (SELECT relreplident FROM pg_class WHERE oid = 'm.two_b'::regclass), (SELECT relreplident FROM pg_class WHERE oid = 'm.one_part'::regclass))"))
			s.nothingStaged()
		})
	}
}

// A swap leaves a partition where and how it was.
func TestASwapKeepsWhatThePartitionIs(t *testing.T) {
	t.Parallel()
	s := newTables(t, swapTables)
	if pgtest.Scalar[int](t, s.conn, "SELECT current_setting('server_version_num')::integer") < 150000 {
		t.Skip("PostgreSQL 14 cannot change the access method of a table, and has no tablespace without a folder")
	}
	space := "space_" + strings.ToLower(s.rows2("SELECT current_database()"))
	s.each("SET allow_in_place_tablespaces = on", fmt.Sprintf("CREATE TABLESPACE %s LOCATION ''", space))
	t.Cleanup(func() {
		for _, sql := range []string{"DROP TABLE m.one, m.two", "DROP TABLESPACE " + space} {
			_, err := s.conn.Exec(context.Background(), sql)
			require.NoError(t, err)
		}
	})
	s.exec("CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler")
	s.exec("INSERT INTO m.one VALUES (1, 'a'); INSERT INTO m.two VALUES (1, 'a'), (2, 'b')")
	for _, leaf := range []string{"m.one_part", "m.two_b"} {
		s.each(
			fmt.Sprintf("ALTER TABLE %s SET TABLESPACE %s", leaf, space),
			fmt.Sprintf("ALTER TABLE %s SET ACCESS METHOD heap2", leaf),
			fmt.Sprintf("ALTER INDEX %s_pkey SET TABLESPACE %s", leaf, space),
			fmt.Sprintf("ALTER TABLE %s CLUSTER ON %s_pkey", leaf, strings.TrimPrefix(leaf, "m.")),
			fmt.Sprintf("ALTER TABLE %s SET (fillfactor = 50, autovacuum_enabled = false, toast.autovacuum_enabled = false)", leaf),
			fmt.Sprintf("ALTER INDEX %s_pkey SET (fillfactor = 60)", leaf),
			fmt.Sprintf("ALTER TABLE %s ALTER COLUMN v SET COMPRESSION pglz, ALTER COLUMN v SET STORAGE EXTERNAL, ALTER COLUMN v SET STATISTICS 7, ALTER COLUMN v SET (n_distinct = -0.5)", leaf),
			fmt.Sprintf("COMMENT ON INDEX %s_pkey IS 'mine'", leaf),
			fmt.Sprintf("CREATE INDEX %[2]s_lower ON %[1]s (lower(v)) TABLESPACE %[3]s", leaf, strings.TrimPrefix(leaf, "m."), space),
			fmt.Sprintf("ALTER INDEX %s_lower ALTER COLUMN 1 SET STATISTICS 9", leaf),
		)
	}
	facts := func() string {
		return s.rows2(`
			SELECT string_agg(f, E'\n' ORDER BY f) FROM (
				SELECT concat_ws(' ', c.oid::regclass, a.amname, coalesce(t.spcname, '-'), c.reloptions::text, x.reloptions::text, c.relreplident, c.relpersistence) AS f
				FROM pg_class AS c LEFT JOIN pg_am AS a ON a.oid = c.relam LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace LEFT JOIN pg_class AS x ON x.oid = c.reltoastrelid
				WHERE c.relnamespace = 'm'::regnamespace AND c.relkind IN ('r', 'i', 'p', 'I')
				UNION ALL
				SELECT concat_ws(' ', attrelid::regclass, attname, attcompression, attstorage, attstattarget, attoptions::text) FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
				WHERE c.relnamespace = 'm'::regnamespace AND attnum > 0 AND NOT attisdropped
				UNION ALL
				SELECT concat_ws(' ', indexrelid::regclass, indisclustered, indisreplident, obj_description(indexrelid)) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE c.relnamespace = 'm'::regnamespace
			) AS x`)
	}
	before := facts()
	s.exec("SET default_tablespace = 'pg_default'")
	for _, when := range []string{"x", "y"} {
		s.stagedBy(when, "m.one", "(2, 'x'), (3, 'b')")
		s.exec("CALL cs9.publish('" + when + "', 'k')")
		s.stagedBy(when+"2", "m.two", "(6, 'a'), (7, 'b')")
		s.exec("CALL cs9.publish('" + when + "2', 'k')")
		require.Equal(t, before, facts())
	}

	// what is changed between the proof and the publish is kept as well
	s.stagedBy("z", "m.one", "(4, 'x')")
	s.exec("ALTER TABLE m.one_part SET TABLESPACE pg_default; ALTER TABLE m.one_part RESET (fillfactor); ALTER TABLE m.one_part SET ACCESS METHOD heap; ALTER TABLE m.one_part SET WITHOUT CLUSTER; ALTER TABLE m.one_part ALTER v SET COMPRESSION default")
	before = facts()
	s.exec("CALL cs9.publish('z', 'k')")
	require.Equal(t, before, facts())
	s.nothingStaged()
}

// P6: what a successor would lack rules a swap out.
func TestASwapIsRefusedForWhatASuccessorWouldLack(t *testing.T) {
	t.Parallel()
	s := newTables(t, swapTables)
	s.exec("INSERT INTO m.one VALUES (1, 'a')")
	s.exec("CREATE TRIGGER tr AFTER INSERT ON m.one FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()")
	s.stagedBy("x", "m.one", "(2, 'x')")
	for _, c := range []struct{ do, undo, reason string }{
		{"ALTER TABLE m.one_part DISABLE TRIGGER tr", "ALTER TABLE m.one_part ENABLE TRIGGER tr", "has the trigger tr otherwise enabled"},
		{"CREATE RULE r AS ON DELETE TO m.one_part DO ALSO NOTHING", "DROP RULE r ON m.one_part", "has the rule r of its own"},
		{"CREATE POLICY p ON m.one_part", "DROP POLICY p ON m.one_part", "has the policy p of its own"},
		{"ALTER TABLE m.one_part FORCE ROW LEVEL SECURITY", "ALTER TABLE m.one_part NO FORCE ROW LEVEL SECURITY", "has row-level security of its own"},
		{"CREATE TABLE m.user_of (r m.one_part)", "DROP TABLE m.user_of", "has rows whose type is used by column r of table m.user_of"},
		{"CREATE SEQUENCE m.q OWNED BY m.one_part.k", "DROP SEQUENCE m.q", "owns the sequence m.q"},
		{"ALTER TABLE m.one_part ADD CONSTRAINT cs9_mine CHECK (k > 0)", "ALTER TABLE m.one_part DROP CONSTRAINT cs9_mine", "has the constraint cs9_mine"},
		{"ALTER TABLE m.one_part SET UNLOGGED", "ALTER TABLE m.one_part SET LOGGED", "is UNLOGGED"},
	} {
		s.exec(c.do)
		stops(t, s.try("CALL cs9.publish('x', 'k')"), c.reason)
		s.exec(c.undo)
	}
	s.exec("CALL cs9.publish('x', 'k')")
	require.Equal(t, "(2,x)", s.content("m.one"))
}

// A migration says what a publication of all tables means for its subscribers.
func TestAMigrationWarnsOfAPublicationOfAllTables(t *testing.T) {
	t.Parallel()
	s := &split{modes: newTables(t, swapTables)}
	s.exec("CREATE PUBLICATION one FOR TABLE m.one")
	require.NotContains(t, s.notesOf("SELECT cs9.warn_of_publications()"), "publishes all tables")
	s.exec(`CREATE PUBLICATION "all" FOR ALL TABLES`)
	require.Contains(t, s.notesOf("SELECT cs9.warn_of_publications()"), `the publication "all" publishes all tables, those in cs9_staging too`)
}
