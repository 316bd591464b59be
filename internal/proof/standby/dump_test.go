package standby

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// program is one of the server's client programs: of its own version, or, for
// builds that consist of the server alone, an installed one that is as new.
// Where there is none the test says so.
func program(t *testing.T, name string) string {
	t.Helper()
	server := pgtest.Server(t)
	path := filepath.Join(server.BinDir(), name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	for version := server.Version(); version < server.Version()+20; version++ {
		path := fmt.Sprintf("/usr/lib/postgresql/%d/bin/%s", version, name)
		if _, err := os.Stat(path); err == nil {
			t.Logf("this build of PostgreSQL %d has no %s: %s is used", server.Version(), name, path)
			return path
		}
	}
	t.Skipf("not tried: this build of PostgreSQL %d has no %s, and none of that version or a newer one is installed", server.Version(), name)
	return ""
}

func run(t *testing.T, in []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, name), args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errOut
	require.NoError(t, cmd.Run(), "%s %v: %s", name, args, errOut.String())
	return out.Bytes()
}

// restore dumps a database and restores it into a new one, in either format.
func restore(t *testing.T, from, format string, more ...string) *pgx.Conn {
	t.Helper()
	to := pgtest.EmptyDatabase(t)
	dump := run(t, nil, "pg_dump", append([]string{"--format", format, "--dbname", from}, more...)...)
	if format == "custom" {
		run(t, dump, "pg_restore", "--exit-on-error", "--dbname", to)
	} else {
		run(t, dump, "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", to)
	}
	return pgtest.Connect(t, to)
}

// bringTo does a run up to a state and lets its owner go.
func (l *lab) bringTo(state, mode string, gen int) {
	l.Helper()
	switch state {
	case "running":
		_, run, attempt := begin(l.T, l.conn, mode, gen)
		plan(l.T, l.conn, mode, gen, run, attempt, 1)
		plan(l.T, l.conn, mode, gen, run, attempt, 2)
	case "ready":
		stage(l.T, l.conn, mode, gen)
	case "publishing":
		stage(l.T, l.conn, mode, gen)
		l.exec("SELECT cs9.release_run('" + mode + "')")
		l.stopPublish(mode, gen)
	}
	l.exec("SELECT cs9.release_run('" + mode + "')")
}

// stopPublish ends a publish in its middle: after its second batch, or where it
// waits for the lock of its one transaction.
func (l *lab) stopPublish(mode string, gen int) {
	l.Helper()
	if mode != "batched" {
		blocker := pgtest.Connect(l.T, l.url)
		pgtest.Exec(l.T, blocker, "BEGIN", "LOCK hot."+mode+" IN ROW EXCLUSIVE MODE")
		pgtest.Exec(l.T, l.conn, "SET cs9.lock_timeout = '1ms'", "SET cs9.lock_retries = '0'")
		require.Equal(l, "S9017", sqlState(publish(l.Context(), l.conn, mode, gen)))
		pgtest.Exec(l.T, blocker, "COMMIT")
		return
	}
	// a row of another program collides with one of the third batch
	blocker := pgtest.Connect(l.T, l.url)
	cfg := l.conn.Config().Copy()
	batches := 0
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if batches++; batches == 1 {
			pgtest.Exec(l.T, blocker, fmt.Sprintf("INSERT INTO hot.batched VALUES (%d, %d)", rows-1, gen))
		}
	}
	conn, err := pgx.ConnectConfig(l.Context(), cfg)
	require.NoError(l, err)
	_, err = conn.Exec(l.Context(), fmt.Sprintf("CALL cs9.publish('batched', '%s', 7)", key(gen)))
	require.Equal(l, "23505", sqlState(err), "%v", err)
	require.NoError(l, conn.Close(l.Context()))
	l.exec(fmt.Sprintf("DELETE FROM hot.batched WHERE id = %d", rows-1))
	require.True(l, pgtest.Scalar[bool](l.T, l.conn, "SELECT count(*) BETWEEN 1 AND $1 FROM hot.batched", rows-1), "a part is live")
}

var states = []string{"running", "ready", "publishing"}

