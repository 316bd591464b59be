package procs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// trigger returns statements that make a trigger function and its trigger.
func trigger(when, body string) []string {
	return []string{"CREATE FUNCTION m.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " END $$",
		"CREATE TRIGGER mine " + when + " EXECUTE FUNCTION m.f()"}
}

// TestP6ATriggerThatCanNeverWorkIsSeenBeforehand: it would stop the publish at its
// first row, behind the TRUNCATE.
func TestP6ATriggerThatCanNeverWorkIsSeenBeforehand(t *testing.T) {
	t.Parallel()
	const missing = "DECLARE k kind; BEGIN RETURN NEW; END;"
	for name, c := range map[string]struct {
		when, body string
		run        []string
		reason     string
		modes      []string
	}{
		"a type without its schema": {"BEFORE INSERT ON m.t FOR EACH ROW", missing,
			[]string{dropT, "INSERT INTO {t} VALUES (9, 9)"}, `type "kind" does not exist`, nil},
		"the same, and each key is live": {"BEFORE INSERT OR UPDATE ON m.t FOR EACH ROW", missing,
			[]string{dropT, "INSERT INTO {t} VALUES (1, 9)"}, `type "kind" does not exist`, nil},
		"after the row, and each key is live": {"AFTER INSERT OR UPDATE ON m.t FOR EACH ROW", "PERFORM helper(); RETURN NULL;",
			[]string{dropT, "INSERT INTO {t} VALUES (1, 9)"}, "function helper() does not exist", nil},
		"of the statement": {"AFTER INSERT ON m.t REFERENCING NEW TABLE AS n FOR EACH STATEMENT", "PERFORM helper() FROM n; RETURN NULL;",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 9)"}, "function helper() does not exist", nil},
		"of an update": {"BEFORE UPDATE ON m.t FOR EACH ROW", "RAISE 'never';",
			[]string{"INSERT INTO {t} (k, n, cs9_op) VALUES (1, 9, 'u')"}, "never", nil},
		"of an upsert that is new, beside a delete": {"BEFORE INSERT ON m.t FOR EACH ROW", "IF NEW.n = 9 THEN RAISE 'never'; END IF; RETURN NEW;",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 1')", "INSERT INTO {t} (k, n, cs9_op) VALUES (9, 9, 'u')"}, "never", nil},
		"of an upsert whose live row goes": {"AFTER INSERT ON m.t FOR EACH ROW", "RAISE 'never';",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 1')", "INSERT INTO {t} (k, n, cs9_op) VALUES (1, 9, 'u')"}, "never", []string{"batched"}},
		"of a delete": {"BEFORE DELETE ON m.t FOR EACH ROW", "RAISE 'never';",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 1')"}, "never", nil},
		"of a truncate": {"BEFORE TRUNCATE ON m.t FOR EACH STATEMENT", "RAISE 'never';",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 9)"}, "never", []string{"batched"}},
		"one that skips each row": {"BEFORE INSERT ON m.t FOR EACH ROW", "RETURN NULL;",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 9)"}, "skips rows", nil},
		"an assertion": {"BEFORE INSERT ON m.t FOR EACH ROW", "ASSERT false, 'never'; RETURN NEW;",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 9)"}, "never", nil},
	} {
		modes := c.modes
		if modes == nil {
			modes = []string{"batched", "atomic"}
		}
		for _, mode := range modes {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				sql := trigger(c.when, "IF TG_OP IS NULL THEN RETURN NULL; END IF; "+c.body)
				s := oneTable(t, []string{"CREATE SCHEMA m", "CREATE TYPE m.kind AS ENUM ('a')", "CREATE FUNCTION m.helper() RETURNS void LANGUAGE sql AS ''"},
					keyAndN, append([]string{"INSERT INTO m.t VALUES (1, 1), (2, 2)", userPath}, sql...)...)
				s.stage("k", mode, c.run...)
				err := s.refusedBeforehand("S9013", c.reason, "mine")
				require.Contains(t, err.Hint, "No live row of the table was touched.")
				s.exec("DROP TRIGGER mine ON m.t")
				s.exec("CALL cs9.publish('t', 'k')")
			})
		}
	}
}

// TestP6ATriggerOfOnePartitionIsTriedThere, and only for rows that go there.
func TestP6ATriggerOfOnePartitionIsTriedThere(t *testing.T) {
	t.Parallel()
	s := oneTable(t, nil, "columns: [{name: k, type: integer}, {name: region, type: text}], keys: [k, region], partitions: {column: region, values: [north, south]}",
		trigger("BEFORE INSERT ON m.t_north FOR EACH ROW", "RAISE 'never';")...)
	s.stage("south", "batched", dropT, "INSERT INTO {t} SELECT g, 'south' FROM generate_series(1, 3000) AS g")
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'south')")
	s.stage("k", "batched", dropT, "INSERT INTO {t} SELECT g, CASE g WHEN 3000 THEN 'north' ELSE 'south' END FROM generate_series(1, 3000) AS g")
	s.refusedBeforehand("S9013", "never")
}

