package oracle

import (
	"context"
	"fmt"

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
	l := &lab{url: pgtest.Server(w.net.t).URL(w.database), database: w.database, spoil: w.net.spoil}
	var err error
	if l.watch, err = pgx.Connect(ctx, l.url); err != nil {
		return nil, err
	}
	if _, err := l.watch.PgConn().Exec(ctx, fixed).ReadAll(); err != nil {
		return nil, err
	}
	return l, nil
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
