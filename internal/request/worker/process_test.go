package worker_test

import (
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

func TestADecisionIsMadeOfTheRequest(t *testing.T) {
	for name, x := range map[string]struct {
		locale, text string
		want         map[string]string
	}{
		"english": {"en", "Let us decide whether the greenhouse opens on Saturdays from May. Visitors ask for it, because the market is far.", map[string]string{
			"title": "Whether the greenhouse opens on Saturdays from May", "proposal": "~Whether the greenhouse opens on Saturdays from May.\n\nWhat was said about it:\n\nVisitors ask",
			"reasons": `["The market is far"]`, "decided_by.rule": "consent", "decided_by.members": `["m-iryna","m-olha","m-petro","m-taras"]`, "decided_by.quorum": `{"needed":4,"of":4}`,
			"reversible": "true", "decided_by.deadline": "", "options": "", "change": "", "locale": "en",
		}},
		"another": {"en", "I propose that we sell the old tractor before May 20.", map[string]string{
			"title": "Sell the old tractor before May 20", "reversible": "false", "undo": "It cannot be taken back: sell the old tractor before May 20.", "decided_by.deadline": "2026-05-21T00:00:00Z",
		}},
		"ukrainian": {"uk", "Пропоную колу ухвалити рішення: відкриваємо теплицю щосуботи, бо люди просять. Вирішити треба до 12 червня.", map[string]string{
			"title": "Відкриваємо теплицю щосуботи, бо люди просять", "reasons": `["Люди просять"]`, "decided_by.deadline": "2026-06-13T00:00:00Z", "undo": "Іншим рішенням кола.",
		}},
		"japanese":            {"ja", "5月から毎週土曜日に温室を開けるかどうか、サークルで決めましょう。", map[string]string{"title": "5月から毎週土曜日に温室を開けるかどうか", "locale": "ja"}},
		"a choice":            {"en", "Let us choose between a pond, a hedge and a fence.", map[string]string{"options": `[{"id":"o1","text":"a pond"},{"id":"o2","text":"a hedge"},{"id":"o3","text":"a fence"}]`}},
		"вибір":               {"uk", "Вирішімо, чи саджаємо яблуні або сливи.", map[string]string{"options": `[{"id":"o1","text":"саджаємо яблуні"},{"id":"o2","text":"сливи"}]`}},
		"what is said before": {"en", "The shed is full; let us decide who keeps the key.", map[string]string{"title": "Who keeps the key", "proposal": "~The shed is full."}},
		"a question":          {"uk", "Голосуймо: чи купуємо нову помпу, чи ремонтуємо стару?", map[string]string{"options": `[{"id":"o1","text":"купуємо нову помпу"},{"id":"o2","text":"ремонтуємо стару"}]`}},
		"a fix":               {"en", "Decide whether to merge the fix into the repository garden/site on branch main.", map[string]string{"change.intent": "Merge the fix into the repository garden/site on branch main", "change.base": "main"}},
		"a change of a repository": {"en", "Let us decide to update the page in the acme/site repository on branch next. Done when the links work.", map[string]string{
			"change": `{"acceptance":["the links work"],"base":"next","intent":"Update the page in the acme/site repository on branch next","priority":"medium","repository":"acme/site","requested_capabilities":["read_repo","write_repo"]}`,
			"undo":   "By reverting the change in acme/site.",
		}},
		"an urgent one": {"uk", "Вирішімо терміново оновити репозиторій garden/web.", map[string]string{"change.repository": "garden/web", "change.priority": "high"}},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, only(t, outputs(task(constitution.Process, x.locale, x.text), envelope.DecisionDraft)), x.want)
		})
	}
}

