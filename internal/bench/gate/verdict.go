package main

import (
	"fmt"
	"time"
)

// growth prints how the gate's own time grows with the repository.
func (b *report) growth() {
	fmt.Println()
	for i := range scenarios {
		var first, final *row
		for j := range b.rows {
			if r := &b.rows[j]; r.scenario == &scenarios[i] {
				if first == nil {
					first = r
				}
				final = r
			}
		}
		if first != nil && final != first {
			fmt.Printf("growth of own time, %-16s %d to %d files: %s\n", scenarios[i].name, first.files, final.files, ms(final.ownCPU-first.ownCPU))
		}
	}
}

// verdicts holds every budget of the design against what was measured. A
// missed one is said, not hidden; the exit status stays 0, since a shared
// machine is no judge.
func (b *report) verdicts() {
	fmt.Println()
	say := func(ok bool, format string, args ...any) {
		word := "within"
		if !ok {
			word = "MISSED"
		}
		fmt.Printf("%s  %s\n", word, fmt.Sprintf(format, args...))
	}
	var small, large *row
	var peak int64
	for i := range b.rows {
		r := &b.rows[i]
		peak = max(peak, r.peakKiB)
		if r.files == 10_000 {
			say(r.ratio <= 1.25, "10,000 files, %s: %.2f of the larger git floor (budget 1.25)", r.scenario.name, r.ratio)
		}
		if r.files == 400 {
			say(r.over <= 15*time.Millisecond, "400 files, %s: %s over the git floor (budget 15 ms)", r.scenario.name, ms(r.over))
		}
		if r.scenario.name == "boundary" {
			if small == nil {
				small = r
			}
			large = r
		}
	}
	if small != nil && large != small {
		grown := large.ownCPU - small.ownCPU
		say(grown <= 10*time.Millisecond, "own time grows by %s from %d to %d files (budget 10 ms)", ms(grown), small.files, large.files)
	}
	say(peak < 40<<10, "peak memory of the gate's process %d MiB (budget 40 MiB)", (peak+1023)/1024)
	say(b.overBare <= 10*time.Millisecond, "start-up %s over a bare Go program (budget 10 ms)", ms(b.overBare))
}
