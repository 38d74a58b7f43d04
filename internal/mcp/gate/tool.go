package gate

import (
	"encoding/json"
	"errors"

	"plimsoll.dev/internal/canonical"
)

// The five tools.
const (
	Check        = "shipgate.check"
	Preflight    = "shipgate.preflight"
	Explain      = "shipgate.explain"
	Capabilities = "shipgate.capabilities"
	Handoff      = "shipgate.handoff"
)

// MaxDiff is the longest diff_text, in bytes (docs/spec/verification.md §1).
const MaxDiff = 32 << 20

// MaxFiles is the longest list of changed files.
const MaxFiles = 100_000

// MaxDocument is the longest JSON document among the arguments but for a diff in
// it, and MaxText the longest path or name, in bytes.
const (
	MaxDocument = 10 << 20
	MaxText     = 4096
)

// kind is the type of an argument.
type kind string

const (
	text     kind = "string"
	flag     kind = "boolean"
	list     kind = "array" // of strings
	document kind = "object"
)

// argument is one argument of a tool. One whose default is nil may be null, which
// means that it is not given.
type argument struct {
	name     string
	kind     kind
	fallback any
	most     int // bytes of a text or a document, entries of a list
	one      []string
	about    string
}

// tool is one row of the table of docs/spec/verification.md §20.
type tool struct {
	name, title, about string
	arguments          []argument
	// refuse finds arguments that are well formed and do not go together.
	refuse func(Arguments) error
}

var (
	workspace = argument{
		name: "workspace", kind: text, fallback: ".", most: MaxText,
		about: "any directory inside the repository; relative to the folder the server was started in",
	}
	config    = argument{name: "config", kind: text, fallback: "shipgate.yaml", most: MaxText, about: "the manifest, relative to the workspace"}
	noPlugins = argument{name: "no_plugins", kind: flag, fallback: true, about: "there are no plugins; taken for compatibility"}
)

// tools is the whole table: nothing else can be called.
var tools = []tool{
	{
		name: Check, title: "Judge a diff and say what the agent may do next",
		about: `Judges one unified diff of agent boundary files and answers shipgate.agent_boundary_result/v2. Switch on control.state: complete, agent_action_required, review_publishable, human_review_required. ` +
			`Only diff_text is judged: send the whole output of git diff HEAD, untracked files included; the answer to an empty diff_text says nothing of the working tree. ` +
			`The diff is detached from the repository, so verification that is owed gives human_review_required; where commands can be run, shipgate check sees more.`,
		arguments: []argument{
			{name: "agent", kind: text, fallback: "codex", one: []string{"codex", "claude-code", "cursor"}, about: "the calling agent"},
			workspace,
			{name: "diff_text", kind: text, fallback: "", most: MaxDiff, about: "the change as a unified diff, at most 32 MiB"},
			config,
			{name: "policy", kind: text, most: MaxText, about: "a boundary policy, relative to the workspace"},
		},
	},
	{
		name: Preflight, title: "Say what a plan would touch before anything is changed",
		about: `Says before any edit which protected surfaces a plan would touch, which evidence its high-risk capabilities lack and whether a person must be asked first. Answers PreflightResultV3; switch on control.state. ` +
			`Send plan (PreflightPlanV1) or the older single inputs, not both.`,
		arguments: []argument{
			workspace, config,
			{
				name: "plan", kind: document, most: MaxDocument + MaxDiff,
				about: "PreflightPlanV1: changed_files[], diff_text, capability_requests[], host_permission_requests[], context",
			},
			{name: "changed_files", kind: list, fallback: []string{}, most: MaxFiles, about: "paths that will change, instead of a plan"},
			{name: "diff_text", kind: text, fallback: "", most: MaxDiff, about: "the planned change as a unified diff, instead of a plan"},
			{name: "capability_request", kind: document, most: MaxDocument, about: "one capability_requests[] row of a plan, instead of a plan"},
			{name: "base_preflight", kind: document, most: MaxDocument, about: "an earlier preflight result, to see drift"},
		},
		refuse: refusePreflight,
	},
	{
		name: Explain, title: "Explain a check, a rule or a finding",
		about: `Explains a check or a boundary rule by its id, or one finding of a report by its fingerprint. Give check_id, or fingerprint with report_path.`,
		arguments: []argument{
			{name: "check_id", kind: text, most: MaxText, about: "like HOST-MCP-SERVER-ADDED or SHIP-POLICY-APPROVAL-MISSING"},
			{name: "fingerprint", kind: text, most: MaxText, about: "like fp_0123456789abcdef"},
			{name: "report_path", kind: text, most: MaxText, about: "the report.json that holds the finding"},
			noPlugins,
		},
		refuse: refuseExplain,
	},
	{
		name: Capabilities, title: "List what agents can do, or compare two lists",
		about: `Answers the capability lock of the working tree (what its agents can do, with effect, authority and controls) from config; or, from base_lock and head_lock, the difference between two locks. Nothing is written and nothing is decided.`,
		arguments: []argument{
			config,
			{name: "base_lock", kind: text, most: MaxText, about: "the earlier lock file"},
			{name: "head_lock", kind: text, most: MaxText, about: "the later lock file"},
			noPlugins,
		},
		refuse: refuseCapabilities,
	},
	{
		name: Handoff, title: "Print the handoff of a finished verification",
		about: `Projects the artifacts of shipgate verify into one agent-handoff v7 document: control, gate, what blocks, what to repair. Nothing is judged again.`,
		arguments: []argument{
			{name: "verifier_path", kind: text, fallback: "agents-shipgate-reports/verifier.json", most: MaxText, about: "the verifier.json of the run"},
			{name: "report_path", kind: text, most: MaxText, about: "its report.json; beside the verifier when left out"},
			{name: "verify_run_path", kind: text, most: MaxText, about: "its verify-run.json; beside the verifier when left out"},
		},
	},
}

