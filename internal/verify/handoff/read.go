package handoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/report"
)

// The most bytes of each artifact that are read (§1).
const (
	MaxVerifier = 32 << 20
	MaxRun      = 32 << 20
	MaxReport   = check.MaxReport
)

// Input is the artifacts of one run as bytes. Report and Run are nil where they
// are not there.
type Input struct {
	Verifier, Report, Run []byte
	Tool                  Tool
}

// The artifacts as errors name them.
const (
	verifierFile = "verifier.json"
	runFile      = "verify-run.json"
	reportFile   = "report.json"
)

// Refusal says why there is no packet: one artifact cannot be used, or two tell
// different stories about Field.
type Refusal struct {
	Artifact string // verifier.json, verify-run.json or report.json
	Field    string // "" when the artifact is wrong by itself
	Says     string // what Artifact says of Field
	Verifier string // what verifier.json says of it
	Err      error
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Artifact + " cannot be used: " + r.Err.Error()
	}
	return fmt.Sprintf("%s says %s is %s, %s says %s", r.Artifact, r.Field, r.Says, verifierFile, r.Verifier)
}

func (r *Refusal) Unwrap() error { return r.Err }

// Project is the packet of a run. A *Refusal says what is wrong with its
// artifacts; no verdict is ever made anew.
func Project(in Input) (*Handoff, error) {
	v, command, err := readVerifier(in.Verifier)
	if err != nil {
		return nil, &Refusal{Artifact: verifierFile, Err: err}
	}
	var run *report.VerifyRun
	if in.Run != nil {
		if run, err = readRun(in.Run, command); err != nil {
			return nil, &Refusal{Artifact: runFile, Err: err}
		}
		if err := agrees(run, v); err != nil {
			return nil, err
		}
	}
	if in.Report != nil {
		if err := agreesWithReport(in.Report, v, run); err != nil {
			return nil, err
		}
	}
	return project(v, run, in.Tool), nil
}

func readVerifier(text []byte) (*report.Verifier, string, error) {
	doc, err := strict(text, MaxVerifier)
	if err != nil {
		return nil, "", err
	}
	command := doc.At("fix_task", "verification_command").Str()
	if command == "" {
		command = control.VerifyCommand(control.Subject{Workspace: doc.Get("workspace").Str(), Config: doc.Get("config").Str()})
	}
	if text, err = withoutEdit(text, doc.Get("control"), command, "control"); err != nil {
		return nil, "", err
	}
	v, err := report.ReadVerifier(text)
	return v, command, inner(err)
}

func readRun(text []byte, command string) (*report.VerifyRun, error) {
	doc, err := strict(text, MaxRun)
	if err != nil {
		return nil, err
	}
	if text, err = withoutEdit(text, doc.At("outcome", "control"), command, "outcome", "control"); err != nil {
		return nil, err
	}
	run, err := report.ReadVerifyRun(text)
	return run, inner(err)
}

// strict refuses what two readers could read differently: a key given twice, in
// whatever case, since the decoder does not tell cases apart.
func strict(text []byte, most int) (source.Value, error) {
	if len(text) > most {
		return source.Value{}, fmt.Errorf("it is over %d MiB", most>>20)
	}
	doc, failed := source.ParseJSON(text)
	if failed != nil {
		return source.Value{}, failed
	}
	if doc.Kind != source.Map {
		return source.Value{}, fault.E("handoff.strict", fault.Invalid, "it is no JSON object", nil)
	}
	if pos, twice := folded(doc); twice {
		return source.Value{}, fmt.Errorf("a key at line %d, column %d differs from another only in case", pos.Line, pos.Column)
	}
	return doc, nil
}

// folded finds a key that another one of its object equals but for case.
func folded(v source.Value) (source.Position, bool) {
	seen := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		key := strings.ToLower(m.Key)
		if seen[key] {
			return m.Pos, true
		}
		seen[key] = true
		if pos, twice := folded(m.Value); twice {
			return pos, true
		}
	}
	for i := range v.Items {
		if pos, twice := folded(v.Items[i]); twice {
			return pos, true
		}
	}
	return source.Position{}, false
}

