//go:build !linux

package pgtest

import "os/exec"

// unprivileged: elsewhere the server runs as whoever runs the tests.
func unprivileged(dir string) (func(*exec.Cmd), error) {
	return func(c *exec.Cmd) { c.Dir = dir }, nil
}

func keep(c *exec.Cmd) (<-chan error, error) {
	if err := c.Start(); err != nil {
		return nil, err
	}
	exited := make(chan error, 1)
	go func() {
		exited <- c.Wait()
		close(exited)
	}()
	return exited, nil
}
