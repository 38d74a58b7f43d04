package api_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"

	plimsoll "plimsoll.dev"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/secrets"
	"plimsoll.dev/internal/store"
)

// shared is what every world has the same: to read it takes its time.
var shared = sync.OnceValues(func() (c clan.Config, err error) {
	forms, err := secrets.New()
	if err != nil {
		return c, err
	}
	if c.Screen, err = screen.New(screen.Config{Secrets: forms}); err != nil {
		return c, err
	}
	text, err := plimsoll.ArtifactSchema()
	if err != nil {
		return c, err
	}
	if c.Contents, err = artifact.NewSchema(text); err != nil {
		return c, err
	}
	c.Schema = func(envelope.ArtifactType) []byte { return nil }
	return c, nil
})

// newCircle is the circle of a world. Its jobs do not run.
func newCircle(t *testing.T, s *store.Store, w *world) *clan.Service {
	t.Helper()
	conf, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	files, err := plimsoll.ClanConfig()
	if err != nil {
		t.Fatal(err)
	}
	set, err := constitution.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	conf.Store, conf.Contracts, conf.Set, conf.Engines, conf.NewID = s.Circles(), w.service, constitution.NewHolder(set), clan.BuiltIn(), w.id
	conf.Files = func() (fs.FS, error) { return files, nil }
	made, err := clan.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// asking is an envelope of me in the garden.
func asking(id string) object {
	return object{
		"request_id": id,
		"circle_context": object{
			"circle_id": "garden", "member_id": "me", "channel": object{"kind": "internal", "id": "test"}, "participants": []any{}, "references": []any{},
		},
		"visibility_level_target": "circle", "sensitivity_flags": []any{}, "consent_status": "not_required", "allowed_actions": []string{"read", "draft", "propose_decision"},
		"expected_output": []string{"decision_draft"}, "input_text": "Let us decide whether the greenhouse opens.",
	}
}

// founded is a world with a circle of somebody.
func founded(t *testing.T) (w *world, token string) {
	t.Helper()
	w = newWorld(t, nil)
	token = w.actor("me", contract.Human, contract.RolesOf(contract.Admin), allScopes()...)
	if got := w.do(request{method: "POST", path: "/v1/circles", token: token, key: "c", body: sample["circle.create"]}); got.Code != 201 || got.Header().Get("ETag") == "" {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	return w, token
}

func TestARequestIsTakenOnceAndItsFaultsArePointedAt(t *testing.T) {
	w, token := founded(t)
	ask := func(key string, body any) response {
		return w.do(request{method: "POST", path: "/v1/requests", token: token, key: key, body: body})
	}
	first := ask("k1", asking("r-1"))
	if first.Code != 202 || !strings.Contains(first.Body.String(), `"state":"running"`) {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	if again := ask("k1", asking("r-1")); again.Header().Get("Idempotency-Replayed") != "true" || again.Body.String() != first.Body.String() {
		t.Errorf("under the same key: %d %s", again.Code, again.Body)
	}
	if again := ask("k2", asking("r-1")); again.Code != 202 || again.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("under another key: %d %s", again.Code, again.Body)
	}
	other := asking("r-1")
	other["input_text"] = "Another text."
	if p := ask("k3", other).problem(t); p.Status != 422 || p.Code != "request.id_conflict" || p.Path == nil || *p.Path != "/request_id" {
		t.Errorf("%+v", p)
	}
	p := ask("k4", object{"request_id": 7, "surprise": true}).problem(t)
	at := map[string]refusal.Code{}
	for _, e := range p.Errors {
		at[e.Path] = e.Code
	}
	if at["/request_id"] != "request.field_type" || at["/surprise"] != "request.field_unknown" || at["/input_text"] != "request.field_missing" || !strings.HasPrefix(p.Title, "request: field ") {
		t.Errorf("%s: %v", p.Title, at)
	}
	got := w.do(request{method: "GET", path: "/v1/requests/r-1", token: token})
	if got.Code != 200 || got.Header().Get("ETag") == "" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := w.do(request{method: "GET", path: "/v1/requests/r-2", token: token}); got.Code != 404 || got.problem(t).Code != refusal.RequestNotFound {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// Who is not a member learns nothing, also not whether there is something.
func TestAStrangerToACircleFindsNothingOfIt(t *testing.T) {
	w, token := founded(t)
	if got := w.do(request{method: "POST", path: "/v1/requests", token: token, key: "k", body: asking("r-1")}); got.Code != 202 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	stranger := w.actor("stranger", contract.Human, contract.RolesOf(contract.Requester), allScopes()...)
	for path, want := range map[string]int{
		"/v1/requests/r-1": 404, "/v1/requests/r-1/events": 404, "/v1/circles/garden": 403, "/v1/circles/none": 403, "/v1/circles/garden/members": 403,
		"/v1/channels?circle_id=garden": 403, "/v1/artifacts?circle_id=garden": 403,
	} {
		if got := w.do(request{method: "GET", path: path, token: stranger}); got.Code != want {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/v1/requests", "/v1/artifacts", "/v1/consents", "/v1/circles", "/v1/channels"} {
		got := w.do(request{method: "GET", path: path, token: stranger})
		if strings.TrimSpace(got.Body.String()) != `{"items":[]}` {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

func TestTheListsOfTheCircleComeInPages(t *testing.T) {
	w, token := founded(t)
	for n := range 5 {
		w.mu.Lock()
		w.now = w.now.Add(1e9)
		w.mu.Unlock()
		if got := w.do(request{method: "POST", path: "/v1/requests", token: token, key: fmt.Sprint("k", n), body: asking(fmt.Sprint("r-", n))}); got.Code != 202 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	for path, want := range map[string]int{"/v1/requests?limit=2&circle_id=garden": 5, "/v1/workers?limit=4": 13, "/v1/circles/garden/members?limit=1": 1} {
		seen := map[string]bool{}
		for next := path; next != ""; {
			got := w.do(request{method: "GET", path: next, token: token})
			var page struct {
				Items []json.RawMessage
				Next  string
			}
			if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil || got.Code != 200 || len(page.Items) > 4 {
				t.Fatalf("%s: %d %v %s", next, got.Code, err, got.Body)
			}
			for _, item := range page.Items {
				seen[string(item)] = true
			}
			if next = ""; page.Next != "" {
				base, _, _ := strings.Cut(path, "?")
				next = base + "?limit=2&cursor=" + page.Next
			}
		}
		if len(seen) != want {
			t.Errorf("%s: %d items, want %d", path, len(seen), want)
		}
	}
}

func TestAMembershipIsChangedUnderTheTagThatWasSeen(t *testing.T) {
	w, token := founded(t)
	w.actor("olha", contract.Human, contract.RolesOf(contract.Requester), "read")
	get := func() string {
		return w.do(request{method: "GET", path: "/v1/circles/garden", token: token}).Header().Get("ETag")
	}
	stale := get()
	set := request{method: "POST", path: "/v1/circles/garden/members", token: token, key: "k1", match: stale, body: object{"member_id": "olha"}}
	if got := w.do(set); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	set.key, set.body = "k2", object{"member_id": "olha", "roles": []string{"council"}}
	if got := w.do(set); got.Code != 412 {
		t.Errorf("under a tag that is no more: %d %s", got.Code, got.Body)
	}
	// A write that says in its query what it is about is another under another query.
	remove := request{method: "DELETE", path: "/v1/circles/garden/members?member_id=olha", token: token, key: "k3"}
	if got := w.do(remove); got.Code != 200 || strings.Contains(got.Body.String(), `"olha"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	remove.path = "/v1/circles/garden/members?member_id=me"
	if p := w.do(remove).problem(t); p.Code != refusal.RequestIDConflict {
		t.Errorf("another under the same key: %+v", p)
	}
}

func TestTheProgressOfARequestIsToldAndTheStreamEndsWithTheService(t *testing.T) {
	w, token := founded(t)
	if got := w.do(request{method: "POST", path: "/v1/requests", token: token, key: "k", body: asking("r-1")}); got.Code != 202 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	w.api.Close()
	got := w.do(request{method: "GET", path: "/v1/requests/r-1/events", token: token, header: http.Header{"Accept": {"text/event-stream"}}})
	if got.Code != 200 || got.Header().Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(got.Body.String(), "id: accepted\nevent: accepted\ndata: {") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	// Who comes back is not told again.
	got = w.do(request{method: "GET", path: "/v1/requests/r-1/events", token: token, header: http.Header{"Last-Event-Id": {"accepted"}}})
	if strings.Contains(got.Body.String(), "accepted") {
		t.Errorf("%s", got.Body)
	}
}

func TestTheConfigurationCanBeReadByEverybodyAndReloadedByAnAdmin(t *testing.T) {
	w, token := founded(t)
	reader := w.actor("reader", contract.Human, contract.RolesOf(contract.Requester), allScopes()...)
	got := w.do(request{method: "GET", path: "/v1/clan/config/file?path=JOS_BASE.md", token: reader})
	if got.Code != 200 || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") || got.Body.Len() < 1000 {
		t.Errorf("%d %s", got.Code, got.Header())
	}
	for _, path := range []string{"../go.mod", "none.md", "/etc/passwd"} {
		if got := w.do(request{method: "GET", path: "/v1/clan/config/file?path=" + path, token: reader}); got.Code != 404 {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	for name, want := range map[string]int{reader: 403, token: 200} {
		if got := w.do(request{method: "POST", path: "/v1/clan/config/reload", token: name, key: "k"}); got.Code != want {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
}
