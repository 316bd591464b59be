// Package matrix holds tests that cross what a table can be made of with what a
// run does to it: every kind of name, and every type of column with the values
// that are hard for it, from a definition file through each way of publishing,
// compared with the same work in plain SQL.
package matrix
