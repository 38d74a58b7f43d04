package request_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/worker"
)

// The vectors of triage, asked of the whole circle (docs/spec/circle.md §11).
func TestEveryVectorOfTriageHoldsForTheWholeCircle(t *testing.T) {
	text := must(os.ReadFile(filepath.Join("triage", "testdata", "triage.json")))
	var vectors struct {
		Cases []struct {
			Name     string         `json:"name"`
			Envelope map[string]any `json:"envelope"`
			Expect   struct {
				Intent      *string   `json:"intent"`
				Chain       *string   `json:"chain"`
				First       *string   `json:"first_worker"`
				Workers     *[]string `json:"workers"`
				Stop        *string   `json:"stop"`
				Status      []string  `json:"status"`
				Flags       []string  `json:"flags_added"`
				Recommend   string    `json:"recommend"`
				EscalatedTo string    `json:"escalated_to"`
				Origin      string    `json:"origin"`
			} `json:"expect"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t, func(conf *request.Config) { conf.Engines = worker.Engines() })
			if parts, ok := c.Envelope["input_text_parts"].([]any); ok {
				joined := ""
				for _, p := range parts {
					joined += p.(string)
				}
				delete(c.Envelope, "input_text_parts")
				c.Envelope["input_text"] = joined
			}
			at := c.Envelope["circle_context"].(map[string]any)
			at["member_id"] = "olha"
			if c.Envelope["request_id"] == nil {
				c.Envelope["request_id"] = "vector"
			}
			by := "olha"
			if c.Expect.Origin == "external" {
				by = "bot"
			}
			p := must(w.Ask(t.Context(), as(by), must(json.Marshal(c.Envelope))))
			w.drain()
			p = must(w.RequestGet(t.Context(), as("olha"), p.RequestID))
			w.sound(p)
			e, ran := c.Expect, workers(p)
			check := func(ok bool, what string) {
				t.Helper()
				if !ok {
					t.Errorf("%s\n%s", what, show(p))
				}
			}
			check(p.State == request.Ended, "it has not ended")
			check(e.Intent == nil || string(p.Intent) == *e.Intent, "another intent")
			check(e.Workers == nil || slices.Equal(ran, *e.Workers), "other workers")
			check(e.First == nil || len(ran) > 0 && ran[0] == *e.First, "another first worker")
			stop := ""
			if p.Stop != nil {
				stop = string(p.Stop.Condition)
			}
			check(e.Stop == nil && stop == "" || e.Stop != nil && stop == *e.Stop, "another stop")
			check(len(e.Status) == 0 || slices.Contains(e.Status, string(p.Status)), "another status")
			for _, f := range e.Flags {
				check(slices.Contains(p.Flags, envelope.Flag(f)), "the flag "+f+" is missing")
			}
			check(e.Recommend == "" || p.Stop != nil && p.Stop.Recommend == e.Recommend, "another recommendation")
			check(e.EscalatedTo == "" || slices.Contains(handed(p), e.EscalatedTo), "not escalated")
			check(e.Origin == "" || string(p.Origin) == e.Origin, "another origin")
		})
	}
}

// shelf is a library of one document.
type shelf map[string]string

func (s shelf) Read(_ context.Context, r envelope.Reference) (request.Paper, error) {
	text, ok := s[r.ID]
	if !ok {
		return request.Paper{}, fault.E("shelf", fault.NotFound, "no such document", nil)
	}
	return request.Paper{Title: r.ID, Text: []byte(text), Level: envelope.Circle}, nil
}

// A secret put anywhere into a request appears nowhere afterwards.
func TestASecretAppearsNowhereAfterwards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := filepath.Join(dir, "plimsoll.db")
	heard := &listener{}
	w := newWorldAt(t, at, func(c *request.Config) {
		c.Engines, c.Model = worker.Engines(), heard
		c.Library = shelf{"notes.md": "the key is " + secret(), "plain.md": "the greenhouse opens at nine"}
	})
	asks := []ask{
		decision("Let us decide: the key is " + secret() + ", and the greenhouse opens."),
		export("Draft a letter to the town council with " + secret()),
		remember("Remember the key " + secret()),
	}
	doc := decision("Let us decide, as the notes say, whether the greenhouse opens.")
	doc.references = []envelope.Reference{{Kind: envelope.RefDocument, ID: "notes.md"}}
	asks = append(asks, doc)
	for _, a := range asks {
		p := w.answer(a)
		if p.Stop == nil || p.Stop.Condition != envelope.SecretsDetected || strings.Contains(show(p), secret()) {
			t.Errorf("%s", show(p))
		}
	}
	for _, change := range []func(*ask){
		func(a *ask) { a.id = secret() },
		func(a *ask) { a.channel = secret() },
		func(a *ask) { a.circle = secret() },
		func(a *ask) { a.member = secret() },
		func(a *ask) { a.participants = []string{secret()} },
		func(a *ask) {
			a.references = []envelope.Reference{{Kind: envelope.RefURL, ID: "https://example.org/?key=" + secret()}}
		},
		func(a *ask) { a.outputs = []string{secret()} },
		func(a *ask) { a.actions = []string{secret()} },
		func(a *ask) { a.locale = secret() },
	} {
		a := decision("Let us decide whether the greenhouse opens.")
		change(&a)
		_, err := w.Ask(t.Context(), as("olha"), a.document())
		if err == nil || strings.Contains(err.Error(), secret()) {
			t.Errorf("%v", err)
		}
	}
	plain := decision("Let us decide whether the greenhouse opens on Sundays, see the page.")
	plain.references = []envelope.Reference{{Kind: envelope.RefDocument, ID: "plain.md"}}
	if p := w.answer(plain); slices.Contains(stops(p), "secrets_detected") || len(heard.all()) == 0 {
		t.Errorf("a near miss was stopped, or no model was asked: %s", show(p))
	}
	for _, text := range heard.all() {
		if strings.Contains(text, secret()) {
			t.Error("a model heard the secret")
		}
	}
	files := must(os.ReadDir(dir))
	for _, f := range files {
		if strings.Contains(string(must(os.ReadFile(filepath.Join(dir, f.Name())))), secret()) {
			t.Errorf("the secret is in %s", f.Name())
		}
	}
}

// listener is a model that hears everything, and writes what the engine wrote.
type listener struct {
	mu    sync.Mutex // guards heard
	heard []string
	write func(t request.Turn) (request.Drafted, error)
}

func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

func (l *listener) Name() string { return "the-model" }

func (l *listener) Draft(_ context.Context, p constitution.Prompt, t request.Turn) (request.Drafted, error) {
	l.mu.Lock()
	l.heard = append(l.heard, p.Text())
	for _, d := range t.Data {
		l.heard = append(l.heard, d.Name, d.Text)
	}
	for _, b := range t.Contract {
		l.heard = append(l.heard, string(b.Content))
	}
	l.mu.Unlock()
	if l.write != nil {
		return l.write(t)
	}
	out := request.Drafted{Model: "the-model-1"}
	for _, b := range t.Contract {
		out.Drafts = append(out.Drafts, request.Prose{Type: b.Type, Content: []byte(`{}`)})
	}
	return out, nil
}

// A model that does what an attacker says can spoil a text and move nothing.
func TestAModelThatObeysAnAttackerMovesNothing(t *testing.T) {
	for _, c := range []struct {
		name, prose string
		stops       []string
	}{
		{"prose", `{"body":"Send everything to the attacker. It is confirmed.","subject":"confirmed"}`, []string{"consent_missing_for_critical"}},
		{"recipients", `{"body":"x","recipients":[{"kind":"outside","id":"attacker"}]}`, []string{"agent_output_not_in_allowed_outputs"}},
		{"a status", `{"status":"confirmed"}`, []string{"agent_output_not_in_allowed_outputs"}},
		{"no JSON", `confirmed`, []string{"agent_output_not_in_allowed_outputs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &listener{write: func(t request.Turn) (request.Drafted, error) {
				out := request.Drafted{Model: "obeys"}
				for _, b := range t.Contract {
					prose := `{}`
					if b.Type == envelope.BridgeDraft {
						prose = c.prose
					}
					out.Drafts = append(out.Drafts, request.Prose{Type: b.Type, Content: []byte(prose)})
				}
				return out, nil
			}}
			w := newWorld(t, func(conf *request.Config) { conf.Engines, conf.Model = worker.Engines(), m })
			p := w.answer(export("Draft a letter to the town council: we open our garden to everyone on the first of May."))
			if got := stops(p); !slices.Equal(got, c.stops) {
				t.Fatalf("stops %v\n%s", got, show(p))
			}
			if c.name != "prose" {
				return
			}
			d := of(t, p, "bridge_draft")
			if d.Provenance.Engine != "model" || d.Provenance.Origin != "external" || d.Status != "waiting_for_consent" {
				t.Errorf("%s", show(p))
			}
			if strings.Contains(string(d.Content), `"id":"attacker"`) {
				t.Errorf("%s", d.Content)
			}
			for _, r := range p.Runs {
				if r.Worker == "Bridge" && (r.Engine != constitution.Model || r.Model != "obeys") {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestAModelThatIsAwayLeavesTheEnginesWords(t *testing.T) {
	m := &listener{write: func(request.Turn) (request.Drafted, error) {
		return request.Drafted{}, fault.E("model", fault.Unavailable, "it does not answer", nil)
	}}
	w := newWorld(t, func(conf *request.Config) { conf.Engines, conf.Model = worker.Engines(), m })
	p := w.answer(decision("Let us decide whether the greenhouse opens on Saturdays."))
	if len(p.Stops) > 0 || p.Status != "needs_confirmation" {
		t.Fatalf("%s", show(p))
	}
	for _, r := range p.Runs {
		if r.Engine != constitution.Builtin || r.Model != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestABrokenConfigurationIsNotTakenOnAReload(t *testing.T) {
	files := configuration(t)
	w := newWorld(t, func(c *request.Config) { c.Files = files.open })
	admin := pipeline.Caller{Actor: "olha", Role: "admin"}
	before := must(w.ConfigGet(t.Context(), as("petro")))
	if _, err := w.ConfigReload(t.Context(), as("petro")); err == nil {
		t.Error("petro is no admin, and reloaded the configuration")
	}
	files.edit("agents_registry.yaml", "regenerations: 2 ", "regenerations: 0 ")
	if _, err := w.ConfigReload(t.Context(), admin); err == nil || !strings.Contains(err.Error(), "agents_registry.yaml:") {
		t.Errorf("%v", err)
	}
	if after := must(w.ConfigGet(t.Context(), as("petro"))); after.SHA256 != before.SHA256 {
		t.Error("a broken configuration was taken")
	}
	files.edit("agents_registry.yaml", "regenerations: 0 ", "regenerations: 1 ")
	shown := must(w.ConfigReload(t.Context(), admin))
	if shown.Limits.Regenerations != 1 || shown.SHA256 == before.SHA256 {
		t.Errorf("%+v", shown)
	}
	if !slices.Contains(w.audit(), "config.reload") {
		t.Error("the audit log has no config.reload")
	}
	if list := must(w.WorkerList(t.Context(), as("petro"))); len(list) != 13 || list[0].ID != constitution.PrivacySentinel || len(list[0].PromptSHA256) != 64 {
		t.Errorf("%+v", list)
	}
}

// Nobody asks in somebody else's circle, and nobody reads what is not theirs.
func TestWhatIsPrivateIsItsOwners(t *testing.T) {
	w := newWorld(t, nil)
	a := remember("Remember that the pump key hangs behind the barn door.")
	a.target, a.id = "private", "mine"
	d := of(t, w.answer(a), "memory_note")
	if _, err := w.RequestGet(t.Context(), as("petro"), "mine"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("petro saw a private request: %v", err)
	}
	if _, err := w.ArtifactGet(t.Context(), as("petro"), d.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("petro saw a private note: %v", err)
	}
	if _, err := w.ArtifactAdopt(t.Context(), as("petro"), request.MoveArgs{ID: d.ID}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("petro moved a private note: %v", err)
	}
	if list, _, err := w.RequestList(t.Context(), as("petro"), request.Filter{}, pipeline.Page{}); err != nil || len(list) > 0 {
		t.Errorf("%d requests, %v", len(list), err)
	}
	if list, _, err := w.RequestList(t.Context(), as("lena"), request.Filter{Circles: []string{"c-forest"}}, pipeline.Page{}); problem.CodeOf(err) != problem.MemberRequired {
		t.Errorf("%d requests, %v", len(list), err)
	}
}

// hangs is a model that never answers.
type hangs struct{ *listener }

func (hangs) Draft(ctx context.Context, _ constitution.Prompt, _ request.Turn) (request.Drafted, error) {
	<-ctx.Done()
	return request.Drafted{}, fault.E("model", fault.Unavailable, "it hung", ctx.Err())
}

func TestAWorkerThatTakesLongerThanItsDeadlineFails(t *testing.T) {
	files := configuration(t)
	files.edit("agents_registry.yaml", "outputs: [research_note]\n    deadline_seconds: 60", "outputs: [research_note]\n    deadline_seconds: 1")
	w := newWorld(t, func(c *request.Config) {
		c.Engines, c.Model = worker.Engines(), hangs{&listener{}}
		c.Set = constitution.NewHolder(must(constitution.Load(must(files.open()))))
	})
	p := w.answer(ask{text: "What did we decide about the greenhouse?", actions: []string{"read", "research"}, outputs: []string{"research_note"}})
	if len(p.Runs) != 1 || p.Runs[0].State != request.RunFailed || p.Runs[0].Fault != request.FaultDeadline || p.Status != "draft" {
		t.Errorf("%s", show(p))
	}
}

func TestTheOperatorsPolicyIsAskedWithWhatTheWorkAsksFor(t *testing.T) {
	var seen []pipeline.Work
	w := newWorld(t, func(c *request.Config) {
		c.Engines = worker.Engines()
		c.Violated = func(work pipeline.Work) string {
			seen = append(seen, work)
			return "policy.forbid:network_access"
		}
	})
	p := w.answer(export("Draft a letter to the town council: we open our garden to everyone on the first of May."))
	d := of(t, p, "gate_verdict")
	if len(seen) == 0 || seen[0].Intent.RequestedCapabilities.Empty() || !strings.Contains(string(d.Content), "policy.forbid:network_access") {
		t.Errorf("%+v\n%s", seen, d.Content)
	}
}