// withoutEdit takes the one action of later contracts for what this contract
// knows: a file to edit becomes a repair whose command is the one that
// verifies it. The artifact is otherwise left as it is.
func withoutEdit(text []byte, c source.Value, command string, at ...string) ([]byte, error) {
	next := c.Get("next_action")
	if next.Get("kind").Str() != "edit" {
		return text, nil
	}
	path, expects, why := next.Get("path").Str(), next.Get("expects").Str(), next.Get("why").Str()
	switch {
	case c.Get("state").Str() != string(control.AgentActionRequired), next.Get("actor").Str() != string(control.CodingAgent),
		path == "", expects == "", why == "", next.Get("command").Kind != source.Null, len(next.Members) != 6:
		return nil, fault.E("handoff.withoutEdit", fault.Invalid, "its edit action has the wrong members", nil)
	}
	repair := map[string]any{
		"actor": control.CodingAgent, "kind": control.Repair, "command": command, "expects": nil,
		"why": why + " Edit " + path + ": " + expects,
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var root map[string]any
	if err := d.Decode(&root); err != nil {
		return nil, err
	}
	object := root
	for _, key := range at {
		inner, ok := object[key].(map[string]any)
		if !ok {
			return nil, fault.E("handoff.withoutEdit", fault.Invalid, strings.Join(at, ".")+" is no object", nil)
		}
		object = inner
	}
	object["next_action"] = repair
	allowed := []any{command}
	rest, _ := object["allowed_next_commands"].([]any)
	for _, c := range rest {
		if c != command {
			allowed = append(allowed, c)
		}
	}
	object["allowed_next_commands"] = allowed
	return json.Marshal(root)
}

// agrees refuses a record of a run that is not that of the verifier: first what
// an agent acts on, then the ids.
func agrees(run *report.VerifyRun, v *report.Verifier) error {
	o := &run.Outcome
	for _, f := range []struct{ field, says, verifier string }{
		{"execution", o.Execution, v.Execution},
		{"applicability", o.Applicability, v.Applicability},
		{"decision", string(o.Decision), string(v.Decision)},
		{"merge_verdict", o.MergeVerdict, v.MergeVerdict},
		{"can_merge_without_human", fmt.Sprint(o.CanMerge), fmt.Sprint(v.CanMerge)},
		{"base_status", o.BaseStatus, v.BaseStatus},
		{"control.state", string(o.Control.State()), string(v.Control.State())},
		{"control", form(o.Control), form(v.Control)},
	} {
		if f.says != f.verifier {
			return differ(runFile, f.field, f.says, f.verifier)
		}
	}
	for _, f := range []struct {
		field    string
		says     string
		verifier report.Text
	}{
		{"request_id", run.RequestID, v.RequestID},
		{"subject_id", run.Plan.Subject.SubjectID, v.SubjectID},
		{"input_set_id", run.Plan.Inputs.InputSetID, v.InputSetID},
		{"engine_requirement_id", run.Plan.Engine.EngineRequirementID, v.EngineRequirementID},
		{"executor_id", run.Executor.ExecutorID, v.ExecutorID},
		{"decision_id", run.DecisionID, v.DecisionID},
	} {
		if f.verifier != "" && f.says != string(f.verifier) {
			return differ(runFile, f.field, f.says, string(f.verifier))
		}
	}
	return nil
}

// agreesWithReport refuses a report of another decision, or of another run.
func agreesWithReport(text []byte, v *report.Verifier, run *report.VerifyRun) error {
	doc, err := strict(text, MaxReport)
	if err != nil {
		return &Refusal{Artifact: reportFile, Err: err}
	}
	decided := doc.At("release_decision", "decision")
	if decided.Kind != source.String {
		return &Refusal{Artifact: reportFile, Err: fault.E("handoff.agreesWithReport", fault.Invalid, "it has no release decision", nil)}
	}
	if decided.Text != string(v.Decision) {
		return differ(reportFile, gatingSignal, decided.Text, string(v.Decision))
	}
	if id := doc.Get("run_id").Str(); id != "" && v.RequestID != "" && id != string(v.RequestID) {
		return differ(reportFile, "run_id", id, string(v.RequestID))
	}
	if run == nil {
		return nil
	}
	sum := sha256.Sum256(text)
	if have, want := "sha256:"+hex.EncodeToString(sum[:]), string(run.Artifacts["report_json"].SHA256); want != "" && have != want {
		return &Refusal{Artifact: reportFile, Err: fmt.Errorf("its digest is %s, and %s lists %s", have, runFile, want)}
	}
	return nil
}

func differ(artifact, field, says, verifier string) error {
	orNull := func(s string) string {
		if s == "" {
			return "null"
		}
		return s
	}
	return &Refusal{Artifact: artifact, Field: field, Says: orNull(says), Verifier: orNull(verifier)}
}

func form(c control.Control) string {
	text, err := c.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// inner is the sentence of a contradiction without the name of the artifact,
// which the refusal says itself.
func inner(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, prefix := range []string{verifierFile + " contradicts itself: ", runFile + " contradicts itself: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return fault.E("handoff.inner", fault.Invalid, text, nil)
}

// patchWords are what a step says of a patch besides the patch itself.
func patchWords(patch json.RawMessage) (kind, reason, target string) {
	var p struct {
		Kind      string `json:"kind"`
		Rationale string `json:"rationale"`
		Target    string `json:"target_file"`
	}
	if json.Unmarshal(patch, &p) != nil || p.Kind == "" {
		p.Kind = "patch"
	}
	if p.Rationale == "" {
		p.Rationale = "A suggested edit."
	}
	return p.Kind, p.Rationale, p.Target
}
