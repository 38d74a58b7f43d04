package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// A log whose first year was given up is checked offline from its seal on, also
// by somebody who kept a checkpoint of before.
func TestALogThatWasShortenedIsStillCheckedOffline(t *testing.T) {
	w := newWorld(t, nil)
	tokens := map[time.Time]string{}
	token := func() string { // one that has not expired by now
		now := w.clock()
		if tokens[now] == "" {
			tokens[now] = w.actor("ada", contract.Human, contract.RolesOf(contract.Admin, contract.Requester), "read", "write", "audit", fmt.Sprint(now.Unix()))
		}
		return tokens[now]
	}
	keys, err := auditlog.Keys(w.public)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) response {
		return w.do(request{method: http.MethodGet, path: path, token: token()})
	}
	note := func() auditlog.Checkpoint {
		t.Helper()
		point, err := auditlog.Open(get("/v1/audit/checkpoint").Body.Bytes(), keys)
		if err != nil {
			t.Fatal(err)
		}
		return point
	}
	write := func(n int) {
		t.Helper()
		for i := range n {
			r := w.do(request{
				method: http.MethodPost, path: "/v1/intents", token: token(), role: "requester", key: fmt.Sprintf("k-%d-%d", w.clock().Unix(), i),
				body: object{"intent": "Rename the flag", "priority": "low", "requestedCapabilities": []string{"read_repo"}},
			})
			if r.Code != http.StatusCreated {
				t.Fatalf("%d %s", r.Code, r.Body)
			}
		}
	}
	later := func(at time.Time) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now = at
	}
	write(3)
	early := note()
	later(start.AddDate(0, 6, 0))
	write(2)
	middle := note()
	later(start.AddDate(1, 0, 0).Add(time.Second))
	if err := w.service.RunSweep(t.Context(), pipeline.Attempt{Number: 1}); err != nil {
		t.Fatal(err)
	}
	write(1)

	text := get("/v1/audit/export").Body.Bytes()
	report, err := auditlog.Verify(bytes.NewReader(text), keys, early, middle)
	if err != nil || !report.Sealed || report.From.Count != early.Head.Count || report.From.Link != early.Head.Link || report.To.Count != middle.Head.Count+2 {
		t.Errorf("%+v, %v", report, err)
	}
	for name, forged := range map[string][]byte{
		"an earlier seal": bytes.Replace(text, []byte(fmt.Sprintf(`\n%d\n`, early.Head.Count)), []byte(fmt.Sprintf(`\n%d\n`, early.Head.Count-1)), 1),
		"no seal":         text[bytes.IndexByte(text, '\n')+1:],
		"a record less":   append(append([]byte{}, line(text, 0)...), text[len(line(text, 0))+len(line(text, 1)):]...),
	} {
		if _, err := auditlog.Verify(bytes.NewReader(forged), keys); err == nil || bytes.Equal(forged, text) {
			t.Errorf("%s is found good", name)
		}
	}
	for after, want := range map[int64]refusal.Code{1: refusal.EventSequenceGone, early.Head.Count: "", middle.Head.Count: ""} {
		r := get(fmt.Sprintf("/v1/audit/export?after=%d", after))
		if want != "" {
			if got := r.problem(t).Code; got != want {
				t.Errorf("behind %d: %s", after, got)
			}
			continue
		}
		if report, err := auditlog.Verify(bytes.NewReader(r.Body.Bytes()), keys); err != nil || report.From.Count != after {
			t.Errorf("behind %d: %+v, %v", after, report, err)
		}
	}
}

// line is the line of an index, with its end.
func line(text []byte, n int) []byte {
	for range n {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text[:bytes.IndexByte(text, '\n')+1]
}
