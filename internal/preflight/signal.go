package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/verify/effect"
)

// signals collects signals, each id once.
type signals struct {
	list []Signal
	seen map[string]bool
}

func (s *signals) add(x Signal) {
	if x.ID = string(x.Kind) + ":" + x.ID; !s.seen[x.ID] {
		s.seen[x.ID] = true
		s.list = append(s.list, x)
	}
}

// sorted is the order of §13.5: kind, severity, path, subject, id.
func (s *signals) sorted() []Signal {
	path := func(x *Signal) string {
		if x.Path == nil {
			return ""
		}
		return *x.Path
	}
	slices.SortFunc(s.list, func(a, b Signal) int {
		return cmp.Or(
			cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Severity.weight(), b.Severity.weight()),
			cmp.Compare(path(&a), path(&b)), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID),
		)
	})
	return s.list
}

// touched is a signal for each touch.
func (s *signals) touched(touches []Touch, about map[string]string) {
	for i := range touches {
		t := &touches[i]
		x := Signal{
			ID: t.Kind + ":" + t.Path, Kind: SurfaceTouch, Severity: High, Actor: control.Human, Subject: t.Kind, Path: &t.Path,
			Reason:         fmt.Sprintf("The plan changes %s: %s.", t.Path, about[t.Kind]),
			Recommendation: "A person agrees to this change before it is made, or the plan leaves it out.",
		}
		if t.ScopeType == WholeFile {
			x.Severity = Critical
		}
		if !t.HumanReview {
			x.Severity, x.Actor = Info, control.CodingAgent
			x.Reason = fmt.Sprintf("The plan only adds tool sources to %s; verification judges them.", t.Path)
			x.Recommendation = "Make the change, then verify it."
		}
		s.add(x)
	}
}

// diffIssues are reasons why a diff does not say what it touches.
func (s *signals) diffIssues(issues []diff.Issue) {
	for _, i := range issues {
		s.add(Signal{
			ID: i.Code + ":" + i.Path, Kind: SurfaceTouch, Severity: Critical, Actor: control.Human, Subject: i.Code, Path: text(i.Path),
			Reason:         i.Message,
			Recommendation: "Give the plan a complete diff as git prints it, or have a person look at the change.",
		})
	}
}

// judged are the rows of check that a person decides and that no touch stands
// for: preflight never asks for less than check.
func (s *signals) judged(result *gate.Result) {
	if result == nil {
		return
	}
	if result.InputCoverage != gate.CoverageComplete && len(result.Violations) == 0 {
		s.add(Signal{
			ID: "unread", Kind: SurfaceTouch, Severity: Critical, Actor: control.Human, Subject: "unread",
			Reason:         "The diff could not be judged: " + result.Control.Reason(),
			Recommendation: "Give the plan a complete diff as git prints it, or have a person look at the change.",
		})
	}
	asked := map[string]bool{}
	for i := range s.list {
		if x := &s.list[i]; x.Actor == control.Human && x.Path != nil {
			asked[*x.Path] = true
		}
	}
	for i := range result.Violations {
		v := &result.Violations[i]
		if v.Action.Less(rule.RequireReview) || asked[v.Path] {
			continue
		}
		x := Signal{
			ID: v.CheckID + ":" + v.Path, Kind: SurfaceTouch, Severity: High, Actor: control.Human, Subject: v.CheckID, Path: text(v.Path),
			Reason: v.Title + ".", Recommendation: v.Recommendation,
		}
		if v.Action == rule.Block || v.RiskLevel == rule.Critical {
			x.Severity = Critical
		}
		s.add(x)
	}
}

func (s *signals) missing(rows []Evidence) {
	for i := range rows {
		e := &rows[i]
		if e.Satisfied {
			continue
		}
		name, _, _ := cutLast(e.ID, ":")
		s.add(Signal{
			ID: e.ID, Kind: MissingEvidence, Severity: e.Severity, Actor: control.Human, Subject: name,
			Reason: e.Reason, Recommendation: e.Recommendation,
		})
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// maxScopes is how many scopes a sentence names.
const maxScopes = 5

// broad is a signal for each request with scopes that open more than one thing.
func (s *signals) broad(requests []CapabilityRequest) {
	for i := range requests {
		c := &requests[i]
		var wide []string
		for _, scope := range c.Scopes {
			if effect.BroadScope(scope) {
				wide = append(wide, redact.Text(strings.TrimSpace(scope)))
			}
		}
		slices.Sort(wide)
		if wide = slices.Compact(wide); len(wide) == 0 {
			continue
		}
		named := strings.Join(wide[:min(len(wide), maxScopes)], ", ")
		if more := len(wide) - maxScopes; more > 0 {
			named = fmt.Sprintf("%s and %d more", named, more)
		}
		s.add(Signal{
			ID: c.name() + ":" + named, Kind: LeastPrivilege, Severity: High, Actor: control.Human, Subject: c.name(),
			Reason:         "It asks for scopes that open more than one thing: " + named + ".",
			Recommendation: "Ask for the narrow scopes that the operation needs.",
		})
	}
}

// hosts is a signal for each request to a host.
func (s *signals) hosts(requests []HostRequest) {
	for i := range requests {
		h := &requests[i]
		class := h.class()
		x := Signal{
			ID: h.name() + ":" + h.subject() + ":" + class, Kind: LeastPrivilege, Severity: Critical, Actor: control.Human,
			Subject: h.name() + " " + h.subject(), Path: text(h.Path),
			Reason:         classReason[class],
			Recommendation: "A person decides about permissions of a host; ask for the one action that the task needs.",
		}
		if class == hostPermission {
			x.Severity = High
		}
		s.add(x)
	}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
