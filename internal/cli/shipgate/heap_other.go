//go:build !linux

package shipgate

import "errors"

// largePages is for systems that give them to whoever asks; elsewhere a run does
// without.
func largePages([]byte) error { return errors.ErrUnsupported }
