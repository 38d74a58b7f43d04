package envelope_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// full is a request with every member, optional ones included.
const full = `{
	"request_id": "req-1",
	"circle_context": {
		"circle_id": "c-forest", "member_id": "m-olha",
		"channel": {"kind": "internal", "id": "console"},
		"locale": "uk",
		"participants": ["m-olha", "m-taras"],
		"references": [{"kind": "url", "id": "https://example.org/a"},
			{"kind": "diff", "id": "d1", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]
	},
	"visibility_level_target": "circle",
	"sensitivity_flags": ["health", "finance"],
	"consent_status": "not_required",
	"allowed_actions": ["read", "propose_decision", "draft"],
	"expected_output": ["decision_draft", "ritual_plan"],
	"input_text": "Let us decide."
}`

func want() envelope.Envelope {
	return envelope.Envelope{
		RequestID: "req-1",
		Circle: envelope.Context{
			CircleID: "c-forest", MemberID: "m-olha", Channel: envelope.Channel{Kind: envelope.Internal, ID: "console"}, Locale: "uk",
			Participants: []string{"m-olha", "m-taras"},
			References: []envelope.Reference{
				{Kind: envelope.RefURL, ID: "https://example.org/a"},
				{Kind: envelope.RefDiff, ID: "d1", SHA256: strings.Repeat("0123456789abcdef", 4)},
			},
		},
		Target: envelope.Circle, Flags: []envelope.Flag{envelope.Health, envelope.Finance}, Consent: envelope.ConsentNotRequired,
		AllowedActions:  []envelope.Action{envelope.Read, envelope.ProposeDecision, envelope.Draft},
		ExpectedOutputs: []envelope.ArtifactType{envelope.DecisionDraft, envelope.RitualPlan}, InputText: "Let us decide.",
	}
}

func TestAnEnvelopeIsReadWhole(t *testing.T) {
	got, err := envelope.Decode([]byte(full))
	if diff := cmp.Diff(want(), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	again, err := envelope.Decode(got.Encode())
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("what Encode writes, Decode reads: %v\n%s", err, diff)
	}
}

// edit is full with one change made to it.
func edit(t *testing.T, change func(doc map[string]any)) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(full), &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// at walks to the object a pointer's last step stands in.
func at(doc map[string]any, pointer string) (object map[string]any, name string) {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for _, s := range steps[:len(steps)-1] {
		switch next := doc[s].(type) {
		case map[string]any:
			doc = next
		case []any:
			doc = next[0].(map[string]any)
			steps = steps[1:]
		}
	}
	return doc, steps[len(steps)-1]
}

func faults(t *testing.T, text []byte) []string {
	t.Helper()
	_, err := envelope.Decode(text)
	list, _ := errors.AsType[problem.List](err)
	lines := []string{}
	for _, p := range list {
		if !p.Code.Valid() || !p.Pointed || p.Message == "" {
			t.Errorf("%+v is no whole problem", p)
		}
		lines = append(lines, string(p.Code)+" "+p.Path)
	}
	return lines
}

func expect(t *testing.T, what string, text []byte, want ...string) {
	t.Helper()
	got := faults(t, text)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// members is every member of an envelope with what may be wrong with it: whether
// it may be absent, and a value that is too long for it.
var members = map[string]struct {
	optional bool
	long     any
	longCode problem.Code
}{
	"/request_id":                   {long: strings.Repeat("a", 129), longCode: problem.TooLarge},
	"/circle_context":               {},
	"/circle_context/circle_id":     {long: strings.Repeat("a", 129), longCode: problem.TooLarge},
	"/circle_context/member_id":     {long: strings.Repeat("a", 129), longCode: problem.TooLarge},
	"/circle_context/channel":       {},
	"/circle_context/channel/kind":  {long: strings.Repeat("internal", 20), longCode: problem.FieldInvalid},
	"/circle_context/channel/id":    {long: strings.Repeat("a", 129), longCode: problem.TooLarge},
	"/circle_context/locale":        {optional: true, long: "uk-" + strings.Repeat("a", 9), longCode: problem.FieldInvalid},
	"/circle_context/participants":  {optional: true, long: names(257), longCode: problem.TooLarge},
	"/circle_context/references":    {optional: true, long: references(65), longCode: problem.TooLarge},
	"/visibility_level_target":      {long: strings.Repeat("circle", 20), longCode: problem.FieldInvalid},
	"/sensitivity_flags":            {long: append(flags(), "health"), longCode: problem.FieldDuplicate},
	"/consent_status":               {long: strings.Repeat("granted", 20), longCode: problem.FieldInvalid},
	"/allowed_actions":              {long: append(actions(), "read"), longCode: problem.FieldDuplicate},
	"/expected_output":              {long: []string{"decision_draft", "decision_draft"}, longCode: problem.FieldDuplicate},
	"/input_text":                   {long: strings.Repeat("я", 32_769), longCode: problem.TooLarge},
	"/circle_context/references/id": {long: strings.Repeat("a", 2_049), longCode: problem.TooLarge},
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "m-" + strings.Repeat("a", i%100+1) + strings.Repeat("b", i/100)
	}
	return list
}

