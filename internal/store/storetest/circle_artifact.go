package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// returned is a decision draft of req-1 with everything an artifact can have.
func returned(id string) *artifact.Artifact {
	content := []byte(`{"title":"T"}`)
	return &artifact.Artifact{
		ID: id, Version: 1, Circle: "c-forest", Owner: "m-olha", Type: envelope.DecisionDraft, Visibility: envelope.Circle,
		Status: artifact.WaitingForConsent, Content: content, ContentSHA256: artifact.Digest(content),
		Provenance: artifact.Provenance{
			Origin: envelope.External, RequestID: "req-1", Worker: constitution.Process, RunID: "run-1", ConstitutionVersion: "1.0.0",
			SubagentPromptVersion: "1.0.0", Engine: constitution.Model, Model: "m-1",
			Sources: []artifact.Source{{Kind: artifact.FromURL, ID: "https://example.org", SHA256: "0a", Visibility: envelope.Public, Origin: envelope.External}},
		},
		Flags: []envelope.Flag{envelope.Health}, Concerns: []string{"m-taras"},
		Scope: artifact.Scope{
			Action: envelope.ProposeDecision, Visibility: envelope.Circle, Recipients: []artifact.Party{{Kind: artifact.ToCircle, ID: "c-lake"}},
		},
		ConsentBy: start.Add(time.Hour), WaitsFor: "a-0", Blocks: []envelope.Condition{envelope.ConsentOwed}, CreatedAt: start, UpdatedAt: start,
	}
}

func consent(id, member string) *artifact.Consent {
	a := returned("a-1")
	return &artifact.Consent{
		ID: id, Circle: "c-forest", Member: member, RequestID: "req-1", ArtifactID: "a-1", ContentSHA256: a.ContentSHA256, Scope: a.Scope,
		Decision: artifact.Granted, DecidedAt: start, ExpiresAt: start.Add(time.Hour), StepUp: "totp",
	}
}

