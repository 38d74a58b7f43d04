package starter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// writer holds what a draft says.
type writer struct {
	d       *detect.Result
	opt     Options
	b       strings.Builder
	project string
	agent   string
	purpose bool // declared_purpose is needed
	missing bool // no source was found; the one that stands there is a question
	rows    []row
	blocks  []row

	rootObject, rootSource  string
	rootAt                  tool.Origin
	rootTools, rootHandoffs []string
}

// target is where the agent runs as long as nobody says: the strictest reading.
const target = "production_like"

// text is the whole draft.
func (w *writer) text() []byte {
	w.b.Reset()
	w.comment("", "What the agent of this repository may use, for the gate that verifies changes.")
	w.comment("", "Made from what the code shows. What a tool does, with whose authority and after")
	w.comment("", "whose approval only a person can say; verify asks for it where it matters.")
	w.line("version: %s", quoted(manifest.Version))
	w.line("project:")
	w.line("  name: %s", value(w.project))
	w.line("agent:")
	w.line("  name: %s", value(w.agent))
	w.comment("  ", "declared_purpose: in one line each, what the agent is for. Its tools are held against it.")
	if w.purpose {
		w.line("  declared_purpose:")
		w.line("    - %s", Placeholder)
	}
	w.line("environment:")
	w.comment("  ", "local, staging, production_like or production. The strictest reading until somebody knows better.")
	w.line("  target: %s", target)
	w.sources()
	w.bindings()
	if !w.opt.Minimal {
		w.line("ci:")
		w.comment("  ", "advisory reports and fails nothing; strict fails a build.")
		w.line("  mode: advisory")
	}
	w.invite()
	return []byte(w.b.String())
}

// invitations are the blocks that only a person can fill, in the order of the
// draft: the line of each is the place of its patch.
var invitations = []struct{ key, what string }{
	{"tool_identity", "which tool of a list and which of the code are one"},
	{"agent_bindings", "which agent people talk to, and what it may use"},
	{"action_surface", "what each tool does, and with whose authority"},
	{"policies", "which tools wait for a person, and which for the user"},
}

// invite ends the draft with the lines below which answers go.
func (w *writer) invite() {
	if len(w.reading().Tools) == 0 {
		return
	}
	w.comment("", "Only a person can say the rest. init has a patch for each, which goes below its line.")
	for _, i := range invitations {
		lists := slices.ContainsFunc(w.rows, func(r row) bool { return r.kind == string(detect.MCP) })
		if i.key == "tool_identity" && (!lists || len(w.rows)+len(w.blocks) < 2) || i.key == "agent_bindings" && w.rootObject != "" {
			continue
		}
		w.comment("", "  "+i.key+": "+i.what)
	}
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) comment(indent, text string) {
	if !w.opt.Minimal {
		w.b.WriteString(indent + "# " + oneLine(text) + "\n")
	}
}

// keys are the blocks of the manifest and the list in each that names files.
var keys = []struct{ kind, block, list string }{
	{"openai_api", "openai_api", "tools"},
	{"anthropic_api", "anthropic", "tools"},
	{"google_adk", "google_adk", "python_entrypoints"},
	{"langchain", "langchain", "python_entrypoints"},
	{"crewai", "crewai", "python_entrypoints"},
	{"n8n", "n8n", "workflows"},
}

func (w *writer) sources() {
	if len(w.rows) > 0 {
		w.line("tool_sources:")
	}
	if w.missing {
		w.comment("  ", "No tool could be read. List them in a file, {\"tools\": [{\"name\": …}]}, and name it here.")
	}
	for _, r := range w.rows {
		w.line("  - id: %s", value(r.id))
		w.line("    type: %s", value(r.kind))
		if w.missing {
			w.line("    path: %s", value(r.path))
			w.line("    optional: true")
			continue
		}
		w.b.WriteString("    path: " + value(r.path))
		w.trailing(r.note)
		if r.mode != "" {
			w.line("    mode: %s", value(r.mode))
		}
	}
	for _, name := range w.d.Signals.Unsupported {
		w.comment("  ", "Not read: "+name+". List these tools in a file and name it here as a source of type mcp.")
	}
	for _, k := range keys {
		for _, r := range w.blocks {
			if r.kind != k.kind {
				continue
			}
			w.b.WriteString(k.block + ":")
			w.trailing(r.note)
			w.line("  %s:", k.list)
			for _, e := range r.entries {
				w.line("    - %s", value(e))
			}
		}
	}
}

// trailing ends a line, with a comment.
func (w *writer) trailing(note string) {
	if note != "" && !w.opt.Minimal {
		w.b.WriteString(" # " + oneLine(note))
	}
	w.b.WriteString("\n")
}

// fewNames is how many names a comment spells out.
const fewNames = 12

// bindings names the root agent. What it may call is read from the code on every
// run, where the list is complete; a declaration here would only repeat it, and
// close a list that the next change opens.
func (w *writer) bindings() {
	if w.rootObject == "" {
		return
	}
	w.line("agent_bindings:")
	at := w.rootAt.Path
	if w.rootAt.Start.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, w.rootAt.Start.Line)
	}
	w.comment("  ", "The agent that people talk to ("+at+"). The code shows what it leads to:")
	for _, l := range []struct {
		what string
		list []string
	}{{"tools", w.rootTools}, {"agents", w.rootHandoffs}} {
		if len(l.list) > 0 {
			w.comment("  ", "  "+l.what+": "+names(l.list))
		}
	}
	if len(w.rootTools)+len(w.rootHandoffs) == 0 {
		w.comment("  ", "  nothing that could be read in full")
	}
	w.line("  root:")
	w.line("    object: %s", value(w.rootObject))
	w.line("    source_id: %s", value(w.rootSource))
}

func names(list []string) string {
	text := strings.Join(list[:min(len(list), fewNames)], ", ")
	if n := len(list) - fewNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// oneLine keeps names of the repository inside of the comment they stand in.
func oneLine(s string) string {
	return redact.Text(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?")))
}

// plain is a name that may stand in a manifest, "" for any other.
func plain(name string) string {
	if name == "" || len(name) > 200 || !utf8.ValidString(name) || strings.TrimSpace(name) != name || redact.Text(name) != name ||
		name == manifest.Review || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

// reserved are words that YAML, or a reader of an older one, takes for something
// else than a text.
var reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// bare says whether a text needs no quotes.
func bare(s string) bool {
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_':
		case i > 0 && (r >= '0' && r <= '9' || r == '-' || r == '.' || r == '/'):
		default:
			return false
		}
	}
	return s != "" && !slices.Contains(reserved, strings.ToLower(s))
}

// value is a text as a scalar of YAML; the placeholder for none.
func value(s string) string {
	if s == "" {
		return Placeholder
	}
	if bare(s) {
		return s
	}
	return quoted(s)
}

// quoted is a text in double quotes: every JSON string is one of YAML.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string has a JSON form
	}
	return strings.TrimSpace(b.String())
}
