package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/pgsession"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// postgres opens the connections of runs. All SQL of this package is in the
// postgres*.go files.
type postgres struct {
	pool *pgxpool.Pool
	cfg  *Config
}

func newPostgres(pool *pgxpool.Pool, cfg *Config) *postgres {
	return &postgres{pool: pool, cfg: cfg}
}

// failover says how a connection finds the server that takes writes.
const failover = "after a failover, or with a standby, name all servers in the connection, with target_session_attrs=read-write"

// cancelWait is how long a cancelled statement may take to end before its
// connection is given up.
const cancelWait = 5 * time.Second

// errMute is what the driver is told that would send a request to cancel.
var errMute = errors.New("nothing of this session is cancelled any more")

// pgSession is one connection of a run's own.
type pgSession struct {
	conn     *pgx.Conn
	log      *slog.Logger
	place    string
	pid      string // of the server's process, when the session began
	cancel   *canceller
	settings []pgsession.Setting // beside those that each session has
	settled  bool                // the session has its settings
}

// connect opens a connection in the way in which the pool would.
func (p *postgres) connect(ctx context.Context, label string, notice func(*pgconn.Notice), settings ...pgsession.Setting) (*pgSession, error) {
	pool := p.pool.Config()
	cfg := pool.ConnConfig
	if pool.BeforeConnect != nil {
		if err := protect(func() error { return pool.BeforeConnect(ctx, cfg) }); err != nil {
			return nil, refuse(err, "connect", "the pool's BeforeConnect: "+err.Error(), "")
		}
	}
	if cfg.RuntimeParams == nil {
		cfg.RuntimeParams = map[string]string{}
	}
	cfg.RuntimeParams["application_name"] = label
	pgsession.KeepAlive(&cfg.Config)
	// a cached statement fails once when a migration changed its table
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	s := &pgSession{log: p.cfg.Logger, settings: settings}
	cfg.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		s.cancel = newCanceller(conn)
		return s.cancel
	}
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		// the driver also asks to cancel when it gives a connection up
		if s.cancel != nil && s.cancel.mute.Load() {
			return nil, errMute
		}
		return dial(ctx, network, addr)
	}
	if inner := cfg.OnNotice; notice != nil {
		cfg.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
			notice(n)
			if inner != nil {
				inner(conn, n)
			}
		}
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, dbError(ctx, "connect", "", err)
	}
	s.conn = conn
	if pool.AfterConnect != nil {
		if err := protect(func() error { return pool.AfterConnect(ctx, conn) }); err != nil {
			s.close()
			return nil, refuse(err, "connect", "the pool's AfterConnect: "+err.Error(), "")
		}
	}
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// prepare asks which process serves this session and which database this is,
// and gives the session its settings. Behind a proxy it has none before it is
// certain that they do not end up in the sessions of others: see settle.
func (s *pgSession) prepare(ctx context.Context) error {
	// the moment a server started tells it from every other one
	row, err := s.simple(ctx, `SELECT pg_catalog.pg_backend_pid(), pg_catalog.format('database %I (oid %s) of the server started at %s%s', d.datname, d.oid,
		pg_catalog.to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), CASE WHEN pg_catalog.pg_is_in_recovery() THEN ', a standby' ELSE '' END)
		FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()`)
	if err != nil {
		return err
	}
	s.pid, s.place = row[0], row[1]
	if s.proxied() {
		return nil
	}
	return s.settle(ctx)
}

// proxied reports a session that a proxy lends: who is told another process than
// the one that serves it talks to one.
func (s *pgSession) proxied() bool { return s.pid != fmt.Sprint(s.conn.PgConn().PID()) }

// settle gives the session its settings, once.
func (s *pgSession) settle(ctx context.Context) error {
	if s.settled {
		return nil
	}
	s.settled = true
	return dbError(ctx, "connect", "", pgsession.Prepare(ctx, s.conn.PgConn(), s.settings...))
}

