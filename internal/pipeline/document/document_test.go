package document_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/testdata/contracts"
)

type vector struct {
	Name          string
	Documents     map[string]json.RawMessage
	SchemaInvalid bool
	Context       struct {
		Known     []contract.ID
		GateKnown *bool
		Signals   map[string]bool
		Prompt    json.RawMessage
	}
	Expected struct {
		OK       bool
		Code     refusal.Code
		Path     string
		Warnings []refusal.Code
	}
}

// The semantic pass runs apart from the schema (docs/spec/contracts.md §18), also
// on documents the schema refuses: the fixture is read as the types hold it.
func TestWhatDocumentsSayBesideEachOther(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "semantic") {
		t.Run(v.Name, func(t *testing.T) {
			set := read(t, v)
			faults, warnings := judge(t, v, set)
			if v.Expected.OK {
				if len(faults) > 0 || !slices.Equal(warnings, v.Expected.Warnings) {
					t.Errorf("got %v, warnings %v", faults, warnings)
				}
				return
			}
			for _, f := range faults {
				if f.Code == v.Expected.Code && f.Path == v.Expected.Path {
					return
				}
			}
			t.Errorf("no %s at %s in %v", v.Expected.Code, v.Expected.Path, faults)
		})
	}
}

type documents struct {
	intent     *contract.Intent
	taskSeed   *contract.TaskSeed
	acceptance *contract.Acceptance
	gate       *contract.PublishGate
	evidence   *contract.Evidence
}

func read(t *testing.T, v vector) documents {
	t.Helper()
	var set documents
	for name, text := range v.Documents {
		if name == "stored" {
			continue
		}
		d, err := contract.Decode(text)
		if v.SchemaInvalid {
			if err == nil {
				t.Fatal("the schema takes a document it should refuse")
			}
			d = mend(t, text)
		} else if err != nil {
			t.Fatal(err)
		}
		switch d := d.(type) {
		case *contract.Intent:
			set.intent = d
		case *contract.TaskSeed:
			set.taskSeed = d
		case *contract.Acceptance:
			set.acceptance = d
		case *contract.PublishGate:
			set.gate = d
		case *contract.Evidence:
			set.evidence = d
		}
	}
	return set
}

// mend reads a document that breaks a rule the schema has too: it is completed
// until the schema takes it, and the completion is taken back.
func mend(t *testing.T, text []byte) contract.Document {
	t.Helper()
	v, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	object := v.(map[string]any)
	var undo func(contract.Document)
	switch object["kind"] {
	case "PublishGate":
		_, hasDeadline := object["approvalDeadline"]
		decision := object["finalDecision"].(string)
		object["approvalDeadline"], object["finalDecision"] = "2030-01-01T00:00:00Z", "approved"
		if hasDeadline {
			t.Fatal("a deadline to mend")
		}
		undo = func(d contract.Document) {
			g := d.(*contract.PublishGate)
			g.ApprovalDeadline, g.FinalDecision = contract.Timestamp{}, contract.FinalDecision(decision)
		}
	default:
		object["generationPolicy"].(map[string]any)["requiredActivationApprovals"] = []any{"admin"}
		undo = func(d contract.Document) {
			switch d := d.(type) {
			case *contract.TaskSeed:
				d.GenerationPolicy.Approvals = 0
			case *contract.Acceptance:
				d.GenerationPolicy.Approvals = 0
			}
		}
	}
	d, err := contract.DecodeValue(object)
	if err != nil {
		t.Fatal(err)
	}
	undo(d)
	return d
}

// judge asks every layer that has something to say about the documents at hand.
func judge(t *testing.T, v vector, set documents) (refusal.List, []refusal.Code) {
	t.Helper()
	var faults refusal.List
	var warnings []refusal.Code
	known := func(id contract.ID) bool { return v.Context.Known == nil || slices.Contains(v.Context.Known, id) }
	observed, err := risk.ParseSignals(v.Context.Signals)
	if err != nil {
		t.Fatal(err)
	}
	level := contract.Level("")
	if set.taskSeed != nil {
		level = risk.Assess(risk.Circumstances{Capabilities: set.taskSeed.CapabilitiesSnapshot, Observed: observed}).Level
		faults = append(faults, document.TaskSeed(set.taskSeed, set.intent)...)
	}
	if set.acceptance != nil && set.taskSeed != nil {
		faults = append(faults, document.Acceptance(set.acceptance, set.taskSeed, contract.Low)...)
	}
	if set.gate != nil {
		faults = append(faults, approval.AtRest(set.gate)...)
		faults = append(faults, approval.Beside(set.gate, set.acceptance, gateLevel(set, level))...)
	}
	for _, d := range []contract.Document{set.intent, set.taskSeed, set.acceptance, set.gate} {
		if absent(d) {
			continue
		}
		faults = append(faults, document.Alone(d)...)
		faults = append(faults, document.Reference(d, known)...)
	}
	if e := set.evidence; e != nil {
		around := document.Around{
			Gate: set.gate, GateAsked: v.Context.GateKnown != nil, Level: level, Input: v.Context.Prompt, Persisted: e.CreatedAt.Time(),
			TaskSeed: func(id contract.ID) (*contract.TaskSeed, bool) { return set.taskSeed, known(id) },
			Actor:    func(contract.ActorID) bool { return true },
		}
		f, w := document.Evidence(e, around)
		faults, warnings = append(append(faults, document.Alone(e)...), f...), w
	}
	if stored, ok := v.Documents["stored"]; ok {
		a, _ := contract.Parse(stored)
		b, _ := contract.Parse(v.Documents["evidence"])
		if err := merge.Evidence(a, b); err != nil {
			refused, ok := errors.AsType[*refusal.Refusal](err)
			if !ok {
				t.Fatal(err)
			}
			faults = append(faults, refused)
		}
	}
	return faults, warnings
}

