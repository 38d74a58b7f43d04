// Command console measures the pages of the console on a service that holds many
// chains: how long each takes to its first byte, and how soon an open page knows
// of a change and has it. The budgets of docs/console.md are promises about this
// table. Run it with "make bench-console".
//
// Pages and the floor, a file of the same service, are asked in turns, so that a
// machine whose speed drifts slows both.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll.dev/internal/bench/fill"
	"plimsoll.dev/internal/store/postgres/pgtest"
)

// The budgets.
const (
	pageBudget = 50 * time.Millisecond
	newsBudget = time.Second
)

func main() {
	chains := flag.Int("chains", 10_000, "chains in the database")
	rounds := flag.Int("rounds", 200, "requests for each page")
	news := flag.Int("news", 30, "changes that an open page waits for")
	profile := flag.String("cpuprofile", "", "file for a profile of the requests")
	only := flag.String("only", "", "measure the pages that begin with this path")
	n := waits{}
	flag.IntVar(&n.gates, "gates", 200, "gates that wait")
	flag.IntVar(&n.drafts, "drafts", 200, "drafts that wait")
	flag.IntVar(&n.frozen, "frozen", 50, "chains that are frozen")
	flag.IntVar(&n.requests, "requests", 1000, "requests to a circle")
	flag.IntVar(&n.consents, "consents", 100, "requests that wait for a consent")
	on := flag.String("db", "sqlite", "sqlite or postgres")
	flag.Parse()
	if err := bench(context.Background(), *on, n, *chains, *rounds, *news, *only, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, on string, n waits, chains, rounds, news int, only, profile string) (err error) {
	dir, err := os.MkdirTemp("", "console-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	at := ""
	if on == "postgres" {
		open, stop, err := pgtest.Program()
		if err != nil {
			return err
		}
		defer func() { _ = stop() }() // what is left of it lies in a temporary folder
		if at, err = open(); err != nil {
			return err
		}
	}
	conf, err := configured(dir, at)
	if err != nil {
		return err
	}
	tokens, err := staffed(ctx, conf)
	if err != nil {
		return err
	}
	s, err := serve(ctx, conf, tokens)
	if err != nil {
		return err
	}
	if err := errors.Join(s.story(ctx), s.garden(ctx), s.stop()); err != nil {
		return err
	}
	began := time.Now()
	driver, source := "sqlite", filepath.Join(dir, "plimsoll.db")
	if at != "" {
		driver, source = "pgx", at
	}
	if err := many(ctx, driver, source, chains, n.requests-n.consents); err != nil {
		return err
	}
	fmt.Printf("%d chains loaded in %s\n", chains, time.Since(began).Round(time.Millisecond))
	if s, err = serve(ctx, conf, tokens); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	began = time.Now()
	if err := s.wait(ctx, n); err != nil {
		return err
	}
	fmt.Printf("%d gates, %d drafts, %d frozen chains and %d consents wait after %s\n",
		n.gates, n.drafts, n.frozen, n.consents, time.Since(began).Round(time.Millisecond))
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r := &report{}
	if err := s.pages(ctx, r, rounds, only); err != nil {
		return err
	}
	if err := s.news(ctx, r, news); err != nil {
		return err
	}
	return r.print()
}

// The chain that was worked on often has this many runs and records more.
const (
	busyRuns    = 200
	busyRecords = 2000
)

// many multiplies what the story left behind, one chain and one request, while
// nobody serves it.
func many(ctx context.Context, driver, source string, chains, requests int) error {
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer db.Close()
	var each, have int
	if err := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM contracts), (SELECT count(*) FROM chains)`).Scan(&each, &have); err != nil {
		return err
	}
	postgres := driver != "sqlite"
	if err := fill.Contracts(ctx, db, each*chains/have, postgres); err != nil {
		return err
	}
	return errors.Join(fill.Requests(ctx, db, requests, postgres), fill.Work(ctx, db, "IC-001", busyRuns, busyRecords, postgres))
}

// report is the table.
type report struct{ lines [][7]string }

func (r *report) say(what string, took []time.Duration, floor time.Duration, budget time.Duration, size int, cpu time.Duration) {
	half, most := quantile(took, 50), quantile(took, 95)
	word := "within"
	if most > budget {
		word = "MISSED"
	}
	if size >= pageSize {
		word = "TOO BIG"
	}
	ratio := "-"
	if floor > 0 {
		ratio = strconv.FormatFloat(float64(half)/float64(floor), 'f', 1, 64)
	}
	used := "-"
	if cpu > 0 {
		used = ms(cpu)
	}
	if size > 0 {
		what += fmt.Sprintf(" (%d kB)", (size+999)/1000)
	}
	r.lines = append(r.lines, [7]string{word, what, ms(half), ms(most), ms(budget), ratio, used})
}

func (r *report) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nverdict\twhat\tp50\tp95\tbudget\tp50 to the floor's\tprocessor")
	for _, l := range r.lines {
		fmt.Fprintln(w, strings.Join(l[:], "\t"))
	}
	return w.Flush()
}

func quantile(list []time.Duration, percent int) time.Duration {
	s := slices.Sorted(slices.Values(list))
	return s[min(len(s)-1, len(s)*percent/100)]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
}
