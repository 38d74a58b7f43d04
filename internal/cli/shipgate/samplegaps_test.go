package shipgate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/verify/check"
	declarations "plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
)

func itoa(n int) string { return strconv.Itoa(n) }

// sampleTemplate is a declaration that asks.
type sampleTemplate struct {
	File     string `json:"target_file"`
	Key      string
	Edits    []sampleTemplateEdit
	Variants []struct {
		When  string
		Edits []sampleTemplateEdit
	}
}

type sampleTemplateEdit struct {
	Kind    check.PatchKind
	Pointer string
	Value   any
	Line    int
}

// knowledge is what the team of a sample declared, to answer questions with.
type knowledge struct {
	AgentBindings struct {
		Declarations []map[string]any
	} `yaml:"agent_bindings"`
	ActionSurface struct {
		Actions []map[string]any
	} `yaml:"action_surface"`
	Agent struct{ Name string }
}

// answers are the values of a gap's subject by the last part of their keys.
func (k *knowledge) answers(subject string) map[string]any {
	all := map[string]any{"complete": true, "reason": "reviewed"}
	for _, row := range k.AgentBindings.Declarations {
		if row["agent"] == subject || row["agent"] == "root" {
			maps.Copy(all, row)
		}
	}
	for _, row := range k.ActionSurface.Actions {
		if row["tool"] != subject {
			continue
		}
		maps.Copy(all, row)
		if authority, ok := row["authority"].(map[string]any); ok {
			maps.Copy(all, authority)
		}
	}
	return all
}

// filled is a template's edits with every question answered.
func (k *knowledge) filled(t *testing.T, g *sampleGap) []patch.Edit {
	t.Helper()
	known := k.answers(g.Subject)
	tpl := g.Next.Template
	edits := tpl.Edits
	key := tpl.Key[strings.LastIndexByte(tpl.Key, '.')+1:]
	for _, v := range tpl.Variants {
		if v.When == known[key] {
			edits = v.Edits
		}
	}
	var out []patch.Edit
	for _, e := range edits {
		last := e.Pointer[strings.LastIndexByte(e.Pointer, '/')+1:]
		out = append(out, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: fill(t, g, e.Value, last, known)})
	}
	return out
}

// controls are the safeguards that the team declared, as edits of a manifest.
func (k *knowledge) controls(t *testing.T, text string) []patch.Edit {
	t.Helper()
	var now knowledge
	if err := yaml.Unmarshal([]byte(text), &now); err != nil {
		t.Fatal(err)
	}
	var edits []patch.Edit
	for i, row := range now.ActionSurface.Actions {
		for _, said := range k.ActionSurface.Actions {
			if said["tool"] == row["tool"] && said["safeguards"] != nil {
				edits = append(edits, patch.Edit{
					Kind: check.SetPointer, Pointer: "/action_surface/actions/" + itoa(i) + "/safeguards", Value: said["safeguards"],
				})
			}
		}
	}
	return edits
}

func fill(t *testing.T, g *sampleGap, value any, key string, known map[string]any) any {
	t.Helper()
	answer := func() any {
		said, ok := known[key]
		if !ok {
			t.Fatalf("nobody knows %s of %s: %s", key, g.Subject, g.Next.Expects)
		}
		raw, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatal(err)
		}
		return plain
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = fill(t, g, member, name, known)
		}
		return out
	case []any:
		if len(v) == 1 && v[0] == declarations.Review {
			return answer()
		}
	case string:
		if v == declarations.Review {
			return answer()
		}
	}
	return value
}

