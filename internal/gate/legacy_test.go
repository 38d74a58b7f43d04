package gate_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
)

// older is the bundled results that are older than permissions.
func older(t testing.TB) map[string][]byte {
	t.Helper()
	examples, err := plimsoll.AgentProtocol()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(examples, "legacy/*.json")
	if err != nil || len(names) < 8 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		if out[strings.TrimSuffix(strings.TrimPrefix(name, "legacy/"), ".json")], err = fs.ReadFile(examples, name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A complete result gives every permission, any other one none: an older result
// never lets anything be published.
func TestAnOlderResultGivesThePermissionsOfItsState(t *testing.T) {
	for name, text := range older(t) {
		if name == "expected" || strings.HasPrefix(name, "damaged-") {
			continue
		}
		r, err := gate.DecodeLegacy(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all := r.Control.State() == control.Complete
		if got := r.Control.Permissions(); got != (control.Permissions{Edit: all, Commit: all, Push: all, UpdatePR: all, Merge: all, ReportComplete: all}) {
			t.Errorf("%s: %s gives %+v", name, r.Control.State(), got)
		}
		if r.Agent == "" || r.Summary == "" || r.SchemaVersion == "" {
			t.Errorf("%s: lost something: %+v", name, r)
		}
	}
}

func TestADamagedOlderResultIsRefused(t *testing.T) {
	samples := older(t)
	verify, complete := string(samples["agent-result-v1-verify"]), string(samples["agent-result-v1-complete"])
	swap := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for name, text := range map[string]string{
		"completion of a pending action": string(samples["damaged-completion"]),
		"publication":                    string(samples["damaged-publication"]),
		"permissions":                    string(samples["damaged-permissions"]),
		"complete although blocked":      swap(complete, `"decision": "allow"`, `"decision": "block"`),
		"complete although reviewed":     swap(complete, `"decision": "allow"`, `"decision": "require_review"`),
		"an unknown decision":            swap(verify, `"decision": "warn"`, `"decision": "fine"`),
		"an unknown format":              swap(verify, "agent_result_v1", "agent_result_v0"),
		"no format":                      swap(verify, `"schema_version"`, `"schema"`),
		"no control":                     swap(verify, `"control"`, `"controls"`),
		"a control twice":                swap(verify, `"control": {`, `"control": {}, "control": {`),
		"a control in another case":      swap(verify, `"control": {`, `"Control": {"state": "complete"}, "control": {`),
		"a member in another case":       swap(verify, `"completion_allowed": false`, `"completion_allowed": false, "Must_Stop": true`),
		"an unknown member of control":   swap(verify, `"completion_allowed": false`, `"completion_allowed": false, "more": true`),
		"another command":                swap(verify, `"allowed_next_commands": [`, `"allowed_next_commands": ["rm", `),
		"half a document":                verify[:len(verify)/2],
		"two documents":                  verify + verify,
		"nothing":                        "",
		"a list":                         "[]",
	} {
		if r, err := gate.DecodeLegacy([]byte(text)); err == nil || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: read as %+v, %v", name, r, err)
		}
	}
	if _, err := gate.DecodeLegacy(make([]byte, gate.MaxLegacy+1)); err == nil {
		t.Error("a result of any size is read")
	}
}

// The current format without a permission vector is an older result too.
func TestACurrentResultWithoutPermissionsIsAnOlderOne(t *testing.T) {
	text := strings.Replace(string(older(t)["agent-result-v1-complete"]), gate.LegacyResultName, gate.SchemaVersion, 1)
	r, err := gate.DecodeLegacy([]byte(text))
	if err != nil || r.Control.State() != control.Complete {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzDecodeLegacy(f *testing.F) {
	for _, text := range older(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := gate.DecodeLegacy(text)
		if err != nil {
			return
		}
		p := r.Control.Permissions()
		if complete := r.Control.State() == control.Complete; p.UpdatePR != complete || p.Merge != complete {
			t.Errorf("%s gives %+v", r.Control.State(), p)
		}
		if !json.Valid(text) || !slices.Contains([]string{gate.LegacyResultName, gate.CodexSchemaVersion, gate.SchemaVersion}, r.SchemaVersion) {
			t.Errorf("read %q", text)
		}
	})
}
