package bundle_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/bundle"
)

// asked is what a service says whose chain a request started: its records have the
// request for their correlation id and name the intent beside it.
func asked(w told) told {
	w.records = append([]string{}, w.records...)
	for i, text := range w.records {
		w.records[i] = strings.Replace(text, `"correlationId":"IC-001"`, `"correlationId":"req-1","intentId":"IC-001"`, 1)
	}
	return w
}

func TestAChainIsKnownByItsIntentWhoeverAskedForIt(t *testing.T) {
	s := newService(t, "plimsoll.test/log")
	w := asked(load(t, "high"))
	if _, err := bundle.Verify(s.bundle(t, w), s.keys); err != nil {
		t.Errorf("a chain that was asked for is not good: %v", err)
	}

	// Another chain of the same request is no part of the bundle.
	two := asked(load(t, "high"))
	two.records[5] = `{"action":"contract.create","actorId":"alice","correlationId":"req-1","id":"IC-900","intentId":"IC-900","kind":"IntentContract","role":"requester","success":true,"timestamp":"2026-12-01T04:01:13.971Z","to":"Draft","version":1}`
	if _, err := bundle.Verify(s.bundle(t, two), s.keys); err != nil {
		t.Errorf("another chain of the request is taken for this one: %v", err)
	}

	// A contract of this one that is left out is missed.
	less := asked(load(t, "high"))
	less.records[5] = `{"action":"contract.create","actorId":"alice","correlationId":"req-1","id":"EV-900","intentId":"IC-001","kind":"Evidence","role":"developer","success":true,"timestamp":"2026-12-01T04:01:13.971Z","to":"Published","version":1}`
	if kind := found(t, "evidence left out", s.bundle(t, less), s.keys, "evidence/EV-900.v1.dsse.json"); kind != bundle.Missing {
		t.Errorf("it is %s", kind)
	}
}
