package consoletest

import (
	"fmt"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
)

// The commits of every story.
const (
	Base = "c0ffee0000000000000000000000000000000000"
	Head = "a1b2c3d000000000000000000000000000000000"
)

// Draft is an intent that nobody has activated.
func (w *World) Draft(intent string, capabilities ...string) contract.ID {
	w.Helper()
	if len(capabilities) == 0 {
		capabilities = []string{"read_repo", "write_repo"}
	}
	made, err := w.Contracts.IntentCreate(w.Context(), w.As("ada", contract.Requester), pipeline.IntentArgs{
		Intent: intent, Priority: "medium", RequestedCapabilities: capabilities,
	})
	return Must(w, made, err).Ref().ID
}

// Activate lets an intent begin and answers its task, once there is one.
func (w *World) Activate(id contract.ID) contract.ID {
	w.Helper()
	out, err := w.Contracts.ActivationDecide(w.Context(), w.As("lea", contract.ProjectLead), pipeline.ActivationArgs{ID: id, Version: 1, Decision: contract.Approved})
	Must(w, out, err)
	return w.Of(id, contract.KindTaskSeed)
}

// Of waits for the contract of a kind in a chain.
func (w *World) Of(chain contract.ID, kind contract.Kind) (id contract.ID) {
	w.Helper()
	w.Until(fmt.Sprintf("%s has its %s", chain, kind), func() bool {
		shown, err := w.Contracts.ChainGet(w.Context(), chain)
		if err != nil {
			return false
		}
		for _, c := range shown.Contracts {
			if c.Document.Head().Kind == kind {
				id = c.Ref().ID
				return true
			}
		}
		return false
	})
	return id
}

// Reaches waits for a chain to be in a phase.
func (w *World) Reaches(chain contract.ID, want phase.Phase) {
	w.Helper()
	w.Until(fmt.Sprintf("%s is in %s", chain, want), func() bool {
		shown, err := w.Contracts.ChainGet(w.Context(), chain)
		return err == nil && string(shown.Chain.Phase) == string(want)
	})
}

// Row is a finding of the boundary, as a result of the check has it.
type Row struct {
	Check, Action, Risk, Path, Title string
	Line                             int
}

// Checked is a boundary result with a control state, the kind of the next action,
// and findings.
func Checked(state, kind string, rows ...Row) string {
	list := []string{}
	for _, r := range rows {
		list = append(list, fmt.Sprintf(`{"id":"v-%s-%d","check_id":%q,"action":%q,"risk_level":%q,"path":%q,"line":%d,"title":%q}`, r.Check, r.Line, r.Check, r.Action, r.Risk, r.Path, r.Line, r.Title))
	}
	return `{"schema_version":"shipgate.agent_boundary_result/v2","audit_id":"agent_boundary_1","policy_set_sha256":"ab","changed_files":[".mcp.json","main.go"],` +
		`"control":{"state":"` + state + `","next_action":{"kind":"` + kind + `"}},"violations":[` + strings.Join(list, ",") + `]}`
}

// Run is one run of an executor.
type Run struct {
	Phase    phase.Phase
	Head     string // Head when it is ""
	Diff     string // what the diff hash is of; the head when it is ""
	Boundary string // a result of the check; "" for none
	Change   string // the diff that is delivered, of which the diff hash is unless Diff says otherwise; "" for none
}

var tested = []byte(`{"tool":"go","command":["go","test"],"exitCode":0,"passed":12,"failed":0,"skipped":0,"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`)

// Execute claims a task, works and reports: as bot, and as rex when it is published.
func (w *World) Execute(task contract.ID, r Run) *pipeline.Ended {
	w.Helper()
	who, role := "bot", contract.Developer
	proofs := map[phase.Phase][]phase.Proof{
		phase.Build: {phase.BuildLog, phase.UnitTestResult}, phase.Stabilize: {phase.IntegrationReport, phase.FailedTestLog},
	}[r.Phase]
	var checks []event.Check
	if r.Phase == phase.Stabilize {
		role = contract.CIAgent
		shown, err := w.Contracts.TaskList(w.Context(), pipeline.ContractFilter{IDs: []contract.ID{task}}, pipeline.Page{})
		for _, s := range Must(w, shown, err) {
			for _, c := range s.Document.(*contract.TaskSeed).ExecutionPlan {
				checks = append(checks, event.Check{Criterion: c, Passed: true, Detail: "12 of 12 tests"})
			}
		}
	}
	if r.Phase == phase.Publish {
		who, role = "rex", contract.ReleaseManager
	}
	by := w.As(who, role)
	claim, err := w.Contracts.TaskClaim(w.Context(), by, pipeline.ClaimArgs{Task: task, Phase: pipeline.Phase(r.Phase), BaseCommit: Base})
	by.LockToken = Must(w, claim, err).Run.LockToken
	execution := claim.Run.ExecutionID
	put := func(kind phase.Proof, text []byte) {
		done, err := w.Contracts.ArtifactPut(w.Context(), by, pipeline.ArtifactArgs{Execution: execution, Kind: pipeline.ArtifactKind(kind), Bytes: text})
		Must(w, done, err)
	}
	for _, kind := range proofs {
		text := []byte("ok\n")
		if kind == phase.UnitTestResult || kind == phase.IntegrationReport {
			text = tested
		}
		put(kind, text)
	}
	if r.Boundary != "" {
		put(phase.BoundaryResult, []byte(r.Boundary))
	}
	if r.Change != "" {
		put(phase.ChangeDiff, []byte(r.Change))
	}
	output := contract.EmptyObjectHash
	if r.Phase == phase.Publish {
		note, err := w.Contracts.NoteGet(w.Context(), task)
		output = contract.Hash(Must(w, note, err).Markdown)
		put(phase.ReleaseNote, note.Markdown)
	}
	head := r.Head
	if head == "" {
		head = Head
	}
	diff := r.Diff
	if diff == "" {
		diff = r.Change
	}
	if diff == "" {
		diff = head
	}
	ended, err := w.Contracts.RunComplete(w.Context(), by, pipeline.CompleteArgs{
		Execution: execution, Outcome: phase.Succeeded, HeadCommit: head, Checks: checks, Evidence: account(claim.Run.BaseCommit, head, output, contract.Hash([]byte(diff))),
	})
	return Must(w, ended, err)
}

