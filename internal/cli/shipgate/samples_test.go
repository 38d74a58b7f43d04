package shipgate_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

// sampleNames are the repositories of examples/verification.
var sampleNames = []string{"go-mcp", "monorepo", "n8n-flow", "openapi-service", "python-agent", "typescript-mcp"}

// sampleFiles is one of them by path.
func sampleFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join("..", "..", "..", "examples", "verification", name)
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(root), p)
		files[p] = string(text)
		return err
	})
	if err != nil || len(files) < 4 {
		t.Fatalf("%s holds %d files: %v", name, len(files), err)
	}
	return files
}

func TestEverySampleIsTried(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join("..", "..", "..", "examples", "verification"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if !slices.Equal(names, sampleNames) {
		t.Errorf("the samples are %v, tried are %v", names, sampleNames)
	}
}

// sampleRepo is a repository whose only commit is a sample.
type sampleRepo struct {
	dir   string
	files map[string]string // as they lie on disk
}

func newSampleRepo(t *testing.T, files map[string]string) *sampleRepo {
	t.Helper()
	r := &sampleRepo{dir: t.TempDir(), files: map[string]string{}}
	r.git(t, "init", "-q", "-b", "main")
	r.put(t, files)
	r.commit(t)
	return r
}

func (r *sampleRepo) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, append(cmd.Environ(), quietGit(r.dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r *sampleRepo) commit(t *testing.T) {
	t.Helper()
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", "a step")
}

// put makes the working tree hold files and nothing else.
func (r *sampleRepo) put(t *testing.T, files map[string]string) {
	t.Helper()
	for p := range r.files {
		if _, kept := files[p]; !kept {
			if err := os.Remove(filepath.Join(r.dir, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for p, text := range files {
		if r.files[p] == text && text != "" {
			continue
		}
		at := filepath.Join(r.dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.files = maps.Clone(files)
}

// sampleAnswer is what the tests of samples read of a verification.
type sampleAnswer struct {
	exit     int
	stderr   string
	Decision string
	Control  struct{ State string }
	CanMerge bool `json:"can_merge_without_human"`
	Release  struct {
		Reason   string
		Blockers []struct {
			CheckID string `json:"check_id"`
		}
		ReviewItems []struct {
			CheckID string `json:"check_id"`
		} `json:"review_items"`
		Coverage struct {
			Gaps []sampleGap `json:"evidence_gaps"`
		} `json:"evidence_coverage"`
	} `json:"release_decision"`
	Review struct {
		Added, Modified, Removed int
		TopChanges               []struct {
			ChangeType string `json:"change_type"`
			Subject    string
			SourcePath string `json:"source_path"`
			SourceLine int    `json:"source_start_line"`
		} `json:"top_changes"`
		Notes []string
	} `json:"capability_review"`
}

type sampleGap struct {
	Kind, Subject, Why string
	Next               struct {
		Path, Expects string
		Template      *sampleTemplate `json:"declaration_template"`
	} `json:"next_action"`
}

// verify verifies the working tree against its commit.
func (r *sampleRepo) verify(t *testing.T) *sampleAnswer {
	t.Helper()
	env := shipgate.Env{Dir: r.dir, Environ: append(os.Environ(), quietGit(r.dir)...)}
	code, out, errs := call(env, "", []string{"verify", "--json", "--today", "2026-11-30"})
	a := &sampleAnswer{exit: code, stderr: string(errs)}
	if err := json.Unmarshal(out, a); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errs)
	}
	return a
}

// text is what a person sees of the same.
func (r *sampleRepo) text(t *testing.T) string {
	t.Helper()
	env := shipgate.Env{Dir: r.dir, Environ: append(os.Environ(), quietGit(r.dir)...)}
	_, out, _ := call(env, "", []string{"verify", "--today", "2026-11-30"})
	return string(out)
}

// semanticHash is what the lock of the head says about all capabilities.
func (r *sampleRepo) semanticHash(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "agents-shipgate-reports", "capabilities.lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Hashes struct {
			Semantic string `json:"semantic_capability_set_hash"`
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil || lock.Hashes.Semantic == "" {
		t.Fatalf("no hash: %v", err)
	}
	return lock.Hashes.Semantic
}

func TestSamplesPassAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, name := range sampleNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSampleRepo(t, sampleFiles(t, name))
			a := r.verify(t)
			if a.exit != 0 || a.Decision != "passed" || a.Control.State != "complete" || !a.CanMerge {
				t.Errorf("exit %d, decision %s, control %s: %s\n%s", a.exit, a.Decision, a.Control.State, a.Release.Reason, r.text(t))
			}
			env := shipgate.Env{Dir: r.dir, Environ: append(os.Environ(), quietGit(r.dir)...)}
			if err := validArtifacts(env, []string{"verify", "--json", "--today", "2026-11-30"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// edit is one replacement in one file; an empty from appends.
type sampleEdit struct{ file, from, to string }

func edited(t *testing.T, files map[string]string, edits ...sampleEdit) map[string]string {
	t.Helper()
	out := maps.Clone(files)
	for _, e := range edits {
		if strings.Count(out[e.file], e.from) != 1 && e.from != "" {
			t.Fatalf("%s holds %q %d times", e.file, e.from, strings.Count(out[e.file], e.from))
		}
		if e.from == "" {
			out[e.file] += e.to
			continue
		}
		out[e.file] = strings.Replace(out[e.file], e.from, e.to, 1)
	}
	return out
}

// lineOf is the one-based line of the only place where text stands.
func lineOf(t *testing.T, text, mark string) int {
	t.Helper()
	before, _, found := strings.Cut(text, mark)
	if !found {
		t.Fatalf("%q is not there", mark)
	}
	return strings.Count(before, "\n") + 1
}

// An addition of a tool that destroys, in the style of a sample.
type sampleAddition struct {
	sample string
	tool   string
	file   string
	mark   string // where the tool begins in the file
	code   []sampleEdit
	bind   []sampleEdit // what makes it a capability where a closed list leaves it out
	// What the verification says of both together.
	decision string
	check    string // one of the findings that decide; "" for a gap about the tool
}

const pythonPurge = `

@function_tool
async def purge_reader(reader_id: str) -> dict:
    """Delete a reader with all loans for good."""
    return await client.post(f"/readers/{reader_id}/purge", {})
`

const typescriptCancel = `  server.registerTool(
    "cancel_all_bookings",
    {
      description: "Cancel every booking of one room.",
      inputSchema: { room: z.string() },
      annotations: { destructiveHint: true },
    },
    async ({ room }) => reply(await calendar.call(` + "`/rooms/${room}/cancel`" + `, {})),
  );

  server.registerTool(
    "show_booking",`

const goDelete = `	mcp.AddTool(server, &mcp.Tool{
		Name:        "delete_project",
		Description: "Delete a project and all of its builds.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes},
	}, h.list)
}

var yes = true

func (h *handlers) list(`

const openapiDelete = `    delete:
      operationId: delete_parcel
      summary: Delete one parcel and its events for good.
      security:
        - login: [parcels:delete]
      responses:
        "204": {description: Gone.}
  /parcels/{parcel_id}/events:
`

const n8nDelete = `    {
      "id": "n-clear", "name": "Clear bed", "type": "@n8n/n8n-nodes-langchain.toolHttpRequest", "typeVersion": 1.1,
      "position": [700, 200],
      "parameters": {
        "toolDescription": "Clear one bed of all plants.", "method": "DELETE", "url": "https://house.example.test/beds/{bed}",
        "placeholderDefinitions": { "values": [{ "name": "bed", "description": "number of the bed", "type": "string" }] }
      }
    },
    {
      "id": "n-water",`

const mailDelete = `[
  {
    "name": "delete_customer",
    "description": "Delete a customer and every mail to them.",
    "inputSchema": { "type": "object", "properties": { "customer": { "type": "string" } }, "required": ["customer"] },
    "outputSchema": { "type": "object" },
    "annotations": { "destructiveHint": true },
    "auth": { "type": "oauth2", "scopes": ["mail:delete"] }
  },`

var sampleAdditions = []sampleAddition{
	{
		sample: "python-agent", tool: "purge_reader", file: "desk/tools/loans.py", mark: "async def purge_reader",
		code:     []sampleEdit{{"desk/tools/loans.py", "", pythonPurge}, {"desk/agent.py", "        extend_loan,\n", "        extend_loan,\n        purge_reader,\n"}, {"desk/agent.py", "import extend_loan, list_loans", "import extend_loan, list_loans, purge_reader"}},
		decision: "insufficient_evidence",
	},
	{
		sample: "python-agent", tool: "purge_reader", file: "desk/tools.json", mark: "{\n      \"name\": \"purge_reader\"",
		code: []sampleEdit{
			{"desk/tools/loans.py", "", pythonPurge},
			{"desk/agent.py", "        extend_loan,\n", "        extend_loan,\n        purge_reader,\n"},
			{"desk/agent.py", "import extend_loan, list_loans", "import extend_loan, list_loans, purge_reader"},
			{"desk/tools.json", "    {\n      \"name\": \"extend_loan\"", `    {
      "name": "purge_reader",
      "description": "Delete a reader with all loans for good.",
      "inputSchema": {"type": "object", "properties": {"reader_id": {"type": "string"}}, "required": ["reader_id"]},
      "outputSchema": {"type": "object"}
    },
    {
      "name": "extend_loan"`},
			{"shipgate.yaml", "action_surface:\n", `    - id: purge_reader
      provider: library
      reason: desk.export writes the list from the code
      primary: {source_id: desk_list, tool: purge_reader}
      members: [{source_id: desk_list, tool: purge_reader}, {source_id: desk_code, tool: purge_reader}]
action_surface:
`},
			{"shipgate.yaml", "    - tool: extend_loan\n      effect", "    - {tool: purge_reader, effect: destructive, scopes: [\"loans:extend\"], authority: {mode: scoped, auth_type: oauth2}}\n    - tool: extend_loan\n      effect"},
		},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
	{
		sample: "typescript-mcp", tool: "cancel_all_bookings", file: "src/tools/bookings.ts", mark: "server.registerTool(\n    \"cancel_all",
		code:     []sampleEdit{{"src/tools/bookings.ts", "  server.registerTool(\n    \"show_booking\",", typescriptCancel}},
		bind:     []sampleEdit{{"shipgate.yaml", "{tool: show_booking}]", "{tool: show_booking}, {tool: cancel_all_bookings}]"}},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
	{
		sample: "go-mcp", tool: "delete_project", file: "tools/tools.go", mark: "mcp.AddTool(server, &mcp.Tool{\n\t\tName:        \"delete_project\"",
		code:     []sampleEdit{{"tools/tools.go", "}\n\nfunc (h *handlers) list(", goDelete}},
		bind:     []sampleEdit{{"shipgate.yaml", "{tool: promote_build}]\n      handoffs", "{tool: promote_build}, {tool: delete_project}]\n      handoffs"}},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
	{
		sample: "openapi-service", tool: "delete_parcel", file: "api/parcels.yaml", mark: "    delete:\n",
		code:     []sampleEdit{{"api/parcels.yaml", "  /parcels/{parcel_id}/events:\n", openapiDelete}},
		bind:     []sampleEdit{{"shipgate.yaml", "        - tool: list_events\n", "        - tool: list_events\n        - tool: delete_parcel\n"}},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
	{
		sample: "n8n-flow", tool: "Clear_bed", file: "flows/greenhouse.json", mark: "{\n      \"id\": \"n-clear\"",
		code: []sampleEdit{
			{"flows/greenhouse.json", "    {\n      \"id\": \"n-water\",", n8nDelete},
			{"flows/greenhouse.json", "    \"Water bed\": { \"ai_tool\"", "    \"Clear bed\": { \"ai_tool\": [[{ \"node\": \"Gardener\", \"type\": \"ai_tool\", \"index\": 0 }]] },\n    \"Water bed\": { \"ai_tool\""},
		},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
	{
		sample: "monorepo", tool: "delete_customer", file: "services/mail/tools.json", mark: "{\n    \"name\": \"delete_customer\"",
		code:     []sampleEdit{{"services/mail/tools.json", "[\n  {\n    \"name\": \"draft_mail\",", mailDelete + "\n  {\n    \"name\": \"draft_mail\","}},
		bind:     []sampleEdit{{"shipgate.yaml", "{tool: send_mail, source_id: mail}]", "{tool: send_mail, source_id: mail}, {tool: delete_customer}]"}},
		decision: "blocked", check: "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
	},
}

// A tool that destroys is found with the line where it stands, and never passes
// once an agent has it. Where a closed list keeps it from every agent, that is
// said, and a person is asked when the agent has the server's other tools.
func TestAToolThatDestroysIsFoundInEverySample(t *testing.T) {
	t.Parallel()
	for _, c := range sampleAdditions {
		t.Run(c.sample+"/"+path.Base(c.file), func(t *testing.T) {
			t.Parallel()
			base := sampleFiles(t, c.sample)
			r := newSampleRepo(t, base)
			head := edited(t, base, c.code...)
			line := lineOf(t, head[c.file], c.mark)
			if c.bind != nil {
				r.put(t, head)
				a := r.verify(t)
				note := "1 tool is bound to no agent: " + c.tool + ", " + c.file + ":" + itoa(line)
				if !slices.Contains(a.Review.Notes, note) || !strings.Contains(r.text(t), note) {
					t.Errorf("no note %q in %q\n%s", note, a.Review.Notes, r.text(t))
				}
				// A host offers all of a server; an API is not offered as a whole.
				if a.CanMerge != (c.sample == "openapi-service") || !a.CanMerge && a.Decision != "review_required" {
					t.Errorf("unbound: %s (%s)\n%s", a.Decision, a.Release.Reason, r.text(t))
				}
				head = edited(t, head, c.bind...)
			}
			r.put(t, head)
			a := r.verify(t)
			found := false
			for _, top := range a.Review.TopChanges {
				found = found || top.Subject == c.tool && top.ChangeType == "action_added" && top.SourcePath == c.file && top.SourceLine == line
			}
			if !found || !strings.Contains(r.text(t), c.file+":"+itoa(line)) {
				t.Errorf("no row for %s at %s:%d: %+v\n%s", c.tool, c.file, line, a.Review.TopChanges, r.text(t))
			}
			if a.Decision != c.decision || a.CanMerge || a.Control.State == "complete" {
				t.Errorf("the decision is %s (%s), control %s", a.Decision, a.Release.Reason, a.Control.State)
			}
			if c.check != "" {
				for _, b := range a.Release.Blockers {
					if b.CheckID == c.check {
						return
					}
				}
				t.Errorf("no blocker %s: %+v", c.check, a.Release.Blockers)
				return
			}
			for _, g := range a.Release.Coverage.Gaps {
				if g.Subject == c.tool {
					return
				}
			}
			t.Errorf("no gap about %s: %+v", c.tool, a.Release.Coverage.Gaps)
		})
	}
}
