package flow

import (
	"fmt"
	"io/fs"
	"strconv"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

const n8nBlock = "n8n"

// ReadN8N reads the n8n block: workflows, inventories, and what shows that
// credentials and evaluations exist. Every workflow is a source of its own,
// "n8n:<file>", so that two of the same name stay two (§5.2, row n8n). The
// reading is empty when there is no such block.
func ReadN8N(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := &n8nReader{
		out: &tool.Reading{}, tree: tree, seen: map[string]bool{}, byID: map[string][]*workflow{}, lists: map[string][]int{}, through: map[string][]*workflow{},
	}
	if m.N8N == nil {
		return r.out, nil
	}
	r.out.N8N = &tool.N8N{}
	for _, art := range m.N8N.Workflows {
		if err := r.load(art); err != nil {
			return nil, err
		}
	}
	if err := r.inventories(m.N8N.Inventories); err != nil {
		return nil, err
	}
	r.call()
	for _, w := range r.flows {
		if err := r.emit(w); err != nil {
			return nil, err
		}
	}
	r.bindInventories()
	if err := r.surroundings(m.N8N); err != nil {
		return nil, err
	}
	return r.out, nil
}

type n8nReader struct {
	out     *tool.Reading
	tree    fs.FS
	seen    map[string]bool // files
	flows   []*workflow
	byID    map[string][]*workflow // by n8n's own id
	lists   map[string][]int       // mcp_server to the inventory tools in out.Tools that name it
	holders []holder
	through map[string][]*workflow // answers of called
}

// load reads the workflows of one declared file or folder.
func (r *n8nReader) load(art manifest.Artifact) *tool.SourceError {
	skip := tool.Source{ID: tool.BlockSource(n8nBlock, art.Path), Type: n8nBlock, Path: art.Path}
	list, err := files(r.tree, art.Path)
	if err != nil {
		return r.fail(skip, art, err)
	}
	if len(list) == 0 {
		r.out.Warn("no_workflows", "the folder holds no workflow file", tool.Origin{Type: n8nBlock, SourceID: skip.ID, Ref: art.Path})
	}
	for _, f := range list {
		if r.seen[f.name] {
			continue
		}
		r.seen[f.name] = true
		if err := r.file(f); err != nil {
			skip.ID, skip.Path = tool.BlockSource(n8nBlock, f.name), f.name
			if err := r.fail(skip, art, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail is the error of a source, or nil when the manifest says that it may fail.
func (r *n8nReader) fail(s tool.Source, art manifest.Artifact, err *tool.SourceError) *tool.SourceError {
	if art.Optional {
		r.out.Add(tool.Skipped(s, err))
		return nil
	}
	err.SourceID = s.ID
	return err
}

// file reads one export: a workflow, or a list of them as `n8n
// export:workflow --all` writes it.
func (r *n8nReader) file(f file) *tool.SourceError {
	root, err := document(r.tree, f.name)
	if err != nil {
		return err
	}
	id := tool.BlockSource(n8nBlock, f.name)
	if root.Kind == source.Map && root.Get("nodes").Kind == source.List {
		r.add(newWorkflow(root, id, f.name, nil))
		return nil
	}
	if root.Kind == source.List && len(root.Items) > 0 && allWorkflows(root.Items) {
		taken := map[string]bool{}
		for i, item := range root.Items {
			name := firstText(item.Get("id"), item.Get("name"))
			if name == "" || taken[name] {
				name = "/" + strconv.Itoa(i)
			}
			taken[name] = true
			r.add(newWorkflow(item, id+"#"+name, f.name, []string{strconv.Itoa(i)}))
		}
		return nil
	}
	if f.folder {
		r.out.Warn("not_a_workflow", "a file of the folder is not an n8n workflow and was not read", tool.Origin{Type: n8nBlock, SourceID: id, Ref: f.name, Path: f.name})
		return nil
	}
	return &tool.SourceError{Path: f.name, Problem: tool.Malformed, Detail: `is not an n8n workflow: an object with a list "nodes", or a list of such objects`}
}

func allWorkflows(items []source.Value) bool {
	for _, item := range items {
		if item.Kind != source.Map || item.Get("nodes").Kind != source.List {
			return false
		}
	}
	return true
}

func (r *n8nReader) add(w *workflow) {
	r.flows = append(r.flows, w)
	r.out.N8N.Workflows++
	if id := firstText(w.root.Get("id")); id != "" {
		r.byID[id] = append(r.byID[id], w)
	}
	sites := secretSites(w.root, w.path, w.keys)
	if len(sites) > maxSites {
		sites = sites[:maxSites]
		r.out.Warn("too_many_secrets", fmt.Sprintf("more than %d values look like secrets; the rest is not listed", maxSites), w.origin())
	}
	r.out.N8N.Secrets = append(r.out.N8N.Secrets, sites...)
}

// inventories loads tool_inventories, each a source of its own.
func (r *n8nReader) inventories(list []manifest.Artifact) *tool.SourceError {
	for _, art := range list {
		found, err := listing.ReadInventory(r.tree, art, "n8n_inventory", tool.BlockSource(n8nBlock, art.Path))
		if err != nil {
			return err
		}
		for _, row := range found.Sources {
			r.out.N8N.Inventory = r.out.N8N.Inventory || row.State == tool.Loaded
		}
		for i := range found.Tools {
			if server, ok := found.Tools[i].Annotations["mcp_server"].(string); ok {
				r.lists[server] = append(r.lists[server], len(r.out.Tools)+i)
			}
		}
		r.out.Add(found)
	}
	return nil
}

// surroundings reads what stands around the workflows. Credential and variable
// stubs say that something exists, never what it holds: a variable stub resolves
// no expression.
func (r *n8nReader) surroundings(n *manifest.N8N) *tool.SourceError {
	for _, part := range []struct {
		kind string
		list []manifest.Artifact
		take func(name string, root source.Value)
	}{
		{"n8n_credential_stub", n.CredentialStubs, r.credentialStub},
		{"n8n_variable_stub", n.VariableStubs, r.variableStub},
		{"n8n_data_table", n.DataTables, nil},
		{"n8n_execution_sample", n.Executions, nil},
		{"n8n_eval_set", n.EvalSets, r.evalSet},
	} {
		for _, art := range part.list {
			if err := r.surrounding(part.kind, art, part.take); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *n8nReader) surrounding(kind string, art manifest.Artifact, take func(string, source.Value)) *tool.SourceError {
	s := tool.Source{ID: tool.BlockSource(n8nBlock, art.Path), Type: kind, Path: art.Path, Optional: art.Optional}
	list, err := files(r.tree, art.Path)
	if err != nil {
		return r.fail(s, art, err)
	}
	for _, f := range list {
		s.ID, s.Path = tool.BlockSource(n8nBlock, f.name), f.name
		root, err := document(r.tree, f.name)
		if err == nil && root.Kind != source.Map && root.Kind != source.List {
			err = &tool.SourceError{Path: f.name, Problem: tool.Malformed, Detail: "is neither an object nor a list"}
		}
		if err != nil {
			if err := r.fail(s, art, err); err != nil {
				return err
			}
			continue
		}
		s.State = tool.Loaded
		r.out.Sources = append(r.out.Sources, s)
		if take != nil {
			take(f.name, root)
		}
	}
	return nil
}

func (r *n8nReader) credentialStub(name string, root source.Value) {
	if len(root.Items)+len(root.Members) == 0 {
		r.empty("empty_credential_stub", name)
		return
	}
	r.out.N8N.CredentialStubs++
	r.stubSecrets(name, root)
}

func (r *n8nReader) variableStub(name string, root source.Value) { r.stubSecrets(name, root) }

// stubSecrets looks into stubs as well: one that holds the real value is no stub.
func (r *n8nReader) stubSecrets(name string, root source.Value) {
	var s secretScan
	s.walk(root, "", nil)
	r.out.N8N.Secrets = append(r.out.N8N.Secrets, s.sites(name)...)
}

func (r *n8nReader) evalSet(name string, root source.Value) {
	if len(root.Items)+len(root.Members) == 0 {
		r.empty("empty_eval_set", name)
		return
	}
	r.out.N8N.EvalFiles++
}

func (r *n8nReader) empty(code, name string) {
	r.out.Warn(code, "the file is empty and counts for nothing", tool.Origin{Type: n8nBlock, SourceID: tool.BlockSource(n8nBlock, name), Ref: name, Path: name})
}

// firstText is the first non-empty text among values.
func firstText(values ...source.Value) string {
	for _, v := range values {
		if (v.Kind == source.String || v.Kind == source.Number) && v.Text != "" {
			return v.Text
		}
	}
	return ""
}
