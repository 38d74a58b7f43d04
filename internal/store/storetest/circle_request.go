package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// asked is a request of m-olha that runs.
func asked(id, channel string) *request.Request {
	return &request.Request{
		ID: id, Circle: "c-forest", Member: "m-olha", Channel: channel, Origin: envelope.Internal, Target: envelope.Circle,
		SHA256: "0a", Envelope: []byte(`{"input_text":"\u0000"}`), Config: "0b", State: request.Running, Stops: []envelope.Condition{},
		CreatedAt: start, UpdatedAt: start,
	}
}

// world makes a circle, a channel and a request in it, "req-1".
func (b *bench) world() (channel string) {
	b.Helper()
	b.people()
	b.found("c-forest", "")
	b.circleUpdate(func(ct request.Tx) error {
		c, err := b.console(ct)
		if err != nil {
			return err
		}
		channel = c.ID
		return ct.CreateRequest(asked("req-1", channel))
	})
	return channel
}

func turn(id string, step, attempt int64) *request.Run {
	return &request.Run{
		ID: id, Request: "req-1", Step: step, Attempt: attempt, Worker: constitution.Process, Engine: constitution.Builtin,
		ConstitutionVersion: "1.0.0", SubagentPromptVersion: "1.0.0", PromptSHA256: "0c", Origin: envelope.Internal, State: request.RunAlive,
		Artifacts: []string{}, StartedAt: start, Deadline: start.Add(time.Minute),
	}
}

