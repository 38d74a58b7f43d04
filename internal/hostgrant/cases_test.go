package hostgrant_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/hostgrant"
)

const casesDir = "../../testdata/cases/boundary"

// plainCase is a case of the gate whose two sides are files and nothing else.
type plainCase struct {
	Expect struct {
		Rules []wantedRow
	}
	Delete []string
	Rename [][2]string
	before files
	after  files
}

// wantedRow is a check, by its id alone or with more.
type wantedRow string

func (w *wantedRow) UnmarshalJSON(text []byte) error {
	var row struct{ ID string }
	if err := json.Unmarshal(text, &row); err == nil {
		*w = wantedRow(row.ID)
		return nil
	}
	return json.Unmarshal(text, (*string)(w))
}

// grows says whether a row is about what a host may do, and not about the gate.
func grows(row wantedRow) bool {
	for _, word := range []string{"PERMISSION", "MCP", "HOOK", "PULL-REQUEST-TARGET", "NETWORK", "DANGER", "APP-AUTO", "SKILL", "WORKFLOW"} {
		if strings.Contains(string(row), word) {
			return true
		}
	}
	return false
}

// plainCases are the cases of the gate that need no repository to be told.
func plainCases(t *testing.T) map[string]*plainCase {
	t.Helper()
	entries, err := os.ReadDir(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*plainCase{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(casesDir, e.Name(), "case.json"))
		if err != nil {
			continue // the README
		}
		var keys map[string]json.RawMessage
		c := &plainCase{}
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, c); err != nil {
			t.Fatal(err)
		}
		plain := true
		for key := range keys {
			plain = plain && slices.Contains([]string{"about", "origin", "mode", "severity", "expect", "agents", "args", "delete", "rename"}, key)
		}
		if !plain {
			continue
		}
		c.before = layer(t, filepath.Join(casesDir, e.Name(), "base"))
		c.after = maps.Clone(c.before)
		for _, name := range c.Delete {
			delete(c.after, name)
		}
		for _, r := range c.Rename {
			c.after[r[1]] = c.after[r[0]]
			delete(c.after, r[0])
		}
		maps.Copy(c.after, layer(t, filepath.Join(casesDir, e.Name(), "head")))
		out[e.Name()] = c
	}
	return out
}

func layer(t *testing.T, dir string) files {
	t.Helper()
	out := files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), name)
		out[strings.TrimSuffix(name, ".txt")] = string(text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

// What the gate calls a change of a host's boundary is drift here too, and where
// the gate says that a host may do more, so does a signal.
func TestDriftIsNeverWeakerThanTheGate(t *testing.T) {
	compared := 0
	for name, c := range plainCases(t) {
		if name == "mcp-env-value-changed" {
			continue // the inventory holds no value of a variable, not even in a digest
		}
		d := drifted(t, c)
		if d.HasDrift == nil || !slices.ContainsFunc(c.Expect.Rules, grows) {
			continue // it says that it does not know, or the gate says nothing of a host
		}
		compared++
		if !*d.HasDrift || len(d.ExpansionSignals) == 0 {
			t.Errorf("%s: %v, drift %v, no signal", name, c.Expect.Rules, *d.HasDrift)
		}
	}
	if compared < 60 {
		t.Errorf("only %d cases were compared", compared)
	}
}

func drifted(t *testing.T, c *plainCase) *hostgrant.Drift {
	t.Helper()
	base, err := hostgrant.Save(take(t, c.before, hostgrant.Repository))
	if err != nil {
		base = nil
	}
	d := hostgrant.Compare("b", base, take(t, c.after, hostgrant.Repository))
	printed(t, "host-grants-drift.v0.2", d)
	return d
}
