package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// An agreement holds for exactly what was agreed to (rulings R14), and the pages
// say which part of it is another by now.

const elsewhere = "d00dad0000000000000000000000000000000000"

var owing = consoletest.Checked("agent_action_required", "verify", consoletest.Widening)

// agreed is a chain that owes verification, in Refactor after both people agreed
// to its gate.
func agreed(w *consoletest.World) (chain, task, gate contract.ID) {
	w.Helper()
	chain = w.Draft("Add payments")
	task = w.Activate(chain)
	gate = stabilized(w, chain, task, consoletest.Head)
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Approved)
	w.Reaches(chain, phase.Refactor)
	return chain, task, gate
}

// stabilized builds and stabilizes up to the gate.
func stabilized(w *consoletest.World, chain, task contract.ID, head string) contract.ID {
	w.Helper()
	w.Execute(task, consoletest.Run{Phase: phase.Build, Head: head, Boundary: owing})
	w.Reaches(chain, phase.Stabilize)
	w.Execute(task, consoletest.Run{Phase: phase.Stabilize, Head: head, Boundary: owing})
	proves(w, task, head, "1")
	acceptance := w.Judged(chain)
	shown, err := w.Contracts.ContractGet(w.Context(), acceptance, 0)
	if consoletest.Must(w, shown, err).Document.Head().State == contract.Draft {
		w.Votes(acceptance, "lea", contract.ProjectLead)
		w.Votes(acceptance, "sam", contract.SecurityReviewer)
	}
	return w.Of(chain, contract.KindPublishGate)
}

// proves records a verification that passed, under an id of its own.
func proves(w *consoletest.World, task contract.ID, head, id string) {
	w.Helper()
	put, err := w.Contracts.VerifyRecord(w.Context(), w.As("bot", contract.CIAgent), pipeline.VerifyArgs{
		Task: task, BaseCommit: consoletest.Base, HeadCommit: head,
		Artifact: []byte(`{"decision":"passed","decision_id":"sha256:` + id + `","subject":{"base_commit_sha":"` + consoletest.Base + `","head_commit_sha":"` + head + `"}}`),
	})
	consoletest.Must(w, put, err)
}

func TestAnAgreementStandsWhileTheBytesAreTheSame(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, task, gate := agreed(w)
	// A rebase gives the same bytes another commit.
	w.Execute(task, consoletest.Run{Phase: phase.Refactor, Head: elsewhere, Diff: consoletest.Head, Boundary: owing})
	lea := w.Visit("lea")
	for lang, want := range map[string]string{"en": "approved", "uk": "схвалено"} {
		lea.Lang = lang
		page := lea.Get("/decisions/gates/" + string(gate))
		says(t, page, 200, want, "<td>lea</td>", "<td>sam</td>", w.Digest(gate))
		lacks(t, page, `id="lapsed"`)
		lacks(t, lea.Get("/chains/"+string(chain)), `id="lapsed"`)
	}
}

func TestAnAgreementThatHoldsNoLongerSaysWhatIsAnother(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	told := func(chain, gate contract.ID, en, uk string) {
		t.Helper()
		for _, at := range []string{"/decisions/gates/" + string(gate), "/chains/" + string(chain)} {
			lea.Lang = "en"
			says(t, lea.Get(at), 200, "lea and sam agreed to "+string(gate)+" version 1.", "<b>That agreement no longer holds: "+en+".</b>", "people are asked anew")
			lea.Lang = "uk"
			says(t, lea.Get(at), 200, "lea і sam: згода на "+string(gate)+", версія 1.", "<b>Ця згода вже не чинна: "+uk+".</b>", "питають знову")
		}
	}
	for _, c := range []struct {
		name, head, boundary, verify, en, uk string
	}{
		{"one changed byte", elsewhere, owing, "", "the change is another one", "зміна інша"},
		{"another boundary result", "", strings.Replace(owing, "agent_boundary_1", "agent_boundary_2", 1), "", "the boundary result is another one", "результат перевірки межі інший"},
		{"another set of policies", "", strings.Replace(owing, `"policy_set_sha256":"ab"`, `"policy_set_sha256":"cd"`, 1), "", "the set of policies is another one", "набір політик інший"},
		{"another verification", "", owing, "2", "the verification is another one", "верифікація інша"},
	} {
		chain, task, gate := agreed(w)
		w.Execute(task, consoletest.Run{Phase: phase.Refactor, Head: c.head, Boundary: c.boundary})
		if c.verify != "" {
			proves(w, task, consoletest.Head, c.verify)
		}
		told(chain, gate, c.en, c.uk)
		if c.head != "" { // the Acceptance that was agreed to is replaced in place
			w.Reaches(chain, phase.Build)
			w.Until("the Acceptance is revised", func() bool {
				a, err := w.Contracts.ContractGet(t.Context(), w.Of(chain, contract.KindAcceptance), 0)
				return err == nil && a.Document.(*contract.Acceptance).Status != contract.Passed
			})
			told(chain, gate, c.en, c.uk)
		}
		if t.Failed() {
			t.Fatal(c.name)
		}
		if c.head == "" {
			continue
		}
		// And once the work is judged again, beside what is asked now.
		stabilized(w, chain, task, c.head)
		w.Until("the gate asks anew", func() bool {
			g, err := w.Contracts.GateGet(t.Context(), gate)
			return err == nil && g.Ref().Version == 2
		})
		told(chain, gate, c.en, c.uk)
		says(t, lea.Get("/decisions/gates/"+string(gate)), 200, `value="approve"`)
	}
}
