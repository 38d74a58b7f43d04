//go:build linux || darwin

package server

import "syscall"

// diskUsed is how full the disk of a folder is, in percent of what may be used.
func diskUsed(dir string) (int, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	if s.Blocks == 0 {
		return 0, nil
	}
	used := s.Blocks - s.Bfree
	return int(100 * used / max(1, used+s.Bavail)), nil
}
