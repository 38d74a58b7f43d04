package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// report collects what was measured, which is printed last as one table.
type report struct{ lines [][4]string }

// say holds a budget against what was measured. A missed one is said, not
// hidden; the exit status stays 0, since a shared machine is no judge.
func (b *report) say(ok bool, what, measured, budget string) {
	word := "within"
	if !ok {
		word = "MISSED"
	}
	b.lines = append(b.lines, [4]string{word, what, measured, budget})
}

// add puts a figure without a budget into the table.
func (b *report) add(what, measured string) {
	b.lines = append(b.lines, [4]string{"", what, measured, ""})
}

func (b *report) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nverdict\twhat\tmeasured\tbudget")
	for _, l := range b.lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l[0], l[1], l[2], l[3])
	}
	return w.Flush()
}

func middle[T time.Duration | float64](list []T) T {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

func two(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// quantile is the time within which so many of a hundred came.
func quantile(list []time.Duration, percent int) time.Duration {
	s := slices.Sorted(slices.Values(list))
	return s[min(len(s)-1, len(s)*percent/100)]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
}
