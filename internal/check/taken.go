package check

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// taken returns the routines of the database that have the name and the arguments
// of one that a migration of a table will make which is not registered yet: it
// would fail.
func taken(ctx context.Context, tx pgx.Tx, tables []sqlgen.Table) ([]sqlgen.Difference, error) {
	var schemas, names, routines, arguments []string
	for i := range tables {
		for _, r := range sqlgen.RoutinesOf(&tables[i]) {
			schemas, names = append(schemas, tables[i].Schema), append(names, tables[i].Name)
			routines, arguments = append(routines, r.Name), append(arguments, r.Arguments)
		}
	}
	known := "false"
	if there, err := exists(ctx, tx, "cs9.table_definition"); err != nil {
		return nil, err
	} else if there {
		known = "EXISTS (SELECT FROM cs9.table_definition AS d WHERE d.schema_name = w.schema_name AND d.table_name = w.table_name)"
	}
	rows, err := tx.Query(ctx, `
		SELECT format('routine %I.%I(%s)', w.schema_name, w.routine, w.arguments),
		       format('a free name: the migration of %I.%I makes a routine of it', w.schema_name, w.table_name), 'one that is somebody''s: rename it'
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS w (schema_name, table_name, routine, arguments)
		JOIN pg_namespace AS n ON n.nspname = w.schema_name
		JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = w.routine AND oidvectortypes(p.proargtypes) = w.arguments
		WHERE NOT `+known+`
		ORDER BY 1`, schemas, names, routines, arguments)
	if err != nil {
		return nil, fmt.Errorf("check: look for names that are taken: %w", err)
	}
	var out []sqlgen.Difference
	var d sqlgen.Difference
	_, err = pgx.ForEachRow(rows, []any{&d.Object, &d.Expected, &d.Found}, func() error {
		out = append(out, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("check: look for names that are taken: %w", err)
	}
	return out, nil
}
