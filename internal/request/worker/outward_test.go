package worker_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

func TestALetterSaysWhatTheRequestSays(t *testing.T) {
	for name, x := range map[string]struct {
		locale, text string
		want         map[string]string
	}{
		"ukrainian": {"uk", "Підготуй лист до міської ради про нашу толоку й надішли після згоди кола. Толока буде 12 травня.", map[string]string{
			"channel": "message", "recipients": `[{"id":"міської ради","kind":"outside"}]`, "subject": "Нашу толоку", "body": "До: міської ради\n\nПишемо вам про нашу толоку.\n\nТолока буде 12 травня.\n\nВід кола Forest", "locale": "uk",
		}},
		"the dative": {"uk", "Надішли лист партнерам, згода є.", map[string]string{"recipients.0.id": "партнерам", "body": "!згода"}},
		"english": {"en", "Write a letter to the Botanical Garden about our seed swap. It begins at ten. Bring seeds.", map[string]string{
			"recipients.0.id": "Botanical Garden", "subject": "Our seed swap", "body": "To: Botanical Garden\n\nWe are writing to you about our seed swap.\n\nIt begins at ten.\n\nBring seeds.\n\nFrom the circle Forest",
		}},
		"an address": {"en", "Send an email to office@town.example about the fence.", map[string]string{"recipients": `[{"id":"office@town.example","kind":"outside"}]`}},
		"japanese":   {"ja", "市役所に清掃の日について手紙を送ってください。5月12日に行います。", map[string]string{"recipients.0.id": "市役所", "subject": "清掃の日", "body": "~5月12日に行います。"}},
		"a pull request": {"en", "Draft a pull request comment for the upstream project with our benchmark summary.", map[string]string{
			"channel": "pull_request", "recipients.0.id": "upstream project", "subject": "Our benchmark summary", "data": "",
		}},
		"a webhook":      {"en", "Post a webhook to https://town.example/hook about the harvest.", map[string]string{"channel": "webhook", "recipients.0.id": "https://town.example/hook", "data": `{"circle":"Forest","subject":"The harvest"}`}},
		"words given":    {"en", "Publish “The gate is open on Sunday” on our site.", map[string]string{"body": "~The gate is open on Sunday", "recipients.0.id": "everybody"}},
		"behind a colon": {"en", "Send the partners an email: the meeting moves to Friday.", map[string]string{"recipients.0.id": "partners", "body": "To: partners\n\nThe meeting moves to Friday.\n\nFrom the circle Forest"}},
		"what is told":   {"en", "Reply to the neighbours that the fence will be mended on May 12.", map[string]string{"recipients.0.id": "neighbours", "body": "~\n\nThe fence will be mended on May 12.\n\n"}},
		"що сказати":     {"uk", "Напиши лист до школи, що ворота відчинені, й надішли після згоди.", map[string]string{"recipients.0.id": "школи", "body": "~Ворота відчинені"}},
		"the clan":       {"uk", "Напиши повідомлення до клану про врожай.", map[string]string{"recipients": `[{"id":"клану","kind":"clan"}]`}},
		"no direction":   {"en", "Publish our spring programme.", map[string]string{"subject": "Our spring programme"}},
	} {
		t.Run(name, func(t *testing.T) { says(t, only(t, task(constitution.Bridge, x.locale, x.text)), x.want) })
	}
}

func TestWhatIsNotPublicIsNamedPartByPart(t *testing.T) {
	k := task(constitution.Bridge, "en", "Write a letter to the Town about the fair.")
	k.Request.Target, k.Request.Source.Visibility = envelope.Public, envelope.Public
	says(t, only(t, k), map[string]string{"public": "true", "parts.0.kind": "request", "parts.1": "", "remedies": ""})
	refers(k, document(envelope.RefDocument, "plan.md", "The plan"))
	k.Earlier = []artifact.Artifact{made("e-2", envelope.GateVerdict, `{"summary":"x"}`)}
	k.Stops, k.HandOver = []envelope.Condition{envelope.ExportNotPublic}, true
	d := run(t, k)[0]
	says(t, read(t, d), map[string]string{"public": "false", "parts.1.id": "plan.md", "parts.2.id": "e-2", "remedies.0.change": "~document plan.md", "remedies.1.change": "~e-2", "remedies.2": "", "body": "!The plan"})
	if len(d.Sources) != 2 || len(d.Scope.Recipients) != 1 || d.Scope.Recipients[0].ID != "Town" {
		t.Errorf("%+v", d)
	}
}

