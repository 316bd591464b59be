package oracle

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// triggerFunction begins the name of every function that a trigger of the world calls.
const triggerFunction = "cs9x_fire"

// trigger draws a trigger. Those that raise, change, skip or write elsewhere are for batched
// tables alone: atomic touches only the rows that differ, and a swap fires none.
func trigger(w *world, d *drawer, t *table) {
	w.helpers++
	c := pickOf(d, t.plainOrAll())
	schema := w.schema(d)
	f := sqlgen.Qualified(schema, fmt.Sprintf("%s_%d", triggerFunction, w.helpers))
	q := `"` + strings.ReplaceAll(c.name, `"`, `""`) + `"` // PL/pgSQL has key words of its own
	when, level, body := pick(d, "BEFORE", "AFTER"), "ROW", ""
	events := pick(d, "INSERT", "INSERT OR UPDATE", "UPDATE", "DELETE", "INSERT OR DELETE OR UPDATE")
	switch d.weighted(3, 2, 2, 3, 2) {
	case 0: // raises for one value
		body = fmt.Sprintf("IF %s = %s THEN RAISE 'the trigger raises' USING ERRCODE = '%s'; END IF; RETURN %s;", "NEW."+q, literal(c.kind.values[0]), "U0001", "NEW")
		events, t.triggered = "INSERT OR UPDATE", true
	case 1: // changes
		when, events = "BEFORE", "INSERT"
		body = fmt.Sprintf("NEW.%s := %s; RETURN NEW;", q, literal(c.kind.values[min(1, len(c.kind.values)-1)]))
		t.triggered = true
	case 2: // skips
		when, events = "BEFORE", "INSERT"
		body = fmt.Sprintf("IF NEW.%s IS NULL THEN RETURN NULL; END IF; RETURN NEW;", q)
		t.triggered = true
	case 3: // writes elsewhere
		when, events = "AFTER", "INSERT"
		log := sqlgen.Qualified(schema, fmt.Sprintf("log_%d", w.helpers))
		w.hang("CREATE TABLE %s (line text)", log)
		body = fmt.Sprintf("INSERT INTO %s SELECT NEW.%s::text; RETURN NULL;", pick(d, log, log, fmt.Sprintf("log_%d", w.helpers)), q)
		if pathOf(w.settings) == nil {
			w.settings = append(w.settings, setting{"search_path", sqlgen.QuoteIdent(schema) + ", public"})
		}
		t.triggered = true
	case 4: // does nothing, once a statement
		level, body = "STATEMENT", "RETURN NULL;"
		when, events = "AFTER", pick(d, "INSERT", "DELETE", "TRUNCATE", "INSERT OR UPDATE OR DELETE")
	}
	w.hang("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS %s", f, sqlgen.QuoteLiteral("BEGIN "+body+" END"))
	w.hang("CREATE TRIGGER %s %s %s ON %s FOR EACH %s EXECUTE FUNCTION %s()", sqlgen.QuoteIdent(d.name(map[string]bool{}, "trigger")), when, events, t.live(), level, f)
}

// plainOrAll returns the columns that are not in the key, or all where there are none.
func (t *table) plainOrAll() []*column {
	if list := t.plain(); len(list) > 0 {
		return list
	}
	return t.writable()
}
