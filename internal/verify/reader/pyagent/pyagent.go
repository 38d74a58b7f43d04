// Package pyagent reads the agents and tools of Python frameworks: which
// functions are tools, which agents hold them, and which lists could not be read
// (docs/spec/verification.md §§5.2, 6.4).
//
// Nothing is run and nothing is guessed. A list that is computed becomes a
// tool.Dynamic with its reason, and what is known of it stays as edges that are
// not complete: a tool is never dropped because its list is not understood.
// One file per framework; this file, names.go, list.go, schema.go and
// toolkit.go hold what they share.
package pyagent

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of one source. Work is what reading lists costs, in steps: many agents
// that share one long list would make more edges than anybody can review.
const (
	maxFiles  = 2000
	maxLevels = 16 // of folders below the declared one
	maxBytes  = 64 << 20
	maxWork   = 400_000
)

const agentsSDK = "openai_agents_sdk"

// Module is one Python file of a program.
type module struct {
	path    string // relative to the manifest directory
	file    *python.File
	prog    *program
	objects map[*python.Class]map[string]*attribute
	// straight are the expressions that are statements of the module itself: they
	// run whenever it is loaded. Made when it is needed.
	straight map[python.Node]bool
}

// program is what one source declares: a file or the files of a directory. Names
// are followed from file to file inside of it.
type program struct {
	framework string // of tool.Dynamic: openai_agents_sdk, langchain, crewai, google_adk
	sourceID  string
	modules   []*module
	out       *tool.Reading
	made      map[python.Node]string      // names of tools by the function, class or call that makes them
	first     map[string]int              // where in out.Tools each name of a tool stands
	agents    map[*python.Call]string     // names of agents by the call that makes them
	owners    map[python.Node]python.Node // innermost function or class around a call
	byLast    map[string][]*module        // modules by the last part of their name
	families  map[family]bool             // answers of classIs
	offering  map[*python.Call]bool       // constructors of others whose objects give an agent tools
	bytes     int
	work      int
}

// spend counts one step and says whether there may be more.
func (p *program) spend() bool {
	p.work++
	return p.work <= maxWork
}

// done is what was read, or that it was too much to read in full.
func (p *program) done() (*tool.Reading, *tool.SourceError) {
	if p.work > maxWork {
		return nil, p.owned(&tool.SourceError{
			Path: p.modules[0].path, Problem: tool.TooLarge, Detail: "the agents hold longer lists of tools than we read",
		})
	}
	if err := p.overfull(); err != nil {
		return nil, err
	}
	return p.out, nil
}

func newProgram(framework, sourceID string) *program {
	return &program{
		framework: framework, sourceID: sourceID, out: &tool.Reading{},
		made: map[python.Node]string{}, first: map[string]int{}, agents: map[*python.Call]string{},
		owners: map[python.Node]python.Node{}, byLast: map[string][]*module{}, families: map[family]bool{}, offering: map[*python.Call]bool{},
	}
}

// load adds the file, or the *.py files of the folder, that a source names.
func (p *program) load(tree fs.FS, name string) *tool.SourceError {
	clean, ok := tool.Clean(name)
	if !ok {
		_, err := tool.ReadFile(tree, name)
		return p.owned(err)
	}
	info, err := fs.Stat(tree, clean)
	if err != nil || !info.IsDir() {
		return p.loadFile(tree, clean)
	}
	names, failed := p.folder(tree, clean)
	if failed != nil {
		return p.owned(failed)
	}
	for _, name := range names {
		if err := p.loadFile(tree, name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return p.owned(&tool.SourceError{Path: clean, Problem: tool.NotThere, Detail: "holds no Python file"})
	}
	return nil
}

// notCode are folders of a package that hold no part of its agents.
var notCode = []string{"__pycache__", "build", "dist", "node_modules", "site-packages", "test", "tests", "venv"}

// folder lists the *.py files that a declared folder stands for. For the Agents
// SDK that is the package with its packages (D70.W3), for the others the folder
// itself. What is left out and imported is unresolved, and said.
func (p *program) folder(tree fs.FS, root string) ([]string, *tool.SourceError) {
	var names []string
	err := fs.WalkDir(tree, root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if name != root && (p.framework != agentsSDK || strings.HasPrefix(e.Name(), ".") || slices.Contains(notCode, e.Name())) {
				return fs.SkipDir
			}
			if strings.Count(strings.TrimPrefix(name, root), "/") > maxLevels {
				return errTooDeep
			}
			return nil
		case !strings.HasSuffix(name, ".py"):
			return nil
		case len(names) == maxFiles:
			return errTooMany
		}
		names = append(names, name)
		return nil
	})
	switch {
	case errors.Is(err, errTooMany):
		return nil, &tool.SourceError{Path: root, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds over %d Python files", maxFiles)}
	case errors.Is(err, errTooDeep):
		return nil, &tool.SourceError{Path: root, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds folders more than %d levels deep", maxLevels)}
	case err != nil:
		return nil, &tool.SourceError{Path: root, Problem: tool.Unreadable, Detail: "the folder could not be read", Err: err}
	}
	return names, nil
}

var (
	errTooMany = errors.New("too many files")
	errTooDeep = errors.New("too many levels")
)

func (p *program) owned(err *tool.SourceError) *tool.SourceError {
	err.SourceID = p.sourceID
	return err
}

func (p *program) loadFile(tree fs.FS, name string) *tool.SourceError {
	for _, m := range p.modules {
		if m.path == name {
			return nil
		}
	}
	text, fault := tool.ReadFile(tree, name)
	if fault != nil {
		return p.owned(fault)
	}
	if p.bytes += len(text); p.bytes > maxBytes {
		return p.owned(&tool.SourceError{Path: name, Problem: tool.TooLarge, Detail: fmt.Sprintf("the source is over %d MiB", maxBytes>>20)})
	}
	file, err := python.Parse(text)
	if err != nil {
		at := &tool.SourceError{Path: name, Problem: tool.Malformed, Detail: "is not Python as we read it", Err: err}
		if e, ok := errors.AsType[*python.SyntaxError](err); ok {
			at.Line, at.Detail = e.Pos.Line, "is not Python as we read it: "+e.Detail
		}
		return p.owned(at)
	}
	m := &module{path: name, file: file, prog: p, objects: map[*python.Class]map[string]*attribute{}}
	p.modules = append(p.modules, m)
	key := ""
	if own := m.segments(); len(own) > 0 {
		key = own[len(own)-1]
	}
	p.byLast[key] = append(p.byLast[key], m)
	p.own(m, file.Body, nil)
	return nil
}

// loadAll reads the artifacts of a framework block as one program. An optional
// one that cannot be read is a source row and a warning.
func (p *program) loadAll(tree fs.FS, list []manifest.Artifact) *tool.SourceError {
	for _, a := range list {
		err := p.load(tree, a.Path)
		switch {
		case err == nil:
		case a.Optional:
			p.out.Add(tool.Skipped(tool.Source{ID: tool.BlockSource(p.framework, a.Path), Type: p.framework, Path: a.Path, Optional: true}, err))
		default:
			return err
		}
	}
	return nil
}

// finish sorts nothing and adds the row of a block, whose optional artifacts
// have rows already.
func (p *program) finish(row tool.Source) *tool.Reading {
	row.State, row.Tools = tool.Loaded, len(p.out.Tools)
	p.out.Sources = append([]tool.Source{row}, p.out.Sources...)
	return p.out
}

// own notes the function or class around each call, to name what has no name.
func (p *program) own(m *module, body []python.Stmt, owner python.Node) {
	for _, s := range body {
		python.Inspect(s, func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Function:
				p.decorators(n.Decorators, owner)
				p.own(m, n.Body, n)
				return false
			case *python.Class:
				p.own(m, n.Body, n)
				return false
			case *python.Call:
				p.owners[n] = owner
			}
			return true
		})
	}
}

