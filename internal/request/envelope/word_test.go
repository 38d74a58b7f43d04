package envelope_test

import (
	"testing"

	"plimsoll.dev/internal/request/envelope"
)

func TestTheLevelsAreAChain(t *testing.T) {
	levels := envelope.Levels()
	for i, a := range levels {
		for j, b := range levels {
			if a.Wider(b) != (i > j) || (a.Compare(b) == 0) != (i == j) {
				t.Errorf("%s against %s", a, b)
			}
			if least := levels[min(i, j)]; a.Min(b) != least || b.Min(a) != least {
				t.Errorf("the lower of %s and %s is %s", a, b, a.Min(b))
			}
		}
		if none := envelope.Level("open"); a.Min(none) != none || !a.Wider(none) {
			t.Errorf("a level that is none is wider than %s", a)
		}
	}
}

func TestOnlyTwoThingsFromInsideMakeOneFromInside(t *testing.T) {
	for _, a := range []envelope.Origin{envelope.Internal, envelope.External, "", "Internal"} {
		for _, b := range []envelope.Origin{envelope.Internal, envelope.External, "", "Internal"} {
			inside := a == envelope.Internal && b == envelope.Internal
			if got := a.Join(b); (got == envelope.Internal) != inside || !got.Valid() {
				t.Errorf("%q and %q make %q", a, b, got)
			}
		}
	}
}

func TestEveryTypeNeedsAnActionAndEveryWordIsValid(t *testing.T) {
	if n := len(envelope.ArtifactTypes()); n != 17 {
		t.Errorf("%d types of artifact", n)
	}
	used := map[envelope.Action]bool{}
	for _, a := range envelope.ArtifactTypes() {
		if !a.Valid() || !a.Needs().Valid() {
			t.Errorf("%s needs %q", a, a.Needs())
		}
		used[a.Needs()] = true
	}
	for _, a := range envelope.Actions() {
		if !a.Valid() || !used[a] {
			t.Errorf("nothing comes of the action %s", a)
		}
	}
	for _, f := range envelope.Flags() {
		if !f.Valid() {
			t.Errorf("%s is no flag", f)
		}
	}
	if envelope.Flag("x").Valid() || envelope.ArtifactType("x").Valid() || envelope.Action("execute").Valid() || envelope.Level("").Valid() ||
		envelope.ConsentStatus("yes").Valid() || envelope.Condition("x").Valid() || envelope.ReferenceKind("file").Valid() || envelope.Origin("").Valid() {
		t.Error("a word outside its list is valid")
	}
}

func TestOnlySecretsAndBreachesStopARequest(t *testing.T) {
	stops := ""
	for _, c := range envelope.Conditions() {
		if !c.Valid() {
			t.Errorf("%s is no condition", c)
		}
		if c.Stops() {
			stops += string(c) + " "
		}
	}
	if stops != "secrets_detected policy_breach_detected " {
		t.Errorf("what stops is %s", stops)
	}
}
