package runner

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// protect calls a function of the caller's, and turns its panic into an error:
// a panic must not cross the border of the package, still less end a program
// from a goroutine of its own.
func protect(call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return call()
}

// panicError is a panic of one of the caller's functions.
type panicError struct {
	value  any
	stack  []byte
	logged atomic.Bool
}

// Error returns the panic's value; the stack goes to the log.
func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Unwrap returns the panic's value when it is an error.
func (p *panicError) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// logPanic puts the stack of a panic into the log, once: the error has its value
// only.
func logPanic(log *slog.Logger, err error) {
	var p *panicError
	if errors.As(err, &p) && !p.logged.Swap(true) {
		log.Error("a function of the task panicked", "panic", p.value, "stack", string(p.stack))
	}
}
