package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// filled is the path of an operation with ids that nothing has.
func filled(o operation.Operation) string {
	return strings.NewReplacer("{id}", "IC-901", "{intentId}", "IC-901", "{executionId}", "exec-901", "{kind}", "build_log", "{lockId}", "lock-901",
		"{actorId}", "nobody").Replace(o.Path)
}

// sample is a body that has the shape the operation asks for.
var sample = map[string]any{
	"contract.edit":         object{"version": 2, "intent": "x"},
	"activation.decide":     object{"version": 1, "decision": "approved"},
	"contract.freeze":       object{"version": 1, "cause": "manual_check", "reason": "x"},
	"contract.resume":       object{"version": 1, "resolution": "x"},
	"contract.revoke":       object{"version": 1, "ground": "audit", "reason": "x"},
	"contract.archive":      object{"version": 1},
	"merge.resolve":         object{"version": 1, "chosen": "x"},
	"intent.create":         object{"intent": "x", "priority": "low", "requestedCapabilities": []string{"read_repo"}},
	"intent.revise":         object{"intent": "x", "priority": "low", "requestedCapabilities": []string{"read_repo"}},
	"task.claim":            object{"phase": "Build"},
	"run.complete":          object{"outcome": "succeeded", "headCommit": "abcdef0", "evidence": object{}},
	"run.fail":              object{"reason": "x", "evidence": object{}},
	"run.release":           object{"reason": "x"},
	"operation.request":     object{"capability": "read_repo"},
	"review.record":         object{"verdict": "approved", "blocking": []string{}, "headCommit": "abcdef0"},
	"verify.record":         object{"baseCommit": "abcdef0", "headCommit": "abcdef1", "artifact": object{}},
	"acceptance.reevaluate": object{},
	"gate.decide":           object{"version": 1, "decision": "approved", "digest": "x"},
	"gate.hold":             object{"version": 1},
	"gate.release":          object{"version": 1},
	"lock.acquire":          object{"keys": []string{"contract:IC-001"}},
	"webhook.create":        object{"url": "https://hooks.example/x"},
	"webhook.edit":          object{"enabled": false},
	"webhook.replay":        object{"after": 0},
	"actor.create":          object{"actorId": "somebody", "type": "human", "roles": []string{"requester"}},
	"actor.edit":            object{"name": "x"},
	"token.create":          object{"scopes": []string{"read"}, "expiresAt": "2026-04-01T00:00:00Z"},
	"outcome.confirm":       object{"content_sha256": "x"},
	"consent.decide":        object{"artifact_id": "art-1", "content_sha256": "x", "decision": "granted"},
	"identity.enroll":       object{"kind": "totp", "name": "phone"},
	"identity.challenge":    object{},
	"identity.answer":       object{"code": "123456"},
	"circle.create":         object{"name": "Garden", "circle_id": "garden"},
	"circle.quorum":         object{"fraction": object{"numerator": 3, "denominator": 4}},
	"member.set":            object{"member_id": "nobody", "roles": []string{"council"}},
}

// sent is a request that passes everything the surface checks.
func sent(o operation.Operation, token string) request {
	q := request{method: o.Method, path: filled(o), token: token, key: "key-" + o.ID, header: http.Header{"Plimsoll-Lock-Token": {"1"}}}
	if !o.Key {
		q.key = ""
	}
	if o.Match == operation.Demanded {
		q.match = `"x.1"`
	}
	if o.ID == "gate.status" {
		q.path += "?repository=r&headCommit=abcdef0"
	}
	if body, ok := sample[o.ID]; ok {
		q.body = body
	}
	switch o.ID {
	case "artifact.put":
		q.body, q.media = "log", "text/plain"
	case "evidence.ingest":
		q.body, q.media = "{}\n", "application/jsonl"
	case "request.ask":
		q.body = object{}
	case "member.remove":
		q.path += "?member_id=nobody"
	case "clan.file":
		q.path += "?path=JOS_BASE.md"
	}
	return q
}

func allScopes() []string {
	return []string{"read", "write", "decide", "execute", "audit", "admin", "metrics"}
}

