package procs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// partitioning is a way to split the table m.t. Default partitions have names that
// come before the others.
type partitioning struct {
	name, partitions string
	whole            string // a condition that is true for all rows of some partitions, and for none of the others
	nowhere          string // a row that no partition takes; "" where there is none
	leaf             string // one of its leaves, which takes some of the rows of partitionNew
}

var partitionings = []partitioning{
	{
		name: "list", partitions: `{by: list, columns: [region], parts: [{name: a, values: [north, nord]}, {name: b, values: [south], null_too: true}]}`,
		whole: "region IN ('north', 'nord')", nowhere: "('east', '2024-01-01', 1, 1)", leaf: "m.t_a",
	},
	{
		name: "range", partitions: `{by: range, columns: [day, id], parts: [{name: a, from: [MINVALUE, MINVALUE], to: ["2025-01-01", MINVALUE]}, {name: b, from: ["2025-01-01", MINVALUE], to: ["2025-07-01", 5]}]}`,
		whole: "day < '2025-01-01'", nowhere: "('north', '2025-07-01', 5, 1)", leaf: "m.t_b",
	},
	{
		name: "hash", partitions: `{by: hash, columns: [id], parts: [{name: even, modulus: 2, remainder: 0}, {name: a, modulus: 4, remainder: 1}, {name: b, modulus: 4, remainder: 3}]}`,
		whole: "id > 0", leaf: "m.t_even",
	},
	{
		name: "default", partitions: `{by: list, columns: [region], parts: [{name: all, default: true}, {name: north, values: [north]}]}`,
		whole: "region = 'north'", leaf: "m.t_all",
	},
	{
		name: "split again", partitions: `{by: range, columns: [day], parts: [
			{name: old, from: ["2024-01-01"], to: ["2025-01-01"], partitions: {by: hash, columns: [id], parts: [{name: h0, modulus: 2, remainder: 0}, {name: h1, modulus: 2, remainder: 1}]}},
			{name: b, from: ["2025-01-01"], to: ["2026-01-01"], partitions: {column: region, values: [north, south]}},
			{name: all, default: true, partitions: {by: list, columns: [region], parts: [{name: north, values: [north]}, {name: all, default: true}]}}]}`,
		whole: "day < '2025-01-01'", nowhere: "('nord', '2025-01-01', 1, 1)", leaf: "m.t_b_south",
	},
	{
		name: "many", partitions: "{by: range, columns: [id], parts: [" + manyParts(40, 4) + "]}",
		whole: "id < 4", nowhere: "('north', '2025-01-01', 199, 1)", leaf: "m.t_p1",
	},
}

// manyParts are partitions of some ids each.
func manyParts(n, ids int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("{name: p%d, from: [%d], to: [%d]}", i, i*ids, i*ids+ids)
	}
	return strings.Join(parts, ", ")
}

const (
	partitionOld = `SELECT r, d, i, i FROM unnest('{north,nord,south}'::text[]) AS r, unnest('{2024-02-02,2025-02-02}'::date[]) AS d, generate_series(1, 6) AS i
		WHERE r <> 'nord' OR d < '2025-01-01'`
	partitionNew = `SELECT r AS region, d AS day, i AS id, -i AS v FROM unnest('{north,south}'::text[]) AS r, unnest('{2024-03-03,2025-02-02}'::date[]) AS d, generate_series(4, 12) AS i`
)

// split is a session with m.t, split in one way, and m.twin, on which plain SQL
// does what runs do to m.t.
type split struct {
	modes
	runs int
}

