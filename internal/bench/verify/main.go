// Command verify measures verification of a large repository against parsing
// the same files alone, in one run, and prints ratios (design: verify on 2,000
// tools in 500 files takes at most three times as long as parsing them, the time
// of a tool stays within 1.3 times from 200 to 2,000 tools, and 300 MiB are
// enough).
//
// Both are whole processes and run in turn. Run it with "make bench-verify".
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"plimsoll.dev/internal/cli/shipgate"
)

const (
	ownCommand   = "own"   // verify inside of this process
	floorCommand = "floor" // parse the same files and do nothing else
)

func main() {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case ownCommand:
			os.Exit(measured(func() int {
				env := shipgate.OS()
				env.Stdout = &bytes.Buffer{}
				return shipgate.Main(os.Args[2:], env)
			}))
		case floorCommand:
			os.Exit(measured(func() int { return parseAll(os.Args[2]) }))
		}
	}
	runs := flag.Int("runs", 9, "counted runs of each measurement")
	flag.Parse()
	if err := bench(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// usage is what one process took.
type usage struct {
	Wall    time.Duration `json:"wall"`
	PeakKiB int64         `json:"peak_kib"`
	Code    int           `json:"code"`
}

// measured runs work and prints what the whole process took since it began to
// work; reading and writing included.
func measured(work func() int) int {
	began := time.Now()
	u := usage{Code: work()}
	u.Wall = time.Since(began)
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	u.PeakKiB = int64(self.Maxrss) //nolint:unconvert // the width differs between systems
	if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
		return 1
	}
	return 0
}

func child(dir string, args ...string) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return usage{}, fmt.Errorf("%v: %w", args, err)
	}
	var u usage
	if err := json.Unmarshal(out, &u); err != nil {
		return usage{}, err
	}
	if u.Code != 0 {
		return usage{}, fmt.Errorf("%v ended with %d", args, u.Code)
	}
	return u, nil
}

// figures are the middles of one size.
type figures struct {
	tools, files  int
	floor, verify time.Duration
	ratio         float64
	peakKiB       int64
	perTool       time.Duration
}

func bench(runs int) error {
	dir, err := os.MkdirTemp("", "verify-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s/%s, %d processors, %s, %d runs of each\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	fmt.Printf("%6s %6s  %10s %10s  %6s  %10s  %8s\n", "tools", "files", "parsing", "verify", "ratio", "a tool", "peak")
	var rows []figures
	for _, tools := range []int{200, 2000} {
		f, err := measure(filepath.Join(dir, fmt.Sprint(tools)), tools, runs)
		if err != nil {
			return err
		}
		rows = append(rows, f)
		fmt.Printf("%6d %6d  %10s %10s  %6.2f  %10s  %4d MiB\n", f.tools, f.files, ms(f.floor), ms(f.verify), f.ratio,
			fmt.Sprintf("%.1f us", float64(f.perTool.Nanoseconds())/1000), (f.peakKiB+1023)/1024)
	}
	small, large := rows[0], rows[1]
	growth := float64(large.perTool) / float64(small.perTool)
	fmt.Println()
	verdict("2,000 tools against parsing alone", large.ratio, 3)
	verdict("time of a tool, 2,000 against 200", growth, 1.3)
	verdict("peak memory, MiB", float64(large.peakKiB)/1024, 300)
	return nil
}

func verdict(what string, got, limit float64) {
	word := "within"
	if got > limit {
		word = "MISSED"
	}
	fmt.Printf("%s  %-36s %.2f, budget %g\n", word, what, got, limit)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// measure times parsing and verification in turn.
func measure(dir string, tools, runs int) (figures, error) {
	files, err := generate(dir, tools)
	if err != nil {
		return figures{}, err
	}
	f := figures{tools: tools, files: files}
	var floors, verifies []time.Duration
	var ratios []float64
	for i := -2; i < runs; i++ {
		floor, err := child(dir, floorCommand, dir)
		if err != nil {
			return f, err
		}
		whole, err := child(dir, ownCommand, "verify", "--base", "HEAD", "--json", "--today", "2026-11-30")
		if err != nil {
			return f, err
		}
		if i < 0 {
			continue
		}
		floors, verifies = append(floors, floor.Wall), append(verifies, whole.Wall)
		ratios = append(ratios, float64(whole.Wall)/float64(floor.Wall))
		f.peakKiB = max(f.peakKiB, whole.PeakKiB)
	}
	f.floor, f.verify = middle(floors), middle(verifies)
	slices.Sort(ratios)
	f.ratio = ratios[len(ratios)/2]
	f.perTool = f.verify / time.Duration(tools)
	return f, nil
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
