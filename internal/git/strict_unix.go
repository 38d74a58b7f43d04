//go:build unix

package git

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func openNoFollow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // the field's width differs between systems
	}
	return 1
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
