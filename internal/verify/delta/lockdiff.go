package delta

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/verify/effect"
)

// LockDiffVersion is the version of the lock difference that is written.
const LockDiffVersion = "0.7"

// LockDiff is what changed between two locks
// (docs/spec/verification.md §11.3). It gates nothing.
type LockDiff struct {
	Version         string          `json:"capability_lock_diff_schema_version"`
	Experimental    bool            `json:"experimental"`
	Base            LockRef         `json:"base"`
	Head            LockRef         `json:"head"`
	Summary         LockDiffSummary `json:"summary"`
	Added           []Fact          `json:"added"`
	Removed         []Fact          `json:"removed"`
	Reidentified    []ChangedFact   `json:"reidentified"`
	Changed         []ChangedFact   `json:"changed"`
	EvidenceChanged []ChangedFact   `json:"evidence_changed"`
}

// LockRef names one of the two locks.
type LockRef struct {
	Path         Text   `json:"path"`
	Version      string `json:"capability_lock_schema_version"`
	Semantic     string `json:"semantic_capability_set_hash"`
	Evidence     string `json:"evidence_set_hash"`
	Source       string `json:"source_set_hash"`
	Capabilities int    `json:"capability_count"`
}

// LockDiffSummary counts rows.
type LockDiffSummary struct {
	Added           int `json:"added"`
	Removed         int `json:"removed"`
	Reidentified    int `json:"reidentified"`
	Changed         int `json:"changed"`
	EvidenceChanged int `json:"evidence_changed"`
	Unchanged       int `json:"unchanged"`
}

// ChangedFact is one capability on both sides. ID of a reidentified one is
// "before->after".
type ChangedFact struct {
	ID            string           `json:"id"`
	ToolName      string           `json:"tool_name"`
	Operation     string           `json:"operation"`
	Direction     Direction        `json:"semantic_direction"`
	ChangedHashes []string         `json:"changed_hashes"`
	Changes       []SemanticChange `json:"semantic_changes"`
	Before        Fact             `json:"before"`
	After         Fact             `json:"after"`
}

// SemanticChange explains one field. Before and After are JSON values.
type SemanticChange struct {
	Kind      string `json:"kind"`
	Field     string `json:"field"`
	Before    any    `json:"before"`
	After     any    `json:"after"`
	Rationale string `json:"rationale"`

	Direction Direction `json:"-"`
}

// DiffLocks compares two locks. Locks of two versions hash different things and
// are refused with a fault of kind Invalid whose hint is the command that makes
// them equal.
func DiffLocks(base, head *Lock) (*LockDiff, error) {
	if base.Version != head.Version {
		older := base
		if head.Version < base.Version {
			older = head
		}
		return nil, fault.E("delta.DiffLocks", fault.Invalid,
			fmt.Sprintf("the locks follow different capability standards (%s and %s)", base.Version, head.Version), nil).
			WithHint("shipgate capability export --config %s --out %s", word(older.Source.ConfigPath, "shipgate.yaml"), word(older.Path, "FILE"))
	}
	d := &LockDiff{
		Version: LockDiffVersion, Base: base.ref(), Head: head.ref(),
		Added: []Fact{}, Removed: []Fact{}, Reidentified: []ChangedFact{}, Changed: []ChangedFact{}, EvidenceChanged: []ChangedFact{},
	}
	d.pair(base.Capabilities, head.Capabilities)
	d.Summary.Added, d.Summary.Removed = len(d.Added), len(d.Removed)
	d.Summary.Reidentified, d.Summary.Changed, d.Summary.EvidenceChanged = len(d.Reidentified), len(d.Changed), len(d.EvidenceChanged)
	return d, nil
}

// Changed is every capability that both surfaces have and that differs: changed
// and reidentified rows, evidence alone left out. Actions that are the same on
// both sides cost nothing.
func Changed(base, head *effect.Surface) []ChangedFact {
	ofBase, ofHead := different(base, head)
	rest := func(s *effect.Surface, actions []*effect.Action) []Fact {
		part := *s
		part.Actions = actions
		return Facts(&part)
	}
	var d LockDiff
	d.pair(rest(base, ofBase), rest(head, ofHead))
	return slices.Concat(d.Changed, d.Reidentified)
}

