package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/report"
	"plimsoll.dev/internal/verify/tool"
)

func TestTheReportKeepsItsSchema(t *testing.T) {
	for name, in := range map[string]*report.Input{"a bit of everything": given(t), "clean": clean(t)} {
		t.Run(name, func(t *testing.T) {
			text, err := report.New(in).JSON()
			valid(t, "report.v0.34", text, err)
			again, _ := report.New(in).JSON()
			if !bytes.Equal(text, again) {
				t.Error("two reports of one run differ")
			}
			if !bytes.HasSuffix(text, []byte("}\n")) || !bytes.HasPrefix(text, []byte("{\n  \"report_schema_version\"")) {
				t.Error("an artifact is indented by two and ends with one newline")
			}
			if bytes.Contains(text, []byte("\\u003c")) {
				t.Error("text is printed as it is, not escaped for HTML")
			}
		})
	}
}

// topLevel is §10.1.
const topLevel = `report_schema_version run_id manifest_dir project agent environment summary release_decision findings tool_catalog
	tool_inventory binding_surface_facts policy_evidence_gaps capability_facts declared_intentions misalignments release_consequence
	suggested_scenarios tool_surface_facts tool_surface_diff action_surface_facts action_surface_diff capability_change
	protected_surface_changes effective_policy human_ack verifier_summary reviewer_summary agent_summary privacy_audit heuristics_filter
	capability_runtime_evidence codex_plugin_surface loaded_policy_packs loaded_plugins source_warnings baseline generated_reports`

func TestTheReportHasTheMembersOfTheSpecificationInItsOrder(t *testing.T) {
	text, err := report.New(given(t)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var got []string
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key.(string))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Fields(topLevel); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestNoSecretIsPrinted(t *testing.T) {
	in := given(t)
	text, err := report.New(in).JSON()
	if err != nil {
		t.Fatal(err)
	}
	sarif, err := printedSARIF(in, "1")
	if err != nil {
		t.Fatal(err)
	}
	v := verifierOf(t, in)
	for name, text := range map[string][]byte{
		"report.json": text, "report.md": report.Markdown(in), "report.sarif": sarif, "pr-comment.md": report.Comment(in, v, report.CapabilityFirst),
	} {
		for _, s := range []string{"abcd1234", "hunter" + "2"} {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s prints %s", name, s)
			}
		}
	}
}

func TestTheReportHoldsWhatWasDecidedAndSuppressedFindings(t *testing.T) {
	in := given(t)
	text, err := report.New(in).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Decision struct{ Decision string } `json:"release_decision"`
		Findings []struct {
			ID         string
			Suppressed bool
		}
		Catalog   []struct{ Name string }                                      `json:"tool_catalog"`
		Inventory []struct{ Name string }                                      `json:"tool_inventory"`
		Change    struct{ Added, Removed, Modified []struct{ Impact string } } `json:"capability_change"`
		Agent     struct {
			First struct{ Kind string } `json:"first_recommended_action"`
		} `json:"agent_summary"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Decision.Decision != "blocked" || len(got.Findings) != 5 || got.Findings[0].ID != "fp_0000000000000002" {
		t.Errorf("decision and findings: %+v", got)
	}
	if len(got.Catalog) != 3 || len(got.Inventory) != 2 {
		t.Errorf("%d tools known, %d reached", len(got.Catalog), len(got.Inventory))
	}
	if len(got.Change.Added) != 1 || len(got.Change.Modified) != 1 || len(got.Change.Removed) != 1 {
		t.Errorf("changes: %+v", got.Change)
	}
	if got.Agent.First.Kind != "review" {
		t.Errorf("first action: %+v", got.Agent)
	}
}

// What stands elsewhere is named: a tool of the inventory in the catalog, a
// capability by the digest of its line in the lock.
func TestTheReportSaysWhatItSaysOnce(t *testing.T) {
	in := given(t)
	text, err := report.New(in).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Catalog   []map[string]any    `json:"tool_catalog"`
		Inventory []map[string]string `json:"tool_inventory"`
		Facts     []map[string]string `json:"capability_facts"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var reached []map[string]string
	for _, tool := range got.Catalog {
		if tool["reach"] == "reachable" {
			reached = append(reached, map[string]string{"tool_id": tool["tool_id"].(string), "name": tool["name"].(string)})
		}
	}
	if diff := cmp.Diff(reached, got.Inventory); diff != "" {
		t.Errorf("the inventory is not what the catalog calls reachable:\n%s", diff)
	}
	lock, err := delta.NewLock(in.Head, delta.Meta{ConfigPath: "shipgate.yaml", ManifestDir: "."})
	if err != nil {
		t.Fatal(err)
	}
	file, err := lock.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]string
	for line := range bytes.Lines(file) {
		row := bytes.Trim(line, " ,\n")
		if !bytes.HasPrefix(row, []byte(`{"id":"cap_`)) {
			continue
		}
		f := lock.Capabilities[len(want)]
		sum := sha256.Sum256(row)
		want = append(want, map[string]string{"id": f.ID, "tool_id": f.Identity.ToolID, "hash": "sha256:" + hex.EncodeToString(sum[:])})
	}
	if len(want) != 2 || !cmp.Equal(want, got.Facts) {
		t.Errorf("capabilities are not those of the lock:\n%s", cmp.Diff(want, got.Facts))
	}
}

func TestTheTopChangesAreTheWorstFirst(t *testing.T) {
	c := report.ChangeOf(given(t))
	top := c.Top()
	if len(top) != 3 || top[0].Impact != "blocks_release" || top[0].Bucket != "added" || top[1].Impact != "insufficient_evidence" || top[2].Impact != "none" {
		t.Errorf("top: %+v", top)
	}
	if got := string(top[0].SourcePath); got != "svc/tools.json" {
		t.Errorf("a place is relative to the Git root: %s", got)
	}
	r := c.Review()
	if r.Added != 1 || r.Modified != 1 || r.Removed != 1 {
		t.Errorf("counts: %+v", r)
	}
}

func TestWhatPluginsBringBesidesToolsIsNamed(t *testing.T) {
	in := clean(t)
	in.Head.Reading.Plugins = []tool.Plugin{{
		SourceID: "kit", Name: "kit", Root: "plugins/kit", Issues: []string{"missing_name"}, Hooks: 2,
		Components: []tool.Component{{Kind: "skills", Path: "skills", Reason: "missing"}},
		Skills:     []tool.Skill{{Name: "s", Path: "skills/s/SKILL.md"}},
		Servers:    []tool.PluginServer{{Name: "m", Path: ".mcp.json"}},
		Apps:       []tool.PluginApp{{Name: "a", Path: ".app.json"}},
	}}
	in.Head.Reading.Markets = []tool.Marketplace{{SourceID: "kit", Path: ".agents/plugins/marketplace.json", Entries: []tool.MarketEntry{{Plugin: "kit"}}}}
	text, err := report.New(in).JSON()
	valid(t, "report.v0.34", text, err)
	for _, want := range []string{`"hook_count":2`, `"inventory_path":null`, `"missing_fields":[]`, `"reason":"missing"`, `"plugin":"kit"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
	text, err = report.New(clean(t)).JSON()
	if err != nil || !bytes.Contains(text, []byte(`"codex_plugin_surface": null`)) {
		t.Errorf("without a plugin it is null: %v", err)
	}
}
