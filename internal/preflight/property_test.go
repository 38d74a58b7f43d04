package preflight_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/preflight"
)

// plans are random plans: of everything that may be in one, some that reaches a
// surface and some that does not.
func plans() *rapid.Generator[*preflight.Plan] {
	word := rapid.SampledFrom([]string{"a", "b", "API_KEY=x", "Bash(*)", "*", "admin", "orders:write", "danger-full-access"})
	words := rapid.SliceOfN(word, 0, 3)
	effects := make([]string, 0, len(owes))
	for e := range owes {
		effects = append(effects, e)
	}
	slices.Sort(effects)
	return rapid.Custom(func(t *rapid.T) *preflight.Plan {
		p := &preflight.Plan{ChangedFiles: rapid.SliceOfN(paths(), 0, 5).Draw(t, "files")}
		for range rapid.IntRange(0, 3).Draw(t, "capabilities") {
			c := preflight.CapabilityRequest{
				Tool: word.Draw(t, "tool"), Provider: word.Draw(t, "provider"), Operation: word.Draw(t, "operation"),
				Effect: rapid.SampledFrom(effects).Draw(t, "effect"), Scopes: words.Draw(t, "scopes"),
			}
			given := make([]string, 0, len(gives))
			for g := range gives {
				given = append(given, g)
			}
			slices.Sort(given)
			for _, g := range given {
				if rapid.Bool().Draw(t, g) {
					gives[g](&c)
				}
			}
			p.Capabilities = append(p.Capabilities, c)
		}
		for range rapid.IntRange(0, 2).Draw(t, "hosts") {
			p.Hosts = append(p.Hosts, preflight.HostRequest{
				Host: word.Draw(t, "host"), Surface: word.Draw(t, "surface"), Operation: word.Draw(t, "operation"), Subject: word.Draw(t, "subject"),
			})
		}
		if rapid.Bool().Draw(t, "diff") {
			name := paths().Draw(t, "changed")
			p.DiffText = "diff --git a/" + name + " b/" + name + "\n--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-a\n+b\n"
		}
		return p
	})
}

func paths() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"src", "app.py", "AGENTS.md", ".claude", "settings.json", "policies", "shipgate.yaml", "x"})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "path"), "/") })
}

// What holds of every result, whatever was planned (§13.2 and §13.5, A-5).
func TestEveryResultHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := plans().Draw(rt, "plan")
		in := input(t, adopted(), p)
		r := evaluate(t, in)
		out := printed(t, r)
		promised(rt, p, r)

		// The same plan in another order is the same plan.
		again := *p
		again.ChangedFiles = rapid.Permutation(p.ChangedFiles).Draw(rt, "files again")
		again.Capabilities = rapid.Permutation(p.Capabilities).Draw(rt, "capabilities again")
		again.Hosts = rapid.Permutation(p.Hosts).Draw(rt, "hosts again")
		in.Plan = &again
		if other := printed(t, evaluate(t, in)); !bytes.Equal(other, out) {
			rt.Fatalf("another order, another result:\n%s\n%s", out, other)
		}

		// To plan more never asks for less.
		more := *p
		more.ChangedFiles = append(slices.Clone(p.ChangedFiles), paths().Draw(rt, "one more"))
		in.Plan = &more
		if wider := evaluate(t, in); r.RequiresHumanReview && !wider.RequiresHumanReview {
			rt.Fatal("a file more made the review go away")
		}
	})
}

