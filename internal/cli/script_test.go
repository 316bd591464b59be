package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/cli"
	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// asCommand makes this test program the command cs9gen.
const asCommand = "CS9GEN_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	pgtest.Main(m)
}

// TestCommandLine runs each script of testdata/cli in a folder and with a
// database of its own, which DATABASE_URL names.
func TestCommandLine(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/cli/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	program, err := os.Executable()
	require.NoError(t, err)
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			s := &session{t: t, database: pgtest.EmptyDatabase(t), bin: t.TempDir()}
			require.NoError(t, os.Symlink(program, filepath.Join(s.bin, "cs9gen")))
			testscript.RunT(inThisTest{t}, testscript.Params{
				Files:    []string{script},
				Deadline: time.Now().Add(2 * time.Minute),
				Setup:    s.setup,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"exits":   s.exits,
					"sql":     s.sql,
					"hold":    s.hold,
					"release": s.release,
					"noword":  s.noword,
				},
			})
		})
	}
}

// inThisTest makes testscript run its one script as this test, not under it.
type inThisTest struct{ *testing.T }

func (t inThisTest) Run(_ string, f func(testscript.T)) { f(t) }
func (t inThisTest) Verbose() bool                      { return testing.Verbose() }

// session is what the commands of one script share.
type session struct {
	t        *testing.T
	database string
	bin      string
	held     *pgx.Conn
}

func (s *session) setup(env *testscript.Env) error {
	u, err := url.Parse(s.database)
	if err != nil {
		return fmt.Errorf("database URL: %w", err)
	}
	password, _ := u.User.Password()
	for name, value := range map[string]string{
		asCommand:      "1",
		"PATH":         s.bin + string(filepath.ListSeparator) + env.Getenv("PATH"),
		"DATABASE_URL": s.database,
		"HOST":         u.Hostname(),
		"PORT":         u.Port(),
		"DATABASE":     strings.TrimPrefix(u.Path, "/"),
		"USER":         u.User.Username(),
		"PASSWORD":     password,
		"GOCOVERDIR":   os.Getenv("GOCOVERDIR"),
		// the demo's server runs as another user, who cannot reach the script's folder
		"TMPDIR":           os.TempDir(),
		pgserver.EnvBinDir: os.Getenv(pgserver.EnvBinDir),
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() { s.letGo() })
	return nil
}

// exits runs a command and requires its exit code: exits 2 cs9gen publish
func (s *session) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// sql runs a file with psql; its output is matched by stdout and stderr.
func (s *session) sql(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: sql file")
	}
	stdout, stderr, err := pgtest.Psql(s.t, s.database, "-q", "-At", "-f", ts.MkAbs(args[0]))
	fmt.Fprint(ts.Stdout(), stdout)
	fmt.Fprint(ts.Stderr(), stderr)
	if (err != nil) != neg {
		ts.Fatalf("sql %s: %v", args[0], err)
	}
	s.waitForPsql(ts)
}

// waitForPsql waits until the server has ended psql's session, which holds the
// lock of a task until then.
func (s *session) waitForPsql(ts *testscript.TestScript) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.database)
	ts.Check(err)
	defer conn.Close(context.Background())
	for alive := true; alive; {
		ts.Check(conn.QueryRow(ctx, `SELECT EXISTS (
			SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'psql')`).Scan(&alive))
	}
}

// hold runs a file in a session that stays open until release.
func (s *session) hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || s.held != nil {
		ts.Fatalf("usage: hold file, once before release")
	}
	conn, err := pgx.Connect(context.Background(), s.database)
	ts.Check(err)
	s.held = conn
	_, err = conn.Exec(context.Background(), ts.ReadFile(args[0]), pgx.QueryExecModeSimpleProtocol)
	ts.Check(err)
}

func (s *session) release(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(s.letGo()) }

func (s *session) letGo() error {
	if s.held == nil {
		return nil
	}
	conn := s.held
	s.held = nil
	if err := conn.Close(context.Background()); err != nil {
		return fmt.Errorf("close the held session: %w", err)
	}
	return nil
}

// noword requires that neither output of the last command holds a text as it is.
func (s *session) noword(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: noword text")
	}
	if args[0] == "" {
		ts.Fatalf("the text is empty")
	}
	for _, output := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(output), args[0]) {
			ts.Fatalf("%s holds what it must not", output)
		}
	}
}
