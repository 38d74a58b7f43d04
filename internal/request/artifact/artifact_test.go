package artifact_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	plimsoll "plimsoll.dev"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 123_456_000, time.UTC)

func schema(t testing.TB) *artifact.Schema {
	t.Helper()
	text, err := plimsoll.ArtifactSchema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := artifact.NewSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lenient takes any content: for tests that are not about it.
type lenient struct{}

func (lenient) Check(envelope.ArtifactType, any) problem.List { return nil }

func builtin(sources ...artifact.Source) artifact.Provenance {
	return artifact.Provenance{
		RequestID: "req-1", Worker: constitution.Process, RunID: "run-1", ConstitutionVersion: "1.0.0", SubagentPromptVersion: "1.0.0",
		Engine: constitution.Builtin, Sources: sources,
	}
}

// decision is a decision draft of the circle that waits for consent.
func decision() artifact.Making {
	return artifact.Making{
		ID: "a-1", Circle: "c-forest", Owner: "m-olha", Type: envelope.DecisionDraft, Target: envelope.Circle, Status: artifact.WaitingForConsent,
		Content: []byte(`{"title":"T"}`), Origin: envelope.Internal, Provenance: builtin(), Scope: artifact.Scope{Action: envelope.ProposeDecision, Visibility: envelope.Circle},
		Now: noon,
	}
}

func made(t testing.TB, m artifact.Making) artifact.Artifact {
	t.Helper()
	a, err := artifact.Make(m, lenient{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The examples of docs/contracts, as the programs would make them.
func TestEveryTypeIsMadeAndWrittenAsItsSchemaHasIt(t *testing.T) {
	s := schema(t)
	text, err := os.ReadFile("../../../testdata/circle/artifacts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Artifacts []struct {
			Type    envelope.ArtifactType
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[envelope.ArtifactType]bool{}
	for _, example := range file.Artifacts {
		seen[example.Type] = true
		m := decision()
		m.Type, m.Content = example.Type, example.Content
		m.Blocks = []envelope.Condition{envelope.ConsentOwed, envelope.VisibilityClash, envelope.ConsentOwed}
		m.Provenance.Engine, m.Provenance.Model = constitution.Model, "m-1"
		m.Provenance.Sources = []artifact.Source{{Kind: artifact.FromRequest, ID: "req-1", SHA256: strings.Repeat("a", 64), Visibility: envelope.Circle, Origin: envelope.Internal}}
		a, err := artifact.Make(m, s)
		if err != nil {
			t.Errorf("%s: %v", example.Type, err)
			continue
		}
		a.Reason, a.ContractID = artifact.ConsentExpired, "IC-001"
		for _, f := range s.CheckDocument(a.Document()) {
			t.Errorf("%s: %v", example.Type, f)
		}
		if len(s.CheckDocument([]byte(strings.Replace(string(a.Document()), `"version":1`, `"version":0`, 1)))) == 0 {
			t.Errorf("%s: the schema of the whole refuses nothing", example.Type)
		}
		m.Content = []byte(strings.Replace(string(a.Content), "{", `{"unheard_of":"Zq9","`, 1))
		m.Content = []byte(strings.Replace(string(m.Content), `"Zq9","`, `"Zq9",`, 1))
		_, err = artifact.Make(m, s)
		if problem.CodeOf(err) != problem.ContentInvalid || strings.Contains(err.Error(), "Zq9") || strings.Contains(err.Error(), "unheard") {
			t.Errorf("%s with a member more: %v", example.Type, err)
		}
	}
	if len(seen) != len(envelope.ArtifactTypes()) {
		t.Errorf("examples of %d types", len(seen))
	}
}

func TestEverythingWrongWithAnArtifactIsSaidAtOnce(t *testing.T) {
	m := decision()
	m.Status, m.Target = artifact.Confirmed, envelope.Public
	m.Provenance.Sources = []artifact.Source{{Kind: artifact.FromArtifact, Visibility: envelope.Private, Origin: envelope.Internal}}
	_, err := artifact.Make(m, schema(t))
	list, _ := errors.AsType[problem.List](err)
	for _, code := range []problem.Code{problem.TransitionForbidden, problem.VisibilityTooWide, problem.ContentInvalid} {
		if !list.Has(code) {
			t.Errorf("%s is missing in %v", code, err)
		}
	}
	for name, content := range map[string]string{
		"no JSON": `{`, "twice": `{"title":"a","title":"b"}`, "not UTF-8": "\"\xff\"", "no object": `[]`, "huge": `{"n":1e-999999999}`,
		"long": `"` + strings.Repeat("a", artifact.MaxContent) + `"`,
	} {
		m := decision()
		m.Content = []byte(content)
		if _, err := artifact.Make(m, schema(t)); problem.CodeOf(err) != problem.ContentInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	m = decision()
	m.Type = "execution"
	if _, err := artifact.Make(m, lenient{}); problem.CodeOf(err) != problem.FieldInvalid {
		t.Errorf("an unknown type: %v", err)
	}
	m = decision()
	m.Target = "everybody"
	if _, err := artifact.Make(m, lenient{}); problem.CodeOf(err) != problem.VisibilityTooWide {
		t.Errorf("an unknown level: %v", err)
	}
}

func TestASchemaThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{``, `{}`, `[]`, `{"$id":"https://plimsoll.dev/x","type":"object"}`, `{"$id":"https://plimsoll.dev/x","type":7}`} {
		if _, err := artifact.NewSchema([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestTheDigestIsOfTheContentHoweverItIsSpelt(t *testing.T) {
	m := decision()
	m.Content = []byte(`{"b":[1,2.50],"a":"\u0442"}`)
	first := made(t, m)
	m.Content = []byte(` { "a" : "т", "b" : [ 1 , 2.5 ] } `)
	if second := made(t, m); second.ContentSHA256 != first.ContentSHA256 || string(second.Content) != `{"a":"т","b":[1,2.5]}` {
		t.Errorf("%s and %s", first.Content, second.Content)
	}
	m.Content = []byte(`{"a":"т","b":[2.5,1]}`)
	if third := made(t, m); third.ContentSHA256 == first.ContentSHA256 {
		t.Error("another content has the same digest")
	}
	if first.ContentSHA256 != artifact.Digest(first.Content) {
		t.Error("the digest is not of the content that is kept")
	}
}

func TestWhatAModelSaysIsFromOutside(t *testing.T) {
	m := decision()
	if a := made(t, m); a.Provenance.Origin != envelope.Internal {
		t.Error("the built-in engine on an internal request is from outside")
	}
	m.Provenance.Engine = constitution.Model
	if a := made(t, m); a.Provenance.Origin != envelope.External {
		t.Error("a model's answer is from inside")
	}
	m = decision()
	m.Provenance.Sources = []artifact.Source{{Kind: artifact.FromURL, Visibility: envelope.Public, Origin: envelope.Internal}}
	if a := made(t, m); a.Provenance.Origin != envelope.External {
		t.Error("a page of the web is from inside because it says so")
	}
	m = decision()
	m.Provenance.Origin, m.Origin = envelope.Internal, envelope.External
	if a := made(t, m); a.Provenance.Origin != envelope.External {
		t.Error("an answer to an external request is from inside")
	}
}

// However artifacts are made from one another: what has anything external behind
// it is external, and nothing is seen more widely than anything behind it.
func TestOriginAndLevelSurviveEveryDerivation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type node struct {
			a     artifact.Artifact
			outer bool
			level envelope.Level
		}
		var all []node
		for i := range rapid.IntRange(1, 25).Draw(t, "artifacts") {
			m := decision()
			m.Target = rapid.SampledFrom(envelope.Levels()).Draw(t, "target")
			m.Origin = rapid.SampledFrom([]envelope.Origin{envelope.Internal, envelope.External, ""}).Draw(t, "origin")
			m.Provenance.Engine = rapid.SampledFrom([]constitution.Engine{constitution.Builtin, constitution.Builtin, constitution.Model}).Draw(t, "engine")
			m.Provenance.Origin = envelope.Internal
			n := node{outer: m.Origin != envelope.Internal || m.Provenance.Engine != constitution.Builtin, level: envelope.Public}
			for range rapid.IntRange(0, min(3, i)).Draw(t, "sources") {
				from := all[rapid.IntRange(0, len(all)-1).Draw(t, "source")]
				m.Provenance.Sources = append(m.Provenance.Sources, from.a.AsSource())
				n.outer, n.level = n.outer || from.outer, n.level.Min(from.a.Visibility)
			}
			a, err := artifact.Make(m, lenient{})
			if m.Target.Wider(n.level) {
				if problem.CodeOf(err) != problem.VisibilityTooWide {
					t.Fatalf("%s of sources of %s was made: %v", m.Target, n.level, err)
				}
				m.Target = n.level
				a, err = artifact.Make(m, lenient{})
			}
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "revise") {
				next := decision()
				next.Target = rapid.SampledFrom(envelope.Levels()).Draw(t, "revised target")
				before := a
				if a, err = before.Revise(next, lenient{}); err != nil {
					if !next.Target.Wider(before.Visibility) {
						t.Fatal(err)
					}
					a = before
				}
			}
			n.a = a
			if (a.Provenance.Origin == envelope.External) != n.outer {
				t.Fatalf("%+v, something external behind it: %v", a.Provenance, n.outer)
			}
			if a.Visibility.Wider(n.level) {
				t.Fatalf("%s of sources of %s", a.Visibility, n.level)
			}
			all = append(all, n)
		}
	})
}

// Bounds is a meet: the order and the grouping of sources do not matter, and one
// more can only narrow.
func TestTheBoundsOfSourcesAreALattice(t *testing.T) {
	source := rapid.Custom(func(t *rapid.T) artifact.Source {
		return artifact.Source{
			Kind:       rapid.SampledFrom([]artifact.SourceKind{artifact.FromRequest, artifact.FromArtifact, artifact.FromURL}).Draw(t, "kind"),
			Visibility: rapid.SampledFrom(append(envelope.Levels(), "")).Draw(t, "level"),
			Origin:     rapid.SampledFrom([]envelope.Origin{envelope.Internal, envelope.External, ""}).Draw(t, "origin"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(source, 0, 6).Draw(t, "sources")
		origin, level := artifact.Bounds(list)
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		if o, l := artifact.Bounds(shuffled); o != origin || l != level {
			t.Fatalf("the order matters: %s %s, %s %s", origin, level, o, l)
		}
		if o, l := artifact.Bounds(append(slices.Clone(list), list...)); o != origin || l != level {
			t.Fatal("twice is not once")
		}
		more := append(slices.Clone(list), source.Draw(t, "one more"))
		o, l := artifact.Bounds(more)
		if l.Wider(level) || origin == envelope.External && o != envelope.External {
			t.Fatalf("one more widens %s %s to %s %s", origin, level, o, l)
		}
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		o1, l1 := artifact.Bounds(list[:cut])
		o2, l2 := artifact.Bounds(list[cut:])
		if o1.Join(o2) != origin || l1.Min(l2) != level {
			t.Fatal("the grouping matters")
		}
	})
}

func TestAChangeIsANewVersionThatStartsAsADraft(t *testing.T) {
	a := made(t, decision())
	a.Status, a.ConfirmedBy, a.ContractID, a.Revision = artifact.Confirmed, "m-olha", "IC-001", 7
	m := artifact.Making{Target: envelope.Circle, Content: []byte(`{"title":"U"}`), Origin: envelope.Internal, Provenance: builtin(), Now: noon.Add(time.Hour)}
	next, err := a.Revise(m, lenient{})
	if err != nil || next.ID != a.ID || next.Version != 2 || next.Status != artifact.Draft || next.ContentSHA256 == a.ContentSHA256 {
		t.Errorf("%+v, %v", next, err)
	}
	if next.ConfirmedBy != "" || next.ContractID != "" || next.Revision != 0 || next.Owner != "m-olha" || next.Circle != "c-forest" {
		t.Errorf("it keeps what was of the version before: %+v", next)
	}
	m.Target = envelope.Clan
	if _, err := a.Revise(m, lenient{}); problem.CodeOf(err) != problem.VisibilityTooWide {
		t.Errorf("a version is seen by more than the one before: %v", err)
	}
	m.Target, m.Content = envelope.Circle, []byte("{")
	if _, err := a.Revise(m, lenient{}); problem.CodeOf(err) != problem.ContentInvalid {
		t.Errorf("a version without content: %v", err)
	}
}

func TestWhoSeesAnArtifact(t *testing.T) {
	m := decision()
	for _, c := range []struct {
		level        envelope.Level
		actor        string
		member, clan bool
		want         bool
	}{
		{envelope.Private, "m-olha", true, true, true},
		{envelope.Private, "m-olha", false, false, false}, // who left sees what is private to the circle no more
		{envelope.Private, "m-taras", true, true, false},
		{envelope.Circle, "m-taras", true, false, true},
		{envelope.Circle, "m-ira", false, true, false},
		{envelope.Clan, "m-ira", false, true, true},
		{envelope.Clan, "m-ira", false, false, false},
		{envelope.Public, "anybody", false, false, true},
		{"", "m-olha", true, true, false},
	} {
		m.Target = envelope.Private
		a := made(t, m)
		a.Visibility = c.level
		if got := a.SeenBy(c.actor, c.member, c.clan); got != c.want {
			t.Errorf("%s is seen by %s: %v", c.level, c.actor, got)
		}
	}
}

func FuzzMake(f *testing.F) {
	f.Add(`{"title":"T"}`, "decision_draft")
	f.Add(`{"act":"keep","title":"a","text":"b"}`, "memory_note")
	f.Add(`{"n":1e-999999999}`, "bridge_draft")
	s := schema(f)
	f.Fuzz(func(t *testing.T, content, kind string) {
		m := decision()
		m.Content, m.Type = []byte(content), envelope.ArtifactType(kind)
		a, err := artifact.Make(m, s)
		if err != nil {
			if problem.CodeOf(err) == "" {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		if faults := s.CheckDocument(a.Document()); len(faults) > 0 {
			t.Fatalf("what was made is no artifact: %v", faults)
		}
		m.Content = a.Content
		if b, err := artifact.Make(m, s); err != nil || b.ContentSHA256 != a.ContentSHA256 {
			t.Fatalf("the content does not read back: %v", err)
		}
	})
}
