package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/crash"
)

// What is killed.
const (
	killProcess = "process" // the runner's, by SIGKILL
	killBackend = "backend" // that of the connection which has come to the point
	killOwner   = "owner"   // the backend that owns the task, while another one is at the point
	killServer  = "server"  // immediate stop, and start again
)

// What follows the kill.
const (
	thenSame  = "same key"
	thenNew   = "new key"
	thenTwice = "killed twice"
)

// shot is one kill, and what is done then. Its text names it, to repeat it alone.
type shot struct {
	scenario *scenario
	kind     string
	then     string
	point    int
	again    int  // the point of the second kill
	inside   bool // the point is a statement of the publish, not a message
}

func (s shot) String() string {
	point := strconv.Itoa(s.point)
	if s.inside {
		point = insidePoint + point
	}
	return fmt.Sprintf("%s/%s/%s/%s/%d", s.scenario.name, s.kind, s.then, point, s.again)
}

func parseShot(text string) (shot, error) {
	part := strings.Split(text, "/")
	if len(part) != 5 {
		return shot{}, fmt.Errorf("the point %q is not written as scenario/kind/then/point/second point", text)
	}
	s := shot{scenario: scenarioOf(part[0]), kind: part[1], then: part[2]}
	var err, err2 error
	s.point, s.inside, err = parsePoint(part[3])
	s.again, err2 = strconv.Atoi(part[4])
	if s.scenario == nil {
		return s, fmt.Errorf("there is no scenario %q", part[0])
	}
	return s, errors.Join(err, err2)
}

// hit is what became of a shot.
type hit struct {
	kills []crash.Point
	// found is the state of the run that the kill left, and commit how far a
	// publish had come: as seen at once, which the server may not do.
	found, commit string
	err           error
}

// victim is what the test program gets to know when it is started to be killed.
type victim struct{ URL, Scenario, Key string }

const victimEnv = "CS9GEN_CRASH_VICTIM"

// beVictim is the main function of the victim.
func beVictim(text string) error {
	var v victim
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	_, err := runTask(context.Background(), v.URL, scenarioOf(v.Scenario), v.Key)
	return err
}

const runTimeout = 60 * time.Second

// fire runs the task in a fresh database, kills it, starts it again and says
// whether the end is right.
func (l *lab) fire(ctx context.Context, s shot, want wanted) (h hit) {
	h.err = l.inClone(ctx, func(database string) error {
		if err := l.killed(ctx, s, database, &h); err != nil {
			return fmt.Errorf("the run to be killed: %w", err)
		}
		if s.then == thenTwice {
			if _, err := l.run(ctx, s, "first", database, s.again, &h); err != nil {
				return fmt.Errorf("the run to be killed a second time: %w", err)
			}
		}
		return l.finish(ctx, s, want, database, &h)
	})
	return h
}

func (l *lab) killed(ctx context.Context, s shot, database string, h *hit) error {
	if s.inside {
		return l.runInside(ctx, s, database, h)
	}
	_, err := l.run(ctx, s, "first", database, s.point, h)
	return err
}

