package execution

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interruptGroup cannot ask: a program of another console group hears nothing.
func interruptGroup(cmd *exec.Cmd) { killGroup(cmd) }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func find(name, dir, path string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if strings.ContainsAny(name, `/\`) {
		return exec.LookPath(filepath.Join(dir, name))
	}
	for _, folder := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return program, nil
		}
	}
	return "", exec.ErrNotFound
}

// hold opens the file so that nobody else can; the handle ends with the process.
func hold(name string) (release func(), ok bool, err error) {
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, false, err
	}
	const sharingViolation = syscall.Errno(32)
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() { _ = syscall.CloseHandle(h) }, true, nil
}

// syncDir has nothing to do: a rename is written through.
func syncDir(string) error { return nil }
