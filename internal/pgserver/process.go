package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// process is a running command.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// startProcess starts a command that ends when this program does. Linux signals
// the child when the thread that started it ends, so that a goroutine keeps
// that thread until the child has ended.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	dieWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in ProcessState
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// end sends a signal and waits until the process has ended; after a while it
// kills it.
func (p *process) end(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop postgres: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(30 * time.Second):
		err := p.cmd.Process.Kill()
		<-p.done
		return errors.Join(errors.New("postgres did not stop within 30 s and was killed"), err)
	}
}
