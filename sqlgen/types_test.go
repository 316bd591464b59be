package sqlgen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWiden(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     widening
	}{
		{"smallint", "integer", rewrites},
		{"integer", "bigint", rewrites},
		{"bigint", "numeric", rewrites},
		{"bigint", "integer", narrows},
		{"integer", "numeric(5,2)", narrows},
		{"numeric", "integer", narrows},
		{"real", "double precision", rewrites},
		{"double precision", "real", narrows},
		{"varchar(5)", "varchar(6)", free},
		{"varchar(5)", "varchar", free},
		{"varchar(5)", "text", free},
		{"varchar(5)", "varchar(4)", narrows},
		{"varchar", "varchar(4)", narrows},
		{"text", "varchar", narrows},
		{"char(5)", "text", narrows}, // which would lose its blanks
		{"numeric(8,2)", "numeric", free},
		{"numeric(8,2)", "numeric(9,2)", free},
		{"numeric(8,2)", "numeric(9,3)", rewrites},
		{"numeric(8,2)", "numeric(8,3)", narrows},
		{"numeric(8,2)", "numeric(9,1)", narrows},
		{"numeric(8)", "numeric(8,0)", free},
		{"numeric", "numeric(9,1)", narrows},
		{"date", "timestamptz", narrows}, // whose meaning is the session's
		{"integer[]", "bigint[]", narrows},
		{`text COLLATE "C"`, "text", narrows},
	} {
		require.Equal(t, c.want, widen(c.from, c.to), "%s to %s", c.from, c.to)
	}
}

func TestOneSpelling(t *testing.T) {
	for written, want := range map[string]string{
		"int4": "integer", "Int": "integer", "character  varying( 10 )": "varchar(10)", "DECIMAL (8, 2)": "numeric(8,2)",
		"timestamp with time zone": "timestamptz", "float8": "double precision", "float(3)": "float(3)", "Text": "text",
		"int4[]": "int4[]", `"Mood"`: `"Mood"`, "public.Mood": "public.Mood", `text COLLATE "C"`: `text COLLATE "C"`,
		"timestamp(3) with time zone": "timestamp(3) with time zone",
	} {
		require.Equal(t, want, oneSpelling(written), written)
	}
}

func TestRenameIn(t *testing.T) {
	for sql, want := range map[string]string{
		"n > 0":                    "total > 0",
		"N+1 > x.n":                "total+1 > x.total",
		`"n" > 'n' AND "N" > 0`:    `total > 'n' AND "N" > 0`,
		"nn > 0 AND n_ < $x$n$x$":  "nn > 0 AND n_ < $x$n$x$",
		"coalesce(n, 0)::text > n": "coalesce(total, 0)::text > total",
	} {
		require.Equal(t, want, renameIn(sql, rename{"n", "total"}), sql)
	}
	require.Equal(t, `"a b" > 0`, renameIn("n > 0", rename{"n", "a b"}))
}