func promised(t *rapid.T, p *preflight.Plan, r *preflight.Result) {
	need := func(ok bool, sentence string) {
		if !ok {
			t.Fatalf("%s: %+v", sentence, r)
		}
	}
	state, next := r.Control.State(), r.Control.NextAction()
	need(state == control.HumanReviewRequired || state == control.AgentActionRequired, "only two states")
	need((state == control.HumanReviewRequired) == r.RequiresHumanReview, "the state and requires_human_review")
	need(r.Control.Permissions() == control.Permissions{}, "no permissions")
	need(r.RequiresVerify && r.Control.VerifyRequired(), "verification is always owed")
	human := 0
	for i := range r.Signals {
		s := &r.Signals[i]
		if s.Actor == control.Human {
			human++
		}
		need(s.ID != "" && s.Subject != "" && s.Reason != "" && s.Recommendation != "", "a signal says why")
		if i > 0 {
			need(notAfter(&r.Signals[i-1], s), "the signals are sorted")
		}
	}
	need((human > 0) == r.RequiresHumanReview && human == r.PlanSummary.HumanSignals, "people's signals and the state")
	if r.RequiresHumanReview {
		need(r.FirstNextAction.Actor == control.Human && r.FirstNextAction.Command == nil && r.VerificationCommand == nil, "no command beside a stop")
		need(len(r.AllowedNextCommands) == 0 && next.Kind == control.Review && r.Control.MustStop(), "a stop")
		for i := range r.Signals {
			need(r.Signals[i].RelatedCommand == nil, "no command in a signal beside a stop")
		}
	} else {
		need(next.Kind == control.Verify && next.Command == *r.VerificationCommand && slices.Equal(r.AllowedNextCommands, []string{next.Command}), "one command")
		need(*r.FirstNextAction.Command == next.Command && r.FirstNextAction.Kind == "verify", "the same route twice")
	}
	for _, touch := range r.Touches {
		need(slices.Contains(r.ChangedFiles, touch.Path), "a touch is of a planned file")
		need(slices.ContainsFunc(r.ProtectedSurfaces, func(s preflight.Surface) bool {
			return s.Kind == touch.Kind && s.Pattern == touch.Pattern && s.ScopeType == touch.ScopeType
		}), "a touch is of a listed surface")
	}
	for _, e := range r.RequiredEvidence {
		missing := slices.ContainsFunc(r.Signals, func(s preflight.Signal) bool { return s.ID == "missing_evidence:"+e.ID })
		need(missing != e.Satisfied, "missing evidence has a signal")
	}
	need(len(p.Hosts) == 0 || r.RequiresHumanReview, "a request to a host is for a person")
	s := r.PlanSummary
	need(s.ChangedFiles == len(r.ChangedFiles) && s.CapabilityRequests == len(p.Capabilities) && s.HostRequests == len(p.Hosts) && s.Signals == len(r.Signals), "the counts")
	need(s.Severities.Critical+s.Severities.High+s.Severities.Medium+s.Severities.Low+s.Severities.Info == s.Signals, "the severities")
	need(slices.IsSorted(r.ChangedFiles) && len(slices.Compact(slices.Clone(r.ChangedFiles))) == len(r.ChangedFiles), "the files are a set")
}

var kindOrder = []preflight.SignalKind{
	preflight.SurfaceTouch, preflight.HostGrantDrift, preflight.MissingEvidence, preflight.LeastPrivilege, preflight.PolicyDrift, preflight.VerifyRequired,
}

var severityOrder = []preflight.Severity{preflight.Critical, preflight.High, preflight.Medium, preflight.Low, preflight.Info}

// notAfter is the order of §13.5, written as it stands there.
func notAfter(a, b *preflight.Signal) bool {
	path := func(s *preflight.Signal) string {
		if s.Path == nil {
			return ""
		}
		return *s.Path
	}
	key := func(s *preflight.Signal) []int {
		return []int{slices.Index(kindOrder, s.Kind), slices.Index(severityOrder, s.Severity)}
	}
	if c := slices.Compare(key(a), key(b)); c != 0 {
		return c < 0
	}
	return slices.Compare([]string{path(a), a.Subject, a.ID}, []string{path(b), b.Subject, b.ID}) < 0
}

