package hook

// Host is an agent whose hooks are spoken to. It is the name that check takes
// as its --agent.
type Host string

// The hosts.
const (
	ClaudeCode Host = "claude-code"
	Codex      Host = "codex"
	Cursor     Host = "cursor"
)

// Hosts is every host, sorted.
func Hosts() []Host { return []Host{ClaudeCode, Codex, Cursor} }

// Valid says whether the host is one of ours.
func (h Host) Valid() bool {
	_, known := facts[h]
	return known
}

// Time limits in seconds, each far inside the next: what the gate gives itself,
// when the shell program around it kills it, and what its entry asks of the host.
const (
	GateSeconds  = 20
	ShellSeconds = 30
	HostSeconds  = 60
)

// fact is what we rely on in one host. They are the hosts' to change, which is
// why they stand in this table and nowhere else; docs/spec/verification.md §21.6
// repeats it for people.
type fact struct {
	file  string // the settings of a repository
	event string // the event that is hooked
	// also are events that a person may hook besides; they are answered alike.
	also []string
	// project is the variable in which the host names the project, "" for none.
	project string
	// session is the field that names the session, roots the one that says where
	// the agent works, and again the one by which the host says that a hook has
	// already sent the agent on.
	session, roots, again string
	// speaks says that the host reads decision, reason, systemMessage, continue
	// and stopReason from stdout, and takes exit code 2 with a sentence on stderr
	// for a refusal. A host that does not reads followup_message from stdout.
	speaks bool
	// aborts says that the host also calls when a person ended the turn, with the
	// status "aborted".
	aborts bool
	// limit is the host's own time limit where an entry names none, in seconds; 0
	// where it documents none.
	limit int
	// loops is how often in a row the host lets a hook send the agent on before it
	// ends the turn by itself; 0 where it documents no number.
	loops int
}

var facts = map[Host]fact{
	ClaudeCode: {
		file: ".claude/settings.json", event: "Stop", also: []string{"SubagentStop"}, project: "CLAUDE_PROJECT_DIR",
		session: "session_id", roots: "cwd", again: "stop_hook_active", speaks: true, limit: 60,
	},
	Codex: {
		file: ".codex/hooks.json", event: "Stop",
		session: "session_id", roots: "cwd", again: "stop_hook_active", speaks: true, limit: 600,
	},
	Cursor: {
		file: ".cursor/hooks.json", event: "stop", project: "CURSOR_PROJECT_DIR",
		session: "conversation_id", roots: "workspace_roots", again: "loop_count", aborts: true, loops: 5,
	},
}

// Events is every event of the host that is understood, the hooked one first.
func (h Host) Events() []string {
	f := facts[h]
	return append([]string{f.event}, f.also...)
}

// ProjectVariable is the variable in which the host names its project, "" where
// it has none.
func (h Host) ProjectVariable() string { return facts[h].project }

// Limit is the host's documented time limit for an entry that names none, in
// seconds; 0 where it documents none.
func (h Host) Limit() int { return facts[h].limit }

// Loops is how often in a row the host lets a hook send its agent on before it
// ends the turn by itself; 0 where it documents no number.
func (h Host) Loops() int { return facts[h].loops }
