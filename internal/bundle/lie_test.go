package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// edit replaces a text in a document of a bundle, which stays a document.
func edit(w *told, id contract.ID, from, to string) {
	w.t.Helper()
	for i, c := range w.Contracts {
		if c.Document.Head().ID != id {
			continue
		}
		text := strings.Replace(string(c.Text), from, to, 1)
		if text == string(c.Text) {
			w.t.Fatalf("%s does not say %s", id, from)
		}
		d, err := contract.Decode([]byte(text))
		if err != nil {
			w.t.Fatal(err)
		}
		w.Contracts[i].Document, w.Contracts[i].Text = d, []byte(text)
		return
	}
	w.t.Fatalf("there is no %s", id)
}

// rewrite replaces a text in the first record that holds mark.
func rewrite(w *told, mark, from, to string) {
	w.t.Helper()
	for i, text := range w.records {
		if strings.Contains(text, mark) && strings.Contains(text, from) {
			w.records = slices.Clone(w.records)
			w.records[i] = strings.Replace(text, from, to, 1)
			return
		}
	}
	w.t.Fatalf("no record says %s and %s", mark, from)
}

func without(w *told, id contract.ID) {
	w.t.Helper()
	n := len(w.Contracts)
	w.Contracts = slices.DeleteFunc(slices.Clone(w.Contracts), func(c bundle.Contract) bool { return c.Document.Head().ID == id })
	if len(w.Contracts) == n {
		w.t.Fatalf("there is no %s", id)
	}
}