// different is the actions of both sides without those that are alike and reached
// in the same way. Most are one action of both sides, which is asked first.
func different(base, head *effect.Surface) (ofBase, ofHead []*effect.Action) {
	reached := func(a *effect.Action) bool { return slices.Equal(base.Paths[a.Tool.ID], head.Paths[a.Tool.ID]) }
	ofBase, ofHead = apart(base.Actions, head.Actions, reached)
	before := byActionID(ofBase)
	same := map[string]bool{}
	for _, h := range ofHead {
		if b := before[h.ID]; b != nil && alike(b, h) && reached(h) {
			same[h.ID] = true
		}
	}
	known := func(a *effect.Action) bool { return same[a.ID] }
	return slices.DeleteFunc(ofBase, known), slices.DeleteFunc(ofHead, known)
}

// alike says whether two actions of one id have the same in everything that a
// capability is made of; evidence apart.
func alike(b, h *effect.Action) bool {
	for _, pair := range [][2]string{
		{b.AgentID, h.AgentID},
		{b.Tool.ID, h.Tool.ID},
		{b.Tool.Name, h.Tool.Name},
		{b.Provider, h.Provider},
		{b.Operation, h.Operation},
		{string(b.Effect), string(h.Effect)},
		{b.AuthType, h.AuthType},
		{b.Credential, h.Credential},
		{b.Assessment.AuthorityMode, h.Assessment.AuthorityMode},
		{authoritySource(b), authoritySource(h)},
		{b.Threshold, h.Threshold},
		{b.Owner, h.Owner},
		{b.Runbook, h.Runbook},
		{b.ApprovalTicket, h.ApprovalTicket},
	} {
		if pair[0] != pair[1] {
			return false
		}
	}
	for _, pair := range [][2][]string{
		{b.RiskTags, h.RiskTags},
		{b.Scopes, h.Scopes},
		{b.Inputs, h.Inputs},
		{b.RequiredInputs, h.RequiredInputs},
		{resources(b.Tool), resources(h.Tool)},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			return false
		}
	}
	for _, pair := range [][2]effect.Control{
		{b.Approval, h.Approval}, {b.Idempotency, h.Idempotency}, {b.AuditLog, h.AuditLog}, {b.Rollback, h.Rollback}, {b.DryRun, h.DryRun},
	} {
		if pair[0].Known != pair[1].Known || pair[0].Value != pair[1].Value {
			return false
		}
	}
	return b.Confirmation == h.Confirmation
}

func (l *Lock) ref() LockRef {
	return LockRef{
		Path: Text(l.Path), Version: l.Version, Semantic: l.Hashes.Semantic, Evidence: l.Hashes.Evidence, Source: l.Hashes.Source,
		Capabilities: len(l.Capabilities),
	}
}

// pair sorts every capability of both sides into exactly one row.
func (d *LockDiff) pair(base, head []Fact) {
	before := make(map[string]*Fact, len(base))
	for i := range base {
		before[base[i].ID] = &base[i]
	}
	after := make(map[string]*Fact, len(head))
	for i := range head {
		after[head[i].ID] = &head[i]
	}
	var gone, come []*Fact
	for i := range base {
		if after[base[i].ID] == nil {
			gone = append(gone, &base[i])
		}
	}
	for i := range head {
		b := before[head[i].ID]
		if b == nil {
			come = append(come, &head[i])
			continue
		}
		if b.Kept.Same(head[i].Kept) {
			d.Summary.Unchanged++
			continue
		}
		switch row := changed(head[i].ID, b, &head[i]); {
		case len(row.ChangedHashes) == 0:
			d.Summary.Unchanged++
		case slices.Equal(row.ChangedHashes, []string{"evidence_hash"}):
			d.EvidenceChanged = append(d.EvidenceChanged, row)
		default:
			d.Changed = append(d.Changed, row)
		}
	}
	d.reidentify(gone, come)
}

