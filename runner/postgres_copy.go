package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// copyRows streams the rows into a table by COPY: in binary where the driver
// knows the types of all columns and of what the rows hold for them, else as
// text, which the server reads as it reads a literal in SQL.
func (w *pgWorker) copyRows(ctx context.Context, info *tableInfo, into pgx.Identifier, rows *rowStream) (n int64, err error) {
	src := &copySource{ctx: ctx, rows: rows, table: info, types: w.conn.TypeMap(), columns: make([]*column, len(rows.columns))}
	for i, name := range rows.columns {
		src.columns[i] = info.column(name)
	}
	if src.binary = src.isBinary(); src.binary {
		n, err = w.conn.CopyFrom(ctx, into, rows.columns, src)
	} else {
		n, err = w.copyText(ctx, into, src)
	}
	switch {
	case err == nil:
		return n, nil
	case src.err != nil:
		// the server only knows that the client gave up
		return 0, src.err
	case ctx.Err() == nil && gaveUp(err):
		// or because of a value that it could not encode
		if wrong := src.blame(); wrong != nil {
			return 0, wrong
		}
	}
	return 0, src.refusal(err)
}

// copySource gives one row after the other to a COPY, which runs in a goroutine
// of its own, so that a panic must end here.
type copySource struct {
	ctx     context.Context
	rows    *rowStream
	table   *tableInfo
	types   *pgtype.Map
	columns []*column
	binary  bool
	number  int64
	row     []any
	err     error
	scratch []byte // holds one value as text
}

// Next reads the next row, and refuses a value that would be changed.
func (c *copySource) Next() bool {
	if c.ctx.Err() != nil {
		c.err = dbError(c.ctx, "copy", "", c.ctx.Err())
		return false
	}
	err := protect(func() (err error) {
		if c.row, err = c.rows.next(); err != nil || c.row == nil {
			return err
		}
		c.number++
		for i, value := range c.row {
			if err := c.check(c.columns[i], value); err != nil {
				return err
			}
			if c.binary {
				c.row[i] = withPostgresNaN(c.columns[i].oid, value) // in a buffer of the stream
			}
		}
		return nil
	})
	if err != nil {
		c.err = err
		return false
	}
	return c.row != nil
}

func (c *copySource) check(into *column, value any) error {
	inside := plain(value)
	if text, why := brokenText(into.oid, inside); why != "" {
		return badArgument("correct it before the write; no row of this write was kept",
			"row %d, column %s: %.80q cannot be written to %s: %s", c.number, into.name, text, into.typeName, why)
	}
	if why := into.loss(value, inside); why != "" {
		return lossy(into, c.number, value, why)
	}
	return nil
}

// Values returns the row that Next read.
func (c *copySource) Values() ([]any, error) { return c.row, nil }

// Err returns why Next stopped.
func (c *copySource) Err() error { return c.err }

// gaveUp reports a COPY that the client ended: to the server a cancelled one.
func gaveUp(err error) bool {
	var pgErr *pgconn.PgError
	return !errors.As(err, &pgErr) || pgErr.Code == "57014"
}

// blame finds the value of the last row that the driver could not encode.
func (c *copySource) blame() error {
	for i, value := range c.row {
		if _, err := c.types.Encode(c.columns[i].oid, pgtype.BinaryFormatCode, value, nil); err != nil {
			return c.doesNotFit(c.columns[i], value, err)
		}
	}
	return nil
}

// doesNotFit is the error for a value that the driver cannot encode.
func (c *copySource) doesNotFit(into *column, value any, err error) error {
	return badArgument("give it a Go type that fits, or text; no row of this write was kept",
		"row %d, column %s: %s (%T) does not fit %s: %v", c.number, into.name, show(value), value, into.typeName, err)
}

// refusedValue finds the number of a row and what follows in the context that
// PostgreSQL gives to an error of COPY.
var refusedValue = regexp.MustCompile(`(?s)(?:^|\n)COPY .*?, line ([0-9]+)(?:, column (.*)|:.*)?$`)

// refusal is the error for what the server refused. Where a value was not one of
// its column's type (class 22), it is the caller's mistake, and is named.
func (c *copySource) refusal(err error) error {
	placed := dbError(c.ctx, "copy", "", err)
	var pgErr *pgconn.PgError
	var e *Error
	if !errors.As(err, &pgErr) || !errors.As(placed, &e) || !strings.HasPrefix(pgErr.Code, "22") {
		return placed
	}
	e.err = errors.Join(ErrBadArgument, e.err)
	// the context is in the language of the server's messages
	if match := refusedValue.FindStringSubmatch(pgErr.Where); match != nil {
		where := "row " + match[1]
		for _, column := range c.columns {
			if rest, ok := strings.CutPrefix(match[2], column.name); ok && (rest == "" || strings.HasPrefix(rest, ": ")) {
				where += ", column " + column.name
			}
		}
		e.Message = fmt.Sprintf("%s: %s", where, e.Message)
	}
	return e
}
