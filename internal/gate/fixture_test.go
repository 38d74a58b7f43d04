package gate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/surface"
)

const boundaryData = "../../testdata/boundary/"

// edit is one file before and after; nil is a side on which it is not there.
type edit struct{ before, after []byte }

func added(text string) edit           { return edit{after: []byte(text)} }
func edited(before, after string) edit { return edit{[]byte(before), []byte(after)} }
func deleted(text string) edit         { return edit{before: []byte(text)} }

// files is a change by path.
type files map[string]edit

// change is a test's description of an Input.
type change struct {
	files    files
	mode     gate.Mode // worktree when empty
	actor    gate.Actor
	manifest string   // of the configured manifest; "shipgate.yaml" when empty
	declared []string // tool sources
	adopted  bool
	policies map[string]string // policy in use by workspace path
	explicit string            // repository path of the --policy file
	more     func(*gate.Input)
}

// input builds what a reader of the repository would have read.
func (c change) input() gate.Input {
	in := gate.Input{
		Actor: c.actor, Mode: c.mode, Workspace: "/repo", ConfigArg: c.manifest,
		Manifest: gate.Manifest{Path: c.manifest, Present: c.adopted, Declared: c.declared},
	}
	if in.Actor == "" {
		in.Actor = gate.ActorCodex
	}
	if in.Mode == "" {
		in.Mode = gate.Worktree
	}
	if in.Mode == gate.GitRange {
		in.Base, in.Head = "main", "topic"
	}
	if in.Manifest.Path == "" {
		in.Manifest.Path, in.ConfigArg = "shipgate.yaml", "shipgate.yaml"
	}
	var paths []string
	for p := range c.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	in.ChangedFiles = paths
	for _, p := range paths {
		e := c.files[p]
		r := record(p, e)
		in.Records = append(in.Records, r)
		in.Text = append(in.Text, diff.Render(&r)...)
		if s := sideChange(p, e, in.Mode); surface.IsBoundary(p) || p == in.Manifest.Path || p == c.explicit {
			s.Manifest, s.Policy = p == in.Manifest.Path, p == c.explicit
			in.Changes = append(in.Changes, s)
		}
	}
	in.IndexFrom = len(in.Records)
	in.Policy.Workspace = map[string]gate.PolicyFile{}
	for _, p := range []string{policy.Unified, policy.LegacyCodex, policy.LegacyHost} {
		if e, ok := c.files[p]; ok && e.after != nil {
			in.Policy.Workspace[p] = gate.PolicyFile{Found: true, Bytes: e.after}
		}
	}
	for p, text := range c.policies {
		in.Policy.Workspace[p] = gate.PolicyFile{Found: true, Bytes: []byte(text)}
	}
	if c.explicit != "" {
		after := c.files[c.explicit].after
		in.Policy.Explicit, in.Policy.ExplicitPath = &gate.PolicyFile{Found: after != nil, Bytes: after}, c.explicit
	}
	if c.more != nil {
		c.more(&in)
	}
	return in
}

func record(path string, e edit) diff.Record {
	switch {
	case e.before == nil:
		return diff.NewFile(path, "100644", e.after)
	case e.after == nil:
		return diff.Delete(path, "100644", e.before)
	}
	return diff.Replace(path, "100644", "100644", e.before, e.after)
}

func sideChange(path string, e edit, mode gate.Mode) surface.Change {
	c := surface.Change{
		Path: path, Source: surface.GitWorktree, Listed: true, Deleted: e.after == nil,
		Old: surface.Side{Present: e.before != nil, Bytes: e.before},
		New: surface.Side{Present: e.after != nil, Bytes: e.after},
	}
	switch mode {
	case gate.GitRange:
		c.Source = surface.GitRange
	case gate.ProvidedDiff:
		c.Source = diff.SourceBase
		if e.before == nil {
			c.Source = diff.SourceNewFile
		}
	case gate.Worktree:
	}
	c.Added, c.Removed = surface.ChangedLines(e.before, e.after)
	return c
}

// issue makes a reader's issue part of the input.
func issue(code, path string) func(*gate.Input) {
	return func(in *gate.Input) {
		in.Issues = append(in.Issues, surface.Issue{Code: code, Path: path, Message: "The input could not be read in full."})
	}
}

// check judges a change and holds the result against the schema and against
// itself.
func check(t testing.TB, c change) *gate.Result {
	t.Helper()
	r, err := gate.Check(c.input())
	if err != nil {
		t.Fatal(err)
	}
	sound(t, r)
	return r
}

// sound holds every result to what §8 promises of all of them.
func sound(t testing.TB, r *gate.Result) {
	t.Helper()
	data := r.JSON()
	validate(t, "agent-boundary-result-schema.v2.json", data)
	validate(t, "codex-boundary-result-schema.v2.json", r.CodexJSON())
	back, err := gate.Decode(data)
	if err != nil {
		t.Fatalf("the result does not read again: %v\n%s", err, data)
	}
	if !bytes.Equal(back.JSON(), data) {
		t.Fatalf("the result reads as another one:\n%s\n%s", data, back.JSON())
	}
	if len(r.Control.AllowedNextCommands()) > 0 && r.Control.MustStop() {
		t.Fatal("a stop allows a command")
	}
	if !slices.IsSorted(r.Issues) || !slices.IsSorted(r.ChangedFiles) || !slices.IsSorted(r.AffectedHosts) {
		t.Fatalf("issues, changed_files and affected_hosts are sorted:\n%s", data)
	}
	if !slices.Equal(r.Repair.ForbiddenShortcuts[:4], control.ForbiddenShortcuts()) {
		t.Fatalf("the four shortcuts begin every list:\n%s", data)
	}
}

var schemas = struct {
	sync.Mutex
	byName map[string]*jsonschema.Schema
}{byName: map[string]*jsonschema.Schema{}}

func validate(t testing.TB, name string, data []byte) {
	t.Helper()
	schemas.Lock()
	defer schemas.Unlock()
	s := schemas.byName[name]
	if s == nil {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		var err error
		if s, err = compiler.Compile(boundaryData + name); err != nil {
			t.Fatal(err)
		}
		schemas.byName[name] = s
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(document); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, data)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(boundaryData + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rows is the result's rows as "ID kind path", in order.
func rows(r *gate.Result) []string {
	var list []string
	for i := range r.Violations {
		v := &r.Violations[i]
		list = append(list, strings.TrimSpace(v.ID+" "+v.Kind()+" "+v.Path))
	}
	return list
}

func codes(r *gate.Result) []string {
	var list []string
	for _, d := range r.Diagnostics {
		list = append(list, d.Code)
	}
	return list
}

func status(t testing.TB, r *gate.Result, id surface.AdapterID) gate.HostCoverage {
	t.Helper()
	for _, h := range r.HostCoverage {
		if h.Adapter == id {
			return h
		}
	}
	t.Fatalf("no coverage of %s", id)
	return gate.HostCoverage{}
}

func decodeAny(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
