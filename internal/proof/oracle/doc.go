// Package oracle compares cs9gen with plain SQL, on schemas that nobody chose.
//
// From a seed it draws a world (settings, schemas, types, functions, tables and
// all that hangs on them, rows), a run (modes, plans, deletes, inserts, upserts)
// and events (a failed attempt, a publish that is killed, DDL before the
// publish). The oracle does the same changes with plain DELETE, TRUNCATE, INSERT
// and INSERT … ON CONFLICT, in one transaction of a session with the settings
// under which the rows are staged; what it leaves is read, and rolled back. Then
// cs9gen takes the tables over and publishes the run. One of these must hold:
//
//   - both did it, every table of the database is equal, and nothing that hangs on a table changed;
//   - the oracle failed, and cs9gen refused with a code of class S9, or while rows
//     were staged, before a row of any table changed;
//   - the oracle did it, and cs9gen refused for a reason of [refusals], which
//     docs/guarantees.md lists by name.
//
// Anything else is a finding.
//
// # How to read a finding
//
// A finding says what is wrong, the seed, the parts that were left out, and one
// psql script. The seed and the parts make the case again:
//
//	CS9GEN_ORACLE_SEED=17 CS9GEN_ORACLE_CASES=1 go test ./internal/proof/oracle -run TestPlainSQL -v
//
// The script needs an empty database and the command cs9gen in PATH; it shows
// plain SQL first, in a transaction that it takes back, then cs9gen. Where a
// session has to be killed, or two are open at once, the script says so.
//
// # How to add something
//
// A type is one entry of kinds_test.go, with a few values. What hangs on a table
// is one function of hangs_*_test.go and a line in [hangs]. A setting is one line
// of settings_test.go. An event is one entry of events_test.go. Each asks its
// [drawer] by a label of its own; what is asked by [drawer.option] can be left out, so that a case
// shrinks by itself. A statement that PostgreSQL refuses while the world is made is left out of it.
package oracle
