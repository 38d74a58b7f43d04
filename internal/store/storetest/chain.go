package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func chains(t *testing.T, open Open) {
	t.Helper()
	t.Run("a chain is read as it was written, once per revision", func(t *testing.T) {
		b := newBench(t, open)
		want := &pipeline.Chain{
			ID: "IC-001", Version: 2, Phase: "Stabilize", Repository: "plimsoll", BaseCommit: "0123456", HeadCommit: "89abcde",
			DiffHash: "sha256:aa", FailedRuns: 3, Returns: 2, FetchedAt: start.Add(123456 * time.Microsecond), Details: []byte(`{"owed":true}`),
			CreatedAt: start, UpdatedAt: start,
		}
		b.update(func(tx pipeline.Tx) error {
			if err := tx.CreateChain(want); err != nil {
				return err
			}
			want.Returns++
			return tx.UpdateChain(want)
		})
		old := *want
		old.Revision = 1
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.UpdateChain(&old) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			return tx.CreateChain(&pipeline.Chain{ID: "IC-001", CreatedAt: start, UpdatedAt: start})
		})
		b.view(func(r pipeline.Reader) error {
			got, err := r.Chain("IC-001")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the chain differs (-want +got):\n%s", diff)
			}
			if _, err := r.Chain("IC-002"); !b.absent(err) {
				t.Error("IC-002 was found")
			}
			return nil
		})
	})

	t.Run("chains are listed newest first and filtered", func(t *testing.T) {
		b := newBench(t, open)
		for i, id := range []contract.ID{"IC-001", "IC-002", "IC-003"} {
			b.at(time.Duration(i/2) * time.Hour)
			b.update(func(tx pipeline.Tx) error {
				if _, err := b.chain(tx, id, []contract.State{contract.Active, contract.Draft, contract.Active}[i]); err != nil {
					return err
				}
				c, err := tx.Chain(id)
				if err != nil {
					return err
				}
				c.Phase, c.Repository = []pipeline.Phase{"Build", "", "Publish"}[i], "plimsoll"
				c.HeadCommit, c.DiffHash = "head-"+string(id), "diff-"+string(id)
				if id == "IC-003" {
					for _, row := range []*pipeline.Contract{
						wrap(task(tx, "TS-001", id, contract.Active, 1), id, pipeline.Ref{ID: id, Version: 1}),
						wrap(acceptance(tx, "AC-001", "TS-001", contract.Active, contract.Passed, 1), id, pipeline.Ref{ID: "TS-001", Version: 1}),
						wrap(gate(tx, "PG-001", "AC-001", 1), id, pipeline.Ref{ID: "AC-001", Version: 1}),
					} {
						if err := tx.CreateContract(row); err != nil {
							return err
						}
					}
				}
				return tx.UpdateChain(c)
			})
		}
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				name   string
				filter pipeline.ChainFilter
				ids    string
			}{
				{"all", pipeline.ChainFilter{}, "IC-003 IC-002 IC-001 "},
				{"id", pipeline.ChainFilter{IDs: []contract.ID{"IC-001"}}, "IC-001 "},
				{"phase", pipeline.ChainFilter{Phases: []pipeline.Phase{"Build", "Publish"}}, "IC-003 IC-001 "},
				{"state of the intent", pipeline.ChainFilter{States: []contract.State{contract.Draft}}, "IC-002 "},
				{"level of the gate", pipeline.ChainFilter{Levels: []contract.Level{contract.High}, States: []contract.State{contract.Active}}, "IC-003 "},
				{"a level no gate has", pipeline.ChainFilter{Levels: []contract.Level{contract.Low}}, ""},
				{"creator", pipeline.ChainFilter{Creators: []contract.ActorID{"ada"}, IDs: []contract.ID{"IC-003"}}, "IC-003 "},
				{"nobody's", pipeline.ChainFilter{Creators: []contract.ActorID{"eve"}}, ""},
				{"head", pipeline.ChainFilter{Repositories: []string{"plimsoll"}, HeadCommits: []string{"head-IC-002"}}, "IC-002 "},
				{"diff", pipeline.ChainFilter{DiffHashes: []string{"diff-IC-003"}}, "IC-003 "},
				{"since", pipeline.ChainFilter{UpdatedSince: start.Add(time.Hour)}, "IC-003 "},
				{"before", pipeline.ChainFilter{UpdatedBefore: start.Add(time.Hour)}, "IC-002 IC-001 "},
			} {
				list, err := r.Chains(want.filter, pipeline.Page{})
				if err != nil {
					return err
				}
				if got := ids(list, func(c *pipeline.Chain) string { return string(c.ID) }); got != want.ids {
					t.Errorf("%s: %s, want %s", want.name, got, want.ids)
				}
			}
			list, err := r.Chains(pipeline.ChainFilter{}, pipeline.Page{Limit: 1, Behind: pipeline.Mark{At: start.Add(time.Hour), ID: "IC-003"}})
			if got := ids(list, func(c *pipeline.Chain) string { return string(c.ID) }); got != "IC-002 " {
				t.Errorf("the second page is %s", got)
			}
			return err
		})
	})
}
