package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"plimsoll.dev/internal/cli/shipgate"
)

// report collects what the verdicts at the end are about.
type report struct {
	gate string
	runs int
	rows []row
	// overBare is how much longer the gate takes to start than a bare program.
	overBare time.Duration
}

type row struct {
	files      int
	scenario   *scenario
	floor      time.Duration // median of the larger git floor
	check      time.Duration // median
	ratio, p99 float64
	ownCPU     time.Duration // median: the gate's own process, git's taken out
	peakKiB    int64         // largest
	over       time.Duration // check minus floor
}

// measure applies a change to the generated repository, times git's floors and
// the check in turn, and takes the change back.
func (b *report) measure(dir string, files int, s *scenario) error {
	defer git(dir, "reset", "-q", "--hard", baseTag) //nolint:errcheck // the next change would fail to apply
	if err := s.change(dir, files); err != nil {
		return err
	}
	diff := []string{"diff", "HEAD"}
	check := []string{"check", "--agent", "codex"}
	if s.ranged {
		diff = []string{"diff", "HEAD~1...HEAD"}
		check = append(check, "--base", "HEAD~1", "--head", "HEAD")
	}
	var floor, status, differ, whole, cpu []time.Duration
	var ratios []float64
	r := row{files: files, scenario: s}
	for i := -2; i < b.runs; i++ {
		a, err := timed(gitCommand(dir, "status", "--porcelain=v2"))
		if err != nil {
			return err
		}
		d, err := timed(gitCommand(dir, diff...))
		if err != nil {
			return err
		}
		c, err := timed(command(dir, b.gate, check...))
		if err != nil {
			return err
		}
		u, err := measureOwn(dir, check)
		if err != nil {
			return err
		}
		if i < 0 {
			continue // warm-up
		}
		base := max(a, d) // of a range too, whose own diff is the third column
		status, differ, whole = append(status, a), append(differ, d), append(whole, c)
		floor, cpu = append(floor, base), append(cpu, u.CPU)
		ratios = append(ratios, float64(c)/float64(base))
		r.peakKiB = max(r.peakKiB, u.PeakKiB)
	}
	r.floor, r.check, r.ownCPU = middle(floor), middle(whole), middle(cpu)
	r.ratio, r.p99 = middle(ratios), last(ratios)
	r.over = r.check - r.floor
	b.rows = append(b.rows, r)
	fmt.Printf("%7d  %-22s %10s %10s %10s  %7.2f %7.2f  %9s  %5d MiB\n", files, s.name,
		ms(middle(status)), ms(middle(differ)), ms(r.check), r.ratio, r.p99, ms(r.ownCPU), (r.peakKiB+1023)/1024)
	return nil
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

func timed(cmd *exec.Cmd) (time.Duration, error) {
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	return took, nil
}

// usage is what the gate's own process took, its children left out.
type usage struct {
	CPU     time.Duration `json:"cpu"`
	PeakKiB int64         `json:"peak_kib"`
}

const ownCommand = "own"

// own runs the gate inside this process and prints what the process itself
// used: the kernel counts waited-for children elsewhere.
func own(args []string) int {
	env := shipgate.OS()
	env.Stdout = &bytes.Buffer{}
	code := shipgate.Main(args, env)
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	u := usage{CPU: time.Duration(self.Utime.Nano() + self.Stime.Nano()), PeakKiB: int64(self.Maxrss)} //nolint:unconvert // the width differs between systems
	if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
		return 1
	}
	return code
}

func measureOwn(dir string, args []string) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	out, err := command(dir, self, append([]string{ownCommand}, args...)...).Output()
	if err != nil {
		return usage{}, fmt.Errorf("own %v: %w", args, err)
	}
	var u usage
	return u, json.Unmarshal(out, &u)
}

// startUp compares the smallest command with a bare Go program.
func (b *report) startUp(bare string) error {
	var gate, floor []time.Duration
	for i := -3; i < 4*b.runs; i++ {
		f, err := timed(command(".", bare))
		if err != nil {
			return err
		}
		g, err := timed(command(".", b.gate, "version"))
		if err != nil {
			return err
		}
		if i >= 0 {
			gate, floor = append(gate, g), append(floor, f)
		}
	}
	b.overBare = middle(gate) - middle(floor)
	fmt.Printf("start-up: shipgate version %s, a bare Go program %s\n", ms(middle(gate)), ms(middle(floor)))
	return nil
}

func middle[T time.Duration | float64](list []T) T {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

// last is the 99th percentile, which for fewer than a hundred runs is the
// largest.
func last(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[min(len(s)-1, len(s)*99/100)]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
}
