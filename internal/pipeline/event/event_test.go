package event_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/testdata/contracts"
)

type cloudEvent struct {
	ID, Type, Subject, Time, CorrelationID, CausationID string
	ContractKind                                        string
	ContractVersion                                     int64
	Data                                                json.RawMessage
}

type vector struct {
	Name, Mode    string
	Event         json.RawMessage
	Deliveries    []string
	First, Second event.Type
	Expected      struct {
		Handled, TaskSeedsCreated int
		Guaranteed                bool
	}
}

func TestEventsAreWrittenAsTheVectorsHaveThem(t *testing.T) {
	run := map[string]int{}
	for _, v := range contracts.Load[vector](t, "events") {
		run[v.Mode]++
		switch v.Mode {
		case "mapping":
			var want cloudEvent
			if err := json.Unmarshal(v.Event, &want); err != nil {
				t.Fatal(err)
			}
			got := build(t, want)
			if err := got.Check(); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			text, err := json.Marshal(got)
			if err != nil || !reflect.DeepEqual(decode(t, text), decode(t, v.Event)) {
				t.Errorf("%s: %v\n got %s\nwant %s", v.Name, err, text, v.Event)
			}
		case "consumer":
			seen, seeds := map[string]bool{}, map[string]bool{}
			for _, id := range v.Deliveries {
				e := event.Envelope{ID: id, Type: event.TypeOf(id)}
				if seen[e.Key()] {
					continue
				}
				seen[e.Key()] = true
				seeds[strings.TrimPrefix(id, string(event.IntentCreated))] = true
			}
			if len(seen) != v.Expected.Handled || len(seeds) != v.Expected.TaskSeedsCreated {
				t.Errorf("%s: handled %d, created %d", v.Name, len(seen), len(seeds))
			}
		case "order":
			if got := event.Before(v.First, v.Second); got != v.Expected.Guaranteed {
				t.Errorf("%s: got %v", v.Name, got)
			}
			if event.Before(v.Second, v.First) {
				t.Errorf("%s: the other way round is guaranteed", v.Name)
			}
		}
	}
	if run["mapping"] != 10 || run["consumer"] != 3 || run["order"] != 8 {
		t.Errorf("run: %v", run)
	}
}

