package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
)

// TestTheAuthoredSamplesAreReproducedByteForByte feeds each sample the members
// it names, the source token of a rebuilt file among them.
func TestTheAuthoredSamplesAreReproducedByteForByte(t *testing.T) {
	cases := []struct {
		name, path string
		actor      gate.Actor
	}{
		{"complete", ".codex/config.toml", gate.ActorCodex},
		{"graded", ".codex/config.toml", gate.ActorCodex},
		{"review-publishable", ".codex/config.toml", gate.ActorCodex},
		{"block", ".claude/settings.json", gate.ActorClaude},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := read(t, "authored/"+c.name+".diff")
			records := diff.Parse(text)
			both := diff.Reconstruct(&records[0], diff.WorkspaceFile{State: diff.FileMissing})
			change := surface.Change{
				Path: c.path, Source: surface.Token(both.Source), Listed: true,
				New: surface.Side{Present: true, Bytes: both.New},
			}
			change.Added, change.Removed = surface.ChangedLines(both.Old, both.New)
			r, err := gate.Check(gate.Input{
				Actor: c.actor, Mode: gate.Worktree, Workspace: "/repo", ConfigArg: "shipgate.yaml",
				Records: records, IndexFrom: len(records), Text: text, ChangedFiles: []string{c.path},
				Changes: []surface.Change{change}, Manifest: gate.Manifest{Path: "shipgate.yaml"},
			})
			if err != nil {
				t.Fatal(err)
			}
			sound(t, r)
			if diff := cmp.Diff(string(read(t, "authored/"+c.name+".json")), string(r.JSON())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheInstallFallbacksAreTheAuthoredOnes(t *testing.T) {
	for name, r := range map[string]*gate.Result{
		"missing-install": gate.MissingInstall(),
		"stale-install":   gate.StaleInstall(),
	} {
		sound(t, r)
		if diff := cmp.Diff(string(read(t, "authored/"+name+".json")), string(r.JSON())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheErrorResultsAreTheAuthoredOnes(t *testing.T) {
	for name, in := range map[string]gate.ErrorInput{
		"fetch-base": {
			Actor: gate.ActorCodex, Mode: gate.GitRange, Failure: gate.RefMissing,
			Workspace: "/repo", Base: "origin/next", Head: "topic/one", Root: "/repo", Config: "/repo/shipgate.yaml",
		},
		"unreadable-diff": {
			Actor: gate.ActorCodex, Mode: gate.ProvidedDiff, Failure: gate.DiffMissing,
			Workspace: "/repo", Diff: "gone.diff", Root: "/repo", Config: "/repo/shipgate.yaml", DiffPath: "/repo/gone.diff",
		},
	} {
		r := gate.ErrorResult(in)
		sound(t, r)
		if diff := cmp.Diff(string(read(t, "authored/"+name+".json")), string(r.JSON())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
