package document

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// evidenceBudget is how long after the end of a run its Evidence is persisted
// in time. Later is a warning: to refuse it would lose it
// (docs/spec/contracts.md §4.1).
const evidenceBudget = 30 * time.Second

// Around is what Evidence is judged beside. A nil function or a zero value
// means that the rule that needs it is not asked: documents can be judged alone.
type Around struct {
	TaskSeed func(contract.ID) (*contract.TaskSeed, bool)
	Actor    func(contract.ActorID) bool
	// Gate is the newest gate version made for the Acceptance of the executed
	// TaskSeed version, nil when there is none; read in the transaction that
	// persists the Evidence, with the gate's row locked. GateAsked says that
	// nil is an answer.
	Gate      *contract.PublishGate
	GateAsked bool
	// Level is the effective risk of the execution, signals included.
	Level contract.Level
	// Input is the JSON text of the raw input, nil when it was not supplied.
	Input []byte
	// Persisted is the service clock; zero for a document at rest.
	Persisted time.Time
	// Own says that this system wrote the document: its hashes are strict.
	Own bool
}

// Evidence is every fault of an Evidence in the order of docs/spec/contracts.md
// §9.1 and then §9.2, and the warnings, which refuse nothing.
func Evidence(e *contract.Evidence, a Around) (faults refusal.List, warnings []refusal.Code) {
	c := evidenceCheck{e: e, a: a}
	c.alone()
	c.references()
	c.reproducible()
	if a.GateAsked || a.Gate != nil {
		c.snapshot()
		c.verdict()
	}
	if e.BaseCommit != e.HeadCommit && e.DiffHash == contract.EmptyStringHash {
		warnings = append(warnings, refusal.EvidenceDiffNotSupplied)
	}
	if !a.Persisted.IsZero() && a.Persisted.Sub(e.EndTime.Time()) > evidenceBudget {
		warnings = append(warnings, refusal.EvidenceLate)
	}
	return c.faults, warnings
}

type evidenceCheck struct {
	e      *contract.Evidence
	a      Around
	faults refusal.List
}

func (c *evidenceCheck) add(code refusal.Code, path, format string, args ...any) {
	c.faults = append(c.faults, refusal.At(code, path, format, args...))
}

func (c *evidenceCheck) alone() {
	e := c.e
	if e.StartTime.After(e.EndTime) {
		c.add(refusal.EvidenceTimeOrder, "/startTime", "%s is after the end", e.StartTime)
	}
	if e.State != contract.Published {
		c.add(refusal.EvidenceStateInvalid, "/state", "Evidence begins as Published, not as %s", e.State)
	}
	if e.Version != 1 {
		c.add(refusal.EvidenceVersionInvalid, "/version", "Evidence has no second version")
	}
}

func (c *evidenceCheck) references() {
	if c.a.TaskSeed != nil {
		t, known := c.a.TaskSeed(c.e.TaskSeedID)
		if !known {
			c.add(refusal.RefNotFound, "/taskSeedId", "%s is unknown", c.e.TaskSeedID)
		} else if t != nil {
			if err := state.Executed(t.State); err != nil {
				refused, _ := errors.AsType[*refusal.Refusal](err)
				c.faults = append(c.faults, refused)
			}
		}
	}
	if c.a.Actor != nil && !c.a.Actor(c.e.Actor) {
		c.add(refusal.EvidenceActorUnknown, "/actor", "%s is not registered", c.e.Actor)
	}
}

func (c *evidenceCheck) reproducible() {
	e := c.e
	if SameCommit(e.BaseCommit, e.HeadCommit) && e.DiffHash != contract.EmptyDiffHash {
		c.add(refusal.EvidenceEmptyDiffHashMismatch, "/diffHash", "one commit has no diff")
	}
	if !containerDigest(e.Environment.ContainerImageDigest) {
		c.add(refusal.EvidenceContainerDigestInvalid, "/environment/containerImageDigest",
			"neither %q nor algorithm:value", contract.Uncontainerized)
	}
	if c.a.Input != nil {
		hash, err := contract.HashJSON(c.a.Input)
		if err != nil || hash != e.InputHash {
			c.add(refusal.EvidenceInputHashMismatch, "/inputHash", "the supplied input has another hash")
		}
	}
	if !c.a.Own {
		return
	}
	for _, h := range []struct{ path, value string }{
		{"/inputHash", e.InputHash},
		{"/outputHash", e.OutputHash},
		{"/diffHash", e.DiffHash},
		{"/model/parametersHash", e.Model.ParametersHash},
		{"/environment/lockfileHash", e.Environment.LockfileHash},
	} {
		if !contract.WellFormedHash(h.value) {
			c.add(refusal.EvidenceHashFormat, h.path, "not sha256 and 64 hex digits")
		}
	}
}

// SameCommit compares commits without regard to ASCII case: they may be
// abbreviated, they need not be hexadecimal, and one of them is no prefix of
// the other here.
func SameCommit(a, b string) bool { return asciiLower(a) == asciiLower(b) }

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

// containerDigest matches
// ^(uncontainerized|[a-z0-9]+([+._-][a-z0-9]+)*:\S+)$ by hand; a near miss of
// the sentinel must not pass for a digest.
func containerDigest(s string) bool {
	if s == contract.Uncontainerized {
		return true
	}
	algorithm, value, ok := strings.Cut(s, ":")
	if !ok || value == "" || strings.ContainsFunc(value, unicode.IsSpace) {
		return false
	}
	parts := strings.Split(strings.NewReplacer("+", " ", ".", " ", "_", " ", "-", " ").Replace(algorithm), " ")
	for _, part := range parts {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return !strings.Contains(algorithm, " ")
}
