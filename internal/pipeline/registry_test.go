package pipeline_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func TestOneActiveHumanAdminAlwaysRemains(t *testing.T) {
	o := newOffice(t, nil)
	o.people(pipeline.Actor{ID: "bot", Type: contract.Agent, Roles: contract.RolesOf(contract.Admin)})
	off, none := false, []string{}
	for _, edit := range []pipeline.ActorEdit{{ID: admin.Actor, Active: &off}, {ID: admin.Actor, Roles: &none}} {
		_, err := o.ActorEdit(o.Context(), admin, edit)
		o.refuses(refusal.ActorLastAdmin, err)
	}
	made, err := o.ActorCreate(o.Context(), admin, pipeline.ActorArgs{ID: "adm-002", Type: contract.Human, Roles: []string{"admin"}})
	must(o, made, err)
	edited, err := o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: admin.Actor, Active: &off})
	must(o, edited, err)
	_, err = o.ActorCreate(o.Context(), by("adm-002", contract.Admin), pipeline.ActorArgs{ID: admin.Actor, Type: contract.Human})
	o.refuses(refusal.ActorIDTaken, err)
	_, err = o.ActorCreate(o.Context(), by("adm-002", contract.Admin), pipeline.ActorArgs{ID: "x", Type: contract.Human, Roles: []string{"king"}})
	o.refuses(refusal.RoleUnknown, err)
	_, err = o.ActorCreate(o.Context(), lead, pipeline.ActorArgs{ID: "x", Type: contract.Human})
	o.refuses(refusal.RoleNotPermitted, err)
}

func TestATokenIsShownOnceAndEndsWithItsActor(t *testing.T) {
	o := newOffice(t, nil)
	until := o.clock().Add(time.Hour)
	mine := developer
	mine.Scopes = []string{"read", "execute"}
	_, err := o.TokenCreate(o.Context(), mine, pipeline.TokenArgs{Scopes: []string{"read", "decide"}, ExpiresAt: until})
	o.refuses(refusal.AuthScopeMissing, err)
	_, err = o.TokenCreate(o.Context(), mine, pipeline.TokenArgs{Actor: lead.Actor, Scopes: []string{"read"}, ExpiresAt: until})
	o.refuses(refusal.RoleNotPermitted, err)
	_, err = o.TokenCreate(o.Context(), mine, pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: o.clock()})
	o.refuses(refusal.RequestMalformed, err)
	secret, err := o.TokenCreate(o.Context(), mine, pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: until})
	made := must(o, secret, err)
	for _, line := range read(o.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) }) {
		if strings.Contains(string(line.Text), made.Secret) {
			t.Error("the audit log holds the secret")
		}
	}
	id, err := o.Authenticate(o.Context(), made.Secret)
	if err != nil || id.Actor.ID != developer.Actor {
		t.Fatalf("the token is %+v, %v", id, err)
	}
	_, err = o.Authenticate(o.Context(), made.Secret+"x")
	o.refuses(refusal.AuthRequired, err)
	if err := o.TokenRevoke(o.Context(), other, made.Of.ID); refusal.CodeOf(err) != refusal.RefNotFound {
		t.Errorf("somebody else's token is %v", err)
	}
	off := false
	edited, err := o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: developer.Actor, Active: &off})
	must(o, edited, err)
	_, err = o.Authenticate(o.Context(), made.Secret)
	o.refuses(refusal.AuthRequired, err)
	on := true
	edited, err = o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: developer.Actor, Active: &on})
	must(o, edited, err)
	if _, err := o.Authenticate(o.Context(), made.Secret); err != nil {
		t.Error(err)
	}
	o.at(until)
	_, err = o.Authenticate(o.Context(), made.Secret)
	o.refuses(refusal.AuthRequired, err)
}

func TestARevokedTokenOpensNothing(t *testing.T) {
	o := newOffice(t, nil)
	secret, err := o.TokenCreate(o.Context(), developer, pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: o.clock().Add(time.Hour)})
	made := must(o, secret, err)
	o.refuses("", o.TokenRevoke(o.Context(), admin, made.Of.ID))
	_, err = o.Authenticate(o.Context(), made.Secret)
	o.refuses(refusal.AuthRequired, err)
	list, err := o.TokenList(o.Context(), developer, "", pipeline.Page{})
	if tokens := must(o, list, err); len(tokens) != 1 || tokens[0].RevokedAt.IsZero() {
		t.Errorf("the tokens are %+v", tokens)
	}
	_, err = o.TokenList(o.Context(), developer, lead.Actor, pipeline.Page{})
	o.refuses(refusal.RoleNotPermitted, err)
}