func refusePreflight(a Arguments) error {
	if !a.Given("plan") {
		return nil
	}
	for _, direct := range []string{"changed_files", "diff_text", "capability_request", "base_preflight"} {
		if a.Given(direct) {
			return errors.New("plan cannot be combined with " + direct)
		}
	}
	return nil
}

func refuseExplain(a Arguments) error {
	switch {
	case a.Given("check_id") && a.Given("fingerprint"):
		return errors.New("check_id cannot be combined with fingerprint: one call explains one thing")
	case a.Given("check_id") && a.Given("report_path"):
		return errors.New("report_path belongs to fingerprint and cannot be combined with check_id")
	case a.Given("fingerprint") && !a.Given("report_path"):
		return errors.New("report_path is missing: it names the report that holds the finding")
	case !a.Given("check_id") && !a.Given("fingerprint"):
		return errors.New("check_id is missing; or give fingerprint with report_path")
	}
	return nil
}

func refuseCapabilities(a Arguments) error {
	base, head := a.Given("base_lock"), a.Given("head_lock")
	switch {
	case base && !head:
		return errors.New("base_lock needs head_lock beside it")
	case head && !base:
		return errors.New("head_lock needs base_lock beside it")
	case base && a.Given("config"):
		return errors.New("config cannot be combined with base_lock and head_lock")
	}
	return nil
}

// schema is the input schema of the tool, with everything that read refuses
// except what depends on two arguments.
func (t *tool) schema() json.RawMessage {
	properties := canonical.Object{}
	for _, a := range t.arguments {
		properties = append(properties, canonical.Member{Key: a.name, Value: a.schema()})
	}
	return json.RawMessage(canonical.Compact.String(canonical.Object{
		{Key: "type", Value: "object"}, {Key: "properties", Value: properties}, {Key: "additionalProperties", Value: false},
	}))
}

func (a *argument) schema() canonical.Object {
	o := canonical.Object{{Key: "type", Value: string(a.kind)}}
	switch {
	case a.kind == list:
		o = append(o, canonical.Member{Key: "items", Value: canonical.Object{{Key: "type", Value: string(text)}}}, canonical.Member{Key: "maxItems", Value: a.most})
	case a.one != nil:
		o = append(o, canonical.Member{Key: "enum", Value: a.one})
	case a.kind == text:
		o = append(o, canonical.Member{Key: "maxLength", Value: a.most})
	}
	if a.fallback == nil {
		o = canonical.Object{{Key: "anyOf", Value: []canonical.Object{o, {{Key: "type", Value: "null"}}}}}
	}
	return append(o, canonical.Member{Key: "default", Value: a.fallback}, canonical.Member{Key: "description", Value: a.about})
}