func references(n int) []any {
	return slices.Repeat([]any{map[string]any{"kind": "contract", "id": "IC-001"}}, n)
}

func flags() []string {
	list := []string{}
	for _, f := range envelope.Flags() {
		list = append(list, string(f))
	}
	return list
}

func actions() []string {
	list := []string{}
	for _, a := range envelope.Actions() {
		list = append(list, string(a))
	}
	return list
}

// pointer is where a fault of a member is: references are looked at in the first.
func pointer(member string) string {
	return strings.Replace(member, "/references/", "/references/0/", 1)
}

func TestEveryMemberIsNeededOrMayBeAbsent(t *testing.T) {
	for member, m := range members {
		text := edit(t, func(doc map[string]any) {
			o, name := at(doc, member)
			delete(o, name)
		})
		if m.optional {
			expect(t, member+" absent", text)
		} else {
			expect(t, member+" missing", text, "request.field_missing "+pointer(member))
		}
	}
}

func TestEveryMemberHasItsType(t *testing.T) {
	for member := range members {
		for _, wrong := range []any{nil, true, 7, 1.5, map[string]any{}, []any{}, "x"} {
			if o, ok := wrong.(map[string]any); ok && len(o) == 0 && (strings.HasSuffix(member, "context") || strings.HasSuffix(member, "channel")) {
				continue // an object is right; its members are then missing
			}
			if _, ok := wrong.([]any); ok && (slices.Contains([]string{"/sensitivity_flags", "/allowed_actions", "/expected_output"}, member) ||
				strings.HasSuffix(member, "participants") || strings.HasSuffix(member, "references")) {
				continue // a list is right
			}
			code := "request.field_type "
			if _, ok := wrong.(string); ok {
				switch {
				case slices.Contains([]string{
					"/request_id", "/circle_context/circle_id", "/circle_context/member_id", "/circle_context/channel/id",
					"/input_text", "/circle_context/references/id",
				}, member):
					continue // any text is right
				case strings.HasSuffix(member, "kind"), strings.HasSuffix(member, "locale"), strings.HasSuffix(member, "target"),
					strings.HasSuffix(member, "status"), member == "/expected_output":
					code = "request.field_invalid "
				}
			}
			text := edit(t, func(doc map[string]any) {
				o, name := at(doc, member)
				o[name] = wrong
			})
			expect(t, member+" of another type", text, code+pointer(member))
		}
	}
}

func TestNothingIsTooLong(t *testing.T) {
	for member, m := range members {
		if m.long == nil {
			continue
		}
		text := edit(t, func(doc map[string]any) {
			o, name := at(doc, member)
			o[name] = m.long
		})
		got := faults(t, text)
		if len(got) != 1 || !strings.HasPrefix(got[0], string(m.longCode)+" "+pointer(member)) {
			t.Errorf("%s too long: %q, want %s", member, got, m.longCode)
		}
	}
	if got := faults(t, []byte(strings.Repeat(" ", envelope.MaxBytes+1))); !slices.Equal(got, []string{"request.too_large "}) {
		t.Errorf("a document that is too long: %q", got)
	}
	longest := edit(t, func(doc map[string]any) { doc["input_text"] = strings.Repeat("\x01", envelope.MaxText) })
	if got, err := envelope.Decode(longest); err != nil || len(got.InputText) != envelope.MaxText {
		t.Errorf("the longest text, every byte escaped: %v", err)
	}
}

