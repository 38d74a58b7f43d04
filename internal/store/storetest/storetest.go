// Package storetest is what every store must pass. A method of the port that
// no test here calls is no part of the port; a test of this package says so.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/store"
)

// Open gives a store on a database of its own, which is empty. It ends with
// the test.
type Open func(t *testing.T, conf store.Config) *store.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"contracts", contracts},
		{"chains", chains},
		{"correlation", correlation},
		{"decisions", decisions},
		{"runs", runs},
		{"artifacts", artifacts},
		{"locks", locks},
		{"keys", keys},
		{"events", events},
		{"audit", audit},
		{"actors", actors},
		{"webhooks", webhooks},
		{"retention", retention},
		{"transactions", transactions},
		{"nodes", nodes},
		{"condition", condition},
		{"circles", circles},
		{"circle requests", circleRequests},
		{"circle artifacts", circleArtifacts},
		{"circle memory", circleMemory},
		{"identity", identity},
		{"twice", twice},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open) })
	}
}

// start is the instant the tests begin at.
var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// bench is a store with a clock and a queue that a test can look at.
type bench struct {
	*testing.T
	store *store.Store

	mu   sync.Mutex // guards now and jobs
	now  time.Time
	jobs []pipeline.Job
}

func newBench(t *testing.T, open Open) *bench {
	t.Helper()
	return newBenchWith(t, open, store.Config{})
}

func newBenchWith(t *testing.T, open Open, conf store.Config) *bench {
	t.Helper()
	b := &bench{T: t, now: start}
	conf.Origin = "plimsoll.test/log"
	if conf.Now == nil {
		conf.Now = func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.now
		}
	}
	if conf.Enqueue == nil {
		conf.Enqueue = func(_ context.Context, _ *sql.Tx, jobs []pipeline.Job) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.jobs = append(b.jobs, jobs...)
			return nil
		}
	}
	b.store = open(t, conf)
	return b
}

// at moves the clock.
func (b *bench) at(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = start.Add(d)
}

