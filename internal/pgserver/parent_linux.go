package pgserver

import "syscall"

// dieWithParent lets the kernel stop the server at once when this program ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
