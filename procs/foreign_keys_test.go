package procs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// actions are what a foreign key may say besides what it references.
var actions = []string{"", "ON DELETE RESTRICT", "ON DELETE CASCADE", "ON DELETE SET NULL", "DEFERRABLE INITIALLY DEFERRED", "MATCH FULL"}

// stops expects that the run which was staged last is refused for a reason, by
// finish_run or by its publish, and that nothing has happened.
func (s *split) stops(err error, reason string) {
	s.t.Helper()
	before := s.all("m.t")
	if err == nil {
		err = s.try(s.call())
	}
	require.Contains(s.t, requireState(s.t, "S9013", err).Message, reason)
	require.Equal(s.t, before, s.all("m.t"))
	require.Zero(s.t, pgtest.Scalar[int](s.t, s.conn, "SELECT count(*)::integer FROM cs9.publish_step WHERE run_id = $1", s.run))
}

// P6: rows of a partition reference rows of another and the other way round, so
// that no order of the partitions would do, nor one of the run's own deletes.
func TestP6DeletesOfAPartitionedTableThatReferencesItself(t *testing.T) {
	t.Parallel()
	for _, p := range []partitioning{partitionings[2], partitionings[4]} {
		for _, mode := range []string{"batched", "atomic", "swap_or_atomic"} {
			t.Run(p.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, p)
				for _, action := range actions {
					s.testReferencesItself(mode, action)
				}
			})
		}
	}
}

func (s *split) testReferencesItself(mode, action string) {
	t := s.t
	t.Helper()
	s.exec("ALTER TABLE m.t DROP CONSTRAINT IF EXISTS own")
	s.both("DELETE FROM %s")
	s.both("INSERT INTO %s SELECT 'north', '2024-01-01', i, 13 - i FROM generate_series(1, 12) AS i")
	s.exec("ALTER TABLE m.t ADD CONSTRAINT own FOREIGN KEY (region, day, v) REFERENCES m.t " + action)

	s.stops(s.stage(mode, dropWhere("id < 4")), "referenced by the foreign key own")
	require.NoError(t, s.stage(mode, dropWhere("id < 4"), dropWhere("id > 9")), action)
	s.publish()
	s.exec("DELETE FROM m.twin WHERE id NOT BETWEEN 4 AND 9")
	s.same()

	s.exec("SELECT cs9.delete_rows('m.t', 'keep', 'id BETWEEN 6 AND 7')")
	s.exec("DELETE FROM m.twin WHERE id NOT BETWEEN 6 AND 7")
	s.same()

	row, deletes := "('north', '2024-01-01', 20, NULL)", []string{drop("m.t")}
	if action == "MATCH FULL" { // some columns NULL and others not: a row must reference one that is there already
		s.stops(s.stage(mode, "INSERT INTO {t} (region, day, id, v) VALUES "+row), "a staged row breaks the foreign key own")
		row, deletes = "('north', '2024-01-01', 20, 6)", nil
	} else {
		s.exec("DELETE FROM m.twin")
	}
	require.NoError(t, s.stage(mode, append(deletes, "INSERT INTO {t} (region, day, id, v) VALUES "+row)...))
	s.publish()
	s.exec("INSERT INTO m.twin VALUES " + row)
	s.same()
}

// P6: a foreign key at a single partition, of whatever level, of another table or
// of a partition beside it.
func TestP6AForeignKeyAtOnePartition(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"m.t_b", "m.t_b_south"} {
		for _, mode := range []string{"batched", "atomic", "swap", "swap_or_atomic"} {
			t.Run(target+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, partitionings[4])
				for _, action := range actions {
					s.testKeyAtPartition(mode, target, action)
				}
			})
		}
	}
}

func (s *split) testKeyAtPartition(mode, target, action string) {
	t := s.t
	t.Helper()
	s.exec("DROP TABLE IF EXISTS m.child")
	s.both("DELETE FROM %s")
	s.both("INSERT INTO %s " + partitionOld)
	s.exec("CREATE TABLE m.child (region text, day date, id integer, CONSTRAINT f FOREIGN KEY (region, day, id) REFERENCES " + target + " " + action + ")")
	s.exec("INSERT INTO m.child VALUES ('south', '2025-02-02', 1)")

	err := s.stage(mode, drop("m.t"), insertNew)
	if mode == "swap" {
		s.stops(err, "the foreign key f of m.child would have to be checked row by row")
		return
	}
	s.stops(err, "referenced by the foreign key f")
	require.NoError(t, s.stage(mode, dropWhere("region = 'north'")), "rows that nobody references")
	s.publish()
	s.exec("DELETE FROM m.twin WHERE region = 'north'")
	s.same()

	s.exec("TRUNCATE m.child")
	require.NoError(t, s.stage(mode, drop("m.t"), insertNew))
	s.publish()
	s.exec("DELETE FROM m.twin")
	s.exec("INSERT INTO m.twin " + partitionNew)
	s.same()
	s.exec("SELECT cs9.delete_rows('m.t', 'all')")
	require.Empty(t, s.all("m.t"))
}

