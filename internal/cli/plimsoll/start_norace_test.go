//go:build !race

package plimsoll_test

const slack = 1
