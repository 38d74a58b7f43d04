package control_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

var subject = control.Subject{Workspace: "/repo", Config: "shipgate.yaml"}

var rangeSubject = control.Subject{Workspace: "/repo", Config: "shipgate.yaml", Base: "main", Head: "topic"}

// The rows that the tests are made of, each the only reason for what it does.
var (
	graded = control.Row{
		RuleID: "HOST-X", CheckID: "C-X", Action: rule.RequireReview, Risk: rule.Medium,
		Title: "graded", Path: "a", Kind: "k", Recommendation: "look at a",
	}
	high     = with(graded, func(r *control.Row) { r.Risk, r.Title = rule.High, "high" })
	critical = with(graded, func(r *control.Row) { r.Risk, r.Title = rule.Critical, "critical" })
	blocking = with(graded, func(r *control.Row) { r.Action, r.Risk, r.Title = rule.Block, rule.Critical, "blocking" })
	unread   = with(graded, func(r *control.Row) { r.RuleID, r.Title = "BOUNDARY-INPUT-INCOMPLETE", "unread" })
	unparsed = with(graded, func(r *control.Row) {
		r.RuleID, r.Kind, r.Title = "HOST-CONFIG-PARSE-FAILED", "json_parse_failed", "unparsed"
	})
	unknownKey   = with(graded, func(r *control.Row) { r.RuleID, r.Kind = "HOST-CONFIG-PARSE-FAILED", "unknown_host_config_key" })
	requirement  = with(graded, func(r *control.Row) { r.RuleID = "CODEX-AGENTS-SHIPGATE-REQUIREMENT-REMOVED" })
	governing    = with(graded, func(r *control.Row) { r.GovernsGate = true })
	experimental = with(graded, func(r *control.Row) { r.Experimental, r.Title = true, "experimental" })
	noted        = with(graded, func(r *control.Row) { r.Action, r.Risk = rule.Warn, rule.Low })
	repairable   = with(blocking, func(r *control.Row) { r.AgentSafe = true })
)

func with(r control.Row, change func(*control.Row)) control.Row {
	change(&r)
	return r
}

func facts(mode control.Mode, rows ...control.Row) control.Facts {
	f := control.Facts{Mode: mode, Subject: subject, Agent: "codex", Rows: rows, Covered: true}
	if mode == control.GitRange {
		f.Subject = rangeSubject
	}
	return f
}

func but(f control.Facts, change func(*control.Facts)) control.Facts {
	change(&f)
	return f
}

func undeclared(f *control.Facts) { f.Undeclared = true }
func declared(f *control.Facts)   { f.Declared = true }
func adopted(f *control.Facts)    { f.Adopted, f.Forced = true, true }
func uncovered(f *control.Facts)  { f.Covered = false }

const (
	verifyHere  = "agents-shipgate verify --workspace /repo --config shipgate.yaml --json"
	verifyRange = "agents-shipgate verify --workspace /repo --config shipgate.yaml --base main --head topic --json"
	preview     = "agents-shipgate verify --workspace /repo --config shipgate.yaml --preview --json"
	detect      = "shipgate detect --workspace /repo --json"
	rerun       = "shipgate check --agent codex --workspace . --format agent-boundary-json"
)

var (
	platform = []string{"agent-platform"}
	both     = []string{"agent-platform", "security"}
)

