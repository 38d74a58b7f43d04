package trigger_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// upstream is the catalogue 0.1 that ours extends (docs/licences.md).
type upstream struct {
	Rules []struct {
		ID, Action string
		When       json.RawMessage
	}
	Stop json.RawMessage `json:"stop_conditions"`
}

func readUpstream(t *testing.T) upstream {
	t.Helper()
	text, err := os.ReadFile("testdata/triggers.v0.1.json")
	if err != nil {
		t.Fatal(err)
	}
	var u upstream
	if err := json.Unmarshal(text, &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// said is every value of a condition by its key.
func said(v any, out map[string][]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch value := value.(type) {
			case string:
				out[key] = append(out[key], value)
			case []any:
				for _, item := range value {
					if text, ok := item.(string); ok {
						out[key] = append(out[key], text)
					} else {
						said(item, out)
					}
				}
			case bool:
				out[key] = append(out[key], "true")
			default:
				said(value, out)
			}
		}
	case []any:
		for _, item := range v {
			said(item, out)
		}
	}
}

func saidBy(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	said(v, out)
	return out
}

// Ids, actions and predicates of the older catalogue hold in ours: a pattern is
// there as it was, or with any folder before it.
func TestTheDocumentExtendsTheOlderCatalogue(t *testing.T) {
	document := trigger.List("codex")
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var ours upstream
	if err := json.Unmarshal(text, &ours); err != nil {
		t.Fatal(err)
	}
	old := readUpstream(t)
	if len(old.Rules) != 11 || len(ours.Rules) != len(trigger.Catalogue()) {
		t.Fatal(len(old.Rules), len(ours.Rules))
	}
	for _, rule := range old.Rules {
		i := slices.IndexFunc(ours.Rules, func(r struct {
			ID, Action string
			When       json.RawMessage
		},
		) bool {
			return r.ID == rule.ID
		})
		if i < 0 || ours.Rules[i].Action != rule.Action {
			t.Errorf("%s is gone or does something else", rule.ID)
			continue
		}
		now := saidBy(t, ours.Rules[i].When)
		for key, values := range saidBy(t, rule.When) {
			for _, v := range values {
				deeper := "**/" + strings.TrimPrefix(v, "**/")
				if !slices.Contains(now[key], v) && !slices.Contains(now[key], deeper) {
					t.Errorf("%s: %s %q is not in %v", rule.ID, key, v, now[key])
				}
			}
		}
	}
	was, is := saidBy(t, old.Stop), saidBy(t, ours.Stop)
	for _, key := range []string{"detect_returns", "file_absent", "user_did_not_request"} {
		if len(was[key]) == 0 || !slices.Equal(was[key], is[key]) {
			t.Errorf("stop: %s was %v and is %v", key, was[key], is[key])
		}
	}
}

// What the document says of a path is what the rule does.
func TestTheDocumentSaysWhatTheRulesTry(t *testing.T) {
	checked := 0
	for _, rule := range trigger.List("codex").Rules {
		if rule.Action == trigger.SkipShipgate || rule.ID == "TRIGGER-FRAMEWORK-VERSION-BUMP" {
			continue
		}
		text, err := json.Marshal(rule.When)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range saidBy(t, text)["glob"] {
			path := strings.NewReplacer("**/", "a/", "/**", "/b", "*", "x").Replace(pattern)
			if !surface.MatchGlob(pattern, path) {
				t.Fatalf("%q does not match %q", pattern, path)
			}
			held := false
			for _, m := range trigger.Evaluate(trigger.Input{ChangedFiles: []string{path}}).MatchedRules {
				held = held || m.ID == rule.ID
			}
			if !held {
				t.Errorf("%s does not hold for %q", rule.ID, path)
			}
			checked++
		}
	}
	if checked < 40 {
		t.Errorf("only %d patterns", checked)
	}
}

func TestTheStopBlock(t *testing.T) {
	nothing := trigger.Detected{Complete: true}
	export := trigger.Input{ChangedFiles: []string{"config/mcp.json"}}
	for _, c := range []struct {
		name             string
		in               trigger.Input
		requested        bool
		detected         trigger.Detected
		evaluated, fired bool
	}{
		{"nothing of the gate's business", export, false, nothing, true, true},
		{"a person asked", export, true, nothing, false, false},
		{"a manifest", trigger.Input{ChangedFiles: export.ChangedFiles, ManifestPresent: true}, false, nothing, false, false},
		{"an agent", export, false, trigger.Detected{Complete: true, AgentProject: true}, true, false},
		{"a source", export, false, trigger.Detected{Complete: true, Sources: 1}, true, false},
		{"a plugin", export, false, trigger.Detected{Complete: true, Plugins: 1}, true, false},
		{"nobody looked at all of it", export, false, trigger.Detected{}, false, false},
		{"the configuration of a host", trigger.Input{ChangedFiles: []string{".claude/settings.json"}}, false, nothing, true, false},
	} {
		r := trigger.Evaluate(c.in).Stop(c.in, c.requested, c.detected)
		if r.StopConditionsEvaluated != c.evaluated || r.StopConditionsFired != c.fired {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r.RunShipgate == c.fired || c.fired && (r.DryRunRecommended || r.NextAction != nil || *r.SkipReason != trigger.Stopped) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
