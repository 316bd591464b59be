package sqlgen_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	shaped  = `name: a, columns: [{name: id, type: INTEGER}, {name: no, type: bigint, identity: by default}, {name: n, type: INTEGER}], keys: [id], unique: {n: [n]}, indexes: {by_n: [n]}`
	batched = shaped + ", publish: batched"
	swapped = shaped + ", publish: swap"
)

// What is tied to a table by its number would stay with the partition: it is
// listed, all of it.
func TestWhatIsTiedToATableRefusesAnotherShape(t *testing.T) {
	t.Parallel()
	tied := []string{
		"CREATE VIEW anon.v AS SELECT id FROM anon.a",
		"CREATE MATERIALIZED VIEW anon.m AS SELECT n FROM anon.a",
		"CREATE TABLE anon.refers (id integer CONSTRAINT refers_fk REFERENCES anon.a)",
		"CREATE TABLE anon.referred (n integer PRIMARY KEY)",
		"ALTER TABLE anon.a ADD CONSTRAINT own_fk FOREIGN KEY (n) REFERENCES anon.referred",
		"CREATE POLICY own ON anon.a USING (true)",
		"CREATE TRIGGER noted BEFORE UPDATE ON anon.a FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"CREATE RULE nothing AS ON DELETE TO anon.a WHERE id < 0 DO INSTEAD NOTHING",
		"CREATE PUBLICATION told FOR TABLE anon.a",
		"CREATE STATISTICS anon.related (dependencies) ON id, n FROM anon.a",
		"CREATE FUNCTION anon.takes(anon.a) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
	}
	want := "materialized view anon.m, view anon.v, foreign key own_fk of anon.a, foreign key refers_fk of anon.refers, policy own, trigger noted, " +
		"rule nothing, publication told, statistics object related, function anon.takes(anon.a)"
	untie := []string{
		"DROP VIEW anon.v", "DROP MATERIALIZED VIEW anon.m", "DROP TABLE anon.refers", "ALTER TABLE anon.a DROP CONSTRAINT own_fk", "DROP TABLE anon.referred",
		"DROP POLICY own ON anon.a", "DROP TRIGGER noted ON anon.a", "DROP RULE nothing ON anon.a", "DROP PUBLICATION told", "DROP STATISTICS anon.related",
		"DROP FUNCTION anon.takes",
	}
	s := newSite(t, batched)
	s.exec("INSERT INTO anon.a (id, n) SELECT i, i FROM generate_series(1, 9) AS i")
	s.change(destroyAll, swapped)
	refuses := func(err error) {
		t.Helper()
		pgErr := raised(t, "S9021", err)
		require.Equal(t, "anon.a cannot be replaced by another relation of its name: "+want+" would stay with the old one", pgErr.Message)
		require.Equal(t, "a", pgErr.TableName)
	}
	s.exec(withRows(tied)...)
	refuses(s.up())
	require.Equal(t, "r", s.text("SELECT relkind::text FROM pg_class WHERE oid = 'anon.a'::regclass"))
	s.exec(untie...)
	require.NoError(t, s.up())
	require.Equal(t, "p", s.text("SELECT relkind::text FROM pg_class WHERE oid = 'anon.a'::regclass"))

	// and back; a rule, and statistics, PostgreSQL allows on a partitioned table too
	s.exec(withRows(tied)...)
	refuses(s.down())
	s.exec(untie...)
	require.NoError(t, s.down())
	require.Equal(t, "9 r", s.text("SELECT count(*) || ' ' || (SELECT relkind::text FROM pg_class WHERE oid = 'anon.a'::regclass) FROM anon.a"))
}

// withRows fills the table that the foreign key refers to before there is one.
func withRows(statements []string) []string {
	var out []string
	for _, s := range statements {
		out = append(out, s)
		if strings.HasPrefix(s, "CREATE TABLE anon.referred") {
			out = append(out, "INSERT INTO anon.referred SELECT n FROM anon.a")
		}
	}
	return out
}

// A partition that somebody made by hand would go with the old table.
func TestAPartitionMadeByHandRefusesAnotherShape(t *testing.T) {
	t.Parallel()
	s := newSite(t, swapped)
	s.exec("CREATE TABLE anon.by_hand PARTITION OF anon.a FOR VALUES IN (7)", "INSERT INTO anon.a (id, n) VALUES (7, 7)")
	s.change(destroyAll, batched)
	pgErr := raised(t, "S9021", s.up())
	require.Equal(t, "anon.a has partitions that its definition does not know", pgErr.Message)
	require.Equal(t, "1", s.text("SELECT count(*)::text FROM anon.by_hand"))
}