func TestNobodyGetsInWithoutALiveToken(t *testing.T) {
	w := newWorld(t, nil)
	everyone := contract.RolesOf(contract.Roles()...)
	good := w.actor("somebody-001", contract.Human, everyone, allScopes()...)
	tokens := map[string]string{"none": "", "unknown": "plm_unknown", "shortened": good[:len(good)-1]}
	for _, state := range []string{"revoked", "inactive actor"} {
		id := contract.ActorID("actor-" + strings.Fields(state)[0])
		tokens[state] = w.actor(id, contract.Human, everyone, allScopes()...)
		w.spoil(state, tokens[state], id)
	}
	for _, o := range operation.Every() {
		for state, token := range tokens {
			got := w.do(sent(o, token))
			if o.Scope == "" {
				if got.Code != o.Success {
					t.Errorf("%s is for everybody, and answers %d", o.ID, got.Code)
				}
				continue
			}
			if p := got.problem(t); p.Code != refusal.AuthRequired || got.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s with a token that is %s: %d %s", o.ID, state, got.Code, p.Code)
			}
		}
	}
	for _, header := range []string{"Basic " + good, good, "Bearer", "Bearer ", "Bearer a b"} {
		got := w.do(request{method: "GET", path: "/v1/me", header: http.Header{"Authorization": {header}}})
		if got.Code != 401 {
			t.Errorf("%q: %d", header, got.Code)
		}
	}
	// A token in the URL is no token, and no parameter either.
	if got := w.do(request{method: "GET", path: "/v1/me?access_token=" + good}); got.Code != 401 {
		t.Errorf("a token in the URL: %d", got.Code)
	}
}

func TestAScopeOpensItsOwnOperationsOnly(t *testing.T) {
	w := newWorld(t, nil)
	everyone := contract.RolesOf(contract.Roles()...)
	for _, scope := range allScopes() {
		id := contract.ActorID("only-" + scope)
		token := w.actor(id, contract.Human, everyone, scope)
		for _, o := range operation.Every() {
			if o.Scope == "" {
				continue
			}
			q := sent(o, token)
			if roles := o.Roles.List(); len(roles) > 0 {
				q.role = string(roles[0])
			}
			got := w.do(q)
			missing := got.Code == 403 && got.problem(t).Code == refusal.AuthScopeMissing
			if missing != (string(o.Scope) != scope) {
				t.Errorf("%s with the scope %s: %d %s", o.ID, scope, got.Code, got.Body)
			}
			if got.Code >= 500 {
				t.Errorf("%s: %d %s", o.ID, got.Code, got.Body)
			}
		}
	}
}

// Whatever the role, an operation that does not admit it makes nothing.
func TestARoleThatIsNotAdmittedMakesNothing(t *testing.T) {
	for _, role := range contract.Roles() {
		t.Run(string(role), func(t *testing.T) {
			w := newWorld(t, nil)
			token := w.actor("me", contract.Human, contract.RolesOf(role), allScopes()...)
			for _, o := range operation.Every() {
				got := w.do(sent(o, token))
				if got.Code >= 500 {
					t.Errorf("%s: %d %s", o.ID, got.Code, got.Body)
				}
				if o.Roles.Empty() || o.Roles.Has(role) {
					continue
				}
				if got.Code < 400 {
					t.Errorf("%s is taken: %d %s", o.ID, got.Code, got.Body)
				}
			}
		})
	}
}

func TestEveryWriteNeedsItsKeyAndSomeTheirTag(t *testing.T) {
	w := newWorld(t, nil)
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Admin), allScopes()...)
	for _, o := range operation.Every() {
		if o.Key {
			q := sent(o, token)
			q.key = ""
			if got := w.do(q); got.Code != 400 || got.problem(t).Code != refusal.RequestKeyRequired {
				t.Errorf("%s without a key: %d", o.ID, got.Code)
			}
		}
		if o.Match == operation.Demanded {
			q := sent(o, token)
			q.match = ""
			if got := w.do(q); got.Code != 428 {
				t.Errorf("%s without If-Match: %d", o.ID, got.Code)
			}
		}
	}
}

func TestABodyOfAnotherShapeIsRefusedWithEveryFault(t *testing.T) {
	w := newWorld(t, nil)
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Admin), allScopes()...)
	for id := range sample {
		o, _ := operation.Find(id)
		for name, body := range map[string]string{
			"a list": `[]`, "null": `null`, "a string": `"x"`, "nothing": ``, "two values": `{} {}`, "cut off": `{"a":`,
			"a member twice": `{"version":1,"version":1}`, "deep": strings.Repeat("[", 20000), "a number beyond all": `{"version":1e999}`,
		} {
			q := sent(o, token)
			q.body, q.media = body, "application/json"
			if o.Method == http.MethodPatch {
				q.media = "application/merge-patch+json"
			}
			if got := w.do(q); got.Code != 400 || got.problem(t).Code != refusal.RequestMalformed {
				t.Errorf("%s with %s: %d %s", id, name, got.Code, got.Body)
			}
		}
		q := sent(o, token)
		q.media = "application/xml"
		if got := w.do(q); got.Code != 415 {
			t.Errorf("%s as XML: %d", id, got.Code)
		}
	}
	got := w.do(request{method: "POST", path: "/v1/intents", token: token, key: "k", body: object{"intent": 1, "priority": true, "more": nil}})
	p := got.problem(t)
	paths := []string{}
	for _, e := range p.Errors {
		paths = append(paths, e.Path)
	}
	if want := []string{"/intent", "/priority", "/requestedCapabilities", "/more"}; !slices.Equal(paths, want) {
		t.Errorf("the faults are at %q, want %q", paths, want)
	}
}

