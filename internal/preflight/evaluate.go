package preflight

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify"
)

// Evaluate says what the plan would touch and what it would owe. Errors are a
// *DocumentError for a plan that cannot be, and whatever Files answers with; an
// invariant of our own that does not hold is an error too.
func Evaluate(in Input) (*Result, error) {
	e := &evaluation{in: &in, signals: signals{list: []Signal{}, seen: map[string]bool{}}}
	if err := e.readPlan(); err != nil {
		return nil, err
	}
	if err := e.readManifest(); err != nil {
		return nil, err
	}
	var err error
	e.protection = protect(in.Manifest, e.decides)
	if e.places, err = newPlaces(in.Tree, e.protection); err != nil {
		return nil, err
	}
	e.graph = e.protection.graph(e.places, in.Files)
	if err := e.checkChange(); err != nil {
		return nil, err
	}
	e.findTouches()
	e.evidence = evidence(in.Plan.Capabilities)
	e.findSignals()
	return e.result()
}

// evaluation is one result in the making.
type evaluation struct {
	in      *Input
	changed []string // sorted, unique, from the root
	records []diff.Record

	adopted bool // a manifest that can be read is there
	policy  *string
	decides map[string]surface.Class
	notes   []string

	protection *protection
	places     *places
	check      *gate.Result // nil without a repository
	graph      Graph
	touches    []Touch
	evidence   []Evidence
	signals    signals
	drift      *Drift
	policyRow  *Drift
}

func (e *evaluation) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// readPlan brings the planned paths to one form: those that the plan names, and
// those that its diff does.
func (e *evaluation) readPlan() error {
	if e.in.Plan == nil {
		e.in.Plan = &Plan{}
	}
	if err := CheckPlan(e.in.Plan); err != nil {
		return err
	}
	var r reader
	for i, name := range e.in.Plan.ChangedFiles {
		clean, ok := e.rooted(name)
		if !ok {
			r.problems = append(r.problems, Problem{At: item("changed_files", i), Message: "lies outside of the workspace; name files relative to its root"})
			if len(r.problems) == maxProblems {
				break
			}
			continue
		}
		if inGit(clean) {
			r.problems = append(r.problems, Problem{At: item("changed_files", i), Message: "lies in Git's own folder, which is no part of a change; a person changes what lies there"})
			if len(r.problems) == maxProblems {
				break
			}
			continue
		}
		e.changed = append(e.changed, clean)
	}
	if err := r.err(); err != nil {
		return err
	}
	e.records = diff.Parse([]byte(e.in.Plan.DiffText))
	for i := range e.records {
		for _, name := range []string{e.records[i].OldName, e.records[i].NewName} {
			if name != "" && name != diff.InvalidPath {
				e.changed = append(e.changed, name)
			}
		}
	}
	slices.Sort(e.changed)
	e.changed = slices.Compact(e.changed)
	return nil
}

