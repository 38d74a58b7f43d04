package artifact_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/problem"
)

// The complete matrix of docs/spec/circle.md §5, every event in every status.
func TestTheTransitionsAreThoseOfTheVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/artifact-status.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			From, To artifact.Status
			By       artifact.Event
			Expect   string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != len(artifact.Statuses())*len(artifact.Statuses()) {
		t.Fatalf("%d cases are not the whole matrix", len(file.Cases))
	}
	events := []artifact.Event{
		artifact.Adopt, artifact.Decline, artifact.Confirm, artifact.ConsentsGiven, artifact.ConsentRefused, artifact.ConsentRevoked,
		artifact.ConsentExpired, "execute", "",
	}
	for _, c := range file.Cases {
		between := artifact.Between(c.From, c.To)
		if (len(between) > 0) != (c.Expect == "ok") || c.Expect == "ok" && !slices.Contains(between, c.By) {
			t.Errorf("from %s to %s by %v, want %s by %s", c.From, c.To, between, c.Expect, c.By)
		}
		for _, e := range events {
			to, err := c.From.After(e)
			switch {
			case slices.Contains(between, e) && (err != nil || to != c.To):
				t.Errorf("%s in %s: %s, %v, want %s", e, c.From, to, err, c.To)
			case err != nil && (string(problem.CodeOf(err)) != "artifact.transition_forbidden" || to != c.From):
				t.Errorf("%s in %s: %s, %v", e, c.From, to, err)
			case err == nil && to == c.To && !slices.Contains(between, e):
				t.Errorf("%s leads from %s to %s, and Between does not know", e, c.From, c.To)
			}
		}
	}
	for _, e := range events {
		if to, err := artifact.Status("open").After(e); err == nil {
			t.Errorf("a status that is none becomes %s by %s", to, e)
		}
	}
}

func TestNothingBeginsConfirmedAndNoPackageIs(t *testing.T) {
	for _, s := range artifact.Statuses() {
		if !s.Valid() || s.Initial() == (s == artifact.Confirmed) {
			t.Errorf("%s begins an artifact: %v", s, s.Initial())
		}
		for _, other := range append(artifact.Statuses(), "") {
			got := artifact.Demanding(s, other)
			want := artifact.Draft
			switch artifact.WaitingForConsent {
			case s, other:
				want = artifact.WaitingForConsent
			default:
				if s == artifact.NeedsConfirmation || other == artifact.NeedsConfirmation {
					want = artifact.NeedsConfirmation
				}
			}
			if got != want {
				t.Errorf("%s and %s are %s together, want %s", s, other, got, want)
			}
		}
	}
	if artifact.Demanding() != artifact.Draft {
		t.Error("a package of nothing is no draft")
	}
}
