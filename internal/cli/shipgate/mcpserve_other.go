//go:build !unix

package shipgate

import (
	"errors"
	"os/exec"
)

// become runs another program on the streams of this one until it ends, where a
// process cannot be replaced.
func become(file string, args []string, env Env) error {
	cmd := exec.Command(file, args...)
	cmd.Dir, cmd.Env = env.Dir, env.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended(exit.ExitCode())
	}
	return err
}
