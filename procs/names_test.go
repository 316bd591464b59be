package procs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// newTables is a session with the tables of a definition, whose `tables:` it is
// given.
func newTables(t *testing.T, tables string) modes {
	t.Helper()
	return modes{connect(t, pgtest.NewDatabase(t, definition(t, tables)))}
}

func definition(t *testing.T, tables string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\ntables:\n"+strings.ReplaceAll(tables, "\t", "  ")), 0o600))
	return path
}

// onePlan brings a run of one plan to its end. {t} stands for the run's own table
// for the first of the tables.
func (s modes) onePlan(key, mode string, tables []string, statements ...string) error {
	s.t.Helper()
	err := s.conn.QueryRow(s.t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', $1, $2, '[1]', p_publish_mode => $3, p_allow_empty => true)",
		key, tables, mode).Scan(&s.run, &s.attempt)
	require.NoError(s.t, err)
	require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
	for _, sql := range statements {
		if strings.Contains(sql, "{t}") {
			sql = strings.ReplaceAll(sql, "{t}", pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, $2)", s.run, tables[0]))
		}
		if err := s.try(sql); err != nil {
			return err
		}
	}
	if err := s.try("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt); err != nil {
		return err
	}
	return s.finish()
}

// content is a table as text.
func (s modes) content(table string) string {
	s.t.Helper()
	return s.rows2(fmt.Sprintf("SELECT coalesce(string_agg(r::text, ' ' ORDER BY r::text), '') FROM %s AS r", table))
}

// stops checks that an error is S9013 and says why.
func stops(t *testing.T, err error, reason string) {
	t.Helper()
	require.Contains(t, requireState(t, "S9013", err).Message, reason)
}

// aliases are the names that SQL around a user's table gave once, or gives.
var aliases = []string{"c", "p", "s", "l", "d", "g", "a", "m", "r", "cs9", "excluded", "ctid1", "tableoid1"}

// P6: a column called like an alias is a column, and NULL in it is no verdict.
func TestP6AColumnWithTheNameOfAnAlias(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var columns, values []string
			for _, name := range aliases {
				columns = append(columns, fmt.Sprintf("{name: %s, type: integer}", name))
				values = append(values, "NULL")
			}
			s := newTables(t, fmt.Sprintf(`
  - {schema: m, name: up, columns: [{name: id, type: integer}, %[1]s], keys: [id], unique: {by_s: [s]}}
  - {schema: m, name: down, columns: [{name: id, type: integer}, {name: up, type: integer}, %[1]s], keys: [id], foreign_keys: {up: {columns: [up], references: m.up, on_delete: cascade}}}
`, strings.Join(columns, ", ")))
			nulls := strings.Join(values, ", ")
			s.exec("INSERT INTO m.up VALUES (1, " + nulls + ")")
			s.exec("INSERT INTO m.down VALUES (1, 1, " + nulls + ")")

			stops(t, s.onePlan("in", mode, []string{"m.up"}, "SELECT cs9.drop_rows_where('m.up', 'id = 1')"), "rows that the run deletes are referenced")
			stops(t, s.onePlan("out", mode, []string{"m.down"}, "INSERT INTO {t} (id, up) VALUES (2, 7)"), "a staged row breaks the foreign key")
			s.exec("ALTER TABLE m.down ADD CONSTRAINT positive CHECK (coalesce(s, id) > 0)")
			stops(t, s.onePlan("check", mode, []string{"m.down"}, "INSERT INTO {t} (id, up) VALUES (-2, 1)"), "a staged row fails the check positive")
			require.NoError(t, s.onePlan("good", mode, []string{"m.down"}, "INSERT INTO {t} (id, up) VALUES (2, 1)", "INSERT INTO {t} (cs9_op, id, up, s) VALUES ('u', 1, 1, 5)"))
			s.exec("CALL cs9.publish('t', 'good')")
			require.Equal(t, "1-5 2-", s.rows2("SELECT string_agg(format('%s-%s', id, s), ' ' ORDER BY id) FROM m.down"))
		})
	}
}