// update runs an update that must succeed.
func (b *bench) update(fn func(tx pipeline.Tx) error) {
	b.Helper()
	if err := b.store.Update(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

// view runs a view that must succeed.
func (b *bench) view(fn func(r pipeline.Reader) error) {
	b.Helper()
	if err := b.store.View(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

// refuse runs an update that must end with this kind of fault.
func (b *bench) refuse(kind fault.Kind, fn func(tx pipeline.Tx) error) {
	b.Helper()
	err := b.store.Update(b.Context(), fn)
	if err == nil {
		b.Fatalf("the update was kept, want %v", kind)
	}
	if got := fault.KindOf(err); got != kind {
		b.Fatalf("the update ended with %v (%v), want %v", got, err, kind)
	}
}

// absent says whether err is NotFound; any other error ends the test.
func (b *bench) absent(err error) bool {
	b.Helper()
	if err != nil && fault.KindOf(err) != fault.NotFound {
		b.Fatal(err)
	}
	return err != nil
}

// chain makes a chain with its intent.
func (b *bench) chain(tx pipeline.Tx, id contract.ID, state contract.State) (*pipeline.Contract, error) {
	c := &pipeline.Chain{ID: id, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	if err := tx.CreateChain(c); err != nil {
		return nil, err
	}
	intent := wrap(&contract.Intent{
		Base: base(tx, id, contract.KindIntent, state, 1), Intent: "Rename the flag", Creator: "ada",
		Priority: contract.PriorityMedium, RequestedCapabilities: capability.Of(capability.ReadRepo),
	}, id, pipeline.Ref{})
	return intent, tx.CreateContract(intent)
}

// bare makes chains that events can be of.
func (b *bench) bare(ids ...contract.ID) {
	b.Helper()
	b.update(func(tx pipeline.Tx) error {
		for _, id := range ids {
			if err := tx.CreateChain(&pipeline.Chain{ID: id, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
}

func base(r pipeline.Reader, id contract.ID, kind contract.Kind, state contract.State, version int64) contract.Base {
	return contract.Base{
		ID: id, Kind: kind, State: state, Version: version, CreatedAt: contract.At(r.Now()), UpdatedAt: contract.At(r.Now()),
	}
}

func task(r pipeline.Reader, id, intent contract.ID, state contract.State, version int64) *contract.TaskSeed {
	return &contract.TaskSeed{
		Base: base(r, id, contract.KindTaskSeed, state, version), IntentID: intent, Description: "Rename the flag",
		OwnerRole: contract.Developer, ExecutionPlan: []string{"rename it"}, CapabilitiesSnapshot: capability.Of(capability.ReadRepo),
		GenerationPolicy: contract.GenerationPolicy{AutoActivate: true},
	}
}

func acceptance(r pipeline.Reader, id, task contract.ID, state contract.State, status contract.Status, version int64) *contract.Acceptance {
	return &contract.Acceptance{
		Base: base(r, id, contract.KindAcceptance, state, version), TaskSeedID: task, Status: status, Details: "all is well",
		Criteria: []string{"it is renamed"}, GenerationPolicy: contract.GenerationPolicy{AutoActivate: true},
	}
}

func gate(r pipeline.Reader, id, acceptance contract.ID, version int64) *contract.PublishGate {
	return &contract.PublishGate{
		Base: base(r, id, contract.KindPublishGate, contract.Active, version), EntityID: acceptance, Action: contract.Publish, RiskLevel: contract.High,
		RequiredApprovals: contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer),
		FinalDecision:     contract.DecisionPending, ApprovalDeadline: contract.At(r.Now().Add(24 * time.Hour)),
	}
}

func evidence(r pipeline.Reader, id, task contract.ID) *contract.Evidence {
	hash := contract.EmptyObjectHash
	return &contract.Evidence{
		Base: base(r, id, contract.KindEvidence, contract.Published, 1), TaskSeedID: task,
		BaseCommit: "0123456", HeadCommit: "89abcde", InputHash: hash, OutputHash: hash, DiffHash: hash,
		Model: contract.Model{Name: "none", Version: "none", ParametersHash: hash}, Tools: []string{"go"},
		Environment: contract.Environment{OS: "linux", Runtime: "go1.26", ContainerImageDigest: contract.Uncontainerized, LockfileHash: hash},
		StaleStatus: contract.StaleStatus{Classification: contract.Fresh, EvaluatedAt: contract.At(r.Now())},
		MergeResult: contract.MergeResult{Status: contract.MergeNotApplicable},
		StartTime:   contract.At(r.Now()), EndTime: contract.At(r.Now()), Actor: "robot", PolicyVerdict: contract.VerdictManual,
	}
}

// wrap is a document as the store takes it.
func wrap(d contract.Document, chain contract.ID, source pipeline.Ref) *pipeline.Contract {
	return &pipeline.Contract{Document: d, Text: contract.Encode(d), Chain: chain, Source: source}
}

// move is c in another state.
func move(c *pipeline.Contract, r pipeline.Reader, state contract.State, cause contract.Cause) *pipeline.Contract {
	h := c.Document.Head()
	moved := *c
	moved.FrozenFrom, moved.FreezeCause = "", cause
	if state == contract.Frozen {
		moved.FrozenFrom = h.State
	}
	h.State, h.UpdatedAt = state, contract.At(r.Now())
	moved.Document = c.Document.With(h)
	moved.Text = contract.Encode(moved.Document)
	return &moved
}

// created is the event that announces an intent.
func created(r pipeline.Reader, id contract.ID, version int64) event.Envelope {
	return event.Created(event.Subject{Kind: string(contract.KindIntent), ID: string(id), Version: version},
		event.Origin{Chain: string(id), Correlation: string(id), At: contract.At(r.Now()).String()}, []byte(`{"id":"`+string(id)+`"}`))
}

// record is an audit record.
func record(r pipeline.Reader, action string, id contract.ID) event.Record {
	return event.Record{
		Timestamp: contract.At(r.Now()).String(), Kind: string(id.Kind()), ID: string(id), Version: 1, ActorID: "ada", Role: "admin",
		Action: action, Success: true,
	}
}

func refs(list []*pipeline.Contract) string {
	text := ""
	for _, c := range list {
		text += fmt.Sprintf("%s.%d ", c.Ref().ID, c.Ref().Version)
	}
	return text
}

func ids[T any](list []T, id func(T) string) string {
	text := ""
	for _, item := range list {
		text += id(item) + " "
	}
	return text
}
