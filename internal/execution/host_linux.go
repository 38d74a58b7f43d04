package execution

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// systemRelease is the release of the operating system.
func systemRelease() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// killMarked ends every process that was started with a variable which is this
// run's alone: descendants of the command that left its group, and those of a
// runner that died. A process of ours without it is never touched.
func killMarked(mark string) {
	for range 50 { // a killed process needs a moment to be gone, and may just have started another
		if !killOnce(mark) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func killOnce(mark string) (found bool) {
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return false
	}
	for _, name := range entries {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && pid != os.Getpid() {
			found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
	}
	return found
}
