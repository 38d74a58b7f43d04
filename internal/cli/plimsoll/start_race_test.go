//go:build race

package plimsoll_test

// The race detector allocates for what it watches, and not the same each time. The limits
// proper are held without it, where the check looks for drift.
const slack = 32
