package pgtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestNewDatabaseHoldsTheSchema(t *testing.T) {
	conn := Connect(t, NewDatabase(t, "../../testdata/psql/counts.yaml"))
	require.Equal(t, 1, Scalar[int](t, conn, "SELECT version FROM cs9.schema_version"))
	require.Equal(t, int64(1), Scalar[int64](t, conn, "SELECT count(*) FROM cs9.table_definition"))
}

func TestEmptyDatabaseHoldsNothing(t *testing.T) {
	conn := Connect(t, EmptyDatabase(t))
	require.False(t, Scalar[bool](t, conn, "SELECT to_regnamespace('cs9') IS NOT NULL"))
}

func TestPsqlStopsAtAnError(t *testing.T) {
	url := EmptyDatabase(t)
	out, _, err := Psql(t, url, "-At", "-c", "SELECT 42")
	require.NoError(t, err)
	require.Equal(t, "42\n", out)
	_, stderr, err := Psql(t, url, "-c", "SELECT 1/0", "-c", "SELECT 1")
	require.Error(t, err)
	require.Contains(t, stderr, "division by zero")
}
