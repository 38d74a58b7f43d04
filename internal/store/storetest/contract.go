package storetest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func contracts(t *testing.T, open Open) {
	t.Helper()
	t.Run("a contract is read as it was written", func(t *testing.T) {
		b := newBench(t, open)
		var made *pipeline.Contract
		b.update(func(tx pipeline.Tx) (err error) {
			if made, err = b.chain(tx, "IC-001", contract.Draft); err != nil {
				return err
			}
			made.Signals, made.Covers = []byte(`{"irreversiblePublish":"declared"}`), []byte(`{"gateId":"PG-001"}`)
			made.ApprovalDigest, made.BaseCommit, made.HeadCommit = "sha256:aa", "0123456", "89abcde"
			return tx.UpdateContract(made)
		})
		if made.Revision != 2 {
			t.Errorf("after two writes the revision is %d", made.Revision)
		}
		b.view(func(r pipeline.Reader) error {
			got, err := r.Contract("IC-001")
			if err != nil {
				return err
			}
			if !bytes.Equal(got.Text, made.Text) || got.Revision != 2 || got.Chain != "IC-001" || got.Source != (pipeline.Ref{}) {
				t.Errorf("read %+v, want %+v", got, made)
			}
			if string(got.Signals) != string(made.Signals) || string(got.Covers) != string(made.Covers) ||
				got.ApprovalDigest != "sha256:aa" || got.BaseCommit != "0123456" || got.HeadCommit != "89abcde" {
				t.Errorf("what is kept beside the document is %+v, want %+v", got, made)
			}
			if d, ok := got.Document.(*contract.Intent); !ok || d.Creator != "ada" {
				t.Errorf("the document is %+v", got.Document)
			}
			return nil
		})
	})

	t.Run("the accepted spelling of a document is kept", func(t *testing.T) {
		b := newBench(t, open)
		text := []byte("{\n \"version\": 1.0, \"kind\": \"IntentContract\", \"id\": \"IC-001\", \"schemaVersion\": \"1.0.0\", \"state\": \"Draft\"," +
			" \"createdAt\": \"2026-03-29T12:00:00.25+02:00\", \"updatedAt\": \"2026-03-29T10:00:01Z\", \"intent\": \"\\u00e4\\u0000\"," +
			" \"creator\": \"ada\", \"priority\": \"low\", \"requestedCapabilities\": [\"read_repo\"]}")
		d, err := contract.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		b.update(func(tx pipeline.Tx) error {
			if err := tx.CreateChain(&pipeline.Chain{ID: "IC-001", Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
				return err
			}
			return tx.CreateContract(&pipeline.Contract{Document: d, Text: text, Chain: "IC-001"})
		})
		b.view(func(r pipeline.Reader) error {
			got, err := r.Contract("IC-001")
			if err == nil && !bytes.Equal(got.Text, text) {
				t.Errorf("stored %s, want %s", got.Text, text)
			}
			return err
		})
	})

	t.Run("what is not there is not found", func(t *testing.T) {
		b := newBench(t, open)
		b.view(func(r pipeline.Reader) error {
			if _, err := r.Contract("IC-001"); !b.absent(err) {
				t.Error("IC-001 was found")
			}
			if _, err := r.ContractAt(pipeline.Ref{ID: "IC-001", Version: 1}); !b.absent(err) {
				t.Error("IC-001 version 1 was found")
			}
			list, err := r.Versions("IC-001")
			if list == nil || len(list) != 0 {
				t.Errorf("the versions are %v", list)
			}
			return err
		})
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error {
			_, err := tx.Contract("IC-001")
			return err
		})
	})

	t.Run("a row is written once", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			c, err := tx.Contract("IC-001")
			if err != nil {
				return err
			}
			again := *c
			again.Revision = 0
			return tx.CreateContract(&again)
		})
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { // no chain to be in
			return tx.CreateContract(wrap(task(tx, "TS-001", "IC-009", contract.Draft, 1), "IC-009", pipeline.Ref{ID: "IC-009", Version: 1}))
		})
	})

	t.Run("a write of an old revision is refused and changes nothing", func(t *testing.T) {
		b := newBench(t, open)
		var first *pipeline.Contract
		b.update(func(tx pipeline.Tx) (err error) { first, err = b.chain(tx, "IC-001", contract.Draft); return err })
		old := *first
		b.update(func(tx pipeline.Tx) error {
			c := move(first, tx, contract.Active, "")
			return tx.UpdateContract(c)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.UpdateContract(move(&old, tx, contract.Revoked, "")) })
		b.view(func(r pipeline.Reader) error {
			c, err := r.Contract("IC-001")
			if err == nil && (c.Document.Head().State != contract.Active || c.Revision != 2) {
				t.Errorf("the contract is %s at revision %d", c.Document.Head().State, c.Revision)
			}
			return err
		})
	})

	t.Run("an edit in place keeps the former content as history", func(t *testing.T) {
		b := newBench(t, open)
		var first *pipeline.Contract
		b.update(func(tx pipeline.Tx) (err error) { first, err = b.chain(tx, "IC-001", contract.Draft); return err })
		b.at(time.Minute)
		b.update(func(tx pipeline.Tx) error {
			c, err := tx.Contract("IC-001")
			if err != nil {
				return err
			}
			d := *c.Document.(*contract.Intent)
			d.Version, d.Intent = 3, "Rename it twice"
			next := wrap(&d, "IC-001", pipeline.Ref{})
			next.Revision = c.Revision
			return tx.ReplaceContract(next, 1)
		})
		b.view(func(r pipeline.Reader) error {
			list, err := r.Versions("IC-001")
			if err != nil {
				return err
			}
			if refs(list) != "IC-001.3 " {
				t.Errorf("the rows are %s", refs(list))
			}
			if _, err := r.ContractAt(pipeline.Ref{ID: "IC-001", Version: 1}); !b.absent(err) {
				t.Error("a replaced content is still a contract")
			}
			history, err := r.History("IC-001")
			if err != nil {
				return err
			}
			if len(history) != 1 || history[0].Ref != (pipeline.Ref{ID: "IC-001", Version: 1}) || !bytes.Equal(history[0].Text, first.Text) || !history[0].At.Equal(start.Add(time.Minute)) {
				t.Errorf("the history is %+v", history)
			}
			return nil
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { // of a row that is no more
			d := *first.Document.(*contract.Intent)
			d.Version = 4
			next := wrap(&d, "IC-001", pipeline.Ref{})
			next.Revision = 1
			return tx.ReplaceContract(next, 1)
		})
	})

	t.Run("a reference finds the version in force, then the highest", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Published); return err })
		resolves := func(want int64) {
			t.Helper()
			b.view(func(r pipeline.Reader) error {
				c, err := r.Contract("IC-001")
				if err != nil {
					return err
				}
				list, err := r.Contracts(pipeline.ContractFilter{}, pipeline.Page{})
				if err != nil {
					return err
				}
				if c.Ref().Version != want || refs(list) != fmt.Sprintf("IC-001.%d ", want) {
					t.Errorf("IC-001 is version %d and lists show %s, want %d", c.Ref().Version, refs(list), want)
				}
				return nil
			})
		}
		successor := func(version int64, state contract.State) {
			b.update(func(tx pipeline.Tx) error {
				c, err := tx.Contract("IC-001")
				if err != nil {
					return err
				}
				h := c.Document.Head()
				h.Version, h.State = version, state
				return tx.CreateContract(wrap(c.Document.With(h), "IC-001", pipeline.Ref{}))
			})
		}
		step := func(version int64, state contract.State) {
			b.update(func(tx pipeline.Tx) error {
				c, err := tx.ContractAt(pipeline.Ref{ID: "IC-001", Version: version})
				if err != nil {
					return err
				}
				return tx.UpdateContract(move(c, tx, state, ""))
			})
		}
		successor(2, contract.Draft)
		resolves(1)
		step(2, contract.Active)
		resolves(2)
		step(2, contract.Revoked)
		resolves(1)
		step(1, contract.Revoked)
		resolves(2)
	})

	t.Run("at most one version of an id is under way", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Active); return err })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			c, err := tx.Contract("IC-001")
			if err != nil {
				return err
			}
			h := c.Document.Head()
			h.Version = 2
			return tx.CreateContract(wrap(c.Document.With(h), "IC-001", pipeline.Ref{}))
		})
	})

	t.Run("targets follow the version they were made from", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				kind   contract.Kind
				source pipeline.Ref
				refs   string
			}{
				{contract.KindTaskSeed, pipeline.Ref{ID: "IC-001", Version: 1}, "TS-001.1 "},
				{contract.KindTaskSeed, pipeline.Ref{ID: "IC-001", Version: 2}, "TS-001.2 "},
				{contract.KindAcceptance, pipeline.Ref{ID: "TS-001", Version: 2}, "AC-001.1 "},
				{contract.KindEvidence, pipeline.Ref{ID: "TS-001", Version: 2}, "EV-001.1 "},
				{contract.KindPublishGate, pipeline.Ref{ID: "AC-001", Version: 1}, "PG-001.1 "},
				{contract.KindIntent, pipeline.Ref{}, ""},
			} {
				list, err := r.MadeFrom(want.kind, want.source)
				if err != nil {
					return err
				}
				if refs(list) != want.refs {
					t.Errorf("made from %v: %s, want %s", want.source, refs(list), want.refs)
				}
			}
			list, err := r.OfChain("IC-001")
			if got := refs(list); got != "IC-001.1 TS-001.1 TS-001.2 AC-001.1 PG-001.1 EV-001.1 " {
				t.Errorf("the chain is %s", got)
			}
			return err
		})
	})

	t.Run("ids count per kind, pass over what came from outside and are not repeated", func(t *testing.T) {
		b := newBench(t, open)
		family(b) // holds EV-001
		next := func(tx pipeline.Tx, kind contract.Kind, want contract.ID) error {
			got, err := tx.NextID(kind)
			if err == nil && got != want {
				t.Errorf("the next %s is %s, want %s", kind, got, want)
			}
			return err
		}
		b.update(func(tx pipeline.Tx) error {
			if err := next(tx, contract.KindEvidence, "EV-002"); err != nil {
				return err
			}
			return next(tx, contract.KindTaskSeed, "TS-002")
		})
		lost := fault.E("test", fault.Invalid, "no", nil)
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error {
			if err := next(tx, contract.KindEvidence, "EV-003"); err != nil {
				return err
			}
			return lost
		})
		// The number is lost with its transaction, or given again.
		b.update(func(tx pipeline.Tx) error {
			got, err := tx.NextID(contract.KindEvidence)
			if err == nil && got != "EV-003" && got != "EV-004" {
				t.Errorf("the next id is %s", got)
			}
			return err
		})
		for _, outside := range []contract.ID{"EV-005", "EV-1000"} {
			b.update(func(tx pipeline.Tx) error {
				return tx.CreateContract(wrap(evidence(tx, outside, "TS-001"), "IC-001", pipeline.Ref{ID: "TS-001", Version: 2}))
			})
		}
		seen := map[contract.ID]bool{}
		b.update(func(tx pipeline.Tx) error {
			clear(seen)
			for len(seen) < 1000 {
				got, err := tx.NextID(contract.KindEvidence)
				if err != nil {
					return err
				}
				if seen[got] || !got.Valid() || got == "EV-005" || got == "EV-1000" {
					t.Fatalf("%s is given out", got)
				}
				seen[got] = true
			}
			return nil
		})
		if !seen["EV-999"] || !seen["EV-1001"] {
			t.Error("numbers are left out that nothing has")
		}
	})

	t.Run("lists filter, order and page", func(t *testing.T) { lists(newBench(t, open)) })
}

