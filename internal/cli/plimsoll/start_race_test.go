//go:build race

package plimsoll_test

// The race detector allocates for each package that it watches. The limits
// proper are held without it, where the check looks for drift.
const slack = 8
