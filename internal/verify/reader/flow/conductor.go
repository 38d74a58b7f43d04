package flow

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const conductor = "conductor"

// Bounds of one workflow definition (§5.2, row conductor).
const (
	maxTaskDepth = 32
	maxTasks     = 5000
)

// ReadConductor reads one row of tool_sources of type conductor: a file with
// one workflow definition or a list of them, or a folder of such files
// (§5.2). A workflow is an agent, and so is every task in which a model chooses
// among tools; a workflow leads to its models and to the workflows it runs.
func ReadConductor(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := &conductorReader{out: &tool.Reading{}, row: s, byName: map[string][]*definition{}, index: map[offer]int{}, linked: map[link]bool{}}
	list, err := files(tree, s.Path)
	if err != nil {
		err.SourceID = s.ID
		return nil, err
	}
	for _, f := range list {
		if err := r.file(tree, f); err != nil {
			err.SourceID = s.ID
			return nil, err
		}
	}
	if len(r.all) == 0 {
		r.out.Warn("no_workflows", "the source holds no workflow definition", tool.Origin{Type: conductor, SourceID: s.ID, Ref: s.Path})
	}
	r.name()
	for _, d := range r.all {
		if err := r.emit(d); err != nil {
			err.SourceID = s.ID
			return nil, err
		}
	}
	r.finish()
	return r.out, nil
}

type conductorReader struct {
	out    *tool.Reading
	row    manifest.Source
	all    []*definition
	byName map[string][]*definition
	found  []offered
	index  map[offer]int // in found
	links  []link
	linked map[link]bool
}

// A definition is one workflow definition.
type definition struct {
	name    string
	version int
	agent   string // the name of its agent
	root    source.Value
	at      tool.Origin
	keys    []string
}

func (r *conductorReader) file(tree fs.FS, f file) *tool.SourceError {
	root, err := document(tree, f.name)
	if err != nil {
		return err
	}
	items, keys := []source.Value{root}, [][]string{nil}
	if root.Kind == source.List {
		items, keys = root.Items, nil
		for i := range items {
			keys = append(keys, []string{strconv.Itoa(i)})
		}
	}
	if f.folder && !anyWorkflow(items) {
		// Task definitions and inputs often lie beside the workflows.
		at := tool.Origin{Type: conductor, SourceID: r.row.ID, Ref: f.name, Path: f.name}
		r.out.Warn("not_a_workflow", "a file of the folder is no workflow definition and was not read", at)
		return nil
	}
	if len(items) == 0 {
		return fault(f.name, nil, "holds no workflow definition")
	}
	for i, item := range items {
		if err := r.define(item, f.name, keys[i]); err != nil {
			return err
		}
	}
	return nil
}

func anyWorkflow(items []source.Value) bool {
	for _, item := range items {
		if item.Get("tasks").Kind == source.List {
			return true
		}
	}
	return false
}

func fault(name string, keys []string, detail string) *tool.SourceError {
	return &tool.SourceError{Path: name, Pointer: tool.Pointer(keys...), Problem: tool.Malformed, Detail: detail}
}

// define checks what every definition must have.
func (r *conductorReader) define(v source.Value, name string, keys []string) *tool.SourceError {
	d := &definition{
		name: v.Get("name").Str(), version: 1, root: v, keys: keys,
		at: tool.Origin{Type: conductor, SourceID: r.row.ID, Ref: name, Path: name, Pointer: tool.Pointer(keys...), Start: v.Pos},
	}
	schema := v.Get("schemaVersion")
	switch {
	case v.Kind != source.Map:
		return fault(name, keys, "a workflow definition is not an object")
	case d.name == "":
		return fault(name, keys, "a workflow definition has no name")
	case v.Get("tasks").Kind != source.List || len(v.Get("tasks").Items) == 0:
		return fault(name, keys, "a workflow definition has no list of tasks, or an empty one")
	case schema.Present() && (schema.Kind != source.Number || schema.Text != "2"):
		return fault(name, keys, "the schemaVersion of a workflow definition is not 2")
	}
	if version := v.Get("version"); version.Present() {
		n, err := strconv.Atoi(version.Text)
		if version.Kind != source.Number || err != nil {
			return fault(name, keys, "the version of a workflow definition is not an integer")
		}
		d.version = n
	}
	for _, other := range r.byName[d.name] {
		if other.version == d.version {
			return fault(name, keys, "a workflow of this name and version is defined twice in the source")
		}
	}
	r.byName[d.name] = append(r.byName[d.name], d)
	r.all = append(r.all, d)
	return nil
}

