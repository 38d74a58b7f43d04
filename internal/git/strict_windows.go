package git

import (
	"io/fs"
	"os"
)

// On Windows os.Open follows reparse points; readFile compares the file it
// opened with the entry it looked at, which no reparse point passes.
// nonblocking is nothing here: there are no pipes in folders.
const nonblocking = 0

func openNoFollow(name string) (*os.File, error) { return os.Open(name) }

func linkCount(fs.FileInfo) uint64 { return 1 }

func changeTime(fs.FileInfo) int64 { return 0 }

func isNotDir(error) bool { return false }
