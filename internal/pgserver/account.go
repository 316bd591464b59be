package pgserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that the server runs as. PostgreSQL refuses root.
type account struct {
	name     string
	uid, gid uint32
	switched bool // from root to another user
}

// unprivileged returns the account to run the server as: this user, or, for
// root, postgres or nobody.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return &account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid), switched: true}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody; run this as another user")
}

// tempDir returns a folder for temporary files that the account can enter: the
// usual one, unless it lies inside a folder that is root's alone.
func (a *account) tempDir() string {
	usual := os.TempDir()
	if !a.switched {
		return usual
	}
	dir, err := filepath.Abs(usual)
	if err != nil {
		return usual
	}
	for {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return "/tmp"
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return usual
		}
		dir = parent
	}
}

// own gives files to the account.
func (a *account) own(paths ...string) error {
	if !a.switched {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
			return fmt.Errorf("give the folder to the server's user: %w", err)
		}
	}
	return nil
}

// hint says what to do about a program that the account may not run.
func (a *account) hint(err error) string {
	if !a.switched || !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return fmt.Sprintf("; user %s, as whom the server runs, cannot reach it: install it where that user can", a.name)
}

// attributes makes a command run as the account, in a process group of its own,
// so that Ctrl-C on the terminal does not reach it before this program does.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}