func TestLocksOfCallers(t *testing.T) {
	o := newOffice(t, nil)
	acquire := func(who pipeline.Caller, keys ...string) (*pipeline.Acquired, error) {
		return o.LockAcquire(o.Context(), who, pipeline.AcquireArgs{Keys: keys})
	}
	got, err := acquire(developer, "repo-path:src//b", "contract:IC-001")
	held := must(o, got, err)
	if held.Keys[0] != "contract:IC-001" || held.Keys[1] != "repo-path:src/b" || held.Again {
		t.Errorf("holds %+v", held)
	}
	got, err = acquire(developer, "contract:IC-001", "repo-path:src/b")
	if again := must(o, got, err); !again.Again || again.LockID != held.LockID || again.Tokens[0] != held.Tokens[0] {
		t.Errorf("taken again as %+v", again)
	}
	_, err = acquire(other, "repo-path:src/a", "repo-path:src/b")
	o.refuses(refusal.LockHeld, err)
	if list, err := o.LockList(o.Context(), pipeline.LockFilter{}, pipeline.Page{}); err != nil || len(list) != 2 {
		t.Errorf("%d locks are held, %v: all or none", len(list), err)
	}
	_, err = acquire(other, "repo-path:/etc")
	o.refuses(refusal.LockPathInvalid, err)
	_, err = acquire(other, "file:x")
	o.refuses(refusal.LockKeyInvalid, err)
	_, err = o.LockHeartbeat(o.Context(), other, held.LockID)
	o.refuses(refusal.LockNotHolder, err)
	o.after(121 * time.Second)
	got, err = acquire(other, "repo-path:src/b")
	if broken := must(o, got, err); broken.Tokens[0] != held.Tokens[1]+1 {
		t.Errorf("a lock that two heartbeats missed was taken as %+v", broken)
	}
	_, err = o.LockHeartbeat(o.Context(), developer, held.LockID)
	o.refuses(refusal.LockLost, err)
	if o.actions()["lock.break"] != 1 {
		t.Error("breaking the lock was not audited")
	}
}

func TestACallersLockBreaksARunThatIsGone(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	c, err := o.claim(developer, "TS-001", "Build")
	must(o, c, err)
	_, err = o.LockAcquire(o.Context(), developer, pipeline.AcquireArgs{Keys: []string{"contract:TS-001"}})
	o.refuses(refusal.LockHeld, err)
	o.after(121 * time.Second)
	got, err := o.LockAcquire(o.Context(), other, pipeline.AcquireArgs{Keys: []string{"contract:TS-001"}})
	must(o, got, err)
	if o.stored("exec-0001").Alive() {
		t.Error("the run whose lock was broken goes on")
	}
	_, err = o.claim(developer, "TS-001", "Build")
	o.refuses(refusal.LockHeld, err)
}

func TestEvidenceIsTakenInLineByLine(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	at := contract.At(o.clock()).String()
	e := evidence("c0ffee0", "c0ffee0", "", "", o.clock(), o.clock())
	for k, v := range map[string]any{
		"schemaVersion": "1.0.0", "id": "EV-777", "kind": "Evidence", "state": "Published", "version": 1, "createdAt": at, "updatedAt": at,
		"taskSeedId": "TS-001", "actor": "dev-001", "diffHash": contract.EmptyStringHash, "policyVerdict": "manual_review_required",
		"staleStatus": map[string]any{"classification": "fresh", "evaluatedAt": at}, "mergeResult": map[string]any{"status": "not_applicable"},
	} {
		e[k] = v
	}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	unknown := strings.Replace(strings.Replace(string(line), "EV-777", "EV-778", 1), "TS-001", "TS-999", 1)
	text := []byte(string(line) + "\n{\n" + unknown + "\n" + string(line) + "\n")
	out, err := o.EvidenceIngest(o.Context(), developer, text)
	report := must(o, out, err).Report
	for i, want := range []ingest.Status{ingest.Accepted, ingest.Refused, ingest.Refused, ingest.Duplicate} {
		if report.Lines[i].Status != want {
			t.Errorf("line %d is %s (%v), want %s", i+1, report.Lines[i].Status, report.Lines[i].Fault, want)
		}
	}
	if report.Lines[2].Fault.Code != refusal.RefNotFound {
		t.Errorf("an unknown TaskSeed is %v", report.Lines[2].Fault)
	}
	stored := o.newest("EV-777")
	if stored.Document.(*contract.Evidence).DiffHash != contract.EmptyDiffHash || stored.Source.ID != "TS-001" {
		t.Errorf("stored as %s from %v", stored.Text, stored.Source)
	}
	out, err = o.EvidenceIngest(o.Context(), developer, text)
	if again := must(o, out, err); again.Report.Lines[0].Status != ingest.Duplicate {
		t.Errorf("the same text again is %+v", again.Report.Lines[0])
	}
	_, err = o.EvidenceIngest(o.Context(), lead, text)
	o.refuses(refusal.RoleNotPermitted, err)
	o.run(job{who: developer, phase: phase.Build, head: first})
}

