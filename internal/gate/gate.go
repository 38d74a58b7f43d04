// Package gate judges one change of a coding agent's boundary and says what the
// agent may do next.
//
// Check is a pure function of an Input that somebody else has read: surfaces
// are typed, rules look at them, the policy grades what they found, and the
// facts make a control. The Result is the product; its JSON is a published
// contract (docs/spec/boundary.md §8).
package gate

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// ToolName and ToolVersion are the tool of every result. The name is the
// protocol's, whatever the binary is called.
const (
	ToolName    = "agents-shipgate"
	ToolVersion = "0.16.0"
)

// ContractVersion is the runtime contract that results follow.
const ContractVersion = 20

// Checker judges changes by a list of rules.
type Checker struct {
	Rules   []*rule.Rule
	Version string // of the tool, as results name it
}

// Default is the checker that ships.
func Default() Checker { return Checker{Rules: rule.Catalogue(), Version: ToolVersion} }

// Check judges a change by the shipped rules. The error is an invariant of our
// own that does not hold: the caller has no result then and must not make one up.
func Check(in Input) (*Result, error) { return Default().Check(in) }

// Check judges a change.
func (c Checker) Check(in Input) (*Result, error) {
	r := run{in: &in, policy: policy.Load(in.Policy, c.Rules)}
	r.readSurfaces()
	r.collectIssues()
	r.collectDiagnostics()
	r.applyRules(c.Rules)
	r.findGaps()
	r.cover()
	r.trigger = trigger.Evaluate(trigger.Input{
		ChangedFiles: in.ChangedFiles, Text: [][]byte{in.Text, in.IndexText},
		ManifestPresent: in.Manifest.Present, Agent: string(in.Actor),
	})
	res := r.result(c)
	if err := res.check(); err != nil {
		return nil, err
	}
	return res, nil
}

// run is one judgement in the making. The steps fill it in the order in which
// Check names them.
type run struct {
	in       *Input
	policy   policy.Effective
	surfaces []*surface.Surface

	issues      []surface.Issue
	codes       []string // issues[] of the result
	diagnostics []surface.Diagnostic
	proposal    string // path of a proposal-safe manifest addition
	unignored   string // path of a manifest that only ignores less

	rows                 []row
	declared, undeclared []string // changed paths that make the gaps of §6.3 and §6.4

	coverage Coverage
	hosts    []HostCoverage
	affected []string

	trigger trigger.Result
}

// readSurfaces types every change. The order of changes decides nothing, so it
// is made one order here.
func (r *run) readSurfaces() {
	changes := slices.Clone(r.in.Changes)
	slices.SortStableFunc(changes, func(a, b surface.Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(afterState(a.Source), afterState(b.Source)))
	})
	r.surfaces = make([]*surface.Surface, len(changes))
	for i := range changes {
		r.surfaces[i] = surface.Read(&changes[i])
	}
	r.proposal = proposalSafe(r.surfaces, r.in.Manifest)
	r.unignored = unignores(r.surfaces)
}

// afterState puts the working tree before the index.
func afterState(t surface.Token) int {
	if t == surface.GitIndex {
		return 1
	}
	return 0
}

// facts is what the route depends on.
func (r *run) facts() control.Facts {
	f := control.Facts{
		Mode:  r.in.Mode,
		Agent: string(r.in.Actor),
		Subject: control.Subject{
			Workspace: r.in.Workspace, Config: r.in.ConfigArg, Base: r.in.Base, Head: r.in.Head,
		},
		Rows:       make([]control.Row, len(r.rows)),
		Covered:    r.coverage == CoverageComplete && !slices.ContainsFunc(r.hosts, HostCoverage.uncovered),
		Undeclared: len(r.undeclared) > 0,
		Declared:   len(r.declared) > 0,
		Adopted:    r.in.Manifest.Present,
		Forced:     r.trigger.ForceRun,
	}
	for i := range r.rows {
		f.Rows[i] = r.controlRow(&r.rows[i])
	}
	return f
}

func (r *run) controlRow(w *row) control.Row {
	v := &w.violation
	return control.Row{
		RuleID: v.ID, CheckID: v.CheckID, Action: v.Action, Risk: v.RiskLevel,
		Title: v.Title, Path: v.Path, Recommendation: v.Recommendation, Kind: v.Kind(),
		GovernsGate:  r.governsGate(v),
		Experimental: surface.IsExperimental(v.Path),
		AgentSafe:    w.rule.AgentSafe,
	}
}

// governsGate says whether the row is about a file that decides how the gate
// judges: by the class that the row records, by its path, or because this run
// uses the file as its manifest or policy (§4.2, §7.2).
func (r *run) governsGate(v *Violation) bool {
	recorded, _ := v.Evidence.Get("trust_root_class").(string)
	return surface.GovernsGate(surface.Class(recorded), v.Path) ||
		surface.GovernsGate(surface.ClassOf(v.Path), v.Path) ||
		slices.ContainsFunc(r.surfaces, func(s *surface.Surface) bool {
			return s.Path == v.Path && (s.Manifest || s.Policy)
		})
}