func newSplit(t *testing.T, p partitioning) *split {
	t.Helper()
	yaml := strings.ReplaceAll(fmt.Sprintf(`
version: 1
tables:
  - schema: m
    name: t
    columns: [{name: region, type: text}, {name: day, type: date}, {name: id, type: integer}, {name: v, type: integer}]
    keys: [region, day, id]
    indexes: {by_v: [v]}
    partitions: %s
`, p.partitions), "\t", " ")
	path := filepath.Join(t.TempDir(), "split.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	s := &split{modes: modes{connect(t, pgtest.NewDatabase(t, path))}}
	s.exec("CREATE TABLE m.twin (LIKE m.t, PRIMARY KEY (region, day, id))")
	s.both("INSERT INTO %s " + partitionOld)
	return s
}

// both does something to the table and to its twin.
func (s *split) both(sql string) {
	s.t.Helper()
	s.exec(strings.ReplaceAll(sql, "%s", "m.t"))
	s.exec(strings.ReplaceAll(sql, "%s", "m.twin"))
}

// stage begins a run in a mode, and brings it to the end of its plans; "a, then
// b" is the mode b for rows that were staged in the mode a.
func (s *split) stage(mode string, statements ...string) error {
	s.t.Helper()
	s.runs++
	s.exec("SELECT cs9.release_run('t')")
	mode, then, _ := strings.Cut(mode, ", then ")
	err := s.conn.QueryRow(s.t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', $1, '{m.t}', '[1]', p_publish_mode => $2)",
		fmt.Sprint(s.runs), mode).Scan(&s.run, &s.attempt)
	require.NoError(s.t, err)
	require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
	for _, sql := range statements {
		staged := pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, 'm.t')", s.run)
		if err := s.try(strings.ReplaceAll(sql, "{t}", staged)); err != nil {
			return err
		}
	}
	if err := s.try("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt); err != nil {
		return err
	}
	if err := s.finish(); err != nil || then == "" {
		return err
	}
	// its rows lie in one heap, and are split now
	s.exec("SELECT cs9.set_publish_mode('t', $1, $2)", fmt.Sprint(s.runs), then)
	err = s.try("SELECT cs9.check_publish($1)", s.run)
	if err != nil {
		s.exec("SELECT cs9.discard_run('t', $1)", fmt.Sprint(s.runs)) // else it would come before the next
	}
	return err
}

// publish publishes the run that was staged last.
func (s *split) publish() { s.t.Helper(); s.exec(s.call()) }

func (s *split) call() string { return fmt.Sprintf("CALL cs9.publish('t', '%d', 7)", s.runs) }

func (s *split) all(table string) string {
	return s.rows2("SELECT coalesce(string_agg(r::text, ' ' ORDER BY r), '') FROM " + table + " AS r")
}

// same compares the table with its twin, and looks at what a publish leaves.
func (s *split) same() {
	s.t.Helper()
	require.Equal(s.t, s.all("m.twin"), s.all("m.t"))
	s.nothingLeft()
}

const (
	insertNew = "INSERT INTO {t} (region, day, id, v) " + partitionNew
	upsertNew = "INSERT INTO {t} (cs9_op, region, day, id, v) SELECT 'u', n.* FROM (" + partitionNew + ") AS n"
	upsert    = " ON CONFLICT (region, day, id) DO UPDATE SET v = excluded.v"
)

func dropWhere(condition string) string {
	return fmt.Sprintf("SELECT cs9.drop_rows_where('m.t', %s)", "$c$"+condition+"$c$")
}

// However a table is split and published, readers find what plain SQL would have
// made of it.
func TestEachWayToSplitInEachMode(t *testing.T) {
	t.Parallel()
	for _, p := range partitionings {
		for _, mode := range []string{"batched", "atomic", "swap", "swap_or_atomic", "batched, then swap"} {
			t.Run(p.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, p)
				shape := s.shape()
				s.testRuns(p, mode)
				require.Equal(t, shape, s.shape(), "the same partitions, indexes and constraints")
			})
		}
	}
}

