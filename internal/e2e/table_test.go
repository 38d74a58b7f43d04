//go:build unix

package e2e_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// Every operation, asked by everybody with every kind of token for something
// that is there to be done: who may not changes nothing, hears why from the
// catalogue, and is in the log (docs/spec/contracts.md §16, §20).

// denied is the codes a role is refused with for being that role.
var denied = []string{
	"role.not_permitted", "phase.actor_not_permitted", "approval.role_not_held", "activation.role_not_required", "gate.role_not_required", "capability.not_granted",
}

// strangers is what the operations that ask for no role answer to somebody who
// is not the one they are for.
var strangers = map[string]string{
	"run.heartbeat": "lock.not_holder", "run.complete": "lock.not_holder", "run.fail": "lock.not_holder", "run.release": "lock.not_holder",
	"artifact.put": "lock.not_holder", "lock.heartbeat": "lock.not_holder", "lock.release": "lock.not_holder",
	"verify.record": "role.not_permitted", "token.revoke": "ref.not_found",
}

// refusals collects what the log must hold.
type refusals struct {
	*office
	from int64
	want []string
}

func (r *refusals) expect(actor, op, code string) {
	r.want = append(r.want, actor+" "+operation.AuditAction(op)+" "+code)
}

// compare holds that the log has exactly what was refused to the actors of the
// table since the last time.
func (r *refusals) compare() {
	r.Helper()
	got := []string{}
	for _, one := range all[record](r, r.user("root"), "/v1/audit", map[string][]string{"after": {fmt.Sprint(r.from)}}) {
		r.from = one.Position
		if one.Record.Error != nil && (strings.HasPrefix(one.Record.Actor, "is-") || strings.HasPrefix(one.Record.Actor, "without-")) {
			got = append(got, one.Record.Actor+" "+one.Record.Action+" "+one.Record.Error.Code)
		}
	}
	slices.Sort(got)
	slices.Sort(r.want)
	if !slices.Equal(got, r.want) {
		r.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(r.want, "\n"))
	}
	r.want = nil
}

func TestEveryOperationIsForWhoMayAndForNobodyElse(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		p := s.serve()
		o := newOffice(s)
		o.actor("is-gone", "human", "admin", "requester", "project_lead")
		bad := map[string]string{
			"none": "", "unknown": "plm_" + strings.Repeat("x", 40), "expired": o.token("is-admin", 200*time.Millisecond, allScopes()...),
			"of an inactive actor": o.token("is-gone", time.Hour, allScopes()...),
		}
		if got := o.do(s.tokens["root"], ask{
			method: "PATCH", path: "/v1/actors/is-gone", key: "gone", match: o.do(s.tokens["root"], ask{method: "GET", path: "/v1/actors/is-gone"}).header.Get("ETag"),
			media: "application/merge-patch+json", body: []byte(`{"active":false}`),
		}); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		bad["revoked"] = o.revoked()
		without := map[operation.Scope]string{}
		for _, scope := range allScopes() {
			o.actor("without-"+scope, "human", roleNames()...)
			without[operation.Scope(scope)] = o.token("without-"+scope, time.Hour, slices.DeleteFunc(allScopes(), func(one string) bool { return one == scope })...)
		}
		time.Sleep(300 * time.Millisecond) // until the short token has expired
		log := &refusals{office: o}
		for _, one := range all[record](o, o.user("root"), "/v1/audit", nil) {
			log.from = one.Position
		}
		before := o.stored()
		asked := 0
		for _, op := range operation.All() {
			if op.Scope == "" {
				if got := o.do("", o.request(op)); got.status != op.Success {
					t.Errorf("%s is for everybody, and answers %d", op.ID, got.status)
				}
				continue
			}
			for state, token := range bad {
				asked++
				if got := o.do(token, o.request(op)); got.status != http.StatusUnauthorized || got.code() != "auth.required" || got.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s with a token that is %s: %d %s", op.ID, state, got.status, got.body)
				}
			}
			q := o.request(op)
			if list := op.Roles.List(); len(list) > 0 {
				q.role = string(list[0])
			}
			asked++
			if got := o.do(without[op.Scope], q); got.status != http.StatusForbidden || got.code() != "auth.scope_missing" {
				t.Errorf("%s without the scope %s: %d %s", op.ID, op.Scope, got.status, got.body)
			}
			log.expect("without-"+string(op.Scope), op.ID, "auth.scope_missing")
			for _, role := range contract.Roles() {
				asked++
				o.byRole(op, role, log)
			}
			log.compare()
			if now := o.stored(); now != before {
				t.Fatalf("%s was refused to everybody, and changed\n%s", op.ID, difference(before, now))
			}
		}
		o.malformed(log)
		o.done()
		s.proveEvents(all[event](s, s.user("root"), "/v1/events", nil))
		s.proveAudit()
		t.Logf("%d operations, %d requests that were not for who asked", len(operation.All()), asked)
		p.stop()
	})
}

