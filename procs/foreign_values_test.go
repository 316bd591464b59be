package procs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// newForeign is a session with tables that are published one after another; m.p
// has a second unique column, m.s has partitions.
func newForeign(t *testing.T, mode string) modes {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.yaml")
	require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(`
version: 1
tables:
  - {schema: m, name: c, columns: [{name: k, type: integer}, {name: u, type: integer}, {name: t, type: text, collation: POSIX}, {name: r, type: int4range}], keys: [k], publish: %[1]s}
  - {schema: m, name: p, columns: [{name: k, type: integer}, {name: u, type: integer}, {name: t, type: text}], keys: [k], unique: {u: [u]}, publish: %[1]s}
  - {schema: m, name: s, columns: [{name: k, type: integer}, {name: t, type: text}], keys: [k, t], partitions: {column: t, values: [a, b]}, publish: %[1]s}
`, mode)), 0o600))
	s := modes{connect(t, pgtest.NewDatabase(t, path))}
	s.exec("INSERT INTO m.p VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')")
	return s
}

// P6: what else a foreign key may be, and what else a publish may do to it.
func TestP6ForeignKeysOfEachKind(t *testing.T) {
	t.Parallel()
	const (
		deletesP = "SELECT cs9.drop_rows_where('m.p', 'k = 1')"
		changesP = "INSERT INTO {p} (cs9_op, k, u) VALUES ('u', 1, 9)"
		insertsC = "INSERT INTO {c} (k, u, t, r) VALUES (1, 1, 'a', '[1,9)')"
	)
	for name, c := range map[string]struct {
		before string
		plan   []string
		reason string // "": it publishes
		since  int    // major version
	}{
		"a referenced value changes":                             {"CREATE TABLE m.x (u integer CONSTRAINT f REFERENCES m.p (u)); INSERT INTO m.x VALUES (1)", one(changesP), "values that the run changes are referenced by the foreign key f", 0},
		"a referenced value changes, cascading":                  {"CREATE TABLE m.x (u integer CONSTRAINT f REFERENCES m.p (u) ON UPDATE CASCADE); INSERT INTO m.x VALUES (1)", one(changesP), "values that the run changes are referenced by the foreign key f", 0},
		"a referenced value changes, deferred":                   {"CREATE TABLE m.x (u integer CONSTRAINT f REFERENCES m.p (u) DEFERRABLE INITIALLY DEFERRED); INSERT INTO m.x VALUES (1)", one(changesP), "values that the run changes are referenced by the foreign key f", 0},
		"a value changes that nobody references":                 {"CREATE TABLE m.x (u integer REFERENCES m.p (u)); INSERT INTO m.x VALUES (2)", one(changesP), "", 0},
		"a referenced row changes, its value not":                {"CREATE TABLE m.x (u integer REFERENCES m.p (u)); INSERT INTO m.x VALUES (1)", one("INSERT INTO {p} (cs9_op, k, u, t) VALUES ('u', 1, 1, 'new')"), "", 0},
		"a staged row references a changing value":               {"ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.p (u)", []string{insertsC, changesP}, "a staged row breaks the foreign key f", 0},
		"a staged row references a row that goes":                {"ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.p", []string{insertsC, deletesP}, "a staged row breaks the foreign key f", 0},
		"a staged row references a row of a partition that goes": {"INSERT INTO m.s VALUES (1, 'a'); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u, t) REFERENCES m.s_a", []string{insertsC, "SELECT cs9.drop_rows_where('m.s', 'k < 2')"}, "a staged row breaks the foreign key f", 0},
		"not valid":                              {"CREATE TABLE m.x (k integer); INSERT INTO m.x VALUES (1), (7); ALTER TABLE m.x ADD CONSTRAINT f FOREIGN KEY (k) REFERENCES m.p NOT VALID", one(deletesP), "referenced by the foreign key f", 0},
		"not valid, out":                         {"ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.p NOT VALID", one("INSERT INTO {c} (k, u) VALUES (1, 7)"), "a staged row breaks the foreign key f", 0},
		"deferred, in":                           {"CREATE TABLE m.x (k integer CONSTRAINT f REFERENCES m.p DEFERRABLE INITIALLY DEFERRED); INSERT INTO m.x VALUES (1)", one(deletesP), "referenced by the foreign key f", 0},
		"deferred, out":                          {"ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.p DEFERRABLE INITIALLY DEFERRED", one("INSERT INTO {c} (k, u) VALUES (1, 7)"), "a staged row breaks the foreign key f", 0},
		"restrict, in":                           {"CREATE TABLE m.x (k integer CONSTRAINT f REFERENCES m.p ON DELETE RESTRICT); INSERT INTO m.x VALUES (1)", one(deletesP), "referenced by the foreign key f", 0},
		"set null, in":                           {"CREATE TABLE m.x (k integer CONSTRAINT f REFERENCES m.p ON DELETE SET NULL); INSERT INTO m.x VALUES (1)", one(deletesP), "referenced by the foreign key f", 0},
		"match full, half null":                  {"CREATE TABLE m.q (u integer, t text, PRIMARY KEY (u, t)); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u, t) REFERENCES m.q MATCH FULL", one("INSERT INTO {c} (k, u) VALUES (1, 1)"), "a staged row breaks the foreign key f", 0},
		"match full, null":                       {"CREATE TABLE m.q (u integer, t text, PRIMARY KEY (u, t)); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u, t) REFERENCES m.q MATCH FULL", one("INSERT INTO {c} (k) VALUES (1)"), "", 0},
		"match simple, half null":                {"CREATE TABLE m.q (u integer, t text, PRIMARY KEY (u, t)); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u, t) REFERENCES m.q", one("INSERT INTO {c} (k, u) VALUES (1, 1)"), "", 0},
		"a row of a table that inherits is none": {"CREATE TABLE m.q (k integer PRIMARY KEY); CREATE TABLE m.q1 () INHERITS (m.q); INSERT INTO m.q1 VALUES (1); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.q", one(insertsC), "a staged row breaks the foreign key f", 0},
		"nor does one of it reference":           {"CREATE TABLE m.x (k integer REFERENCES m.p); CREATE TABLE m.x1 () INHERITS (m.x); INSERT INTO m.x1 VALUES (1)", one(deletesP), "", 0},
		"two collations":                         {`CREATE TABLE m.q (t text COLLATE "C" PRIMARY KEY); INSERT INTO m.q VALUES ('a'); ALTER TABLE m.c ADD FOREIGN KEY (t) REFERENCES m.q`, one(insertsC), "", 0},
		"two collations, and no such row":        {`CREATE TABLE m.q (t text COLLATE "C" PRIMARY KEY); INSERT INTO m.q VALUES ('A'); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (t) REFERENCES m.q`, one(insertsC), "a staged row breaks the foreign key f", 0},
		"of a table that it is a partition of":   {"CREATE TABLE m.q (k integer PRIMARY KEY); INSERT INTO m.q VALUES (1), (2), (3); " + makeWhole + "; ALTER TABLE m.whole ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.q", one("INSERT INTO {p} (k, u) VALUES (7, 7)"), "a staged row breaks the foreign key", 0},
		"at a table that it is a partition of":   {makeWhole + "; CREATE TABLE m.x (k integer CONSTRAINT f REFERENCES m.whole); INSERT INTO m.x VALUES (1)", one(deletesP), "referenced by the foreign key", 0},
		"not enforced":                           {"ALTER TABLE m.c ADD FOREIGN KEY (u) REFERENCES m.p NOT ENFORCED; CREATE TABLE m.x (k integer REFERENCES m.p NOT ENFORCED); INSERT INTO m.x VALUES (1)", []string{drop("m.p"), "INSERT INTO {p} (k, u) VALUES (5, 5)", insertsC}, "", 18},
		"a check that is not enforced":           {"ALTER TABLE m.c ADD CHECK (k > 100) NOT ENFORCED", one(insertsC), "", 18},
		"of a period":                            {"CREATE EXTENSION btree_gist; CREATE TABLE m.q (u integer, r int4range, PRIMARY KEY (u, r WITHOUT OVERLAPS)); INSERT INTO m.q VALUES (1, '[1,5)'); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (u, PERIOD r) REFERENCES m.q", one(insertsC), "the foreign key f is one of periods", 18},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"batched", "atomic"} {
				t.Run(mode, func(t *testing.T) {
					t.Parallel()
					s := newForeign(t, mode)
					if version := pgtest.Scalar[int](t, s.conn, "SELECT current_setting('server_version_num')::integer / 10000"); version < c.since {
						t.Skipf("PostgreSQL %d knows no such constraint", version)
					}
					s.execAll(c.before)
					s.testForeignKey(c.plan, c.reason)
				})
			}
		})
	}
}