// asking is a sample whose team has declared nothing yet of what only people
// know: which tools an agent has, what they do, with whose authority. The code
// of the monorepo shows all of its agents, so nothing would ask for the tools
// that its deployment adds to them: these it keeps.
func asking(t *testing.T, files map[string]string, name string) map[string]string {
	t.Helper()
	out := maps.Clone(files)
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(files["shipgate.yaml"]), &node); err != nil {
		t.Fatal(err)
	}
	top := node.Content[0]
	for i := 0; i < len(top.Content); i += 2 {
		if key := top.Content[i].Value; key == "action_surface" || key == "agent_bindings" && name != "monorepo" {
			top.Content = slices.Delete(top.Content, i, i+2)
			i -= 2
		}
	}
	text, err := yaml.Marshal(&node)
	if err != nil {
		t.Fatal(err)
	}
	out["shipgate.yaml"] = string(text)
	return out
}

var (
	keyOfGap  = regexp.MustCompile(`^key (\S+) in shipgate\.yaml (?:at|after) line (\d+): `)
	readiness = regexp.MustCompile(`REVIEW_REQUIRED`)
)

// unanswered is the decision about a sample without its declarations. A write
// that its protocol proves and that has no scopes is for a person first (§8.2).
var unanswered = map[string]string{
	"go-mcp": "insufficient_evidence", "monorepo": "insufficient_evidence", "n8n-flow": "review_required",
	"openapi-service": "insufficient_evidence", "python-agent": "insufficient_evidence", "typescript-mcp": "insufficient_evidence",
}

// Without its declarations a sample is not refused with a shrug: each gap names
// one key and its line, the template alone is no answer, and the answers that
// the team gave lead back to a pass.
func TestEveryGapOfASampleIsClosedByItsAnswer(t *testing.T) {
	t.Parallel()
	for _, name := range sampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := sampleFiles(t, name)
			var known knowledge
			if err := yaml.Unmarshal([]byte(files["shipgate.yaml"]), &known); err != nil {
				t.Fatal(err)
			}
			controlled := false
			r := newSampleRepo(t, asking(t, files, name))
			for step := 0; ; step++ {
				a := r.verify(t)
				gaps := a.Release.Coverage.Gaps
				if a.Decision == "passed" && step > 0 {
					return
				}
				if len(gaps) == 0 && step > 0 && !controlled {
					// What an answer says may ask for controls; those are findings with a place.
					controlled = true
					for _, b := range a.Release.Blockers {
						if !strings.HasPrefix(b.CheckID, "SHIP-ACTION-") || !strings.HasSuffix(b.CheckID, "-MISSING") {
							t.Errorf("the answers lead to %s", b.CheckID)
						}
					}
					r.answer(t, known.controls(t, r.files["shipgate.yaml"]))
					continue
				}
				if step == 0 && a.Decision != unanswered[name] || step == 40 || len(gaps) == 0 || a.CanMerge {
					t.Fatalf("after %d answers %s: %s\n%s\n%s", step, a.Decision, a.Release.Reason, r.text(t), r.files["shipgate.yaml"])
				}
				for i := range gaps {
					namesItsKey(t, r, &gaps[i])
				}
				if step == 0 {
					asksAndNeverAnswers(t, r, &gaps[0])
				}
				r.answer(t, known.filled(t, &gaps[0]))
			}
		})
	}
}

// namesItsKey holds a gap to what a person needs: one key, the file, a line that
// is there, and a patch.
func namesItsKey(t *testing.T, r *sampleRepo, g *sampleGap) {
	t.Helper()
	said := keyOfGap.FindStringSubmatch(g.Next.Expects)
	if said == nil || g.Next.Path != "shipgate.yaml" || g.Next.Template == nil || len(g.Next.Template.Edits) == 0 {
		t.Fatalf("%s of %s says %q and gives %+v", g.Kind, g.Subject, g.Next.Expects, g.Next.Template)
	}
	lines := strings.Count(r.files["shipgate.yaml"], "\n")
	if n, err := strconv.Atoi(said[2]); err != nil || n < 1 || n > lines {
		t.Errorf("%s of %s names line %s of %d", g.Kind, g.Subject, said[2], lines)
	}
	if !strings.HasSuffix(said[1], g.Next.Template.Key) {
		t.Errorf("%s of %s names the key %s, its template %s", g.Kind, g.Subject, said[1], g.Next.Template.Key)
	}
	for _, e := range g.Next.Template.Edits {
		if e.Line < 1 || e.Line > lines {
			t.Errorf("%s of %s edits line %d of %d", g.Kind, g.Subject, e.Line, lines)
		}
	}
}

