package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func runs(t *testing.T, open Open) {
	t.Helper()
	one := func(id string) *pipeline.Run {
		return &pipeline.Run{
			ExecutionID: id, Chain: "IC-001", TaskSeed: pipeline.Ref{ID: "TS-001", Version: 2}, Phase: "Build", Role: contract.Developer,
			Actor: "robot", Series: 1, Attempt: 2, LockToken: 7, BaseCommit: "0123456", HeadCommit: "89abcde", DiffHash: "sha256:aa",
			StartedAt: start, Deadline: start.Add(20 * time.Minute), Details: []byte(`{}`),
		}
	}

	t.Run("a run is read as it was written and ended once", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		want := one("run-1")
		b.update(func(tx pipeline.Tx) error { return tx.CreateRun(want) })
		if !want.Alive() {
			t.Error("a run without an end is not alive")
		}
		b.update(func(tx pipeline.Tx) error {
			r, err := tx.Run("run-1")
			if err != nil {
				return err
			}
			r.EndedAt, r.Outcome, r.Evidence = start.Add(time.Minute), "succeeded", "EV-001"
			want = r
			return tx.UpdateRun(r)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { r := one("run-1"); r.Revision = 1; return tx.UpdateRun(r) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.CreateRun(one("run-1")) })
		b.view(func(r pipeline.Reader) error {
			got, err := r.Run("run-1")
			if diff := cmp.Diff(want, got); diff != "" || got.Alive() {
				t.Errorf("the run differs (-want +got):\n%s", diff)
			}
			if _, err := r.Run("run-2"); !b.absent(err) {
				t.Error("run-2 was found")
			}
			return err
		})
	})

	t.Run("a chain has one run alive", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		b.update(func(tx pipeline.Tx) error { return tx.CreateRun(one("run-1")) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.CreateRun(one("run-2")) })
		b.view(func(r pipeline.Reader) error {
			list, err := r.Contracts(pipeline.ContractFilter{Claimable: true}, pipeline.Page{})
			if len(list) != 0 {
				t.Errorf("%sis claimable while a run is alive", refs(list))
			}
			return err
		})
	})

	t.Run("runs are listed newest first and filtered", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		yes, no := true, false
		b.update(func(tx pipeline.Tx) error {
			for i, id := range []string{"run-1", "run-2", "run-3"} {
				r := one(id)
				r.StartedAt = start.Add(time.Duration(i) * time.Minute)
				if i < 2 {
					r.EndedAt, r.Outcome = r.StartedAt.Add(time.Second), []string{"failed", "succeeded"}[i]
				} else {
					r.Phase, r.Actor, r.HeadCommit = "Stabilize", "qa", "fffffff"
				}
				if err := tx.CreateRun(r); err != nil {
					return err
				}
			}
			return nil
		})
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				name   string
				filter pipeline.RunFilter
				ids    string
			}{
				{"all", pipeline.RunFilter{}, "run-3 run-2 run-1 "},
				{"chain and TaskSeed", pipeline.RunFilter{Chains: []contract.ID{"IC-001"}, TaskSeeds: []contract.ID{"TS-001"}}, "run-3 run-2 run-1 "},
				{"another chain", pipeline.RunFilter{Chains: []contract.ID{"IC-002"}}, ""},
				{"phase", pipeline.RunFilter{Phases: []pipeline.Phase{"Stabilize"}}, "run-3 "},
				{"actor", pipeline.RunFilter{Actors: []contract.ActorID{"robot"}}, "run-2 run-1 "},
				{"outcome", pipeline.RunFilter{Outcomes: []string{"failed"}}, "run-1 "},
				{"head", pipeline.RunFilter{HeadCommits: []string{"fffffff"}}, "run-3 "},
				{"alive", pipeline.RunFilter{Alive: &yes}, "run-3 "},
				{"ended", pipeline.RunFilter{Alive: &no}, "run-2 run-1 "},
			} {
				list, err := r.Runs(want.filter, pipeline.Page{})
				if err != nil {
					return err
				}
				if got := ids(list, func(r *pipeline.Run) string { return r.ExecutionID }); got != want.ids {
					t.Errorf("%s: %s, want %s", want.name, got, want.ids)
				}
			}
			list, err := r.Runs(pipeline.RunFilter{}, pipeline.Page{Limit: 5, Behind: pipeline.Mark{At: start.Add(time.Minute), ID: "run-2"}})
			if got := ids(list, func(r *pipeline.Run) string { return r.ExecutionID }); got != "run-1 " {
				t.Errorf("the second page is %s", got)
			}
			return err
		})
	})
}
