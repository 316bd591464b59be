package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// notInBackup are the files and folders' contents that a base backup leaves
// out, as pg_basebackup does; pg_wal is copied last.
var notInBackup = []string{
	"postmaster.pid", "postmaster.opts", "pg_wal/", "pg_replslot/", "pg_dynshmem/", "pg_notify/", "pg_serial/",
	"pg_snapshots/", "pg_stat_tmp/", "pg_subtrans/",
}

// StartBackup takes a base backup of the running server and starts another one
// on it, which has the same databases, roles and password. Where a setting has
// no other value in settings, it is as in the first. It works without
// pg_basebackup, which not every build of the server has.
func (s *Server) StartBackup(ctx context.Context, settings map[string]string) (*Server, error) {
	return s.startCopy(ctx, settings, func(*Server) error { return nil })
}

// StartStandby starts a hot standby of the running server. It streams under the
// name, which synchronous_standby_names of the first can list.
func (s *Server) StartStandby(ctx context.Context, name string, settings map[string]string) (*Server, error) {
	return s.startCopy(ctx, settings, func(standby *Server) error {
		signal := filepath.Join(standby.DataDir(), "standby.signal")
		if err := os.WriteFile(signal, nil, 0o600); err != nil {
			return fmt.Errorf("make it a standby: %w", err)
		}
		conf, err := os.OpenFile(filepath.Join(standby.DataDir(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("make it a standby: %w", err)
		}
		_, err = fmt.Fprintf(conf, "primary_conninfo = 'host=127.0.0.1 port=%d user=postgres password=%s application_name=%s'\n",
			s.port, s.password, name)
		return errors.Join(err, conf.Close(), standby.account.own(signal))
	})
}

// Promote makes a standby a primary, and returns when it is one.
func (s *Server) Promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	var promoted bool
	if err := conn.QueryRow(ctx, "SELECT pg_promote(true, 60)").Scan(&promoted); err != nil {
		return fmt.Errorf("pgserver: promote: %w", err)
	}
	if !promoted {
		return fmt.Errorf("pgserver: promote: it is a standby after 60 s; the end of its log:\n%s", s.logTail())
	}
	return nil
}

func (s *Server) startCopy(ctx context.Context, settings map[string]string, prepare func(*Server) error) (*Server, error) {
	c := &Server{binDir: s.binDir, version: s.version, password: s.password, onDisk: s.onDisk, settings: map[string]string{}}
	for _, from := range []map[string]string{s.settings, settings} {
		for name, value := range from {
			c.settings[name] = value
		}
	}
	err := c.makeFolder()
	if err == nil {
		err = s.backup(ctx, c)
	}
	if err == nil {
		err = prepare(c)
	}
	if err == nil {
		err = c.startSomewhere(ctx, freePort)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pgserver: %w", err), c.Stop())
	}
	return c, nil
}

// backup copies the running server's data folder to that of a server that has
// none yet.
func (s *Server) backup(ctx context.Context, to *Server) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("base backup: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	begin, end := "SELECT pg_backup_start('copy', true)", "SELECT labelfile FROM pg_backup_stop(false)"
	if s.version < 15 {
		begin, end = "SELECT pg_start_backup('copy', true, false)", "SELECT labelfile FROM pg_stop_backup(false, false)"
	}
	if _, err := conn.Exec(ctx, begin); err != nil {
		return fmt.Errorf("base backup: %w", err)
	}
	err = s.copyFiles(to, ".", func(path string) bool {
		return slices.ContainsFunc(notInBackup, func(out string) bool {
			return path == out || strings.HasSuffix(out, "/") && strings.HasPrefix(path, out)
		})
	})
	if err != nil {
		return err
	}
	var label string
	if err := conn.QueryRow(ctx, end).Scan(&label); err != nil {
		return fmt.Errorf("base backup: %w", err)
	}
	file := filepath.Join(to.DataDir(), "backup_label")
	if err := os.WriteFile(file, []byte(label), 0o600); err != nil {
		return fmt.Errorf("base backup: %w", err)
	}
	return errors.Join(to.account.own(file), s.copyFiles(to, "pg_wal", func(string) bool { return false }))
}

// copyFiles copies a folder under the data folder. A file that the server
// removes meanwhile is left out.
func (s *Server) copyFiles(to *Server, folder string, without func(path string) bool) error {
	data := os.DirFS(s.DataDir())
	err := fs.WalkDir(data, folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) || without(path):
			return nil
		case err != nil:
			return err
		}
		target := filepath.Join(to.DataDir(), path)
		if entry.IsDir() {
			if err := os.MkdirAll(target, 0o700); err != nil {
				return err
			}
			return to.account.own(target)
		}
		return to.copyFile(data, path, target)
	})
	if err != nil {
		return fmt.Errorf("base backup: %w", err)
	}
	return nil
}

func (s *Server) copyFile(data fs.FS, path, target string) error {
	from, err := data.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it is read only
	file, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close(), s.account.own(target))
}
