package adopt

import (
	"bytes"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

const reposLine = "repos:\n"

// preCommitWhole is the block of a configuration that has no repositories yet.
func preCommitWhole() string { return reposLine + indented(blockText(PreCommit), "  ") }

// preCommit puts the gate into the configuration of pre-commit.
func (p *planner) preCommit() {
	f := look(p.workspace, preCommitPath)
	if f.bad == "" && hashes.find(f.text).none && runsHook(f.text) {
		p.leave(PreCommit, f, Unchanged, "it runs a hook of the gate already")
		return
	}
	p.blockIn(PreCommit, f, func() ([]byte, string) { return withHook(f) })
}

// runsHook says whether a configuration names one of the gate's hooks.
func runsHook(text []byte) bool {
	body, _ := source.TrimBOM(text)
	root, err := source.ParseYAML(body)
	if err != nil {
		return false
	}
	for _, repo := range root.Get("repos").Items {
		for _, h := range repo.Get("hooks").Items {
			if strings.HasPrefix(h.Get("id").Str(), "agents-shipgate") {
				return true
			}
		}
	}
	return false
}

// withHook is the configuration with the block in it: as the first of the
// repositories, on lines of its own, or behind everything else where there are
// none. The result is read again: it must say what it said before and one more.
func withHook(f found) (text []byte, why string) {
	if !f.exists || blank(f.text) {
		return appendBlock(f, hashes.wrap(preCommitWhole())), ""
	}
	body, _ := source.TrimBOM(f.text)
	before, err := source.ParseYAML(body)
	switch {
	case err != nil:
		return nil, "it is no YAML: " + err.Error()
	case before.Kind != source.Map && before.Kind != source.Null:
		return nil, "it holds no mapping"
	case !before.Get("repos").Present():
		text = appendBlock(f, hashes.wrap(preCommitWhole()))
	default:
		at, indent, ok := firstRepo(f.text, before)
		if !ok {
			return nil, "its list of repositories has a form that is not edited; add the hook by hand"
		}
		wrapped := withBreaks(indented(hashes.wrap(blockText(PreCommit)), indent), newline(f.text[:at]))
		text = join(f.text[:at], wrapped, string(f.text[at:]))
	}
	body, _ = source.TrimBOM(text)
	after, err := source.ParseYAML(body)
	if err != nil || !oneMore(before, after) {
		return nil, "it has a form that is not edited; add the hook by hand"
	}
	return text, ""
}

// firstRepo is the offset of the line behind "repos:" and the indentation of the
// items that follow; ok is false for a list in another form.
func firstRepo(text []byte, root source.Value) (at int, indent string, ok bool) {
	repos := root.Get("repos")
	if repos.Kind != source.List || len(repos.Items) == 0 {
		return 0, "", false
	}
	line := 0
	for _, m := range root.Members {
		if m.Key == "repos" {
			line = m.Pos.Line
		}
	}
	off := 0
	for n := 1; off < len(text); n++ {
		end := bytes.IndexByte(text[off:], '\n')
		if end < 0 {
			return 0, "", false
		}
		current := string(text[off : off+end])
		off += end + 1
		switch {
		case n < line:
		case n == line:
			rest, isKey := strings.CutPrefix(strings.TrimPrefix(current, string(byteOrderMark)), "repos:")
			rest = strings.TrimSpace(rest)
			if !isKey || rest != "" && rest[0] != '#' {
				return 0, "", false
			}
			at = off
		default:
			trimmed := strings.TrimLeft(current, " ")
			if strings.TrimSpace(trimmed) == "" || trimmed[0] == '#' {
				continue
			}
			return at, current[:len(current)-len(trimmed)], trimmed[0] == '-'
		}
	}
	return 0, "", false
}

// oneMore says whether after is before with our repository as the first.
func oneMore(before, after source.Value) bool {
	if after.Kind != source.Map {
		return false
	}
	want := map[string]source.Value{}
	for _, m := range before.Members {
		want[m.Key] = m.Value
	}
	for _, m := range after.Members {
		old := want[m.Key]
		delete(want, m.Key)
		if m.Key != "repos" {
			if !m.Value.Equal(old) {
				return false
			}
			continue
		}
		if n := len(m.Value.Items); n != len(old.Items)+1 || m.Value.Items[0].At("hooks").Kind != source.List {
			return false
		}
		for i := range old.Items {
			if !m.Value.Items[i+1].Equal(old.Items[i]) {
				return false
			}
		}
	}
	return len(want) == 0
}
