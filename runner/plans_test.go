package runner

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPlanListJSON(t *testing.T) {
	type args struct {
		Week int               `json:"week"`
		Tags map[string]string `json:"tags"`
		db   any               //nolint:unused // must not be recorded
	}
	task := Task[args, any]{
		PlanList: func(context.Context, Run) ([]Plan[args], error) {
			return []Plan[args]{{Analyses: []args{{Week: 1}, {Week: 2, Tags: map[string]string{"b": "1", "a": "2"}}}}, {Analyses: []args{{Week: 3}}}}, nil
		},
		Universal: func(run Run, a *args) { a.Week += run.Today().Day() },
	}
	j := task.job()
	run := Run{today: time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)}
	list, err := j.plan(t.Context(), run)
	want := `[[{"week":11,"tags":null},{"week":12,"tags":{"a":"2","b":"1"}}],[{"week":13,"tags":null}]]`
	if err != nil || string(list.json) != want || list.plans != 2 {
		t.Errorf("got  %s\nwant %s\n%v", list.json, want, err)
	}
	again, _ := task.job().plan(t.Context(), run)
	if string(again.json) != want {
		t.Errorf("the same task gave another list: %s", again.json)
	}
}

func TestPlanListIsRefused(t *testing.T) {
	type opaque struct{ week int }
	for name, c := range map[string]struct {
		argsets [][]any
		says    string
	}{
		"no plans":        {nil, "no plans"},
		"no analyses":     {[][]any{{1}, {}}, "plan 2 has no analyses"},
		"no JSON":         {[][]any{{1}, {2, make(chan int)}}, "plan 2, analysis 2"},
		"unexported only": {[][]any{{opaque{1}}}, "unexported"},
	} {
		_, err := encodePlans(len(c.argsets), func(plan int) []any { return c.argsets[plan] })
		if !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArgsSayWhereTheAnalysisIs(t *testing.T) {
	var got []Args[string]
	task := Task[string, int]{
		PlanList: func(context.Context, Run) ([]Plan[string], error) {
			return []Plan[string]{{Analyses: []string{"a", "b"}}, {Analyses: []string{"c"}}}, nil
		},
		Select: func(_ context.Context, a Args[string], _ Handles) (int, error) { return a.IndexPlan * 10, nil },
		Action: func(_ context.Context, data int, a Args[string], _ Handles) error {
			if data != a.IndexPlan*10 {
				t.Errorf("plan %d got the data %d", a.IndexPlan, data)
			}
			got = append(got, a)
			return nil
		},
	}
	j := task.job()
	run := Run{task: "t", key: "k"}
	if _, err := j.plan(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for plan := 1; plan <= 2; plan++ {
		if err := j.perform(t.Context(), run, plan, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := []Args[string]{
		{Value: "a", IndexPlan: 1, IndexAnalysis: 1, FirstAnalysis: true, WithinPlanFirstAnalysis: true, Run: run},
		{Value: "b", IndexPlan: 1, IndexAnalysis: 2, WithinPlanLastAnalysis: true, Run: run},
		{Value: "c", IndexPlan: 2, IndexAnalysis: 3, LastAnalysis: true, WithinPlanFirstAnalysis: true, WithinPlanLastAnalysis: true, Run: run},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTaskThatCannotRun(t *testing.T) {
	plans := func(context.Context, Run) ([]int, error) { return []int{1}, nil }
	list := func(context.Context, Run) ([]Plan[int], error) { return nil, nil }
	action := func(context.Context, any, Args[int], Handles) error { return nil }
	returns := func(context.Context, any, Args[int], Handles) (Source, error) { return nil, nil }
	good := Task[int, any]{Name: "t", Tables: Tables{"x": "s.x"}, Plans: plans, Action: action}
	if err := good.validate(options{}); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Task[int, any]){
		"no name":         func(t *Task[int, any]) { t.Name = " " },
		"no tables":       func(t *Task[int, any]) { t.Tables = nil },
		"empty name":      func(t *Task[int, any]) { t.Tables = Tables{"x": ""} },
		"no planner":      func(t *Task[int, any]) { t.Plans = nil },
		"both Plans":      func(t *Task[int, any]) { t.PlanList = list },
		"no action":       func(t *Task[int, any]) { t.Action = nil },
		"both Action":     func(t *Task[int, any]) { t.Returns, t.ReturnTo = returns, "x" },
		"Cores is -1":     func(t *Task[int, any]) { t.Cores = -1 },
		`ReturnTo is "y"`: func(t *Task[int, any]) { t.Action, t.Returns, t.ReturnTo = nil, returns, "y" },
		"but no Returns":  func(t *Task[int, any]) { t.ReturnTo = "x" },
		"ReturnAs is 7":   func(t *Task[int, any]) { t.Action, t.Returns, t.ReturnTo, t.ReturnAs = nil, returns, "x", 7 },
	} {
		task := good
		change(&task)
		if err := task.validate(options{}); !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	for says, o := range map[string]options{
		"the run key is empty":               {hasRunKey: true, runKey: " "},
		"Again has no run key":               {again: true},
		"PublishMode has nothing to publish": {publishMode: "atomic"},
	} {
		if err := good.validate(o); !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