// TestTryingATriggerLeavesNothingBehind: what it wrote is taken back, and what it
// locked is given back.
func TestTryingATriggerLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	sql := append([]string{"CREATE TABLE m.log (op text)", "INSERT INTO m.t VALUES (1, 1), (2, 2)"},
		trigger("AFTER INSERT OR UPDATE OR DELETE ON m.t FOR EACH ROW", "INSERT INTO m.log VALUES (TG_OP); NOTIFY cs9_test; RETURN NULL;")...)
	s := oneTable(t, nil, keyAndN, append(sql, "CREATE TRIGGER t2 BEFORE TRUNCATE ON m.t EXECUTE FUNCTION m.f()")...)
	s.stage("k", "batched", dropT, "INSERT INTO {t} VALUES (1, 9), (3, 3)")
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "INSERT INSERT TRUNCATE", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(op, ' ' ORDER BY op) FROM m.log"))
	require.Equal(t, "(1,9) (3,3)", s.all())
}

// TestARowThatATriggerSkipsIsNotPublished: the batch is undone, and says which
// trigger it was.
func TestARowThatATriggerSkipsIsNotPublished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		when, body string
		run        []string
		left       string // what is live after the publish stopped
		want       string
	}{
		"insert": {"BEFORE INSERT ON m.t FOR EACH ROW WHEN (NEW.k = 5)", "RETURN NULL;",
			[]string{dropT, "INSERT INTO {t} SELECT g, g FROM generate_series(4, 6) AS g"}, "", "(4,4) (5,5) (6,6)"},
		"update": {"BEFORE UPDATE ON m.t FOR EACH ROW WHEN (OLD.k = 2)", "RETURN NULL;",
			[]string{"INSERT INTO {t} (k, n, cs9_op) VALUES (1, 9, 'u'), (2, 9, 'u')"}, "(1,1) (2,2)", "(1,9) (2,9)"},
		"delete": {"BEFORE DELETE ON m.t FOR EACH ROW WHEN (OLD.k = 2)", "RETURN NULL;",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k < 3')", "INSERT INTO {t} VALUES (7, 7)"}, "(1,1) (2,2)", "(7,7)"},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN, append([]string{"INSERT INTO m.t VALUES (1, 1), (2, 2)"}, trigger(c.when, c.body)...)...)
				s.stage("k", mode, c.run...)
				require.NoError(t, s.finish())
				err := s.refused("S9022", "CALL cs9.publish('t', 'k')")
				require.Contains(t, err.Detail, "mine")
				require.Equal(t, "t", err.TableName)
				left := c.left
				if mode == "atomic" {
					left = "(1,1) (2,2)"
				}
				require.Equal(t, left, s.all())
				require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the session does not keep the lock")
				s.exec("DROP TRIGGER mine ON m.t")
				s.exec("CALL cs9.publish('t', 'k')")
				require.Equal(t, c.want, s.all())
			})
		}
	}
}

// TestUpsertsOfATableOfKeysAloneAreCounted: a row that is there already is as it
// should be, and counts.
func TestUpsertsOfATableOfKeysAloneAreCounted(t *testing.T) {
	t.Parallel()
	s := oneTable(t, nil, "columns: [{name: k, type: integer}], keys: [k]", "INSERT INTO m.t VALUES (1)")
	s.stage("k", "batched", "INSERT INTO {t} (k, cs9_op) VALUES (1, 'u'), (2, 'u')")
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "(1) (2)", s.all())
	require.Equal(t, 2, pgtest.Scalar[int](t, s.conn, "SELECT rows_published::integer FROM cs9.run_status"))
}

