// Package pgserver starts a PostgreSQL server of one's own: as an unprivileged
// user, in a temporary folder, on the loopback address. The tests and the demo
// use it, so that nothing has to be started by hand. The server ends with the
// program that started it, even when that is killed.
package pgserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says which server to start, and how. The zero value is useful.
type Config struct {
	// BinDir is the folder of the server's programs. Defaults to [Find].
	BinDir string
	// Settings are settings of postgresql.conf besides, or instead of, those
	// that make a short-lived server fast.
	Settings map[string]string
	// OnDisk keeps the data folder out of memory, for whoever measures.
	// Defaults to a folder in memory where there is room, which makes a fresh
	// database ten times as fast.
	OnDisk bool
}

// Server is a running server.
type Server struct {
	binDir   string
	version  int
	dir      string // holds the data folder, the log and the password file
	port     int
	password string
	settings map[string]string
	onDisk   bool
	account  *account

	process *process
}

// defaultSettings make a server that is thrown away fast. Its data survive a
// crash of its own processes, not of the machine; with synchronous_commit off
// the commits of the last moments may be lost in either.
var defaultSettings = map[string]string{
	"fsync":                      "off",
	"full_page_writes":           "off",
	"synchronous_commit":         "off",
	"max_connections":            "100",
	"listen_addresses":           "127.0.0.1",
	"unix_socket_directories":    "",
	"log_min_messages":           "warning",
	"log_line_prefix":            "%m [%p] %a ",
	"password_encryption":        "scram-sha-256",
	"logging_collector":          "off",
	"max_wal_size":               "512MB", // it may lie in memory
	"min_wal_size":               "32MB",
	"wal_recycle":                "off",
	"wal_init_zero":              "off",
	"timezone":                   "UTC",
	"shared_buffers":             "128MB",
	"autovacuum_naptime":         "10s",
	"checkpoint_timeout":         "15min",
	"dynamic_shared_memory_type": "posix",
	"jit":                        "off", // what is compiled for a few rows costs more than it saves
}

// Start makes a cluster and starts its server. [Server.Stop] ends it.
func Start(ctx context.Context, cfg *Config) (*Server, error) {
	s := &Server{settings: map[string]string{}}
	for name, value := range defaultSettings {
		s.settings[name] = value
	}
	var err error
	if cfg != nil && cfg.BinDir != "" {
		s.binDir = cfg.BinDir
		s.version, err = versionOf(cfg.BinDir)
	} else {
		s.binDir, s.version, err = Find()
	}
	if err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	if cfg != nil {
		s.onDisk = cfg.OnDisk
		for name, value := range cfg.Settings {
			s.settings[name] = value
		}
	}
	if err := s.create(ctx, freePort); err != nil {
		return nil, errors.Join(fmt.Errorf("pgserver: %w", err), s.Stop())
	}
	return s, nil
}

// create makes the cluster and starts the server, on another port when the
// first was taken in between.
func (s *Server) create(ctx context.Context, port func(context.Context) (int, error)) error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return fmt.Errorf("make password: %w", err)
	}
	s.password = hex.EncodeToString(random)
	passwordFile := filepath.Join(s.dir, "password")
	if err := os.WriteFile(passwordFile, []byte(s.password), 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if err := s.account.own(passwordFile); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(s.binDir, "initdb"), "--pgdata", s.DataDir(), "--username", "postgres",
		"--pwfile", passwordFile, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.Dir = s.dir
	initdb.SysProcAttr = s.account.attributes()
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w%s\n%s", err, s.account.hint(err), out)
	}
	return s.startSomewhere(ctx, port)
}

// makeFolder makes the folder that holds all of the server's files.
func (s *Server) makeFolder() (err error) {
	if s.account, err = unprivileged(); err != nil {
		return err
	}
	parent := s.account.tempDir()
	if memory := memoryDir(); memory != "" && !s.onDisk {
		parent = memory
	}
	if s.dir, err = os.MkdirTemp(parent, "cs9gen-pg-"); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return s.account.own(s.dir)
}

// startSomewhere starts the server on a port that is free.
func (s *Server) startSomewhere(ctx context.Context, port func(context.Context) (int, error)) (err error) {
	for try := 1; ; try++ {
		if s.port, err = port(ctx); err != nil {
			return err
		}
		err = s.start(ctx)
		if err == nil || try == 5 || !strings.Contains(err.Error(), "already in use") {
			return err
		}
	}
}

// start runs the server and waits until it answers.
func (s *Server) start(ctx context.Context) error {
	args := []string{"-D", s.DataDir(), "-p", strconv.Itoa(s.port)}
	names := make([]string, 0, len(s.settings))
	for name := range s.settings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		args = append(args, "-c", name+"="+s.settings[name])
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the server has its own handle
	// It outlives the context of its start: Stop ends it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(s.binDir, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = s.account.attributes()
	s.process, err = startProcess(cmd)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	return s.waitReady(ctx)
}

func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			if err := conn.Close(ctx); err != nil {
				return fmt.Errorf("close the first connection: %w", err)
			}
			return nil
		}
		select {
		case <-s.process.done:
			return fmt.Errorf("postgres ended (%s); the end of its log:\n%s", s.process.cmd.ProcessState, s.logTail())
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w; the end of its log:\n%s", err, s.logTail())
		case <-time.After(20 * time.Millisecond): // until the next try to connect
		}
	}
}

// URL returns the connection URL of a database, as the superuser postgres.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port returns the TCP port that the server listens on.
func (s *Server) Port() int { return s.port }

// Password returns the password of the superuser postgres.
func (s *Server) Password() string { return s.password }

// BinDir returns the folder of the server's programs.
func (s *Server) BinDir() string { return s.binDir }

// DataDir returns the cluster's folder.
func (s *Server) DataDir() string { return filepath.Join(s.dir, "data") }

// Version returns the server's major version.
func (s *Server) Version() int { return s.version }

// Stop shuts the server down, cutting its connections, and removes its folder.
func (s *Server) Stop() error {
	var errs []error
	if s.process != nil {
		errs = append(errs, s.process.end(syscall.SIGINT))
		s.process = nil
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return errors.Join(errs...)
}

// Crash stops the server at once, without a checkpoint, as the death of its
// processes would. [Server.Restart] starts it again. Only with the setting
// synchronous_commit on is every commit that a client saw sure to be kept.
func (s *Server) Crash() error {
	if s.process == nil {
		return nil
	}
	err := s.process.end(syscall.SIGQUIT)
	s.process = nil
	return err
}

// Restart starts the server again after [Server.Crash], on the same port, or
// crashes it first when it is running.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Crash(); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	return nil
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// logTail returns the end of the server's log, for messages.
func (s *Server) logTail() string {
	f, err := os.Open(s.logFile())
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was read only
	if info, err := f.Stat(); err == nil && info.Size() > 2000 {
		if _, err := f.Seek(-2000, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, _ := io.ReadAll(f) // a part is better than nothing
	return string(text)
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("give the free port back: %w", err)
	}
	return port, nil
}