// family makes a chain with a contract of every kind, a second TaskSeed
// version among them.
func family(b *bench) {
	b.Helper()
	b.update(func(tx pipeline.Tx) error {
		if _, err := b.chain(tx, "IC-001", contract.Active); err != nil {
			return err
		}
		first := wrap(task(tx, "TS-001", "IC-001", contract.Revoked, 1), "IC-001", pipeline.Ref{ID: "IC-001", Version: 1})
		pg := wrap(gate(tx, "PG-001", "AC-001", 1), "IC-001", pipeline.Ref{ID: "AC-001", Version: 1})
		pg.ApprovalDigest, pg.HeadCommit = "sha256:aa", "89abcde"
		ev := wrap(evidence(tx, "EV-001", "TS-001"), "IC-001", pipeline.Ref{ID: "TS-001", Version: 2})
		ev.ExecutionID = "run-1"
		for _, c := range []*pipeline.Contract{
			first,
			wrap(task(tx, "TS-001", "IC-001", contract.Active, 2), "IC-001", pipeline.Ref{ID: "IC-001", Version: 2}),
			wrap(acceptance(tx, "AC-001", "TS-001", contract.Active, contract.Passed, 1), "IC-001", pipeline.Ref{ID: "TS-001", Version: 2}),
			pg, ev,
		} {
			if err := tx.CreateContract(c); err != nil {
				return err
			}
		}
		return nil
	})
}

