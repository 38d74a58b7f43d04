package policy_test

import (
	"slices"
	"testing"

	"plimsoll.dev/internal/gate/policy"
)

// FuzzPolicyLoad feeds one text to every place a policy can come from. Whatever
// it holds, no rule falls below its built-in grade, and a text that cannot be
// used in full leaves a code that stops the change.
func FuzzPolicyLoad(f *testing.F) {
	for _, seed := range []string{
		"", "id: a\nversion: 3\n", "rules:\n  - id: HOST-HOOK-CHANGED\n    action: block\n", "rules: [{id: HOST-HOOK-CHANGED, action: allow}]",
		"- id: x", "a: &a [*a]", "\xEF\xBB\xBFid: x\n", "rules:\n- {id: HOST-HOOK-CHANGED, action: block}\n- {id: HOST-HOOK-CHANGED}\n", "id: 1\nid: 2\n",
	} {
		f.Add([]byte(seed))
	}
	list := catalogue(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		file := policy.File{Found: true, Bytes: data}
		for _, files := range []policy.Files{explicit(file), workspace(policy.Unified, file), workspace(policy.LegacyCodex, file)} {
			e := policy.Load(files, list)
			neverBelowTheFloor(t, &e, list)
			if len(e.Records) != 2 || len(e.Set) != 64 {
				t.Fatalf("records %+v, set %s", e.Records, e.Set)
			}
			if (len(e.Diagnostics) == 0) != (len(e.Codes) == 0) {
				t.Fatalf("diagnostics %v, codes %v", e.Diagnostics, e.Codes)
			}
			if e.Invalid != nil && e.Set != builtInSet {
				t.Fatal("an unusable explicit policy changed a grade")
			}
			again := policy.Load(files, list)
			if again.Set != e.Set || !slices.Equal(again.Codes, e.Codes) {
				t.Fatal("the same text was read in two ways")
			}
		}
	})
}
