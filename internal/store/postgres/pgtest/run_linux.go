package pgtest

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// unprivileged gives dir to the user the server runs as and answers how to make
// a command run as that user.
func unprivileged(dir string) (func(*exec.Cmd), error) {
	if os.Getuid() != 0 {
		return func(c *exec.Cmd) { c.Dir = dir }, nil
	}
	u, err := account()
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return func(c *exec.Cmd) {
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}, nil
}

// keep starts a command that dies with this process, however that ends. The
// signal is bound to the thread that started it, so that thread stays.
func keep(c *exec.Cmd) (<-chan error, error) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	c.SysProcAttr.Setpgid = true // an interrupt of the terminal is for us
	started := make(chan error)
	exited := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			exited <- c.Wait()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return exited, nil
}
