//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What must hold of every installation, whatever happened to it.

// matrix is who must agree at which risk (docs/spec/contracts.md §6.3).
var matrix = map[string][]string{
	"low": {}, "medium": {},
	"high":     {"project_lead", "security_reviewer"},
	"critical": {"project_lead", "security_reviewer", "release_manager"},
}

var ids = map[string]*regexp.Regexp{
	"IntentContract": regexp.MustCompile(`^IC-[0-9]{3,}$`),
	"TaskSeed":       regexp.MustCompile(`^TS-[0-9]{3,}$`),
	"Acceptance":     regexp.MustCompile(`^AC-[0-9]{3,}$`),
	"PublishGate":    regexp.MustCompile(`^PG-[0-9]{3,}$`),
	"Evidence":       regexp.MustCompile(`^EV-[0-9]{3,}$`),
}

// sound is everything of an installation that was read to judge it.
type sound struct {
	chains []chain
	runs   []run
	events []event
	audit  []record
}

// prove reads everything and holds the acceptance criteria of
// docs/spec/contracts.md §18, the order of events and the audit log.
func (s *site) prove() sound {
	s.Helper()
	reader := s.user("root")
	here := sound{
		runs:   all[run](s, reader, "/v1/runs", nil),
		events: all[event](s, reader, "/v1/events", nil),
		audit:  all[record](s, reader, "/v1/audit", nil),
	}
	for _, one := range all[chain](s, reader, "/v1/chains", nil) {
		here.chains = append(here.chains, s.chain(one.IntentID))
	}
	s.proveChains(here.chains)
	s.proveEvidence(here)
	s.proveEvents(here.events)
	for i, r := range here.audit {
		if r.Position != int64(i)+1 {
			s.Fatalf("audit record %d has position %d", i+1, r.Position)
		}
	}
	s.proveAudit()
	return here
}

func (s *site) proveChains(chains []chain) {
	s.Helper()
	for _, c := range chains {
		count := map[string]map[string]int{}
		for _, one := range c.Contracts {
			d := one.Contract
			if count[d.Kind] == nil {
				count[d.Kind] = map[string]int{}
			}
			count[d.Kind][d.ID]++
			if form := ids[d.Kind]; form == nil || !form.MatchString(d.ID) {
				s.Errorf("%q is no id of kind %s", d.ID, d.Kind) // criterion 6
			}
			if d.Kind == "PublishGate" {
				s.proveGate(one)
			}
		}
		// Criterion 1: no version of the intent was revised in these tests.
		for _, kind := range []string{"IntentContract", "TaskSeed", "Acceptance", "PublishGate"} {
			if len(count[kind]) > 1 {
				s.Errorf("%s has %d contracts of kind %s: %v", c.IntentID, len(count[kind]), kind, count[kind])
			}
		}
		for id, n := range count["TaskSeed"] {
			if n != 1 {
				s.Errorf("%s: %d versions of %s from one version of the intent", c.IntentID, n, id)
			}
		}
	}
}

// proveGate holds criteria 3, 4 and 5 of a gate.
func (s *site) proveGate(g shown) {
	s.Helper()
	d := g.Contract
	var history struct {
		Items []shown `json:"items"`
	}
	if err := s.user("ada").get(s.Context(), "/v1/contracts/"+d.EntityID+"/versions?limit=200", &history); err != nil {
		s.Fatal(err)
	}
	passed := slices.ContainsFunc(history.Items, func(v shown) bool {
		return v.Contract.Version == g.Meta.Source.Version && v.Contract.Status == "passed"
	})
	if !passed {
		s.Errorf("%s version %d was made for %s version %d, which had not passed", d.ID, d.Version, d.EntityID, g.Meta.Source.Version)
	}
	want, required := slices.Sorted(slices.Values(matrix[d.Risk])), slices.Sorted(slices.Values(d.Required))
	if !slices.Equal(want, required) {
		s.Errorf("%s at %s risk asks %v, want %v", d.ID, d.Risk, required, want)
	}
	if len(want) == 0 {
		if len(d.Approvals) != 1 || d.Approvals[0].Role != "policy_engine" || d.FinalDecision == "pending" {
			s.Errorf("%s at %s risk was not decided by the Policy Engine alone: %+v", d.ID, d.Risk, d)
		}
		return
	}
	if d.Deadline == "" {
		s.Errorf("%s at %s risk has no deadline", d.ID, d.Risk)
	}
	people, roles := map[string]bool{}, []string{}
	for _, a := range d.Approvals {
		if a.Decision == "approved" {
			roles = append(roles, a.Role)
			people[a.Actor] = true
		}
	}
	slices.Sort(roles)
	roles = slices.Compact(roles)
	if (d.FinalDecision == "approved") != (d.State == "Published") {
		s.Errorf("%s is %s and %s", d.ID, d.FinalDecision, d.State)
	}
	if d.State == "Published" && (!slices.Equal(roles, want) || len(people) < len(want)) {
		s.Errorf("%s became Published with approvals %+v, want one person each of %v", d.ID, d.Approvals, want)
	}
}

// proveEvidence holds criterion 2: every run that has ended has its Evidence,
// and no Evidence is of two.
func (s *site) proveEvidence(here sound) {
	s.Helper()
	there := map[string]bool{}
	for _, c := range here.chains {
		for _, one := range c.Contracts {
			if one.Contract.Kind == "Evidence" {
				if there[one.Contract.ID] {
					s.Errorf("%s is there twice", one.Contract.ID)
				}
				there[one.Contract.ID] = true
			}
		}
	}
	for _, r := range here.runs {
		if !r.Alive && !there[r.EvidenceID] {
			s.Errorf("run %s in %s has no Evidence of its own: %q", r.ExecutionID, r.Phase, r.EvidenceID)
		}
		delete(there, r.EvidenceID)
	}
	for id := range there {
		s.Errorf("%s is of no run", id)
	}
}

// proveEvents holds that the stream has no gap, no event twice, and none before
// its cause.
func (s *site) proveEvents(list []event) {
	s.Helper()
	seen := map[string]bool{}
	for i, e := range list {
		if e.Position != int64(i)+1 {
			s.Fatalf("event %d has position %d: the stream has a gap", i+1, e.Position)
		}
		if seen[e.Event.ID] {
			s.Errorf("event %s is there twice", e.Event.ID)
		}
		if cause := e.Event.Causation; cause != "" && !seen[cause] {
			s.Errorf("event %s comes before its cause %s", e.Event.ID, cause)
		}
		seen[e.Event.ID] = true
	}
}

// proveAudit exports the log and checks the copy with nothing but its key.
func (s *site) proveAudit(known ...string) {
	s.Helper()
	copied := filepath.Join(s.TempDir(), "log.jsonl")
	s.must(s.command("root", "audit", "export", "--out", copied))
	args := []string{"audit", "verify", copied, "--key", s.key() + ".pub"}
	for _, k := range known {
		args = append(args, "--known", k)
	}
	s.must(s.command("", args...))

	// A copy with one letter changed is not good.
	text, err := os.ReadFile(copied)
	if err != nil {
		s.Fatal(err)
	}
	forged := strings.Replace(string(text), "project_lead", "project_leaf", 1)
	if err := os.WriteFile(copied, []byte(forged), 0o600); err != nil {
		s.Fatal(err)
	}
	if o := s.command("", args...); o.code != 1 {
		s.Errorf("a forged log is found good: exit %d\n%s%s", o.code, o.text, o.notes)
	}
}
