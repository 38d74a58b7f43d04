package worker_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/worker"
)

func TestTwoTextsAreMergedAgainstTheOneTheyBeganWith(t *testing.T) {
	base := "Present: four\nTea at ten\nThe fence falls\nEnd"
	k := refers(task(constitution.Sync, "en", "Merge my offline notes."),
		document(envelope.RefDocument, "notes.md", "Present: five\nTea at ten\nThe fence falls\nMind the bees\nEnd"),
		document(envelope.RefDocument, "notes-base.md", base),
		document(envelope.RefDocument, "notes-circle.md", "Present: four\nTea at ten\nThe fence stands\nMind the bees\nEnd"))
	says(t, only(t, k), map[string]string{
		"clean": "false", "record": `{"id":"notes.md","kind":"document"}`, "changes.0": `{"place":"lines 1-1","taken":"left","why":"Only this side changed it."}`, "conflicts.1": "",
	})
	k.Facts.Documents[2].Text = "Present: four\nTea at eleven\nThe fence falls\nEnd"
	says(t, only(t, k), map[string]string{"conflicts.0.base": "Present: four\nTea at ten", "conflicts.0.left": "Present: five\nTea at ten", "changes.0.taken": "left"})
	k.Facts.Documents[0].Text, k.Facts.Documents[2].Text = "Present: five\nTea at ten\nThe fence falls\nEnd", "Present: four\nTea at ten\nEnd\nBees"
	says(t, only(t, k), map[string]string{"clean": "true", "conflicts": "[]", "merged": "Present: five\nTea at ten\nEnd\nBees", "changes.1.taken": "right", "changes.1.why": "Only one side took it away.", "changes.2.taken": "right"})
	k.Facts.Documents[0].Text = k.Facts.Documents[2].Text
	says(t, only(t, k), map[string]string{"clean": "true", "changes": "[]"})
	k.Facts.Documents[0].Text = "Present: four\nTea at ten\nThe fence was mended\nEnd"
	says(t, only(t, k), map[string]string{"clean": "false", "conflicts.0": `{"base":"The fence falls","left":"The fence was mended","place":"lines 3-3","right":""}`})
}

func TestWithoutABeginningWhateverDiffersIsAConflict(t *testing.T) {
	k := refers(task(constitution.Sync, "uk", "Зведи мої офлайн-нотатки зі спільним записом."), document(envelope.RefDocument, "a.md", "Чай о десятій\nБджоли\nКінець"), document(envelope.RefDocument, "b.md", "Чай об одинадцятій\nБджоли\nКінець"))
	says(t, only(t, k), map[string]string{
		"clean": "false", "base": "", "conflicts": `[{"left":"Чай о десятій","place":"рядки 1-1","right":"Чай об одинадцятій"}]`,
		"merged": "<<<<<<<\nЧай о десятій\n=======\nЧай об одинадцятій\n>>>>>>>\nБджоли\nКінець",
	})
	k = task(constitution.Sync, "en", "Merge these records:\n```\none\ntwo\n```\nand\n```\none\nthree\n```")
	says(t, only(t, k), map[string]string{"conflicts.0.left": "two", "conflicts.0.right": "three", "sides.0.edited_by": "m-olha"})
}

func TestAVersionThatIsNotThereIsAskedForAndNotMadeUp(t *testing.T) {
	k := task(constitution.Sync, "en", "I was offline for a week, please merge my edited meeting notes with the circle record.")
	says(t, only(t, k), map[string]string{"clean": "false", "merged": "", "changes.0.taken": "neither", "changes.0.why": "~was not handed over"})
	refers(k, document(envelope.RefDocument, "mine.md", "Tea at ten"))
	says(t, only(t, k), map[string]string{"merged": "Tea at ten", "record.id": "mine.md", "clean": "false"})
	k.Facts.Notes = []memory.Note{{ID: "note-7", Kind: memory.Kept, Title: "Meeting notes", Text: "Tea at eleven", Visibility: envelope.Circle, Origin: envelope.Internal, CreatedAt: may}}
	says(t, only(t, k), map[string]string{"conflicts.0.left": "Tea at ten", "conflicts.0.right": "Tea at eleven", "sides.1.edited_by": ""})
}

func TestContractsMergeByTheirOwnRules(t *testing.T) {
	contract := func(version, text string) worker.Document {
		return document(envelope.RefContract, "IC-001", `{"id":"IC-001","kind":"Evidence","state":"Active","version":`+version+`,"intent":"`+text+`"}`)
	}
	k := refers(task(constitution.Sync, "en", "Merge the contract."), contract("2", "a"), contract("2", "a"))
	says(t, only(t, k), map[string]string{"clean": "true", "record.kind": "contract", "conflicts": "[]"})
	k = refers(task(constitution.Sync, "en", "Merge the contract."), contract("2", "a"), contract("2", "b"))
	says(t, only(t, k), map[string]string{"clean": "false", "conflicts.0.place": "the whole record"})
	intent := func(version, text string) worker.Document {
		d := contract(version, text)
		d.Text = strings.Replace(d.Text, "Evidence", "IntentContract", 1)
		return d
	}
	k = refers(task(constitution.Sync, "en", "Merge the contract."), intent("3", "a"), intent("3", "b"))
	says(t, only(t, k), map[string]string{"clean": "false", "merged": "~<<<<<<<"})
}

