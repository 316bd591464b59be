package sqlgen

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// tokenKind tells apart the few kinds of SQL token that matter for pasting a
// written expression into a statement.
type tokenKind int

const (
	tokenWord    tokenKind = iota // a key word or an identifier without quotes
	tokenQuoted                   // an identifier in quotes
	tokenString                   // a string literal of any kind
	tokenComment                  // "-- …" or "/* … */"
	tokenSymbol                   // one character of anything else
)

type token struct {
	kind tokenKind
	text string
}

// lex splits SQL into tokens the way PostgreSQL's scanner does, with
// standard_conforming_strings on. White space is left out. The error says which
// quote or comment does not end.
func lex(sql string) ([]token, error) {
	var tokens []token
	for at := 0; at < len(sql); {
		size, kind, err := lexOne(sql[at:])
		if err != nil {
			return tokens, err
		}
		if text := sql[at : at+size]; strings.TrimLeft(text, " \t\n\r\f\v") != "" {
			tokens = append(tokens, token{kind, text})
		}
		at += size
	}
	return tokens, nil
}

// Piece is a part of an SQL text.
type Piece struct {
	Text string
	// Kind says how the parts of it are read.
	Kind PieceKind
}

// PieceKind tells code from what stands for itself in an SQL text.
type PieceKind int

// The kinds.
const (
	Code    PieceKind = iota // words, operators, white space
	Literal                  // a text in quotes of any kind
	Name                     // a name in double quotes
	Comment
)

// Pieces splits SQL as PostgreSQL's scanner reads it; put together the pieces are
// the text again. The error says which quote or comment does not end.
func Pieces(sql string) ([]Piece, error) {
	var pieces []Piece
	for at := 0; at < len(sql); {
		size, token, err := lexOne(sql[at:])
		if err != nil {
			return pieces, err
		}
		kind := Code
		switch token {
		case tokenString:
			kind = Literal
		case tokenQuoted:
			kind = Name
		case tokenComment:
			kind = Comment
		}
		if last := len(pieces) - 1; kind == Code && last >= 0 && pieces[last].Kind == Code {
			pieces[last].Text += sql[at : at+size]
		} else {
			pieces = append(pieces, Piece{sql[at : at+size], kind})
		}
		at += size
	}
	return pieces, nil
}

// lexOne returns the size and kind of the token that sql starts with.
func lexOne(sql string) (int, tokenKind, error) {
	c := sql[0]
	switch {
	case strings.HasPrefix(sql, "--"):
		if end := strings.IndexAny(sql, "\n\r"); end >= 0 {
			return end, tokenComment, nil
		}
		return len(sql), tokenComment, nil
	case strings.HasPrefix(sql, "/*"):
		size, err := commentSize(sql)
		return size, tokenComment, err
	case c == '\'':
		size, err := stringSize(sql, false)
		return size, tokenString, err
	case c == '"':
		size, err := quotedSize(sql)
		return size, tokenQuoted, err
	case c == '$':
		if tag := dollarTag(sql); tag != "" {
			end := strings.Index(sql[len(tag):], tag)
			if end < 0 {
				return 0, 0, fmt.Errorf("the text after %s does not end: close it with %s", tag, tag)
			}
			return end + 2*len(tag), tokenString, nil
		}
	case isWordStart(c):
		size := wordSize(sql)
		if size < len(sql) && sql[size] == '\'' && isPrefix(sql[:size]) {
			escapes := strings.EqualFold(sql[:size], "e")
			length, err := stringSize(sql[size:], escapes)
			return size + length, tokenString, err
		}
		return size, tokenWord, nil
	}
	_, size := utf8.DecodeRuneInString(sql)
	return size, tokenSymbol, nil
}

// isPrefix reports whether word, right before a quote, belongs to the string.
func isPrefix(word string) bool {
	switch strings.ToLower(word) {
	case "e", "b", "x", "n":
		return true
	}
	return false // U&'…' reads as the word u, the symbol & and a plain string
}

func isWordStart(c byte) bool {
	return c == '_' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func wordSize(sql string) int {
	size := 1
	for size < len(sql) && (isWordStart(sql[size]) || sql[size] == '$' || sql[size] >= '0' && sql[size] <= '9') {
		size++
	}
	return size
}

// stringSize returns the size of the literal that sql starts with. A literal
// goes on in another one when nothing but white space with a line break, and
// comments to the ends of lines, are between them.
func stringSize(sql string, escapes bool) (int, error) {
	for at := 1; at < len(sql); at++ {
		switch {
		case sql[at] == '\\' && escapes:
			at++
		case sql[at] != '\'':
		case at+1 < len(sql) && sql[at+1] == '\'':
			at++
		default:
			between := gapSize(sql[at+1:])
			if between == 0 {
				return at + 1, nil
			}
			at += between + 1
		}
	}
	return 0, fmt.Errorf("a text in single quotes does not end: close the quote, and double a quote inside the text")
}

// gapSize returns the size of what is between a literal and the one in which it
// goes on, 0 where it does not.
func gapSize(sql string) int {
	broken := false
	for at := 0; at < len(sql); at++ {
		switch {
		case sql[at] == '\n', sql[at] == '\r':
			broken = true
		case strings.IndexByte(" \t\f\v", sql[at]) >= 0:
		case strings.HasPrefix(sql[at:], "--"):
			end := strings.IndexAny(sql[at:], "\n\r")
			if end < 0 {
				return 0
			}
			at += end
			broken = true
		case sql[at] == '\'' && broken:
			return at
		default:
			return 0
		}
	}
	return 0
}

func quotedSize(sql string) (int, error) {
	for at := 1; at < len(sql); at++ {
		if sql[at] != '"' {
			continue
		}
		if at+1 < len(sql) && sql[at+1] == '"' {
			at++
			continue
		}
		return at + 1, nil
	}
	return 0, fmt.Errorf("a name in double quotes does not end: close the quote, and double a quote inside the name")
}

// commentSize returns the size of the block comment that sql starts with; block
// comments nest.
func commentSize(sql string) (int, error) {
	depth := 0
	for at := 0; at+1 < len(sql); at++ {
		switch sql[at : at+2] {
		case "/*":
			depth++
			at++
		case "*/":
			depth--
			at++
		}
		if depth == 0 {
			return at + 1, nil
		}
	}
	return 0, fmt.Errorf("a comment that starts with /* does not end: remove it")
}

// dollarTag returns the tag of the dollar quote that sql starts with, or "".
func dollarTag(sql string) string {
	end := strings.IndexByte(sql[1:], '$')
	if end < 0 {
		return ""
	}
	tag := sql[1 : 1+end]
	if tag != "" && (!isWordStart(tag[0]) || wordSize(tag) != len(tag)) {
		return ""
	}
	return sql[:end+2]
}