// TestRowsThatATriggerLeavesBecauseNothingChangesArePublished: PostgreSQL's own
// trigger against needless updates skips rows, and loses nothing.
func TestRowsThatATriggerLeavesBecauseNothingChangesArePublished(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndN, "INSERT INTO m.t VALUES (1, 1), (2, 2), (3, NULL)",
				"CREATE TRIGGER mine BEFORE UPDATE ON m.t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()")
			s.stage("k", mode, "INSERT INTO {t} (k, n, cs9_op) VALUES (1, 1, 'u'), (2, 9, 'u'), (3, NULL, 'u'), (4, 4, 'u')")
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "(1,1) (2,9) (3,) (4,4)", s.all())
			require.Equal(t, 4, pgtest.Scalar[int](t, s.conn, "SELECT rows_published::integer FROM cs9.run_status"))
		})
	}
}

// TestAPublishThatMovedLessThanWasProvedDoesNotEnd: staged rows that went, or a
// watermark that a dump brought back, would leave rows out.
func TestAPublishThatMovedLessThanWasProvedDoesNotEnd(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"DELETE FROM {t} WHERE k > 15",
		"UPDATE cs9.publish_step SET watermark = '(9,9)' WHERE kind = 'move'",
		"UPDATE cs9.publish_step SET rows_done = 3 WHERE kind = 'move'",
	} {
		t.Run(change[:12], func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, keyAndN)
			s.stage("k", "batched", dropT, "INSERT INTO {t} SELECT g, g FROM generate_series(1, 20) AS g")
			require.NoError(t, s.finish())
			require.False(t, stepTo(s, "k", 2))
			staged := pgtest.Scalar[string](t, s.conn, "SELECT cs9.staged_label($1, 1)", s.run)
			s.exec("ALTER TABLE " + staged + " DISABLE TRIGGER USER")
			s.exec(strings.ReplaceAll(change, "{t}", staged))
			s.exec("ALTER TABLE " + staged + " ENABLE TRIGGER USER")
			s.refused("S9018", "CALL cs9.publish('t', 'k', 10)")
			require.Equal(t, "publishing", s.runState("k"))
		})
	}
}

// TestDeferredTriggersRunInTheirStep in each mode, under the search_path of their
// table.
func TestDeferredTriggersRunInTheirStep(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, []string{"CREATE SCHEMA m", "CREATE FUNCTION m.helper() RETURNS void LANGUAGE sql AS ''"}, keyAndN+", search_path: [m]",
				"CREATE FUNCTION m.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM helper(); RETURN NULL; END'",
				"CREATE CONSTRAINT TRIGGER mine AFTER INSERT ON m.t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION m.f()")
			s.stage("k", mode, dropT, fmt.Sprintf("INSERT INTO {t} VALUES (%d, 1)", 1))
			require.NoError(t, s.finish())
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "(1,1)", s.all())
		})
	}
}

// TestATriggerThatLooksAtAllRowsIsNotJudgedByOne: it may demand what one row
// alone does not have. What no row could mend is refused all the same.
func TestATriggerThatLooksAtAllRowsIsNotJudgedByOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ when, body string }{
		"a minimum of rows":   {"AFTER INSERT ON m.t REFERENCING NEW TABLE AS n FOR EACH STATEMENT", "IF (SELECT count(*) FROM n) < 3 THEN RAISE 'too few'; END IF; RETURN NULL;"},
		"rows in the table":   {"AFTER INSERT OR UPDATE OR DELETE ON m.t FOR EACH STATEMENT", "ASSERT (SELECT count(*) <> 1 FROM m.t), 'too few'; RETURN NULL;"},
		"a sum, deferred":     {"AFTER INSERT ON m.t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW", "IF (SELECT sum(n) FROM m.t) <> 0 THEN RAISE check_violation USING MESSAGE = 'no balance'; END IF; RETURN NULL;"},
		"a sum, not deferred": {"AFTER INSERT ON m.t DEFERRABLE FOR EACH ROW", "IF (SELECT sum(n) FROM m.t) <> 0 THEN RAISE 'no balance'; END IF; RETURN NULL;"},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				sql := trigger(c.when, c.body)
				if strings.Contains(c.when, "DEFERRABLE") {
					sql[1] = strings.Replace(sql[1], "TRIGGER", "CONSTRAINT TRIGGER", 1)
				}
				s := oneTable(t, nil, keyAndN, append([]string{userPath}, sql...)...)
				rows := "INSERT INTO {t} VALUES (1, 1), (2, 2), (3, -3)"
				s.stage("good", mode, dropT, rows)
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'good')")
				require.Equal(t, "(1,1) (2,2) (3,-3)", s.all())

				s.exec("CREATE OR REPLACE FUNCTION m.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM gone(); RETURN NULL; END'")
				s.stage("k", mode, "INSERT INTO {t} VALUES (4, 0)")
				s.refusedBeforehand("S9013", "function gone() does not exist")
			})
		}
	}
}
