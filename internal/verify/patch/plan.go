package patch

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/check"
)

// Files is the disk as a plan needs it.
type Files interface {
	// Within is the real path of a target, links resolved, and its name below the
	// manifest directory with forward slashes; "" when it lies outside.
	Within(target string) (real, name string, err error)
	// Read is the bytes of a regular file by its real path.
	Read(real string) ([]byte, error)
}

// Change is what one file becomes.
type Change struct {
	Path          string // real
	Name          string // below the manifest directory
	Before, After []byte
	Patches       []Suggestion // in the order they are made
}

// Diff is the change as a unified diff.
func (c *Change) Diff() string { return Diff(c.Name, c.Before, c.After) }

// maxPatches bounds what one file is asked for; every edit reads it once more.
const maxPatches = 1000

// Plan makes every edit in memory (§19): files in the order of their first patch,
// each read once and held against the digest of every patch. Either all of it can
// be done, or nothing is.
func Plan(chosen []Suggestion, files Files) ([]Change, *Error) {
	var changes []Change
	at := map[string]int{}
	for _, s := range chosen {
		path, name, err := files.Within(s.Patch.TargetFile)
		switch {
		case err != nil:
			return nil, &Error{Input, s.Patch.TargetFile, "the target cannot be found: " + err.Error()}
		case name == "" || hidden(name):
			return nil, &Error{Outside, s.Patch.TargetFile, "the target is not in the manifest directory; nothing was written"}
		}
		i, ok := at[path]
		if !ok {
			i = len(changes)
			at[path] = i
			changes = append(changes, Change{Path: path, Name: name})
		}
		c := &changes[i]
		if !slices.ContainsFunc(c.Patches, func(o Suggestion) bool { return same(o.Patch, s.Patch) }) {
			c.Patches = append(c.Patches, s)
		}
		if len(c.Patches) > maxPatches {
			return nil, &Error{Malformed, name, "more patches than can be meant for one file"}
		}
	}
	for i := range changes {
		if err := changes[i].make(files); err != nil {
			if err.Path == "" {
				err.Path = changes[i].Name
			}
			return nil, err
		}
	}
	return changes, nil
}

// hidden says whether a name leads into the repository's own data, where an edit
// would be a program.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// same says whether two findings ask for one edit.
func same(a, b check.Patch) bool {
	return a.Kind == b.Kind && a.Pointer == b.Pointer && a.Format == b.Format && digestOf(a.TargetSHA256) == digestOf(b.TargetSHA256) &&
		reflect.DeepEqual(a.Value, b.Value)
}

func (c *Change) make(files Files) *Error {
	text, err := files.Read(c.Path)
	if err != nil {
		return refuse(Input, "cannot be read: %v", err)
	}
	sum := sha256.Sum256(text)
	format := Format(c.Patches[0].Patch.Format)
	for _, s := range c.Patches {
		if digestOf(s.Patch.TargetSHA256) != hex.EncodeToString(sum[:]) {
			return refuse(Input, "the file is not the one that the report speaks of; make the report again")
		}
		if Format(s.Patch.Format) != format {
			return refuse(Malformed, "the patches name two formats for one file")
		}
	}
	slices.SortStableFunc(c.Patches, order)
	edits := make([]Edit, len(c.Patches))
	wanted := map[string]any{}
	for i, s := range c.Patches {
		p := s.Patch
		if before, ok := wanted[p.Pointer]; ok && p.Kind == check.SetPointer && !reflect.DeepEqual(before, p.Value) {
			return refuse(Malformed, "%s is set to two values", p.Pointer)
		}
		if p.Kind == check.SetPointer {
			wanted[p.Pointer] = p.Value
		}
		edits[i] = Edit{Kind: p.Kind, Pointer: p.Pointer, Value: p.Value}
	}
	after, failed := Apply(text, format, edits...)
	if failed != nil {
		return failed
	}
	c.Before, c.After = text, after
	return nil
}

// order puts what changes no place first: values, then entries at the end of
// lists, then removals from the highest index down, so that every pointer still
// means what it meant in the report.
func order(a, b Suggestion) int {
	rank := func(s Suggestion) int { return slices.Index(Kinds, s.Patch.Kind) }
	if rank(a) != rank(b) || a.Patch.Kind != check.RemovePointer {
		return rank(a) - rank(b)
	}
	x, _ := Steps(a.Patch.Pointer)
	y, _ := Steps(b.Patch.Pointer)
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		m, isX := index(x[i], 1<<30)
		n, isY := index(y[i], 1<<30)
		if isX && isY {
			return n - m
		}
		return strings.Compare(x[i], y[i])
	}
	return len(y) - len(x) // what is inside goes before what holds it
}

// digestOf is a SHA-256 in its plain form; "" for a text that is none.
func digestOf(text string) string {
	text = strings.ToLower(strings.TrimPrefix(text, "sha256:"))
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return ""
	}
	return text
}
