package runner_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

const (
	memoryRows  = "CS9GEN_MEMORY_ROWS" // how many rows; make memory sets 10,000,000
	memoryChild = "CS9GEN_MEMORY_URL"  // set in the process that is measured
	memoryBound = 64 << 10             // KiB
)

// TestMemoryDoesNotGrowWithTheRows stages and publishes rows from an iterator,
// in a process of its own, and reads that process's peak of resident memory
// (VmHWM of /proc/self/status) at its end: with a tenth of the rows, and with
// all of them.
func TestMemoryDoesNotGrowWithTheRows(t *testing.T) {
	rows := 400_000
	if text := os.Getenv(memoryRows); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if url := os.Getenv(memoryChild); url != "" {
		stageAndPublish(t, url, rows)
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of memory is read from /proc, which only Linux has")
	}
	few, many := peakMemory(t, rows/10), peakMemory(t, rows)
	t.Logf("peak of resident memory: %d KiB with %d rows, %d KiB with %d rows: %.2f", few, rows/10, many, rows, float64(many)/float64(few))
	if many > memoryBound {
		t.Errorf("the peak is %d KiB, over %d", many, memoryBound)
	}
}

func peakMemory(t *testing.T, rows int) int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestMemoryDoesNotGrowWithTheRows$", "-test.v")
	child.Env = append(os.Environ(), memoryChild+"="+pgtest.NewDatabase(t, definitions), fmt.Sprintf("%s=%d", memoryRows, rows))
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	match := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(out)
	if match == nil {
		t.Fatalf("no peak in %s", out)
	}
	peak, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// stageAndPublish runs a task of one plan that inserts n rows.
func stageAndPublish(t *testing.T, url string, n int) {
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := runner.New(pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	task := runner.Task[int, struct{}]{
		Name:   "memory",
		Tables: runner.Tables{"counts": "anon.counts"},
		Plans:  func(context.Context, runner.Run) ([]int, error) { return []int{n}, nil },
		Action: func(ctx context.Context, _ struct{}, a runner.Args[int], tables runner.Handles) error {
			return tables["counts"].DropAllRowsAndThenInsert(ctx, runner.Seq(generated(a.Value)))
		},
	}
	result, err := task.Run(t.Context(), r, runner.RunKey("memory"))
	if err != nil {
		t.Fatal(err)
	}
	if result.RowsPublished != int64(n) {
		t.Errorf("published %d rows of %d", result.RowsPublished, n)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(status))
}

func generated(n int) iter.Seq2[count, error] {
	return func(yield func(count, error) bool) {
		for i := range n {
			if !yield(count{Week: i, Region: "north", N: i}, nil) {
				return
			}
		}
	}
}
