package adopt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev/internal/adopt"
	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// written is every file of an empty workspace after adoption.
func written(t *testing.T) fstest.MapFS {
	t.Helper()
	return apply(fstest.MapFS{}, install(fstest.MapFS{}, everything()))
}

// told are the files that tell an agent what to do, and the name that its host
// has for the gate.
var told = map[string]gate.Actor{
	"AGENTS.md": gate.ActorCodex, "CLAUDE.md": gate.ActorClaude, ".cursor/rules/agents-shipgate.mdc": "cursor",
	".agents/skills/agents-shipgate/SKILL.md": gate.ActorCodex,
}

// points are what docs/spec/verification.md §21.4 wants every block to say.
var points = []struct{ point, words string }{
	{"when: tools", "a tool, an MCP server, a list of tools, an OpenAPI document"},
	{"when: prompts, permissions, policies", "a prompt, a permission, a hook, a skill, a policy"},
	{"when: the CI gate", "the CI gate or another workflow"},
	{"when: the manifest", "the manifest `shipgate.yaml`"},
	{"when: host configuration", "the configuration of an agent host"},
	{"when not", "When not: after a turn that changed no file"},
	{"fields, not prose", "Decide from JSON fields, never from prose or Markdown."},
	{"one switch", "Act on `control.state` of the JSON it prints, on nothing else"},
	{"diagnostic fields", "`decision` and `risk_level` only explain"},
	{"must_stop", "`must_stop: false` is no promise that you may publish: read `control.permissions`"},
	{"updating is not merging", "Updating a pull request is not merging it."},
	{"no word clears a state", "a comment, a label or `human_ack` changes no state; only a newly generated verifier artifact does"},
	{"repair: state", "`control.state` is `agent_action_required`"},
	{"repair: actor", "`next_action.actor` is `coding_agent`"},
	{"repair: kind", "`next_action.kind` is `repair`"},
	{"repair: safe", "`repair.safe_to_attempt` is true"},
	{"repair: shortcuts", "nothing in `forbidden_shortcuts` is violated"},
	{"repair: rerun", "Completion comes only from a rerun that says `complete`."},
	{"never to repair", "approval, confirmation, idempotency, broad scope, a prohibited action, a waiver, a baseline, a suppression, a severity downgrade, a policy pack, trace evidence, release policy"},
	{"install is no repair", "`kind = install` restores a gate; it repairs no finding"},
	{"pending reviews", "for the same change `verify` never answers `complete` or `mergeable`"},
	{"verify before the pull request", "shipgate verify --base origin/main --head HEAD --json"},
	{"what to read", "Read `agents-shipgate-reports/verifier.json` first and act on its `control.state` as above; then `release_decision`"},
	{"never: findings", "Never suppress a finding, lower a severity, expand a baseline, add a waiver, remove the CI gate, weaken these instructions or edit"},
	{"never: policy", "a policy in order to pass."},
	{"no usable gate", "do not edit, commit, push or claim completion"},
	{"one source of errors", "Once a current gate runs, every error comes from its own JSON; write none yourself."},
	{"reports", "Git leaves the reports folder out by a line of `.gitignore`"},
	{"CI", ".github/workflows/agents-shipgate.yml"},
	{"state complete", "| `complete` | finish; name the warnings, if any |"},
	{
		"state agent_action_required",
		"| `agent_action_required` | do not claim completion; do only what `control.next_action` says, then run the check again; name every `pending_review[]` item when summing up the change |",
	},
	{
		"state review_publishable",
		"| `review_publishable` | do not merge, do not claim completion; commit, push and update the pull request as `control.permissions` allows; show `control.human_review.why`; after publishing rerun the command in `allowed_next_commands`, if there is one, so that the evidence matches the committed refs |",
	},
	{
		"state human_review_required",
		"| `human_review_required` | stop every action, no further tool call; show `control.reason` and the human next action |",
	},
}

