package storetest

import (
	"fmt"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// twice is what an update sees that asks for the same things again: its own
// changes, and nothing that it only changed in memory.
func twice(t *testing.T, open Open) {
	t.Helper()
	t.Run("every version an update writes is found by it at once", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		b.update(func(tx pipeline.Tx) error {
			look := func(want string, resolved int64) error {
				t.Helper()
				list, err := tx.OfChain("IC-001")
				if err != nil {
					return err
				}
				got := ""
				for _, c := range list {
					got += fmt.Sprintf("%s.%d%s ", c.Ref().ID, c.Ref().Version, c.Document.Head().State[:2])
				}
				c, err := tx.Contract("TS-001")
				if err == nil && (got != want || c.Ref().Version != resolved) {
					t.Errorf("the chain is %s and TS-001 is version %d, want %s and %d", got, c.Ref().Version, want, resolved)
				}
				return err
			}
			const before, after = "IC-001.1Ac ", "AC-001.1Ac PG-001.1Ac EV-001.1Pu "
			if err := look(before+"TS-001.1Re TS-001.2Ac "+after, 2); err != nil {
				return err
			}
			c, err := tx.ContractAt(pipeline.Ref{ID: "TS-001", Version: 2})
			if err != nil {
				return err
			}
			if err := tx.UpdateContract(move(c, tx, contract.Superseded, "")); err != nil {
				return err
			}
			if err := look(before+"TS-001.1Re TS-001.2Su "+after, 2); err != nil {
				return err
			}
			third := wrap(task(tx, "TS-001", "IC-001", contract.Active, 3), "IC-001", pipeline.Ref{ID: "IC-001", Version: 2})
			if err := tx.CreateContract(third); err != nil {
				return err
			}
			return look(before+"TS-001.1Re TS-001.2Su TS-001.3Ac "+after, 3)
		})
		b.view(func(r pipeline.Reader) error {
			list, err := r.Contracts(pipeline.ContractFilter{IDs: []contract.ID{"TS-001"}}, pipeline.Page{})
			if got := refs(list); got != "TS-001.3 " {
				t.Errorf("lists show %s", got)
			}
			return err
		})
	})

	t.Run("a change in memory is none", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		b.update(func(tx pipeline.Tx) error {
			return tx.CreateRun(&pipeline.Run{
				ExecutionID: "run-9", Chain: "IC-001", TaskSeed: pipeline.Ref{ID: "TS-001", Version: 2}, Phase: "Build", StartedAt: start,
			})
		})
		b.update(func(tx pipeline.Tx) error {
			for range 2 {
				chain, err := tx.Chain("IC-001")
				if err != nil {
					return err
				}
				c, err := tx.Contract("IC-001")
				if err != nil {
					return err
				}
				list, err := tx.OfChain("IC-001")
				if err != nil {
					return err
				}
				run, err := tx.Run("run-9")
				if err != nil {
					return err
				}
				d, other := c.Document.(*contract.Intent), list[0].Document.(*contract.Intent)
				if chain.HeadCommit != "" || d.Creator != "ada" || other.Creator != "ada" || c.HeadCommit != "" || !run.Alive() {
					t.Errorf("read %+v, %+v, %+v, %+v", chain, d, other, run)
				}
				chain.HeadCommit, d.Creator, other.Creator, c.HeadCommit, run.EndedAt = "0123456", "eve", "eve", "0123456", start
			}
			return nil
		})
	})

	t.Run("a chain, a run and a lock are read as the update wrote them", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		b.update(func(tx pipeline.Tx) error {
			chain, err := tx.Chain("IC-001")
			if err != nil {
				return err
			}
			chain.HeadCommit = "0123456"
			if err := tx.UpdateChain(chain); err != nil {
				return err
			}
			run := &pipeline.Run{
				ExecutionID: "run-9", Chain: "IC-001", TaskSeed: pipeline.Ref{ID: "TS-001", Version: 2}, Phase: "Build", StartedAt: start,
			}
			if err := tx.CreateRun(run); err != nil {
				return err
			}
			run.EndedAt, run.Outcome = start.Add(time.Minute), "succeeded"
			if err := tx.UpdateRun(run); err != nil {
				return err
			}
			locks, err := tx.Locks("contract:TS-001")
			if err != nil {
				return err
			}
			locks[0].Token, locks[0].Holder, locks[0].AcquiredAt, locks[0].HeartbeatAt = 1, "run-9", start, start
			if err := tx.PutLock(locks[0]); err != nil {
				return err
			}
			if err := tx.Fence("contract:TS-001", 1); err != nil {
				return err
			}
			again, err := tx.Chain("IC-001")
			if err != nil {
				return err
			}
			ended, err := tx.Run("run-9")
			if err != nil {
				return err
			}
			if again.HeadCommit != "0123456" || again.Revision != chain.Revision || ended.Alive() || ended.Revision != run.Revision {
				t.Errorf("read %+v and %+v, wrote %+v and %+v", again, ended, chain, run)
			}
			return tx.UpdateChain(again)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			chain, err := tx.Chain("IC-001")
			if err != nil {
				return err
			}
			stale := *chain
			if err := tx.UpdateChain(chain); err != nil {
				return err
			}
			return tx.UpdateChain(&stale)
		})
	})

	// Writes may go to the database together; none is lost for that, and the
	// first that finds nothing to write undoes them all.
	t.Run("a write that fails undoes those before it and those after it", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			chain, err := tx.Chain("IC-001")
			if err != nil {
				return err
			}
			if err := tx.UpdateChain(chain); err != nil {
				return err
			}
			for _, id := range []string{"run-1", "run-2", "run-1"} {
				run := &pipeline.Run{
					ExecutionID: id, Chain: "IC-001", TaskSeed: pipeline.Ref{ID: "TS-001", Version: 1}, StartedAt: start,
					EndedAt: start, Outcome: "succeeded",
				}
				if err := tx.CreateRun(run); err != nil {
					return err
				}
			}
			return tx.AddEffect(pipeline.Effect{Key: "key", At: start})
		})
		b.view(func(r pipeline.Reader) error {
			chain, err := r.Chain("IC-001")
			if err != nil {
				return err
			}
			list, err := r.Runs(pipeline.RunFilter{}, pipeline.Page{})
			if err != nil {
				return err
			}
			_, done, err := r.Effect("key")
			if chain.Revision != 1 || len(list) != 0 || done {
				t.Errorf("kept revision %d, %d runs and effect %v", chain.Revision, len(list), done)
			}
			return err
		})
	})
}
