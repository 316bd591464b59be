package faults_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const guarantees = "../../docs/guarantees.md"

// cases are the numbers of the reported faults.
const cases = "1 2 3 4 5 6 7 8 11 12 13 14 15 16 18 19 21 22 23 24 25 27 28 29 30 31 32 34 35 38 39 40 41 43 44 45 47 49 51 52"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testSources are the test files of each package, by the package's folder name.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, pattern := range []string{"../../*/*_test.go", "../../internal/*/*_test.go", "../../internal/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			sources[filepath.Base(filepath.Dir(file))] += read(t, file)
		}
	}
	return sources
}

func TestGuaranteesNameTestsThatExist(t *testing.T) {
	sources := testSources(t)
	named := regexp.MustCompile("`([a-z]+)\\.(Test[A-Za-z0-9]+)(?:/([^`]+))?`").FindAllStringSubmatch(read(t, guarantees), -1)
	if len(named) < 100 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, n := range named {
		pkg, test, sub := n[1], n[2], n[3]
		if !strings.Contains(sources[pkg], "\nfunc "+test+"(t *testing.T)") {
			t.Errorf("%s: there is no such test", n[0])
		}
		if sub == "" || strings.Contains(sources[pkg], `"`+sub+`"`) {
			continue
		}
		// a subtest of each file of a folder
		files, _ := filepath.Glob("../../testdata/*/" + sub + ".*")
		more, _ := filepath.Glob("../../testdata/definitions/valid/" + sub + ".*")
		if len(files)+len(more) == 0 {
			t.Errorf("%s: there is no such subtest", n[0])
		}
	}
	// and each test of this package is one that something is promised by
	for _, n := range regexp.MustCompile(`\nfunc (Test(?:Case|Rivals|Pgbouncer)\w+)`).FindAllStringSubmatch(sources["faults"], -1) {
		if !strings.Contains(read(t, guarantees), "`faults."+n[1]+"`") {
			t.Errorf("docs/guarantees.md does not name %s", n[1])
		}
	}
}

func TestGuaranteesCoverEveryReportedFaultAndPromise(t *testing.T) {
	text := read(t, guarantees)
	for _, number := range strings.Fields(cases) {
		if !regexp.MustCompile(`(?m)^\| ` + number + ` \| .*Test`).MatchString(text) {
			t.Errorf("case %s has no row that names a test", number)
		}
	}
	for _, promise := range strings.Fields("P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12") {
		if !strings.Contains(text, "\n| "+promise+" ") {
			t.Errorf("%s has no row", promise)
		}
	}
	// each reason of P6 that is tested is listed
	const function = "TestP6WhatCouldNotFinishDoesNotBegin"
	_, body, _ := strings.Cut(testSources(t)["procs"], "\nfunc "+function)
	body, _, _ = strings.Cut(body, "\n}\n")
	for _, n := range regexp.MustCompile(`(?m)^\t\t"([^"]+)": \{`).FindAllStringSubmatch(body, -1) {
		if !strings.Contains(text, "`procs."+function+"/"+n[1]+"`") {
			t.Errorf("the reason %q of P6 is not listed", n[1])
		}
	}
}
