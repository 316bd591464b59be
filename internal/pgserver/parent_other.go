//go:build !linux

package pgserver

import "syscall"

// dieWithParent does nothing where the kernel has no such signal.
func dieWithParent(*syscall.SysProcAttr) {}
