package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
)

func glob(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	texts := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = text
	}
	return texts
}

func TestEverySampleLoads(t *testing.T) {
	for name, text := range glob(t, "testdata/samples/*.yaml") {
		if m, err := manifest.Load(text, manifest.Options{Today: "2026-12-01"}); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if m.Project.Name == "" || m.Agent.Name == "" {
			t.Errorf("%s: nobody is named", name)
		}
	}
}

func TestEveryAntiPatternIsRefusedWithItsReason(t *testing.T) {
	want := map[string]string{
		"missing_purpose.yaml":          "shipgate.yaml:10:1: agent.declared_purpose: nothing says what the agent is for",
		"misplaced_field.yaml":          `shipgate.yaml:11:1: declared_purpose: is no key that is known here; did you mean "agent.declared_purpose"?`,
		"empty_suppression_reason.yaml": "shipgate.yaml:26:15: checks.ignore.0.reason: must not be empty",
	}
	for name, text := range glob(t, "testdata/refused/*.yaml") {
		_, err := manifest.Load(text, manifest.Options{})
		if err == nil || want[name] == "" || !strings.Contains(err.Error(), want[name]) {
			t.Errorf("%s: %v, want %q", name, err, want[name])
		}
	}
}
