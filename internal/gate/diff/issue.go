package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The codes of docs/spec/boundary.md §3.2 that the records of a diff show.
const (
	CodeUnparseable      = "boundary_diff_unparseable"
	CodeShapeInvalid     = "boundary_diff_shape_invalid"
	CodePathInvalid      = "boundary_diff_path_invalid"
	CodeContentMissing   = "boundary_diff_content_missing"
	CodeRenameOut        = "boundary_rename_out_requires_review"
	CodeTargetUnresolved = "boundary_rename_target_unresolved"
	CodeTargetOversized  = "boundary_rename_target_oversized"
	CodeTargetUnreadable = "boundary_rename_target_unreadable"
)

const (
	wholeDiff       = "<diff>"
	maxRenameTarget = 128 << 10
	maxNamedPaths   = 3
)

// Issue is one structural reason why a diff cannot be judged in full.
type Issue struct {
	Code    string
	Path    string // repository path, or "<diff>"
	Message string // one sentence without any content of a file
}

// Options says how the records were obtained.
type Options struct {
	// Boundary says whether a path matches an adapter or has a trust-root
	// class, or is a boundary path for another reason.
	Boundary func(path string) bool
	// Detached: the records are all there is, no side can be read elsewhere.
	Detached bool
	// Text is what the records were parsed from, to tell an empty diff from
	// one that cannot be read. May be nil.
	Text []byte
}

// Issues lists the structural issues of the records of one after-state, in
// record order (docs/spec/boundary.md §3.2, ruling R1). Call it once for each
// after-state: a path may well have a record in both.
func Issues(records []Record, opt Options) []Issue {
	l := issueList{seen: map[[2]string]bool{}}
	if unparseable(records, opt.Text) {
		l.add(CodeUnparseable, wholeDiff, "The diff holds a change outside of any git-style record.")
	}
	boundary := func(path string) bool { return path != "" && opt.Boundary != nil && opt.Boundary(path) }
	for i := range records {
		r := &records[i]
		l.addPaths(r)
		if r.ShapeOld || r.ShapeNew || r.New && r.Deleted || (r.New || r.Deleted) && (r.Renamed || r.Copied) {
			l.add(CodeShapeInvalid, r.Path(), "The headers of the record contradict each other.")
		}
		if r.Moves() && !r.Copied && boundary(r.OldName) && !boundary(r.NewName) {
			l.add(CodeRenameOut, r.OldName, "A boundary file is renamed to a path that is none.")
		}
		if !opt.Detached || !boundary(r.Path()) {
			continue
		}
		switch {
		case !r.HasHunks && !r.Moves():
			l.add(CodeContentMissing, r.Path(), "The diff does not show the content of a boundary file.")
		case !r.Complete():
			l.add(CodeContentMissing, r.Path(), "The diff shows only a part of the change of a boundary file.")
		}
	}
	if shared := sharedPaths(records); len(shared) > 0 {
		named := strings.Join(shared[:min(len(shared), maxNamedPaths)], ", ")
		if more := len(shared) - maxNamedPaths; more > 0 {
			named = fmt.Sprintf("%s and %d more", named, more)
		}
		l.add(CodeShapeInvalid, wholeDiff, "More than one record of the diff is about "+named+".")
	}
	return l.issues
}

type issueList struct {
	issues []Issue
	seen   map[[2]string]bool
}

func (l *issueList) add(code, path, message string) {
	if key := [2]string{code, path}; !l.seen[key] {
		l.seen[key] = true
		l.issues = append(l.issues, Issue{Code: code, Path: path, Message: message})
	}
}

func (l *issueList) addPaths(r *Record) {
	const message = "The diff names a path that is malformed, not UTF-8, or not portable."
	found := false
	for _, side := range []struct {
		name string
		bad  bool
	}{{r.OldName, r.badOld}, {r.NewName, r.badNew}} {
		if side.bad || side.name != "" && !PortablePath(side.name) {
			l.add(CodePathInvalid, lossy([]byte(side.name)), message)
			found = true
		}
	}
	if r.InvalidName && !found {
		// Marked by whoever made the record.
		l.add(CodePathInvalid, r.Path(), message)
	}
}

