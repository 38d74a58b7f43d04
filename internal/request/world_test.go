package request_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	plimsoll "plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/worker"
	"plimsoll.dev/internal/secrets"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
	"plimsoll.dev/internal/store/sqlite"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// start is the instant the tests begin at.
var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// world is a circle on an empty store, with a clock and a queue that a test moves
// by hand.
type world struct {
	*testing.T
	*request.Service
	contracts *pipeline.Service
	store     *store.Store
	conf      request.Config
	schema    *artifact.Schema

	mu   sync.Mutex // guards what follows
	now  time.Time
	ids  map[string]int
	line []queued
	seen map[string]bool

	twice bool // runs every job a second time, as a queue may
}

type queued struct {
	pipeline.Job
	failed int
}

// theScreen is shared: to load the forms of secrets takes its time.
var theScreen = sync.OnceValues(func() (*screen.Screen, error) {
	forms, err := secrets.New()
	if err != nil {
		return nil, err
	}
	return screen.New(screen.Config{Secrets: forms})
})

func newWorld(t *testing.T, change func(*request.Config)) *world {
	t.Helper()
	t.Parallel()
	return newWorldAt(t, filepath.Join(t.TempDir(), "plimsoll.db"), change)
}

// both runs a test on both databases.
func both(t *testing.T, test func(t *testing.T, at string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, filepath.Join(t.TempDir(), "plimsoll.db")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, pgtest.New(t)) })
}

func newWorldAt(t *testing.T, at string, change func(*request.Config)) *world {
	t.Helper()
	w := &world{T: t, now: start, ids: map[string]int{}, seen: map[string]bool{}}
	w.open(at, change)
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.people()
	return w
}

var errAway = errors.New("the engine is away")

// must is for what a test takes for granted.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) open(at string, change func(*request.Config)) {
	w.Helper()
	var db *store.Database
	var err error
	if strings.HasPrefix(at, "postgres:") {
		db, err = postgres.Open(w.Context(), postgres.Config{URL: at})
	} else {
		db, err = sqlite.Open(w.Context(), sqlite.Config{Path: at})
	}
	w.store = must(store.New(w.Context(), must(db, err), store.Config{Enqueue: w.enqueue, Now: w.clock, Origin: "plimsoll.test/log"}))
	conf := pipeline.DefaultConfig()
	conf.Store, conf.NewID, conf.Secret = w.store, w.id, func() [32]byte { return [32]byte{1} }
	conf.Repository, conf.Orchestrator = "git@example.org:app", "orchestrator"
	w.contracts = must(pipeline.New(conf))
	files := must(plimsoll.ClanConfig())
	text := must(plimsoll.ArtifactSchema())
	w.schema = must(artifact.NewSchema(text))
	w.conf = request.Config{
		Store: w.store.Circles(), Contracts: w.contracts, Set: constitution.NewHolder(must(constitution.Load(files))), Screen: must(theScreen()),
		Contents: w.schema, Schema: func(envelope.ArtifactType) []byte { return []byte("{}") }, Engines: engines(), NewID: w.id,
		Repository: conf.Repository, Orchestrator: conf.Orchestrator,
	}
	if change != nil {
		change(&w.conf)
	}
	w.Service = must(request.New(w.conf))
}

// people registers olha and petro, who found a circle with petro in it, lena, who
// is in no circle, and two adapters.
func (w *world) people() {
	w.Helper()
	if err := w.contracts.Bootstrap(w.Context(), pipeline.Actor{ID: "olha", Name: "Olha", Roles: contract.RolesOf(contract.Requester)}); err != nil {
		w.Fatal(err)
	}
	admin := pipeline.Caller{Actor: "olha", Role: contract.Admin}
	for _, a := range []pipeline.ActorArgs{
		{ID: "petro", Type: contract.Human, Name: "Petro", Roles: []string{"requester"}},
		{ID: "lena", Type: contract.Human, Name: "Lena"},
		{ID: "bot", Type: contract.Agent, Name: "Bot", Roles: []string{"channel_adapter"}},
		{ID: "agent", Type: contract.Agent, Name: "Agent"},
	} {
		must(w.contracts.ActorCreate(w.Context(), admin, a))
	}
	must(w.CircleCreate(w.Context(), as("olha"), request.CircleArgs{ID: "c-forest", Name: "Forest", Clan: "wood"}))
	must(w.MemberSet(w.Context(), as("olha"), request.MemberArgs{Circle: "c-forest", Actor: "petro", Roles: []circle.Role{circle.Council}}))
}