func (s modes) testForeignKey(plan []string, reason string) {
	t := s.t
	t.Helper()
	before := s.rows("m.p")
	err := s.plans("k", []string{"m.c", "m.p", "m.s"}, plan)
	if reason == "" {
		require.NoError(t, err)
		s.exec("CALL cs9.publish('t', 'k')")
		s.nothingLeft()
		return
	}
	require.Contains(t, requireState(t, "S9013", err).Message, reason)
	require.Equal(t, before, s.rows("m.p"))
}

// makeWhole makes m.p a partition of another table.
const makeWhole = "CREATE TABLE m.whole (k integer NOT NULL, u integer, t text, PRIMARY KEY (k)) PARTITION BY RANGE (k); ALTER TABLE m.whole ATTACH PARTITION m.p DEFAULT"

// P6: each delete of a run is a step of its own, unless rows of the table
// reference each other.
func TestP6SeveralDeletesOfATableThatReferencesItself(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newForeign(t, mode)
			s.execAll("UPDATE m.p SET u = NULL; UPDATE m.p SET u = 4 - k WHERE k <> 2; ALTER TABLE m.p ADD CONSTRAINT f FOREIGN KEY (u) REFERENCES m.p")
			require.NoError(t, s.plans("k", []string{"m.p"}, []string{"SELECT cs9.drop_rows_where('m.p', 'k = 1')", "SELECT cs9.drop_rows_where('m.p', 'k = 3')"}))
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, "(2,,b)", s.rows("m.p"))
		})
	}
}