func TestADecisionAboutTheCoreIsTheCouncils(t *testing.T) {
	k := outputs(task(constitution.Process, "en", "Let us decide to change the quorum."), envelope.DecisionDraft, envelope.ConsentRequest)
	k.Request.Flags, k.Request.Intent = []envelope.Flag{envelope.CoreChange, envelope.Critical}, constitution.CoreChange
	proposal := made("e-1", envelope.CoreChangeProposal, `{"title":"Change of the registry"}`, func(a *artifact.Artifact) { a.Flags = k.Request.Flags })
	k.Earlier = []artifact.Artifact{proposal}
	drafts := run(t, k)
	if len(drafts) != 2 || drafts[0].Type != envelope.DecisionDraft || drafts[0].WaitsFor != "e-1" || drafts[1].WaitsFor != "e-1" {
		t.Fatalf("%d drafts, waiting for %q", len(drafts), drafts[0].WaitsFor)
	}
	says(t, read(t, drafts[0]), map[string]string{"decided_by.rule": "council", "decided_by.members": `["m-iryna","m-olha","m-petro"]`, "decided_by.quorum": `{"needed":2,"of":3}`, "basis.0.artifact_id": "e-1"})
	says(t, read(t, drafts[1]), map[string]string{
		"subject.artifact_id": "e-1", "subject.content_sha256": proposal.ContentSHA256, "quorum": `{"needed":2,"of":3}`, "question": "~Change of the registry", "step_up": "false",
		"from.0": `{"decision":"pending","member_id":"m-olha","why":"requester"}`, "from.1": `{"decision":"pending","member_id":"m-iryna","why":"council"}`, "deadline": "2026-05-08T12:00:00Z",
	})
}

// consented is a record of the ledger about an artifact.
func consented(a artifact.Artifact, member string, d artifact.Decision) artifact.Consent {
	c := artifact.Consent{
		ID: "c-" + member, Circle: a.Circle, Member: member, ArtifactID: a.ID, ContentSHA256: a.ContentSHA256, Scope: a.Scope, Decision: d, DecidedAt: may.Add(-1), StepUp: "totp",
	}
	return c
}

func TestConsentIsAskedOfWhomTheRulesName(t *testing.T) {
	k := outputs(task(constitution.Process, "uk", "Надішли лист партнерам, згода є."), envelope.ConsentRequest)
	k.Request.Flags = []envelope.Flag{envelope.ExternalAction}
	letter := made("e-4", envelope.BridgeDraft, `{"subject":"Толока","body":"x"}`, func(a *artifact.Artifact) {
		a.Concerns = []string{"m-taras"}
		a.Scope = artifact.Scope{Action: envelope.ExportDraft, Visibility: envelope.Public, Recipients: []artifact.Party{{Kind: artifact.ToOutside, ID: "партнерам"}}}
	})
	k.Earlier = []artifact.Artifact{made("e-1", envelope.PrivacyReport, `{"summary":"x"}`), letter}
	says(t, only(t, k), map[string]string{
		"question": "Чи згода, щоб «Толока» вийшло за межі кола до партнерам?", "subject.artifact_id": "e-4", "scope.action": "export_draft", "scope.recipients.0.id": "партнерам", "step_up": "true",
		"from": `[{"decision":"pending","member_id":"m-olha","why":"requester"},{"decision":"pending","member_id":"m-taras","why":"personal_data"}]`, "remedies": "",
	})
	k.Facts.Ledger = []artifact.Consent{consented(letter, "m-taras", artifact.Granted)}
	k.Stops, k.HandOver = []envelope.Condition{envelope.ConsentOwed}, true
	says(t, only(t, k), map[string]string{"from.0.decision": "pending", "from.1.decision": "granted", "remedies.0.who": `["m-olha"]`, "remedies.0.change": "~m-olha"})
	old := consented(letter, "m-taras", artifact.Granted)
	old.ContentSHA256 = artifact.Digest([]byte("another text"))
	k.Facts.Ledger = []artifact.Consent{old}
	says(t, only(t, k), map[string]string{"from.1.decision": "pending"})
}

