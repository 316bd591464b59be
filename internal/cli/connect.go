package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cs9gen/cs9gen/internal/pgsession"
	"github.com/cs9gen/cs9gen/runner"
)

const databaseFlag = "database-url"

const databaseHint = "set --" + databaseFlag + ", or DATABASE_URL, to postgres://user:password@host:5432/database; or set PGHOST, PGDATABASE, PGUSER and PGPASSWORD"

// addDatabaseFlag gives a command the flag that names the database.
func (a *app) addDatabaseFlag(flags *pflag.FlagSet) {
	flags.StringVar(&a.databaseURL, databaseFlag, "", "the database; else DATABASE_URL, else the PG* variables")
}

// poolConfig says how to connect. No error of it, or of what it returns, shows
// a password.
func (a *app) poolConfig(cmd *cobra.Command) (*pgxpool.Config, error) {
	url, source := a.databaseURL, "--"+databaseFlag
	if url == "" && cmd.Flags().Changed(databaseFlag) {
		return nil, wrongUse(cmd, errors.New("--"+databaseFlag+" is empty"))
	}
	if url == "" {
		url, source = a.env("DATABASE_URL"), "DATABASE_URL"
	}
	if url == "" {
		source = "the PG* variables"
		if !a.anySet("PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE") {
			return nil, failed(databaseHint, "no database is named")
		}
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, badURL(source, url, err)
	}
	if passwordInHost(cfg.ConnConfig) {
		return nil, badURL(source, url, nil)
	}
	pgsession.KeepAlive(&cfg.ConnConfig.Config)
	return cfg, nil
}

// passwordInHost reports whether the host begins with the rest of a password,
// one whose @ was not percent-encoded.
func passwordInHost(cfg *pgx.ConnConfig) bool {
	hosts := []string{cfg.Host}
	for _, other := range cfg.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	return slices.ContainsFunc(hosts, func(host string) bool { return strings.Contains(host, "@") && !strings.HasPrefix(host, "/") })
}

func (a *app) anySet(names ...string) bool {
	for _, name := range names {
		if a.env(name) != "" {
			return true
		}
	}
	return false
}

// badURL says that a connection string cannot be read, and nothing of what is
// in it: where a password ends cannot be told when the rest is not understood.
func badURL(source, url string, err error) error {
	reason := ""
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		text := parse.Error()
		if cause := parse.Unwrap(); cause != nil {
			text = strings.TrimSuffix(text, fmt.Sprintf(" (%s)", cause))
		}
		if i := strings.LastIndex(text, "`: "); i >= 0 {
			reason, _, _ = strings.Cut(text[i+len("`: "):], ":") // a value follows the second colon
			reason = ": " + reason
		}
	}
	hint := databaseHint
	if strings.Contains(url, "://") {
		hint = "write postgres://user:password@host:5432/database, and percent-encode special characters of the password: %40 for @, %23 for #, %2F for /"
	}
	return failed(hint, "cannot read the connection in %s%s", source, reason)
}

// openRunner makes a runner for the database of the command. Close the pool
// after its last use.
func (a *app) openRunner(cmd *cobra.Command, cfg *runner.Config) (*runner.Runner, *pgxpool.Pool, error) {
	poolConfig, err := a.poolConfig(cmd)
	if err != nil {
		return nil, nil, err
	}
	pool, err := pgxpool.NewWithConfig(cmd.Context(), poolConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare connections: %w", err)
	}
	cfg.Logger = a.logger()
	r, err := runner.New(pool, cfg)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return r, pool, nil
}

// withRunner calls do with a runner for the database of the command.
func (a *app) withRunner(cmd *cobra.Command, do func(context.Context, *runner.Runner) error) error {
	r, pool, err := a.openRunner(cmd, &runner.Config{})
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(cmd.Context(), r)
}

// logger writes what a person should know to standard error; what a command
// reports itself is below its level.
func (a *app) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if a.json {
		return slog.New(slog.NewJSONHandler(a.stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.stderr, options))
}
