package request_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
)

// leads makes petro a project lead too, and lena one who is in no circle.
func (w *world) leads() {
	w.Helper()
	admin := pipeline.Caller{Actor: "olha", Role: contract.Admin}
	for id, roles := range map[contract.ActorID][]string{"petro": {"requester", "project_lead"}, "lena": {"project_lead"}} {
		must(w.contracts.ActorEdit(w.Context(), admin, pipeline.ActorEdit{ID: id, Roles: &roles}))
	}
}

// decided is a request whose decision petro has confirmed, and the contract it
// became.
func (w *world) decided(id string) (contract.ID, doc) {
	w.Helper()
	a := decision("Let us decide to add a page about the greenhouse, as the contract says.")
	a.id, a.references = id, []envelope.Reference{{Kind: envelope.RefContract, ID: "git@example.org:app"}}
	d := of(w.T, w.answer(a), "decision_draft")
	shown := must(w.ArtifactConfirm(w.Context(), as("petro"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
	return contract.ID(shown.ContractID), d
}

func TestAConfirmationActivatesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.leads() // who confirms could activate as well
	id, d := w.decided("req-draft")
	w.drain()
	w.later(400 * 24 * time.Hour) // and no timer does
	if err := w.contracts.Work(t.Context(), pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobSweep}}); err != nil {
		t.Fatal(err)
	}
	w.drain()
	if got := w.status(d.ID); got != artifact.Confirmed {
		t.Fatalf("the decision is %s", got)
	}
	made := must(w.contracts.ContractGet(t.Context(), id, 0))
	votes := must(w.contracts.ActivationList(t.Context(), id))
	tasks := must(w.contracts.TaskList(t.Context(), pipeline.ContractFilter{}, pipeline.Page{}))
	if state := made.Document.Head().State; state != contract.Draft || len(votes) != 0 || len(tasks) != 0 {
		t.Fatalf("the intent is %s with %d votes and %d tasks", state, len(votes), len(tasks))
	}
	p := must(w.RequestGet(t.Context(), as("olha"), "req-draft"))
	if len(p.Contracts) != 1 || p.Contracts[0].State != contract.Draft || p.Contracts[0].Phase != "" || p.Contracts[0].Gate != nil {
		t.Errorf("the request shows %+v", p.Contracts)
	}

	lead := pipeline.Caller{Actor: "lena", Role: contract.ProjectLead}
	must(w.contracts.ActivationDecide(t.Context(), lead, pipeline.ActivationArgs{ID: id, Version: 1, Decision: contract.Approved}))
	w.drain()
	p = must(w.RequestGet(t.Context(), as("olha"), "req-draft"))
	if c := p.Contracts[0]; c.State != contract.Active || c.Phase == "" || c.TaskID == "" {
		t.Errorf("after the activation the request shows %+v", c)
	}
	// The phases in between are told as they come.
	list, _, err := w.RequestEvents(t.Context(), as("olha"), "req-draft")
	if err != nil {
		t.Fatal(err)
	}
	phases := []string{}
	for _, e := range list {
		if e.What == "phase" && e.Contract == string(id) {
			phases = append(phases, e.To)
		}
	}
	if !slices.Equal(phases, []string{"Plan", "Build"}) {
		t.Errorf("the phases told are %v", phases)
	}
}

