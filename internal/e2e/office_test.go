//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// office is an installation in which every operation of the surface has
// something to be done to, and somebody of each role alone.
type office struct {
	*site
	tokens map[contract.Role]string // of actors with the one role
	things map[string]string        // ids by what they are for
	tags   map[string]string        // entity tags by operation
	lock   map[string]int64         // fencing tokens by run or lock
	base   string
	head   string
	digest string
	carry  *carrier
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) code() string {
	var p struct{ Code string }
	_ = json.Unmarshal(r.body, &p)
	return p.Code
}

// ask is one request of the table.
type ask struct {
	method, path, key, match, media, role string
	lock                                  int64
	body                                  []byte
}

func (s *site) do(token string, q ask) reply {
	s.Helper()
	return s.send(token, q, bytes.NewReader(q.body), int64(len(q.body)))
}

// send is do with a body of another kind; a length of -1 is not said.
func (s *site) send(token string, q ask, body io.Reader, length int64) reply {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), q.method, s.address()+q.path, body)
	if err != nil {
		s.Fatal(err)
	}
	r.ContentLength = length
	if length > 1<<20 {
		r.Header.Set("Expect", "100-continue") // hear the answer to the head first
	}
	set := func(name, value string) {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if token != "" {
		set("Authorization", "Bearer "+token)
	}
	set("Idempotency-Key", q.key)
	set("If-Match", q.match)
	set("Content-Type", q.media)
	set("Acting-Role", q.role)
	if q.lock != 0 {
		set("Plimsoll-Lock-Token", jsonText(s, q.lock))
	}
	back, err := transport.Do(r)
	if err != nil {
		s.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	defer func() { _ = back.Body.Close() }()
	text, err := io.ReadAll(back.Body)
	if err != nil {
		s.Fatal(err)
	}
	return reply{back.StatusCode, back.Header, text}
}

func jsonText(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func allScopes() []string {
	return []string{"read", "write", "decide", "execute", "audit", "admin", "metrics"}
}

// token has the admin make a token.
func (o *office) token(actor string, until time.Duration, scopes ...string) string {
	o.Helper()
	var made struct{ Token string }
	body := map[string]any{"actorId": actor, "scopes": scopes, "expiresAt": time.Now().Add(until).UTC().Format("2006-01-02T15:04:05.000Z")}
	if err := o.user("root").post(o.Context(), "/v1/tokens", "token-"+actor+strings.Join(scopes, "-")+until.String(), body, &made); err != nil {
		o.Fatal(err)
	}
	return made.Token
}

func (o *office) actor(id, kind string, roles ...string) {
	o.Helper()
	body := map[string]any{"actorId": id, "type": kind, "roles": roles}
	if err := o.user("root").post(o.Context(), "/v1/actors", "actor-"+id, body, nil); err != nil {
		o.Fatal(err)
	}
}

// newOffice makes an office on a site that serves.
func newOffice(s *site) *office {
	s.Helper()
	o := &office{site: s, tokens: map[contract.Role]string{}, things: map[string]string{}, tags: map[string]string{}, lock: map[string]int64{}}
	for _, r := range contract.Roles() {
		kind := "human"
		if r == contract.Orchestrator || r == contract.PolicyEngine {
			kind = "system"
		}
		o.actor("is-"+string(r), kind, string(r))
		o.tokens[r] = o.token("is-"+string(r), time.Hour, allScopes()...)
	}
	l := s.load(nil)
	chain := func(name string, high bool) *carrier {
		return &carrier{load: l, entry: &entry{text: name, high: high, runs: map[string]string{}}, key: name}
	}
	fine := func(err error) {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
	}
	// One chain waits for the decision on its gate.
	o.carry = chain("gated", true)
	g, err := o.carry.toGate()
	fine(err)
	o.base, o.head = o.carry.commits()
	o.digest = g.Meta.Digest
	o.things["intent"], o.things["task"], o.things["gate"], o.things["acceptance"] = o.carry.intent, o.carry.task, g.Contract.ID, g.Contract.EntityID
	// Others have just begun: one for each thing that ends a run, one that is to be
	// claimed, one that waits for its approvals, and one that is taken back.
	for _, name := range []string{"beats", "completes", "fails", "releases", "claims", "waits", "ends", "frozen", "revoked"} {
		c := chain(name, name == "waits")
		fine(begin(c))
		o.things[name] = c.task
		switch name {
		case "ends":
			o.things[name] = c.intent
		case "frozen":
			o.things[name] = c.intent
			fine(c.write(s.user("lea"), "/v1/contracts/"+c.intent+"/freeze", o.body("contract.freeze"), nil))
		case "revoked":
			o.things[name] = c.intent
			fine(c.write(s.user("lea"), "/v1/contracts/"+c.intent+"/revoke", o.body("contract.revoke"), nil))
		case "beats", "completes", "fails", "releases":
			var claim struct {
				ExecutionID string `json:"executionId"`
				LockToken   int64  `json:"lockToken"`
			}
			who := s.user("bot").in("developer")
			fine(c.write(who, "/v1/tasks/"+c.task+"/claim", map[string]any{"phase": "Build", "baseCommit": o.base}, &claim))
			o.things[name], o.lock[claim.ExecutionID] = claim.ExecutionID, claim.LockToken
			if name == "fails" {
				fine(c.put(who.holding(claim.LockToken), claim.ExecutionID, "error_log", "text/plain", "broken\n"))
			}
			if name == "completes" {
				fine(c.put(who.holding(claim.LockToken), claim.ExecutionID, "unit_test_result", "application/json", report))
				fine(c.put(who.holding(claim.LockToken), claim.ExecutionID, "build_log", "text/plain", "built\n"))
			}
		}
	}
	for _, name := range []string{"draft", "competes"} {
		var d shown
		body := map[string]any{"intent": name, "priority": "low", "requestedCapabilities": []string{"read_repo"}}
		fine(s.user("ada").post(s.Context(), "/v1/intents", name, body, &d))
		o.things[name] = d.Contract.ID
	}
	o.compete()
	o.others()
	return o
}

// begin takes a chain as far as its TaskSeed.
func begin(c *carrier) error {
	capabilities := []string{"read_repo", "write_repo"}
	if c.high {
		capabilities = append(capabilities, "network_access")
	}
	var made shown
	body := map[string]any{"intent": c.text, "priority": "medium", "requestedCapabilities": capabilities}
	if err := c.write(c.user("ada"), "/v1/intents", body, &made); err != nil {
		return err
	}
	c.intent = made.Contract.ID
	if err := c.activate(c.intent, 1, "lea"); err != nil {
		return err
	}
	now, err := c.see("the task", func(n *chain) bool { _, ok := n.of("TaskSeed"); return ok })
	if err != nil {
		return err
	}
	task, _ := now.of("TaskSeed")
	c.task = task.Contract.ID
	return nil
}

// compete leaves two contents behind of which a person must choose.
func (o *office) compete() {
	o.Helper()
	path := "/v1/contracts/" + o.things["competes"]
	tag := o.do(o.site.tokens["ada"], ask{method: "GET", path: path}).header.Get("ETag")
	no := o.do(o.site.tokens["ada"], ask{
		method: "PATCH", path: path, key: "competes-edit", match: tag, media: "application/merge-patch+json", body: []byte(`{"version":1,"intent":"another"}`),
	})
	var now struct {
		Meta struct {
			Conflict []struct{ Digest string } `json:"conflict"`
		} `json:"meta"`
	}
	if err := o.user("ada").get(o.Context(), path, &now); err != nil || len(now.Meta.Conflict) != 2 {
		o.Fatalf("two contents compete: %d %s, %+v, %v", no.status, no.body, now, err)
	}
	o.things["chosen"] = now.Meta.Conflict[1].Digest
}

// others is what belongs to no chain.
func (o *office) others() {
	o.Helper()
	made := func(who, path string, body any, into any) {
		o.Helper()
		if err := o.user(who).post(o.Context(), path, "made-"+who+strings.ReplaceAll(path, "/", "."), body, into); err != nil {
			o.Fatal(err)
		}
	}
	var held struct {
		LockID string `json:"lockId"`
		Locks  []struct{ Token int64 }
	}
	if err := o.user("bot").in("developer").post(o.Context(), "/v1/locks", "made-lock", map[string]any{"keys": []string{"repo-path:a"}}, &held); err != nil {
		o.Fatal(err)
	}
	o.things["lock"], o.lock[held.LockID] = held.LockID, held.Locks[0].Token
	var hook struct{ ID string }
	made("root", "/v1/webhooks", map[string]any{"url": "https://hooks.example/x", "types": []string{"publishgate.decision.recorded.v1"}}, &hook)
	o.things["webhook"] = hook.ID
	var token struct{ ID string }
	made("root", "/v1/tokens", map[string]any{"scopes": []string{"read"}, "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}, &token)
	o.things["token"] = token.ID
	o.actor("edited", "human", "requester")
	tag := func(path string) string {
		return o.do(o.site.tokens["root"], ask{method: "GET", path: path}).header.Get("ETag")
	}
	o.tags["contract.edit"] = tag("/v1/contracts/" + o.things["draft"])
	o.tags["webhook.edit"] = tag("/v1/webhooks/" + hook.ID)
	o.tags["webhook.delete"] = o.tags["webhook.edit"]
	o.tags["actor.edit"] = tag("/v1/actors/edited")
}

// request is an operation asked for as it should be.
func (o *office) request(op operation.Operation) ask {
	o.Helper()
	q := ask{method: op.Method, path: op.Path, match: o.tags[op.ID]}
	if op.Key {
		q.key = "table-" + op.ID
	}
	thing := func(name, in string) {
		q.path = strings.Replace(q.path, "{"+in+"}", o.things[name], 1)
	}
	switch op.ID {
	case "contract.edit":
		thing("draft", "id")
	case "activation.decide":
		thing("waits", "id")
	case "contract.freeze", "contract.revoke":
		thing("ends", "id")
	case "contract.resume":
		thing("frozen", "id")
	case "contract.archive":
		thing("revoked", "id")
	case "merge.resolve":
		thing("competes", "id")
	case "task.claim":
		thing("claims", "id")
	case "run.complete", "artifact.put":
		thing("completes", "executionId")
	case "run.fail":
		thing("fails", "executionId")
	case "run.release":
		thing("releases", "executionId")
	case "run.heartbeat":
		thing("beats", "executionId")
	}
	switch {
	case strings.HasPrefix(op.Path, "/v1/gates/"):
		thing("gate", "id")
	case strings.HasPrefix(op.Path, "/v1/acceptances/"):
		thing("acceptance", "id")
	case strings.HasPrefix(op.Path, "/v1/tasks/"):
		thing("task", "id")
	case strings.HasPrefix(op.Path, "/v1/webhooks/"):
		thing("webhook", "id")
	case strings.HasPrefix(op.Path, "/v1/tokens/"):
		thing("token", "id")
	}
	thing("intent", "id")
	thing("intent", "intentId")
	thing("completes", "executionId")
	thing("lock", "lockId")
	q.path = strings.NewReplacer("{kind}", "build_log", "{actorId}", "edited").Replace(q.path)
	for of, token := range o.lock {
		if strings.Contains(q.path, of) {
			q.lock = token
		}
	}
	if op.ID == "gate.status" {
		q.path += "?repository=app&headCommit=" + o.head
	}
	if body := o.body(op.ID); body != nil {
		q.body, q.media = []byte(jsonText(o, body)), "application/json"
		if op.Method == http.MethodPatch {
			q.media = "application/merge-patch+json"
		}
	}
	switch op.ID {
	case "artifact.put":
		q.body, q.media = []byte("built\n"), "text/plain"
	case "evidence.ingest":
		q.body, q.media = append(o.evidence(), '\n'), "application/jsonl"
	}
	return q
}

// evidence is a line that would be taken in.
func (o *office) evidence() []byte {
	o.Helper()
	e := evidence(o.base, o.head, digest("{}"))
	now := e["startTime"]
	for name, value := range map[string]any{
		"schemaVersion": "1.0.0", "id": "EV-900", "kind": "Evidence", "state": "Published", "version": 1, "createdAt": now, "updatedAt": now,
		"taskSeedId": o.things["task"], "actor": "bot", "policyVerdict": "manual_review_required",
		"staleStatus": map[string]any{"classification": "fresh", "evaluatedAt": now}, "mergeResult": map[string]any{"status": "not_applicable"},
	} {
		e[name] = value
	}
	return []byte(jsonText(o, e))
}

// body is what an operation is asked with, nil for nothing.
func (o *office) body(id string) any {
	type m = map[string]any
	wish := m{"intent": "x", "priority": "low", "requestedCapabilities": []string{"read_repo"}}
	return map[string]any{
		"contract.edit":         m{"version": 2, "intent": "edited"},
		"activation.decide":     m{"version": 1, "decision": "approved"},
		"contract.freeze":       m{"version": 1, "cause": "manual_check", "reason": "let me look"},
		"contract.resume":       m{"version": 1, "resolution": "looked"},
		"contract.revoke":       m{"version": 1, "ground": "manual_stop", "reason": "not wanted"},
		"contract.archive":      m{"version": 1, "rule": "tidy up"},
		"merge.resolve":         m{"version": 1, "chosen": o.things["chosen"]},
		"intent.create":         wish,
		"intent.revise":         wish,
		"task.claim":            m{"phase": "Build", "baseCommit": o.base},
		"run.complete":          m{"outcome": "succeeded", "headCommit": o.head, "evidence": evidence(o.base, o.head, digest("{}"))},
		"run.fail":              m{"reason": "broken", "evidence": evidence(o.base, o.head, digest("{}"))},
		"run.release":           m{"reason": "given back"},
		"operation.request":     m{"capability": "read_repo"},
		"review.record":         m{"verdict": "approved", "blocking": []string{}, "headCommit": o.head},
		"verify.record":         m{"baseCommit": o.base, "headCommit": o.head, "artifact": verified(o.base, o.head)},
		"acceptance.reevaluate": m{},
		"gate.decide":           m{"version": 1, "decision": "approved", "digest": o.digest},
		"gate.hold":             m{"version": 1},
		"gate.release":          m{"version": 1},
		"lock.acquire":          m{"keys": []string{"repo-path:b"}},
		"webhook.create":        m{"url": "https://hooks.example/y"},
		"webhook.edit":          m{"enabled": false},
		"webhook.replay":        m{"after": 0},
		"actor.create":          m{"actorId": "somebody", "type": "human", "roles": []string{"requester"}},
		"actor.edit":            m{"name": "Ed"},
		"token.create":          m{"scopes": []string{"read"}, "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
	}[id]
}

// verified is a verify artifact that names its commits.
func verified(base, head string) map[string]any {
	return map[string]any{
		"decision": "passed", "decision_id": "sha256:1", "subject": map[string]any{"base_commit_sha": base, "head_commit_sha": head},
	}
}

// stored is everything there is, as the admin is shown it, but for the log.
func (o *office) stored() string {
	o.Helper()
	var b strings.Builder
	for _, path := range []string{"/v1/contracts", "/v1/chains", "/v1/events", "/v1/runs", "/v1/locks", "/v1/webhooks", "/v1/actors", "/v1/tokens"} {
		for _, item := range all[json.RawMessage](o, o.user("root"), path, nil) {
			b.Write(item)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
