package matrix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/cli"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// oddNames are names that are hard somewhere between a definition file and a
// published row: for YAML, SQL, format(), goose, COPY, arrays, or their length.
var oddNames = []string{
	`"a"."b"`, " blanks ", `"`, "it's", "UPPER Case", "select", "null", "Ünï日本😀 e\u0301", "%s%I%L%1$s 100%", `back\slash\n`,
	"$1$x$$", "$insert$ ${HOME}", "a;b--c/*", "{}[]:#&*!|>,(0)", "a??b ?", "--help",
	strings.Repeat("n", 63), strings.Repeat("é", 31) + "x", strings.Repeat("日", 21),
}

// other returns name with a suffix, cut so that 63 bytes hold it.
func other(name, suffix string) string {
	for len(name)+len(suffix) > 63 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + suffix
}

// oddTable is a table that is called by an odd name in every place.
type oddTable struct {
	name                    string
	text, number, value, id string // its columns
	reader, runner, publish string // its roles
}

func newOddTable(name string) oddTable {
	return oddTable{
		name: name, text: name, number: other(name, "#n"), value: other(name, "#v"), id: other(name, "#i"),
		reader: other(name, "#r"), runner: other(name, "#w"), publish: other(name, "#p"),
	}
}

func (o oddTable) live() string { return sqlgen.Qualified(o.name, o.name) }

func (o oddTable) definition() string {
	check := fmt.Sprintf("%s >= 0 AND %s <> %s", sqlgen.QuoteIdent(o.number), sqlgen.QuoteIdent(o.text), sqlgen.QuoteLiteral(other(o.name, "#never")))
	q := strconv.Quote
	return fmt.Sprintf(`  - schema: %[1]s
    name: %[1]s
    comment: %[1]s
    columns:
      - {name: %[1]s, type: TEXT, comment: %[1]s}
      - {name: %[2]s, type: INTEGER}
      - {name: %[3]s, type: "numeric(10,2)", default: "1.5"}
      - {name: %[4]s, type: bigint, identity: always}
    keys: [%[1]s, %[2]s]
    indexes: {%[1]s: [%[3]s, %[1]s]}
    unique: {%[1]s: [%[3]s, %[1]s]}
    checks: {%[1]s: %[5]s}
    partitions: {column: %[1]s, values: [%[1]s, rest]}
    roles: {reader: %[6]s, runner: %[7]s, publisher: %[8]s}
`, q(o.name), q(o.number), q(o.value), q(o.id), q(check), q(o.reader), q(o.runner), q(o.publish))
}

// twins are two tables of one schema whose names, and whose objects' names, share
// their first 62 bytes.
func twins() (names []string, definitions []string) {
	prefix := strings.Repeat("t", 62)
	for _, last := range []string{"a", "b"} {
		name := prefix + last
		names = append(names, name)
		definitions = append(definitions, fmt.Sprintf(`  - schema: twins
    name: %s
    columns: [{name: id, type: INTEGER, identity: by default}, {name: part, type: TEXT}, {name: v, type: INTEGER}]
    keys: [id, part]
    indexes: {by_v: [v], by_v_%[2]s: [v, id], by_v_%[2]s2: [v, part]}
    unique: {v: [v, part], v_%[2]s: [part, v]}
    checks: {positive: v > 0, positive_%[2]s: v > -1}
    partitions: {column: part, values: [%[2]sx, %[2]sy]}
`, name, prefix))
	}
	return names, definitions
}

// nameLab is a database with all odd tables, migrated by the command line.
type nameLab struct {
	*testing.T
	url, definitions, dir string
	conn                  *pgx.Conn
	tables                []oddTable
}

func newNameLab(t *testing.T) *nameLab {
	t.Helper()
	l := &nameLab{T: t, url: pgtest.EmptyDatabase(t), dir: filepath.Join(t.TempDir(), "migrations")}
	l.conn = pgtest.Connect(t, l.url)
	var definitions []string
	for _, name := range oddNames {
		o := newOddTable(name)
		l.tables = append(l.tables, o)
		definitions = append(definitions, o.definition())
	}
	_, pair := twins()
	l.definitions = writeDefinition(t, append(definitions, pair...)...)
	return l
}

// command runs the command line and returns what it printed.
func (l *nameLab) command(args ...string) string {
	l.Helper()
	var out, errors bytes.Buffer
	env := func(name string) string { return map[string]string{"DATABASE_URL": l.url}[name] }
	if code := cli.Run(l.Context(), args, strings.NewReader(""), &out, &errors, env); code != 0 {
		l.Fatalf("cs9gen %q: exit code %d\n%s%s", args, code, out.String(), errors.String())
	}
	return out.String()
}

