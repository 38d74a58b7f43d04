package git

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
)

// detached reads a supplied diff. No Git runs; the workspace is only looked at
// to rebuild both sides of a record, and no link is followed (§2.7, §3.3).
func (a *acquisition) detached() error {
	text, err := a.supplied()
	if err != nil {
		return err
	}
	a.in.Text = text
	a.in.Records = diff.Parse(text)
	a.in.IndexFrom = len(a.in.Records)
	v := a.diskOnly()
	manifest, present, err := a.readManifest(v, manifestBound)
	if err != nil {
		return err
	}
	a.in.Manifest.Present = present
	a.declare(manifest, v)
	if err := a.policies(v); err != nil {
		return err
	}
	for _, i := range diff.Issues(a.in.Records, diff.Options{Boundary: a.judged, Detached: true, Text: text}) {
		a.report(surface.Issue{Code: i.Code, Path: i.Path, Message: i.Message})
	}
	changed := map[string]bool{}
	for i := range a.in.Records {
		r := &a.in.Records[i]
		for _, p := range names(r) {
			changed[p] = true
		}
		a.suppliedRecord(r)
	}
	a.in.ChangedFiles = sorted(changed)
	a.linksAcross(changed)
	return nil
}

// diskOnly is the working tree where no index is known.
func (a *acquisition) diskOnly() diskView { return diskView{disk: a.disk, sparse: newOverlay()} }

// supplied is the text of the diff.
func (a *acquisition) supplied() ([]byte, error) {
	if in := a.req.Diff.Reader; in != nil {
		text, err := readDiff(in)
		if err != nil {
			return nil, &InputError{Failure: gate.StdinTooLarge, Err: err}
		}
		return text, nil
	}
	text, err := a.readGiven(absolute(a.req.Dir, a.req.Diff.Path), patchBound)
	switch {
	case err == nil && tooManyLines(text):
		return nil, &InputError{Failure: gate.DiffTooLarge}
	case err == nil:
		return text, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &InputError{Failure: gate.DiffMissing}
	case errors.Is(err, fs.ErrPermission), codeOf(err) == codeUnreadable:
		return nil, &InputError{Failure: gate.DiffUnreadable}
	case codeOf(err) == codeOversized:
		return nil, &InputError{Failure: gate.DiffTooLarge}
	}
	return nil, &InputError{Failure: gate.DiffLinked, Err: err}
}

// workspaceFile is what the strict reader finds at p.
func (a *acquisition) workspaceFile(p string) diff.WorkspaceFile {
	if !diff.PortablePath(p) {
		return diff.WorkspaceFile{State: diff.FileOutside}
	}
	text, err := a.disk.read(p, surfaceBound)
	switch {
	case err == nil:
		return diff.WorkspaceFile{State: diff.FileRead, Bytes: text}
	case errors.Is(err, fs.ErrNotExist):
		return diff.WorkspaceFile{State: diff.FileMissing}
	case codeOf(err) == codeExternal:
		return diff.WorkspaceFile{State: diff.FileUnsafe}
	}
	return diff.WorkspaceFile{State: diff.FileReadFailed}
}

// suppliedRecord turns one record into changes of the protected paths it is
// about.
func (a *acquisition) suppliedRecord(r *diff.Record) {
	if r.Renamed && r.OldName != "" && r.OldName != r.NewName && a.judged(r.OldName) {
		a.movedAway(r.OldName)
	}
	p := r.Path()
	if p == "" || !a.judged(p) {
		return
	}
	ch := surface.Change{
		Path: p, Listed: true, Manifest: p == a.manifest, Policy: p == a.policyPath,
		Deleted: r.Deleted && !r.New,
	}
	ch.Added, ch.Removed = recordLines(r)
	ch.OldHunkLines, ch.NewHunkLines = hunkLines(r)
	linkMode := r.OldMode == modeLink || r.NewMode == modeLink || r.OldMode == modeGitlink || r.NewMode == modeGitlink
	if linkMode && (surface.IsAdapterPath(p) || surface.IsLinkPoint(p) || a.readable(p)) {
		a.suppliedLink(p)
	}
	if !a.readable(p) {
		ch.Old.Present, ch.New.Present = !r.New, !ch.Deleted
		a.in.Changes = append(a.in.Changes, ch)
		return
	}
	ws := a.workspaceFile(p)
	if r.Moves() {
		if issue, bad := diff.RenameTarget(r, ws); bad {
			a.report(surface.Issue{Code: issue.Code, Path: issue.Path, Message: issue.Message})
		}
	}
	res := diff.Reconstruct(r, ws)
	ch.Source = surface.Token(res.Source)
	ch.Old.Present, ch.New.Present = !r.New, !ch.Deleted
	switch {
	case linkMode || a.behindLink(p):
		if !linkMode {
			a.suppliedLink(p)
		}
		ch.New.Unresolved = codeExternal
	case res.Unresolved:
		ch.New.Unresolved = res.Source
	default:
		ch.Old, ch.New = suppliedSide(res.OldPresent, res.Old), suppliedSide(res.NewPresent, res.New)
		for _, s := range []surface.Side{ch.Old, ch.New} {
			if s.Unresolved != "" {
				a.issue(s.Unresolved, p)
			}
		}
	}
	if surface.IsAdapterPath(p) && !validLines(r) {
		a.issue(codeNonUTF8, p)
	}
	a.in.Changes = append(a.in.Changes, ch)
}

