package adopt

import (
	"io/fs"
	"slices"
	"strings"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate/source"
)

// The files of the targets that have one.
const (
	manifestPath  = "shipgate.yaml"
	contractPath  = ".shipgate/agent-contract.json"
	ignorePath    = ".gitignore"
	preCommitPath = ".pre-commit-config.yaml"
)

// Install plans to write what opt names into the workspace. Applied twice it
// changes nothing the second time.
func Install(workspace fs.FS, opt Options) *Plan {
	p := &planner{workspace: workspace, blocks: map[Target]string{}, files: wholeTexts(opt.Version)}
	if opt.Manifest != nil {
		p.manifest(opt.Manifest)
	}
	if opt.Contract != nil {
		p.contract(opt.Contract)
	}
	if opt.Ignore {
		p.ignore()
	}
	for _, t := range Instructions {
		if !slices.Contains(opt.Instructions, t) {
			continue
		}
		if path := blockPath(workspace, t); path != "" {
			p.block(t, path)
		}
		p.wholes(t)
	}
	if opt.Workflow {
		p.wholes(Workflow)
	}
	if opt.PreCommit {
		p.preCommit()
	}
	for _, t := range []Target{CodexHooks, ClaudeHooks, CursorHooks} {
		if slices.Contains(opt.Hooks, t) {
			p.hooks(t)
		}
	}
	return &p.plan
}

// Remove plans to take back what an Install of any version wrote and nobody
// edited since. contract is the text that this version writes.
func Remove(workspace fs.FS, contract []byte, version string) *Plan {
	p := &planner{workspace: workspace, blocks: map[Target]string{}, files: wholeTexts(version)}
	p.takeManifest()
	p.takeWhole(Contract, contractPath, func() string { return string(contract) })
	p.takeBlock(Ignore, ignorePath)
	for _, t := range Instructions {
		if path := blockPath(workspace, t); path != "" {
			p.takeBlock(t, path)
		}
		p.takeWholes(t)
	}
	p.takeWholes(Workflow)
	p.takeBlock(PreCommit, preCommitPath)
	for _, t := range []Target{CodexHooks, ClaudeHooks, CursorHooks} {
		p.takeHooks(t)
	}
	return &p.plan
}

// Usual is the instructions for the hosts that a workspace shows signs of:
// AGENTS.md, which most read, and those that have files here.
func Usual(workspace fs.FS) []Target {
	out := []Target{AgentsMD}
	for _, sign := range []struct {
		path   string
		target Target
	}{{"CLAUDE.md", ClaudeMD}, {".claude", ClaudeMD}, {".cursor", CursorRule}} {
		if _, err := fs.Lstat(workspace, sign.path); err == nil && !slices.Contains(out, sign.target) {
			out = append(out, sign.target)
		}
	}
	return out
}

// blockPath is the file that holds a target's block, "" when it has none.
func blockPath(workspace fs.FS, t Target) string {
	switch t {
	case AgentsMD:
		return "AGENTS.md"
	case ClaudeMD:
		return "CLAUDE.md"
	case PullRequest:
		return pullRequestPath(workspace)
	case Ignore:
		return ignorePath
	case PreCommit:
		return preCommitPath
	case Manifest, Contract, CursorRule, CodexSkill, Workflow, CodexHooks, ClaudeHooks, CursorHooks:
	}
	return ""
}

// syntaxOf is how a target's file writes the markers.
func syntaxOf(t Target) syntax {
	if t == Ignore || t == PreCommit {
		return hashes
	}
	return markdown
}

type planner struct {
	workspace fs.FS
	plan      Plan
	blocks    map[Target]string // rendered so far
	files     []wholeText
}

// blockText is the body of a target's block.
func (p *planner) blockText(t Target) string {
	text, ok := p.blocks[t]
	if !ok {
		text = blockText(t)
		p.blocks[t] = text
	}
	return text
}

// current says whether this version of the program writes this block.
func (p *planner) current(t Target, body string) bool {
	return body == p.blockText(t) || t == PreCommit && body == preCommitWhole()
}

// replacement is the block of this version in the form of an older one.
func (p *planner) replacement(t Target, body string) string {
	if t == PreCommit && strings.HasPrefix(body, reposLine) {
		return preCommitWhole()
	}
	return p.blockText(t)
}

func (p *planner) add(e Edit) { p.plan.Edits = append(p.plan.Edits, e) }

// write adds an edit of a file that was found.
func (p *planner) write(t Target, f found, after []byte, o Outcome, note string) {
	e := Edit{Target: t, Path: f.path, Outcome: o, Note: note, Before: f.text, Existed: f.exists}
	if !o.LeftAlone() {
		e.After = after
	}
	p.add(e)
}