func TestARunThatWasDumpedGoesOnWhereItIsRestored(t *testing.T) {
	for i, mode := range modes {
		format := []string{"plain", "custom", "plain"}[i]
		for j, state := range states {
			if !atLength() && (i+j)%3 != 2 {
				continue // each mode and each state once
			}
			t.Run(fmt.Sprintf("%s, %s, %s", mode, state, format), func(t *testing.T) {
				program(t, "pg_dump")
				l := publishedLab(t)
				l.bringTo(state, mode, 2)
				conn := restore(t, l.url, format)
				require.Equal(t, state, pgtest.Scalar[string](t, conn, "SELECT state FROM cs9.run WHERE run_key = $1", key(2)))
				if state == "publishing" && mode == "batched" {
					// where a half moved row lies, a dump does not keep
					err := publish(t.Context(), conn, mode, 2)
					require.Equal(t, "S9018", sqlState(err), "%v", err)
					pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.discard_run('%s', '%s', true)", mode, key(2)))
					require.Equal(t, "new", again(t, conn, mode, 3))
					mustSee(t, conn, mode, key(3))
					return
				}
				if state == "ready" {
					mustPublish(t, conn, mode, 2)
				} else {
					again(t, conn, mode, 2)
				}
				mustSee(t, conn, mode, key(2))
				require.Equal(t, "published", again(t, conn, mode, 1))
				stage(t, conn, mode, 3)
				mustPublish(t, conn, mode, 3)
				mustSee(t, conn, mode, key(3))
			})
		}
	}
}

func TestADumpWithoutStagedRowsLosesUnfinishedRunsAndSaysSo(t *testing.T) {
	for _, without := range []string{"--exclude-table=cs9_staging.*", "--exclude-schema=cs9_staging"} {
		if !atLength() && without == "--exclude-schema=cs9_staging" {
			continue
		}
		t.Run(without, func(t *testing.T) {
			program(t, "pg_dump")
			l := readyLab(t)
			conn := restore(t, l.url, "plain", without)
			if without == "--exclude-schema=cs9_staging" {
				pgtest.Exec(t, conn, "CREATE SCHEMA cs9_staging")
			}
			for _, mode := range modes {
				err := publish(t.Context(), conn, mode, 2)
				require.Equal(t, "S9018", sqlState(err), "%v", err)
				mustSee(t, conn, mode, key(1))
				pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.discard_run('%s', '%s')", mode, key(2)))
				require.Equal(t, "new", again(t, conn, mode, 2))
				mustSee(t, conn, mode, key(2))
			}
		})
	}
}

// TestStagedRowsThatADumpLeftEmptyAreNotPublished restores the staged tables
// without their rows.
func TestStagedRowsThatADumpLeftEmptyAreNotPublished(t *testing.T) {
	program(t, "pg_dump")
	for _, mode := range modes {
		if !atLength() && mode != "batched" {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			l := readyLab(t)
			conn := restore(t, l.url, "plain", "--exclude-table-data=cs9_staging.*")
			err := publish(t.Context(), conn, mode, 2)
			require.Equal(t, "S9018", sqlState(err), "%v", err)
			mustSee(t, conn, mode, key(1))
		})
	}
}

// TestADumpOfDataAloneIsRestoredWithoutCs9 restores live rows into a database
// that was migrated.
func TestADumpOfDataAloneIsRestoredWithoutCs9(t *testing.T) {
	program(t, "pg_dump")
	l := readyLab(t) // what is ready is left behind
	to := pgtest.NewDatabase(t, definitions)
	dump := run(t, nil, "pg_dump", "--data-only", "--exclude-schema=cs9", "--exclude-schema=cs9_staging", "--exclude-table=goose_db_version", "--dbname", l.url)
	run(t, dump, "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", to)
	conn := pgtest.Connect(t, to)
	mustSee(t, conn, "batched", key(1))
	require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM cs9.run"))
	stage(t, conn, "batched", 2)
	mustPublish(t, conn, "batched", 2)
	mustSee(t, conn, "batched", key(2))
}

// TestABaseBackupInTheMiddleOfARunGoesOn starts a server on a base backup that
// was taken in each state of a run: the files are the same, so that a publish of
// batches goes on too.
func TestABaseBackupInTheMiddleOfARunGoesOn(t *testing.T) {
	l := publishedLab(t)
	for i, mode := range modes {
		l.bringTo(states[(i+2)%3], mode, 2)
	}
	copied, err := pgtest.Server(t).StartBackup(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, copied.Stop()) })
	conn := pgtest.Connect(t, copied.URL(database(t, l.url)))
	for _, mode := range modes {
		again(t, conn, mode, 2)
		mustSee(t, conn, mode, key(2))
	}
}

// TestPgBasebackupTakesTheSame tries PostgreSQL's own program once.
func TestPgBasebackupTakesTheSame(t *testing.T) {
	if !atLength() {
		t.Skip("make standby runs it: TestABaseBackupInTheMiddleOfARunGoesOn takes the backup by SQL")
	}
	path := program(t, "pg_basebackup")
	l := newLab(t)
	l.bringTo("publishing", "batched", 1)
	dir := filepath.Join(t.TempDir(), "backup")
	cmd := exec.CommandContext(t.Context(), path, "--pgdata", dir, "--checkpoint=fast", "--no-sync", "--dbname", pgtest.Server(t).URL("postgres"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.FileExists(t, filepath.Join(dir, "backup_label"))
}
