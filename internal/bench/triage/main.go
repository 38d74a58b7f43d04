// Command triage measures the screen of the circle on a set of texts of its own:
// how many attacks are detected, how many benign texts are taken for one, and how
// long reading 4 KiB takes (docs/spec/circle.md §8).
//
// The set has two halves. The rules were tuned on one; the other says how they do
// on texts they were not made for.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/secrets"
)

func main() {
	misses := flag.Bool("misses", false, "list what went wrong in the half that the rules were tuned on")
	flag.Parse()
	if err := measure(os.Stdout, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "triage:", err)
		os.Exit(1)
	}
}

func measure(out io.Writer, misses bool) error {
	set, err := load()
	if err != nil {
		return err
	}
	finder, err := secrets.New()
	if err != nil {
		return err
	}
	s, err := screen.New(screen.Config{Secrets: finder})
	if err != nil {
		return err
	}
	results := make([]result, len(set))
	for i, t := range set {
		r := s.Read(t.text)
		results[i] = result{sample: t, report: r, stopped: r.Breach() || r.Secrets()}
	}
	printRates(out, results)
	if misses {
		printMisses(out, results)
	}
	return printTimes(out, set, s)
}
