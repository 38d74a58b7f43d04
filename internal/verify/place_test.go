package verify_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/check"
)

// below is a run whose manifest lies in agents/a.
func below(in *verify.Input) {
	in.Config, in.ManifestPath, in.Dir = "agents/a/shipgate.yaml", "agents/a/shipgate.yaml", "/repo/agents/a"
	for i, name := range in.ChangedFiles {
		in.ChangedFiles[i] = "agents/a/" + name
	}
}

func TestPlacesAreRelativeToTheRootOfTheRepository(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	head := map[string]string{
		"shipgate.yaml": strings.NewReplacer("[{tool: get_order}]", "[{tool: get_order}, {tool: delete_order}]").Replace(readOnly) +
			"checks:\n  ignore: [{check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: gone, reason: short}]\nci: {mode: advisory}\n",
		"tools.json": strings.Replace(getOrder, `{"tools": [`, `{"tools": [
 {"name": "list_all", "description": "List.", "inputSchema": {"type": "object"}},
 {"name": "delete_order", "description": "Delete one order for good.", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}},`, 1),
	}
	r := run(t, base, head, below)
	seen := map[string]bool{}
	for _, f := range r.Evaluation.Findings {
		seen[f.Source.Type] = true
		if !strings.HasPrefix(f.Source.Path, "agents/a/") || strings.Count(f.Source.Path, "agents/a/") != 1 {
			t.Errorf("%s is about %q", f.CheckID, f.Source.Path)
		}
	}
	if !seen["mcp"] || !seen["git"] || !seen["manifest"] {
		t.Errorf("findings of %v", seen)
	}
	for i := range r.Actions.Rows {
		if got := r.Actions.Rows[i].SourcePath; got != "agents/a/tools.json" {
			t.Errorf("a changed action lies in %q", got)
		}
	}
	if shown := string(r.Text(false)); !strings.Contains(shown, "agents/a/tools.json:3") || strings.Contains(shown, " tools.json") || !strings.Contains(shown, "list_all, agents/a/tools.json:2") {
		t.Errorf("%s", shown)
	}
	list, err := r.Artifacts("out", verify.Program{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		text := string(a.Text())
		if strings.Contains(text, "agents/a/agents/a") {
			t.Errorf("%s names a place twice over", a.Name)
		}
		if at := strings.Index(text, "`tools.json"); at >= 0 {
			t.Errorf("%s names a place that is not one: %s", a.Name, text[at:min(at+40, len(text))])
		}
	}
}

func TestPlacesMoveNoFingerprint(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	head := map[string]string{"shipgate.yaml": readOnly, "tools.json": strings.Replace(getOrder, "Look up one order by its number.", "Go.", 1)}
	prints := func(r *verify.Run) (all []string) {
		for _, f := range r.Evaluation.Findings {
			all = append(all, f.CheckID+" "+f.Fingerprint)
		}
		slices.Sort(all)
		return all
	}
	at, down := prints(run(t, base, head, nil)), prints(run(t, base, head, below))
	if len(at) == 0 || !slices.Equal(at, down) {
		t.Errorf("at the root %v, below %v", at, down)
	}
}

// accepting is a run with a baseline that accepts nothing, saved as log says.
func accepting(log string, m string) (map[string]string, func(*verify.Input)) {
	files := map[string]string{"shipgate.yaml": readOnly + m, "tools.json": getOrder}
	if log != "" {
		files[".agents-shipgate/log.jsonl"] = log
	}
	return files, func(in *verify.Input) {
		in.Options.Baseline, in.Options.BaselinePath = []byte(emptyBaseline), ".agents-shipgate/baseline.json"
	}
}

const emptyBaseline = `{"schema_version": "0.5", "project": {"name": "shop"}, "findings": []}`

func TestABaselineIsHeldAgainstTheLogOfTheHead(t *testing.T) {
	saved := func(text string) string {
		log, err := check.AppendSaved(nil, check.Saved{At: "2026-11-01T00:00:00Z", Baseline: ".agents-shipgate/baseline.json", SHA256: check.HashOf([]byte(text)), RunID: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		return string(log)
	}
	mode := func(m string) string {
		return "baseline: {integrity_mode: " + m + ", audit_log: .agents-shipgate/log.jsonl}\n"
	}
	for name, c := range map[string]struct {
		log, manifest string
		want          check.Severity // of the finding; "" for none
	}{
		"as saved":             {saved(emptyBaseline), mode("strict"), ""},
		"another file, strict": {saved("{}"), mode("strict"), check.Critical},
		"another file, warn":   {saved("{}"), mode("warn"), check.Medium},
		"another file, off":    {saved("{}"), mode("off"), ""},
		"no log":               {"", mode("strict"), check.Critical},
		"a log that is none":   {"{\n", mode("strict"), check.Critical},
		"no log is named":      {saved("{}"), "baseline: {integrity_mode: strict}\n", ""},
		"a log outside":        {"", "baseline: {integrity_mode: strict, audit_log: ../log.jsonl}\n", check.Critical},
	} {
		t.Run(name, func(t *testing.T) {
			files, with := accepting(c.log, c.manifest)
			r := run(t, files, files, with)
			var got check.Severity
			for _, f := range r.Evaluation.Findings {
				if f.CheckID == "SHIP-BASELINE-INTEGRITY-MISMATCH" {
					got = f.Severity
					if f.Source.Path != ".agents-shipgate/baseline.json" {
						t.Errorf("it points at %q", f.Source.Path)
					}
				}
			}
			if got != c.want {
				t.Errorf("the finding is %q, want %q", got, c.want)
			}
			read := slices.ContainsFunc(r.HeadSide.Files, func(f verify.File) bool { return f.Path == ".agents-shipgate/log.jsonl" })
			if named := strings.Contains(c.manifest, "/log.jsonl") && c.log != "" && !strings.Contains(c.manifest, "../"); read != named {
				t.Errorf("the log is among the inputs: %t", read)
			}
		})
	}
}
