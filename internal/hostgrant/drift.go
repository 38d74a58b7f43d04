package hostgrant

import (
	"cmp"
	"encoding/json"
	"slices"

	"plimsoll.dev/internal/canonical"
)

// BaselinePath is where the baseline lies, relative to the Git root.
const BaselinePath = ".agents-shipgate/host-grants.json"

// MaxBaseline is the most bytes of a baseline (§1).
const MaxBaseline = 16 << 20

// The comparison statuses.
const (
	Comparable   = "comparable"
	Incomparable = "incomparable"
)

// Drift is what changed since the baseline. HasDrift is nil when the two cannot
// be compared: what is not known is never "no drift".
type Drift struct {
	Version          string           `json:"host_grants_schema_version"`
	BaselineFile     string           `json:"baseline_file"`
	BaselineSHA256   *string          `json:"baseline_sha256"`
	CurrentSHA256    *string          `json:"current_sha256"`
	Scope            Scope            `json:"scope"`
	Status           string           `json:"comparison_status"`
	Reasons          []string         `json:"incomparable_reasons"`
	HasDrift         *bool            `json:"has_drift"`
	Changes          []GrantChange    `json:"changes"`
	ArtifactChanges  []ArtifactChange `json:"artifact_changes"`
	CoverageChanges  []CoverageChange `json:"coverage_changes"`
	ExpansionSignals []string         `json:"expansion_signals"`
	Issues           []Issue          `json:"issues"` // of the current inventory
	NextAction       *string          `json:"next_action"`
}

// GrantChange is a grant before and after; nil where it is not there.
type GrantChange struct {
	ID       string `json:"grant_id"`
	Baseline *Grant `json:"baseline"`
	Current  *Grant `json:"current"`
}

// ArtifactChange is a file before and after.
type ArtifactChange struct {
	ID       string    `json:"artifact_id"`
	Baseline *Artifact `json:"baseline"`
	Current  *Artifact `json:"current"`
}

// CoverageChange is the coverage of a host before and after.
type CoverageChange struct {
	Host     Host      `json:"host"`
	Baseline *Coverage `json:"baseline"`
	Current  *Coverage `json:"current"`
}

// JSON is the drift as a document.
func (d *Drift) JSON() ([]byte, error) { return canonical.Document(d) }

// The next actions. A baseline is a decision of people, so each names one.
const (
	saveCommand   = "shipgate audit --host --save-baseline"
	nextSave      = "A person looks at the inventory and, if it is as it should be, runs: " + saveCommand
	nextReview    = "A person reviews the changes and, if they are as they should be, runs: " + saveCommand
	nextComplete  = "Mend or remove what could not be read, and compare again: shipgate audit --host --drift --json"
	nextSameScope = "Compare in the scope of the baseline, or have a person save one of this scope: "
)

// Compare is what changed since a baseline. text is the bytes of the file that
// Save wrote, nil when there is none; file is its name as it is shown. It never
// fails: what cannot be compared says so.
func Compare(file string, text []byte, current *Inventory) *Drift {
	sum := current.SHA256()
	d := &Drift{
		Version: DriftVersion, BaselineFile: file, CurrentSHA256: &sum, Scope: current.Scope, Status: Incomparable, Reasons: []string{},
		Changes: []GrantChange{}, ArtifactChanges: []ArtifactChange{}, CoverageChanges: []CoverageChange{}, ExpansionSignals: []string{},
		Issues: slices.Clone(current.Issues),
	}
	if d.Issues == nil {
		d.Issues = []Issue{}
	}
	next := ""
	base, err := read(text)
	switch {
	case err != nil:
		d.Reasons, next = append(d.Reasons, err.Error()), nextSave
	default:
		was := base.SHA256()
		d.BaselineSHA256 = &was
		if !base.Complete() {
			d.Reasons, next = append(d.Reasons, "baseline_incomplete"), nextSave
		}
		if base.Scope != current.Scope {
			d.Reasons, next = append(d.Reasons, "scope_differs"), nextSameScope+saveCommand+" --scope "+string(current.Scope)
		}
	}
	if !current.Complete() {
		d.Reasons, next = append(d.Reasons, "current_incomplete"), nextComplete
	}
	if len(d.Reasons) == 0 {
		d.Status = Comparable
		d.compare(base, current)
		drift := len(d.Changes)+len(d.ArtifactChanges)+len(d.CoverageChanges) > 0
		d.HasDrift = &drift
		if drift {
			next = nextReview
		}
	}
	slices.Sort(d.Reasons)
	if next != "" {
		d.NextAction = &next
	}
	return d
}

func (d *Drift) compare(base, current *Inventory) {
	for _, c := range pairs(base.Grants, current.Grants, func(g *Grant) string { return g.ID }) {
		d.Changes = append(d.Changes, GrantChange{c.id, c.was, c.is})
		if signal := expansion(c.was, c.is); signal != "" {
			d.ExpansionSignals = append(d.ExpansionSignals, signal)
		}
	}
	for _, c := range pairs(base.Artifacts, current.Artifacts, func(a *Artifact) string { return a.ID }) {
		d.ArtifactChanges = append(d.ArtifactChanges, ArtifactChange{c.id, c.was, c.is})
	}
	for _, c := range pairs(base.Coverage, current.Coverage, func(c *Coverage) string { return string(c.Host) + " " + string(c.Scope) }) {
		change := CoverageChange{Baseline: c.was, Current: c.is}
		if c.is != nil {
			change.Host = c.is.Host
		} else {
			change.Host = c.was.Host
		}
		d.CoverageChanges = append(d.CoverageChanges, change)
	}
	d.ExpansionSignals = sorted(d.ExpansionSignals)
}

// pair is one thing in two inventories; nil where it is not there.
type pair[T any] struct {
	id      string
	was, is *T
}

// pairs are the things that are not the same in both lists, by their ids.
func pairs[T any](was, is []T, idOf func(*T) string) []pair[T] {
	olds := make(map[string]*T, len(was))
	for i := range was {
		olds[idOf(&was[i])] = &was[i]
	}
	var out []pair[T]
	for i := range is {
		id := idOf(&is[i])
		old := olds[id]
		delete(olds, id)
		if old == nil || form(old) != form(&is[i]) {
			out = append(out, pair[T]{id, old, &is[i]})
		}
	}
	for id, old := range olds {
		out = append(out, pair[T]{id, old, nil})
	}
	slices.SortFunc(out, func(a, b pair[T]) int { return cmp.Compare(a.id, b.id) })
	return out
}

func form(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("hostgrant: a row has a JSON form: " + err.Error())
	}
	return string(text)
}