// reidentify pairs what is gone with what has come where both are the same
// capability under another id, one to one; everything else is removed or added.
func (d *LockDiff) reidentify(gone, come []*Fact) {
	key := func(f *Fact) string {
		i := &f.Identity
		return canonical.UTF8.String([]string{i.AgentID, i.ToolID, i.Provider, i.Operation, i.ToolName, i.SubjectKind})
	}
	left, right := map[string][]*Fact{}, map[string][]*Fact{}
	for _, f := range gone {
		left[key(f)] = append(left[key(f)], f)
	}
	for _, f := range come {
		right[key(f)] = append(right[key(f)], f)
	}
	for _, f := range come {
		k := key(f)
		if len(left[k]) == 1 && len(right[k]) == 1 {
			b := left[k][0]
			d.Reidentified = append(d.Reidentified, changed(b.ID+"->"+f.ID, b, f))
			continue
		}
		d.Added = append(d.Added, *f)
	}
	for _, f := range gone {
		if k := key(f); len(left[k]) != 1 || len(right[k]) != 1 {
			d.Removed = append(d.Removed, *f)
		}
	}
}

// changed compares two facts. Hashes are compared, and so is what they stand
// for: in a lock edited by hand the hashes do not tell.
func changed(id string, b, a *Fact) ChangedFact {
	row := ChangedFact{
		ID: id, ToolName: a.Identity.ToolName, Operation: a.Identity.Operation, Before: *b, After: *a,
		ChangedHashes: []string{}, Changes: []SemanticChange{},
	}
	explained := map[string]bool{}
	note := func(hash string, c SemanticChange) {
		explained[hash] = true
		row.Changes = append(row.Changes, c)
	}
	for _, as := range aspects {
		before, after := as.value(b), as.value(a)
		if same(before, after) {
			continue
		}
		note(as.hash, SemanticChange{
			Kind: as.kind, Field: as.field, Before: before, After: after, Direction: as.judged(before, after),
		})
	}
	for _, c := range inputChanges(b, a) {
		note("schema_hash", c)
	}
	for _, c := range evidenceChanges(b, a) {
		note("evidence_hash", c)
	}
	for _, h := range hashTable(b, a) {
		if h.before == h.after && !explained[h.name] {
			continue
		}
		row.ChangedHashes = append(row.ChangedHashes, h.name)
		if !explained[h.name] {
			row.Changes = append(row.Changes, unexplained(h))
		}
	}
	directions := make([]Direction, len(row.Changes))
	for i := range row.Changes {
		c := &row.Changes[i]
		c.Rationale = rationale(c)
		directions[i] = c.Direction
	}
	row.Direction = Joined(directions...)
	return row
}

// same compares two values of aspects; lists are sets.
func same(before, after any) bool {
	b, ok := before.([]string)
	if !ok {
		return before == after
	}
	a, _ := after.([]string)
	return slices.Equal(sorted(b), sorted(a))
}

type hashPair struct{ name, before, after string }

// hashTable is the eight hashes in the order of §11.3.
func hashTable(b, a *Fact) []hashPair {
	return []hashPair{
		{"identity_hash", b.Hashes.Identity, a.Hashes.Identity},
		{"binding_hash", b.Hashes.Binding, a.Hashes.Binding},
		{"effect_hash", b.Hashes.Effect, a.Hashes.Effect},
		{"authority_hash", b.Hashes.Authority, a.Hashes.Authority},
		{"control_hash", b.Hashes.Control, a.Hashes.Control},
		{"schema_hash", b.Hashes.Schema, a.Hashes.Schema},
		{"risk_hash", b.Hashes.Risk, a.Hashes.Risk},
		{"evidence_hash", b.Hashes.Evidence, a.Hashes.Evidence},
	}
}

