package merge_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

func parse(t testing.TB, text []byte) any {
	t.Helper()
	v, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCompetingUpdates(t *testing.T) {
	type vector struct {
		Name                          string
		Left, Right                   json.RawMessage
		Updates                       []json.RawMessage
		StoredVersion, WrittenVersion int64
		Expected                      struct {
			OK          bool
			Code        refusal.Code
			Winner      json.RawMessage
			Frozen      bool
			Cause       contract.Cause
			MergeResult *struct{ Status, Strategy string }
		}
	}
	for _, v := range contracts.Load[vector](t, "merge") {
		if v.StoredVersion > 0 {
			if err := merge.Version(v.StoredVersion, v.WrittenVersion); refusal.CodeOf(err) != v.Expected.Code {
				t.Errorf("%s: got %v", v.Name, err)
			}
			continue
		}
		updates := v.Updates
		if updates == nil {
			updates = []json.RawMessage{v.Left, v.Right}
		}
		values := make([]any, len(updates))
		for i, u := range updates {
			values[i] = parse(t, u)
		}
		r, err := merge.Updates(values...)
		if refusal.CodeOf(err) != v.Expected.Code {
			t.Errorf("%s: got %v", v.Name, err)
			continue
		}
		if want := v.Expected.MergeResult; want != nil {
			strategy := ""
			if r.Merge.Strategy != nil {
				strategy = *r.Merge.Strategy
			}
			if string(r.Merge.Status) != want.Status || strategy != want.Strategy {
				t.Errorf("%s: got %+v", v.Name, r.Merge)
			}
		}
		if (r.Freeze != "") != v.Expected.Frozen || r.Freeze != v.Expected.Cause {
			t.Errorf("%s: freezes %q", v.Name, r.Freeze)
		}
		winner := strings.Trim(string(v.Expected.Winner), `"`)
		named := map[string]string{"left": "0", "right": "1"}[winner]
		if named == "" {
			named = winner
		}
		if err == nil && winner != "either" && strconv.Itoa(r.Winner) != named {
			t.Errorf("%s: %d wins, want %s", v.Name, r.Winner, winner)
		}
	}
}

func TestEdits(t *testing.T) {
	type vector struct {
		Name                           string
		Kind                           contract.Kind
		State                          contract.State
		Change                         merge.Change
		ActorRole                      contract.Role
		StoredVersion, WrittenVersion  int64
		GateDecision                   contract.FinalDecision
		DiffHashChanged, DigestChanged bool
		Expected                       struct {
			OK      bool
			Code    refusal.Code
			Version int64
		}
	}
	for _, v := range contracts.Load[vector](t, "edits") {
		err := merge.Edit(merge.Write{
			Kind: v.Kind, State: v.State, Change: v.Change, Role: v.ActorRole, Stored: v.StoredVersion, Written: v.WrittenVersion,
			Gate: v.GateDecision, DigestChanged: v.DiffHashChanged || v.DigestChanged,
		})
		if (err == nil) != v.Expected.OK || refusal.CodeOf(err) != v.Expected.Code || v.Expected.OK && v.Expected.Version != v.WrittenVersion {
			t.Errorf("%s: got %v", v.Name, err)
		}
	}
}

func TestANewVersionIsNotMadeBesideADraft(t *testing.T) {
	if err := merge.Revise([]contract.State{contract.Superseded, contract.Published}); err != nil {
		t.Error(err)
	}
	if err := merge.Revise([]contract.State{contract.Published, contract.Draft}); refusal.CodeOf(err) != refusal.ContractNotEditable {
		t.Errorf("got %v", err)
	}
}

var update = rapid.Custom(func(t *rapid.T) any {
	return map[string]any{
		"schemaVersion": "1.0.0", "id": "IC-001", "kind": "IntentContract", "state": "Draft",
		"version":   json.Number(strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "version"))),
		"createdAt": "2026-03-29T10:00:00Z", "updatedAt": "2026-03-29T10:00:0" + rapid.StringMatching(`[0-9]`).Draw(t, "second") + "Z",
		"intent": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "intent"), "creator": "user-001", "priority": "low",
		"requestedCapabilities": []any{"read_repo"},
	}
})

// The laws of merging: what stands does not depend on the order of the updates,
// repeating one changes nothing, and the winner has the one highest version.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		updates := rapid.SliceOfN(update, 2, 5).Draw(t, "updates")
		r, err := merge.Updates(updates...)

		shuffled := rapid.Permutation(updates).Draw(t, "order")
		s, err2 := merge.Updates(shuffled...)
		if refusal.CodeOf(err) != refusal.CodeOf(err2) {
			t.Fatalf("%v, and in another order %v", err, err2)
		}
		if err == nil && !contract.Equal(updates[r.Winner], shuffled[s.Winner]) {
			t.Fatal("another order, another winner")
		}
		again, err3 := merge.Updates(append(updates, updates[len(updates)-1])...)
		if refusal.CodeOf(err) != refusal.CodeOf(err3) || err == nil && !contract.Equal(updates[r.Winner], standing(again, updates)) {
			t.Fatalf("a repeat changed the result: %v, %v", err, err3)
		}
		if err == nil {
			for _, u := range updates {
				if number(u) > number(updates[r.Winner]) {
					t.Fatal("a higher version lost")
				}
				if number(u) == number(updates[r.Winner]) && !contract.Equal(u, updates[r.Winner]) {
					t.Fatal("a winner that is not the only one of its version")
				}
			}
		} else if refusal.CodeOf(err) != refusal.MergeManualRequired || r.Winner != -1 {
			t.Fatalf("got %+v, %v", r, err)
		}
		if one, err := merge.Updates(updates[0], updates[0]); err != nil || one.Merge.Status != contract.MergeNotApplicable {
			t.Fatalf("a document against itself: %+v, %v", one, err)
		}
	})
}

func standing(r merge.Result, updates []any) any {
	if r.Winner == len(updates) {
		return updates[len(updates)-1]
	}
	return updates[r.Winner]
}

func number(u any) string { return string(u.(map[string]any)["version"].(json.Number)) }
