// Package readers holds the proof of what readers see while a run is published
// (promise P12): hundreds of publishes of each mode, and every kind of reader
// beside them. It has tests only, and writes the table in docs/readers.md.
package readers