func TestASentenceWithPersonalDataStaysHere(t *testing.T) {
	text := "Write a letter to the Town about the fair. Call Taras on 555 123 if it rains. It begins at ten."
	k := task(constitution.Bridge, "en", text)
	k.Request.Findings = []worker.Finding{finds(text, "555 123", "phone")}
	k.Stops = []envelope.Condition{envelope.ExportNotPublic}
	k.Request.Source.Visibility = envelope.Public
	says(t, only(t, k), map[string]string{"body": "~It begins at ten.", "remedies.0.change": "~at bytes 43-77"})
	says(t, only(t, k), map[string]string{"body": "!555"})
}

func TestAGiftIsWhatItsGiverSays(t *testing.T) {
	for name, x := range map[string]struct {
		locale, text string
		want         map[string]string
	}{
		"ukrainian": {"uk", "Хочу подарувати колу двадцять саджанців малини.", map[string]string{
			"act": "offer", "gift": "двадцять саджанців малини", "quantity": "двадцять саджанців", "receiver": `{"id":"c-forest","kind":"circle"}`, "giver.id": "m-olha", "leaves_circle": "false", "message": "~двадцять саджанців малини",
		}},
		"english":    {"en", "I would like to give our circle my old loom, nothing in return.", map[string]string{"gift": "my old loom", "message": "~m-olha offers the circle Forest: my old loom.", "quantity": "", "conditions": ""}},
		"japanese":   {"ja", "サークルに古い織機を贈りたいです。", map[string]string{"gift": "古い織機", "locale": "ja"}},
		"outside":    {"en", "I offer twelve jars of honey to the school in Lisova, can be picked up from Friday.", map[string]string{"receiver": `{"id":"school in Lisova","kind":"outside"}`, "leaves_circle": "true", "gift": "twelve jars of honey", "quantity": "twelve jars", "conditions": `["can be picked up from Friday"]`}},
		"a member":   {"uk", "Дарую m-taras свій велосипед.", map[string]string{"receiver": `{"id":"m-taras","kind":"member"}`, "leaves_circle": "false"}},
		"a trade":    {"en", "I would like to give our circle my boat in exchange for the barn.", map[string]string{"gift": "my boat", "message": "~Is it a gift all the same?", "expects_return": "false"}},
		"no trade":   {"uk", "Віддам колу човен, не треба нічого натомість.", map[string]string{"message": "~Дар пропонує m-olha"}},
		"accepting":  {"en", "I gladly accept the loom.", map[string]string{"act": "acceptance", "receiver.id": "m-olha", "giver.id": "c-forest"}},
		"for help":   {"uk", "Дякую m-taras за допомогу з дахом.", map[string]string{"act": "thanks", "gift": "допомогу з дахом", "giver.id": "m-taras", "receiver.id": "m-olha"}},
		"寄付":         {"ja", "子ども食堂にりんごを三箱寄付したいです。", map[string]string{"gift": "りんご", "receiver.id": "子ども食堂", "leaves_circle": "true", "quantity": "三箱"}},
		"thanks, uk": {"uk", "Дякуємо за малину.", map[string]string{"act": "thanks", "message": "~Дякує"}},
	} {
		t.Run(name, func(t *testing.T) { says(t, only(t, task(constitution.Gifts, x.locale, x.text)), x.want) })
	}
}

func TestAnAnswerNamesTheGiftAndCountsNothing(t *testing.T) {
	gift := func(id, what string) artifact.Artifact {
		return made(id, envelope.GiftProposal, `{"act":"offer","gift":"`+what+`","giver":{"kind":"member","id":"m-taras"},"receiver":{"kind":"circle","id":"c-forest"}}`)
	}
	k := task(constitution.Gifts, "en", "Thank you for the raspberries!")
	k.Facts.Gifts = []artifact.Artifact{gift("g-3", "an old loom"), gift("g-2", "twenty raspberry canes"), gift("g-1", "a boat")}
	d := run(t, k)[0]
	says(t, read(t, d), map[string]string{"act": "thanks", "answers.artifact_id": "g-2", "gift": "twenty raspberry canes", "giver.id": "m-taras", "receiver.kind": "circle"})
	if strings.Contains(string(d.Content), "boat") || strings.Contains(string(d.Content), "loom") {
		t.Errorf("other gifts are brought up: %s", d.Content)
	}
	k.Request.Text = "Thank you for the help."
	says(t, only(t, k), map[string]string{"answers": ""})
}