func TestUnknownMembersAreRefusedWhereverTheyStand(t *testing.T) {
	for object, shown := range map[string]string{
		"": "/priority", "/circle_context": "/circle_context/priority", "/circle_context/channel": "/circle_context/channel/priority",
		"/circle_context/references": "/circle_context/references/0/priority",
	} {
		text := edit(t, func(doc map[string]any) {
			o, name := at(doc, object+"/priority")
			o[name] = "high"
		})
		expect(t, "unknown in "+object, text, "request.field_unknown "+shown)
	}
	strange := edit(t, func(doc map[string]any) { doc["AKIA"+"IOSFODNN7EXAMPLE"] = 1 })
	expect(t, "a name that is none", strange, "request.field_unknown ")
	if _, err := envelope.Decode(strange); strings.Contains(err.Error(), "IOSFODNN") {
		t.Errorf("a fault repeats what may be a secret: %v", err)
	}
}

func TestWhatIsThereTwiceIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(full, `"request_id"`, `"request_id": "req-0", "request_id"`, 1):                 "request.field_duplicate /request_id",
		strings.Replace(full, `"request_id"`, `"request_\u0069d": "req-0", "request_id"`, 1):            "request.field_duplicate /request_id",
		strings.Replace(full, `"locale": "uk"`, `"locale": "uk", "locale": "en"`, 1):                    "request.field_duplicate /circle_context/locale",
		strings.Replace(full, `"m-taras"`, `"m-olha"`, 1):                                               "request.field_duplicate /circle_context/participants/1",
		strings.Replace(full, `"id": "d1"`, `"id": "d1", "id": "d2"`, 1):                                "request.field_duplicate /circle_context/references/1/id",
		strings.Replace(full, `["decision_draft", "ritual_plan"]`, `["ritual_plan", "ritual_plan"]`, 1): "request.field_duplicate /expected_output/1",
	} {
		expect(t, want, []byte(text), want)
	}
}

func TestTextThatIsNotUTF8IsRefusedWhereItStands(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(full, "Let us", "Let \xff us", 1):                                    "request.not_utf8 /input_text",
		strings.Replace(full, "Let us", `Let \ud800 us`, 1):                                  "request.not_utf8 /input_text",
		strings.Replace(full, "Let us", `Let \ude00\ud83d us`, 1):                            "request.not_utf8 /input_text",
		strings.Replace(full, `"id": "console"`, `"id": "con`+"\xc3"+`sole"`, 1):             "request.not_utf8 /circle_context/channel/id",
		strings.Replace(full, `"health", `, `"heal`+"\xf0\x28"+`th", `, 1):                   "request.not_utf8 /sensitivity_flags/0",
		strings.Replace(full, `"expected_output": [`, `"expected_output": ["`+"\xff\", ", 1): "request.not_utf8 /expected_output/0",
		strings.Replace(full, `{
	"request_id"`, `{"`+"\xff"+`": 1, "request_id"`, 1): "request.not_utf8 ",
	} {
		expect(t, want, []byte(text), want)
	}
	if _, err := envelope.Decode([]byte(strings.Replace(full, "Let us", `\ud83d\ude00 us`, 1))); err != nil {
		t.Errorf("a whole surrogate pair: %v", err)
	}
}

func TestWordsAndFormsOutsideTheirListsAreRefused(t *testing.T) {
	type change = map[string]any
	for want, c := range map[string]change{
		"request.field_invalid /request_id":                         {"request_id": "-a"},
		"request.field_invalid /circle_context/circle_id":           {"circle_context/circle_id": "c/forest"},
		"request.field_invalid /circle_context/member_id":           {"circle_context/member_id": "m\u202eolha"},
		"request.field_invalid /circle_context/channel/id":          {"circle_context/channel/id": " console"},
		"request.field_invalid /circle_context/participants/0":      {"circle_context/participants": []string{""}},
		"request.field_invalid /circle_context/references/0/kind":   {"circle_context/references": []any{change{"kind": "file", "id": "a"}}},
		"request.field_invalid /circle_context/references/0/sha256": {"circle_context/references": []any{change{"kind": "diff", "id": "a", "sha256": strings.Repeat("A", 64)}}},
		"request.field_type /circle_context/references/0":           {"circle_context/references": []any{"IC-001"}},
		"request.field_type /circle_context/participants/0":         {"circle_context/participants": []any{1}},
		"request.field_invalid /sensitivity_flags/0":                {"sensitivity_flags": []string{"Health"}},
		"request.field_invalid /allowed_actions/0":                  {"allowed_actions": []string{"write"}, "expected_output": "health_report"},
		"request.field_invalid /allowed_actions":                    {"allowed_actions": []string{}},
		"request.field_invalid /expected_output":                    {"expected_output": []string{}},
		"request.field_invalid /expected_output/0":                  {"expected_output": []string{"confirmed"}},
		"request.field_type /expected_output/0":                     {"expected_output": []any{nil}},
		"request.field_invalid /input_text":                         {"input_text": ""},
		"request.output_not_allowed /expected_output":               {"expected_output": "bridge_draft"},
		"request.output_not_allowed /expected_output/1":             {"expected_output": []string{"decision_draft", "memory_note"}},
		"request.field_invalid /visibility_level_target":            {"visibility_level_target": "CIRCLE"},
		"request.field_invalid /consent_status":                     {"consent_status": ""},
		"request.field_duplicate /sensitivity_flags/1":              {"sensitivity_flags": []string{"legal", "legal"}},
	} {
		text := edit(t, func(doc map[string]any) {
			for path, v := range c {
				o, name := at(doc, "/"+path)
				o[name] = v
			}
		})
		expect(t, want, text, want)
	}
}