func roleNames() []string {
	names := []string{}
	for _, r := range contract.Roles() {
		names = append(names, string(r))
	}
	return names
}

// revoked is a token that was.
func (o *office) revoked() string {
	o.Helper()
	var made struct{ ID, Token string }
	body := map[string]any{"actorId": "is-admin", "scopes": allScopes(), "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	if err := o.user("root").post(o.Context(), "/v1/tokens", "to-revoke", body, &made); err != nil {
		o.Fatal(err)
	}
	if got := o.do(o.site.tokens["root"], ask{method: "DELETE", path: "/v1/tokens/" + made.ID, key: "revoke"}); got.status != http.StatusNoContent {
		o.Fatalf("%d %s", got.status, got.body)
	}
	return made.Token
}

// byRole asks for an operation as somebody who has one role, when that is not
// one that may.
func (o *office) byRole(op operation.Operation, role contract.Role, log *refusals) {
	o.Helper()
	who := "is-" + string(role)
	stranger := strangers[op.ID]
	switch {
	case op.Roles.Empty() && stranger == "":
		if op.Method != http.MethodGet {
			return // one's own tokens
		}
		want := op.Success
		if op.ID == "gate.bundle" {
			want = http.StatusConflict // nobody has agreed yet, whoever asks
		}
		if got := o.do(o.tokens[role], o.request(op)); got.status != want {
			o.Errorf("%s for %s: %d %s", op.ID, role, got.status, got.body)
		}
		return
	case op.Roles.Has(role), stranger != "" && role == contract.Admin:
		return // may; see done
	}
	got := o.do(o.tokens[role], o.request(op))
	switch code := got.code(); {
	case stranger != "" && code != stranger:
		o.Errorf("%s by %s: %d %s, want %s", op.ID, role, got.status, got.body, stranger)
	case stranger == "" && (got.status != http.StatusForbidden || !slices.Contains(denied, code)):
		o.Errorf("%s by %s: %d %s", op.ID, role, got.status, got.body)
	}
	log.expect(who, op.ID, got.code())
}

// done asks for every write once more, by who may, in an order in which each can
// be done.
func (o *office) done() {
	o.Helper()
	by := map[string]string{
		"contract.edit": "ada", "activation.decide": "lea", "contract.freeze": "lea", "contract.resume": "lea", "contract.revoke": "lea", "contract.archive": "root",
		"merge.resolve": "lea", "intent.create": "ada", "intent.revise": "ada", "review.record": "lea", "gate.decide": "lea", "gate.hold": "lea", "gate.release": "lea",
		"acceptance.reevaluate": "lea",
	}
	late := []string{"gate.decide", "webhook.delete", "lock.release", "run.complete", "verify.record", "acceptance.reevaluate"}
	order := operation.All()
	slices.SortStableFunc(order, func(a, b operation.Operation) int {
		return cmp.Compare(slices.Index(late, a.ID), slices.Index(late, b.ID))
	})
	for _, op := range order {
		if op.Method == http.MethodGet {
			continue
		}
		who := by[op.ID]
		switch {
		case who == "" && op.Scope == operation.Execute:
			who = "bot"
		case who == "":
			who = "root"
		}
		q := o.request(op)
		if who == "bot" && !op.Roles.Empty() {
			q.role = "developer"
		}
		if op.ID == "webhook.delete" { // it was edited
			q.match = o.do(o.site.tokens["root"], ask{method: "GET", path: q.path}).header.Get("ETag")
		}
		got := o.do(o.site.tokens[who], q)
		want := op.Success
		if op.ID == "artifact.put" {
			want = http.StatusOK // the same bytes again
		}
		if got.status != want {
			o.Errorf("%s by %s: %d %s, want %d", op.ID, who, got.status, got.body, want)
		}
		if op.Key {
			o.repeated(op, o.site.tokens[who], q, got)
		}
	}
}

