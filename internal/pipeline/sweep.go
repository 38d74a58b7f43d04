package pipeline

import (
	"context"
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
)

// This file is what happens because time has passed and nobody asked: what is
// given up, and what is archived.

// swept is how much one transaction of a sweep touches.
const swept = 200

// sweptLogs is how many events or records one transaction gives up.
const sweptLogs = 1000

// keepRequests is how long an answer is kept under its key (§20.1).
const keepRequests = 7 * 24 * time.Hour

// RunSweep gives up what is no longer kept, and archives what is past its
// retention (§14, §20.1, §20.4). Each step is a transaction of its own, so that
// nobody waits long for it.
func (s *Service) RunSweep(ctx context.Context, _ Attempt) error {
	for _, step := range []struct {
		most int
		do   func(Tx) (int, error)
	}{
		{swept, func(tx Tx) (int, error) { return tx.Prune(tx.Now().Add(-keepRequests), swept) }},
		{sweptLogs, s.giveUpEvents},
		{sweptLogs, s.giveUpRecords},
	} {
		for n := step.most; n == step.most; {
			err := s.conf.Store.Update(ctx, func(tx Tx) (err error) {
				n, err = step.do(tx)
				return err
			})
			if err != nil {
				return again(err)
			}
		}
	}
	return s.archiveDue(ctx)
}

// giveUpEvents shortens the stream at its old end.
func (s *Service) giveUpEvents(tx Tx) (int, error) {
	if s.conf.EventRetention == 0 {
		return 0, nil
	}
	return tx.GiveUpEvents(tx.Now().Add(-s.conf.EventRetention), sweptLogs)
}

// giveUpRecords shortens the audit log at its old end. The head behind what goes
// is signed first, so that a copy of the rest can be checked for ever.
func (s *Service) giveUpRecords(tx Tx) (int, error) {
	if s.conf.Seal == nil {
		return 0, nil
	}
	from, _, err := tx.Seal()
	if err != nil {
		return 0, err
	}
	lines, err := tx.Audit(from.Count, AuditFilter{}, sweptLogs)
	if err != nil {
		return 0, err
	}
	records := make([]event.Chained, len(lines))
	for i, l := range lines {
		records[i] = l.Chained
	}
	to, note, err := s.conf.Seal(from, records, tx.Now())
	if err != nil || to == from {
		return 0, err
	}
	who := s.orchestrator()
	err = tx.Record(event.Record{
		Timestamp: contract.At(tx.Now()).String(), ActorID: string(who.ID), Role: string(who.Role), Action: "audit.seal", Success: true,
		Resolution: fmt.Sprintf("records %d to %d are given up", from.Count+1, to.Count),
	})
	if err != nil {
		return 0, err
	}
	return int(to.Count - from.Count), tx.GiveUpRecords(to, note)
}

// archiveDue archives what is past its retention.
func (s *Service) archiveDue(ctx context.Context) error {
	due, err := view(ctx, s, func(r Reader) ([]*Contract, error) {
		// A calendar year has at most 366 days; the guard of the table has the last word.
		before := r.Now().AddDate(-1, 0, 0).Add(-s.conf.AuditRetention)
		return r.Contracts(ContractFilter{
			States:        []contract.State{contract.Published, contract.Superseded, contract.Revoked},
			UpdatedBefore: before,
		}, Page{Limit: swept})
	})
	if err != nil {
		return again(err)
	}
	for _, c := range due {
		err := s.step(ctx, s.orchestrator(), "contract.transition", c.Chain, func(x *session) error {
			row := x.w.row(c.Ref())
			if row == nil {
				return nil
			}
			err := x.moved(row, s.archiving(x.orchestrator(), row, ""))
			if refusal.CodeOf(err) != "" {
				return nil //nolint:nilerr // not due after all, or held: the next sweep looks again
			}
			return err
		})
		if err != nil {
			return again(err)
		}
	}
	return nil
}