// The id of a request is the correlation id of its path, as that of an intent is
// of a path nobody asked for.
func TestARequestIsNotNamedLikeAContract(t *testing.T) {
	for id, want := range map[string][]string{
		"IC-001": {"request.field_invalid /request_id"}, "PG-1234": {"request.field_invalid /request_id"},
		"IC-01": nil, "ic-001": nil, "IC-001.a": nil, "XIC-001": nil,
	} {
		text := edit(t, func(doc map[string]any) { doc["request_id"] = id })
		if want == nil {
			if _, err := envelope.Decode(text); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			continue
		}
		expect(t, id, text, want...)
	}
}

func TestAskingToExecuteIsABreachBesideAllOtherFaults(t *testing.T) {
	for _, word := range []string{"execute", "Execute", " EXECUTE "} {
		text := edit(t, func(doc map[string]any) {
			doc["allowed_actions"] = []string{"read", word, "propose_decision", "draft"}
			doc["consent_status"] = "yes"
		})
		expect(t, word, text, "policy_breach_detected /allowed_actions/1", "request.field_invalid /consent_status")
		e, err := envelope.Decode(text)
		list, _ := errors.AsType[problem.List](err)
		if !list.Has(problem.Breach) || e.Circle.MemberID != "m-olha" || e.Circle.Channel.ID != "console" {
			t.Error("a breach cannot be audited with who made it")
		}
		if e.InputText != "" {
			t.Error("a request that was refused has a text that could be run on")
		}
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	expect(t, "an empty object", []byte(`{}`), "request.field_missing /allowed_actions", "request.field_missing /circle_context",
		"request.field_missing /consent_status", "request.field_missing /expected_output", "request.field_missing /input_text",
		"request.field_missing /request_id", "request.field_missing /sensitivity_flags", "request.field_missing /visibility_level_target")
	expect(t, "one of each", []byte(`{"request_id": 1, "circle_context": {"circle_id": "c", "member_id": "m", "channel": {"kind": "x"}, "locale": "u_k"},
		"visibility_level_target": "circle", "visibility_level_target": "clan", "sensitivity_flags": "health", "consent_status": "granted",
		"allowed_actions": ["execute"], "expected_output": null, "input_text": "`+"\xff"+`", "extra": 1}`),
		"policy_breach_detected /allowed_actions/0", "request.field_duplicate /visibility_level_target", "request.field_invalid /circle_context/channel/kind",
		"request.field_invalid /circle_context/locale", "request.field_missing /circle_context/channel/id", "request.field_type /expected_output",
		"request.field_type /request_id", "request.field_type /sensitivity_flags", "request.field_unknown /extra", "request.not_utf8 /input_text")
}

func TestWhatIsNoEnvelopeAtAllHasOneFault(t *testing.T) {
	for text, want := range map[string]string{
		"": "request.malformed ", "{": "request.malformed ", "{} {}": "request.malformed ", `{"a":1,}`: "request.malformed ", `{"a":01}`: "request.malformed ",
		"null": "request.field_type ", "[]": "request.field_type ", `"x"`: "request.field_type ", "1": "request.field_type ", "true": "request.field_type ",
		strings.Repeat("[", 9) + strings.Repeat("]", 9):                 "request.malformed /0/0/0/0/0/0/0/0",
		strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000):     "request.malformed ",
		strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000): "request.malformed " + strings.Repeat("/a", 8),
	} {
		got := faults(t, []byte(text))
		if len(got) == 0 || got[0] != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

func TestTheNumberOfFaultsIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"a":1`)
	}
	if got := faults(t, []byte("{"+b.String()+"}")); len(got) < 50 || len(got) > 100 {
		t.Errorf("%d faults", len(got))
	}
}

func TestSameBytesMeansTheSameRequestHoweverItIsSpelt(t *testing.T) {
	first, err := envelope.Decode([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	shuffled := edit(t, func(doc map[string]any) {
		doc["allowed_actions"] = []string{"draft", "propose_decision", "read"}
		doc["sensitivity_flags"] = []string{"finance", "health"}
		doc["circle_context"].(map[string]any)["participants"] = []string{"m-taras", "m-olha"}
	})
	second, err := envelope.Decode(shuffled)
	if err != nil || first.SHA256() != second.SHA256() {
		t.Errorf("the order of a set makes another request: %v", err)
	}
	single, errSingle := envelope.Decode(edit(t, func(doc map[string]any) { doc["expected_output"] = "ritual_plan" }))
	list, errList := envelope.Decode(edit(t, func(doc map[string]any) { doc["expected_output"] = []string{"ritual_plan"} }))
	if errSingle != nil || errList != nil || single.SHA256() != list.SHA256() || single.SHA256() == first.SHA256() {
		t.Error("one expected output and a list of one are the same; fewer are not")
	}
	seen := map[string]string{first.SHA256(): "full"}
	for name, change := range map[string]func(e *envelope.Envelope){
		"id":      func(e *envelope.Envelope) { e.RequestID = "req-2" },
		"circle":  func(e *envelope.Envelope) { e.Circle.CircleID = "c-lake" },
		"member":  func(e *envelope.Envelope) { e.Circle.MemberID = "m-taras" },
		"channel": func(e *envelope.Envelope) { *e = e.OverAdapter("console") },
		"locale":  func(e *envelope.Envelope) { e.Circle.Locale = "" },
		"people":  func(e *envelope.Envelope) { e.Circle.Participants = nil },
		"references": func(e *envelope.Envelope) {
			e.Circle.References = []envelope.Reference{e.Circle.References[1], e.Circle.References[0]}
		},
		"digest":  func(e *envelope.Envelope) { e.Circle.References = e.Circle.References[:1] },
		"target":  func(e *envelope.Envelope) { e.Target = envelope.Clan },
		"flags":   func(e *envelope.Envelope) { e.Flags = e.Flags[:1] },
		"consent": func(e *envelope.Envelope) { e.Consent = envelope.ConsentGranted },
		"actions": func(e *envelope.Envelope) { e.AllowedActions = e.AllowedActions[:2] },
		"outputs": func(e *envelope.Envelope) { e.ExpectedOutputs = e.ExpectedOutputs[:1] },
		"text":    func(e *envelope.Envelope) { e.InputText += " " },
	} {
		e := want()
		change(&e)
		if twin, taken := seen[e.SHA256()]; taken {
			t.Errorf("another %s is the same request as another %s", name, twin)
		}
		seen[e.SHA256()] = name
	}
	if len(seen) != 15 {
		t.Errorf("%v", slices.Sorted(maps.Values(seen)))
	}
}

func TestAnAdapterIsAlwaysOutside(t *testing.T) {
	e := want()
	if e.External() {
		t.Error("the console is inside")
	}
	if e = e.OverAdapter("telegram:group-7"); !e.External() || e.Circle.Channel.ID != "telegram:group-7" {
		t.Errorf("an adapter said it is inside, and was believed: %+v", e.Circle.Channel)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{full, `{}`, `[`, `{"request_id":"\ud800"}`, strings.Replace(full, "read", "execute", 1), "{\"\xff\":{\"a\":[1]}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := envelope.Decode(text)
		if err != nil {
			list, ok := errors.AsType[problem.List](err)
			if !ok || len(list) == 0 || e.InputText != "" {
				t.Fatalf("%v is no list of faults, or a text was kept", err)
			}
			for _, p := range list {
				if !p.Code.Valid() || p.Path != "" && p.Path[0] != '/' {
					t.Fatalf("%+v", p)
				}
			}
			return
		}
		again, err := envelope.Decode(e.Encode())
		if diff := cmp.Diff(e, again); diff != "" || err != nil {
			t.Fatalf("it does not read back: %v\n%s", err, diff)
		}
		sorted, err := envelope.Decode(e.Canonical())
		if err != nil || sorted.SHA256() != e.SHA256() {
			t.Fatalf("the canonical bytes are another request: %v", err)
		}
		if len(e.InputText) == 0 || len(e.InputText) > envelope.MaxText || len(e.AllowedActions) == 0 || len(e.ExpectedOutputs) == 0 {
			t.Fatalf("%+v is outside the limits", e)
		}
	})
}