// repeated holds that the same request under the same key is answered as it was
// and does nothing, and that another request does not get the key.
func (o *office) repeated(op operation.Operation, token string, q ask, first reply) {
	o.Helper()
	before := o.stored()
	again := o.do(token, q)
	if again.status != first.status || again.header.Get("Idempotency-Replayed") != "true" || !shownOnce[op.ID] && !bytes.Equal(again.body, first.body) {
		o.Errorf("%s once more: %d %s, first %d %s", op.ID, again.status, again.body, first.status, first.body)
	}
	other := q
	if other.body = append([]byte(" "), q.body...); op.ID == "artifact.put" || op.ID == "evidence.ingest" {
		other.body = append([]byte("\n"), q.body...)
	}
	if len(q.body) > 0 {
		if got := o.do(token, other); got.status != http.StatusUnprocessableEntity || got.code() != "request.id_conflict" {
			o.Errorf("%s with another body under its key: %d %s", op.ID, got.status, got.body)
		}
	}
	// Where jobs go on with the chain meanwhile, no event of theirs is there twice.
	if now := o.stored(); now != before && !goesOn[op.ID] {
		o.Errorf("%s was asked for once more, and changed\n%s", op.ID, difference(before, now))
	}
}

// goesOn is the operations that jobs follow from.
var goesOn = map[string]bool{"run.complete": true, "verify.record": true, "acceptance.reevaluate": true}

// shownOnce is the operations whose first answer holds a secret.
var shownOnce = map[string]bool{"webhook.create": true, "webhook.rotate": true, "token.create": true}

// malformed sends every write in forms that no service should take, by an admin
// who may do all, and holds that nothing comes of it but a refusal.
func (o *office) malformed(log *refusals) {
	o.Helper()
	admin := o.tokens[contract.Admin]
	before := o.stored()
	for _, op := range operation.All() {
		if op.Method == http.MethodGet || op.Scope == "" {
			continue
		}
		plain := o.request(op)
		plain.role = "admin"
		if op.Roles.Empty() {
			plain.role = ""
		}
		type bad struct {
			name   string
			status int
			code   string
			reply  reply
		}
		list := []bad{}
		try := func(name string, status int, code string, got reply) {
			list = append(list, bad{name, status, code, got})
			// What is refused before the token is looked at has nobody's name.
			if name != "announced too large" && name != "as XML" {
				log.expect("is-admin", op.ID, code)
			}
		}
		if op.Key {
			q := plain
			q.key = ""
			try("without a key", http.StatusBadRequest, "request.key_required", o.do(admin, q))
			q.key = "no key/at all"
			try("with a bad key", http.StatusBadRequest, "request.malformed", o.do(admin, q))
		}
		if op.Match == operation.Demanded {
			q := plain
			q.match = ""
			try("without If-Match", http.StatusPreconditionRequired, "request.precondition_required", o.do(admin, q))
		}
		q := plain
		q.role = "emperor"
		try("under a role there is not", http.StatusBadRequest, "request.malformed", o.do(admin, q))
		limit := int64(1 << 20)
		payload := op.ID == "artifact.put" || op.ID == "evidence.ingest"
		if payload {
			limit = 64 << 20
		}
		if len(plain.body) > 0 {
			try("announced too large", http.StatusRequestEntityTooLarge, "request.too_large", o.send(admin, plain, endless(limit+1), limit+1))
		}
		if len(plain.body) > 0 && !payload {
			try("too large and not announced", http.StatusRequestEntityTooLarge, "request.too_large", o.send(admin, plain, endless(limit+1), -1))
			for name, body := range map[string]string{
				"cut off": string(plain.body[:len(plain.body)-1]), "a list": `[]`, "a member twice": `{"version":1,"version":1}`,
				"deep": strings.Repeat("[", 10000),
			} {
				q := plain
				q.body = []byte(body)
				try(name, http.StatusBadRequest, "request.malformed", o.do(admin, q))
			}
			q := plain
			q.media = "text/xml"
			try("as XML", http.StatusUnsupportedMediaType, "request.unsupported_media_type", o.do(admin, q))
		}
		for _, b := range list {
			if b.reply.status != b.status || b.reply.code() != b.code {
				o.Errorf("%s %s: %d %s, want %d %s", op.ID, b.name, b.reply.status, b.reply.body, b.status, b.code)
			}
		}
		log.compare()
	}
	if now := o.stored(); now != before {
		o.Errorf("what no service should take changed\n%s", difference(before, now))
	}
}

// endless is n bytes of white space.
func endless(n int64) io.Reader { return io.LimitReader(blanks{}, n) }

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// difference is the lines of two texts that the other has not.
func difference(a, b string) string {
	out := []string{}
	had, has := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, line := range had {
		if !slices.Contains(has, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range has {
		if !slices.Contains(had, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}
