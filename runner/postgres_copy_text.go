package runner

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// isBinary reports whether all that the rows can hold goes to the server in
// binary as it is. Text for a column of another type does not: the driver would
// read it, by rules that are not PostgreSQL's. Nor does a value for a type that
// the driver does not know: its bytes would be taken for those of that type.
func (c *copySource) isBinary() bool {
	// COPY asks for the binary form of each column's type, also of those that it does not write
	if c.rows.types == nil || slices.ContainsFunc(c.table.columns, func(c column) bool { return !c.readsBinary }) {
		return false
	}
	for i, t := range c.rows.types {
		if !isBinary(c.types, c.columns[i].oid, t) {
			return false
		}
	}
	return true
}

var (
	valuerType   = reflect.TypeFor[driver.Valuer]()
	timeType     = reflect.TypeFor[time.Time]()
	driverTypes  = reflect.TypeFor[pgtype.Date]().PkgPath()
	addressTypes = []string{"net", "net/netip"}
)

func isBinary(types *pgtype.Map, oid uint32, t reflect.Type) bool {
	known, ok := types.TypeForOID(oid)
	if !ok || !known.Codec.FormatSupported(pgtype.BinaryFormatCode) {
		return false
	}
	for t.Kind() == reflect.Pointer && !t.Implements(valuerType) {
		t = t.Elem()
	}
	switch {
	case t.PkgPath() == driverTypes:
		return t.Name() != "Text" && !strings.Contains(t.Name(), "string")
	case t.Implements(valuerType):
		return false
	case oid == pgtype.JSONOID, oid == pgtype.JSONBOID:
		// anything else is marshalled by methods of the caller's, which may panic
		return t.Kind() == reflect.String || isBytes(t)
	case isBytes(t):
		return takesBytes(oid)
	case t == timeType:
		return true
	}
	switch t.Kind() {
	case reflect.String:
		return isTextual(oid)
	case reflect.Slice, reflect.Array:
		array, ok := known.Codec.(*pgtype.ArrayCodec)
		return ok && !isNested(t) && isBinary(types, array.ElementType.OID, t.Elem())
	case reflect.Struct:
		return t.PkgPath() == addressTypes[0] || t.PkgPath() == addressTypes[1]
	case reflect.Bool, reflect.Float32, reflect.Float64:
		return true
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8
}

// isNested reports a slice of slices, for an array of several dimensions.
func isNested(t reflect.Type) bool {
	isList := func(t reflect.Type) bool {
		return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && !isBytes(t)
	}
	return isList(t) && isList(t.Elem())
}

// isTextual reports a type whose binary form is its text.
func isTextual(oid uint32) bool {
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.JSONOID, pgtype.JSONBOID, pgtype.XMLOID:
		return true
	}
	return false
}

// takesBytes reports a type that the driver has bytes for.
func takesBytes(oid uint32) bool {
	switch oid {
	case pgtype.ByteaOID, pgtype.UUIDOID, pgtype.InetOID, pgtype.CIDROID, pgtype.MacaddrOID, pgtype.Macaddr8OID:
		return true
	}
	return isTextual(oid)
}

// copyChunk is how many bytes of text are sent at once, or a little more.
const copyChunk = 64 << 10

// copyText streams the rows as text.
func (w *pgWorker) copyText(ctx context.Context, into pgx.Identifier, src *copySource) (int64, error) {
	reader, writer := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = writer.CloseWithError(src.send(writer)) // is always nil
	}()
	tag, err := w.conn.PgConn().CopyFrom(ctx, reader, fmt.Sprintf("COPY %s (%s) FROM STDIN", into.Sanitize(), quoteAll(src.rows.columns)))
	_ = reader.Close() // is always nil
	<-done
	return tag.RowsAffected(), err
}

