package verify_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/delta"
)

// told is the report.json of a run.
func told(t *testing.T, r *verify.Run) []byte {
	t.Helper()
	list, err := r.Artifacts("out", verify.Program{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.Name == "report.json" {
			return a.Text()
		}
	}
	t.Fatal("there is no report")
	return nil
}

func changesOf(d *delta.Actions) (all []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		all = append(all, fmt.Sprint(r.Type, r.ActionID, r.ToolID, r.AgentID, r.ToolName, r.Operation, r.Severity, canonical.Compact.String(r.Change())))
	}
	return all
}

// What a report says of the base gives the same rows as the base itself.
func TestAnEarlierReportShowsWhatTheBaseShows(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	heads := map[string]map[string]string{"as it was": maps.Clone(base)}
	for name, s := range map[string]struct{ path, from, to string }{
		"no tool":         {"shipgate.yaml", "[{tool: get_order}]", "[]"},
		"one scope more":  {"shipgate.yaml", `scopes: ["orders:read"], authority`, `scopes: ["orders:read", "orders:write"], authority`},
		"every scope":     {"shipgate.yaml", `scopes: ["orders:read"], authority`, `scopes: ["*"], authority`},
		"another effect":  {"shipgate.yaml", "effect: read", "effect: destructive"},
		"one field more":  {"tools.json", `"properties": {`, `"properties": {"reason": {"type": "string"}, `},
		"another name":    {"tools.json", `"name": "get_order"`, `"name": "fetch_order"`},
		"another summary": {"tools.json", "Look up one order", "Find one order"},
		"safeguards":      {"shipgate.yaml", "effect: read,", "effect: read, approval: {required: true}, safeguards: {rollback: true, dry_run: false},"},
	} {
		head := maps.Clone(base)
		if head[s.path] = strings.Replace(base[s.path], s.from, s.to, 1); head[s.path] == base[s.path] {
			t.Fatalf("%s changes nothing", name)
		}
		heads[name] = head
	}
	seen := map[delta.ActionChange]bool{}
	for before, old := range heads {
		first := run(t, old, old, nil)
		if first.Err != nil {
			continue // what cannot be read has no report either
		}
		earlier, err := verify.ReadEarlier("earlier.json", told(t, first))
		if err != nil {
			t.Fatalf("%s: %v", before, err)
		}
		for after, head := range heads {
			want := run(t, old, head, nil)
			got := run(t, nil, head, func(in *verify.Input) { in.Options.Earlier, in.BaseMissing = earlier, "not_requested" })
			if want.Err != nil {
				continue
			}
			if w, g := changesOf(want.Actions), changesOf(got.Actions); got.BaseStatus != "diff_from_provided" || fmt.Sprint(w) != fmt.Sprint(g) {
				t.Errorf("from %q to %q the base shows\n%q\nand its report\n%q", before, after, w, g)
			}
			for i := range got.Actions.Rows {
				seen[got.Actions.Rows[i].Type] = true
			}
			if got.CanMerge {
				t.Errorf("from %q to %q passes without a base", before, after)
			}
		}
	}
	for _, kind := range []delta.ActionChange{
		delta.ActionAdded, delta.ActionRemoved, delta.ScopeExpanded, delta.EffectEscalated, delta.ApprovalRemoved, delta.SafeguardRemoved, delta.InputSchemaExpanded,
	} {
		if !seen[kind] {
			t.Errorf("no change is %s", kind)
		}
	}
}

func TestAnEarlierReportIsAnInput(t *testing.T) {
	files := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	report := told(t, run(t, files, files, nil))
	plan := func(text []byte) []byte {
		r := run(t, files, files, func(in *verify.Input) {
			if text == nil {
				return
			}
			var err error
			if in.Options.Earlier, err = verify.ReadEarlier("earlier.json", text); err != nil {
				t.Fatal(err)
			}
		})
		list, err := r.Artifacts("out", verify.Program{Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			if a.Name == "verification-plan.json" {
				return a.Text()
			}
		}
		return nil
	}
	without, with, other := plan(nil), plan(report), plan(append(report, '\n'))
	if bytes.Equal(without, with) || bytes.Equal(with, other) || !bytes.Contains(with, []byte(`"path": "earlier.json"`)) {
		t.Error("the plan does not tell the reports apart")
	}
}