func unexplained(h hashPair) SemanticChange {
	c := SemanticChange{Kind: "hash_changed", Field: "hashes." + h.name, Before: h.before, After: h.after, Direction: Unclear}
	if h.name == "evidence_hash" {
		c.Kind, c.Direction = "evidence_changed", EvidenceOnly
	}
	return c
}

// inputChanges compares the names of inputs. Facts of a file that does not
// carry them have none to compare.
func inputChanges(b, a *Fact) []SemanticChange {
	inB, reqB, knownB := b.inputs()
	inA, reqA, knownA := a.inputs()
	if !knownB || !knownA {
		return nil
	}
	var changes []SemanticChange
	for _, c := range []struct {
		kind, field string
		names       []string
		present     bool // after the change
		direction   Direction
	}{
		{"schema_input_added", "schema." + inputFields, without(inA, inB), true, Broadened},
		{"schema_input_removed", "schema." + inputFields, without(inB, inA), false, Narrowed},
		{"schema_required_input_added", "schema." + requiredFields, without(reqA, reqB), true, Narrowed},
		{"schema_required_input_removed", "schema." + requiredFields, without(reqB, reqA), false, Broadened},
	} {
		for _, name := range c.names {
			change := SemanticChange{Kind: c.kind, Field: c.field, Direction: c.direction}
			if c.present {
				change.After = name
			} else {
				change.Before = name
			}
			changes = append(changes, change)
		}
	}
	return changes
}

// evidenceChanges compares where a capability was read and how well it is known.
func evidenceChanges(b, a *Fact) []SemanticChange {
	var changes []SemanticChange
	note := func(field string, before, after any) {
		if before != after {
			changes = append(changes, SemanticChange{
				Kind: "evidence_changed", Field: field, Before: before, After: after, Direction: EvidenceOnly,
			})
		}
	}
	before, after := b.Evidence.object(), a.Evidence.object()
	for i, m := range before {
		note("evidence."+m.Key, m.Value, after[i].Value)
	}
	was := map[string]any{}
	for _, s := range b.Semantic.statuses() {
		was[s.field] = s.value
	}
	for _, s := range a.Semantic.statuses() {
		note(s.field, was[s.field], s.value)
		delete(was, s.field)
	}
	for _, s := range b.Semantic.statuses() {
		if value, left := was[s.field]; left {
			note(s.field, value, nil)
		}
	}
	return changes
}

// rationale is one sentence from a fixed table: what the change means for the
// agent.
func rationale(c *SemanticChange) string {
	switch c.Kind {
	case "hash_changed":
		return "A part of the capability differs and nothing that is compared explains it."
	case "evidence_changed":
		return "The place, the sort or the strength of the evidence differs, not the capability."
	case "schema_input_added":
		return "The tool takes an input that it did not take before."
	case "schema_input_removed":
		return "The tool no longer takes this input."
	case "schema_required_input_added":
		return "The tool now demands this input."
	case "schema_required_input_removed":
		return "The tool no longer demands this input."
	}
	subject := strings.ReplaceAll(strings.TrimSuffix(c.Kind, "_changed"), "_", " ")
	switch c.Direction {
	case Broadened, Added:
		return "The " + subject + " gives the agent more than before."
	case Narrowed, Removed:
		return "The " + subject + " gives the agent less than before."
	case Mixed:
		return "The " + subject + " gives the agent more in one way and less in another."
	case Unclear, EvidenceOnly:
	}
	return "The " + subject + " differs; whether that is more or less cannot be told from it."
}

// JSON is the difference as a file.
func (d *LockDiff) JSON() ([]byte, error) { return document(d) }

// Empty says that no capability differs in anything.
func (d *LockDiff) Empty() bool {
	s := d.Summary
	return s.Added+s.Removed+s.Reidentified+s.Changed+s.EvidenceChanged == 0
}

// word is a path out of a lock file, which may be anybody's, as one word of a
// command line that people copy; a path that cannot be one is left for them to
// fill in.
func word(s, otherwise string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
	}
	switch {
	case s == "" || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return otherwise
	case strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
