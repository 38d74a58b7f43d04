// Package policy decides how severe each rule is in this run: the built-in
// grades, raised by at most one policy source, never lowered below their floor.
//
// A policy is a file of the repository that is being judged, so it is read as
// an adversary may have written it. Whatever cannot be used leaves the built-in
// grades in force and leaves a code that stops the change
// (docs/spec/boundary.md §10).
package policy

import (
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

// The fixed workspace names of §10.1.
const (
	Unified     = "policies/agent-boundary.shipgate.yaml"
	LegacyCodex = "policies/codex-boundary.shipgate.yaml"
	LegacyHost  = "policies/host-boundary.shipgate.yaml"
)

// MaxBytes is the bound of every policy file (§10.2).
const MaxBytes = 1 << 20

// File is one policy file as it was read. Bytes are nil when Found is false or
// Err says why it could not be read.
type File struct {
	Found bool
	Bytes []byte
	Err   string // one sentence without content; "" when it was read
}

// Files is every place a policy can come from (§10.1).
type Files struct {
	// Explicit is nil without --policy; ExplicitPath is the path as given.
	Explicit     *File
	ExplicitPath string
	// Workspace is keyed by repository path, one of the three fixed names.
	Workspace map[string]File
}

// Source says where the rules of a record come from.
type Source string

// The sources. Missing and Invalid mean that built-in rules stand in for a
// policy that was asked for and cannot be used.
const (
	Explicit        Source = "explicit"
	Workspace       Source = "workspace"
	PackagedDefault Source = "packaged_default"
	Missing         Source = "missing"
	Invalid         Source = "invalid"
)

// Record is one entry of policies[], and the form of the aggregate policy.
type Record struct {
	ID        string   `json:"id"`
	Version   string   `json:"version"`
	Source    Source   `json:"source"`
	Snapshot  string   `json:"snapshot_sha256"`
	Path      string   `json:"path,omitempty"`
	Discovery []string `json:"discovery"`
}

// Grade is what a rule says and asks for in this run.
type Grade struct {
	Action                rule.Action
	Risk                  rule.Risk
	Title, Recommendation string
}

// builtIn is the grade a rule has by itself; it is the floor as well.
func builtIn(r *rule.Rule) Grade {
	return Grade{Action: r.Action, Risk: r.Risk, Title: r.Title, Recommendation: r.Recommendation}
}

// The codes a policy can leave (§10.5, §11.2).
const (
	CodeMissing       = "policy_missing"
	CodeLoadFailed    = "policy_load_failed"
	CodeUnknownFields = "policy_unknown_fields"
	CodeConflict      = "policy_conflict"
	CodeFloor         = "policy_safety_floor_downgrade"
	CodeCoexist       = "unified_and_legacy_policy_coexist"
	CodeRuleConflict  = "policy_rule_conflict"
)

// Effective is the policy of one run.
type Effective struct {
	Records []Record // codex family, then host family
	Set     string   // policy_set_sha256
	// Diagnostics in the order they arose; Codes belong in issues[].
	Diagnostics []surface.Diagnostic
	Codes       []string
	// Conflicts are the codes that make rule 11 report boundary_policy_conflict.
	Conflicts []string
	// Invalid is set when an explicit policy could not be used (rule 1).
	Invalid *rule.PolicyInvalid
	// Marked are the paths of policies in use that begin with a byte order mark.
	Marked []string

	grades map[string]Grade
}

// Grade is the grade of r. Rules of the generic family have none but their own.
func (e *Effective) Grade(r *rule.Rule) Grade {
	if g, ok := e.grades[r.ID]; ok {
		return g
	}
	return builtIn(r)
}

// Version is policy_version of the result: that of the Codex family.
func (e *Effective) Version() string { return e.Records[0].Version }

// Aggregate is the one record that stands for both families (§8).
func (e *Effective) Aggregate() Record {
	a := Record{ID: "agent-boundary", Version: "1", Source: e.Records[0].Source, Snapshot: e.Set}
	for _, r := range e.Records {
		if r.Source != a.Source {
			a.Source = Workspace
		}
		a.Discovery = append(a.Discovery, r.Discovery...)
	}
	slices.Sort(a.Discovery)
	a.Discovery = slices.Compact(a.Discovery)
	return a
}

// Load finds the policy in force and applies it to the catalogue. It always
// returns a usable policy: fail-closed cases are told by Codes, Conflicts and
// Invalid, and never leave a rule below its built-in grade.
func Load(files Files, catalogue []*rule.Rule) Effective {
	l := newLoader(catalogue)
	unified, hasUnified := files.found(Unified)
	codex, hasCodex := files.found(LegacyCodex)
	host, hasHost := files.found(LegacyHost)
	switch {
	case files.Explicit != nil:
		l.explicit(*files.Explicit, files.ExplicitPath)
	case hasUnified:
		if hasCodex || hasHost {
			l.conflict(CodeConflict, CodeCoexist, Unified,
				"The unified policy and a legacy policy are both present; only one of them can be meant.")
		}
		l.workspace(unified, Unified, l.families...)
	case hasCodex || hasHost:
		if hasCodex {
			l.workspace(codex, LegacyCodex, l.family(rule.CodexFamily))
		}
		if hasHost {
			l.workspace(host, LegacyHost, l.family(rule.HostFamily))
		}
	}
	return l.finish()
}

func (f Files) found(path string) (File, bool) {
	file := f.Workspace[path]
	return file, file.Found
}

// payload is what the digests of a family are taken over (§9.3): the effective
// rules, sorted by id. Members stand in key order, so that writing them
// canonically has nothing left to sort.
func payload(f *family, grades map[string]Grade) canonical.Object {
	rules := make([]canonical.Object, len(f.rules))
	for i, r := range f.rules {
		g, ok := grades[r.ID]
		if !ok {
			g = builtIn(r)
		}
		rules[i] = canonical.Object{
			{Key: "action", Value: string(g.Action)},
			{Key: "check_id", Value: r.CheckID},
			{Key: "id", Value: r.ID},
			{Key: "recommendation", Value: g.Recommendation},
			{Key: "risk_level", Value: string(g.Risk)},
			{Key: "title", Value: g.Title},
		}
	}
	return canonical.Object{
		{Key: "id", Value: f.record.ID},
		{Key: "rules", Value: rules},
		{Key: "version", Value: f.record.Version},
	}
}
