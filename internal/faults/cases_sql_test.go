package faults_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// psql ends with an error when a CALL fails in a file, given ON_ERROR_STOP.
func TestCase13FailedCallInAFileIsNoSuccess(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "publish.sql")
	if err := os.WriteFile(file, []byte("CALL cs9.publish('counts', 'none');\nSELECT 1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := pgtest.Psql(t, f.url, "-f", file)
	if err == nil || !strings.Contains(stderr, "ERROR") || strings.Contains(stdout, "1 row") {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
}

// A publish commits, so that no way of being in a transaction reaches a row.
func TestCase23PublishInAnyTransactionIsRefusedUntouched(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	task := stepsTask(clearAndInsert(count{1, "a", 1}), nothing)
	f.stoppedPublish(task, "k")
	const call = "CALL cs9.publish('counts', 'k')"
	for name, args := range map[string][]string{
		"psql -1":        {"-1", "-c", call},
		"two statements": {"-c", "SELECT 1; " + call},
		"AUTOCOMMIT off": {"-v", "AUTOCOMMIT=off", "-c", "SELECT 1", "-c", call},
		"BEGIN":          {"-c", "BEGIN", "-c", call},
	} {
		_, stderr, err := pgtest.Psql(t, f.url, append([]string{"-v", "VERBOSITY=verbose"}, args...)...)
		if err == nil || !strings.Contains(stderr, "2D000") {
			t.Errorf("%s: %v: %s", name, err, stderr)
		}
		f.wantCounts("0 old 7")
	}
	tx, err := f.session().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, inTx := tx.Exec(t.Context(), call)
	_ = tx.Rollback(t.Context())
	_, several := f.session().Exec(t.Context(), "SELECT 1; "+call)
	for _, err := range []error{inTx, several} {
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != "2D000" {
			t.Errorf("pgx: %v", err)
		}
	}
	f.wantCounts("0 old 7")
	f.want("publishing", "SELECT state FROM cs9.run_status")
	if _, stderr, err := pgtest.Psql(t, f.url, "-c", "SELECT 1", "-c", call); err != nil {
		t.Errorf("two -c are two transactions: %s", stderr)
	}
	f.wantCounts("1 a 1")
	f.wantClean()
}

// What a definition's text may hold: all that cuts, ends or expands something
// in goose, psql or a dollar quote.
const awkward = `version: 1
tables:
  - schema: anon
    name: awkward
    comment: "${HOME} $1 $$ $body$ it's \\ */ /* -- ;\n-- +goose Down\n-->"
    columns:
      - {name: k, type: INTEGER}
      - {name: t, type: TEXT, default: "'${HOME} $1 $$ $body$ -- ;'", comment: "a;\n-- +goose StatementEnd\nb-->"}
    keys: [k]
    checks: {awkward: "t <> '${HOME};$$ -->'"}
`

// The generated files never switch goose's ENVSUB on, set no search_path of the
// session, and keep every byte of the definition's texts in the catalogue.
func TestCase25TextsOfADefinitionArriveAsTheyAre(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "awkward.yaml")
	if err := os.WriteFile(file, []byte(awkward), 0o600); err != nil {
		t.Fatal(err)
	}
	defs, err := sqlgen.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		t.Fatal(err)
	}
	for _, generated := range files {
		for line := range strings.Lines(generated.SQL) {
			if strings.Contains(line, "ENVSUB") || strings.HasPrefix(strings.TrimSpace(line), "SET search_path") && strings.HasSuffix(strings.TrimSpace(line), ";") {
				t.Errorf("%s: %s", generated.Base, line)
			}
		}
	}
	pgtest.Install(t, f.url, file)
	f.want(defs.Tables[0].Comment, "SELECT obj_description('anon.awkward'::regclass)")
	f.want(defs.Tables[0].Columns[1].Comment, "SELECT col_description('anon.awkward'::regclass, 2)")
	f.mustRun(tableTask("anon.awkward", values(false, "k", []any{1}), nothing), runner.RunKey("k"))
	f.want("${HOME} $1 $$ $body$ -- ;", "SELECT t FROM anon.awkward")
}
