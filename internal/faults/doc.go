// Package faults holds no code, only tests of what goes wrong around a run:
// rivals that start, publish or write at the same moment, a proxy between the
// runner and the server, and the faults that people reported of tools of this
// kind. What each test guards is listed in docs/guarantees.md.
package faults