func circleArtifacts(t *testing.T, open Open) {
	t.Helper()
	t.Run("an artifact is read as it was written, and its content never changes", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateArtifact(returned("a-1")) })
		want := returned("a-1")
		want.Revision = 1
		same := func(what string) {
			t.Helper()
			b.circleView(func(cr request.Reader) error {
				got, err := cr.Artifact("a-1")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: the artifact differs (-want +got):\n%s", what, diff)
				}
				return err
			})
		}
		same("written")
		b.circleUpdate(func(ct request.Tx) error {
			a, err := ct.Artifact("a-1")
			if err != nil {
				return err
			}
			a.Status, a.Reason, a.ConsentBy, a.Blocks, a.ContractID, a.UpdatedAt = artifact.Draft, artifact.ConsentRefused, time.Time{}, []envelope.Condition{}, "IC-001", start.Add(time.Second)
			a.Flags, a.Concerns, a.Scope.Visibility, a.WaitsFor = []envelope.Flag{envelope.Legal}, []string{"m-ira"}, envelope.Private, ""
			own := *a
			want = &own
			want.Revision++
			a.Content, a.ContentSHA256, a.Visibility, a.Provenance.Origin, a.Owner = []byte(`{}`), "0f", envelope.Public, envelope.Internal, "m-ira"
			a.Type, a.Provenance.Sources = envelope.MemoryNote, nil
			return ct.UpdateArtifact(a)
		})
		same("changed")
		b.circleUpdate(func(ct request.Tx) error {
			a, err := ct.Artifact("a-1")
			if err != nil {
				return err
			}
			a.Status, a.Reason, a.ConfirmedBy, a.ConfirmedAt = artifact.Confirmed, "", "m-ira", start.Add(time.Minute)
			want = a
			return ct.UpdateArtifact(a)
		})
		same("confirmed")
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateArtifact(returned("a-1")) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { a := returned("a-1"); a.Revision = 1; return ct.UpdateArtifact(a) })
		b.circleRefuse(fault.Invalid, func(ct request.Tx) error { return ct.CreateArtifact(want) })
		b.circleRefuse(fault.Internal, func(ct request.Tx) error { // confirmed by nobody
			a := returned("a-2")
			a.Status = artifact.Confirmed
			return ct.CreateArtifact(a)
		})
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error {
			a := returned("a-2")
			a.Provenance.RequestID = "req-9"
			return ct.CreateArtifact(a)
		})
	})

	t.Run("versions follow one another, and the newest is the artifact", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		version := func(n int64) *artifact.Artifact {
			a := returned("a-1")
			a.Version = n
			return a
		}
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateArtifact(version(1)) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateArtifact(version(3)) })
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateArtifact(version(2)) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateArtifact(version(2)) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { // what was is no longer moved
			a := version(1)
			a.Revision = 1
			return ct.UpdateArtifact(a)
		})
		b.circleView(func(cr request.Reader) error {
			newest, err := cr.Artifact("a-1")
			if err != nil || newest.Version != 2 {
				t.Errorf("the newest is %+v, %v", newest, err)
			}
			first, err := cr.ArtifactAt("a-1", 1)
			if err != nil || first.Version != 1 {
				t.Errorf("the first is %+v, %v", first, err)
			}
			if _, err := cr.ArtifactAt("a-1", 3); !b.absent(err) {
				t.Error("version 3 was found")
			}
			list, err := cr.ArtifactsOf("req-1")
			if len(list) != 1 {
				t.Errorf("the request has %d artifacts", len(list))
			}
			return err
		})
	})

	t.Run("artifacts are listed, filtered, and the overdue ones found", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		b.circleUpdate(func(ct request.Tx) error {
			for i, id := range []string{"a-1", "a-2", "a-3"} {
				a := returned(id)
				a.CreatedAt = start.Add(-time.Duration(i) * time.Minute)
				a.UpdatedAt = start.Add(time.Duration(i) * time.Minute)
				a.ConsentBy = start.Add(time.Duration(3-i) * time.Hour)
				if i == 1 {
					a.Status, a.Owner, a.Type = artifact.Draft, "m-taras", envelope.MemoryNote
				}
				if err := ct.CreateArtifact(a); err != nil {
					return err
				}
			}
			return nil
		})
		name := func(a *artifact.Artifact) string { return a.ID }
		b.circleView(func(cr request.Reader) error {
			for _, want := range []struct {
				filter request.ArtifactFilter
				page   pipeline.Page
				ids    string
			}{
				{request.ArtifactFilter{}, pipeline.Page{}, "a-3 a-2 a-1 "},
				{request.ArtifactFilter{Circles: []string{"c-forest"}, Requests: []string{"req-1"}}, pipeline.Page{Limit: 2}, "a-3 a-2 "},
				{request.ArtifactFilter{Owners: []string{"m-taras"}}, pipeline.Page{}, "a-2 "},
				{request.ArtifactFilter{Types: []envelope.ArtifactType{envelope.DecisionDraft}}, pipeline.Page{}, "a-3 a-1 "},
				{request.ArtifactFilter{Statuses: []artifact.Status{artifact.Draft}}, pipeline.Page{}, "a-2 "},
				{request.ArtifactFilter{}, pipeline.Page{Behind: pipeline.Mark{At: start.Add(time.Minute), ID: "a-2"}}, "a-1 "},
			} {
				list, err := cr.Artifacts(want.filter, want.page)
				if err != nil {
					return err
				}
				if got := ids(list, name); got != want.ids {
					t.Errorf("%+v: %s, want %s", want.filter, got, want.ids)
				}
			}
			list, err := cr.ArtifactsOf("req-1")
			if got := ids(list, name); got != "a-3 a-2 a-1 " {
				t.Errorf("in order of their making: %s", got)
			}
			return err
		})
		for at, want := range map[time.Duration]string{time.Hour - time.Millisecond: "", time.Hour: "a-3 ", 4 * time.Hour: "a-3 a-1 "} {
			b.at(at)
			b.circleView(func(cr request.Reader) error {
				late, err := cr.Overdue(10)
				if got := ids(late, func(id string) string { return id }); got != want {
					t.Errorf("after %v overdue are %s, want %s", at, got, want)
				}
				first, limitErr := cr.Overdue(1)
				if len(first) != min(len(late), 1) || limitErr != nil {
					t.Errorf("a limit of 1 gives %v, %v", first, limitErr)
				}
				return err
			})
		}
	})

	t.Run("the ledger keeps every consent in order and lets it be taken back", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		b.circleUpdate(func(ct request.Tx) error {
			if err := ct.CreateArtifact(returned("a-1")); err != nil {
				return err
			}
			later := consent("k-0", "m-taras")
			later.Decision, later.DecidedAt, later.ExpiresAt, later.Scope.Recipients = artifact.Refused, start.Add(time.Second), time.Time{}, nil
			for _, k := range []*artifact.Consent{consent("k-1", "m-olha"), later} {
				if err := ct.AddConsent(k); err != nil {
					return err
				}
			}
			return nil
		})
		var revoked *artifact.Consent
		b.circleUpdate(func(ct request.Tx) error {
			k, err := ct.Consent("k-1")
			if err != nil {
				return err
			}
			want := consent("k-1", "m-olha")
			want.Revision = 1
			if diff := cmp.Diff(want, k); diff != "" {
				t.Errorf("the consent differs (-want +got):\n%s", diff)
			}
			gone, err := k.Revoke(person, start.Add(time.Minute))
			if err != nil {
				return err
			}
			revoked = &gone
			tampered := gone
			tampered.Scope.Visibility, tampered.ContentSHA256, tampered.Member = envelope.Public, "0f", "m-ira"
			if err := ct.RevokeConsent(&tampered); err != nil {
				return err
			}
			revoked.Revision = tampered.Revision
			return nil
		})
		b.circleView(func(cr request.Reader) error {
			ledger, err := cr.Ledger("a-1")
			if got := ids(ledger, func(k artifact.Consent) string { return k.ID }); got != "k-1 k-0 " || err != nil {
				t.Fatalf("the ledger has %s, %v", got, err)
			}
			if diff := cmp.Diff(*revoked, ledger[0]); diff != "" {
				t.Errorf("the revoked consent differs (-want +got):\n%s", diff)
			}
			if several, err := cr.Ledger("a-404", "a-1"); len(several) != 2 || err != nil || cmp.Diff(ledger, several) != "" {
				t.Errorf("the ledger of several artifacts has %v, %v", several, err)
			}
			if none, err := cr.Ledger(); len(none) != 0 || err != nil {
				t.Errorf("no artifact has %v, %v", none, err)
			}
			for _, want := range []struct {
				filter request.ConsentFilter
				ids    string
			}{
				{request.ConsentFilter{}, "k-0 k-1 "},
				{request.ConsentFilter{Circles: []string{"c-forest"}, Artifacts: []string{"a-1"}, Members: []string{"m-olha"}}, "k-1 "},
				{request.ConsentFilter{Decisions: []artifact.Decision{artifact.Refused}}, "k-0 "},
				{request.ConsentFilter{Circles: []string{"c-lake"}}, ""},
			} {
				list, err := cr.Consents(want.filter, pipeline.Page{})
				if got := ids(list, func(k *artifact.Consent) string { return k.ID }); got != want.ids || err != nil {
					t.Errorf("%+v: %s, %v, want %s", want.filter, got, err, want.ids)
				}
			}
			if _, err := cr.Consent("k-9"); !b.absent(err) {
				t.Error("k-9 was found")
			}
			return nil
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.AddConsent(consent("k-1", "m-olha")) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { k := *revoked; return ct.RevokeConsent(&k) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { // a refusal is not taken back
			k, err := ct.Consent("k-0")
			if err != nil {
				return err
			}
			k.RevokedAt = start
			return ct.RevokeConsent(k)
		})
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error { return ct.AddConsent(consent("k-2", "m-unheard-of")) })
	})

	t.Run("of a request that is stopped no draft is kept, and what is confirmed stays", func(t *testing.T) {
		b := newBench(t, open)
		channel := b.world()
		b.circleUpdate(func(ct request.Tx) error {
			if err := ct.CreateRequest(asked("req-2", channel)); err != nil {
				return err
			}
			for _, id := range []string{"a-1", "a-2", "a-3"} {
				a := returned(id)
				switch id {
				case "a-2":
					a.Status, a.ConfirmedBy, a.ConfirmedAt = artifact.Confirmed, "m-ira", start
				case "a-3":
					a.Provenance.RequestID = "req-2"
				}
				if err := ct.CreateArtifact(a); err != nil {
					return err
				}
			}
			return ct.AddConsent(consent("k-1", "m-olha"))
		})
		b.circleUpdate(func(ct request.Tx) error { return ct.DropArtifacts("req-1") })
		b.circleView(func(cr request.Reader) error {
			left, err := cr.Artifacts(request.ArtifactFilter{}, pipeline.Page{})
			if got := ids(left, func(a *artifact.Artifact) string { return a.ID }); got != "a-3 a-2 " {
				t.Errorf("left are %s", got)
			}
			if ledger, err := cr.Ledger("a-1"); len(ledger) != 1 || err != nil {
				t.Errorf("the ledger lost what was said: %d, %v", len(ledger), err)
			}
			return err
		})
	})

	t.Run("whoever decides last reads what the others said", func(t *testing.T) {
		b := newBench(t, open)
		b.world()
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateArtifact(returned("a-1")) })
		members := []string{"m-olha", "m-taras", "m-ira"}
		each(t, len(members), func(i int) error {
			return b.store.Circles().Update(t.Context(), func(ct request.Tx) error {
				ledger, err := ct.Ledger("a-1")
				if err != nil {
					return err
				}
				if err := ct.AddConsent(consent("k-"+members[i], members[i])); err != nil {
					return err
				}
				if len(ledger)+1 < len(members) {
					return nil
				}
				a, err := ct.Artifact("a-1")
				if err != nil {
					return err
				}
				a.Status = artifact.NeedsConfirmation
				return ct.UpdateArtifact(a)
			})
		})
		b.circleView(func(cr request.Reader) error {
			a, err := cr.Artifact("a-1")
			if err == nil && a.Status != artifact.NeedsConfirmation {
				t.Error("three consented at once, and nobody saw the third")
			}
			return err
		})
	})
}
