package matrix

import "github.com/cs9gen/cs9gen/runner"

// slots is how many kinds a table has: a struct has its column in a tag.
const slots = 8

type row0[T any] struct {
	How string
	N   int
	V   T `db:"v0"`
}

type row1[T any] struct {
	How string
	N   int
	V   T `db:"v1"`
}

type row2[T any] struct {
	How string
	N   int
	V   T `db:"v2"`
}

type row3[T any] struct {
	How string
	N   int
	V   T `db:"v3"`
}

type row4[T any] struct {
	How string
	N   int
	V   T `db:"v4"`
}

type row5[T any] struct {
	How string
	N   int
	V   T `db:"v5"`
}

type row6[T any] struct {
	How string
	N   int
	V   T `db:"v6"`
}

type row7[T any] struct {
	How string
	N   int
	V   T `db:"v7"`
}

// structRow is a row of one struct, whose field has the type of the value.
func structRow[T any](slot int, how string, n int, v T) runner.Source {
	return []func() runner.Source{
		func() runner.Source { return runner.Rows([]row0[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row1[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row2[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row3[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row4[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row5[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row6[T]{{how, n, v}}) },
		func() runner.Source { return runner.Rows([]row7[T]{{how, n, v}}) },
	}[slot]()
}
