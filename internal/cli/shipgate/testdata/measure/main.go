//go:build linux

// Command measure runs a program and writes the peak of its memory, in KiB, to a
// file. A process inherits the peak of the one that starts it, so that a child of
// the tests themselves would show theirs.
//
//	measure FILE PROGRAM ARG...
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		if err := os.WriteFile(os.Args[1], []byte(fmt.Sprint(u.Maxrss)), 0o600); err != nil {
			os.Exit(99)
		}
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
