package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// What PostgreSQL prints of these reads back as another text.
const unsettled = `name: a, columns: [{name: id, type: INTEGER}, {name: v, type: varchar(5)}, {name: n, type: INTEGER}, {name: w, type: varchar, default: "CASE WHEN 'a'::varchar IN ('a', 'b') THEN 'x' END"}, {name: g, type: BOOLEAN, generated: "v IN ('a', 'b')"}],
    keys: [id], indexes: {some: {columns: [n], where: "v IN ('a', 'b')"}, between: {columns: [n], where: n BETWEEN 1 AND 5 AND id > 0}},
    checks: {listed: "v IN ('a', 'b')", near: n BETWEEN 1 AND 5 AND id > 0, both: "v IN ('a', 'b') OR n BETWEEN 1 AND 5 AND id > 0"}`

// rewrite reads what PostgreSQL prints, as a restored dump does.
func (s *site) rewrite(table string) {
	s.t.Helper()
	for _, sql := range strings.Split(s.text(fmt.Sprintf(`
		SELECT string_agg(x.sql, E'\n') FROM (
			SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I, ADD CONSTRAINT %%2$I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS sql
			FROM pg_constraint WHERE contype = 'c' AND conrelid = '%[1]s'::regclass
			UNION ALL
			SELECT format('DROP INDEX %%s; %%s', indexrelid::regclass, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')) FROM pg_index WHERE indrelid = '%[1]s'::regclass AND indpred IS NOT NULL
		) AS x`, table)), "\n") {
		s.exec(strings.Split(sql, "; ")...)
	}
}

func (s *site) indexesOf(tables string) string {
	s.t.Helper()
	return s.text("SELECT string_agg(concat_ws(' ', indexrelid::regclass, inhparent::regclass), ', ' ORDER BY indexrelid::regclass::text) FROM pg_index LEFT JOIN pg_inherits ON inhrelid = indexrelid WHERE indrelid::regclass::text ~ '" + tables + "'")
}

// P14: a table of a restored database becomes a partition, and a table again.
func TestATableOfARestoredDatabaseGetsAnotherShape(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"never", "before", "between", "both"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, unsettled+", publish: batched")
			s.exec("INSERT INTO anon.a (id, v, n) SELECT i, 'a', i FROM generate_series(1, 5) AS i")
			if when == "before" || when == "both" {
				s.rewrite("anon.a")
			}
			s.change(destroyAll, unsettled+", publish: swap")
			require.NoError(t, s.up())
			require.Equal(t, "anon.a_between_idx, anon.a_part_n_idx anon.a_some_idx, anon.a_part_n_idx1 anon.a_between_idx, anon.a_part_pkey anon.a_pkey, anon.a_pkey, anon.a_some_idx", s.indexesOf("^anon.a(_part)?$"), "no index was built twice")
			if when == "between" || when == "both" {
				s.rewrite("anon.a")
			}
			require.NoError(t, s.down())
			require.Equal(t, "anon.a_between_idx, anon.a_pkey, anon.a_some_idx", s.indexesOf("^anon.a(_part)?$"))
			require.NoError(t, s.up())
			require.Equal(t, "5", s.text("SELECT count(*)::text FROM anon.a WHERE g"))
		})
	}
}

// P14: a table is adopted whether it was made or restored, by a definition in
// whatever words.
func TestATableIsAdoptedByWhatItsExpressionsSay(t *testing.T) {
	t.Parallel()
	made := []string{
		"CREATE SCHEMA anon", "CREATE DOMAIN anon.word AS varchar(5)",
		`CREATE TABLE anon.a (id integer PRIMARY KEY, v varchar(5), n integer, d anon.word, w varchar DEFAULT CASE WHEN 'a'::varchar IN ('a', 'b') THEN 'x' END, g boolean GENERATED ALWAYS AS (v IN ('a', 'b')) STORED,
			CONSTRAINT listed CHECK (v IN ('a', 'b')), CONSTRAINT near CHECK (n BETWEEN 1 AND 5 AND id > 0), CONSTRAINT words CHECK (d IN ('a', 'b')))`,
		"CREATE INDEX listed_n ON anon.a (n) WHERE v IN ('a', 'b')",
	}
	definition := func(listed, near, words, where, w, g string) string {
		return fmt.Sprintf(`name: a, adopt: true, columns: [{name: id, type: INTEGER}, {name: v, type: varchar(5)}, {name: n, type: INTEGER}, {name: d, type: anon.word}, {name: w, type: varchar, default: %q}, {name: g, type: BOOLEAN, generated: %q}],
    keys: [id], indexes: {some: {columns: [n], where: %q, name: listed_n}}, checks: {listed: {expression: %q, name: listed}, near: {expression: %q, name: near}, words: {expression: %q, name: words}}`, w, g, where, listed, near, words)
	}
	plain := definition("v IN ('a', 'b')", "n BETWEEN 1 AND 5 AND id > 0", "d IN ('a', 'b')", "v IN ('a', 'b')", "CASE WHEN 'a'::varchar IN ('a', 'b') THEN 'x' END", "v IN ('a', 'b')")
	for _, restored := range []bool{false, true} {
		for _, printed := range []bool{false, true} {
			t.Run(fmt.Sprintf("restored %v, printed %v", restored, printed), func(t *testing.T) {
				t.Parallel()
				s := newHand(t, made, plain)
				if restored {
					s.rewrite("anon.a")
				}
				if printed {
					check := func(name string) string {
						return s.text("SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint WHERE conname = $1", name)
					}
					expression := func(column string) string {
						return s.text("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'anon.a'::regclass AND attname = $1", column)
					}
					s = newHand(t, made, definition(check("listed"), check("near"), check("words"), s.text("SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indpred IS NOT NULL AND indrelid = 'anon.a'::regclass"), expression("w"), expression("g")))
					if restored {
						s.rewrite("anon.a")
					}
				}
				require.NoError(t, s.up())
			})
		}
	}

	s := newHand(t, made, definition("v IN ('a', 'c')", "n BETWEEN 1 AND 6 AND id > 0", "d IN ('a', 'b')", "v IN ('a')", "CASE WHEN 'a'::varchar IN ('a', 'b') THEN 'y' END", "v IN ('b', 'a')"))
	message := raised(t, "S9021", s.up()).Message
	for _, different := range []string{"constraint listed", "constraint near", "index listed_n", "column w", "column g"} {
		require.Contains(t, message, different)
	}
	require.NotContains(t, message, "constraint words")
}

