package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// job is a task without its types: what the driver works with.
type job struct {
	name       string
	tables     Tables
	cores      int
	allowEmpty bool

	// plan builds the plan list and keeps it for perform.
	plan func(ctx context.Context, run Run) (planList, error)
	// perform does all analyses of one plan.
	perform       func(ctx context.Context, run Run, plan int, tables Handles) error
	before, after func(ctx context.Context, run Run, tables Handles) error
}

// planList is a plan list as it is recorded: for each plan the array of its
// argsets, as JSON.
type planList struct {
	plans    int
	analyses []int // how many each plan has
	json     []byte
}

// job takes the types off a task. It is made anew for each run, because it
// keeps that run's plan list.
func (t Task[A, D]) job() *job {
	p := &performer[A, D]{task: t}
	j := &job{
		name: t.Name, tables: t.Tables, cores: max(t.Cores, 1), allowEmpty: t.AllowEmpty,
		plan: p.plan, perform: p.perform, before: t.Before, after: t.After,
	}
	return j
}

// performer is the typed part of a run.
type performer[A, D any] struct {
	task  Task[A, D]
	plans []Plan[A]
	first []int // index of each plan's first analysis, from 1
	total int   // analyses
}

func (p *performer[A, D]) plan(ctx context.Context, run Run) (planList, error) {
	var err error
	if p.task.PlanList != nil {
		p.plans, err = p.task.PlanList(ctx, run)
	} else {
		var argsets []A
		argsets, err = p.task.Plans(ctx, run)
		p.plans = make([]Plan[A], len(argsets))
		for i := range argsets {
			p.plans[i] = Plan[A]{Analyses: []A{argsets[i]}}
		}
	}
	if err != nil {
		return planList{}, err
	}
	p.first, p.total = make([]int, len(p.plans)), 0
	for i := range p.plans {
		if p.task.Universal != nil {
			for j := range p.plans[i].Analyses {
				p.task.Universal(run, &p.plans[i].Analyses[j])
			}
		}
		p.first[i] = p.total + 1
		p.total += len(p.plans[i].Analyses)
	}
	return encodePlans(len(p.plans), func(plan int) []any {
		argsets := make([]any, len(p.plans[plan].Analyses))
		for i := range argsets {
			argsets[i] = p.plans[plan].Analyses[i]
		}
		return argsets
	})
}

// perform runs one plan, counted from 1: its data pull, its analyses, and what
// they return.
func (p *performer[A, D]) perform(ctx context.Context, run Run, plan int, tables Handles) error {
	var data D
	var err error
	if p.task.Select != nil {
		if data, err = p.task.Select(ctx, p.args(run, plan, 1), tables); err != nil {
			return err
		}
	}
	var returned concat
	for analysis := 1; analysis <= len(p.plans[plan-1].Analyses); analysis++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		args := p.args(run, plan, analysis)
		if p.task.Action != nil {
			err = p.task.Action(ctx, data, args, tables)
		} else {
			var rows Source
			rows, err = p.task.Returns(ctx, data, args, tables)
			if err == nil && rows == nil {
				err = errNilSource(fmt.Sprintf("Returns of analysis %d", args.IndexAnalysis))
			}
			returned = append(returned, rows)
		}
		if err != nil {
			return err
		}
	}
	if p.task.Returns == nil {
		return nil
	}
	return tables[p.task.ReturnTo].write(ctx, p.task.ReturnAs, returned, false)
}

func (p *performer[A, D]) args(run Run, plan, analysis int) Args[A] {
	analyses := p.plans[plan-1].Analyses
	index := p.first[plan-1] + analysis - 1
	return Args[A]{
		Value:                   analyses[analysis-1],
		IndexPlan:               plan,
		IndexAnalysis:           index,
		FirstAnalysis:           index == 1,
		LastAnalysis:            index == p.total,
		WithinPlanFirstAnalysis: analysis == 1,
		WithinPlanLastAnalysis:  analysis == len(analyses),
		Run:                     run,
	}
}

// encodePlans makes the JSON by which the database knows the plan list again.
// encoding/json writes map keys sorted, and jsonb has one form for one value,
// so that the same argsets always give the same list.
func encodePlans(plans int, argsets func(plan int) []any) (planList, error) {
	list := planList{plans: plans, analyses: make([]int, plans)}
	if plans == 0 {
		return list, badArgument("let the planner give one plan at least", "the planner gave no plans")
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for plan := range plans {
		values := argsets(plan)
		list.analyses[plan] = len(values)
		if len(values) == 0 {
			return list, badArgument("give each plan one analysis at least", "plan %d has no analyses", plan+1)
		}
		for i, value := range values {
			text, err := encodeArgset(value)
			if err != nil {
				return list, fmt.Errorf("plan %d, analysis %d: %w", plan+1, i+1, err)
			}
			switch {
			case i > 0:
				b.WriteByte(',')
			case plan > 0:
				b.WriteString(",[")
			default:
				b.WriteByte('[')
			}
			b.Write(text)
		}
		b.WriteByte(']')
	}
	b.WriteByte(']')
	list.json = b.Bytes()
	return list, nil
}

func encodeArgset(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, badArgument("an argset is recorded as JSON, to be compared at a retry: leave what is not part of it out with the tag json:\"-\"",
			"the argset %T cannot be recorded: %v", value, err)
	}
	if t := reflect.TypeOf(value); string(text) == "{}" && t.Kind() == reflect.Struct && t.NumField() > 0 && !hasFields(t) {
		return nil, badArgument("export the fields that make the plans differ",
			"the argset %s has only unexported fields, so that a changed plan list could not be noticed", t)
	}
	return text, nil
}
