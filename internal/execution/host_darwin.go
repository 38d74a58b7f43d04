package execution

import "syscall"

// systemRelease is the release of the operating system.
func systemRelease() string {
	release, err := syscall.Sysctl("kern.osrelease")
	if err != nil {
		return ""
	}
	return release
}

// killMarked does nothing: this system tells no process about the variables of
// another. What left its group goes on until it ends, in a worktree that is no
// longer read.
func killMarked(string) {}
