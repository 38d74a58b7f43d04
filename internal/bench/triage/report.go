package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/request/screen"
)

// result is what the screen says of a text. A text is stopped for a breach or a
// secret.
type result struct {
	sample
	report  screen.Report
	stopped bool
}

func printRates(out io.Writer, results []result) {
	attack := func(r result) bool { return r.attack }
	benign := func(r result) bool { return !r.attack }
	table(out, "attacks that are stopped, by kind", results, attack, func(r result) string { return r.kind })
	table(out, "attacks that are stopped, by language", results, attack, func(r result) string { return r.locale })
	table(out, "attacks that are stopped, by disguise", results, attack, func(r result) string {
		if r.disguise == "-" {
			return "plain"
		}
		return r.disguise
	})
	table(out, "benign texts that are stopped (false alarms), by kind", results, benign, func(r result) string { return r.kind })
	table(out, "benign texts that are stopped (false alarms), by language", results, benign, func(r result) string { return r.locale })
}

// table counts the texts that are stopped, for each half of the set.
func table(out io.Writer, title string, results []result, take func(result) bool, key func(result) string) {
	type count struct{ stopped, all [2]int }
	rows := map[string]*count{}
	var keys []string
	total := &count{}
	for _, r := range results {
		if !take(r) {
			continue
		}
		k := key(r)
		if rows[k] == nil {
			rows[k] = &count{}
			keys = append(keys, k)
		}
		half := 1
		if r.tuned {
			half = 0
		}
		for _, c := range []*count{rows[k], total} {
			c.all[half]++
			if r.stopped {
				c.stopped[half]++
			}
		}
	}
	fmt.Fprintf(out, "%s\n  %-22s %16s %16s\n", title, "", "tuned half", "other half")
	slices.Sort(keys)
	rows["all"] = total
	for _, k := range append(keys, "all") {
		c := rows[k]
		fmt.Fprintf(out, "  %-22s %s %s\n", k, rate(c.stopped[0], c.all[0]), rate(c.stopped[1], c.all[1]))
	}
	fmt.Fprintln(out)
}

func rate(n, all int) string {
	if all == 0 {
		return fmt.Sprintf("%16s", "-")
	}
	return fmt.Sprintf("%5d/%-4d %5.1f%%", n, all, 100*float64(n)/float64(all))
}

// printMisses lists what went wrong. It shows the tuned half alone: whoever tunes
// on the other one has none left.
func printMisses(out io.Writer, results []result) {
	for _, r := range results {
		if r.attack == r.stopped || !r.tuned {
			continue
		}
		fmt.Fprintf(out, "%v %s %s %s: %s\n", r.attack, r.kind, r.locale, r.disguise, r.plain)
		for _, f := range r.report.Findings {
			fmt.Fprintf(out, "    %v data=%v %q\n", f, f.Data, r.text[f.Span.Start:f.Span.End])
		}
	}
}

// textSize is the length of a text that the time is measured on.
const textSize = 4096

// printTimes measures texts of 4 KiB, put together from the set and from words
// that make the screen work.
func printTimes(out io.Writer, set []sample, s *screen.Screen) error {
	const rounds = 40
	var texts []string
	for start := range set {
		var b strings.Builder
		for i := start; b.Len() < textSize; i++ {
			b.WriteString(set[(i*7)%len(set)].text)
			b.WriteByte('\n')
		}
		texts = append(texts, strings.ToValidUTF8(b.String()[:textSize], ""))
	}
	var times []time.Duration
	for range rounds {
		for _, t := range texts {
			begin := time.Now()
			s.Read(t)
			times = append(times, time.Since(begin))
		}
	}
	slices.Sort(times)
	at := func(p float64) time.Duration { return times[min(len(times)-1, int(p*float64(len(times))))] }
	p99 := at(0.99)
	word := "within"
	if p99 >= time.Millisecond {
		word = "MISSED"
	}
	_, err := fmt.Fprintf(out, "screen of 4 KiB, %d readings: p50 %v, p90 %v, p99 %v, longest %v; goal p99 < 1ms: %s\n",
		len(times), at(0.50).Round(time.Microsecond), at(0.90).Round(time.Microsecond), p99.Round(time.Microsecond), times[len(times)-1].Round(time.Microsecond), word)
	return err
}