func (p *program) decorators(list []python.Expr, owner python.Node) {
	for _, d := range list {
		python.Inspect(d, func(n python.Node) bool {
			if c, ok := n.(*python.Call); ok {
				p.owners[c] = owner
			}
			return true
		})
	}
}

// origin is where a node stands, as a source of the given type.
func (m *module) origin(kind string, at python.Range) tool.Origin {
	return tool.Origin{
		Type: kind, SourceID: m.prog.sourceID, Ref: m.path, Path: m.path,
		Start: source.Position(at.Start), EndLine: at.End.Line,
		Location: fmt.Sprintf("%s:%d", m.path, at.Start.Line),
	}
}

// The reasons of a tool.Dynamic (§5.2 row langchain).
const (
	comprehension  = "comprehension"
	runtimeCall    = "runtime_call"
	unresolvedName = "unresolved_name"
	unsupported    = "unsupported_expression"
	changed        = "changed_in_place"
	conditional    = "conditional_expression"
)

// dynamic adds something that offers tools and cannot be listed.
func (m *module) dynamic(kind, reason, agent, name string, at python.Range) {
	m.prog.out.Dynamic = append(m.prog.out.Dynamic, tool.Dynamic{
		Framework: m.prog.framework, Kind: kind, Reason: reason, Agent: agent, Name: name,
		Origin: m.origin(m.prog.framework, at),
	})
}

// emit adds a tool that made makes, once. A second one of the same name in one
// file that looks the same is the same; one that looks otherwise is said as
// dynamic, so that nobody takes the first for the whole truth.
func (m *module) emit(made python.Node, t tool.Tool) string {
	p := m.prog
	if name, ok := p.made[made]; ok {
		return name
	}
	p.made[made] = t.Name
	key := t.Origin.Ref + "\x00" + t.Name + "\x00" + t.Origin.Type
	i, ok := p.first[key]
	if !ok {
		p.first[key] = len(p.out.Tools)
		p.out.Tools = append(p.out.Tools, t)
		return t.Name
	}
	if old := &p.out.Tools[i]; old.Description != t.Description || old.Signature != t.Signature || !reflect.DeepEqual(old.Input, t.Input) {
		p.out.Dynamic = append(p.out.Dynamic, tool.Dynamic{
			Framework: p.framework, Kind: "name", Reason: "defined_twice", Name: t.Name, Origin: t.Origin,
		})
		p.out.Warn("duplicate_tool", fmt.Sprintf("the tool %q is defined again; the one in line %d is listed", t.Name, old.Origin.Start.Line), t.Origin)
	}
	return t.Name
}

// last is the last part of a qualified name; first its first.
func last(qualified string) string { return qualified[strings.LastIndexByte(qualified, '.')+1:] }

func first(qualified string) string {
	head, _, _ := strings.Cut(qualified, ".")
	return head
}

// inPackage says whether a qualified name is name in one of the packages or
// below.
func inPackage(qualified string, names, packages []string) bool {
	return slices.Contains(names, last(qualified)) && slices.Contains(packages, first(qualified)) &&
		strings.Contains(qualified, ".")
}