func TestAnAuditEntrySaysWhatWasDone(t *testing.T) {
	k := outputs(task(constitution.AuditLog, "en", "never seen"), envelope.AuditEntry)
	sum := strings.Repeat("ab", 32)
	k.Facts.Doings = []worker.Doing{{Action: "request.ask", Actor: "m-olha", Kind: "request", ID: "r-1", Outcome: "done"}, {Action: "artifact.create", Actor: "Process", Kind: "artifact", ID: "art-9", SHA256: sum, Outcome: "done"}}
	says(t, only(t, k), map[string]string{"action": "request.circle_decision", "actor": "m-olha", "subject.id": "r-1", "outcome": "done", "summary": "Request r-1 of m-olha (circle_decision): 2 acts, made art-9 abababababab.", "origin": "internal", "condition": ""})
	k.Facts.Doings = append(k.Facts.Doings, worker.Doing{Kind: "run", Outcome: "failed"})
	k.Request.Origin, k.Request.Intent = envelope.External, constitution.GiftExchange
	says(t, only(t, k), map[string]string{"outcome": "failed", "summary": "~1 failed", "origin": "external", "action": "request.gift_exchange"})
	k.Stops = []envelope.Condition{envelope.ConsentOwed}
	says(t, only(t, k), map[string]string{"outcome": "blocked", "condition": "consent_missing_for_critical", "summary": "~provenance=external"})
	k.Stops = []envelope.Condition{envelope.BreachDetected}
	says(t, only(t, k), map[string]string{"outcome": "stopped"})
}

func TestABreachIsReportedWithItsPlaces(t *testing.T) {
	k := outputs(task(constitution.AuditLog, "en", ""), envelope.BreachReport)
	k.Facts.Breach = &worker.Breach{
		Condition: envelope.BreachDetected, Channel: envelope.Channel{Kind: envelope.External, ID: "telegram:7"}, InWindow: 3, Suspended: true,
		Hits: []worker.Hit{{Finding: worker.Finding{Sort: "breach", Rule: "breach.bypass-rules", Form: "base64>rot13", Start: 4, End: 31}, Masked: "do [masked] now"}},
	}
	says(t, only(t, k), map[string]string{
		"condition": "policy_breach_detected", "hits": `[{"masked":"do [masked] now","rule":"breach.bypass-rules","span":{"end":31,"start":4}}]`, "breaches_in_window": "3", "suspended": "true",
		"recommend": `["review_channel"]`, "decoded": `["base64","rot13"]`, "channel.id": "telegram:7",
	})
	k.Facts.Breach = &worker.Breach{Condition: envelope.SecretsDetected, Channel: envelope.Channel{Kind: envelope.Internal, ID: "console"}, InWindow: 1}
	says(t, only(t, k), map[string]string{"recommend": `["rotate","talk"]`, "suspended": "false", "decoded": ""})
}

func TestAHealthReportIsWhatTheProbesMeasured(t *testing.T) {
	k := task(constitution.InfraHealth, "en", "")
	k.Facts.Probes = []worker.Probe{{Name: "Store", State: "ok", Detail: "/var/lib/secret/path on db-7.internal", Value: 12, Limit: 100, Unit: "milliseconds"}, {Name: "queue", State: "degraded", Value: 412, Limit: 100, Unit: "count"}, {Name: "model", State: "who knows"}}
	d := run(t, k)[0]
	says(t, read(t, d), map[string]string{
		"state": "degraded", "summary": "Not well: queue (slow or full), model (did not answer). 1 of 3 parts are.", "measured_at": "2026-05-01T12:00:00Z",
		"components.0": `{"detail":"well: 12 ms; no longer well from 100 on.","limit":100,"name":"store","state":"ok","unit":"milliseconds","value":12}`, "components.2.state": "unknown",
	})
	if strings.Contains(string(d.Content), "db-7") || strings.Contains(string(d.Content), "/var") {
		t.Errorf("the report names machines: %s", d.Content)
	}
	k.Facts.Probes = k.Facts.Probes[:1]
	says(t, only(t, k), map[string]string{"state": "ok", "summary": "All 1 parts are well."})
	k.Facts.Probes = append(k.Facts.Probes, worker.Probe{Name: "disk", State: "down"}, worker.Probe{Name: "queue", State: "degraded"})
	says(t, only(t, k), map[string]string{"state": "down"})
	k.Facts.Probes = nil
	says(t, only(t, k), map[string]string{"state": "unknown", "components.0.name": "service"})
}
