//go:build !linux && !darwin

package execution

// systemRelease is unknown here.
func systemRelease() string { return "" }

// killMarked does nothing, as on darwin.
func killMarked(string) {}