// P6: rows are matched by the primary key, which somebody may have replaced.
func TestP6ThePrimaryKeyIsThatOfTheDefinition(t *testing.T) {
	t.Parallel()
	const (
		dropped    = "ALTER TABLE m.p DROP CONSTRAINT p_pkey"
		longer     = "ALTER TABLE m.p ALTER COLUMN u SET NOT NULL; " + dropped + "; ALTER TABLE m.p ADD PRIMARY KEY (k, u)"
		deferrable = dropped + "; ALTER TABLE m.p ADD PRIMARY KEY (k) DEFERRABLE"
		second     = "ALTER TABLE m.p ADD CONSTRAINT twice UNIQUE (k) DEFERRABLE"
		covering   = "ALTER TABLE m.p ADD CONSTRAINT twice UNIQUE (k) INCLUDE (u) DEFERRABLE INITIALLY DEFERRED"
		insert     = "INSERT INTO {p} (k, u) VALUES (7, 7)"
		upsert     = "INSERT INTO {p} (cs9_op, k, u) VALUES ('u', 1, 9)"
		deletes    = "SELECT cs9.drop_rows_where('m.p', 'k = 1')"
	)
	for _, c := range []struct{ mode, change, plan, reason string }{
		{"batched", dropped, insert, "its primary key is not (k)"},
		{"batched", dropped, upsert, "its primary key is not (k)"},
		{"batched", dropped, deletes, ""},
		{"batched", deferrable, insert, ""},
		{"batched", deferrable, upsert, "its primary key is deferrable"},
		{"batched", second, insert, ""},
		{"batched", second, upsert, "the unique constraint twice on its key is deferrable"},
		{"batched", covering, upsert, "the unique constraint twice on its key is deferrable"},
		{"atomic", second, upsert, ""},
		{"atomic", dropped, insert, "its primary key is not (k)"},
		{"atomic", dropped, deletes, "its primary key is not (k)"},
		{"atomic", deferrable, upsert, ""},
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.mode, c.change, c.plan), func(t *testing.T) {
			t.Parallel()
			s := newForeign(t, c.mode)
			s.execAll(c.change)
			s.testForeignKey(one(c.plan), c.reason)
		})
	}
	t.Run("batched, a longer one", func(t *testing.T) {
		t.Parallel()
		s := newForeign(t, "batched")
		s.exec("ALTER TABLE m.p_staging ALTER COLUMN u SET NOT NULL")
		s.execAll(longer)
		s.testForeignKey([]string{"SELECT cs9.drop_rows_where('m.p', 'k = 2')", upsert}, "its primary key is not (k)")
	})
}