// asksAndNeverAnswers applies a template as it stands: the manifest is refused
// until somebody answers.
func asksAndNeverAnswers(t *testing.T, r *sampleRepo, g *sampleGap) {
	t.Helper()
	before := r.files
	var edits []patch.Edit
	for _, e := range g.Next.Template.Edits {
		edits = append(edits, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: e.Value})
	}
	r.answer(t, edits)
	env := shipgate.Env{Dir: r.dir, Environ: append(os.Environ(), quietGit(r.dir)...)}
	code, _, errs := call(env, "", []string{"verify", "--json", "--today", "2026-11-30"})
	if code != 2 || !readiness.Match(errs) {
		t.Errorf("a question counts as an answer: exit %d\n%s", code, errs)
	}
	r.put(t, before)
	r.commit(t)
}

func (r *sampleRepo) answer(t *testing.T, edits []patch.Edit) {
	t.Helper()
	text, failed := patch.Apply([]byte(r.files["shipgate.yaml"]), patch.YAML, edits...)
	if failed != nil {
		t.Fatalf("%v\n%+v", failed, edits)
	}
	files := maps.Clone(r.files)
	files["shipgate.yaml"] = string(text)
	r.put(t, files)
	r.commit(t)
}

// A harmless change of a sample: what moves, and whether the manifest has to say
// where to.
type harmless struct {
	sample, what string
	change       func(t *testing.T, files map[string]string) map[string]string
	manifest     bool
	another      bool // the file is part of what a tool is: the same tools go and come
}

func relocated(from, to string, more ...sampleEdit) func(*testing.T, map[string]string) map[string]string {
	return func(t *testing.T, files map[string]string) map[string]string {
		t.Helper()
		out := maps.Clone(files)
		if out[from] == "" {
			t.Fatalf("there is no %s", from)
		}
		out[to] = out[from]
		delete(out, from)
		return edited(t, out, more...)
	}
}

func touched(edits ...sampleEdit) func(*testing.T, map[string]string) map[string]string {
	return func(t *testing.T, files map[string]string) map[string]string {
		t.Helper()
		return edited(t, files, edits...)
	}
}

