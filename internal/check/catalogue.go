// Package check compares a database with what the migrations of a folder make
// of an empty one. What the migrations should be is decided by package sqlgen.
package check

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrMayNotRead says that the role may not read what is compared.
var ErrMayNotRead = errors.New("the role may not read what is installed")

//go:embed catalogue.sql
var catalogueSQL string

// scope says which objects are looked at, by their qualified names, besides
// those of schema cs9.
type scope struct {
	relations, routines, schemas []string
}

// object is one thing that is installed.
type object struct {
	name    string            // with its kind: column anon.counts.n
	belongs string            // the object without which it cannot be; ""
	copyOf  string            // what it is a copy of, for what a partition has of its table; ""
	summary string            // what it is
	owner   string            // the role that owns it, or what it is part of
	facts   map[string]string // all in which it can differ, by aspect
}

// catalogue is what is installed, by name.
type catalogue map[string]object

// readScope returns what a database has registered.
func readScope(ctx context.Context, tx pgx.Tx) (scope, error) {
	var s scope
	registered, err := exists(ctx, tx, "cs9.table_definition")
	if err != nil || !registered {
		return s, err
	}
	err = tx.QueryRow(ctx, `
		WITH named AS (
			SELECT d.schema_name, format('%I.%I', d.schema_name, r.name) AS label
			FROM cs9.table_definition AS d CROSS JOIN LATERAL (VALUES (d.table_name), (d.staging_name)) AS r (name)
		),
		relation AS (
			SELECT label FROM named
			UNION
			SELECT format('%I.%I', n.nspname, c.relname)
			FROM named
			CROSS JOIN LATERAL pg_partition_tree(to_regclass(named.label)) AS t
			JOIN pg_class AS c ON c.oid = t.relid
			JOIN pg_namespace AS n ON n.oid = c.relnamespace
		)
		SELECT (SELECT coalesce(array_agg(label), '{}') FROM relation), (SELECT coalesce(array_agg(DISTINCT schema_name::text), '{}') FROM named), (
			SELECT coalesce(array_agg(format('%I.%I', d.schema_name, r.name)), '{}')
			FROM cs9.table_definition AS d
			CROSS JOIN LATERAL (VALUES (d.delete_function), (d.move_function), (d.apply_function), (d.publish_procedure)) AS r (name))`,
	).Scan(&s.relations, &s.schemas, &s.routines)
	if err != nil {
		return s, fmt.Errorf("check: read what is registered: %w", err)
	}
	return s, nil
}

// readCatalogue returns what is installed.
func readCatalogue(ctx context.Context, tx pgx.Tx, s scope) (catalogue, error) {
	// with an empty search_path PostgreSQL writes every name in full
	if _, err := tx.Exec(ctx, "SELECT set_config('search_path', '', true)"); err != nil {
		return nil, fmt.Errorf("check: set search_path: %w", err)
	}
	rows, err := tx.Query(ctx, catalogueSQL, orEmpty(s.relations), orEmpty(s.routines), orEmpty(s.schemas))
	if err != nil {
		return nil, fmt.Errorf("check: read the catalogue: %w", err)
	}
	c := catalogue{}
	var o object
	_, err = pgx.ForEachRow(rows, []any{&o.name, &o.belongs, &o.copyOf, &o.summary, &o.owner, &o.facts}, func() error {
		c[o.name] = o
		o.facts = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("check: read the catalogue: %w", err)
	}
	return c, c.addRegistered(ctx, tx)
}

// addRegistered adds what cs9gen itself has written down about tables.
func (c catalogue) addRegistered(ctx context.Context, tx pgx.Tx) error {
	for table, query := range map[string]string{
		"cs9.table_definition": `
			SELECT format('registration of %I.%I', d.schema_name, d.table_name), (SELECT jsonb_object_agg(f.key, f.value) FROM jsonb_each_text(jsonb_strip_nulls(to_jsonb(d) - 'table_id')) AS f)
			FROM cs9.table_definition AS d`,
		"cs9.schema_version": `SELECT 'version of the cs9 schema', jsonb_build_object('number', v.version::text) FROM cs9.schema_version AS v`,
	} {
		there, err := exists(ctx, tx, table)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return fmt.Errorf("check: read %s: %w", table, err)
		}
		o := object{belongs: "table " + table, summary: "a row of " + table}
		if _, err = pgx.ForEachRow(rows, []any{&o.name, &o.facts}, func() error {
			c[o.name] = o
			o.facts = nil
			return nil
		}); err != nil {
			return fmt.Errorf("check: read %s: %w", table, err)
		}
	}
	return nil
}

func exists(ctx context.Context, tx pgx.Tx, relation string) (bool, error) {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", relation).Scan(&there); err != nil {
		return false, fmt.Errorf("check: look for %s: %w", relation, err)
	}
	return there, nil
}

func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// readOnly calls do in a transaction that sees one state of the database and
// cannot change it.
func readOnly(ctx context.Context, cfg *pgx.ConnConfig, do func(pgx.Tx) error) error {
	cfg = cfg.Copy()
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // each query is asked once; a pool in between need not keep it
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, pinned); err != nil {
			return fmt.Errorf("set up the session: %w", err)
		}
		return do(tx)
	})
	switch {
	case hasCode(err, "42501"):
		return fmt.Errorf("%w: %w", ErrMayNotRead, err)
	case err != nil:
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// pinned are the settings by which PostgreSQL prints what it has, the same on both
// sides, and no limit on how long that takes. They end with the transaction.
const pinned = `
	SELECT set_config(s.name, s.value, true)
	FROM (VALUES ('TimeZone', 'UTC'), ('DateStyle', 'ISO, MDY'), ('IntervalStyle', 'postgres'), ('quote_all_identifiers', 'off'),
		('extra_float_digits', '1'), ('bytea_output', 'hex'), ('lc_monetary', 'C'), ('standard_conforming_strings', 'on'),
		('statement_timeout', '0'), ('idle_in_transaction_session_timeout', '0')) AS s (name, value)`

// hasCode reports whether an error came from the server with one of the SQLSTATEs.
func hasCode(err error, codes ...string) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return false
	}
	for _, code := range codes {
		if pgErr.Code == code {
			return true
		}
	}
	return false
}