func as(actor string) pipeline.Caller { return pipeline.Caller{Actor: contract.ActorID(actor)} }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) id(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids[prefix]++
	return fmt.Sprintf("%s-%04d", prefix, w.ids[prefix])
}

func (w *world) enqueue(_ context.Context, _ *sql.Tx, jobs []pipeline.Job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		key := string(j.Kind) + " " + j.Key
		if j.Key != "" && w.seen[key] {
			continue
		}
		w.seen[key] = true
		w.line = append(w.line, queued{Job: j})
	}
	return nil
}

func (w *world) due() (queued, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.line, func(a, b queued) int { return a.At.Compare(b.At) })
	if len(w.line) == 0 || w.line[0].At.After(w.now) {
		return queued{}, false
	}
	j := w.line[0]
	w.line = w.line[1:]
	return j, true
}

func (w *world) back(j queued, after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.At = w.now.Add(after)
	w.line = append(w.line, j)
}

// work does one job as a queue does, and says whether there was one.
func (w *world) work() bool {
	w.Helper()
	retry := pipeline.Retry()
	j, ok := w.due()
	if !ok {
		return false
	}
	if j.Kind == request.JobSend {
		return true
	}
	attempt := pipeline.Attempt{Job: j.Job, Number: j.failed + 1, Last: j.failed == len(retry)}
	do := w.Work
	if slices.Contains(pipeline.JobKinds(), j.Kind) {
		do = w.contracts.Work
	}
	err := do(w.Context(), attempt)
	if w.twice && err == nil {
		err = do(w.Context(), attempt)
	}
	again, repeated := errors.AsType[*pipeline.Again](err)
	switch {
	case err == nil:
	case repeated:
		w.back(j, again.After)
	case fault.KindOf(err) == fault.Unavailable:
		w.back(j, 0)
	case !attempt.Last:
		j.failed++
		w.back(j, retry[j.failed-1])
	default:
		w.Logf("job %s %s given up: %v", j.Kind, j.Key, err)
	}
	return true
}

// drain does every job that is due, until none is left.
func (w *world) drain() {
	w.Helper()
	for range 10_000 {
		if !w.work() {
			return
		}
	}
	w.Fatal("the jobs do not end")
}

// ask is an envelope with a few members changed.
type ask struct {
	id, member, circle, channel, kind, target, consent, text, locale string
	flags, actions, outputs, participants                            []string
	references                                                       []envelope.Reference
}

var (
	asked   int64
	askedMu sync.Mutex
)

func (a ask) document() []byte {
	set := func(v *string, usual string) {
		if *v == "" {
			*v = usual
		}
	}
	if a.id == "" {
		askedMu.Lock()
		asked++
		a.id = fmt.Sprintf("req-%04d", asked)
		askedMu.Unlock()
	}
	set(&a.member, "olha")
	set(&a.circle, "c-forest")
	set(&a.channel, "console")
	set(&a.kind, "internal")
	set(&a.target, "circle")
	set(&a.consent, "not_required")
	set(&a.locale, "en")
	context := map[string]any{
		"circle_id": a.circle, "member_id": a.member, "channel": map[string]any{"kind": a.kind, "id": a.channel}, "locale": a.locale,
	}
	if a.participants != nil {
		context["participants"] = a.participants
	}
	if a.references != nil {
		list := []any{}
		for _, r := range a.references {
			ref := map[string]any{"kind": r.Kind, "id": r.ID}
			if r.SHA256 != "" {
				ref["sha256"] = r.SHA256
			}
			list = append(list, ref)
		}
		context["references"] = list
	}
	if a.flags == nil {
		a.flags = []string{}
	}
	text, err := json.Marshal(map[string]any{
		"request_id": a.id, "circle_context": context, "visibility_level_target": a.target, "sensitivity_flags": a.flags, "consent_status": a.consent,
		"allowed_actions": a.actions, "expected_output": a.outputs, "input_text": a.text,
	})
	if err != nil {
		panic(err)
	}
	return text
}