// P6: partitions that reference each other by keys of their own, which the table
// knows nothing of.
func TestP6ForeignKeysBetweenPartitions(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic", "swap_or_atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSplit(t, partitionings[0])
			s.both("DELETE FROM %s")
			s.both("INSERT INTO %s SELECT r, '2024-01-01', i, i FROM unnest('{north,south}'::text[]) AS r, generate_series(1, 6) AS i")
			s.execAll("CREATE UNIQUE INDEX ON m.t_a (day, id); CREATE UNIQUE INDEX ON m.t_b (day, id); " +
				"ALTER TABLE m.t_a ADD CONSTRAINT to_b FOREIGN KEY (day, v) REFERENCES m.t_b (day, id); " +
				"ALTER TABLE m.t_b ADD CONSTRAINT to_a FOREIGN KEY (day, v) REFERENCES m.t_a (day, id)")
			s.stops(s.stage(mode, dropWhere("id = 2 AND region = 'south'")), "referenced by the foreign key to_b")
			require.NoError(t, s.stage(mode, dropWhere("id = 2 AND region = 'south'"), dropWhere("id = 2 AND region = 'north'"), dropWhere("id = 3")))
			s.publish()
			s.exec("DELETE FROM m.twin WHERE id IN (2, 3)")
			s.same()

			s.exec("CREATE TABLE m.child (day date, id integer, FOREIGN KEY (day, id) REFERENCES m.t_b (day, id))")
			const row = "('south', '2024-01-01', 9, NULL)"
			require.NoError(t, s.stage(mode, drop("m.t"), "INSERT INTO {t} (region, day, id, v) VALUES "+row))
			s.publish()
			s.exec("DELETE FROM m.twin")
			s.exec("INSERT INTO m.twin VALUES " + row)
			s.same()
			s.exec("INSERT INTO m.child VALUES ('2024-01-01', 9)")
			s.stops(s.stage(mode, dropWhere("id = 9")), "referenced by the foreign key child_day_id_fkey")
		})
	}
}

// A table that references itself is truncated whole where all its rows go, and
// deleted from whole where a TRUNCATE would be refused.
func TestStepsOfATableThatReferencesItself(t *testing.T) {
	t.Parallel()
	s := newSplit(t, partitionings[4])
	s.exec("ALTER TABLE m.t ADD FOREIGN KEY (region, day, v) REFERENCES m.t")
	steps := func(kind, condition string) string {
		return s.rows2(fmt.Sprintf("SELECT string_agg(format('%%s %%s', kind, relation), ', ' ORDER BY relation) FROM cs9.delete_steps(cs9.find_table('m.t'), '%s', %s)", kind, condition))
	}
	require.Equal(t, "truncate m.t", steps("all", "NULL"))
	require.Equal(t, "delete m.t", steps("where", "'id = 1'"))
	s.exec("CREATE TABLE m.child (region text, day date, id integer, FOREIGN KEY (region, day, id) REFERENCES m.t_b_south)")
	require.Equal(t, "delete m.t", steps("all", "NULL"))
	s.exec("ALTER TABLE m.t DROP CONSTRAINT t_region_day_v_fkey")
	require.Equal(t, "truncate m.t_all_all, truncate m.t_all_north, truncate m.t_b_north, delete m.t_b_south, truncate m.t_old_h0, truncate m.t_old_h1", steps("all", "NULL"))
	leaf := s.rows2("SELECT tableoid::regclass::text FROM m.t WHERE region = 'north' AND day = '2024-02-02' AND id = 1")
	require.Equal(t, "delete m.t_all_all, delete m.t_all_north, delete m.t_b_north, delete m.t_b_south, delete "+leaf, steps("where", "'id = 1'"), "the other hash partition has no such row")
	require.Equal(t, 6, strings.Count(steps("where", "'v = 1'"), "delete m.t_"))
}

// P6: a foreign key that one partition has holds for the rows that go there, and
// for no others.
func TestP6AForeignKeyThatOnlyAPartitionHas(t *testing.T) {
	t.Parallel()
	for _, owner := range []string{"m.t_b", "m.t_b_south"} {
		for _, mode := range []string{"batched", "atomic", "swap", "swap_or_atomic"} {
			t.Run(owner+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSplit(t, partitionings[4])
				s.exec("CREATE TABLE m.other (v integer PRIMARY KEY)")
				s.exec("INSERT INTO m.other VALUES (1)")
				s.both("DELETE FROM %s")
				for _, action := range append([]string{"NOT VALID"}, actions...) {
					if action == "NOT VALID" && owner == "m.t_b" {
						continue // PostgreSQL has none on a partitioned table before 18
					}
					s.exec("ALTER TABLE " + owner + " ADD CONSTRAINT own FOREIGN KEY (v) REFERENCES m.other " + action)
					const row = "INSERT INTO {t} (region, day, id, v) VALUES ('south', '%s', 1, %d)"
					elsewhere, here, bad := fmt.Sprintf(row, "2024-01-01", 7), fmt.Sprintf(row, "2025-01-01", 1), fmt.Sprintf(row, "2025-01-02", 7)
					if mode == "swap" {
						s.stops(s.stage(mode, drop("m.t"), elsewhere, here), "the foreign key own of "+owner)
					} else {
						s.stops(s.stage(mode, drop("m.t"), elsewhere, here, bad), "a staged row breaks the foreign key own")
						require.NoError(t, s.stage(mode, drop("m.t"), elsewhere, here))
						s.publish()
						require.Equal(t, "(south,2024-01-01,1,7) (south,2025-01-01,1,1)", s.all("m.t"))
						s.nothingLeft()
					}
					s.exec("ALTER TABLE " + owner + " DROP CONSTRAINT own")
				}
			})
		}
	}
}