// P6: a row that no partition takes is found whatever its columns are called.
func TestP6APartitionKeyWithTheNameOfAnAlias(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"s", "c"} {
		s := newTables(t, fmt.Sprintf("  - {schema: m, name: %[1]s, columns: [{name: %[1]s, type: text}, {name: id, type: integer}], keys: [id, %[1]s], partitions: {column: %[1]s, values: [a, b]}}\n", column))
		s.exec(fmt.Sprintf("DROP TABLE m.%[1]s_b", column))
		s.exec(fmt.Sprintf("INSERT INTO m.%[1]s VALUES ('a', 1)", column))
		name := "m." + column
		stops(t, s.onePlan("none", "batched", []string{name}, drop(name), fmt.Sprintf("INSERT INTO {t} (%s, id) VALUES ('b', 1)", column)), "a staged row has no partition to go to")
		require.NoError(t, s.onePlan("good", "swap", []string{name}, drop(name), fmt.Sprintf("INSERT INTO {t} (%s, id) VALUES ('a', 2)", column)))
		s.exec("CALL cs9.publish('t', 'good')")
	}
}

// P6: a foreign table at a foreign key may have any column, those of cs9gen too.
func TestP6AForeignTableHasColumnsOfCs9gensNames(t *testing.T) {
	t.Parallel()
	s := newTables(t, "  - {schema: m, name: up, columns: [{name: id, type: integer}], keys: [id]}\n")
	s.exec("INSERT INTO m.up VALUES (1), (2)")
	s.exec("CREATE TABLE m.cs9_c (cs9_c integer REFERENCES m.up ON DELETE CASCADE, cs9_p integer, cs9_s integer, tableoid1 integer)")
	s.exec("INSERT INTO m.cs9_c VALUES (1)")
	err := s.onePlan("in", "batched", []string{"m.up"}, "SELECT cs9.drop_rows_where('m.up', 'id = 1')")
	stops(t, err, "rows that the run deletes are referenced")
	require.Equal(t, "A row of m.cs9_c with (cs9_c) = (1) references one of them.", requireState(t, "S9013", err).Detail)
	require.NoError(t, s.onePlan("good", "batched", []string{"m.up"}, "SELECT cs9.drop_rows_where('m.up', 'id = 2')"))
}

// P6: a column that somebody gave a name of cs9gen is refused, with rows staged
// and without.
func TestP6ALiveColumnWithANameOfCs9gen(t *testing.T) {
	t.Parallel()
	s := newTables(t, "  - {schema: m, name: up, columns: [{name: id, type: integer}], keys: [id]}\n")
	s.exec("ALTER TABLE m.up ADD COLUMN cs9_l integer")
	stops(t, s.onePlan("deletes", "batched", []string{"m.up"}, "SELECT cs9.drop_rows_where('m.up', 'id = 1')"), "a column whose name begins with cs9_")
	stops(t, s.onePlan("inserts", "atomic", []string{"m.up"}, "INSERT INTO {t} (id) VALUES (1)"), "a column whose name begins with cs9_")
}