func TestTheEndOfAContractIsWrittenBackOnce(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		w := newWorldAt(t, at, nil)
		w.twice = true
		w.leads()
		id, _ := w.decided("req-end")
		other, _ := w.decided("req-other")
		before := must(w.RequestGet(t.Context(), as("olha"), "req-end"))
		w.later(time.Hour)
		lead := pipeline.Caller{Actor: "lena", Role: contract.ProjectLead}
		revoke := pipeline.RevokeArgs{ID: id, Version: 1, Ground: contract.ManualStop, Reason: "not needed any more"}
		must(w.contracts.ContractRevoke(t.Context(), lead, revoke))
		w.drain()
		// The queue forgets a key after days.
		args, err := json.Marshal(pipeline.ResultArgs{Request: "req-end", Chain: id, Version: 1, State: contract.Revoked})
		if err != nil {
			t.Fatal(err)
		}
		late := pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobResult, Chain: id, Args: args}}
		if err := w.Work(t.Context(), late); err != nil {
			t.Error(err)
		}

		p := must(w.RequestGet(t.Context(), as("olha"), "req-end"))
		if len(p.Contracts) != 1 || p.Contracts[0].ContractID != id || p.Contracts[0].State != contract.Revoked || len(p.Contracts[0].Results) != 1 {
			t.Fatalf("the request shows %+v", p.Contracts)
		}
		if r := p.Contracts[0].Results[0]; r.State != contract.Revoked || r.Version != 1 || r.ReleaseNote != nil || !r.At.Equal(w.clock()) {
			t.Errorf("the result is %+v", r)
		}
		if p.Tag() == before.Tag() || p.Status != before.Status || p.State != before.State {
			t.Errorf("the package is %s %s %s, was %s %s %s", p.Tag(), p.State, p.Status, before.Tag(), before.State, before.Status)
		}
		list, _, err := w.RequestEvents(t.Context(), as("olha"), "req-end")
		if err != nil {
			t.Fatal(err)
		}
		last := list[len(list)-1]
		if last.What != "result" || last.Contract != string(id) || last.To != "Revoked" {
			t.Errorf("the last event is %+v", last)
		}
		lines := must(w.contracts.AuditList(t.Context(), 0, pipeline.AuditFilter{Correlations: []string{"req-end"}, Actions: []string{"request.result"}}, 0))
		if len(lines) != 1 || !strings.Contains(string(lines[0].Text), `"intentId":"`+string(id)+`"`) || !strings.Contains(string(lines[0].Text), `"to":"Revoked"`) {
			t.Errorf("the log has %d results: %+v", len(lines), lines)
		}
		if q := must(w.RequestGet(t.Context(), as("olha"), "req-other")); len(q.Contracts) != 1 || q.Contracts[0].ContractID != other || len(q.Contracts[0].Results) != 0 {
			t.Errorf("another request shows %+v", q.Contracts)
		}
	})
}

func TestAPathNobodyAskedForHasNobodyToTell(t *testing.T) {
	w := newWorld(t, nil)
	w.leads()
	by := pipeline.Caller{Actor: "petro", Role: contract.Requester}
	// What a caller says of the path counts only within a confirmation.
	made := must(w.contracts.IntentCreate(t.Context(), by, pipeline.IntentArgs{
		Intent: "Rename the flag", Priority: "low", RequestedCapabilities: []string{"read_repo"}, Asked: &pipeline.Asked{Request: "req-stolen"},
	}))
	if id := made.Ref().ID; made.Correlation != string(id) {
		t.Errorf("the intent is of the path %s", made.Correlation)
	}
	w.drain()
	must(w.contracts.ContractRevoke(t.Context(), by, pipeline.RevokeArgs{ID: made.Ref().ID, Version: 1, Ground: contract.ManualStop, Reason: "no"}))
	if w.work() {
		t.Error("somebody is told")
	}
	// A job about a request that is not there is done.
	args := []byte(`{"request":"req-gone","chain":"` + string(made.Ref().ID) + `","version":1,"state":"Revoked"}`)
	if err := w.Work(t.Context(), pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobResult, Args: args}}); err != nil {
		t.Error(err)
	}
}

// Who may not see a decision does not see what became of it.
func TestAContractIsShownToWhoSeesItsDecision(t *testing.T) {
	w := newWorld(t, nil)
	w.leads()
	must(w.MemberSet(t.Context(), as("olha"), request.MemberArgs{Circle: "c-forest", Actor: "lena", Roles: []circle.Role{}}))
	w.decided("req-seen")
	if p := must(w.RequestGet(t.Context(), as("lena"), "req-seen")); len(p.Contracts) != 1 {
		t.Errorf("a member sees %+v", p.Contracts)
	}
	a := decision("Let us decide to add a page about the greenhouse, as the contract says.")
	a.id, a.target, a.references = "req-own", "private", []envelope.Reference{{Kind: envelope.RefContract, ID: "git@example.org:app"}}
	d := of(t, w.answer(a), "decision_draft")
	must(w.ArtifactConfirm(t.Context(), as("olha"), request.MoveArgs{ID: d.ID, SHA256: d.SHA256}))
	if p := must(w.RequestGet(t.Context(), as("olha"), "req-own")); len(p.Contracts) != 1 {
		t.Errorf("the owner sees %+v", p.Contracts)
	}
	if _, err := w.RequestGet(t.Context(), as("lena"), "req-own"); err == nil || fault.KindOf(err) != fault.NotFound {
		t.Errorf("somebody else sees a private request: %v", err)
	}
}
