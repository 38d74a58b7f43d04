package storetest

import (
	"strconv"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// correlation holds everything of a chain to the correlation id the chain was
// made with.
func correlation(t *testing.T, open Open) {
	t.Helper()
	const asked = "req-1"
	b := newBench(t, open)
	b.update(func(tx pipeline.Tx) error {
		chain := &pipeline.Chain{ID: "IC-001", Correlation: asked, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.CreateChain(chain); err != nil {
			return err
		}
		return tx.CreateContract(wrap(task(tx, "TS-001", "IC-001", contract.Active, 1), "IC-001", pipeline.Ref{ID: "IC-001", Version: 1}))
	})
	b.bare("IC-002")
	// What a caller says in its stead counts for nothing.
	b.update(func(tx pipeline.Tx) error {
		chain, err := tx.Chain("IC-001")
		if err != nil {
			return err
		}
		chain.Correlation = "req-2"
		if err := tx.UpdateChain(chain); err != nil {
			return err
		}
		c, err := tx.Contract("TS-001")
		if err != nil {
			return err
		}
		c.Correlation = "req-2"
		if err := tx.UpdateContract(c); err != nil {
			return err
		}
		run := &pipeline.Run{ExecutionID: "run-1", Chain: "IC-001", Correlation: "req-2", TaskSeed: c.Ref(), Phase: "Build", StartedAt: start}
		if err := tx.CreateRun(run); err != nil {
			return err
		}
		run.Correlation = "req-2"
		if err := tx.UpdateRun(run); err != nil {
			return err
		}
		a := pipeline.Artifact{
			ExecutionID: "run-1", Kind: "build_log", Chain: "IC-001", Correlation: "req-2", SHA256: contract.Hash(nil), At: start,
		}
		if err := tx.AddArtifact(a); err != nil {
			return err
		}
		e := created(tx, "IC-001", 1)
		e.Origin.Correlation = "req-2"
		if err := tx.Emit(e); err != nil {
			return err
		}
		if err := tx.Emit(created(tx, "IC-002", 1)); err != nil {
			return err
		}
		r := record(tx, "contract.create", "TS-001")
		r.CorrelationID, r.IntentID = asked, "IC-001"
		if err := tx.Record(r); err != nil {
			return err
		}
		return tx.Record(record(tx, "contract.create", "IC-002"))
	})

	b.view(func(r pipeline.Reader) error {
		chain, err := r.Chain("IC-001")
		if err != nil {
			return err
		}
		c, err := r.Contract("TS-001")
		if err != nil {
			return err
		}
		run, err := r.Run("run-1")
		if err != nil {
			return err
		}
		a, err := r.Artifact("run-1", "build_log")
		if err != nil {
			return err
		}
		listed, err := r.Artifacts("IC-001")
		if err != nil {
			return err
		}
		event, err := r.Event(created(r, "IC-001", 1).ID)
		if err != nil {
			return err
		}
		for what, got := range map[string]string{
			"the chain": chain.Correlation, "a contract": c.Correlation, "a run": run.Correlation, "an artifact": a.Correlation,
			"an artifact in a list": listed[0].Correlation, "an event": event.Origin.Correlation,
		} {
			if got != asked {
				t.Errorf("%s is of the path %q, want %s", what, got, asked)
			}
		}
		if own, err := r.Chain("IC-002"); err != nil || own.Correlation != "IC-002" {
			t.Errorf("a chain that names no path is of %v (%v)", own, err)
		}

		chains, err := r.Chains(pipeline.ChainFilter{Correlations: []string{asked}}, pipeline.Page{})
		if err != nil {
			return err
		}
		if got := ids(chains, func(c *pipeline.Chain) string { return string(c.ID) }); got != "IC-001 " {
			t.Errorf("the chains of the path are %s", got)
		}
		contracts, err := r.Contracts(pipeline.ContractFilter{Correlations: []string{asked}}, pipeline.Page{})
		if err != nil {
			return err
		}
		if got := refs(contracts); got != "TS-001.1 " {
			t.Errorf("the contracts of the path are %s", got)
		}
		for of, want := range map[string]string{asked: "run-1 ", "IC-002": ""} {
			runs, err := r.Runs(pipeline.RunFilter{Correlations: []string{of}}, pipeline.Page{})
			if err != nil {
				return err
			}
			if got := ids(runs, func(r *pipeline.Run) string { return r.ExecutionID }); got != want {
				t.Errorf("the runs of %s are %s", of, got)
			}
		}
		events, err := r.Events(0, pipeline.EventFilter{Correlations: []string{asked}}, 0)
		if err != nil {
			return err
		}
		if got := ids(events, func(e pipeline.Event) string { return e.Subject.ID }); got != "IC-001 " {
			t.Errorf("the events of the path are of %s", got)
		}
		records, err := r.Audit(0, pipeline.AuditFilter{Correlations: []string{asked}}, 0)
		if got := ids(records, func(l pipeline.AuditLine) string { return strconv.FormatInt(l.Position, 10) }); got != "1 " {
			t.Errorf("the records of the path are %s", got)
		}
		return err
	})
}
