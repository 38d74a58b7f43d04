package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// key stands for a secret in these tests: the forms of real ones are known to
// internal/secrets.
const key = "KEY-0123456789"

func knowing(c *pipeline.Config) {
	c.SecretIn = func(text string) string {
		if strings.Contains(text, key) {
			return "test-key"
		}
		return ""
	}
}

// Wherever somebody writes a text, one with a secret is refused, and neither the
// refusal nor what is kept afterwards holds it.
func TestATextWithASecretIsRefusedAndKeptNowhere(t *testing.T) {
	o := newOffice(t, knowing)
	o.toGate()
	gate := o.newest("PG-001")
	ctx, text := o.Context(), "use "+key+" for it"
	for name, write := range map[string]func() error{
		"an intent": func() error {
			_, err := o.IntentCreate(ctx, asker, pipeline.IntentArgs{Intent: text, Priority: "low", RequestedCapabilities: []string{"read_repo"}})
			return err
		},
		"an intent again": func() error {
			_, err := o.IntentRevise(ctx, asker, "IC-001", pipeline.IntentArgs{Intent: text, Priority: "low", RequestedCapabilities: []string{"read_repo"}})
			return err
		},
		"an edit": func() error {
			_, err := o.ContractEdit(ctx, lead, pipeline.EditArgs{ID: "TS-001", Version: 1, Patch: map[string]any{"acceptanceCriteria": []any{"ok", text}}})
			return err
		},
		"the name of a member": func() error {
			_, err := o.ContractEdit(ctx, lead, pipeline.EditArgs{ID: "TS-001", Version: 1, Patch: map[string]any{text: "ok"}})
			return err
		},
		"why something is activated": func() error {
			_, err := o.ActivationDecide(ctx, lead, pipeline.ActivationArgs{ID: "TS-001", Version: 1, Decision: contract.Rejected, Reason: &text})
			return err
		},
		"why something is frozen": func() error {
			_, err := o.ContractFreeze(ctx, lead, pipeline.FreezeArgs{ID: "TS-001", Version: 1, Cause: contract.ManualCheck, Reason: text})
			return err
		},
		"why something goes on": func() error {
			_, err := o.ContractResume(ctx, lead, pipeline.ResumeArgs{ID: "TS-001", Version: 1, Resolution: text})
			return err
		},
		"why something is revoked": func() error {
			_, err := o.ContractRevoke(ctx, admin, pipeline.RevokeArgs{ID: "TS-001", Version: 1, Ground: contract.Audit, Reason: text})
			return err
		},
		"the rule of an archive": func() error {
			_, err := o.ContractArchive(ctx, admin, pipeline.ArchiveArgs{ID: "TS-001", Version: 1, Rule: text})
			return err
		},
		"why a gate is decided": func() error {
			_, err := o.GateDecide(ctx, security, pipeline.GateArgs{
				ID: "PG-001", Version: 1, Decision: contract.Rejected, Digest: gate.ApprovalDigest, Reason: &text,
			})
			return err
		},
		"why a gate is held": func() error {
			_, err := o.GateHold(ctx, security, pipeline.HoldArgs{ID: "PG-001", Version: 1, Reason: text})
			return err
		},
		"why something is judged again": func() error {
			_, err := o.AcceptanceReevaluate(ctx, lead, pipeline.ReevaluateArgs{ID: "AC-001", Reason: text})
			return err
		},
		"what a capability is for": func() error {
			return o.OperationRequest(ctx, developer, pipeline.OperationArgs{Task: "TS-001", Capability: "write_repo", Detail: text})
		},
		"what a review asks for": func() error {
			_, err := o.ReviewRecord(ctx, lead, pipeline.ReviewArgs{
				Task: "TS-001", Verdict: "changes_requested", HeadCommit: first, Blocking: []pipeline.Blocking{{Text: text}},
			})
			return err
		},
		"the name of an actor": func() error {
			_, err := o.ActorCreate(ctx, admin, pipeline.ActorArgs{ID: "x", Type: contract.Human, Name: text})
			return err
		},
		"another name": func() error {
			_, err := o.ActorEdit(ctx, admin, pipeline.ActorEdit{ID: lead.Actor, Name: &text})
			return err
		},
		"the name of a token": func() error {
			_, err := o.TokenCreate(ctx, developer, pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: o.clock().Add(time.Hour), Name: text})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { refusesTheKey(t, write()) })
	}
	o.keptNowhere()
	o.expect(map[contract.ID]string{"PG-001": "Active high pending"})
}

// An executor learns what is wrong with its report, and sends it again.
func TestAReportWithASecretIsRefusedAndCanBeMended(t *testing.T) {
	o := newOffice(t, knowing)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", string(phase.Build))
	run := must(o, c, err).Run.ExecutionID
	who, text := developer, "failed with "+key
	who.LockToken = o.tokens[run]
	for name, write := range map[string]func() error{
		"why it failed": func() error {
			_, err := o.RunFail(o.Context(), who, pipeline.FailArgs{Execution: run, Reason: text})
			return err
		},
		"why it is given back": func() error {
			_, err := o.RunRelease(o.Context(), who, pipeline.ReleaseArgs{Execution: run, Reason: text})
			return err
		},
		"what a check says": func() error {
			_, err := o.RunComplete(o.Context(), who, pipeline.CompleteArgs{
				Execution: run, Outcome: phase.Succeeded, Checks: []event.Check{{Criterion: "it works", Detail: text}},
			})
			return err
		},
		"its Evidence": func() error {
			_, err := o.RunComplete(o.Context(), who, pipeline.CompleteArgs{
				Execution: run, Outcome: phase.Succeeded, Evidence: map[string]any{"environment": map[string]any{"os": text}},
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { refusesTheKey(t, write()) })
	}
	o.keptNowhere()
	out, err := o.end(job{who: developer, phase: phase.Build, head: first}, run)
	must(o, out, err)
}

func refusesTheKey(t *testing.T, err error) {
	t.Helper()
	if refusal.CodeOf(err) != refusal.RequestMalformed || !strings.Contains(err.Error(), "test-key") {
		t.Fatalf("answered %v", err)
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the refusal repeats it: %v", err)
	}
}

// keptNowhere looks for the key in the audit log, in every contract and in every
// event.
func (o office) keptNowhere() {
	o.Helper()
	var texts []string
	for _, line := range read(o.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) }) {
		texts = append(texts, string(line.Text))
	}
	for _, c := range read(o.world, func(r pipeline.Reader) ([]*pipeline.Contract, error) {
		return r.Contracts(pipeline.ContractFilter{}, pipeline.Page{})
	}) {
		texts = append(texts, string(c.Text))
	}
	for _, e := range read(o.world, func(r pipeline.Reader) ([]pipeline.Event, error) { return r.Events(0, pipeline.EventFilter{}, 0) }) {
		texts = append(texts, string(e.Data))
	}
	if len(texts) < 5 {
		o.Fatalf("%d texts are no audit log, contracts and events", len(texts))
	}
	for _, text := range texts {
		if strings.Contains(text, key) {
			o.Errorf("it is kept: %s", text)
		}
	}
}