// leave adds a target that stays as it is.
func (p *planner) leave(t Target, f found, o Outcome, note string) {
	p.add(Edit{Target: t, Path: f.path, Outcome: o, Note: note, Before: f.text, Existed: f.exists, After: f.text})
}

func (p *planner) manifest(text []byte) {
	f := look(p.workspace, manifestPath)
	switch {
	case f.bad != "":
		p.leave(Manifest, f, Skipped, f.bad)
	case f.exists:
		p.leave(Manifest, f, Unchanged, "there is a manifest, and it stays as it is")
	default:
		p.write(Manifest, f, Sealed(text), Created, "")
	}
}

// contract writes the agent contract. It is generated and nobody's own text: one
// of another version of the program is replaced.
func (p *planner) contract(text []byte) {
	f := look(p.workspace, contractPath)
	if f.bad == "" && f.exists && plainBreaks(f.text) != plainBreaks(text) {
		theirs, ours := contractVersion(f.text), contractVersion(text)
		switch {
		case theirs == "" || theirs == ours:
		case newer(theirs, ours):
			p.leave(Contract, f, NewerVersion, "version "+ours+" does not replace what a newer one wrote")
			return
		default:
			p.write(Contract, f, text, Updated, "")
			return
		}
	}
	p.whole(Contract, contractPath, string(text))
}

// wholes writes the files of a target that are ours alone.
func (p *planner) wholes(t Target) {
	for _, w := range p.files {
		if w.target == t {
			p.whole(t, w.path, w.text())
		}
	}
}

func (p *planner) whole(t Target, path, text string) {
	f := look(p.workspace, path)
	switch {
	case f.bad != "":
		p.leave(t, f, Skipped, f.bad)
	case !f.exists:
		p.write(t, f, []byte(text), Created, "")
	case plainBreaks(f.text) == text:
		p.leave(t, f, Unchanged, "")
	case renderedBefore(t, plainBreaks(f.text)):
		p.write(t, f, []byte(withBreaks(text, newline(f.text))), Updated, "")
	default:
		p.leave(t, f, Edited, "it is not what this program writes; delete it to have it written again")
	}
}

func (p *planner) ignore() {
	f := look(p.workspace, ignorePath)
	if f.bad == "" && syntaxOf(Ignore).find(f.text).none {
		for line := range strings.Lines(string(f.text)) {
			line = strings.TrimRight(line, " \t\r\n")
			if strings.Trim(line, "/") == ReportsFolder && !strings.HasPrefix(line, "//") {
				p.leave(Ignore, f, Unchanged, "it leaves the folder out already")
				return
			}
		}
	}
	p.blockIn(Ignore, f, func() ([]byte, string) { return appendBlock(f, hashes.wrap(p.blockText(Ignore))), "" })
}

func (p *planner) block(t Target, path string) {
	f := look(p.workspace, path)
	p.blockIn(t, f, func() ([]byte, string) { return appendBlock(f, markdown.wrap(p.blockText(t))), "" })
}

// blockIn brings a file's block up to date; first puts one where there is none,
// or says why it cannot.
func (p *planner) blockIn(t Target, f found, first func() ([]byte, string)) {
	if f.bad != "" {
		p.leave(t, f, Skipped, f.bad)
		return
	}
	s := syntaxOf(t)
	b := s.find(f.text)
	if b.none {
		text, why := first()
		switch {
		case why != "":
			p.leave(t, f, Skipped, why)
		case f.exists:
			p.write(t, f, text, Appended, "")
		default:
			p.write(t, f, text, Created, "")
		}
		return
	}
	if b.unclear != "" {
		p.leave(t, f, Ambiguous, b.unclear)
		return
	}
	switch body, indent := blockBody(s, f.text, b); {
	case b.version > blockVersion:
		p.leave(t, f, NewerVersion, "a newer version of the program wrote the block")
	case p.current(t, body) && b.version == blockVersion:
		p.leave(t, f, Unchanged, "")
	case !p.current(t, body) && !renderedBefore(t, body):
		p.leave(t, f, Edited, "somebody edited the block; delete it, with its markers, to have it written again")
	default:
		o := Updated
		if b.version < blockVersion {
			o = Migrated
		}
		p.write(t, f, swapBlock(f.text, b, indented(s.wrap(p.replacement(t, body)), indent)), o, "")
	}
}

func (p *planner) hooks(t Target) {
	s := settings{t, hostOf(t), hook.Entries(hostOf(t))}
	if len(s.entries) == 0 {
		return
	}
	f := look(p.workspace, s.entries[0].File)
	if f.bad == "" {
		f.bad = switchedOff(p.workspace, s.host)
	}
	if f.bad != "" {
		p.leave(t, f, Skipped, f.bad)
		return
	}
	text, o, note := s.install(f)
	if o.LeftAlone() {
		p.leave(t, f, o, note)
		return
	}
	p.write(t, f, text, o, note)
}

