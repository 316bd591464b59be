package oracle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// manyCases is how many cases one database is for, one after the other: to clear
// it costs a tenth of what a new one does.
const manyCases = 50

// lab returns the lab of the next case: the worker's database as it was in the beginning.
func (w *worker) lab() (*lab, error) {
	ctx := context.Background()
	if w.database != "" && w.used < manyCases {
		l, err := w.cleared(ctx)
		if err == nil {
			w.used++
			return l, nil
		}
	}
	if err := w.end(ctx); err != nil {
		return nil, err
	}
	w.database, w.used = fmt.Sprintf("case_%d", count.Add(1)), 0
	if _, err := w.admin.Exec(ctx, "CREATE DATABASE "+w.database+" TEMPLATE "+w.net.template); err != nil {
		return nil, err
	}
	return w.connect(ctx)
}

// end drops the worker's database.
func (w *worker) end(ctx context.Context) error {
	if w.database == "" {
		return nil
	}
	_, err := w.admin.Exec(ctx, "DROP DATABASE "+w.database+" WITH (FORCE)")
	w.database = ""
	return err
}

func (w *worker) connect(ctx context.Context) (*lab, error) {
	on := pgtest.Server(w.net.t)
	l := &lab{url: on.URL(w.database), database: w.database, bin: on.BinDir(), admin: w.admin, spoil: w.net.spoil}
	return l, l.look(ctx)
}

// cleared takes everything away that a case made.
func (w *worker) cleared(ctx context.Context) (*lab, error) {
	if _, err := w.admin.Exec(ctx, "ALTER DATABASE "+w.database+" RESET ALL"); err != nil {
		return nil, err
	}
	l, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := l.watch.PgConn().Exec(ctx, clearing).ReadAll(); err != nil {
		l.watch.Close(ctx) //nolint:errcheck // the database is thrown away
		return nil, err
	}
	return l, nil
}

// restore dumps the database, and puts what pg_dump wrote in its place. Servers without a pg_dump skip it.
func (l *lab) restore(w *world) error {
	dump := filepath.Join(l.bin, "pg_dump")
	if _, err := os.Stat(dump); err != nil {
		return nil //nolint:nilerr // the case goes on without it
	}
	ctx := context.Background()
	text, err := exec.CommandContext(ctx, dump, "-d", l.url).Output()
	if err != nil {
		return fmt.Errorf("pg_dump: %w", err)
	}
	l.script.shell("pg_dump > dump.sql; createdb restored; psql -q -d restored -f dump.sql # and go on there")
	if err := l.watch.Close(ctx); err != nil {
		return err
	}
	for _, sql := range []string{"DROP DATABASE " + l.database + " WITH (FORCE)", "CREATE DATABASE " + l.database} {
		if _, err := l.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	psql := exec.CommandContext(ctx, filepath.Join(l.bin, "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", l.url)
	psql.Stdin = bytes.NewReader(text)
	if out, err := psql.CombinedOutput(); err != nil {
		return fmt.Errorf("restore: %w: %s", err, out)
	}
	for _, x := range w.settings {
		if _, err := l.admin.Exec(ctx, x.ofDatabase(l.database)); err != nil {
			return err
		}
	}
	return l.look(ctx)
}

// look opens the connection that compares.
func (l *lab) look(ctx context.Context) (err error) {
	if l.watch, err = pgx.Connect(ctx, l.url); err != nil {
		return err
	}
	_, err = l.watch.PgConn().Exec(ctx, fixed).ReadAll()
	return err
}

const clearing = `
SET client_min_messages = warning;
DO $$
DECLARE
    v text;
BEGIN
    FOR v IN
        SELECT format('DROP PUBLICATION %I', p.pubname) FROM pg_publication AS p
        UNION ALL
        SELECT format('DROP SCHEMA %I CASCADE', n.nspname) FROM pg_namespace AS n WHERE n.nspname !~ '^(pg_|cs9$|cs9_staging$|information_schema$|public$)'
        UNION ALL
        SELECT format('DROP TABLE IF EXISTS cs9_staging.%I CASCADE', c.relname) FROM pg_class AS c WHERE c.relnamespace = 'cs9_staging'::regnamespace AND c.relkind IN ('r', 'p')
        UNION ALL
        SELECT format('TRUNCATE cs9.%I RESTART IDENTITY CASCADE', c.relname) FROM pg_class AS c WHERE c.relnamespace = 'cs9'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_version'
        UNION ALL
        SELECT 'DROP EXTENSION ' || quote_ident(e.extname) || ' CASCADE' FROM pg_extension AS e WHERE e.extname <> 'plpgsql'
    LOOP
        EXECUTE v;
    END LOOP;
END
$$;
RESET client_min_messages`
