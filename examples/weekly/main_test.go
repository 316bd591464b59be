package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// asProgram makes this test program the program weekly.
const asProgram = "WEEKLY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	pgtest.Main(m)
}

// input is a file that the tests run over.
type input struct {
	name        string
	path        string
	plans, rows int
	kill        int // the plan in which a run is killed
}

// inputs are the small file that the project holds, and the real one where it
// is there.
func inputs(t *testing.T) []input {
	t.Helper()
	list := []input{{"small", "../../testdata/weekly/cases.csv", 5, 20, 3}}
	const env = "CS9GEN_COVID19_CSV"
	path := os.Getenv(env)
	if path == "" {
		path = "../../../shared/data/covid19_norway.csv"
	}
	if _, err := os.Stat(path); err != nil {
		t.Logf("the real file is not there, so that only the small one is used; %s names it: %v", env, err)
		return list
	}
	return append(list, input{"real", path, 116, 1392, 60})
}

// forEachInput runs a test on each file, in a database of its own that holds the table.
func forEachInput(t *testing.T, test func(t *testing.T, in input, url string, conn *pgx.Conn)) {
	t.Helper()
	for _, in := range inputs(t) {
		t.Run(in.name, func(t *testing.T) {
			url := pgtest.NewDatabase(t, "tables.yaml")
			test(t, in, url, pgtest.Connect(t, url))
		})
	}
}

// TestWeeklyEqualsPlainSQL also shows P11: the same run key again changes nothing.
func TestWeeklyEqualsPlainSQL(t *testing.T) {
	forEachInput(t, func(t *testing.T, in input, url string, conn *pgx.Conn) {
		pgtest.Exec(t, conn, "INSERT INTO anon.anon_covid19_weekly VALUES ('1999-01', 'old', 1, 1)")
		for _, says := range []string{fmt.Sprintf("%d rows published", in.rows), "was published before"} {
			p := start(t, url, in.path, "first").finished()
			require.Equal(t, 0, p.code, p.stderr)
			require.Contains(t, p.stdout.String(), says)
			requireSameAsSQL(t, conn, in)
		}
		require.Equal(t, in.plans, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM cs9.plan_status WHERE state = 'done' AND attempt = 1"))
	})
}

// TestKilledRunResumes is P3 and P8 with a process that is killed: while it
// lives, a second start is refused and changes nothing; once it is dead, the next
// start goes on at once, skips what was finished, and publishes each row once.
func TestKilledRunResumes(t *testing.T) {
	forEachInput(t, func(t *testing.T, in input, url string, conn *pgx.Conn) {
		holdPlan(t, url, conn, in.kill)
		killed := start(t, url, in.path, "one")
		waitUntil(t, killed, conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'gate'::regclass)")
		require.Positive(t, stagedRows(t, conn, in.kill), "the plan that is not finished has staged rows")

		was := everything(t, conn)
		second := start(t, url, in.path, "one").finished()
		require.Equal(t, 3, second.code, second.stderr)
		require.Equal(t, was, everything(t, conn), "a second start changes nothing")
		require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM anon.anon_covid19_weekly"))

		require.NoError(t, killed.cmd.Process.Kill())
		killed.wait()
		third := start(t, url, in.path, "one").finished()
		require.Equal(t, 0, third.code, third.stderr)
		requireSameAsSQL(t, conn, in)

		var skipped []int
		rows, err := conn.Query(t.Context(), "SELECT plan FROM cs9.plan_status WHERE skipped ORDER BY plan")
		require.NoError(t, err)
		skipped, err = pgx.CollectRows(rows, pgx.RowTo[int])
		require.NoError(t, err)
		var want []int
		for plan := 2; plan < in.kill; plan++ {
			want = append(want, plan)
		}
		require.Equal(t, want, skipped)
		require.Equal(t, 1, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM cs9.run_status WHERE state = 'published' AND attempt = 2"))
	})
}

func TestExitCodes(t *testing.T) {
	for want, err := range []error{
		nil,
		errors.New("a file is missing"),
		fmt.Errorf("wrong use: %w", runner.ErrBadArgument),
		fmt.Errorf("run: %w", &runner.Error{SQLState: "S9001"}),
		fmt.Errorf("run: %w", &runner.Error{SQLState: "S9017"}),
	} {
		require.Equal(t, want, exitCode(err))
	}
	url := pgtest.EmptyDatabase(t)
	require.Equal(t, 2, start(t, url).finished().code)
	require.Equal(t, 1, start(t, url, "no such file", "one").finished().code)
	notMigrated := start(t, url, "../../testdata/weekly/cases.csv", "one").finished()
	require.Equal(t, 1, notMigrated.code)
	require.Contains(t, notMigrated.stderr.String(), "no cs9 schema")
}

func TestReadDaysSaysWhereAFileIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "read header",
		"yrwk,location_code,n\n": "no column pop",
		"yrwk,location_code,n,pop\n2020-08,a,1,10\n2020-08,a,x,10\n": `cases.csv:3: strconv.Atoi: parsing "x"`,
	} {
		path := filepath.Join(t.TempDir(), "cases.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readDays(path)
		require.ErrorContains(t, err, want)
	}
}

// program is the program weekly in a process of its own.
type program struct {
	cmd            *exec.Cmd
	stdout, stderr *bytes.Buffer
	done           chan struct{}
	code           int
}

func start(t *testing.T, url string, args ...string) *program {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	p := &program{cmd: exec.Command(path, args...), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asProgram+"=1", "DATABASE_URL="+url)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the code says it
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, unless the test failed
		<-p.done
	})
	return p
}

