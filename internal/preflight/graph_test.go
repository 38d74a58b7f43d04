package preflight_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/preflight"
)

func node(t *testing.T, r *preflight.Result, kind, pattern string) preflight.Node {
	t.Helper()
	for _, n := range r.TrustRootGraph.Nodes {
		if n.Kind == kind && n.Pattern == pattern {
			return n
		}
	}
	t.Fatalf("there is no node %s %s", kind, pattern)
	return preflight.Node{}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestTheGraphHoldsTheHashOfEachProtectedFile(t *testing.T) {
	files := adopted()
	files["CLAUDE.md"] = link("AGENTS.md")
	files["docs/CLAUDE.md"] = link("gone.md")
	files[".claude"] = link("kit")
	files["kit/settings.json"] = text("{}")
	files[".mcp.json"] = text(strings.Repeat(" ", 10<<20+1))
	r := evaluate(t, input(t, files, nil))
	n := node(t, r, "agent_instructions", "**/AGENTS.md")
	if n.ID != "tr_"+sum("agent_instructions|**/AGENTS.md")[:16] || !slices.Equal(n.PresentPaths, []string{"AGENTS.md"}) || n.FileHashes["AGENTS.md"] != sum("Ask first.\n") {
		t.Errorf("%+v", n)
	}
	n = node(t, r, "agent_instructions", "**/CLAUDE.md")
	if n.FileHashes["CLAUDE.md"] != sum("Ask first.\n") || n.FileHashes["docs/CLAUDE.md"] != sum("link:gone.md") {
		t.Errorf("%+v", n)
	}
	n = node(t, r, "agent_instructions", "**/.claude/**")
	if n.FileHashes[".claude/settings.json"] != sum("{}") || n.FileHashes[".claude"] != sum("link:kit") {
		t.Errorf("%+v", n)
	}
	if n = node(t, r, "tool_surface_decl", "**/.mcp.json"); n.FileHashes[".mcp.json"] != "unread" {
		t.Errorf("%+v", n)
	}
	if !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, ".mcp.json could not be read in full") }) {
		t.Errorf("%q", r.Notes)
	}
	if !slices.IsSortedFunc(r.TrustRootGraph.Nodes, func(a, b preflight.Node) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the nodes are not sorted")
	}
	if r.TrustRootGraphHash != r.TrustRootGraph.Hash || len(r.TrustRootGraphHash) != 64 {
		t.Error(r.TrustRootGraphHash)
	}
}

// later evaluates a workspace against what an earlier preflight said of another.
func later(t *testing.T, before, after fs.FS) *preflight.Result {
	t.Helper()
	base, err := preflight.ParseBase(printed(t, evaluate(t, input(t, before, touching("src/app.py")))))
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, after, touching("src/app.py"))
	in.Base = base
	return evaluate(t, in)
}

func TestDriftIsWhatChangedSinceTheBase(t *testing.T) {
	r := later(t, adopted(), adopted())
	if d := r.TrustRootGraphDiff; d.Changed || *d.BaseHash != *d.HeadHash || len(d.Added)+len(d.Removed)+len(d.Modified) > 0 {
		t.Errorf("%+v", d)
	}
	if d := r.PolicyDrift; d.Changed || r.RequiresHumanReview || *d.BaseHash != *r.PolicySnapshotHash {
		t.Errorf("%+v", d)
	}

	files := adopted()
	files["AGENTS.md"] = text("Never ask.\n")
	files["CLAUDE.md"] = text("x")
	delete(files, ".github/workflows/test.yml")
	r = later(t, adopted(), files)
	d := r.TrustRootGraphDiff
	if !d.Changed || !slices.Equal(d.Added, []string{"CLAUDE.md"}) || !slices.Equal(d.Removed, []string{".github/workflows/test.yml"}) ||
		!slices.Equal(d.Modified, []string{"AGENTS.md"}) {
		t.Errorf("%+v", d)
	}
	if r.RequiresHumanReview || len(r.Notes) == 0 {
		t.Error("a file that changed since is no change of the plan, and is told")
	}
}

