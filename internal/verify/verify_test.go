package verify_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify"
)

const today = "2026-11-30"

func tree(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func run(t *testing.T, base, head map[string]string, more func(*verify.Input)) *verify.Run {
	t.Helper()
	in := verify.Input{
		Workspace: ".", Config: "shipgate.yaml", ManifestPath: "shipgate.yaml", Dir: "/repo", BaseRef: "origin/main",
		Options: verify.Options{Today: today},
	}
	in.Head = tree(head)
	in.HeadRoot = in.Head
	if base != nil {
		in.Base = tree(base)
		in.BaseRoot = in.Base
	}
	names := maps.Clone(head)
	maps.Copy(names, base)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if base[name] != head[name] {
			in.ChangedFiles = append(in.ChangedFiles, name)
		}
	}
	if more != nil {
		more(&in)
	}
	r, err := verify.Verify(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const readOnly = `version: "0.1"
project: {name: shop}
agent:
  name: helper
  declared_purpose: ["look up orders"]
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [{tool: get_order}], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: get_order, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
permissions: {scopes: ["orders:read"]}
`

const getOrder = `{"tools": [{"name": "get_order", "description": "Look up one order by its number.",
 "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "description": "number"}}, "required": ["id"]},
 "outputSchema": {"type": "object"},
 "annotations": {"readOnlyHint": true}}]}`

// checks are the ids of the findings that decided, blockers first.
func checks(r *verify.Run) []string {
	var ids []string
	for _, f := range r.Gating() {
		ids = append(ids, f.CheckID)
	}
	return ids
}

func TestAReviewedReadOnlyAgentPasses(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	r := run(t, files, files, nil)
	if r.Verdict != verify.Mergeable || !r.CanMerge || r.Control.State() != control.Complete || r.Fix != nil {
		t.Errorf("%s", r.Text(false))
	}
}

// holder is a tree that can say which bytes a file has, as a commit can.
type holder struct{ fstest.MapFS }

func (h holder) Holds(name string, text []byte) (fs.FileInfo, bool) {
	file, ok := h.MapFS[name]
	if !ok || string(file.Data) != string(text) {
		return nil, false
	}
	info, err := h.Stat(name)
	return info, err == nil
}

// A base that only says which files it has alike gives the same artifacts as one
// that is read.
func TestABaseNeedNotBeReadToBeCompared(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	for name, head := range map[string]map[string]string{
		"the same": base,
		"another tool": {"shipgate.yaml": readOnly, "tools.json": strings.Replace(getOrder, `{"tools": [`, `{"tools": [
 {"name": "delete_order", "description": "Delete one order.", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}},`, 1)},
	} {
		want := artifacts(t, run(t, base, head, nil))
		got := artifacts(t, run(t, base, head, func(in *verify.Input) { in.Base = holder{in.Base.(fstest.MapFS)} }))
		for file, text := range want {
			if got[file] != text {
				t.Errorf("%s: %s differs", name, file)
			}
		}
	}
}

// A head that was read while nobody knew yet what changed is judged as if it were
// read then, also one that cannot be.
func TestAHeadMayBeReadAhead(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	for name, head := range map[string]map[string]string{
		"readable":    {"shipgate.yaml": readOnly, "tools.json": strings.Replace(getOrder, "get_order", "wipe_order", 1)},
		"no list":     {"shipgate.yaml": readOnly, "tools.json": "{"},
		"no manifest": {"tools.json": getOrder},
	} {
		want := artifacts(t, run(t, base, head, nil))
		got := artifacts(t, run(t, base, head, func(in *verify.Input) {
			in.Ahead = verify.ReadAhead(in.Head, verify.LoadOptions{Name: "shipgate.yaml", Today: today})
			in.Head = tree(nil) // it is not read again
		}))
		if !maps.Equal(got, want) {
			t.Errorf("%s: the artifacts differ", name)
		}
	}
}

func artifacts(t *testing.T, r *verify.Run) map[string]string {
	t.Helper()
	list, err := r.Artifacts("out", verify.Program{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for i := range list {
		texts[list[i].Name] = string(list[i].Text())
	}
	return texts
}

func TestADestructiveToolIsFoundAndNamed(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	head := map[string]string{
		"shipgate.yaml": strings.Replace(readOnly, "[{tool: get_order}]", "[{tool: get_order}, {tool: delete_order}]", 1),
		"tools.json": strings.Replace(getOrder, `{"tools": [`, `{"tools": [
 {"name": "delete_order", "description": "Delete one order for good.",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, "annotations": {"destructiveHint": true}},`, 1),
	}
	r := run(t, base, head, nil)
	if r.Verdict != verify.BlockedFromMerge || r.Control.State() != control.HumanReviewRequired || r.Fix.Safe {
		t.Errorf("%s, %s", r.Verdict, r.Control.State())
	}
	if got := checks(r); len(got) == 0 || got[0] != "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING" {
		t.Errorf("decided by %v", got)
	}
	if len(r.Actions.Rows) != 1 || r.Actions.Rows[0].ToolName != "delete_order" || r.Actions.Rows[0].SourcePath != "tools.json" {
		t.Errorf("rows %+v", r.Actions.Rows)
	}
}

func TestTheGatesOwnInputsAreForPeople(t *testing.T) {
	base := map[string]string{
		"shipgate.yaml": readOnly + "ci: {mode: strict, fail_on: [critical, high]}\n", "tools.json": getOrder,
		"AGENTS.md":                             "Run shipgate check before you finish.\n<!-- agents-shipgate:start v=1 -->\nshipgate\n<!-- agents-shipgate:end -->\n",
		".github/workflows/agents-shipgate.yml": "on: pull_request\n",
	}
	with := func(more map[string]string) map[string]string {
		head := maps.Clone(base)
		maps.Copy(head, more)
		return head
	}
	manifest := base["shipgate.yaml"]
	for _, c := range []struct {
		name string
		head map[string]string
		want string // a check that decides; "" for none of this category
	}{
		{"a strict gate becomes advisory", with(map[string]string{"shipgate.yaml": strings.Replace(manifest, "mode: strict", "mode: advisory", 1)}), "SHIP-VERIFY-POLICY-WEAKENED"},
		{"a severity no longer fails", with(map[string]string{"shipgate.yaml": strings.Replace(manifest, "critical, high", "critical", 1)}), "SHIP-VERIFY-POLICY-WEAKENED"},
		{"more fails than before", with(map[string]string{"shipgate.yaml": strings.Replace(manifest, "critical, high", "critical, high, medium", 1)}), "SHIP-VERIFY-TRUST-ROOT-TOUCHED"},
		{
			"a check is ignored",
			with(map[string]string{"shipgate.yaml": manifest + "checks: {ignore: [{check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: get_order, reason: short}]}\n"}),
			"SHIP-VERIFY-BASELINE-OR-WAIVER-EXPANDED",
		},
		{
			"a check weighs less",
			with(map[string]string{"shipgate.yaml": manifest + "checks: {severity_overrides: {SHIP-DOC-MISSING-DESCRIPTION: low}}\n"}),
			"SHIP-VERIFY-POLICY-WEAKENED",
		},
		{
			"a finding is accepted",
			with(map[string]string{".agents-shipgate/baseline.json": `{"schema_version": "0.5", "findings": [{"fingerprint": "fp_0011223344556677"}]}`}),
			"SHIP-VERIFY-BASELINE-OR-WAIVER-EXPANDED",
		},
		{"the workflow is gone", without(base, ".github/workflows/agents-shipgate.yml"), "SHIP-VERIFY-CI-GATE-REMOVED"},
		{"the block is gone", with(map[string]string{"AGENTS.md": "Run shipgate check before you finish.\nshipgate\n"}), "SHIP-VERIFY-AGENT-INSTRUCTIONS-WEAKENED"},
		{"the mention is gone", with(map[string]string{"AGENTS.md": strings.Replace(base["AGENTS.md"], "Run shipgate check before you finish.", "Finish.", 1)}), "SHIP-VERIFY-AGENT-INSTRUCTIONS-WEAKENED"},
		{"another line of the instructions", with(map[string]string{"AGENTS.md": base["AGENTS.md"] + "Be kind.\n"}), "SHIP-VERIFY-TRUST-ROOT-TOUCHED"},
		{"the trigger catalog says otherwise", with(map[string]string{".agents-shipgate/triggers.json": `{"rules": []}`}), "SHIP-VERIFY-TRIGGER-CATALOG-DRIFT"},
		{"a text beside the gate", with(map[string]string{"README.md": "shipgate"}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, base, c.head, nil)
			got := checks(r)
			if c.want == "" {
				if !r.CanMerge {
					t.Errorf("%s", r.Text(false))
				}
				return
			}
			if !slices.Contains(got, c.want) || r.CanMerge || r.Fix.Safe || r.Control.State() == control.Complete {
				t.Errorf("%s by %v", r.Control.State(), got)
			}
			if c.want == "SHIP-VERIFY-TRUST-ROOT-TOUCHED" && slices.ContainsFunc(got, func(id string) bool { return id != c.want }) {
				t.Errorf("also %v", got)
			}
		})
	}
}

func without(files map[string]string, name string) map[string]string {
	rest := maps.Clone(files)
	delete(rest, name)
	return rest
}

func TestAFirstManifestIsAcceptedByAPersonOnce(t *testing.T) {
	r := run(t, map[string]string{"tools.json": getOrder}, map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}, nil)
	if got := checks(r); !slices.Contains(got, "SHIP-VERIFY-POLICY-BASE-ABSENT") || slices.Contains(got, "SHIP-VERIFY-POLICY-WEAKENED") {
		t.Errorf("decided by %v", got)
	}
	if r.BaseStatus != "missing_manifest" || r.Control.State() != control.ReviewPublishable {
		t.Errorf("base %s, %s", r.BaseStatus, r.Control.State())
	}
}

// A repair that an agent may make: the loop of §3.1 from the finding to complete.
func TestAStaleSuppressionIsRepairedByTheAgent(t *testing.T) {
	stale := readOnly + "checks:\n  ignore:\n    - {check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: gone, reason: was short}\n"
	files := map[string]string{"shipgate.yaml": stale, "tools.json": getOrder}
	r := run(t, files, files, func(in *verify.Input) { in.Options.Patches = true })
	next := r.Control.NextAction()
	if r.Control.State() != control.AgentActionRequired || next.Kind != control.Repair || !r.Fix.Safe || len(r.Fix.Patches) != 1 {
		t.Fatalf("%s", r.Text(false))
	}
	if next.Command != "agents-shipgate verify --base origin/main --json" {
		t.Errorf("rerun %q", next.Command)
	}
}

func TestAHeadThatCannotBeReadDecidesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		base  map[string]string
		head  map[string]string
		state control.State
		kind  control.Kind
	}{
		{"no manifest at all", map[string]string{}, map[string]string{"tools.json": getOrder}, control.AgentActionRequired, control.Configure},
		{"the manifest is removed", map[string]string{"shipgate.yaml": readOnly}, map[string]string{"tools.json": getOrder}, control.HumanReviewRequired, control.Review},
		{"a manifest that is none", map[string]string{}, map[string]string{"shipgate.yaml": "version: 7\n"}, control.HumanReviewRequired, control.Review},
		{"a source that is not there", map[string]string{}, map[string]string{"shipgate.yaml": readOnly}, control.HumanReviewRequired, control.Review},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, c.base, c.head, nil)
			if r.Execution != verify.Failed || r.Decision != nil || r.CanMerge || r.Verdict != verify.UnknownVerdict || r.Err == nil {
				t.Errorf("%s, %v", r.Execution, r.Err)
			}
			if r.Control.State() != c.state || r.Control.NextAction().Kind != c.kind || r.Control.Permissions() != (control.Permissions{}) {
				t.Errorf("%s", r.Text(false))
			}
		})
	}
}

