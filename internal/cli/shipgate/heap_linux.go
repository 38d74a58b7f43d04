package shipgate

import "syscall"

// largePages asks for pages of two megabytes for memory that is not touched yet. A
// system that gives none, or gives them anyway, is as well.
func largePages(memory []byte) error { return syscall.Madvise(memory, syscall.MADV_HUGEPAGE) }