func (s *split) testRuns(p partitioning, mode string) {
	t := s.t
	t.Helper()
	// a rebuild
	require.NoError(t, s.stage(mode, drop("m.t"), insertNew))
	s.publish()
	s.exec("DELETE FROM m.twin")
	s.exec("INSERT INTO m.twin " + partitionNew)
	s.same()

	// whole partitions
	s.both("DELETE FROM %s")
	s.both("INSERT INTO %s " + partitionOld)
	rest := "SELECT n.* FROM (" + partitionNew + ") AS n WHERE " + p.whole
	require.NoError(t, s.stage(mode, dropWhere(p.whole), "INSERT INTO {t} (region, day, id, v) "+rest))
	s.publish()
	s.exec("DELETE FROM m.twin WHERE " + p.whole)
	s.exec("INSERT INTO m.twin " + rest)
	s.same()

	// rows that stay
	before := s.all("m.t")
	for _, statements := range [][]string{{upsertNew}, {dropWhere("id = 5"), upsertNew}, {dropWhere("id % 3 = 0")}} {
		err := s.stage(mode, statements...)
		if strings.HasSuffix(mode, " swap") || mode == "swap" {
			require.Contains(t, requireState(t, "S9013", err).Message, "stay, which the run does not delete")
			require.Equal(t, before, s.all("m.t"))
			continue
		}
		require.NoError(t, err)
		s.publish()
		if len(statements) == 2 {
			s.exec("DELETE FROM m.twin WHERE id = 5")
		}
		if statements[len(statements)-1] == upsertNew {
			s.exec("INSERT INTO m.twin " + partitionNew + upsert)
		} else {
			s.exec("DELETE FROM m.twin WHERE id % 3 = 0")
		}
		s.same()
	}
}

// shape is the table and all that it is split into, with what belongs to it.
func (s *split) shape() string {
	s.t.Helper()
	return s.rows2(`
		SELECT string_agg(x, E'\n' ORDER BY x COLLATE "C") FROM pg_partition_tree('m.t') AS t JOIN pg_class AS c ON c.oid = t.relid
		CROSS JOIN LATERAL (
			SELECT format('%s %s of %s %s', c.relkind, t.relid, t.parentrelid, pg_get_expr(c.relpartbound, c.oid))
			UNION ALL
			SELECT format('%s column %s %s', t.relid, a.attname, a.attnotnull) FROM pg_attribute AS a WHERE a.attrelid = t.relid AND a.attnum > 0 AND NOT a.attisdropped
			UNION ALL
			SELECT format('%s %s %s', t.relid, i.indexrelid::regclass, (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = i.indexrelid)) FROM pg_index AS i WHERE i.indrelid = t.relid
			UNION ALL
			SELECT format('%s %s %s', t.relid, k.conname, pg_get_constraintdef(k.oid)) FROM pg_constraint AS k WHERE k.conrelid = t.relid AND k.contype <> 'n'
		) AS o (x)`)
}

// A row that no partition takes is refused when it is written, where its columns
// say so.
func TestARowThatNoPartitionTakesIsRefusedWhenItIsWritten(t *testing.T) {
	t.Parallel()
	for _, p := range partitionings {
		for _, mode := range []string{"batched", "swap"} {
			t.Run(p.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, p)
				before := s.all("m.t")
				if p.nowhere == "" {
					require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_constraint WHERE conname = 't_routable_check'"))
					require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.takes_every_row('m.t')"))
					return
				}
				err := s.stage(mode, drop("m.t"), "INSERT INTO {t} (region, day, id, v) VALUES "+p.nowhere)
				requireState(t, "23514", err)
				require.Equal(t, before, s.all("m.t"))
				require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.takes_every_row('m.t')"))
			})
		}
	}
}

// P6: a partition that is gone when the publish begins is found before the first
// live row is touched, in each mode.
func TestP6EachWayToSplitRefusesRowsThatNoPartitionTakes(t *testing.T) {
	t.Parallel()
	for _, p := range partitionings {
		for _, mode := range []string{"batched", "atomic", "swap"} {
			t.Run(p.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, p)
				require.NoError(t, s.stage(mode, drop("m.t"), insertNew))
				s.exec("ALTER TABLE " + s.rows2("SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = '"+p.leaf+"'::regclass") + " DETACH PARTITION " + p.leaf)
				before := s.all("m.t")
				require.Contains(t, s.refused("S9013", s.call()).Message, "a staged row has no partition to go to")
				require.Equal(t, before, s.all("m.t"))
				require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM cs9.publish_step"))
			})
		}
	}
}

