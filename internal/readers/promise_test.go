package readers_test

import (
	"slices"
)

// group is a line of the table of promises: readers that see the same.
type group int

const (
	statement group = iota
	stable
	both
	cursor
	beforeStaging
	whileStaging
	afterStaging
	volatileLater
	locking
	groups
)

// lines say what the readers of a group are.
var lines = [groups]string{
	locking:   "a read that locks rows, SELECT … FOR SHARE: it waits as writers do",
	statement: "a statement: plain, prepared, of a view, of a VOLATILE function",
	stable:    "REPEATABLE READ, or a STABLE function, from a snapshot that is taken during the publish",
	both:      "two tables of the task in one statement",
	cursor:    "a cursor that was opened before the publish, or a REPEATABLE READ transaction that had read the table",
	beforeStaging: "REPEATABLE READ, or a STABLE function in a long statement, that reads after the publish " +
		"from a snapshot of before the plans wrote",
	whileStaging:  "the same, from a snapshot of while the plans wrote",
	afterStaging:  "the same, from a snapshot of after the last plan, before the publish",
	volatileLater: "a VOLATILE function that a statement which began before the publish calls after it",
}

var modes = []string{"batched", "atomic", "swap"}

// promised is all that a reader of a group may see, by mode: P12.
var promised = map[string][groups][]class{
	"batched": {
		statement:     {old, empty, part, fresh},
		stable:        {old, empty, part, fresh},
		both:          {old, apart, fresh},
		cursor:        {old},
		beforeStaging: {empty},
		whileStaging:  {empty},
		afterStaging:  {empty},
		volatileLater: {fresh},
		locking:       {old, empty, part, fresh},
	},
	"atomic": {
		statement:     {old, fresh},
		stable:        {old, fresh},
		both:          {old, fresh},
		cursor:        {old},
		beforeStaging: {old},
		whileStaging:  {old},
		afterStaging:  {old},
		volatileLater: {fresh},
		locking:       {old, fresh},
	},
	"swap": {
		statement:     {old, fresh},
		stable:        {old, fresh},
		both:          {old, fresh},
		cursor:        {old},
		beforeStaging: {empty},
		whileStaging:  {part},
		afterStaging:  {fresh},
		volatileLater: {fresh},
		locking:       {old, fresh},
	},
}

const never = "never"

// waits say what the readers of a mode wait for.
var waits = map[string]string{
	"batched": "for the TRUNCATE",
	"atomic":  never,
	"swap":    "for the switch",
}

func mayBeSeen(mode string, g group, c class) bool { return slices.Contains(promised[mode][g], c) }
