package auditlog

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Expired is how far a log may be given up: the head behind the longest run of
// records, from the oldest on, each of which is older than the calendar year it
// is kept for and than extra beyond that. A younger record keeps
// everything behind it, so a clock that jumped keeps too much and never too
// little.
//
// Who gives the records up signs this head with Seals first: the log then
// begins at the seal, and every later copy is checked from there.
func Expired(from event.Head, records iter.Seq2[event.Chained, error], now time.Time, extra time.Duration) (event.Head, error) {
	h := from
	for r, err := range records {
		if err != nil {
			return from, err
		}
		next := h.Append(r.Text)
		if next.Link != r.Link {
			return from, fmt.Errorf("audit record %d does not follow from the %d before it", next.Count, h.Count)
		}
		var of struct{ Timestamp string }
		if err := json.Unmarshal(r.Text, &of); err != nil {
			return from, fmt.Errorf("audit record %d is no record: %w", next.Count, err)
		}
		at, ok := contract.ParseTimestamp(of.Timestamp)
		if !ok {
			return from, fmt.Errorf("audit record %d has no instant", next.Count)
		}
		if now.Before(event.KeepUntil(at.Time()).Add(extra)) {
			return h, nil
		}
		h = next
	}
	return h, nil
}

// Retain is the head behind the records that may be given up at now, with the
// seal that vouches for them. There is no seal when none may; the head is from.
func (s *Signer) Retain(from event.Head, records []event.Chained, now time.Time, extra time.Duration) (event.Head, []byte, error) {
	to, err := Expired(from, func(yield func(event.Chained, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}, now, extra)
	if err != nil || to == from {
		return from, nil, err
	}
	note, err := s.Sign(to, now, Seals)
	return to, note, err
}
