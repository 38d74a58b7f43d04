//go:build unix

package shipgate

import "syscall"

// become replaces this process by another program: one process, one set of
// streams, and signals that go where they are meant.
func become(file string, args []string, env Env) error {
	return syscall.Exec(file, append([]string{server}, args...), env.Environ)
}
