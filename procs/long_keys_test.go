package procs_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// P6: a key that is too long for an index entry is refused with a code of cs9gen's own.
func TestP6AKeyThatDoesNotFitIntoAnIndexIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ keys, column, mode string }{
		{"a", "TEXT", "batched"},
		{"n, a", "bytea", "atomic"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, fmt.Sprintf("  - {schema: m, name: t, columns: [{name: n, type: INTEGER, not_null: true}, {name: a, type: %s}], keys: [%s]}", c.column, c.keys))
			err := s.onePlan("k", c.mode, []string{"m.t"}, "INSERT INTO {t} (n, a) SELECT 1, string_agg(md5(i::text)::"+c.column+", '') FROM generate_series(1, 400) AS g (i)")
			var refused *pgconn.PgError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "S9013", refused.Code)
			require.Contains(t, refused.Message, "the key of a staged row does not fit into an index")
		})
	}
}

// P6: a NULL takes no room on a page, in a column whose values cannot be moved out of the row either.
func TestP6ANullFitsOnAPage(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"tsquery", "int4range[]"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			s := newTables(t, fmt.Sprintf("  - {schema: m, name: t, columns: [{name: n, type: INTEGER, not_null: true}, {name: a, type: %q}], keys: [n]}", column))
			s.exec("ALTER TABLE m.t ALTER COLUMN a SET STORAGE PLAIN")
			require.NoError(t, s.onePlan("k", "batched", []string{"m.t"}, "INSERT INTO {t} (n, a) VALUES (1, NULL), (2, NULL)"))
		})
	}
}
