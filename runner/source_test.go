package runner

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type base struct {
	ID   int
	Note *string `db:"remark"`
}

type counted struct {
	base
	Week    int
	ISOWeek string
	N       float64 `db:"n_rows,omitempty"`
	At      time.Time
	Skipped string `db:"-"`
	private int
}

// read drains a source.
func read(t *testing.T, s Source) (columns []string, rows [][]any, err error) {
	t.Helper()
	stream, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	defer stream.stop()
	for {
		row, err := stream.next()
		if err != nil || row == nil {
			return stream.columns, rows, err
		}
		rows = append(rows, slices.Clone(row))
	}
}

func TestRowsOfStructs(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	rows := []counted{{base: base{ID: 1}, Week: 2, ISOWeek: "w", N: 3, At: day, private: 1}}
	want := []string{"id", "remark", "week", "iso_week", "n_rows", "at"}
	columns, got, err := read(t, Rows(rows))
	if err != nil || !slices.Equal(columns, want) {
		t.Fatalf("columns %v, %v; want %v", columns, err, want)
	}
	if wantRow := []any{1, (*string)(nil), 2, "w", 3.0, day}; !reflect.DeepEqual(got, [][]any{wantRow}) {
		t.Errorf("row %v, want %v", got, wantRow)
	}
	columns, got, err = read(t, Rows([]*counted{&rows[0]}))
	if err != nil || !slices.Equal(columns, want) || len(got) != 1 {
		t.Errorf("pointers: %v %v %v", columns, got, err)
	}
}

func TestRowsOfMaps(t *testing.T) {
	columns, rows, err := read(t, Rows([]map[string]any{{"b": 1, "a": 2}, {"a": 3, "b": nil}}))
	if err != nil || !slices.Equal(columns, []string{"a", "b"}) || !reflect.DeepEqual(rows, [][]any{{2, 1}, {3, nil}}) {
		t.Errorf("got %v %v %v", columns, rows, err)
	}
	columns, rows, err = read(t, Rows([]map[string]any{}))
	if err != nil || columns != nil || rows != nil {
		t.Errorf("no rows: %v %v %v", columns, rows, err)
	}
}

func TestSeqIsReadAsItIsWritten(t *testing.T) {
	made, stopped := 0, false
	seq := func(yield func(counted, error) bool) {
		defer func() { stopped = true }()
		for {
			made++
			if !yield(counted{}, nil) {
				return
			}
		}
	}
	stream, err := Seq[counted](seq).open()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := stream.next(); err != nil {
			t.Fatal(err)
		}
	}
	stream.stop()
	if made != 3 || !stopped {
		t.Errorf("made %d rows, stopped %v", made, stopped)
	}
}

func TestSourcesThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	failing := func(yield func(map[string]any, error) bool) {
		_ = yield(map[string]any{"a": 1}, nil) && yield(nil, broken)
	}
	panicking := func(yield func(counted, error) bool) {
		yield(counted{}, nil)
		panic(broken)
	}
	for name, c := range map[string]struct {
		source Source
		is     error
		says   string
	}{
		"not a struct": {Rows([]int{1}), ErrBadArgument, "rows of type int"},
		"no fields":    {Rows([]struct{ x int }{{1}}), ErrBadArgument, "no exported field"},
		"one column twice": {Rows([]struct {
			A, B int `db:"a"`
		}{{}}), ErrBadArgument, "twice"},
		"nil pointer":       {Rows([]*counted{nil}), ErrBadArgument, "row 1: "},
		"other keys":        {Rows([]map[string]any{{"a": 1}, {"b": 1}}), ErrBadArgument, "row 2: its columns are b"},
		"more keys":         {Rows([]map[string]any{{"a": 1}, {"a": 1, "b": 1}}), ErrBadArgument, "row 2: "},
		"map of int keys":   {Rows([]map[int]any{{1: 1}}), ErrBadArgument, "column names"},
		"nil iterator":      {Seq[counted](nil), ErrNoRows, "iterator is nil"},
		"failing iterator":  {Seq[map[string]any](failing), broken, "row 2: broken"},
		"panic":             {Seq[counted](panicking), broken, "row 2: panic: broken"},
		"short row":         {Values([]string{"a", "b"}, [][]any{{1, 2}, {1}}), ErrBadArgument, "row 2 has 1 values for 2 columns"},
		"no columns":        {Values(nil, [][]any{{1}}), ErrBadArgument, "no columns"},
		"column twice":      {Values([]string{"a", "a"}, nil), ErrBadArgument, "twice"},
		"different returns": {concat{Values([]string{"a"}, [][]any{{1}}), Values([]string{"b"}, [][]any{{1}})}, ErrBadArgument, "different columns: a, then b"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(t, c.source)
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.is, c.says)
			}
		})
	}
}

func TestConcatReordersColumns(t *testing.T) {
	columns, rows, err := read(t, concat{
		Rows([]map[string]any{}),
		Values([]string{"a", "b"}, [][]any{{1, 2}}),
		Values([]string{"b", "a"}, [][]any{{4, 3}}),
	})
	if err != nil || !slices.Equal(columns, []string{"a", "b"}) || !reflect.DeepEqual(rows, [][]any{{1, 2}, {3, 4}}) {
		t.Errorf("got %v %v %v", columns, rows, err)
	}
}

func TestNothingIsANilSliceOnly(t *testing.T) {
	var none iter.Seq2[counted, error]
	for source, want := range map[Source]bool{
		Rows([]counted(nil)):                   true,
		Rows([]counted{}):                      false,
		Values([]string{"a"}, nil):             true,
		Values([]string{"a"}, [][]any{}):       false,
		Seq(none):                              true,
		&concatBox{concat{Rows[counted](nil)}}: true,
	} {
		if source.nothing() != want {
			t.Errorf("%T: nothing is %v", source, !want)
		}
	}
}

// concatBox makes a concat a map key.
type concatBox struct{ concat }

func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"ID": "id", "UserID": "user_id", "ISOWeek": "iso_week", "N": "n", "N1": "n1", "Week2Day": "week2_day", "A_B": "a_b", "Ål": "ål",
	} {
		if got := snakeCase(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
