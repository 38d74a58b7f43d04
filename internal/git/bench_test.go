package git_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/git"
)

// BenchmarkACheckAgainstGit times the reading of a change against what git needs
// by itself, in turns, so that a loaded machine slows both. The budget is 1.25
// times the larger of git status and git diff HEAD at 10,000 files. What a check
// allocates itself does not grow with the tree.
func BenchmarkACheckAgainstGit(b *testing.B) {
	for _, size := range []int{400, 10_000, 100_000} {
		for _, edit := range []struct {
			name string
			list files
		}{
			{"untouched", nil},
			{"edited", files{settings: grant, "pkg1/mod1/file1.go": "package edited\n"}},
		} {
			b.Run(fmt.Sprintf("files=%d/%s", size, edit.name), func(b *testing.B) {
				if size > 10_000 && testing.Short() {
					b.Skip("it takes long to make the files")
				}
				r := newRepo(b, tree(size))
				r.git("update-index", "--refresh")
				r.write(edit.list)
				compareWithGit(b, r)
			})
		}
	}
}

// tree is n sources, ten in a folder, and what hosts read.
func tree(n int) files {
	out := files{
		settings: harmless, "AGENTS.md": advice, "CLAUDE.md": "-> AGENTS.md", ".claude/skills/x/SKILL.md": advice,
		".github/workflows/ci.yml": "on: push\n", ".gitattributes": "*.png binary\n", "shipgate.yaml": manifest("tools"),
	}
	for i := range n {
		out[fmt.Sprintf("pkg%d/mod%d/file%d.go", i/500, i/10%50, i%10)] = fmt.Sprintf("package mod\n\nfunc F%d() {}\n", i)
	}
	return out
}

func compareWithGit(b *testing.B, r *repo) {
	b.Helper()
	plainGit := func(args ...string) time.Duration {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		started := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(started)
	}
	var floors, checks []time.Duration
	var heap uint64
	for b.Loop() {
		floor := max(plainGit("status", "--porcelain"), plainGit("diff", "HEAD"))
		floors = append(floors, floor)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		started := time.Now()
		_, err := git.Acquire(context.Background(), git.Request{Dir: r.root, Workspace: ".", Environ: os.Environ()})
		checks = append(checks, time.Since(started))
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		heap = max(heap, after.TotalAlloc-before.TotalAlloc)
	}
	floor, check := median(floors), median(checks)
	b.ReportMetric(float64(check)/float64(floor), "times-git")
	b.ReportMetric(float64(floor.Microseconds())/1000, "git-ms")
	b.ReportMetric(float64(heap)/(1<<20), "alloc-MiB")
	b.ReportMetric(0, "ns/op")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
