package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainDefault(t *testing.T) {
	for _, c := range []struct{ sql, columnType, want string }{
		{"0", "integer", "0"},
		{"'-1'::integer", "integer", "-1"},
		{"'-1'::integer", "numeric(10,2)", "-1"},
		{"'-3000000000'::bigint", "bigint", "-3000000000"},
		{"'-5'::bigint", "bigint", "'-5'"},
		{"'-1.5'::numeric", "numeric(10,2)", "-1.5"},
		{"'-1.5'::numeric", "text", "'-1.5'::numeric"},
		{"'x'::text", "text", "'x'"},
		{"'x'::character varying", "character varying(20)", "'x'"},
		{"'x'::text", "character varying(20)", "'x'::text"},
		{"'it''s; ::text'::text", "text", "'it''s; ::text'"},
		{"('a'::text || 'b'::text)", "text", "'a'::text || 'b'::text"},
		{"'a'::text || 'b'::text", "text", "'a'::text || 'b'::text"},
		{`E'a\\b\n'::text`, "text", `E'a\\b\n'`},
		{"'{}'::text[]", "text[]", "'{}'"},
		{"'G'::public.mpaa_rating", "public.mpaa_rating", "'G'"},
		{"'2024-01-01 00:00:00'::timestamp without time zone", "timestamp(3) without time zone", "'2024-01-01 00:00:00'"},
		{"('now'::text)::date", "date", "('now'::text)::date"},
		{"now()", "timestamp with time zone", "now()"},
	} {
		require.Equal(t, c.want, plainDefault(c.sql, c.columnType), c.sql)
	}
}

func TestBare(t *testing.T) {
	for sql, want := range map[string]string{
		"((n >= 0))":                   "n >= 0",
		"(a) OR (b)":                   "(a) OR (b)",
		"(a = ')')":                    "a = ')'",
		`(a = E'\')' OR "b)" = 'c')`:   `a = E'\')' OR "b)" = 'c'`,
		"CASE\n    WHEN a THEN 1\nEND": "CASE WHEN a THEN 1 END",
		"f(\nCASE\n    WHEN a THEN 'x\n  y'\nEND)": "f( CASE WHEN a THEN 'x\n  y' END)",
	} {
		require.Equal(t, want, bare(sql))
	}
}

func TestParseBound(t *testing.T) {
	text := func(s string) boundValue { return boundValue{text: s} }
	word := func(s string) boundValue { return boundValue{word: s} }
	for sql, want := range map[string]bound{
		"DEFAULT": {isDefault: true},
		`FOR VALUES IN ('it''s', NULL, E'a\\b', 5, 'a, b)')`:           {values: []boundValue{text("it's"), word("NULL"), text(`a\b`), text("5"), text("a, b)")}},
		"FOR VALUES IN (true)":                                         {values: []boundValue{text("true")}},
		"FOR VALUES FROM ('2024-01-01', MINVALUE) TO ('-5', MAXVALUE)": {from: []boundValue{text("2024-01-01"), word("MINVALUE")}, to: []boundValue{text("-5"), word("MAXVALUE")}},
		"FOR VALUES WITH (modulus 4, remainder 3)":                     {modulus: 4, remainder: 3},
	} {
		got, ok := parseBound(sql)
		require.True(t, ok, sql)
		require.Equal(t, want, got)
	}
	for _, sql := range []string{"", "FOR VALUES IN (f(1))", "FOR VALUES FROM (1)", "FOR VALUES"} {
		_, ok := parseBound(sql)
		require.False(t, ok, sql)
	}
}

func TestIndexItems(t *testing.T) {
	head := `ON s."t USING" USING btree (`
	got, ok := indexItems(`CREATE INDEX x `+head+`"a,b" COLLATE "C" text_pattern_ops DESC NULLS LAST, lower((c)::text) NULLS FIRST, ((d || ', '::text)) s."o c") INCLUDE (e) WHERE (e > 0)`,
		head, []string{`"a,b"`, "lower((c)::text)", "((d || ', '::text))"})
	require.True(t, ok)
	require.Equal(t, []itemRest{{`"C"`, "text_pattern_ops", "desc", "last", false}, {nulls: "first"}, {opclass: `s."o c"`}}, got)
	got, ok = indexItems("CREATE INDEX x ON s.t USING gist (a tsvector_ops (siglen='32'))", "ON s.t USING gist (", []string{"a"})
	require.True(t, ok)
	require.Equal(t, []itemRest{{opclass: "tsvector_ops", options: true}}, got)
	_, ok = indexItems("CREATE INDEX x ON s.t USING gist (b)", "ON s.t USING gist (", []string{"a"})
	require.False(t, ok)
	require.Equal(t, `s."o.c"`, nameInFile(`s."o.c"`))
	require.Equal(t, "en-x-icu", nameInFile(`"en-x-icu"`))
}