func TestNoConsentIsAskedForWhatNeedsNone(t *testing.T) {
	k := outputs(task(constitution.Process, "en", "Let us decide on the date of the fair."), envelope.DecisionDraft, envelope.ConsentRequest)
	if drafts := run(t, k); len(drafts) != 1 || drafts[0].Type != envelope.DecisionDraft {
		t.Errorf("%d drafts", len(drafts))
	}
	k.Request.Flags = []envelope.Flag{envelope.Critical}
	drafts := run(t, k)
	if len(drafts) != 2 {
		t.Fatalf("%d drafts of something critical", len(drafts))
	}
	says(t, read(t, drafts[1]), map[string]string{"subject.artifact_id": "a-1", "from.0.why": "requester"})
	v := made("a-1", envelope.DecisionDraft, string(drafts[0].Content))
	says(t, read(t, drafts[1]), map[string]string{"subject.content_sha256": v.ContentSHA256})
	k = outputs(task(constitution.Process, "en", "Ask them."), envelope.ConsentRequest)
	if _, err := worker.Engines()[constitution.Process].Work(k); fault.KindOf(err) != fault.Invalid {
		t.Errorf("consent to nothing: %v", err)
	}
}

func TestATestimonySaysWhatTheRecordSays(t *testing.T) {
	k := outputs(task(constitution.Process, "en", "Let us decide on a pond. m-taras is against it, as it is deep. All agree on that."), envelope.TestimonyDraft)
	k.Request.Participants = []string{"m-taras", "stranger"}
	pond := made("e-1", envelope.DecisionDraft, `{"title":"A pond"}`, func(a *artifact.Artifact) {
		a.Flags = []envelope.Flag{envelope.Critical}
		a.Concerns = []string{"m-taras"}
	})
	k.Earlier = []artifact.Artifact{pond}
	says(t, only(t, k), map[string]string{
		"outcome": "open", "title": "Testimony: A pond", "statement": "~On 2026-05-01 the circle had before it: A pond. It is not decided yet. Of 2 consents owed 0 are granted", "consents": `{"granted":0,"needed":2,"pending":2,"refused":0}`,
		"present": `["m-olha","m-taras"]`, "dissent": `[{"member_id":"m-taras","text":"m-taras is against it, as it is deep."}]`, "decisions.0.artifact_id": "e-1", "decided_at": "",
	})
	k.Facts.Ledger = []artifact.Consent{consented(pond, "m-olha", artifact.Granted), consented(pond, "m-taras", artifact.Refused)}
	says(t, only(t, k), map[string]string{"outcome": "declined", "consents": `{"granted":1,"needed":2,"pending":0,"refused":1}`, "statement": "~did not adopt: A pond"})
	k.Facts.Ledger[1] = consented(pond, "m-taras", artifact.Granted)
	says(t, only(t, k), map[string]string{"outcome": "open", "consents.granted": "2"})
	k.Earlier[0].Status, k.Earlier[0].ConfirmedAt = artifact.Confirmed, may
	says(t, only(t, k), map[string]string{"outcome": "adopted", "decided_at": "2026-05-01T12:00:00Z", "statement": "~the circle adopted: A pond"})

	k = outputs(task(constitution.Process, "uk", "Вирішімо про паркан."), envelope.TestimonyDraft)
	k.Earlier = []artifact.Artifact{made("e-2", envelope.DecisionDraft, `{"title":"Паркан"}`)}
	says(t, only(t, k), map[string]string{"title": "Свідчення: Паркан", "statement": "~Нічия згода не потрібна.", "consents.needed": "0"})
}

// Whatever a text says about consents, the ledger counts.
func TestAClaimOfConsentCountsNowhere(t *testing.T) {
	k := outputs(task(constitution.Process, "en", "Everybody has consented: granted by m-taras, m-iryna and m-petro. It is adopted and confirmed."), envelope.TestimonyDraft)
	k.Request.Consent = envelope.ConsentGranted
	k.Earlier = []artifact.Artifact{made("e-1", envelope.DecisionDraft, `{"title":"A pond"}`, func(a *artifact.Artifact) { a.Flags = []envelope.Flag{envelope.Critical} })}
	says(t, only(t, k), map[string]string{"outcome": "open", "consents.granted": "0"})
}
