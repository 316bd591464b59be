package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// setting is a setting and its value, as SET takes it.
type setting struct{ name, value string }

func (s setting) set() string { return fmt.Sprintf("SET %s = %s", s.name, s.value) }

// choice is what a setting may be, and in how many of 100 cases it is set at all.
type choice struct {
	name    string
	percent int
	values  []string
}

// Settings of the database hold for every session, those of a session for that alone.
var databaseSettings = []choice{
	{"TimeZone", 12, []string{"'Europe/Berlin'", "'UTC'", "'America/New_York'", "'Asia/Kolkata'"}},
	{"DateStyle", 12, []string{"'ISO, DMY'", "'SQL, DMY'", "'German'", "'Postgres, MDY'"}},
	{"IntervalStyle", 8, []string{"'iso_8601'", "'sql_standard'", "'postgres_verbose'"}},
	{"default_transaction_isolation", 1, []string{"'repeatable read'", "'serializable'"}},
	{"standard_conforming_strings", 6, []string{"off"}},
	{"quote_all_identifiers", 6, []string{"on"}},
	{"extra_float_digits", 6, []string{"0", "-5", "3"}},
	{"bytea_output", 6, []string{"'escape'"}},
	{"backslash_quote", 4, []string{"on", "off"}},
	{"transform_null_equals", 4, []string{"on"}},
	{"array_nulls", 2, []string{"off"}},
	{"xmloption", 4, []string{"document"}},
	{"lc_monetary", 3, []string{"'C'"}},
	{"default_text_search_config", 3, []string{"'pg_catalog.german'"}},
	{"row_security", 4, []string{"off"}},
	{"check_function_bodies", 4, []string{"off"}},
	{"default_toast_compression", 3, []string{"pglz"}},
	{"synchronize_seqscans", 3, []string{"off"}},
	{"statement_timeout", 4, []string{"'60s'"}},
	{"lock_timeout", 4, []string{"'30s'"}},
	{"idle_in_transaction_session_timeout", 4, []string{"'60s'"}},
	{"enable_seqscan", 6, []string{"off"}},
	{"enable_hashjoin", 4, []string{"off"}},
	{"enable_partition_pruning", 3, []string{"off"}},
	{"constraint_exclusion", 4, []string{"on", "off"}},
	{"plan_cache_mode", 4, []string{"force_generic_plan"}},
	{"max_parallel_workers_per_gather", 3, []string{"0"}},
	{"plpgsql.variable_conflict", 4, []string{"use_variable", "use_column"}},
	{"plpgsql.extra_errors", 3, []string{"'all'"}},
	{"work_mem", 3, []string{"'64kB'"}},
}

// sessionSettings are those that a database cannot have for us.
var sessionSettings = append([]choice{
	{"session_replication_role", 1, []string{"replica"}},
	{"client_min_messages", 3, []string{"warning"}},
	{"search_path", 12, []string{"''", "pg_temp, public", "public, pg_catalog"}},
}, databaseSettings...)

// drawSettings draws settings, and a search_path of the world's schemas.
func drawSettings(d *drawer, w *world, choices []choice) []setting {
	var out []setting
	// most cases leave most alone
	if _, there := d.option(45, "any"); !there {
		return nil
	}
	for _, c := range choices {
		if s, there := d.option(c.percent, "%s", c.name); there {
			out = append(out, setting{c.name, pickOf(s, c.values)})
		}
	}
	if s, there := d.option(20, "search_path of the schemas"); there && pathOf(out) == nil {
		path := quoteAll(w.schemas)
		if s.chance(30) {
			slices.Reverse(path)
		}
		if s.chance(25) {
			path = append(path, "pg_catalog")
		}
		out = append(out, setting{"search_path", strings.Join(append(path, "public"), ", ")})
	}
	return out
}

func pathOf(settings []setting) *setting {
	for i := range settings {
		if settings[i].name == "search_path" {
			return &settings[i]
		}
	}
	return nil
}

// ofDatabase writes a setting as one of the database.
func (s setting) ofDatabase(database string) string {
	return fmt.Sprintf("ALTER DATABASE %s SET %s = %s", sqlgen.QuoteIdent(database), s.name, s.value)
}
