package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/runner"
)

func TestProgressDrawsABarOnATerminal(t *testing.T) {
	var out strings.Builder
	p := (&app{stderr: &out}).newPublishProgress()
	require.False(t, p.bars, "what is no file is no terminal")
	p.bars = true
	tell := func(step int, kind string, done, total int64, last bool) {
		p.tell(runner.Progress{Kind: runner.PublishBatch, Step: step, StepKind: kind, Table: "anon.x", RowsDone: done, RowsTotal: total, Done: last})
	}
	tell(1, "truncate", 0, 0, true)
	tell(2, "move", 200, 400, false)
	tell(2, "move", 400, 400, true)
	tell(3, "close", 0, 0, true)
	p.end()
	text := out.String()
	require.True(t, strings.HasPrefix(text, "anon.x: emptied\n"), text)
	require.Contains(t, text, "100%")
	require.Contains(t, text, "(400/400")
	require.True(t, strings.HasSuffix(text, "\nall steps are done\n"), text)
	require.True(t, p.seen)
}

func TestProgressDrawsOneBarForAllMovers(t *testing.T) {
	var out strings.Builder
	p := (&app{stderr: &out}).newPublishProgress()
	p.bars = true
	for _, m := range []struct {
		step  int
		done  int64
		total int64
	}{{2, 100, 200}, {3, 100, 300}, {2, 200, 200}, {3, 300, 300}} {
		p.tell(runner.Progress{
			Kind: runner.PublishBatch, Step: m.step, StepKind: "move", Table: "anon.x", RowsDone: m.done, RowsTotal: m.total, Done: m.done == m.total,
		})
	}
	for _, shown := range []string{"(100/200", "(200/500", "(300/500", "(500/500"} {
		require.Contains(t, out.String(), shown)
	}
	require.Equal(t, 1, strings.Count(out.String(), "\n"), "one line: %q", out.String())
}

func TestProgressTellsWhyATableWasNotAnalyzed(t *testing.T) {
	require.Equal(t, "anon.x: analyzed", progressText(runner.Progress{StepKind: "analyze", Table: "anon.x"}))
	require.Equal(t, "anon.x: not analyzed: process 7 holds it",
		progressText(runner.Progress{StepKind: "analyze", Table: "anon.x", Note: "not analyzed: process 7 holds it"}))
}

func TestProgressTellsWhatWasApplied(t *testing.T) {
	var out strings.Builder
	applied := runner.Progress{Kind: runner.PublishBatch, Step: 1, StepKind: "apply", Note: "anon.x: swapped", Done: true}
	(&app{stderr: &out}).newPublishProgress().tell(applied)
	require.Equal(t, "anon.x: swapped\n", out.String())
	out.Reset()
	(&app{stderr: &out, json: true}).newPublishProgress().tell(applied)
	require.Contains(t, out.String(), `"kind":"apply"`)
	require.Contains(t, out.String(), `"note":"anon.x: swapped"`)
}

func TestProgressOfAnEmptyMove(t *testing.T) {
	var out strings.Builder
	p := (&app{stderr: &out}).newPublishProgress()
	p.bars = true
	p.tell(runner.Progress{Kind: runner.PublishBatch, Step: 1, StepKind: "move", Table: "anon.x", Done: true})
	require.True(t, strings.HasSuffix(out.String(), "\n"), out.String())
}

func TestCellsCannotSteerATerminal(t *testing.T) {
	var rows table
	rows.add("a\tb", "c\nd", "\x1b[2J")
	require.Equal(t, "a b  c d  \\x1b[2J\n", rows.String())
}

func TestCommandIsWrittenForAShell(t *testing.T) {
	require.Equal(t, "cs9gen publish rebuild 2024-10-01", command("publish", "rebuild", "2024-10-01"))
	require.Equal(t, `cs9gen publish rebuild 'it'\''s week 40'`, command("publish", "rebuild", "it's week 40"))
	require.Equal(t, "cs9gen show -- rebuild -1", command("show", "rebuild", "-1"))
}

type noWriter struct{}

func (noWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	var stderr strings.Builder
	code := Run(context.Background(), []string{"version"}, strings.NewReader(""), noWriter{}, &stderr, func(string) string { return "" })
	require.Equal(t, exitFailed, code)
	require.Equal(t, "cs9gen: write to standard output: no space left on device\n", stderr.String())
}

func TestInitRefusesALinkToo(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "definitions"), 0o755))
	target := filepath.Join(dir, "target")
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "definitions", "tables.yaml")))
	var stdout, stderr strings.Builder
	code := Run(context.Background(), []string{"init", dir}, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr.String(), "is there already, and is not written over")
	require.NoFileExists(t, target)
}
