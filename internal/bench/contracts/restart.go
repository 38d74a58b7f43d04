package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline"
)

// restart measures from the opening of a database in which many items wait to
// the first effect: a TaskSeed that is kept.
func (b *report) restart(ctx context.Context, p place, o options) (err error) {
	at, err := p.make()
	if err != nil {
		return err
	}
	s, err := open(ctx, at)
	if err != nil {
		return err
	}
	if err := errors.Join(s.people(ctx), s.leave(ctx, o.waiting), s.end()); err != nil {
		return err
	}
	began := time.Now()
	if s, err = open(ctx, at); err != nil {
		return err
	}
	s.begin(ctx)
	took := (<-s.board.first).Sub(began)
	if err := s.end(); err != nil {
		return err
	}
	b.say(took <= 2*time.Second, fmt.Sprintf("%s: from the start to the first effect with %d open items", p.name, o.waiting), ms(took), "≤ 2 s")
	return nil
}

// leave makes so many jobs that nobody works: those of a few intents that have
// begun, and then the same again, which will find nothing left to do.
func (s *service) leave(ctx context.Context, n int) error {
	const intents, together = 20, 1000
	var again []pipeline.Job
	for range intents {
		id, _, err := s.begun(ctx)
		if err != nil {
			return err
		}
		args, err := json.Marshal(map[string]any{"chain": id, "id": id, "version": 1})
		if err != nil {
			return err
		}
		again = append(again, pipeline.Job{Kind: pipeline.JobGenerate, Chain: id, Args: args})
	}
	for made := intents; made < n; made += together {
		err := s.store.Update(ctx, func(tx pipeline.Tx) error {
			for i := range min(together, n-made) {
				if err := tx.Enqueue(again[i%len(again)]); err != nil {
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