// P6: a value of a domain over char(n) or bit(n) is compared whole.
func TestP6ATypeIsPrintedWithItsLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ domain, one, two string }{
		"char(2)":                 {"char(2)", "AA", "AB"},
		"bit(3)":                  {"bit(3)", "101", "110"},
		"varchar(2)":              {"varchar(2)", "AA", "AB"},
		"bit varying(3)":          {"bit varying(3)", "101", "11"},
		"char(2)[]":               {"char(2)[]", "{AA}", "{AB}"},
		"bit(2)[]":                {"bit(2)[]", "{11}", "{10}"},
		"numeric(4, 2)":           {"numeric(4, 2)", "1.25", "1.50"},
		"a domain over char(2)":   {"m.inner_code", "AA", "AB"},
		"an array of domains":     {"m.inner_code[]", "{AA}", "{AB}"},
		`"char"`:                  {`"char"`, "a", "b"},
		"interval second(2)":      {"interval second(2)", "1.25 s", "1.5 s"},
		"timestamp(1)":            {"timestamp(1)", "2026-01-01 00:00:00.1", "2026-01-01 00:00:00.2"},
		"bpchar without a length": {"bpchar", "AA", "AB"},
		`"bit" without a length`:  {`pg_catalog."bit"`, "11", "10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modes{connect(t, pgtest.NewDatabase(t))}
			s.exec("CREATE SCHEMA m; CREATE DOMAIN m.inner_code AS char(2); CREATE DOMAIN m.code AS " + c.domain)
			pgtest.Install(t, s.url, definition(t, `
  - {schema: m, name: k, columns: [{name: k, type: m.code}, {name: u, type: m.code}, {name: v, type: integer}], keys: [k], unique: {u: [u]}}
  - {schema: m, name: f, columns: [{name: id, type: integer}, {name: k, type: m.code}], keys: [id], foreign_keys: {k: {columns: [k], references: m.k}}}
`))
			for _, mode := range []string{"batched", "atomic"} {
				s.exec("DELETE FROM m.k")
				s.exec("INSERT INTO m.k VALUES ($1, $1, 1), ($2, $2, 2)", c.one, c.two)
				require.NoError(t, s.onePlan("upsert "+mode, mode, []string{"m.k"}, fmt.Sprintf("INSERT INTO {t} (cs9_op, k, u, v) VALUES ('u', '%s', '%[1]s', 10)", c.one)))
				s.exec("CALL cs9.publish('t', 'upsert " + mode + "')")
				require.Equal(t, "10 2", s.rows2(fmt.Sprintf("SELECT string_agg(v::text, ' ' ORDER BY k = '%s') FROM m.k", c.two)), mode)

				stops(t, s.onePlan("unique "+mode, mode, []string{"m.k"}, drop("m.k"),
					fmt.Sprintf("INSERT INTO {t} (k, u, v) VALUES ('%s', '%[1]s', 1), ('%s', '%[1]s', 2)", c.one, c.two)), "two staged rows have one value")
				require.NoError(t, s.onePlan("both "+mode, mode, []string{"m.k"}, drop("m.k"),
					fmt.Sprintf("INSERT INTO {t} (k, u, v) VALUES ('%s', '%[2]s', 1), ('%[2]s', '%[1]s', 2)", c.one, c.two)))
				s.exec("SELECT cs9.discard_run('t', $1)", "both "+mode)

				s.exec("DELETE FROM m.k WHERE v = 2")
				stops(t, s.onePlan("out "+mode, mode, []string{"m.f"}, fmt.Sprintf("INSERT INTO {t} (id, k) VALUES (1, '%s')", c.two)), "breaks the foreign key")
				require.NoError(t, s.onePlan("in "+mode, mode, []string{"m.f"}, fmt.Sprintf("INSERT INTO {t} (id, k) VALUES (1, '%s')", c.one)))
				s.exec("SELECT cs9.discard_run('t', $1)", "in "+mode)
			}
		})
	}
}

func TestATypeIsPrintedByOneRoutine(t *testing.T) {
	for _, b := range bodies(t) {
		if b.name != "type_name" {
			require.NotContains(t, b.sql, "format_type", b.name)
		}
		if b.name != "staged_name" {
			require.NotRegexp(t, `\br%s_|'cs9_r'`, b.sql, "%s: names in cs9_staging are made in one place", b.name)
		}
	}
	s := modes{connect(t, pgtest.NewDatabase(t))}
	for sqlType, printed := range map[string]string{
		"bpchar": "bpchar", "bit": `"bit"`, "_bpchar": "bpchar[]", "_bit": `"bit"[]`, "varbit": "bit varying", `"char"`: `"char"`, "varchar": "character varying",
	} {
		require.Equal(t, printed, s.rows2(fmt.Sprintf("SELECT cs9.type_name('pg_catalog.%s'::regtype, NULL)", sqlType)))
	}
	require.Equal(t, "t", s.rows2(`SELECT ('abc'::bpchar = 'abc' AND '101'::"bit" = '101' AND '{abc}'::bpchar[] = '{abc}' AND '{101}'::"bit"[] = '{101}')::text::"char"::text`))
}

