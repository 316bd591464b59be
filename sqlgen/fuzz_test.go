package sqlgen

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad feeds any text to the loader: it never panics, what it refuses it
// refuses with a place, and what it accepts has names that fit.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(countsExample))
	files, err := filepath.Glob(filepath.Join(invalidFolder, "*.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tables, problems := loadFile("fuzz.yaml", data)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Fatalf("problem without a place: %+v", p)
			}
		}
		if len(problems) > 0 || len(validateTogether(tables)) > 0 {
			return
		}
		for i := range tables {
			for _, name := range relationNames(&tables[i]) {
				if len(name) > maxIdentBytes || name == "" {
					t.Fatalf("the table %q has an object named %q", tables[i].Name, name)
				}
			}
			for _, c := range tables[i].Columns {
				if c.Name == "" || len(c.Name) > maxIdentBytes || c.SQLType() == "" {
					t.Fatalf("column %+v", c)
				}
			}
		}
	})
}
