package oracle

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// kind is a type that a column can have.
type kind struct {
	name string
	// sql is the type as SQL. %[1]s is the qualified name of the type that make
	// makes, %[2]s the schema.
	sql  string
	make []string
	// values are texts, and SQL where they begin with "=". Few, so that keys
	// collide; the first are ordinary, and differ.
	values    []string
	key       bool // it has an order of its own, so that it can be in a key
	extension string
	version   int // from which it is there
}

// long is a text that no compression brings below the 2,704 bytes of a btree's entry.
const long = "=(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) AS g (i))"

var (
	integers = []string{"1", "2", "3", "0", "-1", "7"}
	texts    = []string{"a", "b", "B", "a ", "", `c'\`, "é", "ab", long}
	dates    = []string{"2026-03-04", "2026-04-03", "2026-03-25", "infinity", "-infinity", "03/04/2026", "0044-03-15 BC"}
)

// kinds are the types. One that is listed twice is drawn twice as often.
var kinds = []kind{
	{name: "integer", sql: "integer", values: integers, key: true},
	{name: "integer", sql: "integer", values: integers, key: true},
	{name: "integer", sql: "integer", values: integers, key: true},
	{name: "text", sql: "text", values: texts, key: true},
	{name: "text", sql: "text", values: texts, key: true},
	{name: "bigint", sql: "bigint", values: append([]string{"9223372036854775807"}, integers...), key: true},
	{name: "smallint", sql: "smallint", values: integers, key: true},
	{name: "numeric", sql: "numeric", values: []string{"1", "2.5", "3", "1.0", "1.00", "NaN", "-0", "100000000000000000000"}, key: true},
	{name: "numeric(4, 2)", sql: "numeric(4,2)", values: []string{"1", "1.5", "2.25", "NaN", "-1", "99.99"}, key: true},
	{name: "real", sql: "real", values: []string{"1", "0.1", "0", "-0", "NaN", "Infinity", "1e-40"}, key: true},
	{name: "double", sql: "double precision", values: []string{"1", "0.1", "0.30000000000000004", "-0", "0", "NaN", "-Infinity"}, key: true},
	{name: "boolean", sql: "boolean", values: []string{"true", "false"}, key: true},
	{name: "text C", sql: `text COLLATE "C"`, values: texts, key: true},
	{name: "varchar(3)", sql: "varchar(3)", values: []string{"a", "b", "abc", "A", "", "a "}, key: true},
	{name: "char(2)", sql: "char(2)", values: []string{"AA", "AB", "A", "A ", "", "é"}, key: true},
	{name: "char", sql: `"char"`, values: []string{"a", "b", "", "\\"}, key: true},
	{name: "name", sql: "name", values: []string{"a", "b", "A", strings.Repeat("n", 63)}, key: true},
	{name: "bytea", sql: "bytea", values: []string{`\x01`, `\x0102`, `\x`, `\x00`}, key: true},
	{name: "bit(3)", sql: "bit(3)", values: []string{"101", "100", "111", "000"}, key: true},
	{name: "bit varying(5)", sql: "bit varying(5)", values: []string{"101", "1010", "", "1"}, key: true},
	{name: "date", sql: "date", values: dates, key: true},
	{name: "timestamp", sql: "timestamp", values: []string{"2026-03-04", "2026-03-04 10:00:00.5", "2026-04-03", "infinity", "03/04/2026 01:00"}, key: true},
	{name: "timestamptz", sql: "timestamptz", values: []string{"2026-03-04 00:00", "2026-03-29 02:30", "2026-03-05 12:00Z", "2026-03-04 01:00+01", "-infinity", "2026-03-04 00:00Z"}, key: true},
	{name: "timestamptz(0)", sql: "timestamptz(0)", values: []string{"2026-03-04 00:00:00.6", "2026-03-04 00:00:02", "2026-03-05", "2026-03-04 00:00:01"}, key: true},
	{name: "time", sql: "time", values: []string{"10:00", "11:00", "00:00", "24:00", "10:00:00.000001"}, key: true},
	{name: "timetz", sql: "timetz", values: []string{"10:00+00", "11:00+01", "10:00"}, key: true},
	{name: "interval", sql: "interval", values: []string{"1 day", "1 mon", "2:03:04", "24:00", "30 days", "-1 2:03:04", "P1Y"}, key: true},
	{name: "interval day", sql: "interval day", values: []string{"1 day", "2 days", "0"}, key: true},
	{name: "interval(0)", sql: "interval(0)", values: []string{"1.6 seconds", "1 second", "3 seconds", "2 seconds"}, key: true},
	{name: "uuid", sql: "uuid", values: []string{"00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"}, key: true},
	{name: "inet", sql: "inet", values: []string{"10.0.0.1", "10.0.0.0/8", "::1"}, key: true},
	{name: "cidr", sql: "cidr", values: []string{"10.0.0.0/8", "10.0.0.0/16"}, key: true},
	{name: "macaddr", sql: "macaddr", values: []string{"08:00:2b:01:02:03", "08:00:2b:01:02:04"}, key: true},
	{name: "money", sql: "money", values: []string{"1.00", "2.50", "-1"}, key: true},
	{name: "oid", sql: "oid", values: []string{"1", "2", "4294967295"}, key: true},
	{name: "xid", sql: "xid", values: []string{"1", "2"}},
	{name: "xid8", sql: "xid8", values: []string{"1", "2"}, key: true},
	{name: "pg_lsn", sql: "pg_lsn", values: []string{"0/1", "1/0"}, key: true},
	{name: "tid", sql: "tid", values: []string{"(0,1)", "(0,2)"}, key: true},
	{name: "regclass", sql: "regclass", values: []string{"pg_class", "pg_type"}, key: true},
	{name: "json", sql: "json", values: []string{`{"a": 1}`, `{"a":1}`, `[1, 2]`, `"x"`}},
	{name: "jsonb", sql: "jsonb", values: []string{`{"a": 1}`, `{"a": 2, "b": [1]}`, `[1, 2]`, `null`, `1.0`}, key: true},
	{name: "xml", sql: "xml", values: []string{"<a/>", "<b>1</b>"}},
	{name: "tsvector", sql: "tsvector", values: []string{"a b", "a:1 c:2", "", "=(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 300) AS g (i))::tsvector"}, key: true},
	{name: "tsquery", sql: "tsquery", values: []string{"a & b", "a"}, key: true},
	{name: "point", sql: "point", values: []string{"(1,2)", "(2,1)"}},
	{name: "box", sql: "box", values: []string{"(1,1),(0,0)", "(2,2),(1,1)"}},
	{name: "circle", sql: "circle", values: []string{"<(0,0),1>", "<(1,1),2>"}},
	{name: "integer[]", sql: "integer[]", values: []string{"{1,2}", "{}", "{1,NULL}", "{{1},{2}}", "[0:1]={1,2}"}, key: true},
	{name: "text[]", sql: "text[]", values: []string{"{a,b}", "{}", `{"a b",NULL}`, `{""}`}, key: true},
	{name: "char(2)[]", sql: "char(2)[]", values: []string{"{AA,AB}", "{AA,AC}", "{A}"}, key: true},
	{name: "numeric(4,1)[]", sql: "numeric(4,1)[]", values: []string{"{1.0}", "{2.5}", "{1.5}"}, key: true},
	{name: "json[]", sql: "json[]", values: []string{`{"{\"a\": 1}"}`, "{}"}},
	{name: "int4range", sql: "int4range", values: []string{"[1,3)", "[2,5]", "empty", "(,3)"}, key: true},
	{name: "numrange", sql: "numrange", values: []string{"[1,3)", "[2,3)", "(,)", "[1.0,3.0)"}, key: true},
	{name: "tstzrange", sql: "tstzrange", values: []string{"[2026-01-01,2026-02-01)", "[2026-01-01 00:00+01,)", "empty"}, key: true},
	{name: "int4multirange", sql: "int4multirange", values: []string{"{[1,3)}", "{[1,2),[4,5)}", "{}"}, key: true},
	{name: "enum", sql: "%[1]s", make: []string{"CREATE TYPE %[1]s AS ENUM ('b', 'a', 'it''s')"}, values: []string{"a", "b", "it's"}, key: true},
	{name: "enum[]", sql: "%[1]s[]", make: []string{"CREATE TYPE %[1]s AS ENUM ('b', 'a')"}, values: []string{"{a}", "{b,a}", "{}"}, key: true},
	{name: "composite", sql: "%[1]s", make: []string{"CREATE TYPE %[1]s AS (x integer, y text)"}, values: []string{"(1,a)", "(1,)", "(,)", "(2,b)"}, key: true},
	{name: "composite of json", sql: "%[1]s", make: []string{"CREATE TYPE %[1]s AS (x integer, y json)"}, values: []string{`(1,"{""a"": 1}")`, "(2,1)"}},
	{name: "composite[]", sql: "%[1]s[]", make: []string{"CREATE TYPE %[1]s AS (x integer, y char(2))"}, values: []string{`{"(1,aa)"}`, `{"(1,ab)"}`}, key: true},
	{name: "range of text", sql: "%[1]s", make: []string{`CREATE TYPE %[1]s AS RANGE (subtype = text, collation = "C")`}, values: []string{"[a,b)", "[a,c)", "empty"}, key: true},
	{name: "citext", sql: "public.citext", extension: "citext", values: []string{"a", "b", "c", "A", "B "}, key: true},
	{name: "hstore", sql: "public.hstore", extension: "hstore", values: []string{"a=>1", "b=>NULL", ""}, key: true},
	{name: "ltree", sql: "public.ltree", extension: "ltree", values: []string{"a.b", "a", "b"}, key: true},
	{name: "collation that ignores case", sql: "text COLLATE %[1]s", make: []string{"CREATE COLLATION %[1]s (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"}, values: []string{"a", "b", "c", "A", "a "}, key: true},
}

// Domains are made over these: each over the type, over an array of it, and over a domain of it.
func init() {
	for _, k := range kinds[:len(kinds):len(kinds)] {
		switch k.name {
		case "char(2)", "bit(3)", "varchar(3)", "numeric(4, 2)", "interval day", "timestamptz(0)", "char(2)[]", "integer[]", "json", "int4range", "enum", "composite", "citext", "text", "date":
			kinds = append(kinds, domain(k, ""), domainOfDomain(k))
			if strings.HasSuffix(k.name, "]") || k.name == "char(2)" {
				kinds = append(kinds, domain(k, ""), domain(k, "CHECK (VALUE IS NOT NULL)"))
			}
		}
	}
}

func domain(k kind, rest string) kind {
	base := strings.ReplaceAll(k.sql, "%[1]s", "%[1]s_base")
	made := []string{}
	for _, m := range k.make {
		made = append(made, strings.ReplaceAll(m, "%[1]s", "%[1]s_base"))
	}
	made = append(made, "CREATE DOMAIN %[1]s AS "+base+" "+rest)
	k.make = made
	k.name, k.sql = "domain over "+k.name, "%[1]s"
	return k
}

func domainOfDomain(k kind) kind {
	k = domain(k, "")
	k.make = append(k.make[:len(k.make)-1], strings.Replace(k.make[len(k.make)-1], "%[1]s", "%[1]s_inner", 1), "CREATE DOMAIN %[1]s AS %[1]s_inner CHECK (true)")
	k.name = "domain over " + k.name
	return k
}

// typed is a kind with the type that was made for it.
type typed struct {
	kind
	sql string
}

// kind draws a type, and makes it.
func (w *world) kind(d *drawer, key bool) typed {
	for i := 0; ; i++ {
		s := d.sub("kind %d", i)
		k := kinds[0]
		if special, ok := d.option(85, "a kind"); ok {
			_ = special
			k = pickOf(s, kinds)
		}
		if key && !k.key || k.version > s.shared.server.version || k.extension != "" && !s.shared.server.extensions[k.extension] {
			continue
		}
		if k.extension != "" {
			w.before(fmt.Sprintf("CREATE EXTENSION IF NOT EXISTS %s SCHEMA public", k.extension))
		}
		schema := w.schema(s)
		out := typed{kind: k, sql: k.sql}
		if len(k.make) > 0 {
			name := s.name(w.types, "type")
			text := func(sql string) string {
				for _, suffix := range []string{"_base", "_inner"} {
					sql = strings.ReplaceAll(sql, "%[1]s"+suffix, sqlgen.Qualified(schema, cutName(name, 57)+suffix))
				}
				return strings.ReplaceAll(sql, "%[1]s", sqlgen.Qualified(schema, name))
			}
			for _, m := range k.make {
				w.before(text(m))
			}
			out.sql = text(k.sql)
		}
		return out
	}
}

// literal writes a value of a kind.
func literal(value string) string {
	if sql, ok := strings.CutPrefix(value, "="); ok {
		return sql
	}
	return sqlgen.QuoteLiteral(value)
}