func circleRequests(t *testing.T, open Open) {
	t.Helper()
	t.Run("a request is read as it was written and ends once", func(t *testing.T) {
		b := newBench(t, open)
		channel := b.world()
		want := asked("req-1", channel)
		want.Revision = 1
		b.circleView(func(cr request.Reader) error {
			got, err := cr.Request("req-1")
			if diff := cmp.Diff(want, got); diff != "" || !cr.Now().Equal(start) {
				t.Errorf("the request differs (-want +got):\n%s", diff)
			}
			if _, err := cr.Request("req-2"); !b.absent(err) {
				t.Error("req-2 was found")
			}
			return err
		})
		b.circleUpdate(func(ct request.Tx) error {
			q, err := ct.Request("req-1")
			if err != nil {
				return err
			}
			q.Triage, q.Plan, q.State, q.Status = []byte(`{}`), []byte(`[]`), request.Ended, artifact.WaitingForConsent
			q.Stops, q.Package, q.EndedAt, q.UpdatedAt = []envelope.Condition{envelope.ConsentOwed}, []byte(`{"a":1}`), start.Add(time.Second), start.Add(time.Second)
			want = q
			return ct.UpdateRequest(q)
		})
		b.circleView(func(cr request.Reader) error {
			got, err := cr.Request("req-1")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the request differs (-want +got):\n%s", diff)
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateRequest(asked("req-1", channel)) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error {
			q := asked("req-1", channel)
			q.Revision = 1
			return ct.UpdateRequest(q)
		})
		b.circleRefuse(fault.Invalid, func(ct request.Tx) error { return ct.CreateRequest(want) })
	})

	t.Run("no package is ever confirmed, whatever the code believes", func(t *testing.T) {
		b := newBench(t, open)
		channel := b.world()
		b.circleRefuse(fault.Internal, func(ct request.Tx) error {
			q := asked("req-2", channel)
			q.State, q.Status, q.Package, q.EndedAt = request.Ended, artifact.Confirmed, []byte(`{}`), start
			return ct.CreateRequest(q)
		})
	})

	t.Run("requests are listed newest change first and filtered", func(t *testing.T) {
		b := newBench(t, open)
		channel := b.world()
		b.circleUpdate(func(ct request.Tx) error {
			for i, id := range []string{"req-2", "req-3"} {
				q := asked(id, channel)
				q.Member, q.UpdatedAt = []string{"m-taras", "m-olha"}[i], start.Add(time.Duration(i+1)*time.Minute)
				if i == 1 {
					q.State, q.Status, q.Package, q.EndedAt = request.Ended, artifact.Draft, []byte(`{}`), start
				}
				if err := ct.CreateRequest(q); err != nil {
					return err
				}
			}
			// The newest version of what req-1 made has been declined.
			made := returned("a-1")
			if err := ct.CreateArtifact(made); err != nil {
				return err
			}
			next := returned("a-1")
			next.Version, next.Status = 2, artifact.Draft
			return ct.CreateArtifact(next)
		})
		b.circleView(func(cr request.Reader) error {
			for _, want := range []struct {
				filter request.Filter
				page   pipeline.Page
				ids    string
			}{
				{request.Filter{}, pipeline.Page{}, "req-3 req-2 req-1 "},
				{request.Filter{Circles: []string{"c-forest"}, Channels: []string{channel}}, pipeline.Page{Limit: 2}, "req-3 req-2 "},
				{request.Filter{Circles: []string{"c-lake"}}, pipeline.Page{}, ""},
				{request.Filter{Members: []string{"m-olha"}}, pipeline.Page{}, "req-3 req-1 "},
				{request.Filter{States: []request.RequestState{request.Running}}, pipeline.Page{}, "req-2 req-1 "},
				{request.Filter{Made: []artifact.Status{artifact.Draft, artifact.Confirmed}}, pipeline.Page{}, "req-1 "},
				{request.Filter{Made: []artifact.Status{artifact.WaitingForConsent}}, pipeline.Page{}, ""},
				{request.Filter{}, pipeline.Page{Behind: pipeline.Mark{At: start.Add(time.Minute), ID: "req-2"}}, "req-1 "},
			} {
				list, err := cr.Requests(want.filter, want.page)
				if err != nil {
					return err
				}
				if got := ids(list, func(q *request.Request) string { return q.ID }); got != want.ids {
					t.Errorf("%+v: %s, want %s", want.filter, got, want.ids)
				}
			}
			return nil
		})
	})

	t.Run("a run has both versions and takes its step and attempt once", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		var want *request.Run
		b.circleUpdate(func(ct request.Tx) error {
			for _, n := range []*request.Run{turn("run-3", 2, 1), turn("run-1", 1, 1), turn("run-2", 1, 2)} {
				if err := ct.CreateRun(n); err != nil {
					return err
				}
			}
			n, err := ct.Run("run-2")
			if err != nil {
				return err
			}
			n.State, n.Fault, n.Artifacts, n.EndedAt, n.Origin = request.RunFailed, "x", []string{"a-1", "a-2"}, start.Add(time.Second), envelope.External
			n.Engine, n.Model, n.Deadline = constitution.Model, "as the endpoint calls it", n.Deadline.Add(time.Minute)
			want = n
			return ct.UpdateRun(n)
		})
		b.circleView(func(cr request.Reader) error {
			list, err := cr.Runs("req-1")
			if got := ids(list, func(n *request.Run) string { return n.ID }); got != "run-1 run-2 run-3 " || err != nil {
				t.Errorf("the runs are %s, %v", got, err)
			}
			got, err := cr.Run("run-2")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the run differs (-want +got):\n%s", diff)
			}
			if _, err := cr.Run("run-9"); !b.absent(err) {
				t.Error("run-9 was found")
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateRun(turn("run-4", 1, 2)) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { n := turn("run-2", 1, 2); n.Revision = 1; return ct.UpdateRun(n) })
		for name, change := range map[string]func(n *request.Run){
			"no version":        func(n *request.Run) { n.ConstitutionVersion = "" },
			"no prompt version": func(n *request.Run) { n.SubagentPromptVersion = "" },
			"no digest":         func(n *request.Run) { n.PromptSHA256 = "" },
		} {
			t.Run(name, func(*testing.T) {
				b.circleRefuse(fault.Internal, func(ct request.Tx) error {
					n := turn("run-5", 3, 1)
					change(n)
					return ct.CreateRun(n)
				})
			})
		}
	})

	t.Run("an end is written back once", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		want := []request.Result{
			{
				Request: "req-1", Contract: "IC-001", Version: 2, State: contract.Published, FinalDecision: contract.DecisionApproved,
				HeadCommit: "89abcde", NoteRun: "run-1", NoteSHA256: "sha256:aa", At: start,
			},
			{Request: "req-1", Contract: "IC-001", Version: 2, State: contract.Revoked, At: start.Add(time.Second)},
		}
		for _, v := range want {
			b.circleUpdate(func(ct request.Tx) error { return ct.AddResult(v) })
		}
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.AddResult(want[0]) })
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error {
			none := want[0]
			none.Request = "req-9"
			return ct.AddResult(none)
		})
		b.circleView(func(cr request.Reader) error {
			got, err := cr.Results("req-1")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the results differ (-want +got):\n%s", diff)
			}
			if none, err := cr.Results("req-9"); err != nil || none == nil || len(none) != 0 {
				t.Errorf("a request that is not there has the results %v (%v)", none, err)
			}
			return err
		})
	})

	t.Run("the circle, the contracts, the log and the queue change together or not at all", func(t *testing.T) {
		b := newBench(t, open)
		channel := b.world()
		write := func(ct request.Tx, id contract.ID) error {
			q, err := ct.Request("req-1")
			if err != nil {
				return err
			}
			q.UpdatedAt = q.UpdatedAt.Add(time.Second)
			if err := ct.UpdateRequest(q); err != nil {
				return err
			}
			if _, err := b.chain(ct.Contracts(), id, contract.Draft); err != nil {
				return err
			}
			if err := ct.Enqueue(pipeline.Job{Kind: "step", Key: string(id)}); err != nil {
				return err
			}
			return ct.Record(event.Record{
				Timestamp: contract.At(ct.Now()).String(), Kind: "request", ID: "req-1", Version: 1, ActorID: "m-olha", Role: "member",
				Action: "request.step", Success: true, CorrelationID: "req-1",
			})
		}
		no := errors.New("no")
		if err := b.store.Circles().Update(t.Context(), func(ct request.Tx) error { return errors.Join(write(ct, "IC-001"), no) }); !errors.Is(err, no) {
			t.Fatalf("it ended with %v", err)
		}
		b.circleUpdate(func(ct request.Tx) error { return write(ct, "IC-002") })
		if got := ids(b.jobs, func(j pipeline.Job) string { return j.Key }); got != "IC-002 " {
			t.Errorf("the queue has %s", got)
		}
		b.circleView(func(cr request.Reader) error {
			q, err := cr.Request("req-1")
			if err != nil || q.Revision != 2 || q.Channel != channel {
				t.Errorf("%+v, %v", q, err)
			}
			if _, err := cr.Contracts().Contract("IC-001"); !b.absent(err) {
				t.Error("the contract of the update that failed is there")
			}
			if _, err := cr.Contracts().Contract("IC-002"); err != nil {
				t.Error(err)
			}
			log, err := cr.Contracts().Audit(0, pipeline.AuditFilter{}, 0)
			if len(log) != 1 {
				t.Errorf("the log has %d records", len(log))
			}
			return err
		})
	})

	t.Run("use cases on one request follow one another", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		each(t, 8, func(i int) error {
			return b.store.Circles().Update(t.Context(), func(ct request.Tx) error {
				list, err := ct.Runs("req-1")
				if err != nil {
					return err
				}
				return ct.CreateRun(turn(string(rune('a'+i)), int64(len(list))+1, 1))
			})
		})
	})
}