var errAddress = errors.New("the address is not public")

func TestSubscribersAreAnAdminsBusiness(t *testing.T) {
	o := newOffice(t, func(c *pipeline.Config) {
		c.Address = func(url string) error {
			if !strings.HasPrefix(url, "https://") {
				return errAddress
			}
			return nil
		}
	})
	bad, good := "http://localhost/", "https://example.org/hook"
	_, err := o.WebhookCreate(o.Context(), lead, pipeline.WebhookArgs{URL: &good})
	o.refuses(refusal.RoleNotPermitted, err)
	_, err = o.WebhookCreate(o.Context(), admin, pipeline.WebhookArgs{URL: &bad})
	o.refuses(refusal.WebhookAddressForbidden, err)
	o.intent("read_repo")
	types := []event.Type{event.IntentCreated}
	secret, err := o.WebhookCreate(o.Context(), admin, pipeline.WebhookArgs{URL: &good, Types: &types})
	made := must(o, secret, err)
	if made.Of.Cursor != 2 || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Errorf("subscribed as %+v with %s", made.Of, made.Secret)
	}
	old := made.Of.Secret
	secret, err = o.WebhookRotate(o.Context(), admin, made.Of.ID)
	if r := must(o, secret, err); string(r.Of.OldSecret) != string(old) || !r.Of.OldSecretUntil.Equal(o.clock().Add(24*time.Hour)) {
		t.Errorf("rotated to %+v", r.Of)
	}
	o.refuses("", o.WebhookReplay(o.Context(), admin, pipeline.ReplayArgs{ID: made.Of.ID, After: 0}))
	w, err := o.WebhookGet(o.Context(), admin, made.Of.ID)
	if w = must(o, w, err); w.Cursor != 0 {
		t.Errorf("after a replay from the start the cursor is %d", w.Cursor)
	}
	stale := admin
	stale.Match = made.Of.ID + ".1"
	_, err = o.WebhookEdit(o.Context(), stale, pipeline.WebhookArgs{ID: made.Of.ID, URL: &good})
	o.refuses(refusal.RequestPreconditionFailed, err)
	o.refuses("", o.WebhookDelete(o.Context(), admin, made.Of.ID))
	_, err = o.WebhookGet(o.Context(), admin, made.Of.ID)
	o.refuses(refusal.RefNotFound, err)
}

func TestWhatIsPastItsRetentionIsArchived(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo")
	for _, id := range []contract.ID{"TS-001", "IC-001"} {
		revoked, err := o.ContractRevoke(o.Context(), admin, pipeline.RevokeArgs{ID: id, Version: 1, Ground: contract.Audit, Reason: "wrong"})
		must(o, revoked, err)
	}
	sweep := func() {
		if err := o.Work(o.Context(), pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobSweep}, Number: 1}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := o.ContractArchive(o.Context(), admin, pipeline.ArchiveArgs{ID: "IC-001", Version: 1})
	o.refuses(refusal.ArchiveNotDue, err)
	o.at(start.AddDate(1, 0, 0).Add(-time.Second))
	sweep()
	o.expect(map[contract.ID]string{"IC-001": "Revoked", "TS-001": "Revoked"})
	o.at(start.AddDate(1, 0, 0).Add(time.Second))
	sweep()
	o.expect(map[contract.ID]string{"IC-001": "Archived", "TS-001": "Archived"})
}