func lists(b *bench) {
	family(b)
	b.at(time.Hour)
	b.update(func(tx pipeline.Tx) error {
		if _, err := b.chain(tx, "IC-002", contract.Active); err != nil {
			return err
		}
		chain, err := tx.Chain("IC-002")
		if err != nil {
			return err
		}
		chain.Phase = "Build"
		if err := tx.UpdateChain(chain); err != nil {
			return err
		}
		c := wrap(task(tx, "TS-002", "IC-002", contract.Active, 1), "IC-002", pipeline.Ref{ID: "IC-002", Version: 1})
		if err := tx.CreateContract(c); err != nil {
			return err
		}
		return tx.UpdateContract(move(c, tx, contract.Frozen, contract.HardStale))
	})
	b.view(func(r pipeline.Reader) error {
		for _, want := range []struct {
			name   string
			filter pipeline.ContractFilter
			refs   string
		}{
			{"all, newest first", pipeline.ContractFilter{}, "TS-002.1 IC-002.1 TS-001.2 PG-001.1 IC-001.1 EV-001.1 AC-001.1 "},
			{"kind", pipeline.ContractFilter{Kinds: []contract.Kind{contract.KindTaskSeed, contract.KindAcceptance}}, "TS-002.1 TS-001.2 AC-001.1 "},
			{"id", pipeline.ContractFilter{IDs: []contract.ID{"PG-001"}}, "PG-001.1 "},
			{"state", pipeline.ContractFilter{States: []contract.State{contract.Frozen}}, "TS-002.1 "},
			{"intent", pipeline.ContractFilter{Chains: []contract.ID{"IC-002"}}, "TS-002.1 IC-002.1 "},
			{"TaskSeed", pipeline.ContractFilter{TaskSeeds: []contract.ID{"TS-001"}}, "TS-001.2 PG-001.1 EV-001.1 AC-001.1 "},
			{"status", pipeline.ContractFilter{Statuses: []contract.Status{contract.Passed}}, "AC-001.1 "},
			{"level", pipeline.ContractFilter{Levels: []contract.Level{contract.High}}, "PG-001.1 "},
			{"decision", pipeline.ContractFilter{FinalDecisions: []contract.FinalDecision{contract.DecisionPending}}, "PG-001.1 "},
			{"freeze cause", pipeline.ContractFilter{FreezeCauses: []contract.Cause{contract.HardStale}}, "TS-002.1 "},
			{"creator", pipeline.ContractFilter{Creators: []contract.ActorID{"ada"}}, "IC-002.1 IC-001.1 "},
			{"owner role", pipeline.ContractFilter{OwnerRoles: []contract.Role{contract.Developer}}, "TS-002.1 TS-001.2 "},
			{"phase", pipeline.ContractFilter{Phases: []pipeline.Phase{"Build"}}, "TS-002.1 IC-002.1 "},
			{"waiting for", pipeline.ContractFilter{WaitingFor: []contract.Role{contract.Admin, contract.ProjectLead}}, "PG-001.1 "},
			{"waiting for nobody", pipeline.ContractFilter{WaitingFor: []contract.Role{contract.Admin}}, ""},
			{"due", pipeline.ContractFilter{DueBefore: start.Add(24*time.Hour + time.Second)}, "PG-001.1 "},
			{"not due", pipeline.ContractFilter{DueBefore: start.Add(24 * time.Hour)}, ""},
			{"execution", pipeline.ContractFilter{ExecutionIDs: []string{"run-1"}}, "EV-001.1 "},
			{"actor", pipeline.ContractFilter{Actors: []contract.ActorID{"robot"}}, "EV-001.1 "},
			{"verdict", pipeline.ContractFilter{Verdicts: []contract.PolicyVerdict{contract.VerdictManual}}, "EV-001.1 "},
			{"classification", pipeline.ContractFilter{Classifications: []contract.Classification{contract.Fresh}}, "EV-001.1 "},
			{"head commit", pipeline.ContractFilter{HeadCommits: []string{"89abcde"}}, "PG-001.1 "},
			{"since", pipeline.ContractFilter{UpdatedSince: start.Add(time.Hour)}, "TS-002.1 IC-002.1 "},
			{"before", pipeline.ContractFilter{UpdatedBefore: start.Add(time.Hour), Kinds: []contract.Kind{contract.KindIntent}}, "IC-001.1 "},
			// The frozen one is not, and the other was made from a version of
			// its intent that is not Active.
			{"claimable", pipeline.ContractFilter{Claimable: true}, ""},
			{"asking", pipeline.ContractFilter{Asking: true}, "TS-002.1 "},
			{"a value that looks like SQL", pipeline.ContractFilter{IDs: []contract.ID{"' OR 1=1 --"}}, ""},
		} {
			list, err := r.Contracts(want.filter, pipeline.Page{})
			if err != nil {
				return err
			}
			if refs(list) != want.refs {
				b.Errorf("%s: %s, want %s", want.name, refs(list), want.refs)
			}
		}

		var pages string
		for p := (pipeline.Page{Limit: 3}); ; {
			list, err := r.Contracts(pipeline.ContractFilter{}, p)
			if err != nil {
				return err
			}
			pages += refs(list) + "| "
			if len(list) < p.Limit {
				break
			}
			last := list[len(list)-1].Document.Head()
			p.Behind = pipeline.Mark{At: last.UpdatedAt.Time(), ID: string(last.ID)}
		}
		if pages != "TS-002.1 IC-002.1 TS-001.2 | PG-001.1 IC-001.1 EV-001.1 | AC-001.1 | " {
			b.Errorf("the pages are %s", pages)
		}
		return nil
	})
	b.update(func(tx pipeline.Tx) error { // resumed, it waits to be claimed
		c, err := tx.Contract("TS-002")
		if err != nil {
			return err
		}
		return tx.UpdateContract(move(c, tx, contract.Active, ""))
	})
	b.view(func(r pipeline.Reader) error {
		list, err := r.Contracts(pipeline.ContractFilter{Claimable: true}, pipeline.Page{})
		if refs(list) != "TS-002.1 " {
			b.Errorf("claimable are %s", refs(list))
		}
		return err
	})
}
