package capability_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/capability"
)

func TestASetIsWrittenInCanonicalOrderWhateverOrderItWasMadeIn(t *testing.T) {
	s := capability.Of(capability.PublishRelease, capability.ReadRepo, capability.InstallDeps, capability.ReadRepo)
	got, err := json.Marshal(s)
	if err != nil || string(got) != `["read_repo","install_deps","publish_release"]` {
		t.Errorf("got %s, %v", got, err)
	}
	if s.String() != "read_repo,install_deps,publish_release" {
		t.Errorf("got %s", s)
	}
	if empty, _ := json.Marshal(capability.Set(0)); string(empty) != `[]` {
		t.Errorf("the empty set is %s", empty)
	}
}

func TestANameOutsideTheSixIsRefusedByName(t *testing.T) {
	if _, err := capability.Parse([]string{"read_repo", "deploy"}); err == nil || err.Error() != `unknown capability "deploy"` {
		t.Errorf("got %v", err)
	}
	var s capability.Set
	if err := json.Unmarshal([]byte(`["deploy"]`), &s); err == nil {
		t.Error("an unknown name was read")
	}
	if capability.Capability("").Valid() || capability.All.Has("deploy") {
		t.Error("an unknown capability is valid")
	}
}

// A Set is an algebra: what holds of mathematical sets holds of it.
func TestSetAlgebra(t *testing.T) {
	set := rapid.Custom(func(t *rapid.T) capability.Set {
		return capability.Set(rapid.Uint8Range(0, uint8(capability.All)).Draw(t, "bits"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		u := a.Union(b)
		if u != b.Union(a) || !u.Contains(a) || !u.Contains(b) || a.Union(a) != a {
			t.Fatal("union")
		}
		if a.Minus(b).Meets(b) || a.Minus(b).Union(b) != u {
			t.Fatal("minus")
		}
		if a.Contains(b) != b.Minus(a).Empty() {
			t.Fatal("contains")
		}
		if capability.Of(a.List()...) != a || len(a.List()) != a.Len() {
			t.Fatal("list")
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back capability.Set
		if err := json.Unmarshal(text, &back); err != nil || back != a {
			t.Fatalf("round trip: %v", err)
		}
	})
}
