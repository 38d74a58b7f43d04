// Command contracts measures the contracts: what a chain from a request to its
// release costs, as a ratio to the least that the same queue on the same
// database must spend, in one run. The budgets of the design are promises
// about this table.
//
// What is compared runs in turns, floor and chain and floor again, so that a
// machine whose speed drifts slows both. Run it with "make bench-contracts".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/store/postgres/pgtest"
)

// options is how long it measures.
type options struct {
	rounds, chains, clients int
	half                    time.Duration
	stored                  []int
	waiting, records        int
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 4, "turns of each comparison")
	flag.IntVar(&o.chains, "chains", 150, "chains in a turn")
	flag.IntVar(&o.clients, "clients", 32, "callers at the same time")
	flag.DurationVar(&o.half, "half", 10*time.Second, "time under half the load")
	flag.IntVar(&o.waiting, "waiting", 100_000, "items that wait when the service starts again")
	flag.IntVar(&o.records, "records", 1_000_000, "records of the audit log that is verified")
	stored := flag.String("stored", "1000,100000", "contracts that are there already; 1000,1000000 is the whole budget and takes ten minutes")
	only := flag.String("only", "rate,growth,restart,start,audit", "what to measure")
	profile := flag.String("cpuprofile", "", "file for a profile of all of it")
	databases := flag.String("db", "sqlite,postgres", "where to measure it")
	flag.Parse()
	for size := range strings.SplitSeq(*stored, ",") {
		var n int
		if _, err := fmt.Sscan(size, &n); err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "bench: -stored: %q is no number of contracts\n", size)
			os.Exit(2)
		}
		o.stored = append(o.stored, n)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(2)
		}
		defer pprof.StopCPUProfile()
	}
	if err := bench(context.Background(), o, strings.Split(*only, ","), strings.Split(*databases, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		pprof.StopCPUProfile()
		os.Exit(1)
	}
}

// place is a kind of database and how an empty one is made.
type place struct {
	name string
	make func() (string, error)
}

func bench(ctx context.Context, o options, only, databases []string) (err error) {
	dir, err := os.MkdirTemp("", "contracts-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	var places []place
	if slices.Contains(databases, "sqlite") {
		n := 0
		places = append(places, place{"sqlite", func() (string, error) {
			n++
			return filepath.Join(dir, fmt.Sprintf("%d.db", n)), nil
		}})
	}
	if slices.Contains(databases, "postgres") {
		open, stop, err := pgtest.Program()
		switch {
		case pgtest.Missing(err):
			fmt.Println("postgres is not measured:", err)
		case err != nil:
			return err
		default:
			defer func() { _ = stop() }() // what is left of it lies in a temporary folder
			places = append(places, place{"postgres", open})
		}
	}
	b := &report{}
	for _, p := range places {
		for _, part := range []struct {
			name string
			run  func(context.Context, place, options) error
		}{{"rate", b.rate}, {"growth", b.growth}, {"restart", b.restart}} {
			if !slices.Contains(only, part.name) {
				continue
			}
			if err := part.run(ctx, p, o); err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, part.name, err)
			}
		}
	}
	if slices.Contains(only, "start") {
		err = errors.Join(err, b.start(ctx, dir, o))
	}
	if slices.Contains(only, "audit") {
		err = errors.Join(err, b.audit(o))
	}
	return errors.Join(err, b.print())
}
