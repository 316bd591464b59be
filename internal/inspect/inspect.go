// Package inspect reads the tables of a database into definitions.
//
// It decides what of a table a definition can say and by which names, and which
// tables cannot be taken at all. It changes nothing, and leaves to package sqlgen
// what a definition is: what it returns has been read by [sqlgen.Load] without a
// problem.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// Options say what is inspected.
type Options struct {
	// Schema is the name of a schema, as it is.
	Schema string
	// Tables are names of tables of the schema, as they are. Defaults to all.
	Tables []string
}

// Result is what was found.
type Result struct {
	Tables  []sqlgen.Table // each after those that it references, else by name
	LeftOut []Remark       // tables that cannot be taken
	Notes   []Remark       // what the definitions do not say
	File    []byte         // the definition file; nil when there is no table
}

// Remark is one line about a table.
type Remark struct {
	Table string `json:"table"` // schema.table, quoted
	Text  string `json:"text"`
}

// ErrUnknown says that a schema or a table is not there.
var ErrUnknown = errors.New("not found")

// ErrReserved says that a schema is not one of users.
var ErrReserved = errors.New("the schema holds no tables of yours")

// settings make what PostgreSQL writes the same whatever the session's own are.
// All names but those of PostgreSQL are qualified, and times are of UTC.
const settings = `
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL datestyle = 'ISO, YMD';
SET LOCAL intervalstyle = 'postgres';
SET LOCAL timezone = 'UTC';
SET LOCAL bytea_output = 'hex';
SET LOCAL quote_all_identifiers = off;
SET LOCAL standard_conforming_strings = on`

// Inspect reads tables as one snapshot of the database has them. It needs no
// privilege but to read cs9.table_definition, where that is.
func Inspect(ctx context.Context, conn *pgx.Conn, options Options) (*Result, error) {
	if s := options.Schema; s == "cs9" || s == "cs9_staging" || strings.HasPrefix(s, "pg_") || s == "information_schema" {
		return nil, fmt.Errorf("%w: %s", ErrReserved, sqlgen.QuoteIdent(s))
	}
	var c *catalogue
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var path []string
		if err := tx.QueryRow(ctx, settingSQL).Scan(&path); err != nil {
			return fmt.Errorf("read the search_path: %w", err)
		}
		if _, err := tx.Exec(ctx, settings); err != nil {
			return fmt.Errorf("prepare the session: %w", err)
		}
		var there bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", options.Schema).Scan(&there); err != nil {
			return fmt.Errorf("look for the schema: %w", err)
		}
		if !there {
			return fmt.Errorf("%w: there is no schema %s", ErrUnknown, sqlgen.QuoteIdent(options.Schema))
		}
		var err error
		c, err = readCatalogue(ctx, tx, options.Schema, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	relations, notes, err := choose(c, options)
	if err != nil {
		return nil, err
	}
	result := &Result{Notes: notes}
	for _, r := range relations {
		b := &builder{c: c, schema: options.Schema, rel: r}
		b.build()
		result.take(b)
	}
	result.order()
	return result, result.write(options.Schema)
}

// choose returns the relations to inspect. What is no table is left out without
// a word where no name asks for it, and noted where a person could miss it.
func choose(c *catalogue, options Options) ([]relation, []Remark, error) {
	var out []relation
	var notes []Remark
	for _, r := range c.relations {
		label := sqlgen.Qualified(options.Schema, r.Name)
		b := builder{c: c, schema: options.Schema, rel: r}
		switch {
		case len(options.Tables) > 0:
			if slices.Contains(options.Tables, r.Name) {
				out = append(out, r)
			}
		case r.Kind == "v" || r.Kind == "m" || r.Extension != "":
			notes = append(notes, Remark{label, b.notATable()})
		case r.Kind == "f" || b.notATable() == "":
			out = append(out, r)
		}
	}
	for _, name := range options.Tables {
		if !slices.ContainsFunc(out, func(r relation) bool { return r.Name == name }) {
			return nil, nil, fmt.Errorf("%w: there is no table %s", ErrUnknown, sqlgen.Qualified(options.Schema, name))
		}
	}
	return out, notes, nil
}

// take adds one table, or why it cannot be taken.
func (r *Result) take(b *builder) {
	label := sqlgen.Qualified(b.schema, b.rel.Name)
	for _, reason := range b.reasons {
		r.LeftOut = append(r.LeftOut, Remark{label, reason})
	}
	if len(b.reasons) > 0 {
		return
	}
	for _, note := range b.notes {
		r.Notes = append(r.Notes, Remark{label, note})
	}
	r.Tables = append(r.Tables, b.t)
}

// order puts each table after those that it references, and else by name. In a
// circle one table has to come before one that it references.
func (r *Result) order() {
	var out []sqlgen.Table
	done := map[string]bool{}
	var place func(t sqlgen.Table)
	place = func(t sqlgen.Table) {
		if done[t.Name] {
			return
		}
		done[t.Name] = true
		for _, key := range t.ForeignKeys {
			i := slices.IndexFunc(r.Tables, func(to sqlgen.Table) bool { return sqlgen.JoinName("", to.Name) == key.Value.References })
			if i >= 0 {
				place(r.Tables[i])
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(r.Tables, func(a, b sqlgen.Table) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range r.Tables {
		place(t)
	}
	r.Tables = out
}

var tableOfProblem = regexp.MustCompile(`^tables\[([0-9]+)\]`)

// write makes the definition file, and leaves out what cannot be loaded.
func (r *Result) write(schema string) error {
	for len(r.Tables) > 0 {
		r.File = writeFile(fmt.Sprintf("Read from the schema %s by cs9gen inspect.", sqlgen.QuoteIdent(schema)), r.Tables)
		problems, err := load(r.File)
		if err != nil || len(problems) == 0 {
			return err
		}
		bad := map[int]bool{}
		for _, p := range problems {
			match := tableOfProblem.FindStringSubmatch(p.Path)
			if match == nil {
				return fmt.Errorf("the definitions that were written cannot be read: %s", p.Message)
			}
			i, err := strconv.Atoi(match[1])
			if err != nil || i >= len(r.Tables) {
				return fmt.Errorf("the definitions that were written cannot be read: %s", p)
			}
			bad[i] = true
			where := strings.TrimPrefix(strings.TrimPrefix(p.Path, match[0]), ".")
			text := p.Message
			if where != "" {
				text = where + ": " + text
			}
			r.LeftOut = append(r.LeftOut, Remark{sqlgen.Qualified(schema, r.Tables[i].Name), text})
		}
		r.drop(schema, bad)
	}
	r.File = nil
	return nil
}

// drop takes tables out, and the notes about them.
func (r *Result) drop(schema string, bad map[int]bool) {
	var keep []sqlgen.Table
	for i, t := range r.Tables {
		if !bad[i] {
			keep = append(keep, t)
			continue
		}
		label := sqlgen.Qualified(schema, t.Name)
		r.Notes = slices.DeleteFunc(r.Notes, func(n Remark) bool { return n.Table == label })
	}
	r.Tables = keep
}

// load reads a definition file as [sqlgen.Load] does.
func load(text []byte) ([]sqlgen.Problem, error) {
	dir, err := os.MkdirTemp("", "cs9gen-inspect-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	path := filepath.Join(dir, "tables.yaml")
	err = os.WriteFile(path, text, 0o600)
	if err == nil {
		_, err = sqlgen.Load(path)
	}
	var problems *sqlgen.Problems
	if errors.As(err, &problems) {
		return problems.List, os.RemoveAll(dir)
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}
