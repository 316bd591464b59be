package runner

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// bind puts something in the place of each ? in the code of an SQL text; ?? is a
// question mark. In literals, names in quotes and comments a ? is just that, and
// so it is in the operators ?| ?& and @?. The text before each ? is given to put,
// which is called args times. Bare tells whether there is code at all.
func bind(sql string, args int, put func(before string, i int) (string, error)) (text string, bare bool, err error) {
	pieces, err := sqlgen.Pieces(sql)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	used := 0
	for _, piece := range pieces {
		if piece.Kind != sqlgen.Code {
			if piece.Kind != sqlgen.Comment {
				bare = true
				if strings.Contains(piece.Text, "??") {
					return "", false, fmt.Errorf("?? inside %s could mean one question mark or two: pass the text as an argument", piece.Text)
				}
			}
			b.WriteString(piece.Text)
			continue
		}
		code := piece.Text
		bare = bare || strings.Trim(code, " \t\r\n\f\v") != ""
		for i := 0; i < len(code); i++ {
			switch size := questionMark(code, i); {
			case code[i] != '?':
				b.WriteByte(code[i])
			case size == 2 && code[i+1] == '?':
				b.WriteByte('?')
				i++
			case size == 2:
				b.WriteByte('?')
			case used == args:
				return "", false, fmt.Errorf("the text has more ? than its %d arguments (a ? operator is written ??)", args)
			default:
				value, err := put(b.String(), used)
				if err != nil {
					return "", false, fmt.Errorf("argument %d: %w", used+1, err)
				}
				b.WriteString(value)
				used++
			}
		}
	}
	if used < args {
		return "", false, fmt.Errorf("the text has %d ? for %d arguments", used, args)
	}
	return b.String(), bare, nil
}

const operatorCharacters = "+-*/<>=~!@#%^&|`?"

// questionMark returns 1 for a ? that stands for an argument, and 2 for one that
// is a question mark: ??, and the operators ?|, ?& and @?.
func questionMark(code string, at int) int {
	if at+1 < len(code) && code[at+1] == '?' {
		return 2
	}
	begin, end := at, at+1
	for begin > 0 && strings.IndexByte(operatorCharacters, code[begin-1]) >= 0 {
		begin--
	}
	for end < len(code) && strings.IndexByte(operatorCharacters, code[end]) >= 0 {
		end++
	}
	switch code[begin:end] {
	case "?|", "?&", "@?":
		return 2
	}
	return 1
}
