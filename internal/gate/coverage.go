package gate

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/surface"
)

// Coverage says how much of the relevant input was read (§11.1).
type Coverage string

// The coverages.
const (
	CoverageComplete Coverage = "complete"
	CoveragePartial  Coverage = "partial"
	CoverageUnknown  Coverage = "unknown"
)

// Status is what became of one adapter.
type Status string

// The statuses.
const (
	StatusComplete      Status = "complete"
	StatusNotApplicable Status = "not_applicable"
	StatusPartial       Status = "partial"
	StatusExperimental  Status = "experimental"
)

// HostCoverage is one entry of host_coverage[].
type HostCoverage struct {
	Adapter surface.AdapterID `json:"adapter"`
	Hosts   []string          `json:"hosts"`
	Status  Status            `json:"status"`
	Paths   []string          `json:"paths"`
	Issues  []string          `json:"issues"`
}

// uncovered says whether the adapter stands in the way of publishing.
func (h HostCoverage) uncovered() bool {
	return h.Status == StatusPartial || h.Status == StatusExperimental
}

// excludedScopes is what a static check never sees (§11.3).
func excludedScopes() []string {
	return []string{
		"invocation_flags", "transient_approvals", "ui_and_session_state",
		"remote_managed_settings", "runtime_sandbox_enforcement", "runtime_tool_behavior",
	}
}

// cover works out host_coverage, input_coverage and affected_hosts from what the
// change touches and what of it could not be read.
func (r *run) cover() {
	touched := r.touched()
	unread := r.unreadPaths()
	adapters := surface.Adapters()
	r.coverage = CoverageComplete
	if len(r.codes) > 0 {
		r.coverage = CoveragePartial
	}
	for i := range adapters {
		a := &adapters[i]
		h := HostCoverage{Adapter: a.ID, Hosts: slices.Clone(a.Hosts), Status: StatusNotApplicable, Paths: []string{}, Issues: []string{}}
		partial := false
		for _, t := range touched {
			if t.of(a) {
				h.Paths = append(h.Paths, t.path)
				partial = partial || unread[t.path]
			}
		}
		switch {
		case len(h.Paths) == 0:
		case partial || len(r.codes) > 0:
			h.Status = StatusPartial
			h.Issues = append(h.Issues, r.codes...)
			r.coverage = CoveragePartial
		case a.Experimental:
			h.Status = StatusExperimental
		default:
			h.Status = StatusComplete
		}
		if len(h.Paths) > 0 {
			r.affected = append(r.affected, a.Hosts...)
		}
		r.hosts = append(r.hosts, h)
	}
	slices.Sort(r.affected)
	r.affected = slices.Compact(r.affected)
}

// touchedPath is a path that the change touches and the adapters it counts for:
// those whose patterns match, those whose patterns pass through it when it is a
// link point that could not be read, and the shared one when this run uses it as
// its manifest or policy.
type touchedPath struct {
	path    string
	through []surface.AdapterID
	shared  bool
}

func (t *touchedPath) of(a *surface.Adapter) bool {
	return a.Matches(t.path) || slices.Contains(t.through, a.ID) || t.shared && a.ID == surface.Shared
}

// touched is every touched path, sorted: what Git lists, and what is reached
// through a link (§2.7).
func (r *run) touched() []*touchedPath {
	byPath := map[string]*touchedPath{}
	at := func(path string) *touchedPath {
		t := byPath[path]
		if t == nil {
			t = &touchedPath{path: path}
			byPath[path] = t
		}
		return t
	}
	for _, path := range r.in.ChangedFiles {
		if surface.IsAdapterPath(path) {
			at(path)
		}
	}
	for _, s := range r.surfaces {
		t := at(s.Path)
		t.shared = t.shared || s.Manifest || s.Policy
	}
	for _, path := range r.in.LinkPoints {
		t := at(path)
		t.through = surface.AdaptersThrough(path)
	}
	list := make([]*touchedPath, 0, len(byPath))
	for _, t := range byPath {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *touchedPath) int { return strings.Compare(a.path, b.path) })
	return list
}

// unreadPaths is the paths with a row that means unread content.
func (r *run) unreadPaths() map[string]bool {
	m := map[string]bool{}
	for i := range r.rows {
		v := &r.rows[i].violation
		switch kind := v.Kind(); {
		case strings.Contains(kind, "parse"), strings.Contains(kind, "unresolved"),
			kind == "workflow_not_a_mapping", kind == "boundary_coverage_incomplete":
			m[v.Path] = true
		}
	}
	return m
}
