package canonical_test

import (
	"encoding/json"
	"testing"

	"plimsoll.dev/internal/canonical"
)

func TestSpellings(t *testing.T) {
	v := canonical.Object{
		{Key: "b", Value: []string{"café", "\U0001F6A2"}},
		{Key: "a", Value: canonical.Object{{Key: "n", Value: 7}, {Key: "t", Value: true}, {Key: "z", Value: nil}}},
		{Key: "c", Value: "a\"\\\n\x01/<"},
	}
	for _, c := range []struct {
		name string
		s    canonical.Spelling
		want string
	}{
		{"compact", canonical.Compact, `{"a":{"n":7,"t":true,"z":null},"b":["caf\u00e9","\ud83d\udea2"],"c":"a\"\\\n\u0001/<"}`},
		{"spaced", canonical.Spaced, `{"a": {"n": 7, "t": true, "z": null}, "b": ["caf\u00e9", "\ud83d\udea2"], "c": "a\"\\\n\u0001/<"}`},
		{"utf8", canonical.UTF8, `{"a":{"n":7,"t":true,"z":null},"b":["café","🚢"],"c":"a\"\\\n\u0001/<"}`},
	} {
		if got := c.s.String(v); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		var back any
		if err := json.Unmarshal([]byte(c.s.String(v)), &back); err != nil {
			t.Errorf("%s: a JSON reader refuses it: %v", c.name, err)
		}
	}
}

func TestObjectKeepsItsOwnOrderWhenPrinted(t *testing.T) {
	got, err := json.Marshal(canonical.Object{{Key: "kind", Value: "x"}, {Key: "a", Value: []string{}}})
	if err != nil || string(got) != `{"kind":"x","a":[]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// The vectors of docs/spec/boundary.md §9.2.
func TestFingerprintVectors(t *testing.T) {
	for _, c := range []struct {
		row  canonical.Object
		want string
	}{
		{canonical.Object{
			{Key: "check_id", Value: "C"},
			{Key: "path", Value: "café/AGENTS.md"},
			{Key: "action", Value: "require_review"},
			{Key: "risk_level", Value: "medium"},
			{Key: "evidence", Value: canonical.Object{{Key: "kind", Value: "k"}}},
		}, "c1ba5e7d33e07974"},
	} {
		if got := canonical.Spaced.SHA256(c.row)[:16]; got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
