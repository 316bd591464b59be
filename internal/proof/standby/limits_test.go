package standby

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// TestASessionThatIsHandedOnKeepsItsTask is what a pool of sessions does that
// sends no DISCARD ALL.
func TestASessionThatIsHandedOnKeepsItsTask(t *testing.T) {
	l := newLab(t)
	begin(t, l.conn, "batched", 1)
	second := pgtest.Connect(t, l.url)
	_, err := second.Exec(t.Context(), "SELECT cs9.begin_run('batched', 'generation 1', '{hot.batched}', '[1, 2, 3]')")
	require.Equal(t, "S9001", sqlState(err), "%v", err)
	l.exec("DISCARD ALL") // what pgbouncer sends when server_reset_query is its default
	outcome, _, _ := begin(t, second, "batched", 1)
	require.Equal(t, "resumed", outcome)
}

// TestAStatementTimeoutEndsACallThatResumes tries what a role's limit does to psql.
func TestAStatementTimeoutEndsACallThatResumes(t *testing.T) {
	l := readyLab(t)
	for _, mode := range modes {
		blocker := pgtest.Connect(t, l.url)
		pgtest.Exec(t, blocker, "BEGIN", "LOCK hot."+mode+" IN ROW EXCLUSIVE MODE")
		l.exec("SET statement_timeout = '300ms'")
		err := publish(t.Context(), l.conn, mode, 2)
		require.Contains(t, []string{"57014", "S9017"}, sqlState(err), "%v", err)
		pgtest.Exec(t, blocker, "COMMIT")
		l.exec("SET statement_timeout = 0")
		mustPublish(t, l.conn, mode, 2)
		mustSee(t, l.conn, mode, key(2))
	}
}

// TestAFullLockTableStopsAPublishThatResumes lets another session take all that
// max_locks_per_transaction leaves.
func TestAFullLockTableStopsAPublishThatResumes(t *testing.T) {
	l := readyLab(t)
	other := pgtest.Connect(t, l.url)
	for _, mode := range modes {
		_, err := other.Exec(t.Context(), "SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE pg_try_advisory_lock(77, i)")
		require.Equal(t, "53200", sqlState(err), "%v", err)
		err = publish(t.Context(), l.conn, mode, 2)
		require.Equal(t, "53200", sqlState(err), "%v", err)
		pgtest.Exec(t, other, "SELECT pg_advisory_unlock_all()")
		mustPublish(t, l.conn, mode, 2)
		mustSee(t, l.conn, mode, key(2))
	}
}

// fillDisk fills a tablespace with a table.
func fillDisk(t *testing.T, conn *pgx.Conn, tablespace string) {
	t.Helper()
	pgtest.Exec(t, conn, fmt.Sprintf("CREATE TABLE filler (t text) TABLESPACE %s", tablespace), "ALTER TABLE filler ALTER t SET STORAGE PLAIN")
	for range 10_000 {
		if _, err := conn.Exec(t.Context(), "INSERT INTO filler VALUES (repeat('x', 7000))"); err != nil {
			require.Equal(t, "53100", sqlState(err), "%v", err)
			return
		}
	}
	t.Fatal("the tablespace is not full")
}