func decision(text string) ask {
	return ask{text: text, actions: []string{"read", "draft", "propose_decision", "request_consent"}, outputs: []string{"decision_draft"}}
}

func export(text string) ask {
	return ask{
		text: text, target: "public", actions: []string{"read", "draft", "export_draft", "request_consent", "step_up"}, outputs: []string{"bridge_draft"},
	}
}

func coreChange(text string) ask {
	return ask{
		text: text, actions: []string{"read", "draft", "core_change_draft", "propose_decision", "request_consent"}, outputs: []string{"core_change_proposal"},
	}
}

func gift(text string) ask {
	return ask{text: text, actions: []string{"read", "draft", "gift_draft", "propose_decision"}, outputs: []string{"gift_draft"}}
}

func merge(text string) ask {
	return ask{text: text, actions: []string{"read", "draft", "merge_draft"}, outputs: []string{"merge_proposal"}}
}

func remember(text string) ask {
	return ask{text: text, actions: []string{"read", "draft", "remember"}, outputs: []string{"memory_note"}}
}

// answer asks, lets everything run, and gives the package.
func (w *world) answer(a ask) *request.Package {
	w.Helper()
	p := must(w.Ask(w.Context(), as("olha"), a.document()))
	w.drain()
	p = must(w.RequestGet(w.Context(), as("olha"), p.RequestID))
	if p.State != request.Ended {
		w.Fatalf("the request %s has not ended: %s", p.RequestID, show(p))
	}
	w.sound(p)
	return p
}

// sound holds a package against what is true of every one.
func (w *world) sound(p *request.Package) {
	w.Helper()
	if !slices.Contains([]artifact.Status{artifact.Draft, artifact.NeedsConfirmation, artifact.WaitingForConsent}, p.Status) {
		w.Errorf("a package has the status %q", p.Status)
	}
	for _, r := range p.Runs {
		if r.ConstitutionVersion == "" || r.SubagentPromptVersion == "" || len(r.PromptSHA256) != 64 {
			w.Errorf("a run without its versions: %+v", r)
		}
		if r.Provenance != p.Origin {
			w.Errorf("a run of a request of origin %s has %s", p.Origin, r.Provenance)
		}
	}
	for _, doc := range p.Artifacts {
		if faults := w.schema.CheckDocument(doc); len(faults) > 0 {
			w.Errorf("an artifact breaks its schema: %v\n%s", faults, doc)
		}
		d := read(w.T, doc)
		if d.Status == "confirmed" {
			w.Errorf("the orchestrator returned a confirmed artifact: %s", doc)
		}
		if p.Origin == envelope.External && d.Provenance.Origin != "external" {
			w.Errorf("the mark of an external request was washed off: %s", doc)
		}
	}
}

// doc is as much of an artifact as the tests look at.
type doc struct {
	ID         string          `json:"artifact_id"`
	Type       string          `json:"type"`
	Status     string          `json:"status"`
	SHA256     string          `json:"content_sha256"`
	Level      string          `json:"visibility_level"`
	Content    json.RawMessage `json:"content"`
	Blocked    []string        `json:"blocked_by"`
	Contract   string          `json:"contract_id"`
	Provenance struct {
		Origin  string `json:"origin"`
		Request string `json:"request_id"`
		Worker  string `json:"worker"`
		Engine  string `json:"engine"`
	} `json:"provenance"`
}

func read(t *testing.T, text []byte) doc {
	t.Helper()
	var d doc
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// of is the artifact of a type, which is there once.
func of(t *testing.T, p *request.Package, kind string) doc {
	t.Helper()
	var found []doc
	for _, text := range p.Artifacts {
		if d := read(t, text); d.Type == kind {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d artifacts of type %s: %s", len(found), kind, show(p))
	}
	return found[0]
}

// workers is who ran, in the order of the plan.
func workers(p *request.Package) []string {
	list := []string{}
	for _, r := range p.Runs {
		if r.State == request.RunDone {
			list = append(list, string(r.Worker))
		}
	}
	return list
}

func stops(p *request.Package) []string {
	list := []string{}
	for _, s := range p.Stops {
		list = append(list, string(s.Condition))
	}
	return list
}

func show(p *request.Package) string {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func engines() map[constitution.AgentID]worker.Engine { return fakes() }
