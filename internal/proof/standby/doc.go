// Package standby tries what docs/operations.md says of days on which a part of
// the system is missing: readers on a hot standby, a promotion at any point of a
// run, a synchronous standby that is slow or down, a host that vanishes, a
// network that goes silent, a dump, a base backup. It starts real standbys of
// the test's server. All is in its tests; make standby runs them at length.
package standby
