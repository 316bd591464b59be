package pgserver

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

const (
	sharedMemory = "/dev/shm"
	tmpfsMagic   = 0x01021994 // statfs(2)
	roomNeeded   = 6 << 30    // bytes: several servers run side by side
)

// memoryDir returns a folder in memory that holds the files of a server, or
// nothing where there is none, or no room in it.
func memoryDir() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &fs); err != nil || fs.Type != tmpfsMagic {
		return ""
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // a block has a positive size
	if min(free, availableMemory()) < roomNeeded {
		return ""
	}
	return sharedMemory
}

// availableMemory returns how many bytes programs could still use: what a file
// system in memory says is free need not be there.
func availableMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}
