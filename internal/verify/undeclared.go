package verify

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/trigger"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// unread is a changed file that looks like tools or agents and that no source of
// the manifest was read from (docs/spec/boundary.md §6.4).
type unread struct {
	name string   // repository-relative
	rows []string // of the trigger catalogue
	adds bool     // the change brings the file or lines of it
}

// unreadFiles lists them by name, each once. A file that a commit of the change
// brings and the working tree takes back is one of them: a push publishes it.
func (r *Run) unreadFiles() []unread {
	if r.HeadSide == nil {
		return nil
	}
	read := map[string]bool{}
	for _, f := range r.HeadSide.Files {
		read[path.Join(path.Dir(r.Input.ManifestPath), f.Path)] = true
	}
	var found []unread
	for i, res := range r.Gate {
		for _, name := range res.Undeclared {
			if u := changeOf(r.Input.Changes[i], name); !read[name] && (u.adds || present(r.Input.HeadRoot, name)) {
				found = append(found, u)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b unread) int { return strings.Compare(a.name, b.name) })
	var each []unread
	for _, u := range found {
		if n := len(each); n > 0 && each[n-1].name == u.name {
			each[n-1].adds = each[n-1].adds || u.adds
			continue
		}
		each = append(each, u)
	}
	return each
}

// changeOf is what one half of the change does to a file.
func changeOf(in *gate.Input, name string) unread {
	u := unread{name: name}
	var added []string
	known := false
	for i := range in.Records {
		rec := &in.Records[i]
		if rec.Path() != name {
			continue
		}
		known = true
		lines := rec.Added()
		added = append(added, lines...)
		moved := rec.Moves() && !trigger.CapabilityByPath(rec.OldName)
		u.adds = u.adds || !rec.Deleted && (rec.New || rec.Binary || moved || len(lines) > 0)
	}
	u.rows, u.adds = trigger.CapabilityRows(name, added), u.adds || !known
	return u
}

// undeclared is a warning for each unread file that the change adds or adds to:
// nothing of it was judged. Tests, fixtures and documents offer nothing to an
// agent, and what another manifest reads is judged there (D70.X9).
func (r *Run) undeclared() []tool.Warning {
	var list []tool.Warning
	others := map[string]map[string]bool{}
	for _, u := range r.unreadFiles() {
		if !u.adds || example(u.name) || r.readElsewhere(u.name, others) {
			continue
		}
		kind, pointer := looksLike(u, r.Input.HeadRoot)
		w := tool.Warning{
			Code:    decision.UndeclaredSource,
			Message: "The file " + redact.Text(u.name) + " looks like tools or agents, and no source of the manifest reads it.",
			Origin:  tool.Origin{Type: kind, Ref: redact.Text(u.name)},
		}
		// A manifest names files below its own folder only.
		dir := path.Dir(r.Input.ManifestPath)
		if below, inside := strings.CutPrefix(u.name, dir+"/"); (inside || dir == ".") && redact.Text(u.name) == u.name {
			if dir == "." {
				below = u.name
			}
			w.Name, w.Pointer, w.Origin.Path = below, pointer, below
		}
		list = append(list, w)
	}
	return list
}

// example says whether a path is that of a test, a fixture or a document. The
// catalogue knows most of them; these are other spellings of the same.
func example(name string) bool {
	if trigger.FixturePath(name) || trigger.Document(name) {
		return true
	}
	if trigger.CapabilityByPath(name) {
		return false
	}
	dirs := strings.Split(path.Dir(name), "/")
	if slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains([]string{"__tests__", "testdata", "fixtures"}, d) }) {
		return true
	}
	file := path.Base(name)
	stem := strings.TrimSuffix(file, path.Ext(file))
	return slices.Contains([]string{".mdx", ".rst", ".adoc"}, path.Ext(file)) ||
		strings.HasSuffix(file, "_test.go") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")
}

// readElsewhere says whether another manifest, of a folder above the file, reads
// it. A manifest that this change makes so without anybody looking does not count.
func (r *Run) readElsewhere(name string, others map[string]map[string]bool) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		at := path.Join(dir, manifest.DefaultName)
		files, known := others[dir]
		if !known {
			if at != r.Input.ManifestPath && !slices.Contains(r.exempt(), at) && present(r.Input.HeadRoot, at) {
				files = r.filesOf(dir)
			}
			others[dir] = files
		}
		if files[name] {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// filesOf is what the manifest of a folder is read from; nothing when it cannot
// be read.
func (r *Run) filesOf(dir string) map[string]bool {
	tree, err := fs.Sub(r.Input.HeadRoot, dir)
	if err != nil {
		return nil
	}
	side, err := Load(tree, LoadOptions{Name: manifest.DefaultName, Today: r.Input.Options.Today})
	if err != nil {
		return nil
	}
	files := map[string]bool{}
	for _, f := range side.Files {
		files[path.Join(dir, f.Path)] = true
	}
	return files
}

// kinds are the source type that a row of the trigger catalogue speaks of, and
// where a manifest lists such files.
var kinds = map[string]struct{ kind, pointer string }{
	"TRIGGER-MCP-EXPORT-CHANGED":             {"mcp", "/tool_sources"},
	"TRIGGER-OPENAPI-SPEC-CHANGED":           {"openapi", "/tool_sources"},
	"TRIGGER-STATIC-TOOL-INVENTORY-CHANGED":  {"openai_api", "/openai_api/tools"},
	"TRIGGER-CODEX-PLUGIN-CHANGED":           {"codex_plugin", "/tool_sources"},
	"TRIGGER-N8N-WORKFLOW-CHANGED":           {"n8n", "/n8n/workflows"},
	"TRIGGER-CONDUCTOR-WORKFLOW-CHANGED":     {"conductor", "/tool_sources"},
	"TRIGGER-FUNCTION-TOOL-DECORATOR":        {"openai_agents_sdk", "/tool_sources"},
	"TRIGGER-GOOGLE-ADK-AGENT-TOOLS-CHANGED": {"google_adk", "/tool_sources"},
}

// looksLike guesses the source type of a file, for a person to correct. The
// decorators of the frameworks are told apart by what the file imports.
func looksLike(u unread, root fs.FS) (kind, pointer string) {
	if len(u.rows) == 0 {
		return "", "/tool_sources"
	}
	k := kinds[u.rows[0]]
	switch k.kind {
	case "openai_api":
		if strings.Contains(path.Base(u.name), "anthropic") {
			return "anthropic_api", "/anthropic/tools"
		}
	case "openai_agents_sdk":
		text, _ := tool.ReadFile(root, u.name)
		for _, f := range []struct{ word, kind string }{{"langchain", "langchain"}, {"crewai", "crewai"}, {"google.adk", "google_adk"}} {
			if strings.Contains(string(text), f.word) {
				return f.kind, k.pointer
			}
		}
	}
	return k.kind, k.pointer
}