func (l *nameLab) generate() string {
	l.Helper()
	return l.command("generate", "--definitions", l.definitions, "--migrations", l.dir)
}

// reset gives an odd table the same old rows.
func (l *nameLab) reset(o oddTable) {
	l.Helper()
	execAll(l.T, l.conn, "TRUNCATE "+o.live(), fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (%[5]s, 1, 1), (%[5]s, 2, 2), ('rest', 1, 3), ('rest', 2, 4)",
		o.live(), sqlgen.QuoteIdent(o.text), sqlgen.QuoteIdent(o.number), sqlgen.QuoteIdent(o.value), sqlgen.QuoteLiteral(o.name)))
}

// rows is the table as text, but for the identity.
func (l *nameLab) rows(conn *pgx.Conn, o oddTable) string {
	l.Helper()
	return pgtest.Scalar[string](l.T, conn, fmt.Sprintf(`SELECT coalesce(string_agg(ROW(t.%[1]s, t.%[2]s, t.%[3]s)::text, E'\n' ORDER BY t.%[1]s COLLATE "C", t.%[2]s), '') FROM %[4]s AS t`,
		sqlgen.QuoteIdent(o.text), sqlgen.QuoteIdent(o.number), sqlgen.QuoteIdent(o.value), o.live()))
}