// What a service signs that does not keep to its own log, or whose store was
// changed, is found by what the rest of the bundle says.
func TestALyingServiceIsFound(t *testing.T) {
	const gate, manifest = "contracts/PG-001.v1.dsse.json", bundle.ManifestName
	lies := []struct {
		what, item string
		tell       func(*told)
	}{
		{"an Evidence is kept back", "evidence/EV-002.v1.dsse.json", func(w *told) { without(w, "EV-002") }},
		{"an Evidence of the bytes is kept back", manifest, func(w *told) {
			without(w, "EV-001")
			without(w, "EV-003")
			without(w, "EV-002")
			without(w, "EV-004")
		}},
		{"an intent is kept back", "contracts/IC-001.v1.dsse.json", func(w *told) { without(w, "IC-001") }},
		{"an Evidence is invented", "evidence/EV-099.v1.dsse.json", func(w *told) {
			c := w.Contracts[len(w.Contracts)-1]
			w.Contracts = append(w.Contracts, c)
			edit(w, c.Document.Head().ID, string(c.Document.Head().ID), "EV-099")
			w.Contracts[len(w.Contracts)-1], w.Contracts[len(w.Contracts)-2] = w.Contracts[len(w.Contracts)-2], c
		}},
		{"a record is kept back", "audit.jsonl record 43", func(w *told) {
			w.Records = slices.DeleteFunc(slices.Clone(w.Records), func(n int64) bool { return n == 43 })
		}},
		{"a record too many is named", "audit.jsonl record 1", func(w *told) {
			w.Records = append([]int64{1}, slices.DeleteFunc(slices.Clone(w.Records), func(n int64) bool { return n == 1 })...)
		}},
		{"records are named twice", manifest, func(w *told) { w.Records = append(slices.Clone(w.Records), w.Records...) }},
		{"another digest", gate, func(w *told) { w.Digest = contract.Hash(nil) }},
		{"other bytes under a digest of their own", manifest, func(w *told) {
			s := cover(w)
			s.DiffHash = contract.Hash([]byte("other"))
			w.Covers, w.Digest = s.Canonical(), s.Digest()
		}},
		{"another policy under a digest of its own", gate, func(w *told) {
			s := cover(w)
			s.PolicySetDigest = "none"
			w.Covers, w.Digest = s.Canonical(), s.Digest()
		}},
		{"another policy that people are said to have agreed to", "audit.jsonl record 42", func(w *told) {
			s := cover(w)
			s.PolicySetDigest = "none"
			w.Covers, w.Digest = s.Canonical(), s.Digest()
			for i := range w.Decisions {
				w.Decisions[i].Digest = w.Digest
			}
		}},
		{"another commit", manifest, func(w *told) { w.Released = strings.Repeat("ab", 20) }},
		{"another range", "audit.jsonl record 42", func(w *told) { w.Commits.Base = strings.Repeat("ab", 20) }},
		{"another commit as the gate's own", "audit.jsonl record 42", func(w *told) {
			w.Released = strings.Repeat("ab", 20)
			w.Commits.Head = w.Released
		}},
		{"somebody else has approved", "audit.jsonl record 44", func(w *told) {
			edit(w, "PG-001", `"actorId":"bob"`, `"actorId":"eve"`)
			w.Decisions[0].ActorID = "eve"
		}},
		{"the manifest knows better who approved", gate, func(w *told) { w.Decisions[0].ActorID = "eve" }},
		{"a decision is invented", manifest, func(w *told) { w.Decisions = append(w.Decisions, w.Decisions[0]) }},
		{"a decision is kept back", manifest, func(w *told) { w.Decisions = w.Decisions[:1] }},
		{"a decision was for other bytes", gate, func(w *told) { w.Decisions[1].Digest = contract.Hash(nil) }},
		{"the reason was another", "audit.jsonl record 44", func(w *told) {
			edit(w, "PG-001", "looked at it", "looked at is")
			reason := "looked at is"
			w.Decisions[0].Reason = &reason
		}},
		{"the decision came late", gate, func(w *told) {
			edit(w, "PG-001", `"approvalDeadline":"2026`, `"approvalDeadline":"2025`)
		}},
		{"the gate was revoked", gate, func(w *told) { edit(w, "PG-001", `"state":"Published"`, `"state":"Revoked"`) }},
		{"the gate is archived, and not by the log", gate, func(w *told) { edit(w, "PG-001", `"state":"Published"`, `"state":"Archived"`) }},
		{"the gate was for less risk", gate, func(w *told) { edit(w, "PG-001", `"riskLevel":"high"`, `"riskLevel":"critical"`) }},
		{"the Acceptance has not passed", "contracts/AC-001.v2.dsse.json", func(w *told) { edit(w, "AC-001", `"status":"passed"`, `"status":"failed"`) }},
		{"the TaskSeed is of another intent", "contracts/TS-001.v1.dsse.json", func(w *told) { edit(w, "TS-001", `"intentId":"IC-001"`, `"intentId":"IC-002"`) }},
		{"another intent", "contracts/IC-001.v1.dsse.json", func(w *told) { w.Intent = "IC-002" }},
		{"another gate", "contracts/PG-002.v1.dsse.json", func(w *told) { w.Gate.ID = "PG-002" }},
		{"another version of the gate", "contracts/PG-001.v2.dsse.json", func(w *told) { w.Gate.Version = 2 }},
		{"the log has a decision for other bytes", "audit.jsonl record 44", func(w *told) {
			rewrite(w, `"action":"gate.decide","actorId":"bob"`, w.Digest, contract.Hash(nil))
		}},
		{"the log has a decision the gate does not have", "audit.jsonl record 46", func(w *told) {
			rewrite(w, `"action":"gate.decide","actorId":"sue"`, `"actorId":"sue","decidedAt"`, `"actorId":"eve","decidedAt"`)
		}},
		{"the log does not have a decision of the gate", gate, func(w *told) {
			rewrite(w, `"action":"gate.decide","actorId":"sue"`, `"action":"gate.decide"`, `"action":"gate.look"`)
		}},
		{"the log never made the gate", gate, func(w *told) {
			rewrite(w, `"id":"PG-001"`, `"action":"contract.create"`, `"action":"contract.look"`)
		}},
		{"the log never made an Evidence", "evidence/EV-001.v1.dsse.json", func(w *told) {
			rewrite(w, `"id":"EV-001"`, `"action":"contract.create"`, `"action":"contract.look"`)
		}},
		{"the log begins late", bundle.LogName, func(w *told) { w.from = 1 }},
		{"what is needed was given up", "contracts/IC-001.v1.dsse.json", func(w *told) { w.from, w.sealed = w.upTo-10, true }},
	}
	s := newService(t, "test.example/log")
	for _, lie := range lies {
		w := load(t, "high")
		lie.tell(&w)
		_, err := bundle.Verify(s.bundle(t, w), s.keys)
		p, ok := err.(*bundle.Problem) //nolint:errorlint // Verify gives the problem itself
		if !ok || p.Item != lie.item {
			t.Errorf("%s: %v is named, and not %s", lie.what, err, lie.item)
		}
	}
}

func cover(w *told) approval.Subject {
	var a, g bundle.Contract
	for _, c := range w.Contracts {
		switch c.Document.Head().Kind {
		case contract.KindAcceptance:
			a = c
		case contract.KindPublishGate:
			g = c
		case contract.KindIntent, contract.KindTaskSeed, contract.KindEvidence:
		}
	}
	diff := ""
	for _, c := range w.Contracts {
		if e, ok := c.Document.(*contract.Evidence); ok && e.HeadCommit == w.Released && diff == "" {
			diff = e.DiffHash
		}
	}
	return approval.Subject{
		GateID: g.Document.Head().ID, GateVersion: g.Document.Head().Version, AcceptanceID: a.Document.Head().ID,
		AcceptanceVersion: a.Document.Head().Version, DiffHash: diff,
	}
}

// A log whose oldest records were given up, none of them about these contracts,
// proves as much as a whole one.
func TestASealedLogIsEnough(t *testing.T) {
	s := newService(t, "test.example/log")
	w := load(t, "low")
	w.from, w.sealed = int(w.Records[0])-1, true
	r, err := bundle.Verify(s.bundle(t, w), s.keys)
	if err != nil || !strings.Contains(r.Checked[7].Said, "from a signed seal") {
		t.Errorf("%+v, %v", r, err)
	}
}
