package inspect_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// remarkCase is a table that a definition cannot say, or not wholly.
type remarkCase struct {
	name    string
	sql     string // makes the table t of the schema s
	leftOut string // what is told of it, from its beginning; "" when it is taken
	note    string
	since   int // the first PostgreSQL that has it
}

var remarkCases = []remarkCase{
	{name: "no primary key", sql: "CREATE TABLE s.t (a int)", leftOut: "it has no primary key"},
	{name: "no primary key, partitioned", sql: "CREATE TABLE s.t (a int) PARTITION BY RANGE (abs(a))", leftOut: "it has no primary key, by which rows are told apart: add one, which must hold the columns of PARTITION BY RANGE (abs(a))"},
	{name: "deferrable key", sql: "CREATE TABLE s.t (a int PRIMARY KEY DEFERRABLE)", leftOut: "its primary key is DEFERRABLE"},
	{name: "child", sql: "CREATE TABLE s.p (a int PRIMARY KEY); CREATE TABLE s.t (PRIMARY KEY (a)) INHERITS (s.p)", leftOut: "it inherits from another table"},
	{name: "parent", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE TABLE s.c () INHERITS (s.t)", leftOut: "other tables inherit from it"},
	{name: "foreign table", sql: "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER v FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE s.t (a int) SERVER v", leftOut: "it is a foreign table"},
	{name: "unlogged", sql: "CREATE UNLOGGED TABLE s.t (a int PRIMARY KEY)", leftOut: "it is UNLOGGED"},
	{name: "exclusion", sql: "CREATE TABLE s.t (a int PRIMARY KEY, r int4range, CONSTRAINT x EXCLUDE USING gist (r WITH &&))", leftOut: "it has the exclusion constraint x"},
	{name: "rule", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE RULE r AS ON DELETE TO s.t DO INSTEAD NOTHING", leftOut: "it has rules (r)"},
	{name: "disabled rule", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE RULE r AS ON DELETE TO s.t DO INSTEAD NOTHING; ALTER TABLE s.t DISABLE RULE r", note: "it has disabled rules (r)"},
	{name: "the name of the template is taken", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE VIEW s.t_staging AS SELECT 1 AS a", leftOut: "s.t_staging has the name that the staging template would have"},
	{name: "the name of a routine is taken", leftOut: "s.t_publish(text, text, integer) has the name that a routine of cs9gen would have: rename it",
		sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE FUNCTION s.t_publish(text, text, x int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION s.t_move_batch(int) RETURNS int LANGUAGE sql AS 'SELECT 1'"},
	{name: "control column", sql: "CREATE TABLE s.t (a int PRIMARY KEY, cs9_run int)", leftOut: `columns[1].name: the name "cs9_run" begins with cs9_`},
	{name: "periods", sql: "CREATE EXTENSION btree_gist; CREATE TABLE s.t (id int, r int4range, PRIMARY KEY (id, r WITHOUT OVERLAPS))", leftOut: "its primary key is WITHOUT OVERLAPS", since: 18},
	{name: "foreign key of periods", since: 18, leftOut: "its foreign key t_id_r_fkey is one of periods",
		sql: "CREATE EXTENSION btree_gist; CREATE TABLE s.p (id int, r int4range, PRIMARY KEY (id, r WITHOUT OVERLAPS)); CREATE TABLE s.t (id int, r int4range, PRIMARY KEY (id), FOREIGN KEY (id, PERIOD r) REFERENCES s.p (id, PERIOD r))"},
	{name: "three levels", leftOut: "its partitions are split, and theirs are too",
		sql: "CREATE TABLE s.t (a int, b int, PRIMARY KEY (a, b)) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES IN (1) PARTITION BY LIST (b); " +
			"CREATE TABLE s.t2 PARTITION OF s.t1 FOR VALUES IN (1) PARTITION BY HASH (b); CREATE TABLE s.t3 PARTITION OF s.t2 FOR VALUES WITH (MODULUS 1, REMAINDER 0)"},
	{name: "no partition", sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a)", leftOut: "it is split BY LIST (a), and has no partition"},
	{name: "operator class of a partition key", sql: "CREATE TABLE s.t (a text PRIMARY KEY) PARTITION BY RANGE (a text_pattern_ops)", leftOut: "it is split BY RANGE (a text_pattern_ops)"},
	{name: "partition elsewhere", sql: "CREATE SCHEMA other; CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE TABLE other.t1 PARTITION OF s.t FOR VALUES IN (1)", leftOut: "the partition other.t1 is in another schema"},
	{name: "unlogged partition", sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE UNLOGGED TABLE s.t1 PARTITION OF s.t FOR VALUES IN (1)", leftOut: "the partition s.t1 is UNLOGGED"},
	{name: "the word of a bound as a text", sql: "CREATE TABLE s.t (a text PRIMARY KEY) PARTITION BY RANGE (a); CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES FROM ('MINVALUE') TO (MAXVALUE)", leftOut: "the partition s.t1 has a bound that a definition cannot write"},

	{name: "trigger", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE TRIGGER g BEFORE UPDATE ON s.t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()", note: "its triggers (g) stay, and fire"},
	{name: "row-level security", sql: "CREATE TABLE s.t (a int PRIMARY KEY); ALTER TABLE s.t ENABLE ROW LEVEL SECURITY", note: "row-level security is on"},
	{name: "statistics", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int, c int); CREATE STATISTICS s.st ON b, c FROM s.t", note: "its statistics objects (st) stay"},
	{name: "serial", sql: "CREATE TABLE s.t (a serial PRIMARY KEY)", note: "the default of a is nextval('s.t_a_seq'::regclass): the sequence stays as it is"},
	{name: "storage parameters", sql: "CREATE TABLE s.t (a int PRIMARY KEY) WITH (fillfactor = 70)", note: "it has storage parameters (fillfactor=70)"},
	{name: "replica identity", sql: "CREATE TABLE s.t (a int PRIMARY KEY); ALTER TABLE s.t REPLICA IDENTITY FULL", note: "its REPLICA IDENTITY is FULL"},
	{name: "typed", sql: "CREATE TYPE s.y AS (a int); CREATE TABLE s.t OF s.y (PRIMARY KEY (a))", note: "it is a table OF a type"},
	{name: "key with INCLUDE", sql: "CREATE TABLE s.t (a int, b int, PRIMARY KEY (a) INCLUDE (b))", leftOut: "its primary key has INCLUDE (b)"},
	{name: "identity options", sql: "CREATE TABLE s.t (a int GENERATED ALWAYS AS IDENTITY (START 10) PRIMARY KEY)", note: "the sequence of a has options of its own"},
	{name: "check not valid", sql: "CREATE TABLE s.t (a int PRIMARY KEY); ALTER TABLE s.t ADD CHECK (a > 0) NOT VALID", note: "the check t_a_check is NOT VALID"},
	{name: "check without inheritance", sql: "CREATE TABLE s.t (a int PRIMARY KEY CHECK (a > 0) NO INHERIT)", note: "the check t_a_check is NO INHERIT"},
	{name: "check not enforced", sql: "CREATE TABLE s.t (a int PRIMARY KEY CHECK (a > 0) NOT ENFORCED)", note: "the check t_a_check is NOT ENFORCED", since: 18},
	{name: "NOT NULL not valid", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int); ALTER TABLE s.t ADD NOT NULL b NOT VALID", note: "NOT NULL of b is NOT VALID", since: 18},
	{name: "virtual", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int GENERATED ALWAYS AS (a * 2) VIRTUAL)", leftOut: "its generated column b is VIRTUAL", since: 18},
	{name: "foreign key not valid", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int); ALTER TABLE s.t ADD FOREIGN KEY (b) REFERENCES s.t NOT VALID", note: "the foreign key t_b_fkey is NOT VALID"},
	{name: "foreign key that sets columns", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int, c int, UNIQUE (b, c), FOREIGN KEY (b, c) REFERENCES s.t (b, c) ON DELETE SET NULL (c))", note: "the foreign key t_b_c_fkey is ON DELETE SET of some of its columns", since: 15},
	{name: "operator class with parameters", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b tsvector); CREATE INDEX x ON s.t USING gist (b tsvector_ops (siglen = 32))", note: "the index x has an operator class with parameters"},
	{name: "index parameters", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE INDEX x ON s.t (a) WITH (fillfactor = 50)", note: "the index x has storage parameters (fillfactor=50)"},
	{name: "index comment", sql: "CREATE TABLE s.t (a int PRIMARY KEY); CREATE INDEX x ON s.t (a); COMMENT ON INDEX s.x IS 'x'", note: "the index x has a comment"},
	{name: "constraint comment", sql: "CREATE TABLE s.t (a int PRIMARY KEY CHECK (a > 0)); COMMENT ON CONSTRAINT t_a_check ON s.t IS 'x'", note: "the constraint t_a_check has a comment"},
	{name: "invalid index", sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES IN (1); CREATE INDEX x ON ONLY s.t (a)", note: "the index x is not valid"},
	{name: "index of one partition", sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES IN (1); CREATE INDEX x ON s.t1 (a)", note: "the index x is the partition s.t1's own"},
	{name: "constraint of one partition", sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t (CONSTRAINT x CHECK (a > 0)) FOR VALUES IN (1)", note: "the constraint x is the partition s.t1's own"},
	{name: "trigger of one partition", note: "the trigger g is the partition s.t1's own",
		sql: "CREATE TABLE s.t (a int PRIMARY KEY) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES IN (1); CREATE TRIGGER g BEFORE UPDATE ON s.t1 FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"},
	{name: "default of one partition", sql: "CREATE TABLE s.t (a int PRIMARY KEY, b int) PARTITION BY LIST (a); CREATE TABLE s.t1 PARTITION OF s.t (b DEFAULT 5) FOR VALUES IN (1)", note: "the partition s.t1 has another default of b"},
}

// TestRemarks inspects tables that a definition cannot say: one line tells of
// each, with table and reason. One after another in one database.
func TestRemarks(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	version := pgtest.Scalar[int](t, conn, "SELECT current_setting('server_version_num')::integer / 10000")
	for _, c := range remarkCases {
		t.Run(c.name, func(t *testing.T) {
			if version < c.since {
				t.Skipf("PostgreSQL %d is the first that has it", c.since)
			}
			defer run(t, conn, `SET client_min_messages = warning; DROP SCHEMA s CASCADE; DROP SCHEMA IF EXISTS other CASCADE;
				DROP FOREIGN DATA WRAPPER IF EXISTS w CASCADE; DROP EXTENSION IF EXISTS btree_gist CASCADE`)
			run(t, conn, "CREATE SCHEMA s")
			run(t, conn, c.sql)
			result := inspected(t, url, inspect.Options{Schema: "s", Tables: []string{"t"}})
			if c.leftOut != "" {
				require.Nil(t, result.File)
				require.Empty(t, result.Notes)
				requireRemark(t, result.LeftOut, c.leftOut)
				return
			}
			require.Empty(t, result.LeftOut)
			requireRemark(t, result.Notes, c.note)
			require.Len(t, loaded(t, result.File), 1)
		})
	}
}

func requireRemark(t *testing.T, list []inspect.Remark, begin string) {
	t.Helper()
	require.Len(t, list, 1)
	require.Equal(t, "s.t", list[0].Table)
	require.True(t, strings.HasPrefix(list[0].Text, begin), list[0].Text)
	require.NotContains(t, list[0].Text, "\n")
}

// TestWhatIsNoTable: views are told, partitions, templates and goose's own table
// are part of something else; each is refused when it is asked for by name.
func TestWhatIsNoTable(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t, validDir+"/counts.yaml")
	run(t, pgtest.Connect(t, url), "CREATE VIEW anon.v AS SELECT 1 AS a; CREATE TABLE anon.goose_db_version (id int)")
	all := inspected(t, url, inspect.Options{Schema: "anon"})
	require.Empty(t, all.LeftOut)
	require.Equal(t, []inspect.Remark{{Table: "anon.v", Text: "it is a view: it stays as it is, define the tables that it reads"}}, all.Notes)
	require.Len(t, all.Tables, 1)
	for name, reason := range map[string]string{
		"v":                               "it is a view",
		"anon_rebuild_counts_north":       "it is a partition of anon.anon_rebuild_counts",
		"anon_rebuild_counts_staging":     "it is the staging template of anon.anon_rebuild_counts",
		"goose_db_version":                "goose keeps in it",
		all.Tables[0].Name + "_no_such_1": "",
	} {
		result, err := inspect.Inspect(t.Context(), pgtest.Connect(t, url), inspect.Options{Schema: "anon", Tables: []string{name}})
		if reason == "" {
			require.ErrorIs(t, err, inspect.ErrUnknown)
			continue
		}
		require.NoError(t, err)
		require.Len(t, result.LeftOut, 1)
		require.True(t, strings.HasPrefix(result.LeftOut[0].Text, reason), result.LeftOut[0].Text)
	}
	for _, schema := range []string{"cs9", "cs9_staging", "pg_catalog", "information_schema"} {
		_, err := inspect.Inspect(t.Context(), pgtest.Connect(t, url), inspect.Options{Schema: schema})
		require.ErrorIs(t, err, inspect.ErrReserved)
	}
	_, err := inspect.Inspect(t.Context(), pgtest.Connect(t, url), inspect.Options{Schema: "nowhere"})
	require.ErrorIs(t, err, inspect.ErrUnknown)
}

// TestOneBadTableOfMany: what a definition cannot hold is found by reading it.
func TestOneBadTableOfMany(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyDatabase(t)
	run(t, pgtest.Connect(t, url), `CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY, cs9_op int); CREATE TABLE c (id serial PRIMARY KEY, a int REFERENCES a)`)
	result := inspected(t, url, inspect.Options{Schema: "public"})
	require.Len(t, result.LeftOut, 1)
	require.Equal(t, "public.b", result.LeftOut[0].Table)
	require.Equal(t, []string{"a", "c"}, tableNames(loaded(t, result.File)))
	require.Len(t, result.Notes, 1)
}

// TestReferencedTablesComeFirst: but in a circle one of them cannot.
func TestReferencedTablesComeFirst(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyDatabase(t)
	run(t, pgtest.Connect(t, url), `
		CREATE TABLE z (id int PRIMARY KEY); CREATE TABLE a (id int PRIMARY KEY REFERENCES z); CREATE TABLE b (id int PRIMARY KEY REFERENCES a);
		CREATE TABLE m (id int PRIMARY KEY); CREATE TABLE n (id int PRIMARY KEY REFERENCES m); ALTER TABLE m ADD FOREIGN KEY (id) REFERENCES n`)
	result := inspected(t, url, inspect.Options{Schema: "public"})
	require.Equal(t, []string{"z", "a", "b", "n", "m"}, tableNames(result.Tables))
}

func tableNames(tables []sqlgen.Table) []string {
	return slices.Collect(func(yield func(string) bool) {
		for i := range tables {
			if !yield(tables[i].Name) {
				return
			}
		}
	})
}

// TestASwapChangesNothing of what is inspected: the new partitions have the names,
// indexes and constraints of the old ones.
func TestASwapChangesNothing(t *testing.T) {
	for _, name := range []string{"swap", "swap_partitions", "entries_swap"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := validDir + "/" + name + ".yaml"
			defs, err := sqlgen.Load(path)
			require.NoError(t, err)
			table := &defs.Tables[0]
			live := sqlgen.QuoteLiteral(sqlgen.Qualified(table.Schema, table.Name))
			url := pgtest.NewDatabase(t, path)
			conn := pgtest.Connect(t, url)
			before := inspected(t, url, inspect.Options{Schema: table.Schema})
			oids := func() []uint32 {
				return pgtest.Scalar[[]uint32](t, conn, "SELECT array_agg(inhrelid ORDER BY inhrelid) FROM pg_inherits WHERE inhparent = "+live+"::regclass")
			}
			old := oids()
			rows, err := os.ReadFile(validDir + "/" + name + ".rows.sql")
			require.NoError(t, err)
			_, insert, _ := strings.Cut(string(rows), "-- new\n")
			id := pgtest.Scalar[int64](t, conn, "SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY["+live+"], '[{}]', p_publish_mode => 'swap')")
			require.True(t, pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, 1, 1)", id))
			pgtest.Exec(t, conn, "SELECT cs9.drop_all_rows("+live+")")
			staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staging_table($1, "+live+")", id)
			run(t, conn, strings.ReplaceAll(insert, "%s", staged))
			pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", id), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", id))
			run(t, conn, "CALL cs9.publish('t', 'k')")
			require.NotEqual(t, old, oids(), "the partitions are other tables now")
			after := inspected(t, url, inspect.Options{Schema: table.Schema})
			require.Equal(t, string(before.File), string(after.File))
			require.Equal(t, before.Notes, after.Notes)
		})
	}
}

// TestNullsNotDistinct came with PostgreSQL 15.
func TestNullsNotDistinct(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	if pgtest.Scalar[int](t, conn, "SELECT current_setting('server_version_num')::integer") < 150000 {
		t.Skip("PostgreSQL 15 is the first that has it")
	}
	run(t, conn, `CREATE TABLE t (a int PRIMARY KEY, b int, CONSTRAINT t_b_key UNIQUE NULLS NOT DISTINCT (b));
		CREATE UNIQUE INDEX t_ab_idx ON t (a DESC, b) INCLUDE (b) NULLS NOT DISTINCT WHERE b > 0`)
	table := loaded(t, inspected(t, url, inspect.Options{Schema: "public"}).File)[0]
	require.Equal(t, sqlgen.Named[sqlgen.Unique]{{Name: "b", Value: sqlgen.Unique{Columns: []string{"b"}, NullsNotDistinct: true}}}, table.Unique)
	require.Equal(t, sqlgen.Named[sqlgen.Index]{{Name: "ab", Value: sqlgen.Index{
		Columns: []sqlgen.IndexColumn{{Column: "a", Order: "desc"}, {Column: "b"}}, Include: []string{"b"}, Where: "b > 0", Unique: true, NullsNotDistinct: true,
	}}}, table.Indexes)
}

// TestRolesOfAnAdoptedTable are those of its definition, not those that were
// granted something before.
func TestRolesOfAnAdoptedTable(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t)
	conn := pgtest.Connect(t, url)
	run(t, conn, `CREATE TABLE t (a int PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY);
		CREATE ROLE inspect_other; GRANT SELECT ON t TO inspect_other`)
	defer run(t, conn, "DROP OWNED BY inspect_other; DROP ROLE inspect_other")
	file := inspected(t, url, inspect.Options{Schema: "public"}).File
	file = append(file, "    roles: {reader: inspect_reader, runner: inspect_runner, publisher: inspect_publisher}\n"...)
	pgtest.Install(t, url, saved(t, file))
	result := inspected(t, url, inspect.Options{Schema: "public"})
	require.Empty(t, result.Notes)
	require.Equal(t, string(file)+"    publish: batched\n", string(result.File))
}
