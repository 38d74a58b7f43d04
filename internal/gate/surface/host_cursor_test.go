package surface_test

import (
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

func TestCursorCategoriesAreAllowancesOfTheirOwn(t *testing.T) {
	t.Parallel()
	before, after, ok := edited(cursorCLI,
		`{"permissions":{"allow":["Shell(ls)"],"deny":["Write(x)"]},"read":["src"],"shell":true}`,
		`{"permissions":{"allow":["Shell(ls)"]},"write":["src"],"network":true,"other":1}`).CursorCLI()
	if !ok {
		t.Fatal("not read")
	}
	gained := surface.PermissionsGained(before.Allow, after.Allow)
	if len(gained) != 1 || gained[0].List != "write" || gained[0].Text != "src" {
		t.Errorf("gained %v, want write src alone", gained)
	}
	if lost := surface.PermissionsGained(after.Deny, before.Deny); len(lost) != 1 || lost[0].Text != "Write(x)" {
		t.Errorf("denies lost: %v, want Write(x)", lost)
	}
	if !after.Network.Changed(before.Network) || len(after.Unknown) != 1 || after.Unknown[0].Key != "other" {
		t.Errorf("network %v, unknown %v", after.Network, after.Unknown)
	}
}

func FuzzCursorCLI(f *testing.F) {
	f.Add([]byte(`{"permissions":{"allow":["Shell(ls)"]}}`), []byte(`{"permissions":{"allow":["Shell(*)"],"deny":[]},"network":true}`))
	f.Add([]byte(`{"shell":["ls"],"read":[1],"write":{}}`), []byte(`{"future":{},"shell":"x"}`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		was, is, ok := edited(cursorCLI, string(before), string(after)).CursorCLI()
		if !ok {
			return
		}
		inside := places(after)
		for _, r := range surface.PermissionsGained(was.Allow, is.Allow) {
			inside(t, "rule", r.Pos)
		}
		for _, list := range [][]surface.Setting{
			surface.ChangedSettings(was.Unknown, is.Unknown),
			{is.Network},
			surface.ChangedSettings(was.OtherPermissions, is.OtherPermissions),
		} {
			for _, setting := range list {
				inside(t, setting.Key, setting.Pos)
			}
		}
		if len(surface.PermissionsGained(is.Allow, is.Allow))+len(surface.ChangedSettings(is.Unknown, is.Unknown)) > 0 {
			t.Fatal("a file gains something over itself")
		}
	})
}
