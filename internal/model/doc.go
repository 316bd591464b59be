// Package model tests the SQL interface against a model of it. Random sequences
// of runs, writes, failures, kills, retries, writes of old attempts, publishes
// and discards are made in a database and, at the same time, in a few hundred
// lines of Go that follow the promises. What comes in the way of a publish is
// made too: rows of others that collide, locks, staged rows that are moved under
// it, a session that dies in the middle of a batch. After each call both must
// agree: on the SQLSTATE and result, on what a reader of the live tables sees,
// and on every row that the runs keep.
//
// The package has tests only.
package model