// account is what an executor tells of a run.
func account(base, head, output, diff string) map[string]any {
	now := contract.At(time.Now()).String()
	return map[string]any{
		"baseCommit": base, "headCommit": head, "inputHash": contract.EmptyObjectHash, "outputHash": output, "diffHash": diff,
		"model": map[string]any{"name": "none", "version": "none", "parametersHash": contract.EmptyObjectHash},
		"tools": []any{"go"},
		"environment": map[string]any{
			"os": "linux", "runtime": "go", "containerImageDigest": contract.Uncontainerized, "lockfileHash": contract.EmptyObjectHash,
		},
		"startTime": now, "endTime": now,
	}
}

// Widening is a finding that a person has to look at.
var Widening = Row{Check: "SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED", Action: "require_review", Risk: "high", Path: ".mcp.json", Line: 4, Title: "An MCP server was added"}

// Gate is a chain that waits for people at its gate, with one finding of the
// boundary; the gate asks a project lead and a security reviewer.
func (w *World) Gate(intent string) (chain, gate contract.ID) {
	w.Helper()
	chain = w.Draft(intent)
	return chain, w.ToGate(chain)
}

// ToGate works on a draft until it is at its gate.
func (w *World) ToGate(chain contract.ID) contract.ID {
	w.Helper()
	task := w.Activate(chain)
	result := Checked("review_publishable", "review", Widening)
	w.Execute(task, Run{Phase: phase.Build, Boundary: result})
	w.Reaches(chain, phase.Stabilize)
	w.Execute(task, Run{Phase: phase.Stabilize, Boundary: result})
	acceptance := w.Judged(chain)
	w.Votes(acceptance, "lea", contract.ProjectLead)
	w.Votes(acceptance, "sam", contract.SecurityReviewer)
	return w.Of(chain, contract.KindPublishGate)
}

// Judged waits for the Acceptance of a chain to speak for what was stabilized.
func (w *World) Judged(chain contract.ID) (id contract.ID) {
	w.Helper()
	w.Until(string(chain)+" is judged", func() bool {
		shown, err := w.Contracts.ChainGet(w.Context(), chain)
		if err != nil {
			return false
		}
		for _, c := range shown.Contracts {
			if a, ok := c.Document.(*contract.Acceptance); ok && a.Status == contract.Passed {
				id = a.ID
				return true
			}
		}
		return false
	})
	return id
}

// Votes has somebody agree to the activation of a contract as it stands.
func (w *World) Votes(id contract.ID, who string, role contract.Role) {
	w.Helper()
	shown, err := w.Contracts.ContractGet(w.Context(), id, 0)
	version := Must(w, shown, err).Ref().Version
	out, err := w.Contracts.ActivationDecide(w.Context(), w.As(who, role), pipeline.ActivationArgs{ID: id, Version: version, Decision: contract.Approved})
	Must(w, out, err)
}

// Digest is what people agree to at a gate now.
func (w *World) Digest(gate contract.ID) string {
	w.Helper()
	shown, err := w.Contracts.GateGet(w.Context(), gate)
	return Must(w, shown, err).ApprovalDigest
}

// Decide has somebody decide at a gate over its current digest.
func (w *World) Decide(gate contract.ID, who string, role contract.Role, d contract.Decision) *pipeline.GateResult {
	w.Helper()
	shown, err := w.Contracts.GateGet(w.Context(), gate)
	Must(w, shown, err)
	reason := "read the change"
	out, err := w.Contracts.GateDecide(w.Context(), w.As(who, role), pipeline.GateArgs{
		ID: gate, Version: shown.Ref().Version, Decision: d, Digest: shown.ApprovalDigest, Reason: &reason,
	})
	return Must(w, out, err)
}

// Published is a chain that went the whole way.
func (w *World) Published(intent string) (chain, gate contract.ID) {
	w.Helper()
	chain, gate = w.Gate(intent)
	w.Release(chain, gate)
	return chain, gate
}

// Release has everybody agree to a chain at its gate, and publishes it.
func (w *World) Release(chain, gate contract.ID) {
	w.Helper()
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Approved)
	task := w.Of(chain, contract.KindTaskSeed)
	w.Reaches(chain, phase.Refactor)
	w.Execute(task, Run{Phase: phase.Refactor})
	for who, role := range map[string]contract.Role{"lea": contract.ProjectLead, "sam": contract.SecurityReviewer} {
		done, err := w.Contracts.ReviewRecord(w.Context(), w.As(who, role), pipeline.ReviewArgs{Task: task, Verdict: "approved", HeadCommit: Head})
		Must(w, done, err)
	}
	w.Reaches(chain, phase.Publish)
	w.Execute(task, Run{Phase: phase.Publish})
	w.Until(string(chain)+" is published", func() bool {
		shown, err := w.Contracts.ChainGet(w.Context(), chain)
		return err == nil && shown.Intent.Document.Head().State == contract.Published
	})
}
