package pipeline_test

import (
	"slices"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// What is not approved proves nothing; what is comes with every contract of its
// chain, every decision on it and every record about them.
func TestOnlyAnApprovedGateIsProved(t *testing.T) {
	o := newOffice(t, nil)
	_, err := o.GateBundle(o.Context(), "PG-001")
	o.refuses(refusal.RefNotFound, err)
	o.toGate()
	_, err = o.GateBundle(o.Context(), "PG-001")
	o.refuses(refusal.GateNotApproved, err)
	_, err = o.GateBundle(o.Context(), "AC-001")
	o.refuses(refusal.RefNotFound, err)
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	proof, err := o.GateBundle(o.Context(), "PG-001")
	p := must(o, proof, err)
	ids := []contract.ID{}
	for _, c := range p.Contracts {
		ids = append(ids, c.Ref().ID)
	}
	for _, id := range []contract.ID{"IC-001", "TS-001", "AC-001", "PG-001", "EV-001", "EV-002"} {
		if !slices.Contains(ids, id) {
			t.Errorf("the proof holds %v, and not %s", ids, id)
		}
	}
	if len(p.Consents) != 2 || p.Consents[0].Digest != p.Gate.ApprovalDigest || p.Released != first {
		t.Errorf("agreed to by %+v, for %s", p.Consents, p.Released)
	}
	if len(p.Replaced) == 0 {
		t.Error("the Acceptance was judged again in place, and nothing is said of it")
	}
	all, err := o.AuditList(o.Context(), 0, pipeline.AuditFilter{Contracts: ids}, 0)
	for _, l := range must(o, all, err) {
		if !slices.Contains(p.Records, l.Position) {
			t.Errorf("record %d is about the chain and not named", l.Position)
		}
	}
	head, err := o.AuditHead(o.Context())
	if err != nil || p.Head != head || len(p.Records) != len(all) {
		t.Errorf("the log is at %v, and in the proof at %v with %d records, %v", head, p.Head, len(p.Records), err)
	}

	// Other bytes than those agreed to are another agreement's.
	o.run(job{who: ci, phase: phase.Refactor, head: second})
	if later, err := o.GateBundle(o.Context(), "PG-001"); err == nil && later.Released != first {
		t.Errorf("%s was agreed to, and %s is said to be", first, later.Released)
	}
}