// gateLevel is the level a gate is held against: only where its Acceptance is
// at hand too, as when a gate is made.
func gateLevel(set documents, level contract.Level) contract.Level {
	if set.acceptance == nil {
		return ""
	}
	return level
}

func absent(d contract.Document) bool {
	switch d := d.(type) {
	case *contract.Intent:
		return d == nil
	case *contract.TaskSeed:
		return d == nil
	case *contract.Acceptance:
		return d == nil
	case *contract.PublishGate:
		return d == nil
	}
	return true
}

func example(t *testing.T, name string) contract.Document {
	t.Helper()
	text, err := contracts.Files.ReadFile("examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := contract.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestHashesThisSystemWritesAreStrict(t *testing.T) {
	e := example(t, "evidence.sample.json").(*contract.Evidence)
	if faults, _ := document.Evidence(e, document.Around{}); len(faults) > 0 {
		t.Errorf("a reader judges no hashes: %v", faults)
	}
	faults, _ := document.Evidence(e, document.Around{Own: true})
	if codes := faults.Codes(); len(codes) != 5 || codes[0] != refusal.EvidenceHashFormat {
		t.Errorf("got %v", faults)
	}
}

func TestEvidenceFromOutsideNeedsAKnownTaskAndActor(t *testing.T) {
	e := example(t, "evidence.sample.json").(*contract.Evidence)
	faults, warnings := document.Evidence(e, document.Around{
		TaskSeed:  func(contract.ID) (*contract.TaskSeed, bool) { return nil, false },
		Actor:     func(contract.ActorID) bool { return false },
		Persisted: e.EndTime.Time().Add(30*time.Second + time.Millisecond),
	})
	if !slices.Equal(faults.Codes(), []refusal.Code{refusal.RefNotFound, refusal.EvidenceActorUnknown}) {
		t.Errorf("got %v", faults)
	}
	if !slices.Equal(warnings, []refusal.Code{refusal.EvidenceLate}) {
		t.Errorf("got %v", warnings)
	}
}

func TestContainerDigests(t *testing.T) {
	e := *example(t, "evidence.sample.json").(*contract.Evidence)
	for digest, ok := range map[string]bool{
		"uncontainerized": true, "sha256:container-001": true, "a+b.c_d-e:x": true,
		"uncontainerised": false, "Uncontainerized": false, "": false, ":x": false, "sha256:": false, "sha256: x": false,
		"+a:x": false, "a+:x": false, "a++b:x": false, "a b:x": false, "SHA256:x": false, "sha256:x\n": false,
	} {
		e.Environment.ContainerImageDigest = digest
		faults, _ := document.Evidence(&e, document.Around{})
		if got := !slices.Contains(faults.Codes(), refusal.EvidenceContainerDigestInvalid); got != ok {
			t.Errorf("%q: %v", digest, got)
		}
	}
}

func TestTheVerdictTheServiceWrites(t *testing.T) {
	gate := func(d contract.FinalDecision) *contract.PublishGate { return &contract.PublishGate{FinalDecision: d} }
	for _, c := range []struct {
		level     contract.Level
		violation bool
		gate      *contract.PublishGate
		want      contract.PolicyVerdict
	}{
		{contract.Medium, false, nil, contract.VerdictApproved},
		{contract.High, false, nil, contract.VerdictManual},
		{contract.Low, true, nil, contract.VerdictRejected},
		{contract.Critical, false, gate(contract.DecisionApproved), contract.VerdictApproved},
		{contract.Critical, false, gate(contract.DecisionRejected), contract.VerdictRejected},
		{contract.Low, false, gate(contract.DecisionExpired), contract.VerdictManual},
		{contract.High, true, gate(contract.DecisionPending), contract.VerdictManual},
	} {
		if got := document.Verdict(c.level, c.violation, c.gate); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// What is derived is always strong enough for itself.
func TestDerivedPoliciesAreAccepted(t *testing.T) {
	for bits := capability.Set(1); bits <= capability.All; bits++ {
		task := &contract.TaskSeed{CapabilitiesSnapshot: bits, GenerationPolicy: approval.TaskSeedPolicy(bits)}
		if faults := append(document.TaskSeed(task, nil), document.Alone(task)...); len(faults) > 0 {
			t.Errorf("%s: %v", bits, faults)
		}
		for _, level := range contract.Levels() {
			a := &contract.Acceptance{GenerationPolicy: approval.AcceptancePolicy(task.GenerationPolicy, bits, level)}
			if faults := append(document.Acceptance(a, task, level), document.Alone(a)...); len(faults) > 0 {
				t.Errorf("%s at %s: %v", bits, level, faults)
			}
		}
	}
}
