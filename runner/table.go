package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/lann/builder"
)

// Table is a handle to one table of a task, for the plan that is running. A
// plan has one connection, so that the calls of its handles come one after the
// other. When the plan has ended its handles refuse every call.
//
// In a run with a run key what a handle writes or deletes is staged, and what
// it reads is the published table: a plan does not see its own writes. Within
// one plan deletes come before writes, whatever their order in the code.
type Table struct {
	alias string
	info  *tableInfo
	scope *scope
}

// Name returns the table's qualified name, quoted where SQL needs it.
// It is "" for a handle that is nil or the zero Table.
func (t *Table) Name() string {
	if t == nil || t.info == nil {
		return ""
	}
	return t.info.label
}

// Insert writes rows that must not be there yet. The rows may leave out columns
// that have a default or may be NULL, and must leave out generated ones.
func (t *Table) Insert(ctx context.Context, rows Source) error {
	return t.write(ctx, Insert, rows, false)
}

// Upsert writes rows in place of those with the same key. The rows must have
// every column, except generated ones: a column left out would lose its value.
func (t *Table) Upsert(ctx context.Context, rows Source) error {
	return t.write(ctx, Upsert, rows, false)
}

// DropAllRowsAndThenInsert empties the table and inserts. The rows are looked
// at first: a nil source, a nil slice or rows of the wrong shape clear nothing.
// Without a run key both are one transaction, and readers wait for it.
func (t *Table) DropAllRowsAndThenInsert(ctx context.Context, rows Source) error {
	return t.write(ctx, Insert, rows, true)
}

// DropAllRowsAndThenUpsert is DropAllRowsAndThenInsert with an upsert.
func (t *Table) DropAllRowsAndThenUpsert(ctx context.Context, rows Source) error {
	return t.write(ctx, Upsert, rows, true)
}

// DropAllRows deletes all rows of the table.
func (t *Table) DropAllRows(ctx context.Context) error {
	return t.deleteRows(ctx, "drop all rows", "all", "")
}

// DropRowsWhere deletes the rows for which the condition is true. pred is a
// string with a ? for each of args (and ?? for a question mark), a map from
// column to value, or an expression of Squirrel's; ANY(?) and IN (?) take a slice.
//
// The condition is recorded as one SQL text and may use immutable functions and
// the table's own columns only. What is empty is refused with [ErrBadCondition]
// and never means "all rows" or "no rows": an empty Eq or And, an empty list, a
// blank string, an argument that is NULL in whatever way (a nil pointer, an
// sql.Null… or a pgtype value that is not Valid). In a map, an Eq or a NotEq nil
// itself asks for IS NULL, or IS NOT NULL; their keys are columns of the table.
//
// A text given for a column of dates or times is in ISO form, a timestamptz with
// its offset, so that no DateStyle or TimeZone changes it. What the condition's
// own words leave open, 'now' too, means what it means when the condition is
// recorded. A time with nanoseconds is refused: PostgreSQL cannot compare with it.
func (t *Table) DropRowsWhere(ctx context.Context, pred any, args ...any) error {
	return t.deleteWhere(ctx, "drop rows where", "where", pred, args)
}

// KeepRowsWhere deletes all rows but those for which the condition is true. See
// DropRowsWhere for what pred can be.
func (t *Table) KeepRowsWhere(ctx context.Context, pred any, args ...any) error {
	return t.deleteWhere(ctx, "keep rows where", "keep", pred, args)
}

// Query reads, in a transaction that can only read. A query without From reads
// this table's published rows. A ? in the query's own words stands for an
// argument, and ?? for a question mark. The rows must be closed, or read to their
// end, before the next call of the plan.
func (t *Table) Query(ctx context.Context, query squirrel.SelectBuilder) (pgx.Rows, error) {
	if err := t.missing("query"); err != nil {
		return nil, err
	}
	if _, hasFrom := builder.Get(query, "From"); !hasFrom {
		query = query.From(t.info.label)
	}
	sql, args, err := query.PlaceholderFormat(squirrel.Question).ToSql()
	if err == nil {
		sql, _, err = bind(sql, len(args), func(_ string, i int) (string, error) { return fmt.Sprintf("$%d", i+1), nil })
	}
	if err != nil {
		return nil, t.name("query", badArgument("correct the query", "%v", err))
	}
	ctx, done, err := t.enter(ctx, "query", false)
	if err != nil {
		return nil, err
	}
	rows, err := t.scope.worker.query(ctx, t.info, sql, args)
	if err != nil {
		done()
		return nil, t.name("query", err)
	}
	return t.scope.track(&readRows{Rows: rows, table: t}, done), nil
}

// readRows are the rows of a query whose error names it.
type readRows struct {
	pgx.Rows
	table *Table
}

// Err says what stopped the query.
func (r *readRows) Err() error { return r.table.name("query", r.Rows.Err()) }

// NRow counts the published rows of the table.
func (t *Table) NRow(ctx context.Context) (int64, error) {
	if err := t.missing("count rows"); err != nil {
		return 0, err
	}
	ctx, done, err := t.enter(ctx, "count rows", false)
	if err != nil {
		return 0, err
	}
	defer done()
	n, err := t.scope.worker.countLive(ctx, t.info)
	return n, t.name("count rows", err)
}