// P6: rows that row-level security hides from the check are seen by the foreign key.
func TestP6RowsThatAreHiddenMayReference(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.ready()
	f.runner.exec("SELECT cs9.release_run('t')")
	f.super.execAll("CREATE TABLE hidden (week integer CONSTRAINT f REFERENCES demo.guarded); INSERT INTO hidden VALUES (1); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; GRANT SELECT ON hidden TO PUBLIC")
	err := f.publisher.refused("S9013", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Message, "row-level security of public.hidden hides rows")
	require.Equal(t, "1", pgtest.Scalar[string](t, f.owner.conn, "SELECT string_agg(week::text, ' ') FROM demo.guarded"))
	f.super.exec("TRUNCATE hidden")
	f.super.exec("ALTER TABLE hidden DISABLE ROW LEVEL SECURITY")
	f.publisher.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "7", pgtest.Scalar[string](t, f.owner.conn, "SELECT string_agg(week::text, ' ') FROM demo.guarded"))
}

// P6: a composite value whose fields are all null is a value to a foreign key, though IS NULL is true for it.
func TestP6ACompositeOfNullsIsAValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		match, there, staged string
		refused              bool
	}{
		"no such row":                  {"", "", "'(,)'", true},
		"a row":                        {"", "(1, '(,)')", "'(,)'", false},
		"one field of two":             {"", "", "'(1,)'", true},
		"null":                         {"", "", "NULL", false},
		"match full, null beside none": {"MATCH FULL", "", "NULL", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.NewDatabase(t)
			s := modes{connect(t, url)}
			s.execAll("CREATE SCHEMA m; CREATE TYPE m.pair AS (a integer, b text); CREATE DOMAIN m.pairs AS m.pair")
			pgtest.Install(t, url, definition(t, `
  - {schema: m, name: c, columns: [{name: k, type: integer}, {name: p, type: m.pairs}], keys: [k]}
`))
			s.execAll("CREATE TABLE m.q (k integer, p m.pair, PRIMARY KEY (k, p)); ALTER TABLE m.c ADD CONSTRAINT f FOREIGN KEY (k, p) REFERENCES m.q " + c.match)
			if c.there != "" {
				s.exec("INSERT INTO m.q VALUES " + c.there)
			}
			err := s.onePlan("k", "batched", []string{"m.c"}, fmt.Sprintf("INSERT INTO {t} VALUES (1, %s)", c.staged))
			if c.refused {
				stops(t, err, "a staged row breaks the foreign key f")
				return
			}
			require.NoError(t, err)
			s.exec("CALL cs9.publish('t', 'k')")
		})
	}
}

// TestP6OwnersOfAForeignKeysTablesNeedTheirRights: PostgreSQL looks after a
// foreign key with the rights of the owners of its tables, whoever publishes.
func TestP6OwnersOfAForeignKeysTablesNeedTheirRights(t *testing.T) {
	t.Parallel()
	const out = "ALTER TABLE m.t ADD FOREIGN KEY (n) REFERENCES far.other"
	for name, c := range map[string]struct {
		key, take, give string
		run             []string // what the right is needed for
		free            []string // and what needs none
	}{
		"to read the referenced row": {out, "REVOKE SELECT ON far.other FROM %s", "GRANT SELECT ON far.other TO %s",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 1)"}, []string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}},
		"to lock the referenced row": {out, "REVOKE UPDATE ON far.other FROM %s", "GRANT UPDATE ON far.other TO %s",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 1)"}, []string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}},
		"to enter the schema": {out, "REVOKE USAGE ON SCHEMA far FROM %s", "GRANT USAGE ON SCHEMA far TO %s",
			[]string{dropT, "INSERT INTO {t} VALUES (9, 1)"}, []string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}},
		"to look for referencing rows": {"ALTER TABLE far.other ADD FOREIGN KEY (ref) REFERENCES m.t", "REVOKE SELECT ON far.other FROM %s", "GRANT SELECT ON far.other TO %s",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}, []string{"INSERT INTO {t} VALUES (9, 1)"}},
		"to delete referencing rows": {"ALTER TABLE far.other ADD FOREIGN KEY (ref) REFERENCES m.t ON DELETE CASCADE", "REVOKE DELETE ON far.other FROM %s", "GRANT DELETE ON far.other TO %s",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}, []string{"INSERT INTO {t} VALUES (9, 1)"}},
		"to set referencing rows to null": {"ALTER TABLE far.other ADD FOREIGN KEY (ref) REFERENCES m.t ON DELETE SET NULL", "REVOKE UPDATE ON far.other FROM %s", "GRANT UPDATE ON far.other TO %s",
			[]string{"SELECT cs9.drop_rows_where('m.t', 'k = 2')"}, []string{"INSERT INTO {t} VALUES (9, 1)"}},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := oneTable(t, nil, keyAndN, "CREATE SCHEMA far", "CREATE TABLE far.other (id integer PRIMARY KEY, ref integer)",
					"INSERT INTO m.t VALUES (1, 1), (2, 1)", "INSERT INTO far.other VALUES (1, 1)", c.key)
				owner := fmt.Sprintf("cs9_test_owner_%s", pgtest.Scalar[string](t, s.conn, "SELECT oid::text FROM pg_database WHERE datname = current_database()"))
				s.exec("CREATE ROLE " + owner)
				s.exec("GRANT USAGE ON SCHEMA far TO " + owner)
				s.exec("ALTER TABLE far.other OWNER TO " + owner)
				s.exec(fmt.Sprintf(c.take, owner))
				s.stage("k", mode, c.run...)
				s.refusedBeforehand("S9013", owner+" lacks ", "the foreign key")
				s.exec("SELECT cs9.discard_run('t', 'k')")

				s.stage("free", mode, c.free...)
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'free')")
				s.exec(fmt.Sprintf(c.give, owner))
				s.exec("TRUNCATE m.t CASCADE")
				s.exec("INSERT INTO m.t VALUES (1, 1), (2, 1)")
				s.exec("INSERT INTO far.other VALUES (1, 1) ON CONFLICT DO NOTHING")
				s.stage("again", mode, c.run...)
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'again')")
				s.exec("DROP OWNED BY " + owner + " CASCADE")
				s.exec("DROP ROLE " + owner)
			})
		}
	}
}

