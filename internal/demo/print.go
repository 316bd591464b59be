package demo

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cs9gen/cs9gen/internal/chart"
)

// name says when the step is; sep is between its words.
func (s Step) name(sep string) string {
	plan := fmt.Sprintf("plan %d", s.Plan)
	switch s.Moment {
	case planDone:
		return plan
	case planFailed:
		return plan + sep + "fails"
	case planSkipped:
		return plan + sep + "skipped"
	}
	return string(s.Moment)
}

// sees says what a reader sees.
func (s Step) sees() string {
	switch {
	case s.Rows() == 0:
		return "0 rows"
	case s.Old == 0:
		return fmt.Sprintf("%d new", len(s.New))
	case len(s.New) == 0:
		return fmt.Sprintf("%d old", s.Old)
	}
	return fmt.Sprintf("%d old, %d new", s.Old, len(s.New))
}

// Print writes the steps and the claims as text.
func (r *Report) Print(out io.Writer) error {
	// Flush returns the error of every write to w
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "scenario\tstep\treader sees\tstaged\tnote\n")
	for _, s := range r.Steps {
		line := fmt.Sprintf("%s\t%s\t%s\t%d", scenario(s.Scenario), s.name(" "), s.sees(), len(s.Staged))
		if s.Note != "" {
			line += "\t" + s.Note
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "\nclaim\n")
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Claims {
		verdict, saw := "ok    ", ""
		if !c.OK {
			verdict, saw = "FAILED", ": "+c.Saw
		}
		if _, err := fmt.Fprintf(out, "%s  %s: %s%s\n", verdict, c.Scenario, c.Text, saw); err != nil {
			return err
		}
	}
	for _, path := range r.Charts {
		if _, err := fmt.Fprintf(out, "chart: %s\n", path); err != nil {
			return err
		}
	}
	return nil
}

func scenario(letter string) string {
	for _, s := range scenarios {
		if s.letter == letter {
			return s.letter + " " + s.name
		}
	}
	return letter
}

// chart draws the steps.
func (r *Report) chart() *chart.Chart {
	c := &chart.Chart{
		Title:  "Readers see the old rows until the run is published; a failed run changes nothing",
		YLabel: "rows",
		Bars:   []chart.Series{{Name: "a reader sees: old rows"}, {Name: "a reader sees: new rows"}},
		Lines:  []chart.Series{{Name: "rows staged by the run"}},
	}
	for i, s := range r.Steps {
		c.Steps = append(c.Steps, s.name("\n"))
		c.Bars[0].Values = append(c.Bars[0].Values, float64(s.Old))
		c.Bars[1].Values = append(c.Bars[1].Values, float64(len(s.New)))
		c.Lines[0].Values = append(c.Lines[0].Values, float64(len(s.Staged)))
		if last := len(c.Groups) - 1; last >= 0 && r.Steps[i-1].Scenario == s.Scenario {
			c.Groups[last].To = i + 1
			continue
		}
		c.Groups = append(c.Groups, chart.Group{Name: title(s.Scenario), From: i, To: i + 1})
	}
	return c
}

func title(letter string) string {
	for _, s := range scenarios {
		if s.letter == letter {
			return s.title
		}
	}
	return letter
}
