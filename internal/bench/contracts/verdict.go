package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// report collects the verdicts, which come last.
type report struct{ lines []string }

// say holds a budget against what was measured. A missed one is said, not
// hidden; the exit status stays 0, since a shared machine is no judge.
func (b *report) say(ok bool, format string, args ...any) {
	word := "within"
	if !ok {
		word = "MISSED"
	}
	b.lines = append(b.lines, word+"  "+fmt.Sprintf(format, args...))
}

func (b *report) print() {
	fmt.Println()
	for _, line := range b.lines {
		fmt.Println(line)
	}
}

func middle[T time.Duration | float64](list []T) T {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

// quantile is the time within which so many of a hundred came.
func quantile(list []time.Duration, percent int) time.Duration {
	s := slices.Sorted(slices.Values(list))
	return s[min(len(s)-1, len(s)*percent/100)]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
}
