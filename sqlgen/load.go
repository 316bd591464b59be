package sqlgen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// formatVersion is the version of the definition file this package reads.
const formatVersion = 1

// Problem is one thing that is wrong in a definition file.
type Problem struct {
	File    string // path of the file, as it was given
	Line    int    // from 1; 0 when the problem is the file itself
	Column  int    // from 1; 0 when the problem is the file itself
	Path    string // the part of the file, such as tables[0].keys[1]; may be empty
	Message string // what is wrong and what to do
}

// String returns the problem as "file:line:column: path: message".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is the error of [Load]: everything that is wrong, in order of file,
// line and column.
type Problems struct {
	List []Problem
}

// Error returns one line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, problem := range p.List {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Load reads definition files. A path is a file, or a folder, of which the
// files named *.yaml and *.yml are read (those whose name starts with a dot are
// not, nor are folders inside it). The tables come in order of path, then of
// their place in the file; a file given twice is read once.
//
// The error is a [*Problems] that holds every problem of every file; the
// definitions are nil then.
func Load(paths ...string) (*Definitions, error) {
	files, problems := definitionFiles(paths)
	var tables []Table
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			problems = append(problems, fileProblem(file, err))
			continue
		}
		read, found := loadFile(file, data)
		tables = append(tables, read...)
		problems = append(problems, found...)
	}
	problems = append(problems, validateTogether(tables)...)
	if len(problems) > 0 {
		sortProblems(problems)
		return nil, &Problems{List: problems}
	}
	return &Definitions{Tables: tables}, nil
}

// sortProblems puts problems in order of file, line and column.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
}

// definitionFiles returns the files that paths stand for, sorted, each once.
func definitionFiles(paths []string) ([]string, []Problem) {
	if len(paths) == 0 {
		return nil, []Problem{{Message: "no definition file is given: name a file, or a folder of *.yaml files"}}
	}
	var files []string
	var problems []Problem
	for _, path := range paths {
		path = filepath.Clean(path)
		info, err := os.Stat(path)
		if err != nil {
			problems = append(problems, fileProblem(path, err))
			continue
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		inside, err := filesIn(path)
		switch {
		case err != nil:
			problems = append(problems, fileProblem(path, err))
		case len(inside) == 0:
			problems = append(problems, Problem{File: path, Message: "the folder holds no *.yaml or *.yml file: put the definitions there, or name another folder"})
		}
		files = append(files, inside...)
	}
	slices.Sort(files)
	return slices.Compact(files), problems
}

func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		files = append(files, filepath.Join(folder, e.Name()))
	}
	return files, nil
}

func fileProblem(file string, err error) Problem {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return Problem{File: file, Message: fmt.Sprintf("cannot read it: %v: check the path and its permissions", err)}
}

// loadFile reads and validates one definition file. Problems between tables of
// several files are left to [validateTogether].
func loadFile(file string, data []byte) ([]Table, []Problem) {
	body, problems := parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	src := &source{
		file:   file,
		values: map[string]position{},
		keys:   map[string]position{},
		bad:    map[string]bool{},
	}
	d := &decoder{src: src}
	var f File
	d.decode(body, reflect.ValueOf(&f).Elem(), "", false)
	if src.given("version") && !src.bad["version"] && f.Version != formatVersion {
		d.problems = nil // another version may have other fields
		d.fail(src.at("version"), "version", "version %d is not known: this program reads version %d; write that, or use a newer cs9gen", f.Version, formatVersion)
		return nil, d.problems
	}
	if src.given("tables") && !src.badUnder("tables") && len(f.Tables) == 0 {
		d.fail(src.at("tables"), "tables", "there is no table: define at least one")
	}
	for i := range f.Tables {
		t := &f.Tables[i]
		t.src, t.path = src, fmt.Sprintf("tables[%d]", i)
		if !src.bad[t.path] {
			d.problems = append(d.problems, validateTable(t)...)
		}
	}
	sortProblems(d.problems)
	return f.Tables, d.problems
}

// parse returns the one document of a definition file.
func parse(file string, data []byte) (body ast.Node, problems []Problem) {
	fail := func(pos position, format string, args ...any) []Problem {
		return []Problem{{File: file, Line: pos.line, Column: pos.column, Message: fmt.Sprintf(format, args...)}}
	}
	defer func() {
		// The parser belongs to somebody else; no input may end the program.
		if r := recover(); r != nil {
			body, problems = nil, fail(position{1, 1}, "this is no YAML that can be read (%v): simplify it", r)
		}
	}()
	if pos, ok := firstBadByte(data); ok {
		return nil, fail(pos, "the text is not UTF-8 from here on: save the file as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	tree, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		pos, message := syntaxError(err)
		return nil, fail(pos, "this is not YAML: %s", message)
	}
	for _, doc := range tree.Docs {
		switch doc.Body.(type) {
		case nil, *ast.DirectiveNode, *ast.CommentGroupNode:
			continue
		}
		if body != nil {
			return nil, fail(positionOf(doc.Body), "a second document starts here: put its tables under the first one's, or in a file of their own")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, fail(position{1, 1}, "the file is empty: it needs \"version: %d\" and \"tables:\"", formatVersion)
	}
	return body, nil
}

// firstBadByte returns where data stops being UTF-8.
func firstBadByte(data []byte) (position, bool) {
	pos := position{1, 1}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return pos, true
		}
		pos.column++
		if r == '\n' {
			pos = position{pos.line + 1, 1}
		}
		data = data[size:]
	}
	return pos, false
}

func syntaxError(err error) (position, string) {
	var yamlErr yaml.Error
	if !errors.As(err, &yamlErr) {
		return position{1, 1}, err.Error()
	}
	message := strings.ReplaceAll(yamlErr.GetMessage(), "\n", " ")
	if strings.Contains(message, "\t") {
		message = strings.ReplaceAll(message, "\t", `\t`) + "; indent with spaces"
	}
	pos := position{1, 1}
	if token := yamlErr.GetToken(); token != nil && token.Position != nil {
		pos = position{token.Position.Line, token.Position.Column}
	}
	return pos, message
}