// plain does the run's work in plain SQL, and undoes it.
func (l *nameLab) plain(o oddTable, mode string) string {
	l.Helper()
	text, number, v, name := sqlgen.QuoteIdent(o.text), sqlgen.QuoteIdent(o.number), sqlgen.QuoteIdent(o.value), sqlgen.QuoteLiteral(o.name)
	deletes := fmt.Sprintf("DELETE FROM %s WHERE %s = 'rest' AND %s = 1; DELETE FROM %[1]s WHERE %[2]s = %[4]s AND %[3]s > 1", o.live(), text, number, name)
	if mode == "swap" {
		deletes = "TRUNCATE " + o.live()
	}
	execAll(l.T, l.conn, "BEGIN", deletes,
		fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (%[5]s, 10, 10.25), ('rest', 10, 10)", o.live(), text, number, v, name),
		fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (%[5]s, 1, 7), (%[5]s, 11, NULL) ON CONFLICT (%[2]s, %[3]s) DO UPDATE SET %[4]s = EXCLUDED.%[4]s", o.live(), text, number, v, name))
	want := l.rows(l.conn, o)
	execAll(l.T, l.conn, "ROLLBACK")
	return want
}

// steps are the plans of a run over odd tables, each called by its own name.
func steps(tables []oddTable, mode string) []step {
	each := func(do func(ctx context.Context, o oddTable, t *runner.Table) error) step {
		return func(ctx context.Context, handles runner.Handles) error {
			for _, o := range tables {
				if err := do(ctx, o, handles[o.name]); err != nil {
					return fmt.Errorf("%q: %w", o.name, err)
				}
			}
			return nil
		}
	}
	return []step{
		each(func(ctx context.Context, o oddTable, t *runner.Table) error {
			if mode == "swap" {
				return t.DropAllRows(ctx)
			}
			return errors.Join(
				t.DropRowsWhere(ctx, map[string]any{o.text: "rest", o.number: 1}),
				t.DropRowsWhere(ctx, sq.And{sq.Eq{o.text: o.name}, sq.Gt{o.number: 1}}))
		}),
		each(func(ctx context.Context, o oddTable, t *runner.Table) error {
			return t.Insert(ctx, runner.Rows([]map[string]any{{o.text: o.name, o.number: 10, o.value: 10.25}, {o.text: "rest", o.number: 10, o.value: 10}}))
		}),
		each(func(ctx context.Context, o oddTable, t *runner.Table) error {
			return t.Upsert(ctx, runner.Values([]string{o.text, o.number, o.value}, [][]any{{o.name, 1, 7}, {o.name, 11, nil}}))
		}),
	}
}

// TestNamesEqualPlainSQL takes tables with odd names from a definition file to
// published rows, and back to an empty database.
func TestNamesEqualPlainSQL(t *testing.T) {
	t.Parallel()
	l := newNameLab(t)
	empty := l.relations()
	l.generate()
	l.command("migrate", "up", "--migrations", l.dir)
	if said := l.generate(); !strings.HasSuffix(said, "nothing changes\n") {
		t.Errorf("generate a second time: %s", said)
	}
	t.Run("each in each mode", l.eachMode)
	t.Run("each by its own roles", l.ownRoles)
	t.Run("names with one prefix", l.onePrefix)
	l.command("migrate", "down", "--migrations", l.dir, "--to", "0")
	if left := l.relations(); left != empty {
		t.Errorf("migrate down left %s", left)
	}
	l.command("migrate", "up", "--migrations", l.dir)
}

// relations lists what is not PostgreSQL's or goose's.
func (l *nameLab) relations() string {
	l.Helper()
	return pgtest.Scalar[string](l.T, l.conn, `
		SELECT coalesce(string_agg(x, ', ' ORDER BY x), '') FROM (
			SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.oid >= 16384
			UNION ALL SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.oid >= 16384
		) AS o (x) WHERE x !~ 'pg_toast|goose_db_version'`)
}

func (l *nameLab) eachMode(t *testing.T) {
	inner := *l
	inner.T = t
	r := newRunner(t, l.url)
	tables := runner.Tables{}
	for _, o := range l.tables {
		tables[o.name] = o.live()
	}
	for _, mode := range modes {
		if mode == "batched" {
			continue // ownRoles is
		}
		want := map[string]string{}
		for _, o := range l.tables {
			inner.reset(o)
			want[o.name] = inner.plain(o, mode)
		}
		if _, err := task("all", tables, steps(l.tables, mode)...).Run(t.Context(), r, options(mode, mode)...); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		for _, o := range l.tables {
			if got := inner.rows(l.conn, o); got != want[o.name] {
				t.Errorf("%s, %q:\n%s\nwant\n%s", mode, o.name, got, want[o.name])
			}
		}
	}
}

// login makes a login that is a member of roles, and returns its URL.
func (l *nameLab) login(name string, roles []string) string {
	l.Helper()
	name = other(name, pgtest.Scalar[string](l.T, l.conn, "SELECT current_database()")) // logins are the server's
	quoted := make([]string, len(roles))
	for i, role := range roles {
		quoted[i] = sqlgen.QuoteIdent(role)
	}
	execAll(l.T, l.conn, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'secret' IN ROLE %s", sqlgen.QuoteIdent(name), strings.Join(quoted, ", ")))
	u, err := url.Parse(l.url)
	if err != nil {
		l.Fatal(err)
	}
	u.User = url.UserPassword(name, "secret")
	return u.String()
}

// ownRoles stages each table in a run of the same name and key as a login with the
// runner role, publishes it as a publisher by one of three ways, and reads it as a
// reader.
func (l *nameLab) ownRoles(t *testing.T) {
	inner := *l
	inner.T = t
	var readers, runners, publishers []string
	for _, o := range l.tables {
		readers, runners, publishers = append(readers, o.reader), append(runners, o.runner), append(publishers, o.publish)
	}
	stager := newRunner(t, inner.login(`Run"ner é`, runners))
	publisherURL := inner.login("pub'lisher %", publishers)
	publisher, session := newRunner(t, publisherURL), pgtest.Connect(t, publisherURL)
	reader := pgtest.Connect(t, inner.login(`r.e\ader`, readers))
	for i, o := range l.tables {
		inner.reset(o)
		want := inner.plain(o, "batched")
		result, err := task(o.name, runner.Tables{o.name: o.live()}, steps([]oddTable{o}, "batched")...).Run(t.Context(), stager, runner.RunKey(o.name))
		if err != nil || result.Outcome != runner.Ready {
			t.Fatalf("%q: a runner that may not publish: %v, %v", o.name, result, err)
		}
		switch i % 3 {
		case 0:
			_, err = publisher.Publish(t.Context(), o.name, o.name)
		case 1:
			procedure := pgtest.Scalar[string](t, l.conn, "SELECT proname FROM pg_proc WHERE prokind = 'p' AND pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)", o.name)
			_, err = session.Exec(t.Context(), fmt.Sprintf("CALL %s($1, $2)", sqlgen.Qualified(o.name, procedure)), pgx.QueryExecModeSimpleProtocol, o.name, o.name)
		default:
			inner.command("publish", "--", o.name, o.name)
			err = nil
			inner.command("show", "--json", "--", o.name, o.name)
		}
		if err != nil {
			t.Errorf("%q: publish: %v", o.name, err)
			continue
		}
		if got := inner.rows(reader, o); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", o.name, got, want)
		}
		if state := pgtest.Scalar[string](t, l.conn, "SELECT state FROM cs9.run_status WHERE task = $1 AND run_key = $1", o.name); state != "published" {
			t.Errorf("%q: the run is %s", o.name, state)
		}
	}
}

func (l *nameLab) onePrefix(t *testing.T) {
	names, _ := twins()
	tables := runner.Tables{"a": "twins." + names[0], "b": "twins." + names[1]}
	part := strings.Repeat("t", 62)
	r := newRunner(t, l.url)
	for i, mode := range modes {
		write := func(ctx context.Context, handles runner.Handles) error {
			for alias, table := range handles {
				rows := [][]any{{1, part + "x", i + 1}, {2, part + "y", i + 2 + len(alias)}}
				if err := table.DropAllRowsAndThenInsert(ctx, runner.Values([]string{"id", "part", "v"}, rows)); err != nil {
					return err
				}
			}
			return nil
		}
		if _, err := task("twins", tables, write).Run(t.Context(), r, options(mode, mode)...); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		for _, name := range names {
			if got, want := pgtest.Scalar[string](t, l.conn, "SELECT string_agg(id || ' ' || right(part, 1) || ' ' || v, ', ' ORDER BY id) FROM twins."+name),
				fmt.Sprintf("1 x %d, 2 y %d", i+1, i+3); got != want {
				t.Errorf("%s, %s: %s, want %s", mode, name, got, want)
			}
		}
	}
	// each table has all of its own: as many indexes, constraints and partitions as defined
	for _, name := range names {
		if got := pgtest.Scalar[string](t, l.conn, `
			SELECT concat_ws(' ', (SELECT count(*) FROM pg_index WHERE indrelid = $1::regclass), (SELECT count(*) FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'c')),
				(SELECT count(*) FROM pg_inherits WHERE inhparent = $1::regclass))`, "twins."+name); got != "6 5 2" {
			t.Errorf("%s has indexes, constraints, partitions: %s", name, got)
		}
	}
}

// TestNameThatGooseWouldRead: a line of a migration names its table in a comment.
func TestNameThatGooseWouldRead(t *testing.T) {
	_, err := sqlgen.Load(writeDefinition(t, "  - {schema: demo, name: \"x -- +goose Down\", keys: [id], columns: [{name: id, type: INTEGER}]}\n"))
	if err == nil || !strings.Contains(err.Error(), "+goose") {
		t.Errorf("got the error %v", err)
	}
}

// TestRunNamesAreKeptAsTheyAre runs one table by tasks and keys that could be
// mistaken for each other.
func TestRunNamesAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t, writeDefinition(t, "  - {schema: demo, name: kept, keys: [id], columns: [{name: id, type: INTEGER}, {name: v, type: TEXT}]}\n"))
	conn, r := pgtest.Connect(t, url), newRunner(t, url)
	names := []string{"a", "A", "a ", "a\tb", "é", "e\u0301", strings.Repeat("k", 1000)}
	for i, name := range names {
		write := func(ctx context.Context, handles runner.Handles) error {
			return handles["t"].DropAllRowsAndThenInsert(ctx, runner.Values([]string{"id", "v"}, [][]any{{i, name}}))
		}
		// one key for all tasks, and one task for all keys
		for _, id := range [][2]string{{name, "key"}, {"task", name}} {
			if _, err := task(id[0], runner.Tables{"t": "demo.kept"}, write).Run(t.Context(), r, runner.RunKey(id[1])); err != nil {
				t.Fatalf("task %q, run key %q: %v", id[0], id[1], err)
			}
			if got := pgtest.Scalar[string](t, conn, "SELECT string_agg(id || v, '') FROM demo.kept"); got != strconv.Itoa(i)+name {
				t.Errorf("task %q, run key %q: %q", id[0], id[1], got)
			}
		}
	}
	if got := pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM cs9.run_status WHERE state = 'published'"); got != 2*len(names) {
		t.Errorf("%d runs of %d", got, 2*len(names))
	}
	for _, name := range []string{"", " ", "\t", "\u00a0", strings.Repeat("k", 1001), "a\x00b", "\xff"} {
		noop := func(context.Context, runner.Handles) error { return nil }
		if _, err := task("task", runner.Tables{"t": "demo.kept"}, noop).Run(t.Context(), r, runner.RunKey(name)); err == nil {
			t.Errorf("the run key %.20q was accepted", name)
		}
	}
}