// simple runs a query without parameters and returns its one row as text. It is
// one message to the server: behind a proxy, the next one may reach another
// session, which knows nothing of a statement that was prepared before.
func (s *pgSession) simple(ctx context.Context, sql string) ([]string, error) {
	results, err := s.conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, dbError(ctx, "connect", "", err)
	}
	row := make([]string, 0, 2)
	for _, value := range results[0].Rows[0] {
		row = append(row, string(value))
	}
	return row, nil
}

func (s *pgSession) where() string { return s.place }

// mustBeAt closes a session that reached another database than the run's.
func (s *pgSession) mustBeAt(where string) error {
	if where == "" || s.place == where {
		return nil
	}
	s.close()
	return refuse(ErrBadArgument, "connect",
		fmt.Sprintf("the pool connects to two databases: the run began in %s, and this connection reached %s", where, s.place),
		"all tables of a run are in one database: let no hook of the pool change it; "+failover)
}

// close ends the connection, and waits until the driver has let go of it. What a
// proxy lent goes back as it was.
func (s *pgSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelWait)
	defer cancel()
	if s.settled && s.proxied() && !s.conn.IsClosed() {
		if err := pgsession.Discard(ctx, s.conn.PgConn()); err != nil {
			s.log.Debug("the session of the proxy was not given back as it was", "error", err)
		}
	}
	if s.conn.IsClosed() && s.cancel.mute.Load() {
		s.cut() // the driver would wait for its farewell to be heard
	}
	_ = s.conn.Close(ctx)
	select {
	case <-s.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// cut lets go of a connection without a word to the server, of which nothing is
// heard or needed: a farewell to a silent network would wait for an answer.
func (s *pgSession) cut() {
	s.cancel.mute.Store(true)
	_ = s.conn.PgConn().Conn().Close()
}

func (s *pgSession) exec(ctx context.Context, op, sql string, args ...any) error {
	_, err := s.conn.Exec(ctx, sql, args...)
	return dbError(ctx, op, "", err)
}

// checkSchema refuses a database that this package does not know.
func (s *pgSession) checkSchema(ctx context.Context) error {
	var migrated bool
	err := s.conn.QueryRow(ctx, "SELECT pg_catalog.to_regclass('cs9.schema_version') IS NOT NULL").Scan(&migrated)
	if err != nil {
		return dbError(ctx, "check the cs9 schema", "", err)
	}
	if !migrated {
		return refuse(ErrNotMigrated, "", "the database has no cs9 schema: "+s.place, "apply the migrations: cs9gen migrate up")
	}
	var version int
	if err := s.conn.QueryRow(ctx, "SELECT version FROM cs9.schema_version").Scan(&version); err != nil {
		return dbError(ctx, "check the cs9 schema", "", err)
	}
	switch {
	case version < SchemaVersion:
		return refuse(ErrSchemaVersion, "", fmt.Sprintf("the cs9 schema has version %d, and this program needs %d", version, SchemaVersion),
			"upgrade the database: cs9gen migrate up")
	case version > SchemaVersion:
		return refuse(ErrSchemaVersion, "", fmt.Sprintf("the cs9 schema has version %d, and this program knows only %d", version, SchemaVersion),
			"upgrade this program to a newer cs9gen")
	}
	return nil
}

const describeTable = `
	SELECT cs9.table_label(d.table_id), d.schema_name::text, d.table_name::text, d.keys::text[],
	       CASE WHEN pg_catalog.cardinality(d.search_path) > 0 THEN cs9.table_path(d.table_id) ELSE '' END
	FROM cs9.table_definition AS d
	WHERE d.table_id = $1`

const describeColumns = `
	SELECT a.attname::text,
	       pg_catalog.format_type(a.atttypid, a.atttypmod),
	       a.attnotnull,
	       a.attgenerated <> '',
	       a.attidentity = 'a',
	       a.atthasdef OR a.attidentity <> '',
	       t.typreceive <> 0,
	       t.typcategory = 'A' AND t.typlen = -1
	FROM pg_catalog.pg_attribute AS a
	JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
	WHERE a.attrelid = pg_catalog.to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
	ORDER BY a.attnum`

func (s *pgSession) describe(ctx context.Context, names []string) ([]*tableInfo, error) {
	if err := s.checkSchema(ctx); err != nil {
		return nil, err
	}
	tables := make([]*tableInfo, len(names))
	for i, name := range names {
		info := &tableInfo{}
		var id int
		err := s.conn.QueryRow(ctx, "SELECT cs9.find_table($1)", name).Scan(&id)
		if err == nil {
			err = s.conn.QueryRow(ctx, describeTable, id).Scan(&info.label, &info.schema, &info.name, &info.keys, &info.path)
		}
		if err != nil {
			return nil, dbError(ctx, "look up the table", name, err)
		}
		if err := s.describeColumns(ctx, info); err != nil {
			return nil, dbError(ctx, "look up the table", name, err)
		}
		tables[i] = info
	}
	return tables, nil
}

func (s *pgSession) describeColumns(ctx context.Context, info *tableInfo) error {
	rows, err := s.conn.Query(ctx, describeColumns, info.label)
	if err != nil {
		return err
	}
	var arrays []string
	info.columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		var isArray bool
		err = row.Scan(&c.name, &c.typeName, &c.notNull, &c.generated, &c.identityAlways, &c.hasDefault, &c.readsBinary, &isArray)
		if isArray {
			arrays = append(arrays, c.name)
		}
		return c, err
	})
	if err != nil {
		return err
	}
	// a result's description has the types under domains
	described, err := s.conn.Prepare(ctx, "", fmt.Sprintf("SELECT %s FROM %s", quoteAll(info.names()), info.label))
	if err != nil {
		return err
	}
	for i := range info.columns {
		c := &info.columns[i]
		c.oid, c.typmod = described.Fields[i].DataTypeOID, described.Fields[i].TypeModifier
		c.key = slices.Contains(info.keys, c.name)
	}
	return s.describeElements(ctx, info, arrays)
}