// name gives the agents their names: that of the workflow for its newest
// version, so that a new version is the same agent; older ones say which.
func (r *conductorReader) name() {
	for _, d := range r.all {
		d.agent = d.name
		if newest(r.byName[d.name]) != d {
			d.agent += "@" + strconv.Itoa(d.version)
		}
	}
}

func newest(list []*definition) *definition {
	var best *definition
	for _, d := range list {
		if best == nil || d.version > best.version {
			best = d
		}
	}
	return best
}

// resolve is the definition that a name and a version mean; without a version
// Conductor takes the newest.
func (r *conductorReader) resolve(name string, version source.Value) *definition {
	if !version.Present() || version.Kind == source.Null {
		return newest(r.byName[name])
	}
	for _, d := range r.byName[name] {
		if strconv.Itoa(d.version) == version.Text {
			return d
		}
	}
	return nil
}

// fixed is a text that no expression decides. Conductor writes one as ${…}.
func fixed(v source.Value) (string, bool) {
	if v.Kind != source.String || strings.Contains(v.Text, "${") {
		return "", false
	}
	return v.Text, v.Text != ""
}

// emit walks over the tasks of one definition.
func (r *conductorReader) emit(d *definition) *tool.SourceError {
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: d.agent, Origin: d.at})
	w := &taskWalk{conductorReader: r, d: d, agent: d.agent, listed: map[string]bool{}, seen: map[string]bool{}}
	return w.tasks(d.root.Get("tasks"), append(append([]string(nil), d.keys...), "tasks"), 1)
}

// A taskWalk visits the tasks of one definition, those of inline sub-workflows
// included.
type taskWalk struct {
	*conductorReader
	d      *definition
	agent  string
	count  int
	human  []any           // reference names of HUMAN tasks so far
	listed map[string]bool // servers whose tools LIST_MCP_TOOLS asks for
	seen   map[string]bool // agents of model tasks
}

func (w *taskWalk) tasks(list source.Value, keys []string, depth int) *tool.SourceError {
	if depth > maxTaskDepth {
		return &tool.SourceError{Path: w.d.at.Path, Pointer: tool.Pointer(keys...), Problem: tool.TooLarge, Detail: fmt.Sprintf("nests tasks more than %d levels deep", maxTaskDepth)}
	}
	for i, task := range list.Items {
		if w.count++; w.count > maxTasks {
			return &tool.SourceError{Path: w.d.at.Path, Problem: tool.TooLarge, Detail: fmt.Sprintf("holds more than %d tasks", maxTasks)}
		}
		at := append(keys[:len(keys):len(keys)], strconv.Itoa(i))
		if task.Kind != source.Map {
			return fault(w.d.at.Path, at, "a task is not an object")
		}
		w.task(task, at)
		if err := w.inner(task, at, depth); err != nil {
			return err
		}
	}
	return nil
}

// inner visits the lists of tasks inside of a task, whatever its type: a type
// that is not known may still run them.
func (w *taskWalk) inner(task source.Value, keys []string, depth int) *tool.SourceError {
	for _, key := range []string{"loopOver", "defaultCase"} {
		if err := w.tasks(task.Get(key), append(keys[:len(keys):len(keys)], key), depth+1); err != nil {
			return err
		}
	}
	for _, m := range task.Get("decisionCases").Members {
		if err := w.tasks(m.Value, append(keys[:len(keys):len(keys)], "decisionCases", m.Key), depth+1); err != nil {
			return err
		}
	}
	for i, branch := range task.Get("forkTasks").Items {
		if err := w.tasks(branch, append(keys[:len(keys):len(keys)], "forkTasks", strconv.Itoa(i)), depth+1); err != nil {
			return err
		}
	}
	inline := task.At("subWorkflowParam", "workflowDefinition")
	return w.tasks(inline.Get("tasks"), append(keys[:len(keys):len(keys)], "subWorkflowParam", "workflowDefinition", "tasks"), depth+1)
}