func suppliedSide(present bool, text []byte) surface.Side {
	if !present {
		return surface.Side{}
	}
	return textSide(text)
}

func validLines(r *diff.Record) bool {
	for i := range r.Hunks {
		for _, l := range r.Hunks[i].Lines {
			if !utf8.Valid(l.Text) {
				return false
			}
		}
	}
	return true
}

// movedAway is the deletion that a rename is for its old name; what the file
// held is known only while the workspace still has it.
func (a *acquisition) movedAway(p string) {
	ch := surface.Change{
		Path: p, Listed: true, Deleted: true, Manifest: p == a.manifest, Policy: p == a.policyPath,
		Old: surface.Side{Present: true}, Source: diff.SourceDeletedFile,
	}
	if a.readable(p) {
		if ws := a.workspaceFile(p); ws.State == diff.FileRead {
			ch.Old = textSide(ws.Bytes)
			ch.Removed = removedLines(ch.Old.Bytes)
		} else {
			ch.Old.Unresolved = diff.UnresolvedRename
			ch.Source = diff.UnresolvedRename
		}
	}
	a.in.Changes = append(a.in.Changes, ch)
}

func removedLines(text []byte) []surface.AddedLine {
	_, removed := surface.ChangedLines(text, nil)
	return removed
}

// suppliedLink is row 27: a detached diff has no tree to follow a link in.
func (a *acquisition) suppliedLink(p string) {
	if surface.IsLinkPoint(p) && !surface.IsAdapterPath(p) {
		a.linkPoint(p)
		return
	}
	a.issue(codeExternal, p)
}

// behindLink says whether the workspace has a link at p or at one of its
// folders.
func (a *acquisition) behindLink(p string) bool {
	if !diff.PortablePath(p) {
		return false
	}
	st, err := a.disk.look(p)
	return err != nil || st.parent != "" || st.info != nil && isLink(st.info)
}

// Where a host looks in every folder, and in the root (§4.1); link points are
// among them.
var (
	fixedEverywhere = []string{
		"CLAUDE.md", "AGENTS.md", "AGENTS.override.md", ".mcp.json", ".codex", ".codex/config.toml", ".codex/hooks.json",
		".codex/requirements.toml", ".github", ".github/workflows",
	}
	fixedInRoot = []string{
		".claude", ".claude/settings.json", ".claude/settings.local.json", ".claude/commands", ".claude/skills",
		".cursor", ".cursor/cli.json", ".cursor/mcp.json", ".cursor/rules", ".vscode", ".vscode/mcp.json",
		".agents", ".agents/skills", ".shipgate", ".shipgate/agent-contract.json", ".agents-shipgate", "policies",
		"policies/agent-boundary.shipgate.yaml", "policies/codex-boundary.shipgate.yaml",
		"policies/host-boundary.shipgate.yaml", "shipgate.yaml",
	}
	// below these everything is a link point
	deepLinkPoints = []string{".claude/commands", ".claude/skills", ".cursor/rules", ".agents/skills"}
)

// linksAcross reports links of the workspace through which the diff reaches a
// host's file under another name (§2.7, detached).
func (a *acquisition) linksAcross(changed map[string]bool) {
	var portable []string
	for p := range changed {
		if diff.PortablePath(p) {
			portable = append(portable, p)
		}
	}
	if len(portable) == 0 {
		return
	}
	places := slices.Clone(fixedInRoot)
	for _, dir := range folders(portable) {
		for _, name := range fixedEverywhere {
			places = append(places, join(dir, name))
		}
	}
	for _, dir := range deepLinkPoints {
		places = append(places, a.linksBelow(dir)...)
	}
	slices.Sort(places)
	for _, l := range slices.Compact(places) {
		st, err := a.disk.look(l)
		if err != nil || st.info == nil || !isLink(st.info) {
			continue
		}
		res, err := resolve(a.diskOnly(), l, nil)
		switch {
		case err != nil || !slices.ContainsFunc(portable, func(p string) bool { return res.meets(p) }):
		case res.outcome == folder && surface.IsLinkPoint(l):
			a.linkPoint(l)
		default:
			a.suppliedLink(l)
		}
	}
}

// meets says whether p is a link that the resolution passes, its end, or below
// its end.
func (r *resolution) meets(p string) bool {
	_, below := r.above(p)
	return below || r.end == p || slices.Contains(r.via, p)
}

// linksBelow are the links in a folder of the workspace. Links are not followed.
func (a *acquisition) linksBelow(dir string) []string {
	if st, err := a.disk.look(dir); err != nil || st.info == nil || !st.info.IsDir() {
		return nil
	}
	var out []string
	filepath.WalkDir(a.disk.full(dir), func(full string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be listed cannot be reached
		if rel, ok := relative(a.root, full); err == nil && ok && d.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			out = append(out, rel)
		}
		return nil
	})
	return out
}
