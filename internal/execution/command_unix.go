//go:build !windows

package execution

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ownGroup puts a command into a process group of its own, so that signals
// reach all of it, and the terminal's reach the runner alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGINT) }

func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup is best effort: a group that is gone has nothing to be told.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s) }

// find is the program a name stands for, with relative names and relative
// folders of the search path taken from dir.
func find(name, dir, path string) (string, error) {
	at := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(at(name))
	}
	for _, folder := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(at(folder), name)); err == nil {
			return program, nil
		}
	}
	return "", exec.ErrNotFound
}

// hold takes the lock on a file, which ends with the process. ok is false when
// somebody has it.
func hold(name string) (release func(), ok bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		file.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = nil
		}
		return nil, false, err
	}
	return func() { file.Close() }, true, nil // nothing was written
}

// syncDir makes a rename in a folder outlive the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}
