package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// same compares timestamps as instants and as texts.
var same = cmp.Comparer(func(a, b contract.Timestamp) bool { return a == b })

func decisions(t *testing.T, open Open) {
	t.Helper()
	reason, empty := "looks \x00 good", ""
	approval := func(role contract.Role, actor contract.ActorID, d contract.Decision, why *string) contract.Approval {
		return contract.Approval{Role: role, ActorID: actor, Decision: d, DecidedAt: contract.At(start.Add(5 * time.Millisecond)), Reason: why}
	}

	t.Run("the activation ledger keeps every vote in order", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		want := []pipeline.Vote{
			{Vote: contract.Vote{Version: 1, Approval: approval(contract.ProjectLead, "ada", contract.Approved, &reason)}, SelfApproved: true},
			{Vote: contract.Vote{Version: 1, Approval: approval(contract.ProjectLead, "ada", contract.Rejected, &empty)}},
			{Vote: contract.Vote{Version: 2, Approval: approval(contract.Admin, "bob", contract.Approved, nil)}},
		}
		for _, v := range want {
			b.update(func(tx pipeline.Tx) error { return tx.AddVote("TS-001", v) })
		}
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.AddVote("TS-001", want[0]) })
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { return tx.AddVote("TS-009", want[0]) })
		b.view(func(r pipeline.Reader) error {
			got, err := r.Votes("TS-001")
			if diff := cmp.Diff(want, got, same); diff != "" || err != nil {
				t.Errorf("the ledger differs (-want +got):\n%s (%v)", diff, err)
			}
			if none, err := r.Votes("AC-001"); err != nil || none == nil || len(none) != 0 {
				t.Errorf("AC-001 has the votes %v (%v)", none, err)
			}
			several, err := r.Ledgers("AC-001", "TS-001", "TS-404")
			if diff := cmp.Diff(map[contract.ID][]pipeline.Vote{"TS-001": want}, several, same); diff != "" || err != nil {
				t.Errorf("the ledgers differ (-want +got):\n%s (%v)", diff, err)
			}
			if none, err := r.Ledgers(); err != nil || none == nil || len(none) != 0 {
				t.Errorf("nothing has the votes %v (%v)", none, err)
			}
			return err
		})
	})

	t.Run("a decision on a gate keeps what it agreed to", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		want := []pipeline.Consent{
			{
				GateVersion: 1, Approval: approval(contract.ProjectLead, "ada", contract.Approved, nil),
				Digest: "sha256:aa", BaseCommit: "0123456", HeadCommit: "89abcde", SelfApproved: true,
			},
			{GateVersion: 1, Approval: approval(contract.SecurityReviewer, "bob", contract.Rejected, &reason), Digest: "sha256:aa"},
		}
		for _, c := range want {
			b.update(func(tx pipeline.Tx) error { return tx.AddConsent("PG-001", c) })
		}
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.AddConsent("PG-001", want[1]) })
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { return tx.AddConsent("PG-002", want[1]) })
		b.view(func(r pipeline.Reader) error {
			got, err := r.Consents("PG-001")
			if diff := cmp.Diff(want, got, same); diff != "" {
				t.Errorf("the decisions differ (-want +got):\n%s", diff)
			}
			return err
		})
	})
}
