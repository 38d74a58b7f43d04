package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

func audit(t *testing.T, open Open) {
	t.Helper()
	t.Run("records are chained in the order of the commits, whoever writes", func(t *testing.T) {
		b := newBench(t, open)
		const writers, rounds = 6, 4
		each(t, writers, func(i int) error {
			for n := range rounds {
				err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
					for _, action := range []string{"first", "second"} {
						r := record(tx, action, contract.NewID(contract.KindTaskSeed, int64(i+1)))
						r.IdempotencyKey = strconv.Itoa(n)
						if err := tx.Record(r); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error { // what is undone is not recorded
			if err := tx.Record(record(tx, "third", "TS-001")); err != nil {
				return err
			}
			return errUndo
		})
		b.view(func(r pipeline.Reader) error {
			lines, err := r.Audit(0, pipeline.AuditFilter{}, 0)
			if err != nil {
				return err
			}
			head, err := r.AuditHead()
			if err != nil {
				return err
			}
			if len(lines) != writers*rounds*2 || head.Count != int64(len(lines)) {
				t.Errorf("the log has %d records and says %d", len(lines), head.Count)
			}
			chained := make([]event.Chained, len(lines))
			for i, l := range lines {
				chained[i] = l.Chained
				if l.Position != int64(i+1) {
					t.Errorf("record %d is at %d", i+1, l.Position)
				}
			}
			got, err := event.Verify(event.Genesis("plimsoll.test/log"), slices.Values(chained))
			if err != nil || got != head {
				t.Errorf("the chain leads to %v, the head is %v (%v)", got, head, err)
			}
			return nil
		})
	})

	t.Run("an empty log stands at its origin", func(t *testing.T) {
		b := newBench(t, open)
		b.view(func(r pipeline.Reader) error {
			head, err := r.AuditHead()
			if head != event.Genesis("plimsoll.test/log") {
				t.Errorf("the head is %v", head)
			}
			return err
		})
	})

	t.Run("a record without an instant is refused", func(t *testing.T) {
		b := newBench(t, open)
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error {
			r := record(tx, "gate.decide", "PG-001")
			r.Timestamp = "yesterday"
			return tx.Record(r)
		})
	})

	t.Run("records are read behind a position and searched by the eight keys", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			r := record(tx, "contract.create", "TS-001")
			r.TaskSeedID = "TS-001"
			if err := tx.Record(r); err != nil {
				return err
			}
			r = record(tx, "gate.decide", "PG-001")
			r.ActorID, r.Role, r.TaskSeedID, r.RiskLevel, r.FinalDecision = "bob", "project_lead", "TS-001", "high", "approved"
			return tx.Record(r)
		})
		b.at(24 * time.Hour)
		b.update(func(tx pipeline.Tx) error { return tx.Record(record(tx, "contract.create", "IC-002")) })
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				name   string
				after  int64
				filter pipeline.AuditFilter
				limit  int
				places string
			}{
				{"all", 0, pipeline.AuditFilter{}, 0, "1 2 3 "},
				{"behind", 1, pipeline.AuditFilter{}, 1, "2 "},
				{"contract", 0, pipeline.AuditFilter{Contracts: []contract.ID{"PG-001", "IC-002"}}, 0, "2 3 "},
				{"TaskSeed", 0, pipeline.AuditFilter{TaskSeeds: []contract.ID{"TS-001"}}, 0, "1 2 "},
				{"actor", 0, pipeline.AuditFilter{Actors: []contract.ActorID{"bob"}}, 0, "2 "},
				{"role", 0, pipeline.AuditFilter{Roles: []contract.Role{contract.Admin}}, 0, "1 3 "},
				{"action", 0, pipeline.AuditFilter{Actions: []string{"gate.decide"}}, 0, "2 "},
				{"level", 0, pipeline.AuditFilter{Levels: []contract.Level{contract.High}}, 0, "2 "},
				{"decision", 0, pipeline.AuditFilter{FinalDecisions: []contract.FinalDecision{contract.DecisionApproved}}, 0, "2 "},
				{"text", 0, pipeline.AuditFilter{Mentions: `"id":"PG-001"`}, 0, "2 "},
				{"text like a pattern", 0, pipeline.AuditFilter{Mentions: "PG_%"}, 0, ""},
				{"day", 0, pipeline.AuditFilter{Since: start.Truncate(24 * time.Hour), Before: start.Truncate(24 * time.Hour).Add(24 * time.Hour)}, 0, "1 2 "},
			} {
				list, err := r.Audit(want.after, want.filter, want.limit)
				if err != nil {
					return err
				}
				if got := ids(list, func(l pipeline.AuditLine) string { return strconv.FormatInt(l.Position, 10) }); got != want.places {
					t.Errorf("%s: %s, want %s", want.name, got, want.places)
				}
				if want.after > 0 || want.limit > 0 {
					continue
				}
				// The other way round it is the same records.
				list, err = r.AuditBack(4, 0, want.filter, 0)
				if err != nil {
					return err
				}
				slices.Reverse(list)
				if got := ids(list, func(l pipeline.AuditLine) string { return strconv.FormatInt(l.Position, 10) }); got != want.places {
					t.Errorf("%s backwards: %s, want %s", want.name, got, want.places)
				}
			}
			for _, want := range []struct {
				before, floor int64
				filter        pipeline.AuditFilter
				limit         int
				places        string
			}{
				{4, 0, pipeline.AuditFilter{}, 2, "3 2 "},
				{3, 1, pipeline.AuditFilter{}, 0, "2 "},
				{3, 0, pipeline.AuditFilter{Actions: []string{"contract.create"}}, 1, "1 "},
				{1, 0, pipeline.AuditFilter{}, 0, ""},
			} {
				list, err := r.AuditBack(want.before, want.floor, want.filter, want.limit)
				if err != nil {
					return err
				}
				if got := ids(list, func(l pipeline.AuditLine) string { return strconv.FormatInt(l.Position, 10) }); got != want.places {
					t.Errorf("back from %d to %d: %s, want %s", want.before, want.floor, got, want.places)
				}
			}
			return nil
		})
	})
}