// Whoever may read or write the table still may, whichever way it went; so it is
// with comments, the numbers of an identity column and what was set by hand.
func TestAnotherShapeKeepsWhatWasGiven(t *testing.T) {
	t.Parallel()
	s := newSite(t, batched)
	const owner, one, two = "shape_owner", "shape_one", "shape_two"
	s.exec("DO $$BEGIN CREATE ROLE "+owner+"; CREATE ROLE "+one+"; CREATE ROLE "+two+"; EXCEPTION WHEN duplicate_object THEN NULL; END$$",
		"GRANT SELECT, INSERT ON anon.a TO "+one+" WITH GRANT OPTION", "GRANT DELETE, TRUNCATE ON anon.a TO PUBLIC",
		"GRANT UPDATE (n), SELECT (id) ON anon.a TO "+two, "GRANT USAGE ON SEQUENCE anon.a_no_seq TO "+two,
		"GRANT EXECUTE ON PROCEDURE anon.a_publish TO "+two,
		"COMMENT ON TABLE anon.a IS 'by hand'", "COMMENT ON COLUMN anon.a.n IS 'it''s by hand'",
		"ALTER SEQUENCE anon.a_no_seq INCREMENT 5 CACHE 3", "CREATE INDEX by_hand ON anon.a (n, id)",
		"ALTER TABLE anon.a SET (fillfactor = 70)", "ALTER TABLE anon.a OWNER TO "+owner, "GRANT CREATE ON SCHEMA anon TO "+owner,
		"INSERT INTO anon.a (id, n) SELECT i, i FROM generate_series(1, 7) AS i")
	given := func() string {
		t.Helper()
		return strings.Join(query(t, s.conn, `
			SELECT format('%s by %s to %s%s', x.privilege_type, c.oid::regclass, x.grantee, CASE WHEN x.is_grantable THEN ' and others' END)
			FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS x WHERE c.oid IN ('anon.a'::regclass, 'anon.a_no_seq'::regclass)
			UNION ALL
			SELECT format('%s of %s to %s', x.privilege_type, a.attname, x.grantee::regrole)
			FROM pg_attribute AS a CROSS JOIN LATERAL aclexplode(a.attacl) AS x WHERE a.attrelid = 'anon.a'::regclass
			UNION ALL
			SELECT format('may call %s', x.grantee::regrole) FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS x WHERE p.oid = 'anon.a_publish'::regproc
			UNION ALL
			SELECT format('owned by %s, %s, %s', relowner::regrole, obj_description(oid), col_description(oid, 3)) FROM pg_class WHERE oid = 'anon.a'::regclass
			UNION ALL
			SELECT format('sequence %s %s %s %s', s.seqincrement, s.seqcache, q.last_value, q.is_called)
			FROM pg_sequence AS s CROSS JOIN anon.a_no_seq AS q WHERE s.seqrelid = 'anon.a_no_seq'::regclass
			ORDER BY 1`), "\n")
	}
	before := given()
	require.Contains(t, before, "SELECT by anon.a")
	require.Contains(t, before, "by hand, it's by hand")
	s.change(destroyAll, swapped)
	require.NoError(t, s.up())
	require.Equal(t, before, given())
	require.Equal(t, "anon.a_part fillfactor=70", s.text("SELECT i.indrelid::regclass || ' ' || c.reloptions[1] FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid WHERE i.indexrelid = 'anon.by_hand'::regclass"))
	require.Equal(t, "", s.text("SELECT coalesce(string_agg(x.privilege_type, ' '), '') FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS x WHERE c.oid = 'anon.a_part'::regclass AND x.grantee <> c.relowner"))
	s.exec("INSERT INTO anon.a (id, n) VALUES (100, 100)")
	swappedNumber := s.text("SELECT no::text FROM anon.a WHERE id = 100")
	require.NoError(t, s.down())
	require.Equal(t, "anon.a fillfactor=70", s.text("SELECT i.indrelid::regclass || ' ' || c.reloptions[1] FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid WHERE i.indexrelid = 'anon.by_hand'::regclass"))
	s.exec("INSERT INTO anon.a (id, n) VALUES (101, 101)")
	require.NotEqual(t, swappedNumber, s.text("SELECT no::text FROM anon.a WHERE id = 101"))
	require.Equal(t, "9 9", s.text("SELECT count(*) || ' ' || count(DISTINCT no) FROM anon.a"))
}

// A partition is added under a view, a policy, a trigger, a foreign key and a
// grant, which all are the table's and so hold for it too.
func TestAPartitionMoreKeepsWhatDependsOnTheTable(t *testing.T) {
	t.Parallel()
	const split = `name: a, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}], keys: [id, r], partitions: {column: r, values: %s}`
	s := newSite(t, strings.ReplaceAll(split, "%s", "[x]"))
	s.exec("DO $$BEGIN CREATE ROLE shape_reader; EXCEPTION WHEN duplicate_object THEN NULL; END$$", "GRANT USAGE ON SCHEMA anon TO shape_reader",
		"INSERT INTO anon.a VALUES (1, 'x')", "CREATE VIEW anon.v AS SELECT * FROM anon.a", "GRANT SELECT ON anon.a, anon.v TO shape_reader",
		"ALTER TABLE anon.a ENABLE ROW LEVEL SECURITY", "CREATE POLICY odd ON anon.a USING (id % 2 = 1)",
		"CREATE TABLE anon.refers (id integer, r text, FOREIGN KEY (id, r) REFERENCES anon.a)", "INSERT INTO anon.refers VALUES (1, 'x')")
	s.change(destroyAll, strings.ReplaceAll(split, "%s", "[x, y]"))
	require.NoError(t, s.up())
	s.exec("INSERT INTO anon.a VALUES (2, 'y'), (3, 'y')", "INSERT INTO anon.refers VALUES (3, 'y')", "SET ROLE shape_reader")
	require.Equal(t, "1x 3y", s.text("SELECT string_agg(id || r, ' ' ORDER BY id) FROM anon.a"))
	require.Equal(t, "1x 2y 3y", s.text("SELECT string_agg(id || r, ' ' ORDER BY id) FROM anon.v"))
	s.exec("RESET ROLE")
}
