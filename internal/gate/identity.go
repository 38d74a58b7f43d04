package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// Fingerprint is the identity of a row across runs: what was found and where,
// not how it is worded (§9.2).
func (v *Violation) Fingerprint() string {
	return "fp_" + canonical.Spaced.SHA256(canonical.Object{
		{Key: "action", Value: string(v.Action)},
		{Key: "check_id", Value: v.CheckID},
		{Key: "evidence", Value: v.Evidence},
		{Key: "path", Value: orNull(v.Path)},
		{Key: "risk_level", Value: string(v.RiskLevel)},
	})[:16]
}

// auditFacts is what an audit id binds (§9.4): actor, subject bytes, input mode,
// rows, policy and route; no time, no tool version and no prose.
type auditFacts struct {
	actor        Actor
	mode         Mode
	replayable   bool
	trigger      trigger.Result
	control      control.Control
	subject      string // subject_sha256
	legacyID     string
	changedFiles []string
	fingerprints []string
	policySet    string
}

// auditSchema is pinned: ids do not follow the wire schema.
const auditSchema = "shipgate.agent_boundary_result/v1"

func auditID(f *auditFacts) string {
	o := canonical.Object{
		{Key: "schema", Value: auditSchema},
		{Key: "changed_files", Value: sorted(f.changedFiles)},
		{Key: "fingerprints", Value: sorted(f.fingerprints)},
		{Key: "policy_set_sha256", Value: f.policySet},
	}
	if f.actor != ActorCodex {
		o = append(o, canonical.Member{Key: "actor", Value: string(f.actor)})
	}
	// The oldest results judged replayable diffs only, and knew no more than the
	// members above. No mode makes that combination now; the vectors do.
	if f.mode != ProvidedDiff || !f.replayable {
		o = append(o,
			canonical.Member{Key: "input_mode", Value: string(f.mode)},
			canonical.Member{Key: "verification_replayable", Value: f.replayable},
			canonical.Member{Key: "trigger", Value: triggerFacts(&f.trigger)},
			canonical.Member{Key: "control", Value: controlFacts(&f.control)},
			canonical.Member{Key: "subject_sha256", Value: f.subject},
			canonical.Member{Key: "legacy_audit_id", Value: f.legacyID},
		)
	}
	return "agent_boundary_" + canonical.Compact.SHA256(o)[:24]
}

func triggerFacts(t *trigger.Result) canonical.Object {
	var reason any
	if t.SkipReason != nil {
		reason = string(*t.SkipReason)
	}
	return canonical.Object{
		{Key: "should_run", Value: t.ShouldRun},
		{Key: "run_shipgate", Value: t.RunShipgate},
		{Key: "force_run", Value: t.ForceRun},
		{Key: "dry_run_recommended", Value: t.DryRunRecommended},
		{Key: "skip_reason", Value: reason},
	}
}

func controlFacts(c *control.Control) canonical.Object {
	var kind any
	if a := c.NextAction(); a != nil {
		kind = string(a.Kind)
	}
	return canonical.Object{
		{Key: "state", Value: string(c.State())},
		{Key: "verify_required", Value: c.VerifyRequired()},
		{Key: "next_action_kind", Value: kind},
	}
}

// subjectSHA256 binds the bytes that were judged. With split paths there are two
// texts; the NUL between them can stand in neither at that place (ruling R1).
func subjectSHA256(text, index []byte) string {
	h := sha256.New()
	h.Write(text)
	if index != nil {
		h.Write([]byte{0})
		h.Write(index)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// evaluatedFile is one file that a Codex-family evaluator resolved (§9.5).
type evaluatedFile struct {
	path, source   string
	oldSHA, newSHA any // nil when the side is not known
}

// codexEvaluators is how many evaluators of the Codex family look into a file.
func codexEvaluators(s *surface.Surface) int {
	n := 0
	for _, looks := range []bool{
		s.Role == surface.RoleCodexConfig, s.Role == surface.RoleCodexHooks, s.IsInstructions(), s.IsSkill(),
		surface.IsGateWorkflow(s.Path), s.IsPolicy(),
	} {
		if looks {
			n++
		}
	}
	return n
}

func evaluatedFiles(surfaces []*surface.Surface) []evaluatedFile {
	var list []evaluatedFile
	for _, s := range surfaces {
		f := evaluatedFile{path: s.Path, source: sourceToken(s)}
		if !notRebuilt(s) {
			f.oldSHA, f.newSHA = sideSHA256(s.Old), sideSHA256(s.New)
		}
		for range codexEvaluators(s) {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b evaluatedFile) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.source, b.source))
	})
	return list
}

// sideSHA256 is the digest of a side; an absent side is an empty text.
func sideSHA256(s surface.Side) any {
	if s.Unresolved != "" {
		return nil
	}
	sum := sha256.Sum256(s.Bytes)
	return hex.EncodeToString(sum[:])
}

// legacyFacts is what the Codex-family id binds (§9.5).
type legacyFacts struct {
	agent         Actor
	mode          Mode
	changedFiles  []string
	records       []diff.Record
	evaluated     []evaluatedFile
	policyVersion string
	ruleIDs       []string
	fingerprints  []string // of rows of the Codex family
}

func legacyID(f *legacyFacts) string {
	files := make([]canonical.Object, len(f.evaluated))
	for i, e := range f.evaluated {
		files[i] = canonical.Object{
			{Key: "new_sha256", Value: e.newSHA},
			{Key: "old_sha256", Value: e.oldSHA},
			{Key: "path", Value: e.path},
			{Key: "source", Value: e.source},
		}
	}
	o := canonical.Object{
		{Key: "schema_version", Value: CodexSchemaVersion},
		{Key: "agent", Value: string(f.agent)},
		{Key: "changed_files", Value: f.changedFiles},
		{Key: "diff", Value: diff.HashMembers(f.records)},
		{Key: "evaluated_files", Value: files},
		{Key: "policy_version", Value: f.policyVersion},
		{Key: "rule_ids", Value: sorted(f.ruleIDs)},
		{Key: "finding_fingerprints", Value: sorted(f.fingerprints)},
	}
	if !f.mode.Replayable() {
		o = append(o, canonical.Member{Key: "verification_replayable", Value: false})
	}
	if !f.mode.DiscoveryReplayable() {
		o = append(o, canonical.Member{Key: "discovery_replayable", Value: false})
	}
	return "codex_boundary_" + canonical.Compact.SHA256(o)[:24]
}

func sorted(list []string) []string {
	s := append([]string{}, list...)
	slices.Sort(s)
	return s
}