// rooted is a path of the plan relative to the root; false when it lies
// elsewhere. A backslash may part folders: it is looked at both ways.
func (e *evaluation) rooted(name string) (string, bool) {
	name = strings.TrimSpace(name)
	if slashed := strings.ReplaceAll(name, `\`, "/"); outside(path.Clean(slashed)) && !path.IsAbs(slashed) {
		return "", false
	}
	root := strings.TrimSuffix(e.in.Root, "/") + "/"
	if rest, ok := strings.CutPrefix(name, root); ok {
		name = rest
	} else if rest, ok := strings.CutPrefix(strings.ReplaceAll(name, `\`, "/"), root); ok {
		name = rest
	}
	name = path.Clean(name)
	return name, !path.IsAbs(name) && !outside(name) && !volume(name)
}

// inGit says whether a path lies in a folder of Git's own, or is one.
func inGit(clean string) bool {
	return slices.ContainsFunc(strings.Split(strings.ReplaceAll(clean, `\`, "/"), "/"), diff.IsGitFolder)
}

func outside(clean string) bool { return clean == ".." || strings.HasPrefix(clean, "../") }

// volume says whether a path begins with the letter of a drive.
func volume(name string) bool {
	return len(name) > 2 && name[1] == ':' && (name[2] == '/' || name[2] == '\\')
}

// readManifest takes from the manifest what decides the gate. A preflight needs
// none.
func (e *evaluation) readManifest() error {
	if e.linked(e.in.Manifest) {
		e.note("%s is a link or lies behind one, and no manifest is read through a link: no policy is in effect.", e.in.Config)
		return nil
	}
	snapshot, err := verify.ReadSnapshot(e.in.Files, e.in.Manifest, e.in.Today)
	switch {
	case errors.Is(err, verify.ErrNoManifest):
		e.note("There is no %s: no policy is in effect, and files that one would name are not known.", e.in.Config)
		return nil
	case err != nil:
		e.note("%s cannot be read, so its policy and the files that it names are not known; run %s.", e.in.Config, e.command().doctor())
		return nil
	}
	hash, err := snapshot.Policy.Hash()
	if err != nil {
		return err
	}
	e.adopted, e.policy, e.decides = true, &hash, snapshot.Decides
	return nil
}

// findTouches looks for protected surfaces among the planned paths. A manifest
// that check lets pass without a row only gains tool sources that verification
// judges: that is for the agent.
func (e *evaluation) findTouches() {
	e.touches = e.protection.touches(e.changed, e.in.Below, e.places)
	c := e.check
	if c == nil || len(diff.Issues(e.records, diff.Options{Detached: true, Boundary: surface.IsBoundary, Text: []byte(e.in.Plan.DiffText)})) > 0 {
		return
	}
	for i := range e.touches {
		t := &e.touches[i]
		if t.Kind != string(surface.ClassManifest) || t.Path != e.in.Manifest || !slices.Contains(c.ChangedFiles, t.Path) || !e.adopted {
			continue
		}
		passes := true
		for j := range c.Violations {
			passes = passes && c.Violations[j].Path != t.Path
		}
		t.HumanReview = !passes
	}
}

func (e *evaluation) findSignals() {
	about := map[string]string{}
	for i := range e.protection.list {
		about[e.protection.list[i].Kind] = e.protection.list[i].Description
	}
	e.signals.touched(e.touches, about)
	e.signals.diffIssues(diff.Issues(e.records, diff.Options{
		Detached: true, Text: []byte(e.in.Plan.DiffText),
		Boundary: func(name string) bool { return len(e.protection.of(name)) > 0 },
	}))
	e.signals.judged(e.check)
	e.signals.missing(e.evidence)
	e.signals.broad(e.in.Plan.Capabilities)
	e.signals.hosts(e.in.Plan.Hosts)
	if h := e.in.Host; h != nil && h.Differs {
		reason := "The permissions of the hosts are not those of the baseline."
		if len(h.Reasons) > 0 {
			reason += " " + strings.Join(h.Reasons, " ")
		}
		e.signals.add(Signal{
			ID: h.Baseline, Kind: HostGrantDrift, Severity: High, Actor: control.Human, Subject: h.Baseline, Path: text(h.Baseline),
			Reason: reason, Recommendation: "A person looks at what the hosts may do now, and keeps or takes it back.",
		})
	}
	e.compare()
	verification := e.command().verify(e.adopted)
	e.signals.add(Signal{
		ID: e.in.Config, Kind: VerifyRequired, Severity: Info, Actor: control.CodingAgent, Subject: e.in.Config,
		Reason: "What is planned is judged when it is there: verification is owed.", Recommendation: "Verify after the change.",
		RelatedCommand: &verification,
	})
}

// compare holds the workspace against an earlier result.
func (e *evaluation) compare() {
	b := e.in.Base
	if b == nil {
		return
	}
	e.drift, e.policyRow = b.drift(&e.graph), b.policyDrift(e.in.Manifest, e.policy)
	if e.drift.Changed {
		e.note("Protected files differ from the earlier preflight; trust_root_graph_diff names them.")
	}
	if e.policyRow.Changed {
		e.signals.add(Signal{
			ID: e.in.Manifest, Kind: PolicyDrift, Severity: High, Actor: control.Human, Subject: e.in.Manifest, Path: text(e.in.Manifest),
			Reason:         "The policy in effect is not the one of the earlier preflight.",
			Recommendation: "A person looks at what changed in the policy before the work goes on.",
		})
	}
}

func (e *evaluation) result() (*Result, error) {
	in, p := e.in, e.in.Plan
	r := &Result{
		Version: SchemaVersion, Workspace: in.Workspace, Config: in.Config, ChangedFiles: append([]string{}, e.changed...),
		RequiresVerify: true, AllowedNextCommands: []string{},
		ProtectedSurfaces: e.protection.list, Touches: e.touches, TrustRootGraph: e.graph, TrustRootGraphHash: e.graph.Hash,
		TrustRootGraphDiff: e.drift, PolicySnapshotHash: e.policy, PolicyDrift: e.policyRow,
		HostGrantDrift:   json.RawMessage("null"),
		RequiredEvidence: e.evidence, Signals: e.signals.sorted(),
		ForbiddenActions: verify.ForbiddenActions(), ForbiddenFileEdits: forbiddenEdits(),
	}
	if in.Host != nil {
		r.HostGrantDrift = in.Host.Document
	}
	if p.Empty() {
		e.note("Nothing was planned, so nothing was judged; only a verification can complete the task.")
	}
	if p.DiffText != "" && e.check == nil {
		e.note("The diff was judged by the names in it: there is no Git repository to judge its content in.")
	}
	if !in.Repository {
		e.note("The workspace is in no Git repository; verification needs one.")
	}
	for i := range e.graph.Nodes {
		for _, name := range e.graph.Nodes[i].PresentPaths {
			if e.graph.Nodes[i].FileHashes[name] == unread {
				e.note("%s could not be read in full; a change of it is not seen by its hash.", name)
			}
		}
	}
	e.unreadPlaces()
	r.Notes = append([]string{}, slices.Compact(e.notes)...)
	if err := e.route(r); err != nil {
		return nil, err
	}
	r.PlanSummary = summary(p, r.Signals)
	r.PlanSummary.ChangedFiles = len(e.changed)
	return r, r.check()
}

// maxUnread is how many unread places the notes name.
const maxUnread = 5

func (e *evaluation) unreadPlaces() {
	n := 0
	for _, f := range e.in.Tree {
		if f.Unread {
			if n++; n <= maxUnread {
				e.note("%s could not be read; protected files in it are not listed.", f.Path)
			}
		}
	}
	if n > maxUnread {
		e.note("%d more places could not be read.", n-maxUnread)
	}
}

func summary(p *Plan, list []Signal) Summary {
	s := Summary{CapabilityRequests: len(p.Capabilities), HostRequests: len(p.Hosts), Signals: len(list)}
	for i := range list {
		if list[i].Actor == control.Human {
			s.HumanSignals++
		}
		switch list[i].Severity {
		case Critical:
			s.Severities.Critical++
		case High:
			s.Severities.High++
		case Medium:
			s.Severities.Medium++
		case Low:
			s.Severities.Low++
		case Info:
			s.Severities.Info++
		}
	}
	return s
}