// A swap changes the catalogue and nothing else: no row is read while readers
// wait, whatever the bounds are, even beside a default partition that is swapped too.
func TestASwapReadsNoRow(t *testing.T) {
	t.Parallel()
	for _, p := range partitionings {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := newSplit(t, p)
			require.NoError(t, s.stage("swap", drop("m.t"), insertNew))
			notes := s.notesOf(s.call())
			require.NotContains(t, notes, "verifying table", "a table that is attached was read")
			require.Contains(t, notes, "is implied by existing constraints")
			s.exec("DELETE FROM m.twin")
			s.exec("INSERT INTO m.twin " + partitionNew)
			s.same()
		})
	}
}

// notesOf returns what the server says of a statement while it works.
func (s *split) notesOf(sql string) string {
	s.t.Helper()
	config, err := pgx.ParseConfig(s.url)
	require.NoError(s.t, err)
	var notes strings.Builder
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notes.WriteString(n.Message + "\n") }
	s.exec("SELECT cs9.release_run('t')")
	conn, err := pgx.ConnectConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	pgtest.Exec(s.t, conn, "SET client_min_messages = debug1", sql)
	require.NoError(s.t, conn.Close(s.t.Context()))
	return notes.String()
}

// A default partition that stays would be read while readers wait, for rows that
// belong to the one that is swapped: a large one rules the swap out, unless a
// check says that there is none.
func TestASwapBesideALargeDefaultPartition(t *testing.T) {
	t.Parallel()
	s := newSplit(t, partitionings[3])
	whole := []string{dropWhere("region = 'north'"), "INSERT INTO {t} (region, day, id, v) VALUES ('north', '2024-01-01', 1, 1)"}
	require.NoError(t, s.stage("swap", whole...), "a small one is read in no time")
	require.Contains(t, s.notesOf(s.call()), `verifying table "t_all"`)

	s.exec("INSERT INTO m.t SELECT 'east', '2024-01-01', i, i FROM generate_series(1, 250000) AS i")
	err := requireState(t, "S9013", s.stage("swap", whole...))
	require.Contains(t, err.Message, "it cannot be swapped: the default partition m.t_all, which stays, would be read during the switch")
	require.NoError(t, s.stage("swap_or_atomic", whole...))
	s.publish()
	require.Equal(t, "m.t: 0 deleted, 0 updated, 0 inserted", s.note())

	s.exec("ALTER TABLE m.t_all ADD CHECK (" + s.rows2("SELECT pg_get_partition_constraintdef('m.t_all'::regclass)") + ")")
	require.NoError(t, s.stage("swap", whole...))
	require.NotContains(t, s.notesOf(s.call()), "verifying table")
	require.Equal(t, "m.t: 1 partition swapped", s.note())
	require.Equal(t, "1", s.rows2("SELECT count(*)::text FROM m.t WHERE region = 'north'"))
}

// A unique index, a check and a foreign key that somebody gave to a partition
// which is split again hold for its rows.
func TestP6WhatAPartitionThatIsSplitAgainHasOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, reason string }{
		"unique index": {"CREATE UNIQUE INDEX own ON m.t_b (region, v)", "in the unique index own"},
		"check":        {"ALTER TABLE m.t_b ADD CONSTRAINT own CHECK (v <> -1000) NOT VALID", "a staged row fails the check own"},
		"foreign key":  {"ALTER TABLE m.t_b ADD CONSTRAINT own FOREIGN KEY (v) REFERENCES m.other", "a staged row breaks the foreign key own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSplit(t, partitionings[4])
			s.exec("DELETE FROM m.t")
			s.exec("CREATE TABLE m.other (v integer PRIMARY KEY)")
			s.exec(c.sql)
			err := s.stage("batched", drop("m.t"), "INSERT INTO {t} (region, day, id, v) VALUES ('north', '2025-01-01', 1, -1000), ('north', '2025-01-02', 1, -1000)")
			require.Contains(t, requireState(t, "S9013", err).Message, c.reason)
		})
	}
}

