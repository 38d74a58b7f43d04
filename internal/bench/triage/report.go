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

// rounds is how often each text is read.
const rounds = 25

// printTimes measures texts of 4 KiB, put together from the set: benign ones, as
// requests are, and the whole set, which is half encoded and makes the screen work.
//
// On a machine that others use too, most of the longest readings wait for a
// processor. So each text counts with its fastest reading, and all readings are
// shown beside.
func printTimes(out io.Writer, set []sample, decide func(text string)) error {
	for _, c := range []struct {
		name string
		take func(sample) bool
	}{
		{"benign texts", func(s sample) bool { return !s.attack }},
		{"the whole set", func(sample) bool { return true }},
	} {
		texts := blocks(set, c.take)
		fastest := make([]time.Duration, len(texts))
		var all []time.Duration
		for round := range rounds {
			for i, t := range texts {
				begin := time.Now()
				decide(t)
				took := time.Since(begin)
				all = append(all, took)
				if round == 0 || took < fastest[i] {
					fastest[i] = took
				}
			}
		}
		p99 := quantile(fastest, 0.99)
		word := "within"
		if p99 >= time.Millisecond {
			word = "MISSED"
		}
		if _, err := fmt.Fprintf(out, "triage of 4 KiB of %-13s  fastest of %d readings: p50 %v, p99 %v (goal p99 < 1ms: %s); all %d readings: p50 %v, p99 %v\n",
			c.name, rounds, quantile(fastest, 0.50), p99, word, len(all), quantile(all, 0.50), quantile(all, 0.99)); err != nil {
			return err
		}
	}
	return nil
}

// blocks puts texts of the set together to 4 KiB, beginning with each in turn.
func blocks(set []sample, take func(sample) bool) []string {
	var some []string
	for _, s := range set {
		if take(s) {
			some = append(some, s.text)
		}
	}
	texts := make([]string, len(some))
	for start := range some {
		var b strings.Builder
		for i := start; b.Len() < textSize; i++ {
			b.WriteString(some[(i*7)%len(some)])
			b.WriteByte('\n')
		}
		texts[start] = strings.ToValidUTF8(b.String()[:textSize], "")
	}
	return texts
}

func quantile(times []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))].Round(time.Microsecond)
}