// describeElements asks for the types of the elements of columns that are arrays.
func (s *pgSession) describeElements(ctx context.Context, info *tableInfo, arrays []string) error {
	if len(arrays) == 0 {
		return nil
	}
	elements := make([]string, len(arrays))
	for i, name := range arrays {
		elements[i] = sqlgen.QuoteIdent(name) + "[1]"
	}
	described, err := s.conn.Prepare(ctx, "", fmt.Sprintf("SELECT %s FROM %s", strings.Join(elements, ", "), info.label))
	if err != nil {
		return err
	}
	for i, name := range arrays {
		info.column(name).element = &elementType{described.Fields[i].DataTypeOID, described.Fields[i].TypeModifier}
	}
	return nil
}

// failPlan is among a session's last statements: where no answer comes in time,
// none is waited for any longer.
func (s *pgSession) failPlan(ctx context.Context, runID int64, attempt, plan int, reason string) error {
	s.cancel.mute.Store(true)
	return s.exec(ctx, "fail_plan", "SELECT cs9.fail_plan($1, $2, $3, $4)", runID, plan, attempt, reason)
}

// canceller cancels a statement on the server when its context ends, so that
// the connection stays usable for what has to be recorded. While it is mute it
// just stops reading: the owner's session that only listens, where the request
// could hit the next statement instead, and a session that is given up.
type canceller struct {
	mute     atomic.Bool
	request  pgconn.CancelRequestContextWatcherHandler
	deadline pgconn.DeadlineContextWatcherHandler
	current  ctxwatch.Handler
}

func newCanceller(conn *pgconn.PgConn) *canceller {
	return &canceller{
		request:  pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelWait},
		deadline: pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()},
	}
}

// HandleCancel is called when the context of a running statement ends.
func (c *canceller) HandleCancel(ctx context.Context) {
	c.current = &c.request
	if c.mute.Load() {
		c.current = &c.deadline
	}
	c.current.HandleCancel(ctx)
}

// HandleUnwatchAfterCancel is called when that statement has returned.
func (c *canceller) HandleUnwatchAfterCancel() { c.current.HandleUnwatchAfterCancel() }

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
