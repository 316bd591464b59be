package pgserver

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
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
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	url := lines.Text()
	require.True(t, lines.Scan())
	dir := lines.Text()
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	}, 20*time.Second, 50*time.Millisecond)
}
