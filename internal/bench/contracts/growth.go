package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// growth compares the cost of a chain between stores that hold few contracts
// and many. All are open at the same time and take turns.
func (b *report) growth(ctx context.Context, p place, o options) (err error) {
	list := make([]*service, len(o.stored))
	for i, n := range o.stored {
		at, err := p.make()
		if err != nil {
			return err
		}
		s, err := open(ctx, at)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.end()) }()
		s.begin(ctx)
		if err := errors.Join(s.people(ctx), s.chain(ctx)); err != nil {
			return err
		}
		began := time.Now()
		if err := s.fill(ctx, n); err != nil {
			return err
		}
		fmt.Printf("%-8s  %d contracts stored in %s\n", p.name, n, time.Since(began).Round(time.Millisecond))
		list[i] = s
	}
	costs := make([][]time.Duration, len(list))
	for i := -1; i < 2*o.rounds; i++ {
		for k, s := range list {
			took, err := s.chains(ctx, o.chains/3, o.clients)
			if err != nil {
				return err
			}
			if i >= 0 {
				costs[k] = append(costs[k], took/time.Duration(o.chains/3))
			}
		}
	}
	for k := range list[1:] {
		var ratios []float64
		for i := range costs[0] {
			ratios = append(ratios, float64(costs[k+1][i])/float64(costs[0][i]))
		}
		b.say(middle(ratios) <= 1.2, "%s: a chain costs %s with %d contracts stored and %s with %d, %.2f (budget 1.2)", p.name,
			ms(middle(costs[0])), o.stored[0], ms(middle(costs[k+1])), o.stored[k+1], middle(ratios))
	}
	return nil
}

// fill stores at least n contracts: copies of the one chain that has run, with
// its runs, its events and as many audit records.
func (s *service) fill(ctx context.Context, n int) error {
	const first = contract.ID("IC-001")
	var rows []*pipeline.Contract
	var events []pipeline.Event
	var runs []*pipeline.Run
	var chain *pipeline.Chain
	err := s.store.View(ctx, func(r pipeline.Reader) (err error) {
		var err2, err3, err4 error
		rows, err = r.OfChain(first)
		events, err2 = r.Events(0, pipeline.EventFilter{}, 0)
		runs, err3 = r.Runs(pipeline.RunFilter{Chains: []contract.ID{first}}, pipeline.Page{})
		chain, err4 = r.Chain(first)
		return errors.Join(err, err2, err3, err4)
	})
	if err != nil {
		return err
	}
	const together = 50 // chains in a transaction
	for made := 0; made < n; made += together * len(rows) {
		err := s.store.Update(ctx, func(tx pipeline.Tx) error {
			for i := range together {
				c := copied{tx: tx, id: fmt.Sprintf("%09d", made+i*len(rows)+1_000_000)}
				if err := c.all(chain, rows, runs, events); err != nil {
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
}

// copied is a chain under another number.
type copied struct {
	tx pipeline.Tx
	id string
}

func (c copied) text(b []byte) []byte {
	for _, of := range []string{"IC-", "TS-", "AC-", "PG-", "EV-"} {
		b = bytes.ReplaceAll(b, []byte(of+"00"), []byte(of+c.id+"00"))
	}
	return bytes.ReplaceAll(b, []byte("exec-"), []byte("exec-"+c.id+"-"))
}

func (c copied) name(s string) string { return string(c.text([]byte(s))) }

func (c copied) ref(id contract.ID) contract.ID { return contract.ID(c.name(string(id))) }

func (c copied) all(chain *pipeline.Chain, rows []*pipeline.Contract, runs []*pipeline.Run, events []pipeline.Event) error {
	own := *chain
	own.ID, own.Revision, own.Details = c.ref(own.ID), 0, c.text(own.Details)
	if err := c.tx.CreateChain(&own); err != nil {
		return err
	}
	for _, row := range rows {
		r := *row
		d, err := contract.Decode(c.text(r.Text))
		if err != nil {
			return err
		}
		r.Document, r.Text, r.Revision, r.Chain, r.Source.ID = d, c.text(r.Text), 0, own.ID, c.ref(r.Source.ID)
		r.Covers, r.ExecutionID = c.text(r.Covers), c.name(r.ExecutionID)
		if err := c.tx.CreateContract(&r); err != nil {
			return err
		}
	}
	for _, row := range runs {
		r := *row
		r.ExecutionID, r.Revision, r.Chain, r.TaskSeed.ID = c.name(r.ExecutionID), 0, own.ID, c.ref(r.TaskSeed.ID)
		r.Evidence, r.Details = c.ref(r.Evidence), c.text(r.Details)
		if err := c.tx.CreateRun(&r); err != nil {
			return err
		}
	}
	for _, row := range events {
		e := row.Envelope
		e.ID, e.Subject.ID, e.Data = c.name(e.ID), c.name(e.Subject.ID), c.text(e.Data)
		e.Origin.Chain, e.Origin.Cause = c.name(e.Origin.Chain), c.name(e.Origin.Cause)
		if err := c.tx.Emit(e); err != nil {
			return err
		}
		err := c.tx.Record(event.Record{
			Timestamp: contract.At(c.tx.Now()).String(), Kind: e.Subject.Kind, ID: e.Subject.ID, Version: e.Subject.Version,
			ActorID: "orchestrator", Role: "orchestrator", Action: "contract.transition", Success: true, CorrelationID: string(own.ID),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
