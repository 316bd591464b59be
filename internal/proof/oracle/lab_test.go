package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // goose's driver
	"github.com/pressly/goose/v3"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// lab is the database of one case, and what was done in it.
type lab struct {
	url      string
	database string
	bin      string    // the folder of the server's programs
	admin    *pgx.Conn // to another database
	script   script
	spoil    func(*lab) error // is called when the tables are under cs9gen
	notices  func(*pgconn.Notice)
	watch    *pgx.Conn // looks at it under fixed settings
}

// session is a connection that a case uses, with its settings. Its statements go into the script.
type session struct {
	conn     *pgx.Conn
	lab      *lab
	name     string
	settings []setting
}

// patience is how long a statement of a case may take before that is a finding.
const patience = 30 * time.Second

func (l *lab) open(name string, settings []setting) (*session, error) {
	cfg, err := pgx.ParseConfig(l.url)
	if err != nil {
		return nil, err
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if l.notices != nil {
			l.notices(n)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, lab: l, name: name, settings: settings}
	for _, x := range settings {
		if _, err := s.raw(x.set()); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", x.set(), err), s.close())
		}
	}
	return s, nil
}

func (s *session) close() error { return s.conn.Close(context.Background()) }

// raw runs statements that the script does not show, and returns the first column of the last result.
func (s *session) raw(sql string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results, err := s.conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		if ctx.Err() != nil {
			return nil, errors.Join(errStuck, err)
		}
		return nil, err
	}
	var out []string
	if len(results) > 0 {
		for _, row := range results[len(results)-1].Rows {
			out = append(out, string(row[0]))
		}
	}
	return out, nil
}

// reader is the session that compares.
func (l *lab) reader() *session { return &session{conn: l.watch, lab: l} }

// errStuck says that a statement did not end.
var errStuck = errors.New("the statement did not end within the patience of the test")