// TestEachRowOfTheTable has one case for each row of §7.3, and the exceptions
// that its cells name.
func TestEachRowOfTheTable(t *testing.T) {
	cases := []struct {
		name      string
		facts     control.Facts
		row       string
		state     control.State
		kind      control.Kind
		commands  []string
		verify    bool
		reviewers []string
		publish   bool
		reason    string
		why       string
	}{
		{
			name: "a block stops", facts: facts(control.Worktree, blocking), row: "1",
			state: control.HumanReviewRequired, kind: control.Stop, reviewers: both,
			reason: "1 boundary change is blocked.", why: "blocking",
		},
		{
			name: "a block in an adopted repository owes verification", facts: but(facts(control.Worktree, blocking, graded), adopted), row: "1",
			state: control.HumanReviewRequired, kind: control.Stop, reviewers: both, verify: true,
			reason: "1 of 2 boundary changes is blocked.", why: "blocking",
		},
		{
			name: "a person alone may repair what one row forbids an agent", facts: facts(control.Worktree, repairable, blocking), row: "1",
			state: control.HumanReviewRequired, kind: control.Stop, reviewers: both,
			reason: "2 boundary changes are blocked.", why: "blocking",
		},
		{
			name: "an agent-safe block is repaired", facts: facts(control.Worktree, repairable), row: "repair",
			state: control.AgentActionRequired, kind: control.Repair, commands: []string{rerun},
			reason: "1 boundary change is blocked.", why: "Apply the repair, then run the same check again.",
		},
		{
			name: "unread input stops", facts: but(facts(control.Worktree, unread), uncovered), row: "2",
			state: control.HumanReviewRequired, kind: control.Review, reviewers: platform,
			reason: "1 boundary change needs a person; part of the change cannot be judged.", why: "unread",
		},
		{
			name: "a parse failure stops", facts: facts(control.GitRange, unparsed, critical), row: "2",
			state: control.HumanReviewRequired, kind: control.Review, reviewers: both,
			reason: "2 boundary changes need a person; part of the change cannot be judged.", why: "unparsed",
		},
		{
			name: "an experimental path stops", facts: facts(control.Worktree, experimental), row: "2",
			state: control.HumanReviewRequired, kind: control.Review, reviewers: platform,
			reason: "1 boundary change needs a person; part of the change cannot be judged.", why: "experimental",
		},
		{
			name: "incomplete coverage stops whatever the rows say", facts: but(facts(control.Worktree), uncovered), row: "2",
			state: control.HumanReviewRequired, kind: control.Review, reviewers: platform,
			reason: "Part of the change could not be read.", why: "Part of the change could not be read.",
		},
		{
			name: "a detached graded row cannot be verified", facts: facts(control.ProvidedDiff, graded), row: "4",
			state: control.HumanReviewRequired, kind: control.Review, verify: true,
			reason: "A detached diff cannot be verified; run the check on the worktree or with both refs.",
			why:    "A detached diff cannot be verified; run the check on the worktree or with both refs.",
		},
		{
			name: "a detached change of a declared source neither", facts: but(facts(control.ProvidedDiff), declared), row: "4",
			state: control.HumanReviewRequired, kind: control.Review, verify: true,
			reason: "A detached diff cannot be verified; run the check on the worktree or with both refs.",
			why:    "A detached diff cannot be verified; run the check on the worktree or with both refs.",
		},
		{
			name: "a detached high row stops", facts: facts(control.ProvidedDiff, high), row: "5",
			state: control.HumanReviewRequired, kind: control.Review, reviewers: platform,
			reason: "1 boundary change needs a person's decision; a detached diff cannot be published.", why: "high",
		},
		{
			name: "a high row is published", facts: facts(control.Worktree, high, graded), row: "6",
			state: control.ReviewPublishable, kind: control.Review, commands: []string{verifyHere}, reviewers: platform, publish: true,
			reason: "2 boundary changes need a person's decision before merge.", why: "high",
		},
		{
			name: "a critical row asks security too", facts: but(facts(control.GitRange, critical), adopted), row: "6",
			state: control.ReviewPublishable, kind: control.Review, commands: []string{verifyRange}, reviewers: both, publish: true, verify: true,
			reason: "1 boundary change needs a person's decision before merge.", why: "critical",
		},
		{
			name: "a removed requirement is published", facts: facts(control.Worktree, requirement), row: "6",
			state: control.ReviewPublishable, kind: control.Review, commands: []string{verifyHere}, reviewers: platform, publish: true,
			reason: "1 boundary change needs a person's decision before merge.", why: "graded",
		},
		{
			name: "a path that governs the gate is published", facts: facts(control.Worktree, governing), row: "6",
			state: control.ReviewPublishable, kind: control.Review, commands: []string{verifyHere}, reviewers: platform, publish: true,
			reason: "1 boundary change needs a person's decision before merge.", why: "graded",
		},
		{
			name: "a person's row beats an undeclared capability", facts: but(but(facts(control.Worktree, high), undeclared), adopted), row: "6",
			state: control.ReviewPublishable, kind: control.Review, commands: []string{verifyHere}, reviewers: platform, publish: true, verify: true,
			reason: "1 boundary change needs a person's decision before merge.", why: "high",
		},
		{
			name: "an undeclared capability is discovered", facts: but(but(facts(control.Worktree), undeclared), adopted), row: "7",
			state: control.AgentActionRequired, kind: control.Discover, commands: []string{detect}, verify: true, publish: true,
			reason: "A changed capability surface is not declared in the manifest.", why: "Detection names the surfaces that the manifest lacks.",
		},
		{
			name: "discovery goes before a declared change and a graded row", row: "7",
			facts: but(but(but(facts(control.Worktree, graded), undeclared), declared), adopted),
			state: control.AgentActionRequired, kind: control.Discover, commands: []string{detect}, verify: true, publish: true,
			reason: "1 boundary change needs review on the pull request; run detect and report it.", why: "Detection names the surfaces that the manifest lacks.",
		},
		{
			name: "in a range verification reads the head tree", facts: but(but(facts(control.GitRange), undeclared), adopted), row: "7a",
			state: control.AgentActionRequired, kind: control.Verify, commands: []string{verifyRange}, verify: true, publish: true,
			reason: "A changed capability surface is not declared in the manifest.", why: "Verification reads the head tree and names what the manifest lacks.",
		},
		{
			name: "without a manifest the gate is configured", facts: but(facts(control.Worktree), undeclared), row: "8",
			state: control.AgentActionRequired, kind: control.Configure, commands: []string{preview}, verify: true, publish: true,
			reason: "A capability surface changed and the repository has no manifest.", why: "The preview shows what the gate would check here.",
		},
		{
			name: "graded rows are verified", facts: facts(control.Worktree, graded, unknownKey), row: "9",
			state: control.AgentActionRequired, kind: control.Verify, commands: []string{verifyHere}, verify: true, publish: true,
			reason: "2 boundary changes need review on the pull request; run verify and report them.", why: "Verification records the review this change owes.",
		},
		{
			name: "a declared source is verified", facts: but(but(facts(control.Worktree), declared), adopted), row: "10",
			state: control.AgentActionRequired, kind: control.Verify, commands: []string{verifyHere}, verify: true, publish: true,
			reason: "A declared tool source changed; verification is owed.", why: "Verification decides about the changed tool source.",
		},
		{
			name: "an adopted repository verifies everything", facts: but(facts(control.GitRange), adopted), row: "10",
			state: control.AgentActionRequired, kind: control.Verify, commands: []string{verifyRange}, verify: true, publish: true,
			reason: "The repository has adopted the gate; verification is owed.", why: "An adopted repository verifies every change.",
		},
		{
			name: "a clean change is complete", facts: facts(control.Worktree), row: "11", state: control.Complete,
			reason: "No recognised boundary change needs action.",
		},
		{
			name: "a detached diff that owes nothing is complete", facts: facts(control.ProvidedDiff), row: "11", state: control.Complete,
			reason: "No recognised boundary change needs action.",
		},
		{
			name: "a warning is complete", facts: facts(control.Worktree, noted), row: "11", state: control.Complete,
			reason: "1 boundary change is noted; none needs action.",
		},
	}
	seen := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			seen[c.row] = true
			if got := control.RowOf(c.facts); got != c.row {
				t.Fatalf("row %s holds, want %s", got, c.row)
			}
			got := control.Derive(c.facts)
			if got.State() != c.state || got.Reason() != c.reason || got.VerifyRequired() != c.verify {
				t.Errorf("state %s, reason %q, verify %v", got.State(), got.Reason(), got.VerifyRequired())
			}
			var kind control.Kind
			var why string
			if a := got.NextAction(); a != nil {
				kind, why = a.Kind, a.Why
			}
			if kind != c.kind || why != c.why {
				t.Errorf("action %q because %q, want %q because %q", kind, why, c.kind, c.why)
			}
			if diff := cmp.Diff(append([]string{}, c.commands...), got.AllowedNextCommands()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			_, _, reviewers := got.HumanReview()
			if diff := cmp.Diff(append([]string{}, c.reviewers...), reviewers); diff != "" {
				t.Errorf("reviewers (-want +got):\n%s", diff)
			}
			if p := got.Permissions(); c.state != control.Complete && p.UpdatePR != c.publish {
				t.Errorf("permissions %+v", p)
			}
		})
	}
	for _, number := range control.RowNumbers() {
		if !seen[number] {
			t.Errorf("no case for row %s", number)
		}
	}
}