var harmlessChanges = []harmless{
	{sample: "python-agent", what: "a module is renamed", change: relocated("desk/tools/loans.py", "desk/tools/lending.py", sampleEdit{"desk/agent.py", "desk.tools.loans", "desk.tools.lending"})},
	{sample: "python-agent", what: "the folder is renamed", manifest: true, change: func(t *testing.T, files map[string]string) map[string]string {
		t.Helper()
		out := map[string]string{}
		for p, text := range files {
			if strings.HasPrefix(p, "desk/") || p == "shipgate.yaml" {
				p, text = strings.Replace(p, "desk/", "counter/", 1), strings.NewReplacer("from desk", "from counter", "path: desk", "path: counter", "desk/agent.py", "counter/agent.py").Replace(text)
			}
			out[p] = text
		}
		return out
	}},
	{sample: "python-agent", what: "comments and lines", change: touched(
		sampleEdit{"desk/tools/books.py", "@function_tool\nasync", "# Words are matched in every language.\n\n\n@function_tool\nasync"},
		sampleEdit{"desk/agent.py", "        search_books,\n        shelf_of,\n", "        search_books, shelf_of,  # books\n"})},
	{sample: "python-agent", what: "other order", change: touched(sampleEdit{"desk/agent.py", "        search_books,\n        shelf_of,\n", "        shelf_of,\n        search_books,\n"})},
	{sample: "typescript-mcp", what: "a module is renamed", change: relocated("src/tools/bookings.ts", "src/tools/reservations.ts", sampleEdit{"src/index.ts", "tools/bookings", "tools/reservations"})},
	{sample: "typescript-mcp", what: "the list moves", manifest: true, change: relocated("tools.json", "docs/tools.json", sampleEdit{"shipgate.yaml", "path: tools.json", "path: docs/tools.json"})},
	{sample: "typescript-mcp", what: "a comment and other order", change: touched(
		sampleEdit{"src/index.ts", "registerRooms(server, calendar);\nregisterBookings(server, calendar);", "registerBookings(server, calendar);\n/* rooms last */\nregisterRooms(server, calendar);"})},
	{sample: "go-mcp", what: "files are merged and renamed", change: func(t *testing.T, files map[string]string) map[string]string {
		t.Helper()
		out := relocated("tools/tools.go", "tools/register.go", sampleEdit{"tools/register.go", "", strings.TrimPrefix(files["tools/args.go"], "package tools\n")})(t, files)
		delete(out, "tools/args.go")
		return out
	}},
	{sample: "go-mcp", what: "a comment in code and list", change: touched(
		sampleEdit{"tools/tools.go", "\tmcp.AddTool(server, &mcp.Tool{\n\t\tName:        listBuilds,", "\t// reading comes first\n\tmcp.AddTool(server, &mcp.Tool{\n\t\tName: listBuilds,"},
		sampleEdit{"tools.yaml", "  - name: promote_build", "  # the only one that changes anything\n  - name: promote_build"})},
	{sample: "openapi-service", what: "the contract is renamed", manifest: true, change: relocated("api/parcels.yaml", "contract/openapi.yaml", sampleEdit{"shipgate.yaml", "path: api/parcels.yaml", "path: contract/openapi.yaml"})},
	{sample: "openapi-service", what: "comments and quotes", change: touched(
		sampleEdit{"api/parcels.yaml", "info: {title: Parcels, version: \"2.1\"}", "# of the second system\ninfo:\n  title: 'Parcels'\n  version: '2.1'"})},
	{sample: "n8n-flow", what: "nodes are moved on the canvas and in the file", change: func(t *testing.T, files map[string]string) map[string]string {
		t.Helper()
		var flow map[string]any
		if err := json.Unmarshal([]byte(files["flows/greenhouse.json"]), &flow); err != nil {
			t.Fatal(err)
		}
		nodes := flow["nodes"].([]any)
		slices.Reverse(nodes)
		for i, n := range nodes {
			n.(map[string]any)["position"] = []int{i * 10, 7}
		}
		text, err := json.MarshalIndent(flow, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		out := maps.Clone(files)
		out["flows/greenhouse.json"] = string(text)
		return out
	}},
	{sample: "n8n-flow", what: "the flow is renamed", another: true, change: relocated("flows/greenhouse.json", "flows/plants.json")},
	{sample: "monorepo", what: "a service moves", manifest: true, change: relocated("services/mail/tools.json", "services/outbox/tools.json", sampleEdit{"shipgate.yaml", "services/mail/tools.json", "services/outbox/tools.json"})},
	{sample: "monorepo", what: "a helper moves and a comment comes", change: relocated("apps/assistant/pricing.py", "apps/assistant/taxes.py",
		sampleEdit{"apps/assistant/assistant.py", "from .pricing", "# prices include tax\nfrom .taxes"})},
}

// Whatever is renamed, moved, commented or put in another order: no capability
// changed, and where the manifest says the new place, that alone is looked at.
func TestHarmlessChangesOfSamplesChangeNothing(t *testing.T) {
	t.Parallel()
	for _, c := range harmlessChanges {
		t.Run(c.sample+"/"+c.what, func(t *testing.T) {
			t.Parallel()
			files := sampleFiles(t, c.sample)
			r := newSampleRepo(t, files)
			r.verify(t)
			before := r.semanticHash(t)
			r.put(t, c.change(t, files))
			a := r.verify(t)
			if c.another {
				// §5.2: a workflow is told from another by its file.
				if a.Review.Added != 2 || a.Review.Removed != 2 || a.Review.Modified != 0 || a.Decision != "passed" {
					t.Errorf("%s: %+v", a.Decision, a.Review)
				}
				return
			}
			if a.Review.Added+a.Review.Modified+a.Review.Removed+len(a.Review.Notes) > 0 {
				t.Errorf("capabilities changed: %+v", a.Review)
			}
			if after := r.semanticHash(t); after != before {
				t.Errorf("the hash of the capabilities was %s and is %s", before, after)
			}
			var asked []string
			for _, item := range a.Release.ReviewItems {
				asked = append(asked, item.CheckID)
			}
			switch {
			case !c.manifest && (a.Decision != "passed" || !a.CanMerge):
				t.Errorf("%s: %s\n%s", a.Decision, a.Release.Reason, r.text(t))
			case c.manifest && (a.Decision != "review_required" || !slices.Equal(asked, []string{
				"SHIP-AGENT-BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED", "SHIP-VERIFY-TRUST-ROOT-TOUCHED",
			})):
				t.Errorf("%s: %s\n%s", a.Decision, fmt.Sprint(asked), r.text(t))
			}
		})
	}
}

// A repository whose tools stand in code alone is told what is missing: a list.
// The list that is suggested, and the binding that the template asks for, are
// enough.
func TestCodeIsCompletedByTheSuggestedList(t *testing.T) {
	t.Parallel()
	for sample, c := range map[string]struct{ list, source string }{
		"python-agent": {"desk/tools.json", "desk_code"}, "typescript-mcp": {"tools.json", "server"}, "go-mcp": {"tools.yaml", "code"},
	} {
		t.Run(sample, func(t *testing.T) {
			t.Parallel()
			files := sampleFiles(t, sample)
			delete(files, c.list)
			var m map[string]any
			if err := yaml.Unmarshal([]byte(files["shipgate.yaml"]), &m); err != nil {
				t.Fatal(err)
			}
			delete(m, "tool_identity")
			m["tool_sources"] = m["tool_sources"].([]any)[:1]
			text, err := yaml.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			files["shipgate.yaml"] = string(text)
			r := newSampleRepo(t, files)
			a := r.verify(t)
			if a.Decision == "passed" || len(a.Release.Coverage.Gaps) == 0 {
				t.Fatalf("code alone: %s\n%s", a.Decision, r.text(t))
			}
			with := maps.Clone(r.files)
			with["listed.json"] = suggestedList(t, r, c.source)
			r.put(t, with)
			// All gaps are answered together, as suggested-declarations.yaml asks them.
			var edits []patch.Edit
			for i := range a.Release.Coverage.Gaps {
				g := &a.Release.Coverage.Gaps[i]
				known := map[string]any{"path": "listed.json", "provider": "team", "reason": "made from the code", "id": g.Subject}
				for _, e := range g.Next.Template.Edits {
					if e.Pointer == "/tool_sources" && i > 0 {
						continue // one list for all
					}
					edits = append(edits, patch.Edit{Kind: e.Kind, Pointer: e.Pointer, Value: fill(t, g, e.Value, "", known)})
				}
			}
			r.answer(t, edits)
			if a := r.verify(t); a.Decision != "passed" || !a.CanMerge {
				t.Errorf("%s\n%s", r.text(t), r.files["shipgate.yaml"])
			}
		})
	}
}

// suggestedList is the content of suggested-inventory.json for one source.
func suggestedList(t *testing.T, r *sampleRepo, source string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "agents-shipgate-reports", "suggested-inventory.json"))
	if err != nil {
		t.Fatal(err)
	}
	var suggested struct {
		Inventories []struct {
			SourceID string `json:"source_id"`
			Content  json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &suggested); err != nil || len(suggested.Inventories) != 1 || suggested.Inventories[0].SourceID != source {
		t.Fatalf("%v: %s", err, text)
	}
	return string(suggested.Inventories[0].Content)
}
