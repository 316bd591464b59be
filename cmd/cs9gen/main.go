// Command cs9gen generates migrations from table definitions, applies them, and
// publishes and shows runs. Its logic is in package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/cs9gen/cs9gen/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
