package sqlgen

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	pgquery "github.com/wasilibs/go-pgquery"
)

// hostile are texts that something on the way from a definition to the server
// could read as more than text.
var hostile = []string{
	"n", "week", "select", "User", "S.x", `a"b`, `"."`, `""`, "it's", `\`, `\'`, `E'\`, "$$", "$1", "? :name @x", "%", "%s", "%1$s", "%I", "100%%",
	"$publish$", "$delete_step$", "$move_batch$", "$apply_changes$", "$insert$", "$upsert$", "$update$", "$delete$", "$diff$", "$gone$", "$counts$", "$insert", "diff$",
	"; ", "a;", ";\n", "'; DROP TABLE x; --", "--", "/*", "*/ /* -->", "\n-- ", "-- +goose Down", "\n-- +goose Down\n", "\n\v-- +goose Down\n", "\n\u00a0--+goose StatementEnd\n",
	"x;\n-- +goose StatementEnd\n", "+goose", "\n", "\t", "\r", "\r\n", "\x00", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff", "\ufffd", "é", "💾", "ⅷ", "ﬀ",
	strings.Repeat("n", 63), strings.Repeat("é", 31), strings.Repeat("é", 32), strings.Repeat("💾", 15), strings.Repeat("$diff$", 10), strings.Repeat(`"`, 62),
	"cs9_", "cs9_op", "public", "null", "true", "1", "01", "-1", "2026-01-01", "MINVALUE", "<<", "&a", "*a", "!!x", "{{.Live}}", "${HOME}", "<<<<<<< HEAD", " ", "a ", " a",
	"a, b", "a) + (b", "n > 0", "(n, n) IS NULL", "n -- c", "ARRAY[1]", "n::text", `U&"\0061"`, "x.y", "-1", "current_date", "DEFAULT", "'a'\n'b'", "1e'\\'", "a = ANY ('{a;b}')",
}

// chooser makes definitions of what a fuzzer gives: a byte says which way to go
// at each fork, and texts are put wherever a definition holds one. Beyond the
// last byte it goes on with numbers that depend on all of them.
type chooser struct {
	bytes []byte
	rest  *rand.Rand
	words []string
}

func newChooser(bytes []byte, words ...string) *chooser {
	for i, word := range words {
		words[i] = strings.ToValidUTF8(word, "\ufffd") // as the file has it
	}
	sum := fnv.New64a()
	_, _ = sum.Write(bytes) // a hash takes everything
	return &chooser{bytes: bytes, rest: rand.New(rand.NewPCG(sum.Sum64(), 0)), words: words}
}

// n returns a number below limit.
func (c *chooser) n(limit int) int {
	if len(c.bytes) == 0 {
		return c.rest.IntN(limit)
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % limit
}

// oneIn is true once in so many times.
func (c *chooser) oneIn(times int) bool { return c.n(times) == times-1 }

func of[T any](c *chooser, values ...T) T { return values[c.n(len(values))] }

func (c *chooser) word() string {
	if c.oneIn(3) {
		return of(c, c.words...)
	}
	return of(c, hostile...)
}

// text returns any text.
func (c *chooser) text() string {
	text := c.word()
	for c.oneIn(3) {
		text += c.word()
	}
	return text
}

// maybe returns a text, or none.
func (c *chooser) maybe(text func() string) string {
	if c.oneIn(3) {
		return text()
	}
	return ""
}

// name returns a text that is seldom refused as a name.
func (c *chooser) name() string { return c.nameOf(maxIdentBytes) }

func (c *chooser) nameOf(size int) string {
	text := c.text()
	if c.oneIn(40) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(text, ""), "+goose", "goose"))
	if text = cut(text, size); text == "" || strings.HasPrefix(text, reservedPrefix) {
		return "x" + cut(text, size-1)
	}
	return text
}

// quoted returns a name as SQL has it.
func (c *chooser) quoted() string { return QuoteIdent(cmp.Or(cut(c.name(), maxIdentBytes), "x")) }

// free returns a name that is not among some.
func (c *chooser) free(taken []string) string {
	name := c.name()
	for i := 0; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s%d", cut(c.name(), maxIdentBytes-1), i%10)
		if i > 20 {
			break
		}
	}
	return name
}

// object returns a name of something that is there: a collation, a table.
func (c *chooser) object() string {
	if c.oneIn(8) {
		return c.text()
	}
	return JoinName(c.maybe(c.name), c.name())
}

// literal returns an SQL literal of a text, in one of the ways to write it.
func (c *chooser) literal() string {
	text := c.text()
	doubled := strings.ReplaceAll(text, "'", "''")
	switch c.n(7) {
	case 0:
		return QuoteLiteral(text)
	case 1:
		return "E'" + strings.ReplaceAll(doubled, `\`, `\\`) + "'"
	case 2:
		return "U&'" + strings.ReplaceAll(doubled, `\`, `\\`) + "'"
	case 3:
		if tag := of(c, "$$", "$é$", "$insert$", "$q$"); !strings.Contains(text+"$", tag) {
			return tag + text + tag
		}
	case 4:
		return "N'" + doubled + "'"
	}
	return "'" + doubled + "'"
}

func quotedColumn(c *chooser, t *Table) string {
	if len(t.Columns) == 0 {
		return "1"
	}
	name := of(c, t.Columns...).Name
	if c.oneIn(2) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return QuoteIdent(name)
}

// expression returns an expression over the columns that PostgreSQL can read.
func (c *chooser) expression(t *Table) string {
	column := quotedColumn(c, t)
	switch c.n(8) {
	case 0, 1:
		if text := c.text(); isExpression(text) {
			return text
		}
	case 2:
		return fmt.Sprintf("(%s, %s) IS NOT NULL", column, quotedColumn(c, t))
	case 3:
		return fmt.Sprintf("coalesce(%s::text, %s) LIKE %s", column, c.literal(), c.literal())
	case 4:
		return column + "::text || " + c.literal()
	case 5:
		return column + "::text\n<> " + c.literal()
	case 6:
		return c.literal()
	}
	return column + " IS NOT NULL"
}

// isExpression reports whether PostgreSQL reads a text as one expression. Its
// grammar has the word DEFAULT among them, which is none.
func isExpression(text string) bool {
	if strings.EqualFold(strings.TrimSpace(text), "default") || longName(text) != "" {
		return false
	}
	tree, err := pgquery.Parse("CREATE TABLE t (CHECK (" + text + "\n))")
	if err != nil || len(tree.Stmts) != 1 {
		return false
	}
	return len(tree.Stmts[0].Stmt.GetCreateStmt().GetTableElts()) == 1
}