// unparseable says whether a text holds a change that no record shows: any
// word in a text without records, or a traditional file header in front of the
// first record, which git would apply and nobody would judge.
func unparseable(records []Record, text []byte) bool {
	if len(records) == 0 {
		return len(bytes.TrimSpace(text)) > 0
	}
	after := false // the last line was an old side
	for rest := unifyEnds(text); len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if bytes.HasPrefix(line, []byte(recordStart)) {
			return false
		}
		if after && bytes.HasPrefix(line, []byte("+++ ")) {
			return true
		}
		after = bytes.HasPrefix(line, []byte("--- "))
	}
	return false
}

// sharedPaths is every path that more than one record is about, in the order
// of their first records. A type change is printed as a deletion and an
// addition and is one change.
func sharedPaths(records []Record) []string {
	byPath := make(map[string][]*Record, len(records))
	var order []string
	for i := range records {
		r := &records[i]
		if r.InvalidName {
			continue
		}
		p := r.Path()
		if byPath[p] == nil {
			order = append(order, p)
		}
		byPath[p] = append(byPath[p], r)
	}
	return slices.DeleteFunc(order, func(p string) bool {
		list := byPath[p]
		return len(list) == 1 || len(list) == 2 && typeChange(list[0], list[1])
	})
}

// typeChange says whether a deletion and an addition of one path are how git
// prints that a file became a link or a submodule, or the reverse.
func typeChange(a, b *Record) bool {
	const kind = 3 // the leading digits of a mode that say what the entry is
	return a.Deleted && b.New && len(a.OldMode) == 6 && len(b.NewMode) == 6 && a.OldMode[:kind] != b.NewMode[:kind]
}

// RenameTarget is the issue of a detached record that renames or copies a file
// onto a boundary path, judged by what the workspace holds at the new name;
// false when there is none.
func RenameTarget(r *Record, ws WorkspaceFile) (Issue, bool) {
	issue := Issue{Path: r.NewName}
	switch {
	case ws.State == FileReadFailed, ws.State == FileRead && (bytes.IndexByte(ws.Bytes, 0) >= 0 || !utf8.Valid(ws.Bytes)):
		issue.Code, issue.Message = CodeTargetUnreadable, "The file that is renamed onto a boundary path cannot be read as text."
	case ws.State != FileRead:
		issue.Code, issue.Message = CodeTargetUnresolved, "The file that is renamed onto a boundary path is not in the workspace."
	case len(ws.Bytes) > maxRenameTarget:
		issue.Code, issue.Message = CodeTargetOversized, "The file that is renamed onto a boundary path is too large."
	default:
		return Issue{}, false
	}
	return issue, true
}

// PortablePath says whether a repository path means the same file on every
// system: the rule of boundary_diff_path_invalid.
func PortablePath(name string) bool {
	if name == "" || !utf8.ValidString(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 0x20 || c == '\\' || c == ':' {
			return false
		}
	}
	for segment := range strings.SplitSeq(name, "/") {
		// The empty segment also stands for a leading or a doubled slash; one
		// that ends in a dot for "." and "..".
		if segment == "" || strings.HasSuffix(segment, " ") || strings.HasSuffix(segment, ".") || isDevice(segment) || IsGitFolder(segment) {
			return false
		}
	}
	return true
}

// IsGitFolder says whether a segment of a path is what some file system opens as
// Git's own folder. Git takes no such name into a tree, and what lies there (hooks,
// settings, refs) is no part of any change: it decides what the next command does.
func IsGitFolder(segment string) bool {
	plain := strings.TrimRight(strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1 // HFS+ ignores them
		}
		return r
	}, segment), " .")
	plain, _, _ = strings.Cut(plain, ":") // a stream of NTFS
	return strings.EqualFold(plain, ".git") || strings.EqualFold(plain, "git~1")
}

// isDevice says whether a segment names a device on Windows, with or without
// an extension.
func isDevice(segment string) bool {
	stem, _, _ := strings.Cut(segment, ".")
	stem = strings.TrimRight(stem, " ")
	switch {
	case len(stem) == 3:
		stem = strings.ToLower(stem)
		return stem == "con" || stem == "prn" || stem == "aux" || stem == "nul"
	case len(stem) == 4 && stem[3] >= '1' && stem[3] <= '9':
		stem = strings.ToLower(stem[:3])
		return stem == "com" || stem == "lpt"
	}
	return false
}