// build makes the event from what happened, not from the expected attributes.
func build(t *testing.T, want cloudEvent) event.Envelope {
	t.Helper()
	s := event.Subject{Kind: want.ContractKind, ID: want.Subject, Version: want.ContractVersion}
	o := event.Origin{Chain: want.CorrelationID, Cause: want.CausationID, At: want.Time}
	switch event.Type(want.Type) {
	case event.ExecutionCompleted:
		var x struct {
			ExecutionID, Phase, Outcome, ActorID, Role, StartTime, EndTime, BaseCommit, HeadCommit, ResultRef string
			Runs                                                                                              int
			RiskSignals                                                                                       map[string]bool
		}
		if err := json.Unmarshal(want.Data, &x); err != nil {
			t.Fatal(err)
		}
		return event.Completed(s, o, event.Execution{
			ID: x.ExecutionID, Phase: x.Phase, Outcome: x.Outcome, ActorID: x.ActorID, Role: x.Role,
			StartTime: x.StartTime, EndTime: x.EndTime, BaseCommit: x.BaseCommit, HeadCommit: x.HeadCommit,
			Runs: x.Runs, Signals: x.RiskSignals, ResultRef: x.ResultRef,
		})
	case event.GateDecided:
		var x struct {
			EntityID, FinalDecision, State string
			Trigger                        event.Trigger
			Decision                       *event.Entry
			OutstandingRoles               []string
		}
		if err := json.Unmarshal(want.Data, &x); err != nil {
			t.Fatal(err)
		}
		return event.Decided(s, o, event.Verdict{
			EntityID: x.EntityID, Trigger: x.Trigger, Entry: x.Decision, FinalDecision: x.FinalDecision,
			State: x.State, Outstanding: x.OutstandingRoles, Reversed: strings.HasSuffix(want.ID, "/rejected"),
		})
	}
	return event.Created(s, o, want.Data)
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestFactsAndChecksOfARunAreInItsEvent(t *testing.T) {
	e := event.Completed(event.Subject{Kind: "TaskSeed", ID: "TS-001", Version: 1}, event.Origin{Chain: "IC-001"}, event.Execution{
		ID: "exec-1", Checks: []event.Check{{Criterion: "builds", Passed: true, Detail: "ok"}}, Signals: map[string]bool{"customerDataWrite": true},
	})
	for _, part := range []string{`"checks":[{"criterion":"builds","detail":"ok","passed":true}]`, `"riskSignals":{"customerDataWrite":true}`} {
		if !bytes.Contains(e.Data, []byte(part)) {
			t.Errorf("no %s in %s", part, e.Data)
		}
	}
	if bytes.Contains(e.Data, []byte("facts")) || bytes.Contains(e.Data, []byte("resultRef")) {
		t.Errorf("absent members are written: %s", e.Data)
	}
}

func TestAnEventThatCannotHaveHappenedIsNotEmitted(t *testing.T) {
	good := event.Created(event.Subject{Kind: "TaskSeed", ID: "TS-001", Version: 1},
		event.Origin{Chain: "IC-001", Cause: "intent.created.v1/IC-001/1", At: "2026-03-29T10:00:00Z"}, []byte("{}"))
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*event.Envelope){
		"a type of its own":      func(e *event.Envelope) { e.Type = "generation.failed.v1" },
		"another kind":           func(e *event.Envelope) { e.Subject.Kind = "Evidence" },
		"no chain":               func(e *event.Envelope) { e.Origin.Chain = "" },
		"a cause that follows":   func(e *event.Envelope) { e.Origin.Cause = "acceptance.created.v1/AC-001/1" },
		"no cause":               func(e *event.Envelope) { e.Origin.Cause = "" },
		"no data":                func(e *event.Envelope) { e.Data = nil },
		"a first with a cause":   func(e *event.Envelope) { e.Type, e.Subject.Kind = event.IntentCreated, "IntentContract" },
		"a subject of version 0": func(e *event.Envelope) { e.Subject.Version = 0 },
	} {
		e := good
		spoil(&e)
		if e.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// The order is a partial order, and an event never comes before its cause.
func TestTheOrderIsAPartialOrder(t *testing.T) {
	for _, a := range event.Types() {
		if event.Before(a, a) {
			t.Errorf("%s before itself", a)
		}
		for _, cause := range a.Causes() {
			if cause != a && !event.Before(cause, a) {
				t.Errorf("%s may overtake its cause %s", a, cause)
			}
		}
		for _, b := range event.Types() {
			for _, c := range event.Types() {
				if event.Before(a, b) && event.Before(b, c) && !event.Before(a, c) {
					t.Errorf("%s, %s, %s", a, b, c)
				}
			}
		}
	}
}

func record(action string) event.Record {
	return event.Record{
		Timestamp: "2026-03-29T10:00:00Z", Kind: "PublishGate", ID: "PG-001", Version: 1,
		ActorID: "lead-001", Role: "project_lead", Action: action, Success: true,
	}
}

func TestAnAuditRecordHasItsMembersAndNoOthers(t *testing.T) {
	reason := ""
	r := record("gate.decide")
	r.Success, r.ErrorCode, r.ErrorMessage = false, "gate.expired", "too late"
	r.Decision = &event.Entry{Role: "project_lead", ActorID: "lead-001", Decision: "approved", DecidedAt: r.Timestamp, Reason: &reason}
	r.SelfApproved = true
	want := `{"action":"gate.decide","actorId":"lead-001","approvalDecision":{"actorId":"lead-001","decidedAt":"2026-03-29T10:00:00Z",` +
		`"decision":"approved","reason":"","role":"project_lead"},"error":{"code":"gate.expired","message":"too late"},"id":"PG-001",` +
		`"kind":"PublishGate","role":"project_lead","self_approved":true,"success":false,"timestamp":"2026-03-29T10:00:00Z","version":1}`
	if got := string(r.Text()); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := string(record("gate.hold").Text()); strings.Contains(got, "error") || strings.Contains(got, "environment") {
		t.Errorf("absent members are written: %s", got)
	}
}

// Whoever edits, drops, adds or moves a record is found, and so is whoever
// passes one log off as another.
func TestTheAuditChainShowsEveryChange(t *testing.T) {
	origin := event.Genesis("plimsoll/test")
	head, log := origin, []event.Chained(nil)
	for _, action := range []string{"contract.create", "gate.decide", "gate.expire", "run.end"} {
		text := record(action).Text()
		head = head.Append(text)
		log = append(log, event.Chained{Text: text, Link: head.Link})
	}
	if got, err := event.Verify(origin, slices.Values(log)); err != nil || got != head {
		t.Fatalf("the log as written: %v", err)
	}
	if got, err := event.Verify(event.Head{Count: 2, Link: log[1].Link}, slices.Values(log[2:])); err != nil || got != head {
		t.Errorf("from a checkpoint on: %v", err)
	}
	forged := record("gate.decide")
	forged.ActorID = "mallory"
	for name, tampered := range map[string][]event.Chained{
		"edited":  {log[0], {Text: forged.Text(), Link: log[1].Link}, log[2], log[3]},
		"dropped": {log[0], log[2], log[3]},
		"added":   {log[0], log[0], log[1], log[2], log[3]},
		"moved":   {log[1], log[0], log[2], log[3]},
	} {
		if _, err := event.Verify(origin, slices.Values(tampered)); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
	if got, _ := event.Verify(origin, slices.Values(log[:3])); got == head {
		t.Error("a truncated log leads to the same head")
	}
	if _, err := event.Verify(event.Genesis("plimsoll/other"), slices.Values(log)); err == nil {
		t.Error("the log of another origin verifies")
	}
}

func TestAuditRecordsAreKeptACalendarYear(t *testing.T) {
	at := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	if got := event.KeepUntil(at); !got.Equal(time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v", got)
	}
}

func BenchmarkVerify(b *testing.B) {
	head := event.Genesis("bench")
	text := record("gate.decide").Text()
	log := make([]event.Chained, 10000)
	for i := range log {
		head = head.Append(text)
		log[i] = event.Chained{Text: text, Link: head.Link}
	}
	for b.Loop() {
		if _, err := event.Verify(event.Genesis("bench"), slices.Values(log)); err != nil {
			b.Fatal(err)
		}
	}
}