// Names in cs9_staging never meet, whatever the table is called.
func TestTablesWithTheNamesOfStagedThings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"key", "old", "rows", "index1", "part", "r1_t1_key", strings.Repeat("k", 63), strings.Repeat("é", 31)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, fmt.Sprintf(`
  - {schema: m, name: %[1]q, columns: [{name: id, type: integer}, {name: key, type: text}], keys: [id], indexes: {key: [key]}, publish: swap}
  - {schema: n, name: %[1]q, columns: [{name: id, type: integer}, {name: key, type: text}], keys: [id], indexes: {key: [key]}}
`, name))
			for i, mode := range []string{"swap", "atomic", "batched", "swap"} {
				tables := []string{fmt.Sprintf("m.%q", name), fmt.Sprintf("n.%q", name)}
				how := mode
				if mode == "swap" {
					tables = tables[:1]
				}
				require.NoError(t, s.onePlan(fmt.Sprint(i), how, tables, drop(tables[0]), fmt.Sprintf("INSERT INTO {t} VALUES (%d, 'x')", i)))
				s.exec(fmt.Sprintf("CALL cs9.publish('t', '%d')", i))
				require.Equal(t, fmt.Sprintf("(%d,x)", i), s.content(tables[0]))
			}
			s.nothingLeft()
		})
	}
}

// A session in which backslashes escape runs and publishes like any other.
func TestStandardConformingStringsMayBeOff(t *testing.T) {
	t.Parallel()
	for _, b := range bodies(t) {
		_, body, _ := strings.Cut(b.sql, "#variable_conflict error")
		for _, text := range literals(strings.ReplaceAll(body, "E'", "'$E$")) {
			if !strings.HasPrefix(text, "$E$") {
				require.NotContains(t, action.ReplaceAllString(text, ""), `\`, b.name)
			}
		}
	}
	s := newTables(t, `
  - {schema: m, name: 'a\b', columns: [{name: 'i\d', type: integer}, {name: v, type: text}], keys: ['i\d'], checks: {v: "v <> E'\\\\'"}, publish: swap}
`)
	s.exec(`SET standard_conforming_strings = off; SET escape_string_warning = off`)
	for _, mode := range []string{"batched", "atomic", "swap"} {
		require.NoError(t, s.onePlan(mode, mode, []string{`m."a\b"`}, `SELECT cs9.drop_all_rows(E'm."a\\b"')`, `INSERT INTO {t} ("i\d", v) VALUES (1, E'\\d')`))
		s.exec("CALL cs9.publish('t', '" + mode + "')")
		require.Equal(t, `(1,"\\d")`, s.content(`m."a\b"`))
	}
}

// A template is empty, and takes what brings no row.
func TestATemplateTakesNoRowAndEveryStatementWithoutOne(t *testing.T) {
	t.Parallel()
	s := newTables(t, "  - {schema: m, name: t, columns: [{name: id, type: integer}], keys: [id]}\n")
	s.refused("S9007", "INSERT INTO m.t_staging (id, cs9_run, cs9_plan) VALUES (1, 1, 1)")
	for _, sql := range []string{"INSERT INTO m.t_staging (id, cs9_run, cs9_plan) SELECT 1, 1, 1 WHERE false", "TRUNCATE m.t_staging", "DELETE FROM m.t_staging"} {
		s.exec(sql)
	}
	_, err := s.conn.PgConn().CopyFrom(t.Context(), strings.NewReader(""), "COPY m.t_staging FROM STDIN")
	require.NoError(t, err)

	// one that somebody got a row into brings it to no table
	s.exec("SET session_replication_role = replica; INSERT INTO m.t_staging VALUES (9, 1, 1, 'i'); RESET session_replication_role; INSERT INTO m.t VALUES (1), (2)")
	require.NoError(t, s.onePlan("deletes", "atomic", []string{"m.t"}, "SELECT cs9.drop_rows_where('m.t', 'id = 1')"))
	s.exec("CALL cs9.publish('t', 'deletes')")
	require.Equal(t, "(2)", s.content("m.t"))
}