// The stream and the log lose what is past its time at their old end, and the
// log only what was signed for.
func TestWhatIsPastItsTimeIsGivenUp(t *testing.T) {
	signed := 0
	o := newOffice(t, func(c *pipeline.Config) {
		c.EventRetention = 30 * 24 * time.Hour
		c.Seal = func(from event.Head, records []event.Chained, now time.Time) (event.Head, []byte, error) {
			to := from
			for _, r := range records {
				if text := string(r.Text); now.Before(start.AddDate(1, 0, 0)) || !strings.Contains(text, `"2026-03-29T`) {
					break
				}
				to = to.Append(r.Text)
			}
			if to != from {
				signed++
			}
			return to, []byte("sealed"), nil
		}
	})
	o.toRefactor()
	sweep := func() {
		t.Helper()
		if err := o.Work(o.Context(), pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobSweep}, Number: 1}); err != nil {
			t.Fatal(err)
		}
	}
	events := func(after int64) ([]pipeline.Event, error) {
		return o.EventList(o.Context(), after, pipeline.EventFilter{}, 0)
	}
	all, err := events(0)
	all = must(o, all, err)
	sweep()
	if left, err := events(0); err != nil || len(left) != len(all) {
		t.Errorf("%d of %d events are left, %v", len(left), len(all), err)
	}
	o.at(start.AddDate(0, 2, 0))
	o.intent("read_repo")
	sweep()
	left, err := events(0)
	if left = must(o, left, err); len(left) == 0 || left[0].Position != int64(len(all))+1 || left[0].Subject.ID != "IC-002" {
		t.Errorf("the stream begins with %+v", left)
	}
	_, err = events(1)
	o.refuses(refusal.EventSequenceGone, err)
	head, err := o.AuditHead(o.Context())
	head = must(o, head, err)
	if signed != 0 {
		t.Error("records were given up before their year was over")
	}
	o.at(start.AddDate(1, 0, 1))
	sweep()
	from, note, err := o.AuditSeal(o.Context())
	lines, failed := o.AuditList(o.Context(), 0, pipeline.AuditFilter{}, 0)
	if err != nil || failed != nil || string(note) != "sealed" || from.Count == 0 || from.Count >= head.Count || lines[0].Position != from.Count+1 {
		t.Fatalf("the log begins at %d of %d with %q, %v, %v", from.Count, head.Count, note, err, failed)
	}
	rest := []event.Chained{}
	for _, l := range lines {
		rest = append(rest, l.Chained)
	}
	if _, err := event.Verify(from, slices.Values(rest)); err != nil {
		t.Error(err)
	}
	if got := o.actions()["audit.seal"]; got != 1 {
		t.Errorf("the log says %d times that it was shortened: %v", got, o.actions())
	}
}

func TestTheFirstStartRegistersAnAdminOnce(t *testing.T) {
	w := newWorld(t, nil)
	for range 2 {
		if err := w.Bootstrap(w.Context(), pipeline.Actor{ID: "ada", Roles: contract.RolesOf(contract.Requester)}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := w.ActorList(w.Context(), pipeline.Page{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d actors, %v", len(list), err)
	}
	a, err := w.ActorGet(w.Context(), "ada")
	if err != nil || !a.Roles.Has(contract.Admin) || !a.Roles.Has(contract.Requester) || a.Type != contract.Human {
		t.Errorf("the admin is %+v, %v", a, err)
	}
}

// The table of transitions lets the Orchestrator do much. An actor of that role
// is somebody who asks, like everybody else.
func TestWhoIsCalledOrchestratorIsNotTheService(t *testing.T) {
	o := newOffice(t, nil)
	o.people(pipeline.Actor{ID: "mock", Type: contract.System, Roles: contract.RolesOf(contract.Orchestrator)})
	mock := by("mock", contract.Orchestrator)
	o.intent("read_repo")
	for name, try := range map[string]func() error{
		"freeze": func() error {
			_, err := o.ContractFreeze(o.Context(), mock, pipeline.FreezeArgs{ID: "IC-001", Version: 1, Cause: contract.ManualCheck, Reason: "mine"})
			return err
		},
		"revoke": func() error {
			_, err := o.ContractRevoke(o.Context(), mock, pipeline.RevokeArgs{ID: "IC-001", Version: 1, Ground: contract.ManualStop, Reason: "regenerated"})
			return err
		},
		"see webhooks": func() error { _, err := o.WebhookList(o.Context(), mock, pipeline.Page{}); return err },
		"see tokens":   func() error { _, err := o.TokenList(o.Context(), mock, admin.Actor, pipeline.Page{}); return err },
	} {
		if err := try(); refusal.CodeOf(err) != refusal.RoleNotPermitted {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := o.actions(); got["contract.transition refused"] != 2 || got["webhook.list refused"] != 1 || got["token.list refused"] != 1 {
		t.Errorf("the log has %v", got)
	}
}