func TestABaseThatCannotBeReadIsFetched(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	r := run(t, nil, files, func(in *verify.Input) { in.Gap = &verify.Gap{Reason: "refs_missing", Needs: []string{"origin/main"}} })
	next := r.Control.NextAction()
	if r.Execution != verify.Failed || next.Kind != control.FetchBase || next.Expects != "origin/main" || !r.Diff.FetchRepairable {
		t.Errorf("%s", r.Text(false))
	}
	r = run(t, nil, files, func(in *verify.Input) { in.Gap = &verify.Gap{Reason: "unrelated_histories"} })
	if r.Control.State() != control.HumanReviewRequired || r.Diff.FetchRepairable {
		t.Errorf("%s", r.Text(false))
	}
}

func TestAPreviewDecidesNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		head    map[string]string
		command string
	}{
		{"with a manifest", map[string]string{"shipgate.yaml": readOnly}, "agents-shipgate verify --base origin/main --json"},
		{"without one", map[string]string{}, "agents-shipgate init --workspace . --write --json"},
	} {
		r := run(t, map[string]string{}, c.head, func(in *verify.Input) { in.Options.Preview = true })
		if r.Execution != verify.NotRun || r.Decision != nil || r.Control.NextAction().Command != c.command || r.Control.Permissions() != (control.Permissions{}) {
			t.Errorf("%s: %s", c.name, r.Text(false))
		}
	}
}