func TestWhatIsNoRouteIsNotFound(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/contracts/", "//v1/contracts", "/v1/../v1/contracts", "/v1/contracts/IC-001/", "/V1/contracts", "/openapi.json/x"} {
		if got := w.do(request{method: "GET", path: path}); got.Code != 404 || got.problem(t).Code != refusal.RequestNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	got := w.do(request{method: "TRACE", path: "/v1/contracts"})
	if got.Code != 405 || got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d, Allow %q", got.Code, got.Header().Get("Allow"))
	}
}

// Every refusal before the use case is in the log: with the actor when it is
// known, else with the address.
func TestRefusalsOfTheSurfaceAreAudited(t *testing.T) {
	w := newWorld(t, nil)
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Requester), "read")
	w.do(request{method: "POST", path: "/v1/intents", token: token, key: "k", body: sample["intent.create"]})
	w.do(request{method: "GET", path: "/v1/contracts", token: "plm_unknown"})
	for range 100 { // one caller nobody knows cannot fill the log
		w.do(request{method: "GET", path: "/v1/contracts"})
	}
	lines, err := w.service.AuditList(t.Context(), 0, pipeline.AuditFilter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 3 || len(lines) > 30 {
		t.Fatalf("%d records", len(lines))
	}
	var r struct {
		ActorID, Action string
		Success         bool
		Error           struct{ Code, Message string }
	}
	if err := json.Unmarshal(lines[0].Text, &r); err != nil || r.ActorID != "me" || r.Action != "contract.create" || r.Success || r.Error.Code != "auth.scope_missing" {
		t.Errorf("%v %s", err, lines[0].Text)
	}
	if err := json.Unmarshal(lines[1].Text, &r); err != nil || r.ActorID != "" || r.Error.Code != "auth.required" || !strings.Contains(r.Error.Message, "192.0.2.1") {
		t.Errorf("%v %s", err, lines[1].Text)
	}
}

func TestARepetitionGetsTheFirstAnswerAndNoSecret(t *testing.T) {
	w := newWorld(t, nil)
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Admin), allScopes()...)
	q := request{method: "POST", path: "/v1/tokens", token: token, key: "k", body: sample["token.create"]}
	var first, second struct{ ID, Token string }
	for _, into := range []any{&first, &second} {
		got := w.do(q)
		if got.Code != 201 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
		if err := json.Unmarshal(got.Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	if first.Token == "" || second.Token != "" || first.ID != second.ID {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if got := w.do(request{method: "GET", path: "/v1/me", token: first.Token}); got.Code != 200 {
		t.Errorf("the new token: %d %s", got.Code, got.Body)
	}
}

// Pages neither repeat nor skip what was there when the first was read.
func TestPagingHoldsWhileThingsHappen(t *testing.T) {
	w := newWorld(t, nil)
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Requester), "read", "write")
	create := func(n int) {
		w.Helper()
		got := w.do(request{method: "POST", path: "/v1/intents", token: token, key: fmt.Sprint("k", n), body: sample["intent.create"]})
		if got.Code != 201 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	const there = 7
	for n := range there {
		create(n)
	}
	seen := map[string]int{}
	path := "/v1/contracts?limit=2&kind=IntentContract&state=Draft"
	for n := there; ; n++ {
		got := w.do(request{method: "GET", path: path, token: token})
		var page struct {
			Items []struct{ Contract struct{ ID string } }
			Next  string
		}
		if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil || got.Code != 200 {
			t.Fatalf("%d %v %s", got.Code, err, got.Body)
		}
		for _, item := range page.Items {
			seen[item.Contract.ID]++
		}
		if page.Next == "" {
			break
		}
		w.mu.Lock()
		w.now = w.now.Add(1e9)
		w.mu.Unlock()
		create(n)
		path = "/v1/contracts?limit=2&cursor=" + page.Next
		// The cursor belongs to this list and these filters.
		for _, other := range []string{"/v1/tasks?cursor=", "/v1/contracts?kind=Evidence&cursor="} {
			if got := w.do(request{method: "GET", path: other + page.Next, token: token}); got.Code != 400 || got.problem(t).Code != refusal.RequestCursorInvalid {
				t.Errorf("%s: %d", other, got.Code)
			}
		}
	}
	for n := range there {
		if id := fmt.Sprintf("IC-%03d", n+1); seen[id] != 1 {
			t.Errorf("%s was seen %d times", id, seen[id])
		}
	}
}