// an empty plan is never complete.
func TestAnEmptyPlan(t *testing.T) {
	for _, p := range []*preflight.Plan{nil, {}, parse(t, `{}`), parse(t, `{"changed_files":[],"diff_text":"","context":{"agent":"codex"}}`)} {
		r := evaluate(t, input(t, adopted(), p))
		if r.Control.State() != control.AgentActionRequired || r.FirstNextAction.Kind != "verify" || !r.RequiresVerify || r.RequiresHumanReview ||
			*r.VerificationCommand != "agents-shipgate verify --json" || !strings.Contains(strings.Join(r.Notes, "\n"), "Nothing was planned") {
			t.Errorf("%+v", r)
		}
	}
}

func TestCommandsRepeatTheCall(t *testing.T) {
	in := input(t, adopted(), nil)
	in.Workspace, in.Config = "my shop", "gate's.yaml"
	in.Manifest = "shipgate.yaml"
	if got, want := *evaluate(t, in).VerificationCommand, `agents-shipgate verify --workspace 'my shop' --config 'gate'"'"'s.yaml' --json`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheDiffIsAPlanToo(t *testing.T) {
	for name, c := range map[string]struct {
		diff  string
		human bool
		files []string
	}{
		"a plain file":          {"diff --git a/src/app.py b/src/app.py\n--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"src/app.py"}},
		"an instruction file":   {"diff --git a/AGENTS.md b/AGENTS.md\n--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-a\n+b\n", true, []string{"AGENTS.md"}},
		"moved away":            {"diff --git a/AGENTS.md b/notes.md\nsimilarity index 100%\nrename from AGENTS.md\nrename to notes.md\n", true, []string{"AGENTS.md", "notes.md"}},
		"no diff at all":        {"please trust me\n", true, nil},
		"another kind of diff":  {"--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-a\n+b\n", true, nil},
		"headers that disagree": {"diff --git a/x b/x\n--- a/x\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-a\n+b\n", true, nil},
		"a file twice":          {strings.Repeat("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2), true, []string{"x"}},
		"a name that is none":   {"diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", true, nil},
		"bytes":                 {"\x00\xff\xfe", true, nil},
		"blank":                 {" \n\n", false, nil},
	} {
		r := evaluate(t, input(t, adopted(), &preflight.Plan{DiffText: c.diff}))
		if r.RequiresHumanReview != c.human {
			t.Errorf("%s: %+v", name, r.Signals)
		}
		if c.files != nil && !slices.Equal(r.ChangedFiles, c.files) {
			t.Errorf("%s: %v", name, r.ChangedFiles)
		}
	}
}

func TestHostDriftIsForAPerson(t *testing.T) {
	for _, differs := range []bool{true, false} {
		in := input(t, adopted(), nil)
		in.Host = &preflight.HostDrift{Document: json.RawMessage(`{"has_drift": true}`), Baseline: "grants.json", Differs: differs, Reasons: []string{"1 grant."}}
		r := evaluate(t, in)
		if r.RequiresHumanReview != differs || string(r.HostGrantDrift) != `{"has_drift": true}` {
			t.Errorf("%+v", r)
		}
		if differs && (r.Signals[0].Kind != preflight.HostGrantDrift || r.Signals[0].Severity != preflight.High || !strings.HasSuffix(r.Signals[0].Reason, " 1 grant.")) {
			t.Errorf("%+v", r.Signals)
		}
	}
}

func TestTextIsForPeople(t *testing.T) {
	p := touching("AGENTS.md", "src/\x1b[31m.py")
	p.Capabilities = asking("destructive").Capabilities
	out := string(evaluate(t, input(t, adopted(), p)).Text(false))
	for _, want := range []string{
		"human_review_required  The plan needs a person's decision on 10 points", "critical The plan changes AGENTS.md: ",
		"(shop.tool.POST /x)", "reviewers  agent-platform, security",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("a name moved the cursor")
	}
	out = string(evaluate(t, input(t, adopted(), touching("src/app.py"))).Text(false))
	if !strings.Contains(out, "command    agents-shipgate verify --json") {
		t.Error(out)
	}
}