// Staged counts the rows that this run has staged for the table, in all its
// plans. Without a run key nothing is staged, and it is an error.
func (t *Table) Staged(ctx context.Context) (int64, error) {
	if err := t.missing("count staged rows"); err != nil {
		return 0, err
	}
	ctx, done, err := t.enter(ctx, "count staged rows", false)
	if err != nil {
		return 0, err
	}
	defer done()
	if t.scope.run.id == 0 {
		return 0, t.name("count staged rows", badArgument("give the run a run key, or use NRow", "a run without a run key stages nothing"))
	}
	n, err := t.scope.worker.countStaged(ctx, t.info, t.scope.run.id)
	return n, t.name("count staged rows", err)
}

// missing is the error for a nil handle, which is what a name gives that is not
// in Task.Tables, and for a Table that no run has made.
func (t *Table) missing(what string) error {
	switch {
	case t == nil:
	case t.info == nil || t.scope == nil:
		return refuse(ErrBadArgument, what, "the handle is a zero Table, which is none of a run", "use the handles that the task's functions are given")
	default:
		return nil
	}
	return refuse(ErrBadArgument, what, "the task has no table of this name, so that its handle is nil", "use one of the names in Task.Tables")
}

func errNilSource(what string) error {
	return refuse(ErrNoRows, "", what+" gave no row source (nil)", "nothing was written or cleared; pass a source without rows when there are none")
}

func (t *Table) write(ctx context.Context, op Op, rows Source, clear bool) error {
	what := op.String()
	if clear {
		what = "drop all rows and then " + what
	}
	if err := t.missing(what); err != nil {
		return err
	}
	switch {
	case rows == nil:
		return t.name(what, errNilSource("the caller"))
	case clear && rows.nothing():
		return t.name(what, refuse(ErrNoRows, "", "the row source is a nil slice, so that nothing arrived",
			"nothing was cleared; pass an empty slice when there are no rows"))
	}
	ctx, done, err := t.enter(ctx, what, true)
	if err != nil {
		return err
	}
	defer done()

	stream, err := rows.open()
	if err != nil {
		return t.name(what, err)
	}
	defer stream.stop()
	if err := t.info.checkColumns(op, stream.columns); err != nil {
		return t.name(what, err)
	}
	n, err := t.scope.worker.write(ctx, t.info, op, stream, clear)
	t.scope.rows += n
	return t.name(what, err)
}

func (t *Table) deleteWhere(ctx context.Context, what, kind string, pred any, args []any) error {
	if err := t.missing(what); err != nil {
		return err
	}
	text, err := condition(pred, args, t.info.columns)
	if err != nil {
		return t.name(what, err)
	}
	return t.deleteRows(ctx, what, kind, text)
}

func (t *Table) deleteRows(ctx context.Context, what, kind, condition string) error {
	if err := t.missing(what); err != nil {
		return err
	}
	ctx, done, err := t.enter(ctx, what, true)
	if err != nil {
		return err
	}
	defer done()
	return t.name(what, t.scope.worker.deleteRows(ctx, t.info, kind, condition))
}

// name puts the call and the table into an error.
func (t *Table) name(what string, err error) error {
	if err == nil {
		return nil
	}
	e := place(err, "", "", 0, "")
	e.Op, e.Table = what, t.info.label
	return e
}

// checkColumns refuses columns that the write cannot have, and the lack of
// those it must have. Nil columns mean that there are no rows.
func (info *tableInfo) checkColumns(op Op, columns []string) error {
	if columns == nil {
		return nil
	}
	var unknown, forced, missing []string
	for _, name := range columns {
		switch c := info.column(name); {
		case c == nil:
			unknown = append(unknown, name)
		case c.generated || c.identityAlways:
			forced = append(forced, name)
		}
	}
	for _, c := range info.columns {
		mayMiss := c.generated || c.identityAlways || op == Insert && (c.hasDefault || !c.notNull)
		if (!mayMiss || c.key && op == Upsert) && !slices.Contains(columns, c.name) {
			missing = append(missing, c.name)
		}
	}
	switch {
	case len(unknown) > 0:
		return badArgument("a field's column is its db tag, else its name in snake_case", "the table has no column %s; its columns are %s",
			strings.Join(unknown, ", "), strings.Join(info.names(), ", "))
	case len(forced) > 0:
		return badArgument("leave it out of the rows", "the database itself gives column %s its value", strings.Join(forced, ", "))
	case len(missing) > 0 && op == Upsert:
		return badArgument("an upsert needs every column, so that none loses its value, and the key", "the rows lack column %s", strings.Join(missing, ", "))
	case len(missing) > 0:
		return badArgument("it is NOT NULL and has no default", "the rows lack column %s", strings.Join(missing, ", "))
	}
	return nil
}

func (info *tableInfo) column(name string) *column {
	for i := range info.columns {
		if info.columns[i].name == name {
			return &info.columns[i]
		}
	}
	return nil
}

func (info *tableInfo) names() []string {
	names := make([]string, len(info.columns))
	for i, c := range info.columns {
		names[i] = c.name
	}
	return names
}

// String returns the handle's alias and table.
func (t *Table) String() string {
	if t == nil {
		return "no table"
	}
	return fmt.Sprintf("%s (%s)", t.alias, t.Name())
}