// P6: the runner may draw from a sequence that a default draws from.
func TestTheRunnerMayDrawFromTheSequencesOfDefaults(t *testing.T) {
	t.Parallel()
	const roles = ", roles: {runner: draws}"
	const columns = `columns: [{name: id, type: INTEGER, default: "nextval('anon.a_id_seq'::regclass)"}, {name: n, type: INTEGER, default: "nextval('anon.\"Odd''s seq\"')"}], keys: [id]`
	made := []string{"CREATE SCHEMA anon", `CREATE SEQUENCE anon."Odd's seq"`, "CREATE TABLE anon.a (id serial PRIMARY KEY, n integer DEFAULT nextval('anon.\"Odd''s seq\"'))", "INSERT INTO anon.a VALUES (DEFAULT, DEFAULT)"}
	may := func(s *site) string {
		return s.text(`SELECT concat_ws(' ', has_sequence_privilege('draws', 'anon.a_id_seq', 'USAGE'), has_sequence_privilege('draws', 'anon."Odd''s seq"', 'USAGE'))`)
	}
	adopting := newHand(t, made, "name: a, adopt: true, "+columns+roles)
	adopting.exec("DO $$ BEGIN CREATE ROLE draws; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$", "GRANT USAGE ON SEQUENCE anon.a_id_seq TO draws")
	require.NoError(t, adopting.up())
	require.Equal(t, "t t", may(adopting))
	adopting.exec("SET ROLE draws", "RESET ROLE")
	require.NoError(t, adopting.down())
	require.Equal(t, "t f", may(adopting), "what it could do before it keeps, and nothing else")

	s := newHand(t, made[:2], "name: a, "+columns+roles)
	s.exec("CREATE SEQUENCE anon.a_id_seq")
	require.NoError(t, s.up())
	require.Equal(t, "t t", may(s))
	s.change(sqlgen.ChangeOptions{}, "name: a, "+strings.Replace(columns, `, default: "nextval('anon.\"Odd''s seq\"')"`, "", 1)+roles)
	require.NoError(t, s.up())
	require.Equal(t, "t f", may(s))
}

// A table with a serial column gets another shape: the sequence goes on, and goes
// with the column.
func TestASerialColumnGetsAnotherShape(t *testing.T) {
	t.Parallel()
	const columns = `columns: [{name: id, type: INTEGER, default: "nextval('anon.a_id_seq'::regclass)"}, {name: n, type: INTEGER, default: "nextval('anon.shared')"}], keys: [id]`
	s := newHand(t, []string{"CREATE SCHEMA anon", "CREATE SEQUENCE anon.shared", "CREATE TABLE anon.a (id serial PRIMARY KEY, n integer DEFAULT nextval('anon.shared'))", "INSERT INTO anon.a VALUES (DEFAULT), (DEFAULT)"}, "name: a, adopt: true, "+columns)
	require.NoError(t, s.up())
	owned := func() string {
		return s.text("SELECT string_agg(concat_ws(' ', d.objid::regclass, d.refobjid::regclass, d.refobjsubid), ', ') FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.objid AND c.relkind = 'S' WHERE d.deptype = 'a'")
	}
	s.change(destroyAll, "name: a, adopt: true, publish: swap, "+columns)
	require.NoError(t, s.up())
	require.Equal(t, "anon.a_id_seq anon.a 1", owned())
	s.exec("INSERT INTO anon.a DEFAULT VALUES")
	require.Equal(t, "1 1, 2 2, 3 3", s.text("SELECT string_agg(id || ' ' || n, ', ' ORDER BY id) FROM anon.a"))
	require.NoError(t, s.down())
	require.Equal(t, "anon.a_id_seq anon.a 1", owned())
	s.exec("INSERT INTO anon.a DEFAULT VALUES")
	require.Equal(t, "4 4", s.text("SELECT id || ' ' || n FROM anon.a WHERE id = 4"))
	s.exec("DROP TABLE anon.a, anon.a_staging")
	require.Equal(t, "anon.shared", s.text("SELECT string_agg(oid::regclass::text, ' ') FROM pg_class WHERE relkind = 'S' AND relnamespace = 'anon'::regnamespace"))
}