// wait waits for the end and returns the exit code: -1 of a killed process.
func (p *program) wait() int {
	<-p.done
	return p.code
}

func (p *program) finished() *program {
	p.wait()
	return p
}

// holdPlan lets the first attempt come to the end of a plan, where it has staged
// its rows and is not recorded as done, and no further.
func holdPlan(t *testing.T, url string, conn *pgx.Conn, plan int) {
	t.Helper()
	pgtest.Exec(t, conn,
		"CREATE TABLE public.gate ()",
		`CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			PERFORM FROM public.gate;
			RETURN NEW;
		END $$`,
		fmt.Sprintf(`CREATE TRIGGER wait_at_gate BEFORE UPDATE ON cs9.plan FOR EACH ROW
			WHEN (NEW.plan = %d AND NEW.attempt = 1 AND NEW.state = 'done') EXECUTE FUNCTION public.wait_at_gate()`, plan))
	pgtest.Exec(t, pgtest.Connect(t, url), "BEGIN", "LOCK TABLE public.gate IN ACCESS EXCLUSIVE MODE")
}

// waitUntil asks until the answer is yes, which the end of the process prevents.
func waitUntil(t *testing.T, p *program, conn *pgx.Conn, question string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !pgtest.Scalar[bool](t, conn, question) {
		select {
		case <-p.done:
			t.Fatalf("the program ended with code %d:\n%s", p.code, p.stderr)
		case <-ctx.Done():
			t.Fatalf("%s: %v", question, ctx.Err())
		case <-time.After(10 * time.Millisecond): // until the next question
		}
	}
}

// stagedRows counts what a plan has staged.
func stagedRows(t *testing.T, conn *pgx.Conn, plan int) int {
	t.Helper()
	table := pgtest.Scalar[string](t, conn, "SELECT cs9.staged_label(run_id, table_id) FROM cs9.run_table")
	return pgtest.Scalar[int](t, conn, "SELECT count(*) FROM "+table+" WHERE cs9_plan = $1", plan)
}

// everything is what the database holds of runs, as text.
func everything(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var all string
	for _, table := range []string{"run", "run_table", "plan", "staged_delete", "publish_step"} {
		all += pgtest.Scalar[string](t, conn, fmt.Sprintf("SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM cs9.%s AS t", table)) + "\n\n"
	}
	staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staged_label(run_id, table_id) FROM cs9.run_table")
	return all + pgtest.Scalar[string](t, conn, fmt.Sprintf("SELECT string_agg(t::text, E'\\n' ORDER BY t::text) FROM %s AS t", staged))
}

// requireSameAsSQL compares the table with one aggregation of the same file.
func requireSameAsSQL(t *testing.T, conn *pgx.Conn, in input) {
	t.Helper()
	file, err := os.Open(in.path)
	require.NoError(t, err)
	defer file.Close()
	pgtest.Exec(t, conn, "DROP TABLE IF EXISTS pg_temp.csv", `CREATE TEMPORARY TABLE csv (
		location_code text, date date, n integer, granularity_time text, granularity_geo text, border text, age text, sex text, yrwk text,
		season text, year integer, week integer, x numeric, pop integer, pr100000 double precision, location_name text, date_of_publishing date)`)
	_, err = conn.PgConn().CopyFrom(t.Context(), file, "COPY pg_temp.csv FROM STDIN WITH (FORMAT csv, HEADER)")
	require.NoError(t, err)

	const got = "SELECT yrwk, location_code, cases, cases_per_100000 FROM anon.anon_covid19_weekly"
	const want = `SELECT yrwk, location_code, sum(n)::integer, sum(n) * 100000.0::double precision / pop
		FROM pg_temp.csv GROUP BY yrwk, location_code, pop`
	for _, difference := range []string{
		fmt.Sprintf("(%s) EXCEPT (%s)", got, want),
		fmt.Sprintf("(%s) EXCEPT (%s)", want, got),
	} {
		require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM ("+difference+") AS d"), difference)
	}
	require.Equal(t, in.rows, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM ("+got+") AS g"))
	require.Equal(t, in.plans, pgtest.Scalar[int](t, conn, "SELECT count(DISTINCT yrwk) FROM anon.anon_covid19_weekly"))
}
