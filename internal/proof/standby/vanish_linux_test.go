package standby

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// vanished is how long a task may stay owned by a host that has vanished, as
// docs/operations.md says, and slack what a busy machine adds.
const vanished, slack = 30 * time.Second, 15 * time.Second

// TestAHostThatVanishesGivesItsTasksBack starts this test program again in a
// network of its own, in which the loopback device is taken down: client and
// server then hear nothing of each other, and neither's kernel closes anything.
func TestAHostThatVanishesGivesItsTasksBack(t *testing.T) {
	if os.Getenv(inside) != "" {
		vanish(t)
		return
	}
	if !atLength() {
		t.Skip("it takes half a minute: make standby runs it; the settings are looked at by TestSessionsAskWhetherTheOtherEndIsThere")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network of its own")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAHostThatVanishesGivesItsTasksBack$", "-test.v", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	t.Log(out.String())
	require.NoError(t, err)
	require.Contains(t, out.String(), "both tasks are free")
}

// loopback takes the loopback device of this network up or down.
func loopback(t *testing.T, up bool) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer syscall.Close(fd) //nolint:errcheck // nothing is lost with it
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	if up {
		request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	require.Zero(t, errno)
}

// vanish is the test in the network of its own. The Unix socket of the server is
// how it is asked while the network is down.
func vanish(t *testing.T) {
	loopback(t, true)
	sockets, err := os.MkdirTemp("/tmp", "cs9gen-socket-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	require.NoError(t, os.Chmod(sockets, 0o777))
	server, err := pgserver.Start(t.Context(), &pgserver.Config{Settings: map[string]string{"unix_socket_directories": sockets}})
	require.NoError(t, err)
	t.Cleanup(func() { server.Stop() })
	remote := server.URL("postgres")
	pgtest.InstallSchema(t, remote)
	pgtest.Install(t, remote, definitions)
	local := (&url.URL{Scheme: "postgres", User: url.UserPassword("postgres", server.Password()), Path: "/postgres",
		RawQuery: url.Values{"host": {sockets}, "port": {strconv.Itoa(server.Port())}}.Encode()}).String()
	conn := pgtest.Connect(t, local)
	require.IsType(t, &net.UnixConn{}, conn.PgConn().Conn())

	// one task runs its plans, another is being published: it waits for a lock
	stage(t, conn, "atomic", 1)
	pgtest.Exec(t, conn, "SELECT cs9.release_run('atomic')")
	blocker := pgtest.Connect(t, local)
	pgtest.Exec(t, blocker, "BEGIN", "LOCK hot.atomic IN ROW EXCLUSIVE MODE")
	started := make(chan struct{})
	ran, published := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := rebuild("batched", 1, func(ctx context.Context) error {
			close(started)
			<-ctx.Done()
			return context.Cause(ctx)
		}).Run(t.Context(), newRunner(t, remote, nil), runner.RunKey(key(1)))
		ran <- err
	}()
	go func() {
		_, err := newRunner(t, remote, nil).Publish(t.Context(), "atomic", key(1))
		published <- err
	}()
	<-started
	owned := func(q *pgx.Conn) int {
		return pgtest.Scalar[int](t, q, "SELECT count(*)::integer FROM cs9.run_status WHERE owner_alive")
	}
	await(t, "both tasks are owned", func() bool {
		return owned(conn) == 2 && pgtest.Scalar[bool](t, conn, "SELECT state = 'publishing' FROM cs9.run_status WHERE task = 'atomic'")
	})

	loopback(t, false)
	start := time.Now()
	await(t, "both tasks are free", func() bool { return owned(conn) == 0 })
	took := time.Since(start)
	fmt.Println("both tasks are free after", took)
	require.Less(t, took, vanished+slack)

	// and what ran on the host that heard nothing has given up
	require.ErrorIs(t, <-published, runner.ErrOutcomeUnknown)
	require.ErrorIs(t, <-ran, runner.ErrNotOwner)
	took = time.Since(start)
	fmt.Println("both programs have ended after", took)
	require.Less(t, took, 2*vanished+slack)

	pgtest.Exec(t, blocker, "COMMIT")
	_, err = rebuild("batched", 1, nil).Run(t.Context(), newRunner(t, local, nil), runner.RunKey(key(1)))
	require.NoError(t, err)
	again(t, conn, "atomic", 1)
	mustSee(t, conn, "batched", key(1))
	mustSee(t, conn, "atomic", key(1))
}
