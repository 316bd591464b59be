package oracle

import (
	"errors"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is a reason for which cs9gen refuses what plain SQL does.
type refusal struct {
	name    string // as docs/guarantees.md lists it
	where   string // "" for any
	state   string // SQLSTATE
	message string // regular expression
	trigger bool   // only where a trigger of the case changes or skips rows
}

// refusals are all that are allowed. docs/guarantees.md has the same, and why.
var refusals = []refusal{
	{"a row is written twice", "", "S9011", "", false},
	{"a plan deletes rows that another plan wrote", "", "S9012", "", false},
	{"a table would be empty", "", "S9014", "", false},
	{"an isolation above READ COMMITTED", "", "S9016", "needs a READ COMMITTED transaction", false},
	{"not a condition", "staging", "S9015", "", false},
	{"a referenced row would go or change", "", "S9013", "are referenced by the foreign key", false},
	{"a row references a row of the same run", "", "S9013", "a staged row breaks the foreign key", false},
	{"an exclusion constraint", "", "S9013", "exclusion constraint", false},
	{"a rule", "", "S9013", "it has the rule", false},
	{"a table that inherits", "", "S9013", "inherits from it", false},
	{"a swap cannot be", "", "S9013", "it cannot be swapped", false},
	{"values change places", "", "S9013", "a staged row collides with a live row", false},
	{"a trigger would have mended the row", "staging", "23502", "", true},
	{"a trigger would have mended the row", "staging", "23514", "", true},
	{"a trigger would have mended the row", "", "S9013", "a staged row (fails the check|has no partition)", true},
	{"a row that a trigger skips", "", "S9013", "one of its triggers .* skips rows", true},
	{"a row that a trigger skips", "publish", skipped, "", true},
	{"a session of replication", "", "S9016", "session_replication_role is replica", false},
	{"a function that counts on a search_path", "", "S9013", " fails: ", false},
}

// skipped is the SQLSTATE of a publish that stops because a trigger skips rows: steps before it stay.
const skipped = "S9022"

func (c *testCase) refusalOf(err error, where string) *refusal {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return nil
	}
	triggered := slices.ContainsFunc(c.world.tables, func(t *table) bool { return t.triggered })
	for i, r := range refusals {
		if r.state == pg.Code && (r.where == "" || r.where == where) && (triggered || !r.trigger) && regexp.MustCompile(r.message).MatchString(pg.Message) {
			return &refusals[i]
		}
	}
	return nil
}

var (
	quoted  = regexp.MustCompile(`"(?:[^"]|"")*"|'(?:[^']|'')*'`)
	numbers = regexp.MustCompile(`[0-9]+`)
	subject = regexp.MustCompile(`(publishing into|rows of|row) .{1,90} (could|is|was|are)\b`)
)

// normal takes names and numbers out of a message.
func normal(message string) string {
	message = quoted.ReplaceAllString(message, "…")
	message = subject.ReplaceAllString(message, "$1 … $2")
	message = numbers.ReplaceAllString(message, "0")
	if len(message) > 160 {
		message = message[:160]
	}
	return oneLine(message)
}