// every calls f with every combination of facts that the table can tell apart.
func every(f func(control.Facts)) {
	rows := []control.Row{graded, high, critical, blocking, unread, unparsed, unknownKey, requirement, governing, experimental, noted, repairable}
	sets := [][]control.Row{nil}
	for i, a := range rows {
		sets = append(sets, []control.Row{a})
		for _, b := range rows[i:] {
			sets = append(sets, []control.Row{a, b})
		}
	}
	for _, set := range sets {
		for _, mode := range []control.Mode{control.Worktree, control.GitRange, control.ProvidedDiff} {
			for bits := range 32 {
				x := facts(mode, set...)
				x.Undeclared, x.Declared, x.Adopted = bits&1 != 0, bits&2 != 0, bits&4 != 0
				x.Forced, x.Covered = bits&8 != 0, bits&16 != 0
				f(x)
			}
		}
	}
}

// TestRelationsHoldForEveryCombination checks what §7.4 enforces and what §7.3
// lists as worth testing.
func TestRelationsHoldForEveryCombination(t *testing.T) {
	every(func(f control.Facts) {
		c := control.Derive(f)
		p := c.Permissions()
		a := c.NextAction()
		commands := c.AllowedNextCommands()
		required, why, reviewers := c.HumanReview()
		is := func(kind control.Kind) bool { return a != nil && a.Kind == kind }
		personal := is(control.Review) || is(control.Stop)
		owes := f.Undeclared || f.Declared || f.Forced
		d := f.Decision()
		onExperimental := slices.ContainsFunc(f.Rows, func(r control.Row) bool { return r.Experimental })

		relations := []struct {
			name string
			ok   bool
		}{
			{"merge, report_complete and completion are one", p.Merge == p.ReportComplete && p.Merge == c.CompletionAllowed()},
			{"a stop allows nothing", !c.MustStop() || p == control.Permissions{} && len(commands) == 0},
			{"an agent's command is the first allowed one", a == nil || a.Command == "" || commands[0] == a.Command},
			{"a person's action has no command", !personal || a.Command == "" && a.Expects == ""},
			{"the other commands are sorted and unique", len(commands) < 2 || slices.IsSorted(commands[1:])},
			{"verify is required by its kind", !is(control.Verify) || c.VerifyRequired()},
			{"a publishable review has one command and the kind review", c.State() != control.ReviewPublishable || len(commands) <= 1 && is(control.Review)},
			{"reviewers are sorted", slices.IsSorted(reviewers)},
			{"a reason is always given", c.Reason() != "" && (a == nil || a.Why != "")},
			{"a person is required with a reason, or not at all", required == (why != "") && required == personal},
			{"only a stop has a stop reason", c.MustStop() == (c.StopReason() != "")},
			{"only complete has no next action", (a == nil) == (c.State() == control.Complete)},
			{"a block never publishes and never completes", d != rule.Block || !p.UpdatePR && !c.CompletionAllowed()},
			{"a detached diff that owes nothing completes", f.Mode != control.ProvidedDiff || owes || d == rule.RequireReview || d == rule.Block || !f.Covered || c.CompletionAllowed()},
			{"a detached diff never publishes", f.Mode != control.ProvidedDiff || c.CompletionAllowed() || !p.UpdatePR},
			{"an experimental path never publishes and never completes", !onExperimental || !p.UpdatePR && !c.CompletionAllowed()},
			{"incomplete input never completes and never publishes", f.Covered || !c.CompletionAllowed() && !p.UpdatePR},
			{"a person's row beats every agent route", !slices.ContainsFunc(f.Rows, func(r control.Row) bool {
				return r.Risk != rule.Low && r.Risk != rule.Medium && !r.AgentSafe
			}) || c.State() != control.AgentActionRequired},
			{"an undeclared capability alone is no stop where it can be replayed", len(f.Rows) > 0 || !f.Undeclared || !f.Covered || !f.Mode.Replayable() || c.State() == control.AgentActionRequired},
			{"what is owed is said", c.CompletionAllowed() || !owes || c.VerifyRequired()},
			{"nothing completes while something is owed", !owes || !c.CompletionAllowed()},
			{"an agent may publish a subject that verification can show", c.State() != control.AgentActionRequired || is(control.Repair) || p.UpdatePR == f.Publishable()},
		}
		for _, r := range relations {
			if !r.ok {
				t.Fatalf("%s: broken by %+v\n%+v", r.name, f, c)
			}
		}

		text, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again control.Control
		if err := again.UnmarshalJSON(text); err != nil {
			t.Fatalf("%s does not read again: %v", text, err)
		}
		back, err := again.MarshalJSON()
		if err != nil || string(back) != string(text) {
			t.Fatalf("%s became %s (%v)", text, back, err)
		}

		advice := control.Advise(f)
		if advice.Repair.SafeToAttempt != is(control.Repair) || len(advice.Repair.ForbiddenShortcuts) != 4 {
			t.Fatalf("repair %+v for %+v", advice.Repair, f)
		}
		if len(advice.Pending) > 0 != (c.State() == control.AgentActionRequired && d == rule.RequireReview) {
			t.Fatalf("pending %+v for %+v", advice.Pending, f)
		}
	})
}
