// Command hook measures the hooks of coding agents under load: the entry that
// stands in a host's settings, run by a shell as the host runs it, many at once,
// and in turn with a floor, which is a shell that starts a bare program and asks
// git for the status of the same repository. Hosts let an agent go when a hook is
// late, so every run has to answer, and the times are printed beside the limits
// of the hosts. Run it with "make bench-hook".
//
// A run without the gate's own answer ends it with exit status 1; a time beyond
// what was hoped for is only said, since a shared machine is no judge.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/adopt/hook"
)

func main() {
	runs := flag.Int("runs", 200, "hook runs in each repository")
	each := flag.Int("processes", 16, "hooks at once, for each core")
	sizes := flag.String("sizes", "400,10000", "files in the generated repositories")
	flag.Parse()
	if err := bench(*runs, *each*runtime.NumCPU(), *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// machine is what the runs have in common.
type machine struct {
	dir, bare string
	environ   []string
}

func bench(runs, atOnce int, sizes string) error {
	if runs < 1 || atOnce < 1 {
		return errors.New("-runs and -processes begin at 1")
	}
	dir, err := os.MkdirTemp("", "hook-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	m := &machine{dir: dir, bare: filepath.Join(dir, "bare"), environ: slices.Concat(quietGit(), []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
	})}
	if err := build(filepath.Join(bin, "shipgate"), "./cmd/shipgate"); err != nil {
		return err
	}
	if err := build(m.bare, "./internal/bench/bare"); err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d processors, %s, %d hooks in each repository, %d processes at once\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs, atOnce)
	fmt.Printf("%7s  %-20s %9s  %9s %9s %9s   %9s %9s %9s\n", "files", "change", "answers", "p50", "p99", "max", "floor p50", "p99", "max")
	var worst time.Duration
	missed := 0
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < minFiles {
			return fmt.Errorf("-sizes: %q is no number of files, or below %d", size, minFiles)
		}
		for i := range changes {
			repo := filepath.Join(dir, "repo-"+size+"-"+strconv.Itoa(i))
			if err := generate(repo, n, &changes[i]); err != nil {
				return err
			}
			r := m.load(repo, &changes[i], runs, atOnce)
			missed += runs - r.answers
			worst = max(worst, at(r.hooks, 100))
			fmt.Printf("%7d  %-20s %5d/%d  %9s %9s %9s   %9s %9s %9s\n", n, changes[i].name, r.answers, runs,
				ms(at(r.hooks, 50)), ms(at(r.hooks, 99)), ms(at(r.hooks, 100)), ms(at(r.floors, 50)), ms(at(r.floors, 99)), ms(at(r.floors, 100)))
			for _, w := range r.wrong {
				fmt.Printf("         %s\n", w)
			}
			if err := os.RemoveAll(repo); err != nil {
				return err
			}
		}
	}
	limits(worst)
	if missed > 0 {
		return fmt.Errorf("%d runs missed their answer", missed)
	}
	return nil
}

// limits prints the time limits, the innermost first, beside the worst run.
func limits(worst time.Duration) {
	fmt.Printf("\nlimits: the gate gives itself %d s, its entry gives it %d s and asks %d s of the host\n", hook.GateSeconds, hook.ShellSeconds, hook.HostSeconds)
	for _, h := range hook.Hosts() {
		limit := "documents none"
		if n := h.Limit(); n > 0 {
			limit = strconv.Itoa(n) + " s"
		}
		fmt.Printf("  %-12s without the entry's: %s\n", h, limit)
	}
	word := "within"
	if worst > hook.GateSeconds*time.Second {
		word = "MISSED"
	}
	fmt.Printf("%s  the slowest run, %s, is 1/%.0f of what the entry asks of the host\n", word, ms(worst), float64(hook.HostSeconds*time.Second)/float64(worst))
}

// outcome is what a load came to.
type outcome struct {
	answers       int
	hooks, floors []time.Duration
	wrong         []string // the first few runs without the answer that was due
}

// load runs hooks and floors in turn, always as many at once. Every hook is a
// session of its own, so that every one has something to say and to remember.
func (m *machine) load(repo string, c *change, runs, atOnce int) outcome {
	var (
		out   outcome
		guard sync.Mutex // guards out
		all   sync.WaitGroup
	)
	slots := make(chan struct{}, atOnce)
	for i := range 2 * runs {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if i%2 == 1 {
				took, err := m.floor(repo)
				guard.Lock()
				defer guard.Unlock()
				out.floors = append(out.floors, took)
				if err != nil {
					out.wrong = append(out.wrong, "the floor: "+err.Error())
				}
				return
			}
			h := hook.Hosts()[i/2%len(hook.Hosts())]
			took, err := m.stop(h, repo, c, i)
			guard.Lock()
			defer guard.Unlock()
			out.hooks = append(out.hooks, took)
			if err == nil {
				out.answers++
			} else if len(out.wrong) < 5 {
				out.wrong = append(out.wrong, fmt.Sprintf("%s: %v", h, err))
			}
		})
	}
	all.Wait()
	return out
}

// stop runs the entry of a host once; an error is an answer that was not due.
func (m *machine) stop(h hook.Host, repo string, c *change, session int) (time.Duration, error) {
	cmd := exec.Command("/bin/sh", "-c", hook.Entries(h)[0].Command)
	cmd.Dir, cmd.Env = repo, slices.Concat(m.environ, []string{"PWD=" + repo})
	event := fmt.Sprintf(`{"session_id":"%d","cwd":%q,"hook_event_name":"Stop","stop_hook_active":false}`, session, repo)
	if h == hook.Cursor {
		event = fmt.Sprintf(`{"conversation_id":"%d","workspace_roots":[%q],"hook_event_name":"stop","status":"completed","loop_count":0}`, session, repo)
	}
	cmd.Stdin = strings.NewReader(event)
	var said, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaint
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err == nil && (!strings.Contains(said.String(), c.says) || strings.Contains(said.String(), hook.NoAnswer)) {
		err = errors.New("not the answer that was due")
	}
	if err != nil {
		return took, fmt.Errorf("%w after %s: %q and %q", err, ms(took), said.String(), complaint.String())
	}
	return took, nil
}

// floor is what no hook can do without: a shell, a program and git's status.
func (m *machine) floor(repo string) (time.Duration, error) {
	cmd := exec.Command("/bin/sh", "-c", `"$0" && git status --porcelain=v2`, m.bare)
	cmd.Dir, cmd.Env = repo, m.environ
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return took, fmt.Errorf("%w: %s", err, out)
	}
	return took, nil
}

// at is a percentile; of fewer than a hundred runs the 99th is the largest.
func at(list []time.Duration, percent int) time.Duration {
	s := slices.Sorted(slices.Values(list))
	return s[min(len(s)-1, len(s)*percent/100)]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 0, 64) + " ms"
}
