//go:build !linux

package pgserver

// memoryDir returns a folder in memory that holds the files of a server:
// nothing here.
func memoryDir() string { return "" }
