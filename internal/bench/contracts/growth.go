package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/bench/fill"
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
		if err := fill.Contracts(ctx, s.db.Write, n, p.name == "postgres"); err != nil {
			return err
		}
		fmt.Printf("%-8s  %d contracts loaded in %s\n", p.name, n, time.Since(began).Round(time.Millisecond))
		list[i] = s
	}
	costs := make([][]time.Duration, len(list))
	used := make([][]time.Duration, len(list))
	each := max(1, o.chains/3)
	for i := -1; i < 2*o.rounds; i++ {
		for k, s := range list {
			var took time.Duration
			c, err := clockOf(ctx, s.db.Write, p.name == "postgres").of(each, func() (err error) {
				took, err = s.chains(ctx, each, o.clients)
				return err
			})
			if err != nil {
				return err
			}
			if i >= 0 {
				costs[k], used[k] = append(costs[k], took/time.Duration(each)), append(used[k], c.sum())
			}
		}
	}
	for k := range list[1:] {
		b.say(share(costs[k+1], costs[0]) <= 1.2, fmt.Sprintf("%s: cost of a chain with %d contracts stored to that with %d", p.name, o.stored[k+1], o.stored[0]),
			two(share(costs[k+1], costs[0])), "≤ 1.2")
		b.add(p.name+": the two costs", ms(middle(costs[k+1]))+"; "+ms(middle(costs[0])))
		if middle(used[0]) > 0 {
			b.add(p.name+": the same in processor time", two(share(used[k+1], used[0])))
		}
	}
	return nil
}

// share is the middle of the ratios, turn by turn.
func share(of, to []time.Duration) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = float64(of[i]) / float64(max(to[i], 1))
	}
	return middle(ratios)
}