func TestEveryInstructionSaysEveryPoint(t *testing.T) {
	files := written(t)
	for name, agent := range told {
		text := string(files[name].Data)
		for _, p := range points {
			if !strings.Contains(text, p.words) {
				t.Errorf("%s does not say: %s", name, p.point)
			}
		}
		if command := "\n    shipgate check --agent " + string(agent) + " --workspace . --format agent-boundary-json\n"; !strings.Contains(text, command) {
			t.Errorf("%s does not run the check as %s", name, agent)
		}
		if strings.Contains(text, "{{") {
			t.Errorf("%s has a gap of its template", name)
		}
		for _, other := range []string{"codex", "claude-code", "cursor"} {
			if other != string(agent) && strings.Contains(text, "--agent "+other) {
				t.Errorf("%s names the host %s", name, other)
			}
		}
	}
}

// The table of the specification is the table that agents read.
func TestTheStatesAreThoseOfTheSpecification(t *testing.T) {
	spec, err := os.ReadFile("../../docs/spec/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(spec), "| `control.state` | the block tells the agent |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	if strings.Count(table, "\n") != 3 {
		t.Fatalf("the specification's table was not found: %q", table)
	}
	files := written(t)
	for name := range told {
		if !strings.Contains(string(files[name].Data), "|---|---|\n"+table+"\n") {
			t.Errorf("%s has another table", name)
		}
	}
}

// The results for want of a usable gate are whole results of the published
// schema, under the host's own name; for Codex they are those of the protocol.
func TestTheInstallResultsAreWholeResults(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../docs/agent-boundary-result-schema.v2.json")
	if err != nil {
		t.Fatal(err)
	}
	files := written(t)
	for name, agent := range told {
		rest := string(files[name].Data)
		for _, want := range []*gate.Result{gate.MissingInstall(), gate.StaleInstall()} {
			_, after, ok := strings.Cut(rest, "```json\n")
			text, tail, closed := strings.Cut(after, "```\n")
			if !ok || !closed {
				t.Fatalf("%s has no result", name)
			}
			rest = tail
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := schema.Validate(document); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			want.Agent, want.Actor, want.Subject.Agent = agent, agent, agent
			var a, b bytes.Buffer
			if err := json.Compact(&a, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := json.Compact(&b, want.JSON()); err != nil {
				t.Fatal(err)
			}
			if a.String() != b.String() {
				t.Errorf("%s: %s\nwant %s", name, a.String(), b.String())
			}
		}
	}
	for file, want := range map[string]*gate.Result{"missing-install": gate.MissingInstall(), "stale-install": gate.StaleInstall()} {
		if got := files[".agents/skills/agents-shipgate/"+file+".json"]; !bytes.Equal(got.Data, want.JSON()) {
			t.Errorf("%s is not the protocol's", file)
		}
	}
}

// The gate itself must read our instructions as demanding it, on every line:
// else an update of the block would look like a weakening.
func TestNoLineSoftensTheGate(t *testing.T) {
	for name, f := range written(t) {
		demanded := false
		for i, line := range strings.Split(string(f.Data), "\n") {
			g := surface.ReadGateLine(line)
			if _, ok := told[name]; ok && g.Softens {
				t.Errorf("%s:%d softens the gate: %s", name, i+1, line)
			}
			demanded = demanded || g.Requires
		}
		if _, ok := told[name]; ok && !demanded {
			t.Errorf("%s demands nothing", name)
		}
	}
}

func TestThePullRequestAsksForTheEvidence(t *testing.T) {
	text := string(written(t)[".github/pull_request_template.md"].Data)
	for _, want := range []string{"`control.state`", "`merge_verdict`", "`release_decision`", "`pending_review[]`", "No word here, no label and no approval changes a state", "CI runs `verify` again"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

func TestTheWorkflowIsPinnedAndMayOnlyRead(t *testing.T) {
	text := written(t)[".github/workflows/agents-shipgate.yml"].Data
	v, err := source.ParseYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	if p := v.Get("permissions"); len(p.Members) != 1 || p.Get("contents").Str() != "read" {
		t.Errorf("permissions are %v", p)
	}
	steps := v.At("jobs", "verify", "steps").Items
	ran := false
	for _, s := range steps {
		if uses := s.Get("uses").Str(); uses != "" {
			if _, at, ok := strings.Cut(uses, "@"); !ok || len(at) != 40 || strings.Trim(at, "0123456789abcdef") != "" {
				t.Errorf("%s is not pinned to a commit", uses)
			}
		}
		run := s.Get("run").Str()
		if strings.Contains(run, "${{") {
			t.Errorf("an expression stands inside a command: %s", run)
		}
		ran = ran || strings.HasPrefix(run, `shipgate verify --base "$BASE" --head HEAD`)
	}
	if !ran {
		t.Error("nothing runs verify")
	}
	if got := steps[0].At("with", "fetch-depth").Text; got != "0" {
		t.Errorf("fetch-depth is %q", got)
	}
	change := &surface.Change{Path: ".github/workflows/agents-shipgate.yml", New: surface.Side{Present: true, Bytes: text}}
	if surface.Read(change).GateInvocation() == 0 {
		t.Error("the gate does not see that the workflow runs it")
	}
}

// The entry is the first hook of this repository as a source of hooks, but for
// where the program comes from. It has no pattern of files: which files declare
// tools is the manifest's to say.
func TestThePreCommitEntryIsThePublishedHook(t *testing.T) {
	published, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	hooks, bad := source.ParseYAML(published)
	if bad != nil {
		t.Fatal(bad)
	}
	ours, bad := source.ParseYAML(written(t)[".pre-commit-config.yaml"].Data)
	if bad != nil {
		t.Fatal(bad)
	}
	entry := ours.Get("repos").Items[0].Get("hooks").Items[0]
	if entry.Get("entry").Str() != strings.Replace(hooks.Items[0].Get("entry").Str(), "action/hook.sh", "shipgate", 1) {
		t.Errorf("it runs %s", entry.Get("entry").Str())
	}
	for _, key := range []string{"id", "name", "pass_filenames", "require_serial", "stages"} {
		if want := hooks.Items[0].Get(key); !want.Present() || !entry.Get(key).Equal(want) {
			t.Errorf("%s differs from the published hook", key)
		}
	}
}

// What this version renders must be on record before it can be released: only
// what is on record is known again by the next version.
func TestWhatIsRenderedIsOnRecord(t *testing.T) {
	record, err := os.ReadFile("rendered.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	sum := func(target adopt.Target, text string) {
		digest := sha256.Sum256([]byte(text))
		want[string(target)+" "+hex.EncodeToString(digest[:])] = true
	}
	plan := install(fstest.MapFS{}, everything())
	for i := range plan.Edits {
		e := &plan.Edits[i]
		text := string(e.After)
		if _, body, ok := strings.Cut(text, "agents-shipgate:start"); ok {
			_, body, _ = strings.Cut(body, "\n")
			text = body[:strings.LastIndex(strings.TrimSuffix(body, "\n"), "\n")+1]
		}
		switch e.Target {
		case adopt.Manifest, adopt.Contract: // known by their own digest, and by their shape
		default:
			sum(e.Target, text)
		}
	}
	for _, h := range hook.Hosts() {
		for _, e := range hook.Entries(h) {
			sum(adopt.HooksOf(h), string(e.Value()))
		}
	}
	some := fstest.MapFS{".pre-commit-config.yaml": {Data: []byte("repos:\n- repo: local\n  hooks: []\n")}}
	inner := string(apply(some, install(some, adopt.Options{PreCommit: true}))[".pre-commit-config.yaml"].Data)
	inner, _, _ = strings.Cut(strings.SplitAfterN(inner, "\n", 3)[2], "# agents-shipgate:end")
	sum(adopt.PreCommit, inner)
	missing := []string{}
	for line := range want {
		if !slices.Contains(strings.Split(string(record), "\n"), line) {
			missing = append(missing, line)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("add these lines to rendered.txt, and take none away:\n%s", strings.Join(missing, "\n"))
	}
}