// do runs a statement, and puts it into the script.
func (s *session) do(format string, args ...any) ([]string, error) {
	statement := format
	if len(args) > 0 {
		statement = fmt.Sprintf(format, args...)
	}
	s.lab.script.add(s, statement)
	out, err := s.raw(statement)
	if err != nil {
		s.lab.script.note("%s", oneLine(err.Error()))
	}
	return out, err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// script is what was done, for psql.
type script struct {
	lines []string
	last  *session
}

func (p *script) note(format string, args ...any) {
	p.lines = append(p.lines, "-- "+oneLine(fmt.Sprintf(format, args...)))
}

func (p *script) add(s *session, statement string) {
	if s != p.last {
		p.lines = append(p.lines, "", "-- session: "+s.name, `\c`)
		for _, x := range s.settings {
			p.lines = append(p.lines, x.set()+";")
		}
		p.last = s
	}
	p.lines = append(p.lines, statement+";")
}

// shell adds commands that psql gives the shell.
func (p *script) shell(lines ...string) {
	for _, line := range lines {
		p.lines = append(p.lines, `\! `+line)
	}
	p.last = nil
}

func (p *script) String() string { return strings.Join(p.lines, "\n") + "\n" }

// make makes the world. What PostgreSQL refuses is left out, but for the tables.
func (w *world) make(l *lab) error {
	s, err := l.open("makes the world", nil)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // nothing is lost with it
	must := func(statement string) error {
		l.script.add(s, statement)
		if _, err := s.raw(statement); err != nil {
			return &noWorld{fmt.Errorf("%s: %w", statement, err)}
		}
		return nil
	}
	may := func(statement string) {
		if _, err := s.raw(statement); err == nil {
			l.script.add(s, statement)
		}
	}
	for i, x := range w.settings {
		if err := must(x.ofDatabase(l.database)); err != nil {
			return err
		}
		if i < len(w.settings)-1 {
			continue
		}
		if err := s.close(); err != nil {
			return err
		}
		if s, err = l.open("makes the world", nil); err != nil {
			return err
		}
	}
	for _, name := range w.schemas {
		if err := must("CREATE SCHEMA " + sqlgen.QuoteIdent(name)); err != nil {
			return err
		}
	}
	for _, statement := range w.made {
		if err := must(statement); err != nil {
			return err
		}
	}
	for _, t := range w.tables {
		if t.defined {
			if err := t.define(l, w); err != nil {
				return err
			}
			continue
		}
		for i, statement := range t.create() {
			if i == 0 {
				err = must(statement)
			} else {
				may(statement)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, statement := range w.after {
		may(statement)
	}
	for _, t := range w.tables {
		for _, r := range t.rows {
			may(t.insert(t.live(), []row{r}))
		}
	}
	return nil
}

// noWorld says that PostgreSQL refuses the world: the case says nothing about cs9gen.
type noWorld struct{ error }

// adopt takes the published tables under cs9gen, in those schemas that hold one.
// What is refused is an error of the kind refusedTable.
func (w *world) adopt(l *lab) error {
	var paths []string
	dir, err := os.MkdirTemp("", "cs9gen-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of the test
	commands := []string{"mkdir definitions"}
	for i, schema := range w.schemas {
		var names []string
		for _, t := range w.tables {
			if t.published && !t.defined && t.schema == schema {
				names = append(names, t.name)
			}
		}
		if names == nil {
			continue
		}
		result, err := l.inspect(inspect.Options{Schema: schema, Tables: names})
		if err != nil {
			return err
		}
		if len(result.LeftOut) > 0 {
			return &refusedTable{"inspect", result.LeftOut[0].Text}
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
		if err := os.WriteFile(path, result.File, 0o600); err != nil {
			return err
		}
		paths = append(paths, path)
		command := "cs9gen inspect --schema " + shellQuote(schema) + fmt.Sprintf(" --out definitions/%d.yaml", i)
		for _, name := range names {
			command += " --table " + shellQuote(name)
		}
		commands = append(commands, command)
	}
	if paths == nil {
		return nil
	}
	l.script.shell(append(commands, "cs9gen generate", "cs9gen migrate up")...)
	return l.install(paths)
}

func (l *lab) inspect(options inspect.Options) (*inspect.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return inspect.Inspect(ctx, l.watch, options)
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// refusedTable says that cs9gen takes a table not at all.
type refusedTable struct{ where, text string }

func (r *refusedTable) Error() string { return r.where + ": " + r.text }

// install generates the migrations of definition files, and applies those of the tables.
func (l *lab) install(paths []string) error {
	defs, err := sqlgen.Load(paths...)
	if err != nil {
		return &refusedTable{"generate", err.Error()}
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		return &refusedTable{"generate", err.Error()}
	}
	fsys := fstest.MapFS{}
	for i, f := range files {
		if f.Table != "" {
			fsys[fmt.Sprintf("%05d_t.sql", i+1)] = &fstest.MapFile{Data: []byte(f.SQL)}
		}
	}
	db, err := sql.Open("pgx", l.url)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	provider, err := goose.NewProvider(goose.DialectPostgres, db, fsys, goose.WithDisableVersioning(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(context.Background()); err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "S9") || unknownRoutine.MatchString(refused.Message)) {
			return &refusedTable{"migrate", refused.Message}
		}
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// unknownRoutine is what PostgreSQL says to the migration of a table whose functions count on a search_path, or
// that is split by a domain over an enum. docs/existing-tables.md lists the second.
var unknownRoutine = regexp.MustCompile(`^(function|operator) .* does not exist$`)

// ownNames lets no type of the world stand for one of PostgreSQL's in what the net asks.
const ownNames = "SET search_path = pg_catalog"

// tables returns the user's tables, those of partitions not, as SQL writes them.
func (l *lab) tables() ([]string, error) {
	if _, err := l.reader().raw(ownNames); err != nil {
		return nil, err
	}
	rows, err := l.watch.Query(context.Background(), `
		SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|cs9$|cs9_staging$|information_schema$)' AND c.relname <> 'goose_db_version'
		ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// contents returns the rows of tables, each with the partition it is in, in an order of their own. A
// masked column is left out. It reads by a session, inside whose transaction it is.
func (w *world) contents(s *session, tables []string) (map[string][]string, error) {
	out := map[string][]string{}
	// indexes may need the path of the database only to be planned with
	path := `"$user", public`
	if p := pathOf(w.settings); p != nil {
		path = p.value
	}
	if _, err := s.raw(fixed + "; SET search_path = " + path); err != nil {
		return nil, err
	}
	for _, name := range tables {
		list := "cs9_row.*"
		for _, t := range w.tables {
			// servers quote what is a key word to them
			if strings.ReplaceAll(t.live(), `"`, "") == strings.ReplaceAll(name, `"`, "") && slices.ContainsFunc(t.columns, func(c *column) bool { return c.masked }) {
				list = quotedColumns(slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.masked }))
			}
		}
		rows, err := s.raw(fmt.Sprintf("SELECT (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = cs9_row.tableoid) || ' ' || ROW(%s)::pg_catalog.text FROM %s AS cs9_row", list, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		slices.Sort(rows)
		out[name] = rows
	}
	return out, nil
}

// fixed are the settings under which rows are compared.
const fixed = `SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC'; SET extra_float_digits = 3; SET bytea_output = 'hex'; SET quote_all_identifiers = off; SET standard_conforming_strings = on; SET row_security = on; SET client_encoding = 'UTF8'`

// hanging returns what hangs on the user's tables, a line each.
func (l *lab) hanging() ([]string, error) {
	if _, err := l.reader().raw(ownNames); err != nil {
		return nil, err
	}
	rows, err := l.watch.Query(context.Background(), hangingSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

const hangingSQL = `
WITH r AS (
    SELECT c.* FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname !~ '^(pg_|cs9$|cs9_staging$|information_schema$)' AND c.relname <> 'goose_db_version'
)
SELECT format('%s %s: owner %s, tablespace %s, method %s, options %s, identity %s, security %s, acl %s, partition %s, persistence %s, comment %s', r.relkind, r.oid::regclass, r.relowner::regrole, r.reltablespace, r.relam, r.reloptions, r.relreplident,
              r.relrowsecurity, r.relacl, pg_get_expr(r.relpartbound, r.oid), r.relpersistence, obj_description(r.oid, 'pg_class')) AS line FROM r
UNION ALL
SELECT format('column %s.%I: %s, not null %s, default %s, storage %s, compression %s, statistics %s, acl %s', r.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attstorage, a.attcompression,
              nullif(a.attstattarget, -1), a.attacl)
FROM r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_attrdef AS d ON d.adrelid = r.oid AND d.adnum = a.attnum WHERE r.relkind IN ('r', 'p')
UNION ALL
SELECT format('index %s valid %s, clustered %s, identity %s, parent %s', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisclustered, i.indisreplident, (SELECT h.inhparent::regclass FROM pg_inherits AS h WHERE h.inhrelid = i.indexrelid))
FROM r JOIN pg_index AS i ON i.indrelid = r.oid
UNION ALL
SELECT format('constraint %I of %s: %s, validated %s, local %s, parent %s', k.conname, r.oid::regclass, pg_get_constraintdef(k.oid), k.convalidated, k.conislocal, k.conparentid <> 0) FROM r JOIN pg_constraint AS k ON k.conrelid = r.oid
UNION ALL
SELECT format('trigger on %s: %s, enabled %s', r.oid::regclass, pg_get_triggerdef(g.oid), g.tgenabled) FROM r JOIN pg_trigger AS g ON g.tgrelid = r.oid WHERE NOT g.tgisinternal
UNION ALL
SELECT format('publication %I: %s', p.pubname, x.prrelid::regclass) FROM pg_publication AS p JOIN pg_publication_rel AS x ON x.prpubid = p.oid
UNION ALL
SELECT format('statistics %s', pg_get_statisticsobjdef(s.oid)) FROM pg_statistic_ext AS s
ORDER BY 1`

// define makes a table by cs9gen from a definition.
func (t *table) define(l *lab, w *world) error {
	var schemas []string
	if pathOf(w.settings) != nil { // the functions of the world count on it
		schemas = w.schemas
	}
	text, err := t.definition(schemas)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cs9gen-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of the test
	path := filepath.Join(dir, "t.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	l.script.shell("mkdir definitions; printf %s " + shellQuote(string(text)) + " > definitions/defined.yaml; cs9gen generate; cs9gen migrate up")
	return l.install([]string{path})
}
