package matrix

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// label is text of a type of its own.
type label string

// id is 16 bytes that print themselves, as the packages for UUIDs have them.
type id [16]byte

func (i id) String() string { return hex.EncodeToString(i[:]) }

func textValue(text string) value {
	return lit(text, g(label(text)), g(&text), g([]byte(text)), g(pgtype.Text{String: text, Valid: true}))
}

func allBytes() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func textKinds() []kind {
	doc := map[string]any{"a?": "?", "b": []int{1, 2}, `c\`: "\t\"\\n"}
	docText, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	uuid := [16]byte{0xa0, 0xee, 0xbc, 0x99, 15: 0x11}
	long := strings.Repeat("æ", 1<<19) // 1 MB
	const uuidText = "a0eebc99-0000-0000-0000-000000000011"
	return []kind{
		{name: "text", sql: "text", values: []value{
			textValue(""), tooLong(lit(long, g(&long))), textValue("😀 e\u0301 日本 \u202e"), textValue("a\nb\r\nc\td\v\f\b"),
			textValue(`\N`), textValue(`\.`), textValue(`\\ \t \`), textValue("NULL"), textValue(`'"''$$ ? ?? %s $1 E'\'' {} ,;`), textValue(" blanks "), textValue("\x01\x7f"),
			null(g((*string)(nil)), g(pgtype.Text{}), g([]byte(nil))),
		}},
		{name: "varchar", sql: "varchar(5)", values: []value{textValue(""), textValue("abcde"), textValue("ab   "), textValue("日本語日本"), null()}},
		{name: "char", sql: "char(5)", values: []value{textValue("ab"), textValue("abcde"), textValue(""), textValue("日本"), null()}},
		{name: "name", sql: "name", values: []value{textValue("x"), textValue(strings.Repeat("é", 31)), null()}},
		{name: "one_char", sql: `"char"`, values: []value{lit("a", g(byte('a')), g('a')), lit("\\"), null()}},
		{name: "bytea", sql: "bytea", values: []value{
			lit(`\x`, g([]byte{}), g("")), lit(`\x`+hex.EncodeToString(allBytes()), g(allBytes()), g(pointer(allBytes()))), lit(`a\\b\000`), lit("plain", g([]byte("plain"))),
			null(g([]byte(nil)), g((*[]byte)(nil))),
		}},
		{name: "uuid", sql: "uuid", values: []value{
			lit(uuidText, g(uuid), g(id(uuid)), g(pgtype.UUID{Bytes: uuid, Valid: true}), g(strings.ToUpper(uuidText)), g("{"+uuidText+"}"), g(strings.ReplaceAll(uuidText, "-", ""))),
			lit("00000000-0000-0000-0000-000000000000", g([16]byte{})), null(g(pgtype.UUID{}), g((*[16]byte)(nil))),
		}},
		{name: "json", sql: "json", noKey: true, values: []value{
			lit(`{"a": 1,  "a": 2}`, g(json.RawMessage(`{"a": 1,  "a": 2}`)), g([]byte(`{"a": 1,  "a": 2}`))), lit(string(docText), g(doc), g(&doc)),
			lit("null", g(json.RawMessage("null"))), lit(`"\u0000"`), lit(`{"How":"","N":1,"V":"x"}`, g(row0[string]{N: 1, V: "x"})),
			null(g((map[string]any)(nil)), g(json.RawMessage(nil)), g((*row0[int])(nil))),
		}},
		{name: "jsonb", sql: "jsonb", values: []value{
			lit(string(docText), g(doc), g(json.RawMessage(docText))), lit(`{"b": 1, "a": {"?": null}}`), lit("1.0", g(json.Number("1.0"))), same(lit("1.00")),
			lit("null", g(json.RawMessage("null"))), lit(`"?"`), lit("[]", g([]int{})), lit("12345678901234567890.1"), lit("true", g(true)),
			null(g((map[string]any)(nil)), g([]int(nil))),
		}},
		{name: "jsonpath", sql: "jsonpath", noKey: true, values: []value{lit(`$."a?" ? (@ > 1)`), null()}},
		{name: "xml", sql: "xml", noKey: true, needs: "SELECT '<a/>'::xml", values: []value{
			lit("<a>b &amp; ?</a>", g([]byte("<a>b &amp; ?</a>"))), lit(`x<!-- \N --> y`), null(g([]byte(nil))),
		}},
		{name: "tsvector", sql: "tsvector", values: []value{
			lit("'a':1A 'b c':2,3B", g(pgtype.TSVector{Valid: true, Lexemes: []pgtype.TSVectorLexeme{
				{Word: "a", Positions: []pgtype.TSVectorPosition{{Position: 1, Weight: pgtype.TSVectorWeightA}}},
				{Word: "b c", Positions: []pgtype.TSVectorPosition{{Position: 2, Weight: pgtype.TSVectorWeightD}, {Position: 3, Weight: pgtype.TSVectorWeightB}}},
			}})), lit("the fat cat sat"), lit(""), lit(`'it''s' '\\'`), null(),
		}},
		{name: "tsquery", sql: "tsquery", values: []value{lit("fat & (rat | !cat)"), null()}},
		{name: "citext", sql: "odd.citext", needs: "citext", values: []value{lit("Ab", g(label("Ab")), g(pgtype.Text{String: "Ab", Valid: true})), same(lit("aB")), lit(`\N`), null()}},
		{name: "hstore", sql: "odd.hstore", needs: "hstore", values: []value{lit(`"a"=>"1", "b"=>NULL, "c d"=>"\\N"`), lit(""), null()}},
	}
}
