package oracle

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// namePool holds names that somebody else's schema could have, and that cs9gen's
// own SQL has: it is read from the sources, so that a new alias is in it at once.
type namePool struct {
	aliases []string // a letter or two, and whatever follows AS
	words   []string // every other identifier, and every literal that could be part of a name
}

// sources are the folders that hold SQL of cs9gen.
var sources = []string{"procs", "sqlgen", "migrations", "internal/inspect", "runner"}

var (
	comment  = regexp.MustCompile(`(?m)(--|//).*$`)
	alias    = regexp.MustCompile(`\b(?:AS|FROM|JOIN)\s+(?:[a-z_.]+\s+AS\s+)?([a-z]\w*)|\(([a-z]\w{0,10}(?:, [a-z]\w{0,10})*)\)|\b([a-z]\w{0,2})\.`)
	sqlWord  = regexp.MustCompile(`\b[a-z][a-z0-9_]{1,40}\b`)
	goString = regexp.MustCompile("(?s)`[^`]*`|\"(?:[^\"\\\\]|\\\\.)*\"")
)

// systemColumns cannot be the name of a column.
var systemColumns = []string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}

func readNames(root string) (*namePool, error) {
	aliases, words := map[string]bool{}, map[string]bool{}
	take := func(set map[string]bool, name string) {
		if name != "" && !strings.HasPrefix(name, "cs9_") && !slices.Contains(systemColumns, name) {
			set[name] = true
		}
	}
	for _, folder := range sources {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := comment.ReplaceAllString(string(data), "")
			if strings.HasSuffix(path, ".go") {
				text = strings.Join(slices.DeleteFunc(goString.FindAllString(text, -1), func(s string) bool { return !strings.ContainsAny(s, " %") }), "\n")
			}
			for _, m := range alias.FindAllStringSubmatch(text, -1) {
				take(aliases, m[1])
				take(aliases, m[3])
				for _, name := range strings.Split(m[2], ", ") {
					take(aliases, name)
				}
			}
			for _, word := range sqlWord.FindAllString(text, -1) {
				take(words, word)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	pool := &namePool{}
	for name := range aliases {
		pool.aliases = append(pool.aliases, name)
		delete(words, name)
	}
	for name := range words {
		pool.words = append(pool.words, name)
	}
	slices.Sort(pool.aliases)
	slices.Sort(pool.words)
	return pool, nil
}

// short returns the aliases of one or two letters, those that meet a column first.
func (p *namePool) short() []string {
	return slices.DeleteFunc(slices.Clone(p.aliases), func(s string) bool { return len(s) > 2 })
}

var plainNames = []string{"alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega", "zeta"}

// oddNames are hard somewhere: for quoting, format(), psql, dollar quotes, arrays, or by their length.
var oddNames = []string{
	"select", "table", "user", "key", "order", "primary", "default", "check", "all", "new", "old", "row", "value", "index", "excluded", "public", "null", "true", "current_date", "authorization", "freeze",
	"UPPER", "Mixed Case", " blanks ", `"`, `a"b`, "it's", `back\slash\n`, "%s", "%I%L%1$s 100%", "$1", "$$", "$x$", "${HOME}", "a;b--c", "/* c */", "{a,b}", "(0)", "a.b", "?", "a\tb",
	"é", "日本", "😀", strings.Repeat("n", 63), strings.Repeat("é", 31) + "x", strings.Repeat("w", 55), "N", "1a", "_", "pg_catalog", "goose_db_version_", "now", "count", "format", "text", "name", "char", "date",
}

// name draws a name that none of the taken has.
func (d *drawer) name(taken map[string]bool, label string) string {
	s, odd := d.option(60, "name of %s", label)
	name := ""
	if odd {
		p := s.shared.names
		name = pickOf(s, [][]string{p.short(), p.short(), p.aliases, p.words, oddNames}[s.below(5)])
	} else {
		name = pickOf(d.sub("plain name of %s", label), plainNames)
	}
	for taken[name] {
		name = cutName(name, 60) + pick(s, "2", "_x", " y")
	}
	taken[name] = true
	return name
}

// cutName cuts a name to so many bytes, between two characters.
func cutName(name string, size int) string {
	for len(name) > size {
		r := []rune(name)
		name = string(r[:len(r)-1])
	}
	return name
}
