// Command gate measures the gate against the floor that git itself sets, in
// one run, and prints ratios: the budgets of the design are promises about
// this table, and a slow gate is an open one, because hosts let an agent
// through when a hook times out.
//
// Every figure comes from interleaved runs: floor, floor, check, and again, so
// that a machine whose speed drifts slows all three. Run it with "make bench".
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == ownCommand {
		os.Exit(own(os.Args[2:]))
	}
	runs := flag.Int("runs", 15, "counted runs of each measurement")
	sizes := flag.String("sizes", "400,10000,100000", "files in the generated repositories")
	flag.Parse()
	if err := bench(*runs, *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int, sizes string) error {
	dir, err := os.MkdirTemp("", "gate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gate, bare := filepath.Join(dir, "shipgate"), filepath.Join(dir, "bare")
	if err := build(gate, "./cmd/shipgate"); err != nil {
		return err
	}
	if err := build(bare, "./internal/bench/bare"); err != nil {
		return err
	}
	b := &report{gate: gate, runs: runs}
	fmt.Printf("%s/%s, %d processors, %s, %s, %d runs of each\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), gitVersion(), runs)
	fmt.Printf("%7s  %-22s %10s %10s %10s  %7s %7s  %9s  %9s\n", "files", "change", "git status", "git diff", "check", "ratio", "p99", "own cpu", "peak")
	for size := range strings.SplitSeq(sizes, ",") {
		var n int
		if _, err := fmt.Sscan(size, &n); err != nil || n < 1 {
			return fmt.Errorf("-sizes: %q is no number of files", size)
		}
		if err := generate(filepath.Join(dir, "repo"), n); err != nil {
			return err
		}
		for i := range scenarios {
			if err := b.measure(filepath.Join(dir, "repo"), n, &scenarios[i]); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "repo")); err != nil {
			return err
		}
	}
	b.growth()
	if err := b.startUp(bare); err != nil {
		return err
	}
	b.verdicts()
	return nil
}
