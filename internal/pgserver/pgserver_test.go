package pgserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

func query(t *testing.T, s *Server, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	var text string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

func TestServerAnswersOnLoopbackOnly(t *testing.T) {
	s := start(t)
	require.Equal(t, "127.0.0.1", query(t, s, "SHOW listen_addresses"))
	require.GreaterOrEqual(t, s.Version(), MinVersion)
}

func TestServerRefusesAWrongPassword(t *testing.T) {
	s := start(t)
	u, err := url.Parse(s.URL("postgres"))
	require.NoError(t, err)
	u.User = url.UserPassword("postgres", "wrong")
	_, err = pgx.Connect(t.Context(), u.String())
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr)
	require.Equal(t, "28P01", pgErr.Code)
}

func TestServerKeepsCommittedRowsOverACrash(t *testing.T) {
	s, err := Start(t.Context(), &Config{Settings: map[string]string{"synchronous_commit": "on"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.Equal(t, "4711", query(t, s, "SELECT lo_create(4711)::text"))
	port := s.Port()
	require.NoError(t, s.Restart(t.Context()))
	require.Equal(t, port, s.Port())
	require.Equal(t, "4711", query(t, s, "SELECT oid::text FROM pg_largeobject_metadata"))
}

func TestStopRemovesTheFolder(t *testing.T) {
	s, err := Start(t.Context(), nil)
	require.NoError(t, err)
	dir := s.dir
	require.DirExists(t, dir)
	require.NoError(t, s.Stop())
	require.NoDirExists(t, dir)
	require.NoError(t, s.Stop(), "a second stop does nothing")
}

// TestServerDiesWithItsParent starts this test program again, lets it start a
// server, and kills it.
func TestServerDiesWithItsParent(t *testing.T) {
	if os.Getenv("CS9GEN_TEST_PARENT") != "" {
		s, err := Start(t.Context(), nil)
		require.NoError(t, err)
		fmt.Println(s.URL("postgres"))
		fmt.Println(s.dir)
		select {} // until it is killed
	}
	parent := exec.Command(os.Args[0], "-test.run", "^TestServerDiesWithItsParent$")
	parent.Env = append(os.Environ(), "CS9GEN_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	t.Cleanup(func() {
		_ = parent.Process.Kill() // it is dead unless the test failed
		_ = parent.Wait()
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	url := lines.Text()
	require.Contains(t, url, "postgres://", "the parent could not start a server")
	require.True(t, lines.Scan())
	dir := lines.Text()
	require.Contains(t, dir, "cs9gen-pg-")
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}, 20*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, 20*time.Second, 50*time.Millisecond,
		"its last processes write to the folder no more")
}

func TestStartSaysWhyAServerEnded(t *testing.T) {
	_, err := Start(t.Context(), &Config{Settings: map[string]string{"max_connections": "none"}})
	require.ErrorContains(t, err, "postgres ended (exit status 1)")
	require.ErrorContains(t, err, "max_connections", "the log is shown")
}

func TestStartTakesAnotherPortWhenOneIsTaken(t *testing.T) {
	first := start(t)
	second := &Server{binDir: first.binDir, version: first.version, settings: first.settings}
	t.Cleanup(func() { require.NoError(t, second.Stop()) })
	ports := []int{first.Port()}
	require.NoError(t, second.create(t.Context(), func(ctx context.Context) (int, error) {
		if len(ports) == 0 {
			return freePort(ctx)
		}
		port := ports[0]
		ports = ports[1:]
		return port, nil
	}))
	require.Empty(t, ports, "the taken port was tried")
	require.NotEqual(t, first.Port(), second.Port())
	require.Equal(t, "1", query(t, second, "SELECT 1::text"))
}

func TestServerStartsWhenTheTemporaryFolderIsPrivate(t *testing.T) {
	private := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	t.Setenv("TMPDIR", private)
	s := start(t)
	require.Equal(t, "1", query(t, s, "SELECT 1::text"))
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestFindSaysWhatToDo(t *testing.T) {
	t.Setenv(EnvBinDir, t.TempDir())
	_, _, err := Find()
	require.ErrorContains(t, err, EnvBinDir)
	require.ErrorContains(t, err, "unset it")
}