// P6 with many partitions, where the bounds are asked by value: the row is named
// all the same.
func TestP6ManyPartitions(t *testing.T) {
	t.Parallel()
	var parts []string
	for i := range 20 {
		parts = append(parts, fmt.Sprintf("{name: p%d, from: [%d], to: [%d], partitions: {column: region, values: [north, nord, south]}}", i, i, i+1))
	}
	s := newSplit(t, partitioning{partitions: "{by: range, columns: [id], parts: [" + strings.Join(parts, ", ") + "]}"})
	require.NoError(t, s.stage("batched", drop("m.t"), insertNew))
	s.exec("DROP TABLE m.t_p9_south")
	before := s.all("m.t")
	err := s.refused("S9013", s.call())
	require.Contains(t, err.Message, "a staged row has no partition to go to")
	require.Contains(t, err.Detail, "The row is (south,2024-03-03,9,-9,")
	require.Equal(t, before, s.all("m.t"))
	s.exec("CREATE TABLE m.t_p9_south PARTITION OF m.t_p9 FOR VALUES IN ('south')")
	s.publish()
	s.exec("DELETE FROM m.twin")
	s.exec("INSERT INTO m.twin " + partitionNew)
	s.same()
}

// TestP6ATableThatBecameAPartitionTakesItsOwnRowsOnly: whoever attached it to
// another table after its definition said which rows those are.
func TestP6ATableThatBecameAPartitionTakesItsOwnRowsOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ more, attach string }{
		"a plain table":                {"", "FOR VALUES FROM (0) TO (10)"},
		"a table of two partitions":    {", partitions: {by: range, columns: [k], parts: [{name: low, from: [0], to: [5]}, {name: high, from: [5], to: [MAXVALUE]}]}", "FOR VALUES FROM (0) TO (10)"},
		"a table that takes every row": {", partitions: {by: hash, columns: [k], parts: [{name: even, modulus: 2, remainder: 0}, {name: odd, modulus: 2, remainder: 1}]}", "FOR VALUES FROM (0) TO (10)"},
		"a default partition":          {"", "DEFAULT"},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN+c.more, "INSERT INTO m.t VALUES (1, 1)",
					"CREATE TABLE m.big (k integer NOT NULL, n integer) PARTITION BY RANGE (k)",
					"ALTER TABLE m.big ATTACH PARTITION m.t "+c.attach, "CREATE TABLE m.other PARTITION OF m.big FOR VALUES FROM (20) TO (30)")
				s.stage("k", mode, dropT, "INSERT INTO {t} VALUES (3, 3), (20, 20)")
				s.refusedBeforehand("S9013", "a staged row has no partition to go to", "(20,20,")
				s.exec("SELECT cs9.discard_run('t', 'k')")
				s.stage("good", mode, dropT, "INSERT INTO {t} VALUES (3, 3), (4, 4)")
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'good')")
				require.Equal(t, "(3,3) (4,4)", s.all())
			})
		}
	}
}

// TestP6APartitionThatIsAForeignTableIsRefused: PostgreSQL gives no table with a
// primary key such a partition; one whose key was dropped may get it.
func TestP6APartitionThatIsAForeignTableIsRefused(t *testing.T) {
	t.Parallel()
	const foreign = "CREATE FOREIGN TABLE m.t_5 PARTITION OF m.t FOR VALUES IN (5) SERVER nowhere"
	s := oneTable(t, nil, keyAndN+", partitions: {column: k, values: [1]}", "INSERT INTO m.t VALUES (1, 1)",
		"CREATE EXTENSION postgres_fdw", "CREATE SERVER nowhere FOREIGN DATA WRAPPER postgres_fdw")
	s.refused("42809", foreign)
	s.exec("ALTER TABLE m.t DROP CONSTRAINT t_pkey")
	s.exec(foreign)
	for name, sql := range map[string]string{"all": dropT, "some": "SELECT cs9.drop_rows_where('m.t', 'n > 0')"} {
		s.stage(name, "batched", sql)
		err := requireState(t, "S9013", s.finish())
		require.Contains(t, err.Message, "its partition m.t_5 is a foreign table")
		s.exec("SELECT cs9.discard_run('t', $1)", name)
	}
	require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM m.t_1"))
}