// send writes all rows to out.
func (c *copySource) send(out io.Writer) error {
	var buffer []byte
	for c.Next() {
		if c.err = protect(func() (err error) { buffer, err = c.appendRow(buffer); return err }); c.err != nil {
			return c.err
		}
		if len(buffer) >= copyChunk {
			if _, err := out.Write(buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
	}
	if c.err != nil || len(buffer) == 0 {
		return c.err
	}
	_, err := out.Write(buffer)
	return err
}

func (c *copySource) appendRow(buffer []byte) ([]byte, error) {
	for i, value := range c.row {
		if i > 0 {
			buffer = append(buffer, '\t')
		}
		text, err := c.text(c.columns[i].oid, value)
		switch {
		case err != nil:
			return nil, c.doesNotFit(c.columns[i], value, err)
		case text == nil:
			buffer = append(buffer, `\N`...)
			continue
		}
		buffer, c.scratch = appendEscaped(buffer, text), text[:0]
	}
	return append(buffer, '\n'), nil
}

// text returns a value as PostgreSQL reads it in any session, nil for NULL. It is
// valid until the next call.
func (c *copySource) text(oid uint32, value any) ([]byte, error) {
	if c.scratch == nil {
		c.scratch = make([]byte, 0, 64) // nil would be NULL
	}
	_, known := c.types.TypeForOID(oid)
	if _, isBytes := plain(value).([]byte); isBytes && !known {
		return nil, fmt.Errorf("the driver does not know the type, so that bytes could be its text or its binary form: pass the text")
	}
	if oid == pgtype.IntervalOID && isInterval(value) {
		return c.interval(value)
	}
	if oid == pgtype.IntervalArrayOID {
		array, ok, err := c.intervals(value)
		if err != nil {
			return nil, err
		}
		if ok {
			oid, value = pgtype.TextArrayOID, array
		}
	}
	if t := reflect.TypeOf(value); t != nil && isNested(t) && (t.Kind() == reflect.Array || !reflect.ValueOf(value).IsNil()) {
		array, err := flatten(reflect.ValueOf(value))
		if err != nil {
			return nil, err
		}
		value = array
	}
	text, err := c.encode(oid, known, value)
	if err != nil {
		return nil, err
	}
	escape := map[uint32]int{pgtype.JSONOID: 1, pgtype.JSONBOID: 1, pgtype.JSONArrayOID: 2, pgtype.JSONBArrayOID: 2}[oid]
	if escape > 0 && writesReplacement(text, escape) && hasBrokenText(reflect.ValueOf(plain(value))) {
		return nil, fmt.Errorf("a text in it is not valid UTF-8, and would be changed: %.80q", text)
	}
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil, fmt.Errorf("its text %.80q holds a zero byte or is not valid UTF-8", text)
	}
	return text, nil
}

// encode returns the driver's text of a value. An array of a type that the driver
// does not know is one of texts.
func (c *copySource) encode(oid uint32, known bool, value any) ([]byte, error) {
	text, err := c.types.Encode(oid, pgtype.TextFormatCode, value, c.scratch[:0])
	if kind := reflect.ValueOf(value).Kind(); err != nil && !known && (kind == reflect.Slice || kind == reflect.Struct) {
		return c.types.Encode(pgtype.TextArrayOID, pgtype.TextFormatCode, value, c.scratch[:0])
	}
	return text, err
}

// flatten makes an array of several dimensions of slices in slices. The driver has
// a way of its own for them, which it takes or not by what it encoded before.
func flatten(list reflect.Value) (pgtype.Array[any], error) {
	array := pgtype.Array[any]{Dims: []pgtype.ArrayDimension{}, Elements: []any{}, Valid: true}
	level := []reflect.Value{list}
	for t := list.Type(); (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && !isBytes(t); t = t.Elem() {
		var next []reflect.Value
		length := -1
		for _, part := range level {
			if length >= 0 && part.Len() != length {
				return array, fmt.Errorf("its parts have %d and %d elements, and those of an array have the same number", length, part.Len())
			}
			length = part.Len()
			for i := range length {
				next = append(next, part.Index(i))
			}
		}
		if length <= 0 {
			array.Dims = []pgtype.ArrayDimension{} // all of it is empty
			return array, nil
		}
		array.Dims = append(array.Dims, pgtype.ArrayDimension{Length: int32(length), LowerBound: 1})
		level = next
	}
	for _, element := range level {
		array.Elements = append(array.Elements, element.Interface())
	}
	return array, nil
}

func isInterval(value any) bool {
	switch value.(type) {
	case pgtype.IntervalValuer, time.Duration, *time.Duration:
		return true
	}
	return false
}

// interval gives each field its sign, because a sign in front of all means all of
// them in a session whose IntervalStyle is sql_standard.
func (c *copySource) interval(value any) ([]byte, error) {
	raw, err := c.types.Encode(pgtype.IntervalOID, pgtype.BinaryFormatCode, value, c.scratch[:0])
	if err != nil || raw == nil {
		return nil, err
	}
	micros := int64(binary.BigEndian.Uint64(raw))
	days, months := int32(binary.BigEndian.Uint32(raw[8:])), int32(binary.BigEndian.Uint32(raw[12:]))
	switch {
	case micros == math.MaxInt64 && days == math.MaxInt32 && months == math.MaxInt32:
		return append(raw[:0], "infinity"...), nil
	case micros == math.MinInt64 && days == math.MinInt32 && months == math.MinInt32:
		return append(raw[:0], "-infinity"...), nil
	}
	sign, rest := "+", uint64(micros)
	if micros < 0 {
		sign, rest = "-", -rest
	}
	seconds := rest / 1e6
	return fmt.Appendf(raw[:0], "%+d mons %+d days %s%02d:%02d:%02d.%06d",
		months, days, sign, seconds/3600, seconds/60%60, seconds%60, rest%1e6), nil
}

// intervals makes texts of an array of intervals, each as interval does; false for
// what is no array, or none at all.
func (c *copySource) intervals(value any) (array pgtype.Array[any], ok bool, err error) {
	v := pointedTo(value)
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return array, false, nil
	}
	getter, isArray := v.Interface().(pgtype.ArrayGetter)
	switch {
	case isArray && getter.Dimensions() != nil:
		array.Dims, array.Valid = getter.Dimensions(), true
		for i := range elementCount(array.Dims) {
			array.Elements = append(array.Elements, getter.Index(i))
		}
	case !isArray && (v.Kind() == reflect.Array || v.Kind() == reflect.Slice && !v.IsNil()) && !isBytes(v.Type()):
		if array, err = flatten(v); err != nil {
			return array, false, err
		}
	default:
		return array, false, nil
	}
	for i, element := range array.Elements {
		if !isInterval(element) {
			continue
		}
		text, err := c.interval(element)
		if err != nil {
			return array, false, err
		}
		if array.Elements[i] = any(string(text)); text == nil {
			array.Elements[i] = nil
		}
	}
	return array, true, nil
}

// appendEscaped appends a value as COPY reads it.
func appendEscaped(buffer, text []byte) []byte {
	for _, b := range text {
		switch b {
		case '\\':
			buffer = append(buffer, '\\', '\\')
		case '\n':
			buffer = append(buffer, '\\', 'n')
		case '\r':
			buffer = append(buffer, '\\', 'r')
		case '\t':
			buffer = append(buffer, '\\', 't')
		default:
			buffer = append(buffer, b)
		}
	}
	return buffer
}
