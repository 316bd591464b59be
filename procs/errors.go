package procs

// ErrorCode is one of the SQLSTATEs that the routines raise.
type ErrorCode struct {
	SQLState string
	Name     string // in snake case, for programs
	Meaning  string
	Remedy   string
}

// ErrorCodes is the catalogue of the project's own SQLSTATEs, class S9. The
// routines raise no other of this class, and each of these is raised by one.
var ErrorCodes = []ErrorCode{
	{"S9001", "run_alive", "another session owns the task, or a write of the earlier attempt is still in flight", "wait until it has ended; pg_terminate_backend ends a session that hangs"},
	{"S9002", "run_unknown", "no run has this task and run key, or this number", "look at cs9.run_status"},
	{"S9003", "run_not_ready", "the run is in another state than the call needs: its plans are not done, or it is publishing", "finish its plans, or its publish"},
	{"S9004", "run_published", "the run is published, and never changes anything again", "nothing to do; begin it with p_again to do it over"},
	{"S9005", "run_discarded", "the run was discarded", "begin a new run"},
	{"S9006", "stale_attempt", "another attempt of the run is live, or another session has taken the plan", "stop the program that calls: it was replaced"},
	{"S9007", "not_in_plan", "the write does not come from a plan that the live attempt is running", "call cs9.begin_plan in the session that writes"},
	{"S9008", "plans_changed", "the plan list is not the one of the first attempt", "build the list from the run's date and arguments only, or discard the run"},
	{"S9009", "tables_changed", "the tables or their definitions are not those of the first attempt", "go back to them, or discard the run"},
	{"S9010", "table_unknown", "the table is not one that cs9gen publishes", "define it, generate, and apply the migrations"},
	{"S9011", "duplicate_row", "the run wrote one row (key) more than once", "let each row be written by one plan, once"},
	{"S9012", "deletes_others_rows", "a plan deletes rows that another plan of the run wrote", "delete in plan 1, or only what no other plan writes"},
	{"S9013", "cannot_finish", "the publish could not finish; the message says what stands in the way", "remove what stands in the way; no live row was touched"},
	{"S9014", "nothing_staged", "the run drops all rows of a table and staged none", "allow it with p_allow_empty, if it is meant"},
	{"S9015", "bad_condition", "the condition of a delete is not one immutable boolean expression over the table's columns, or compares with NULL", "correct the condition; the detail says what PostgreSQL found"},
	{"S9016", "bad_argument", "an argument is empty, out of range or of the wrong form, or the transaction is not READ COMMITTED", "correct it; the hint says how"},
	{"S9017", "lock_timeout", "the publish stopped because another session holds a lock", "resume it: call cs9.publish again, or run with the same key"},
	{"S9018", "staged_rewritten", "the staged rows were rewritten in the middle of the publish, or are gone, or not all of them were moved", "discard the run and run the task again; once its publish has begun, discard it by force and rebuild with a new key"},
	{"S9019", "not_owner", "the session does not own the task (any more)", "call from the session that began the run, or begin a new attempt"},
	{"S9020", "run_unfinished", "the table cannot be changed or removed while a run that writes to it is unfinished", "publish or discard the run, and migrate again"},
	{"S9021", "cannot_change", "a migration cannot adopt or change the table: it is not as the migration expects it, other objects are tied to it, or the server is too old", "the message lists what stands in the way; nothing was changed"},
	{"S9022", "rows_skipped", "a trigger skipped rows of a step, which was undone", "let the trigger return the row, or disable it, and call cs9.publish again; or discard the run by force"},
	{"S9023", "read_only", "the server is a standby, or the session is read-only", "connect to the primary: target_session_attrs=read-write finds it among several hosts"},
	{"S9024", "lock_held", "another session holds a lock that the call needs; the detail names it", "call again when it has ended"},
}
