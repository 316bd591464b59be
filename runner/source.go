package runner

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Source gives the rows of one write, one at a time. [Rows], [Seq] and [Values]
// make one; it is read once, from the first row to the last or to the first
// error.
//
// No source at all (nil) is an error that matches [ErrNoRows]: it means that
// nothing arrived. A source without rows is allowed, and writes nothing.
type Source interface {
	// open prepares to read. The stream must be stopped.
	open() (*rowStream, error)
	// nothing reports a nil slice: it may add no rows, but must not clear a table.
	nothing() bool
}

// rowStream reads a source.
type rowStream struct {
	// columns is nil when there is no row that could tell.
	columns []string
	// types are those of the columns' values; nil where each row may differ.
	types []reflect.Type
	// next returns the next row, which is valid until it is called again; nil
	// and no error at the end.
	next func() ([]any, error)
	// stop ends the reading early or late; it can be called again.
	stop func()
}

func noop() {}

// Rows are the rows of a slice. T is a struct, a pointer to one, or
// map[string]any.
//
// A struct's exported fields are its columns: the name is that of the tag
// `db:"name"`, else the field's own in snake_case (UserID: user_id); `db:"-"`
// leaves a field out, and an embedded struct's fields count as the struct's
// own. A map's keys are its columns; all rows must have the same.
func Rows[T any](rows []T) Source {
	next := func() (iter.Seq2[T, error], bool) {
		return func(yield func(T, error) bool) {
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}, true
	}
	return &sequence[T]{rows: next, isNil: rows == nil}
}

// Seq are the rows of an iterator, read while they are written, so that the
// memory of a write does not grow with its rows. An error of the iterator
// stops the write, and none of its rows stays. T is as for [Rows].
func Seq[T any](rows iter.Seq2[T, error]) Source {
	return &sequence[T]{rows: func() (iter.Seq2[T, error], bool) { return rows, rows != nil }, isNil: rows == nil}
}

type sequence[T any] struct {
	rows  func() (iter.Seq2[T, error], bool)
	isNil bool
}

func (s *sequence[T]) nothing() bool { return s.isNil }

func (s *sequence[T]) open() (*rowStream, error) {
	rows, ok := s.rows()
	if !ok {
		return nil, refuse(ErrNoRows, "", "the iterator is nil", "pass a source without rows when there are none")
	}
	pull, stop := iter.Pull2(rows)
	next := func() (reflect.Value, bool, error) {
		row, err, more := pull()
		return reflect.ValueOf(&row).Elem(), more, err
	}
	stream, err := readStream(reflect.TypeFor[T](), next, stop)
	if err != nil {
		guardStop(stop)
	}
	return stream, err
}

// readStream is the part of sequence.open that does not depend on T.
func readStream(t reflect.Type, pull func() (reflect.Value, bool, error), stop func()) (*rowStream, error) {
	number := 0
	take := func() (row reflect.Value, more bool, err error) {
		number++
		err = protect(func() error {
			var inner error
			row, more, inner = pull()
			return inner
		})
		if err != nil {
			err = fmt.Errorf("row %d: %w", number, err)
		}
		return row, more, err
	}

	// the columns of maps are those of the first row, so that it is read now
	var shape *rowShape
	var first reflect.Value
	var held bool
	var err error
	if t.Kind() == reflect.Map {
		if first, held, err = take(); err != nil {
			return nil, err
		}
		shape, err = mapShape(t, first, held)
	} else {
		shape, err = structShape(t)
	}
	if err != nil {
		return nil, err
	}

	ended := t.Kind() == reflect.Map && !held
	buffer := make([]any, len(shape.columns))
	next := func() ([]any, error) {
		if ended {
			return nil, nil
		}
		row := first
		if !held {
			var more bool
			var err error
			if row, more, err = take(); err != nil || !more {
				ended = true
				return nil, err
			}
		}
		held = false
		if err := shape.read(row, buffer); err != nil {
			return nil, fmt.Errorf("row %d: %w", number, err)
		}
		return buffer, nil
	}
	return &rowStream{columns: shape.columns, types: shape.types, next: next, stop: func() { guardStop(stop) }}, nil
}

// guardStop ends an iterator, which may run deferred functions of the caller's.
func guardStop(stop func()) {
	_ = protect(func() error { stop(); return nil })
}

// Values are rows of values in the order of columns.
func Values(columns []string, rows [][]any) Source {
	return &valueRows{columns: columns, rows: rows}
}

type valueRows struct {
	columns []string
	rows    [][]any
}

func (v *valueRows) nothing() bool { return v.rows == nil }

func (v *valueRows) open() (*rowStream, error) {
	if len(v.columns) == 0 {
		return nil, badArgument("name the columns", "Values has no columns")
	}
	if err := noneTwice(v.columns); err != nil {
		return nil, err
	}
	i := 0
	next := func() ([]any, error) {
		if i == len(v.rows) {
			return nil, nil
		}
		row := v.rows[i]
		i++
		if len(row) != len(v.columns) {
			return nil, badArgument("give each row one value a column", "row %d has %d values for %d columns", i, len(row), len(v.columns))
		}
		return row, nil
	}
	return &rowStream{columns: slices.Clone(v.columns), next: next, stop: noop}, nil
}

func noneTwice(columns []string) error {
	seen := make(map[string]bool, len(columns))
	for _, column := range columns {
		if seen[column] {
			return badArgument("name each column once", "column %q is there twice", column)
		}
		seen[column] = true
	}
	return nil
}

// concat is several sources, one after the other: the rows that a plan's
// analyses return. They must have the same columns, in whatever order.
type concat []Source

func (c concat) nothing() bool {
	return !slices.ContainsFunc(c, func(s Source) bool { return !s.nothing() })
}

func (c concat) open() (*rowStream, error) {
	streams := make([]*rowStream, 0, len(c))
	stop := func() {
		for _, s := range streams {
			s.stop()
		}
	}
	var columns []string
	var types []reflect.Type
	for _, source := range c {
		stream, err := source.open()
		if err != nil {
			stop()
			return nil, err
		}
		streams = append(streams, stream)
		switch {
		case stream.columns == nil:
		case columns == nil:
			columns, types = stream.columns, stream.types
		case !slices.Equal(columns, stream.columns), !slices.Equal(types, stream.types):
			types = nil
		}
	}
	at, buffer := 0, make([]any, len(columns))
	next := func() ([]any, error) {
		for ; at < len(streams); at++ {
			row, err := streams[at].next()
			if err != nil {
				return nil, err
			}
			if row == nil {
				continue
			}
			return buffer, reorder(row, streams[at].columns, columns, buffer)
		}
		return nil, nil
	}
	return &rowStream{columns: columns, types: types, next: next, stop: stop}, nil
}

// reorder copies a row with the columns from into the order of to.
func reorder(row []any, from, to []string, into []any) error {
	for i, column := range to {
		at := i
		if i >= len(from) || from[i] != column {
			at = slices.Index(from, column)
		}
		if at < 0 || len(from) != len(to) {
			return badArgument("return the same columns from each analysis of a plan",
				"the analyses returned different columns: %s, then %s", strings.Join(to, ", "), strings.Join(from, ", "))
		}
		into[i] = row[at]
	}
	return nil
}