// TestP6AnotherIndexOnTheKeyMayCompareOtherwise: two keys that differ are one
// value in it, and the second row would collide behind the TRUNCATE.
func TestP6AnotherIndexOnTheKeyMayCompareOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, index, values string }{
		"a collation without case": {"text", "CREATE UNIQUE INDEX u ON m.t (k COLLATE m.no_case)", "('a', 1), ('A', 2)"},
		"an expression":            {"text", "CREATE UNIQUE INDEX u ON m.t (lower(k))", "('a', 1), ('A', 2)"},
		"an operator class":        {"numeric", "CREATE UNIQUE INDEX u ON m.t (k m.whole)", "(1.2, 1), (1.4, 2)"},
	} {
		for _, mode := range []string{"batched", "atomic"} {
			for _, op := range []string{"i", "u"} {
				t.Run(name+" "+mode+" "+op, func(t *testing.T) {
					t.Parallel()
					s := oneTable(t, []string{"CREATE SCHEMA m",
						"CREATE COLLATION m.no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
						"CREATE FUNCTION m.cmp(numeric, numeric) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT sign(trunc($1) - trunc($2))::integer'",
						"CREATE FUNCTION m.same(numeric, numeric) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT trunc($1) = trunc($2)'",
						"CREATE FUNCTION m.less(numeric, numeric) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT trunc($1) < trunc($2)'",
						"CREATE FUNCTION m.most(numeric, numeric) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT trunc($1) <= trunc($2)'",
						"CREATE OPERATOR m.= (FUNCTION = m.same, LEFTARG = numeric, RIGHTARG = numeric)",
						"CREATE OPERATOR m.< (FUNCTION = m.less, LEFTARG = numeric, RIGHTARG = numeric)",
						"CREATE OPERATOR m.<= (FUNCTION = m.most, LEFTARG = numeric, RIGHTARG = numeric)",
						"CREATE OPERATOR m.> (FUNCTION = m.less, LEFTARG = numeric, RIGHTARG = numeric)",
						"CREATE OPERATOR m.>= (FUNCTION = m.most, LEFTARG = numeric, RIGHTARG = numeric)",
						"CREATE OPERATOR CLASS m.whole FOR TYPE numeric USING btree AS OPERATOR 1 m.<, OPERATOR 2 m.<=, OPERATOR 3 m.=, OPERATOR 4 m.>=, OPERATOR 5 m.>, FUNCTION 1 m.cmp(numeric, numeric)",
					}, "columns: [{name: k, type: "+c.key+"}, {name: n, type: integer}], keys: [k]", c.index)
					s.stage("k", mode, dropT, "SET cs9.op = '"+op+"'", "INSERT INTO {t} (k, n) VALUES "+c.values)
					s.refusedBeforehand("S9013", "two staged rows have one value in the unique index u")
				})
			}
		}
	}
}
