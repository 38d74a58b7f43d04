// Package verification verifies a change of a git repository, for whoever offers
// it: the gate's own commands, and the runner of a task for whom a check owes it.
// It brings together the sides that git yields and the judgement of verify, which
// know nothing of each other. How a verification is asked for, and what becomes
// of its artifacts, is its callers'.
package verification

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
)

// Input is what verify looks at of an opened change. Workspace, Reports and
// Options are the caller's to say.
func Input(p *git.Pair) *verify.Input {
	in := &verify.Input{
		Each: Each, Config: p.Config, ManifestPath: p.Manifest, Dir: filepath.ToSlash(p.Dir),
		Head: p.Head, Base: p.Base, HeadRoot: p.HeadRoot, BaseRoot: p.BaseRoot, BaseMissing: p.BaseMissing,
		BaseRef: p.BaseRef, HeadRef: p.HeadRef, Changes: p.Changes, ChangedFiles: p.ChangedFiles, DiffText: p.Text,
		Git: verify.GitIDs{
			BaseCommit: p.BaseCommit, BaseTree: p.BaseTree, HeadCommit: p.HeadCommit, HeadTree: p.HeadTree, MergeBase: p.MergeBase,
		},
	}
	if p.Gap != nil {
		in.Gap = &verify.Gap{Reason: p.Gap.Reason, Detail: p.Gap.Detail, Needs: p.Gap.Needs}
	}
	if !p.Worktree && !p.CheckedOut {
		in.Elsewhere = p.HeadCommit
	}
	return in
}

// Judge verifies the head, and what it holds beside the working tree: the commit
// that a push publishes, and what is staged for the next one.
func Judge(ctx context.Context, in *verify.Input, pair *git.Pair) (*verify.Run, error) {
	run, err := verify.Verify(*in)
	if err != nil || !run.CanMerge || in.Options.Scan {
		return run, err
	}
	states, err := pair.Besides(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range states {
		if run, err = run.Also(verify.Beside{Dir: s.Dir, Root: s.Root, Staged: s.Staged}); err != nil || !run.CanMerge {
			break
		}
	}
	return run, err
}

// Parser is source.ParseYAML for the manifest of one run, which the boundary and
// verification both read: the text that is asked for first is parsed once.
func Parser() source.Parser {
	var once sync.Once
	var first []byte
	var value source.Value
	var failed *source.ParseError
	return func(text []byte) (source.Value, *source.ParseError) {
		once.Do(func() {
			first = bytes.Clone(text)
			value, failed = source.ParseYAML(text)
		})
		if bytes.Equal(text, first) {
			return value, failed
		}
		return source.ParseYAML(text)
	}
}

// What holds where nobody says otherwise: the folder of the artifacts, and what
// the comment on a pull request leads with.
const (
	Reports = "agents-shipgate-reports"
	Comment = "capability-review"
)

// todayVariable fixes the evaluation date (docs/spec/verification.md A-18).
const todayVariable = "AGENTS_SHIPGATE_EVALUATION_DATE"

// Today is the evaluation date, YYYY-MM-DD: that of the environment, else the day
// it is now in UTC.
func Today(lookup func(name string) string, now time.Time) string {
	if day := lookup(todayVariable); day != "" {
		return day
	}
	return now.UTC().Format(time.DateOnly)
}

// Program names the build, as far as the binary knows it.
func Program() verify.Program {
	p := verify.Program{Version: gate.ToolVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH, Runtime: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	var build, deps []string
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			build = append(build, s.Key+"="+s.Value)
		}
	}
	for _, d := range info.Deps {
		deps = append(deps, d.Path+" "+d.Version+" "+d.Sum)
	}
	p.Distribution, p.Dependencies = strings.Join(build, "\n"), strings.Join(deps, "\n")
	return p
}