func (p *planner) takeManifest() {
	f := look(p.workspace, manifestPath)
	switch seal := sealOf(f.text); {
	case f.bad != "":
		p.leave(Manifest, f, Skipped, f.bad)
	case !f.exists || seal == noSeal:
		p.leave(Manifest, f, Absent, "")
	case seal == brokenSeal:
		p.leave(Manifest, f, Edited, "the manifest was edited since init wrote it, and it stays; delete it by hand if you want it gone")
	default:
		p.take(Manifest, f)
	}
}

// take adds the deletion of a file.
func (p *planner) take(t Target, f found) {
	p.add(Edit{Target: t, Path: f.path, Outcome: Removed, Before: f.text, Existed: true, Delete: true})
}

func (p *planner) takeWholes(t Target) {
	for _, w := range p.files {
		if w.target == t {
			p.takeWhole(t, w.path, w.text)
		}
	}
}

func (p *planner) takeWhole(t Target, path string, text func() string) {
	f := look(p.workspace, path)
	switch {
	case f.bad != "":
		p.leave(t, f, Skipped, f.bad)
	case !f.exists:
		p.leave(t, f, Absent, "")
	case plainBreaks(f.text) == text() || renderedBefore(t, plainBreaks(f.text)):
		p.take(t, f)
	default:
		p.leave(t, f, Edited, "it is not what this program writes, and it stays")
	}
}

func (p *planner) takeBlock(t Target, path string) {
	f := look(p.workspace, path)
	if f.bad != "" {
		p.leave(t, f, Skipped, f.bad)
		return
	}
	s := syntaxOf(t)
	b := s.find(f.text)
	if b.none {
		p.leave(t, f, Absent, "")
		return
	}
	if b.unclear != "" {
		p.leave(t, f, Ambiguous, b.unclear)
		return
	}
	switch body, _ := blockBody(s, f.text, b); {
	case b.version > blockVersion:
		p.leave(t, f, NewerVersion, "a newer version of the program wrote the block, and takes it back")
	case !p.current(t, body) && !renderedBefore(t, body):
		p.leave(t, f, Edited, "somebody edited the block, and it stays")
	default:
		if rest, remains := cutBlock(f.text, b); remains {
			p.write(t, f, rest, Removed, "")
		} else {
			p.take(t, f)
		}
	}
}

func (p *planner) takeHooks(t Target) {
	s := settings{t, hostOf(t), hook.Entries(hostOf(t))}
	if len(s.entries) == 0 {
		return
	}
	f := look(p.workspace, s.entries[0].File)
	switch {
	case f.bad != "":
		p.leave(t, f, Skipped, f.bad)
		return
	case !f.exists:
		p.leave(t, f, Absent, "")
		return
	}
	switch text, remains, o, note := s.remove(f); {
	case o != Removed:
		p.leave(t, f, o, note)
	case !remains:
		p.take(t, f)
	default:
		p.write(t, f, text, Removed, "")
	}
}

// contractVersion is the version of the program that a contract names, "" for a
// text that is no contract.
func contractVersion(text []byte) string {
	body, _ := source.TrimBOM(text)
	v, err := source.ParseJSON(body)
	if err != nil || v.Get("contract_version").Str() == "" || v.Get("minimum_control_contract_version").Str() == "" {
		return ""
	}
	return v.Get("cli_version").Str()
}

// indented puts indent before every line that has text.
func indented(text, indent string) string {
	if indent == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.String()
}

// blockBody is what stands between the markers, with plain line breaks and
// without the indentation of the first marker. A block whose markers are not as
// they were written gives "".
func blockBody(s syntax, text []byte, b block) (body, indent string) {
	plain := plainBreaks(text[b.start:b.end])
	if !strings.HasSuffix(plain, "\n") {
		plain += "\n"
	}
	indent = plain[:len(plain)-len(strings.TrimLeft(plain, " "))]
	var out strings.Builder
	for line := range strings.Lines(plain) {
		rest, ok := strings.CutPrefix(line, indent)
		if !ok && strings.TrimSpace(line) != "" {
			return "", indent
		}
		out.WriteString(rest)
	}
	plain = out.String()
	first, rest, _ := strings.Cut(plain, "\n")
	if word, _ := s.marker(first); word != startWord || first != strings.TrimRight(first, " \t") {
		return "", indent
	}
	body, ok := strings.CutSuffix(rest, s.before+endWord+s.after+"\n")
	if !ok {
		return "", indent
	}
	return body, indent
}