// finish starts the run that was killed again, or another one, and judges its end.
func (l *lab) finish(ctx context.Context, s shot, want wanted, database string, h *hit) error {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, l.server.URL(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if h.found, h.commit, err = runState(ctx, conn, "first"); err != nil {
		return err
	}
	key := "first"
	if s.then == thenNew {
		key = "second"
	}
	if _, err := runTask(ctx, l.server.URL(database), s.scenario, key); err != nil {
		return fmt.Errorf("the start after the kill: %w", err)
	}
	return l.judge(ctx, conn, s, h.found, want)
}

// judge compares the live tables with plain SQL, and the catalogue with what it
// was, and looks for what is left over.
func (l *lab) judge(ctx context.Context, conn *pgx.Conn, s shot, found string, want wanted) error {
	if err := clean(ctx, conn); err != nil {
		return err
	}
	expected := want.first
	if s.then == thenNew {
		older, _, err := runState(ctx, conn, "first")
		if err != nil {
			return err
		}
		switch {
		case older == "published":
			expected = want.both
		case found == "publishing" || found == "published":
			return fmt.Errorf("the older run was %s, and ended %s", found, older)
		default:
			expected = want.second
		}
	}
	live, err := liveRows(ctx, conn)
	if err != nil {
		return err
	}
	if live != expected {
		return fmt.Errorf("the live tables differ from plain SQL\ngot:\n%s\nwant:\n%s", live, expected)
	}
	made, err := shape(ctx, conn)
	if err == nil && made != l.shape {
		err = fmt.Errorf("the tables are not those that were made\ngot:\n%s\nwant:\n%s", made, l.shape)
	}
	return err
}

// run runs the task through a proxy that kills at the point; 0 lets it live.
func (l *lab) run(ctx context.Context, s shot, key, database string, at int, h *hit) (*doomed, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	r := &doomed{lab: l, shot: s, started: make(chan struct{}), died: make(chan struct{})}
	var err error
	if r.admin, err = pgx.Connect(ctx, l.server.URL(database)); err != nil {
		return nil, err
	}
	defer r.admin.Close(context.WithoutCancel(ctx))
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(l.server.Port()))
	proxy, err := crash.Listen(ctx, address, at, func(proxy *crash.Proxy, p crash.Point) { r.err = r.kill(ctx, proxy, p) })
	if err != nil {
		return nil, err
	}
	defer proxy.Close()
	databaseURL, err := through(proxy.Addr(), l.server.URL(database))
	if err != nil {
		return nil, err
	}
	if s.kind == killProcess {
		err = r.process(ctx, databaseURL, key)
	} else {
		_, err = runTask(ctx, databaseURL, s.scenario, key)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("it did not end within %s: %w", runTimeout, err)
	}
	proxy.Close()
	r.points = proxy.Points()
	point, struck := proxy.Struck()
	if !struck {
		return r, err // nothing was killed: it must have gone well
	}
	h.kills = append(h.kills, point)
	if s.kind == killServer && r.err == nil {
		r.err = l.server.Restart(ctx)
	}
	return r, r.err
}

// doomed is a run that is to be killed.
type doomed struct {
	lab    *lab
	shot   shot
	admin  *pgx.Conn
	points []crash.Point // those that it came to
	err    error         // of the kill

	cmd           *exec.Cmd
	started, died chan struct{}
}

// kill kills what the shot says. A publish would go on meanwhile: the lock stops
// it between two of its commits.
func (r *doomed) kill(ctx context.Context, proxy *crash.Proxy, p crash.Point) error {
	if !p.Commit {
		return r.killNow(ctx, proxy, p)
	}
	if _, err := r.admin.Exec(ctx, "BEGIN; LOCK TABLE cs9.publish_step IN EXCLUSIVE MODE"); err != nil {
		return err
	}
	if err := r.killNow(ctx, proxy, p); err != nil || r.shot.kind == killServer {
		return err
	}
	_, err := r.admin.Exec(ctx, "ROLLBACK")
	return err
}

func (r *doomed) killNow(ctx context.Context, proxy *crash.Proxy, p crash.Point) error {
	pid := p.PID
	switch r.shot.kind {
	case killProcess:
		<-r.started
		err := r.cmd.Process.Kill()
		<-r.died
		if proxy != nil {
			proxy.Cut()
		}
		if errors.Is(err, os.ErrProcessDone) {
			return nil // it waits for nothing after its last message, and was faster
		}
		return err
	case killServer:
		return r.lab.server.Crash()
	case killOwner:
		pid = p.OwnerPID
	}
	var gone bool
	err := r.admin.QueryRow(ctx, "SELECT pg_terminate_backend($1, 10000)", int(pid)).Scan(&gone)
	if err == nil && !gone {
		err = fmt.Errorf("backend %d did not end", pid)
	}
	return err
}

// process runs the task in a process of its own.
func (r *doomed) process(ctx context.Context, databaseURL, key string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(victim{URL: databaseURL, Scenario: r.shot.scenario.name, Key: key})
	if err != nil {
		return err
	}
	r.cmd = exec.CommandContext(ctx, program)
	r.cmd.Env = append(os.Environ(), victimEnv+"="+string(text), "GOCOVERDIR=")
	var said strings.Builder
	r.cmd.Stderr = &said
	if err := r.cmd.Start(); err != nil {
		return err
	}
	close(r.started)
	err = r.cmd.Wait()
	close(r.died)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return err
}

// wanted is what the live tables hold after the runs, by plain SQL.
type wanted struct{ first, second, both string }