func TestAnotherPolicyIsForAPerson(t *testing.T) {
	looser := adopted()
	looser["shipgate.yaml"] = text(strings.Replace(manifest, "checks:\n", "checks:\n  ignore: [{check_id: SHIP-DOC-MISSING-DESCRIPTION, reason: later}]\n", 1))
	none := adopted()
	delete(none, "shipgate.yaml")
	for name, c := range map[string]struct {
		before, after                   fs.FS
		added, removed, modified, human int
	}{
		"changed": {adopted(), looser, 0, 0, 1, 1}, "removed": {adopted(), none, 0, 1, 0, 1},
		"added": {none, adopted(), 1, 0, 0, 1}, "never there": {none, none, 0, 0, 0, 0},
	} {
		r := later(t, c.before, c.after)
		d := r.PolicyDrift
		if d.Changed != (c.human > 0) || len(d.Added) != c.added || len(d.Removed) != c.removed || len(d.Modified) != c.modified ||
			r.PlanSummary.HumanSignals != c.human {
			t.Errorf("%s: %+v", name, d)
		}
		if c.human > 0 && (r.Signals[0].Kind != preflight.PolicyDrift || r.Signals[0].Severity != preflight.High) {
			t.Errorf("%s: %+v", name, r.Signals)
		}
	}
	// A comment, or words of another kind, are no other policy.
	words := adopted()
	words["shipgate.yaml"] = text("# ours\n" + strings.Replace(manifest, "look up orders", "find orders", 1))
	if r := later(t, adopted(), words); r.PolicyDrift.Changed {
		t.Errorf("%+v", r.PolicyDrift)
	}
}

func TestABaseThatWasChangedIsRefused(t *testing.T) {
	text := string(printed(t, evaluate(t, input(t, adopted(), nil))))
	if _, err := preflight.ParseBase([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]string{
		"another hash of a file": strings.Replace(text, sum("Ask first.\n"), sum("Never ask.\n"), 1),
		"a file taken out":       strings.Replace(text, `"rules/house.yaml": "`, `"rules/home.yaml": "`, 1),
		"another graph hash":     strings.Replace(text, `"graph_hash": "`, `"graph_hash": "0`, 1),
		"another version":        strings.Replace(text, `"preflight_schema_version": "0.3"`, `"preflight_schema_version": "0.4"`, 1),
		"no result":              `{}`,
		"no object":              `[]`,
		"no JSON":                `x`,
		"no graph":               `{"preflight_schema_version":"0.3","trust_root_graph_hash":"0"}`,
		"a node that is none":    `{"preflight_schema_version":"0.3","trust_root_graph_hash":"0","trust_root_graph":{"graph_hash":"0","nodes":[7]}}`,
	} {
		if other == text {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := preflight.ParseBase([]byte(other)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestWithoutAManifestThereIsNoPolicy(t *testing.T) {
	files := adopted()
	delete(files, "shipgate.yaml")
	r := evaluate(t, input(t, files, touching("src/app.py")))
	if r.PolicySnapshotHash != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "There is no shipgate.yaml") || r.RequiresHumanReview {
		t.Errorf("%+v", r.Notes)
	}
	if *r.VerificationCommand != "agents-shipgate verify --preview --json" {
		t.Error(*r.VerificationCommand)
	}
	files["real.yaml"] = text(manifest)
	files["shipgate.yaml"] = link("real.yaml")
	r = evaluate(t, input(t, files, touching("src/app.py")))
	if r.PolicySnapshotHash != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "no manifest is read through a link") {
		t.Errorf("%+v", r.Notes)
	}
	if r = evaluate(t, input(t, files, touching("real.yaml"))); len(r.Touches) != 1 || r.Touches[0].Kind != "manifest" {
		t.Errorf("%+v", r.Touches)
	}
	files["shipgate.yaml"] = text("version: '9'\n")
	r = evaluate(t, input(t, files, touching("src/app.py")))
	if r.PolicySnapshotHash != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "shipgate.yaml cannot be read") {
		t.Errorf("%+v", r.Notes)
	}
}

func FuzzBase(f *testing.F) {
	r, err := preflight.Evaluate(input(f, adopted(), nil))
	if err != nil {
		f.Fatal(err)
	}
	text, err := r.JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"preflight_schema_version":"0.3","trust_root_graph_hash":"0","trust_root_graph":{"graph_hash":"0"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		base, err := preflight.ParseBase(text)
		if err != nil {
			return
		}
		in := input(t, adopted(), nil)
		in.Base = base
		printed(t, must(preflight.Evaluate(in)))
	})
}

func must(r *preflight.Result, err error) *preflight.Result {
	if err != nil {
		panic(err)
	}
	return r
}
