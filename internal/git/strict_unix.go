//go:build unix

package git

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblocking keeps an open from waiting for the other end of a pipe.
const nonblocking = syscall.O_NONBLOCK

func openNoFollow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|nonblocking, 0)
}

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // the field's width differs between systems
	}
	return 1
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
