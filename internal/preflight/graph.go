package preflight

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
)

// GraphVersion is the schema version of a trust root graph.
const GraphVersion = "0.1"

const (
	maxHashed = 10 << 20 // bytes of one protected file
	unread    = "unread"
)

// MaxBase is the most bytes of an earlier result.
const MaxBase = 64 << 20

// hashes reads each protected file once.
type hashes struct {
	files fs.FS
	known map[string]string
}

// of is the SHA-256 of a file, "unread" for one that is too large or that the
// workspace does not give.
func (h *hashes) of(on *presence) string {
	if on.link != "" {
		return digest([]byte("link:" + on.link))
	}
	if sum, ok := h.known[on.file]; ok {
		return sum
	}
	text, err := readRegular(h.files, on.file)
	sum := unread
	if err == nil {
		sum = digest(text)
	}
	h.known[on.file] = sum
	return sum
}

var errIrregular = errors.New("is no regular file, or too large")

// readRegular opens nothing that is no regular file: a pipe would not answer.
func readRegular(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxHashed {
		return nil, errIrregular
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHashed+1))
	if err == nil && len(text) > maxHashed {
		err = errIrregular
	}
	return text, err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// nodeID is that of §13.3.
func nodeID(kind, pattern string) string { return "tr_" + digest([]byte(kind + "|" + pattern))[:16] }

// graph fills in what is present at the surfaces and makes the trust root graph
// of it.
func (p *protection) graph(w *places, files fs.FS) Graph {
	h := hashes{files, map[string]string{}}
	nodes := make([]Node, len(p.list))
	for i := range p.list {
		s := &p.list[i]
		nodes[i] = Node{
			ID: nodeID(s.Kind, s.Pattern), Kind: s.Kind, Pattern: s.Pattern, ScopeType: s.ScopeType,
			PresentPaths: []string{}, FileHashes: map[string]string{},
		}
	}
	for i := range w.present {
		on := &w.present[i]
		n := &nodes[on.at]
		if _, known := n.FileHashes[on.name]; !known {
			n.PresentPaths = append(n.PresentPaths, on.name) // sorted: present is
			n.FileHashes[on.name] = h.of(on)
		}
	}
	for i := range nodes {
		p.list[i].PresentPaths = slices.Clone(nodes[i].PresentPaths)
		p.list[i].Present = len(nodes[i].PresentPaths) > 0
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return Graph{Version: GraphVersion, Hash: graphHash(nodes), Nodes: nodes}
}

// graphHash is over the nodes in the order of their ids.
func graphHash(nodes []Node) string {
	list := make([]any, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		sums := make(map[string]any, len(n.FileHashes))
		for name, sum := range n.FileHashes {
			sums[name] = sum
		}
		list[i] = canonical.Object{
			{Key: "id", Value: n.ID},
			{Key: "kind", Value: n.Kind},
			{Key: "pattern", Value: n.Pattern},
			{Key: "scope_type", Value: string(n.ScopeType)},
			{Key: "present_paths", Value: n.PresentPaths},
			{Key: "file_hashes", Value: sums},
		}
	}
	return canonical.UTF8.SHA256(list)
}

// ParseBase reads an earlier result for what a later one is compared with. One
// that was changed after it was written is refused. The error is a
// *DocumentError.
func ParseBase(text []byte) (*Base, error) {
	v, err := parse(text, MaxBase)
	if err != nil {
		return nil, err
	}
	var r reader
	b := r.base(v)
	if err := r.err(); err != nil {
		return nil, err
	}
	return b, nil
}

func (r *reader) base(v source.Value) *Base {
	b := &Base{Files: map[string]string{}}
	if v.Kind != source.Map {
		r.wrong("", v, "must be the JSON result of a preflight")
		return b
	}
	if version := v.Get("preflight_schema_version"); version.Str() != SchemaVersion {
		r.wrong("preflight_schema_version", version, "must be %q: an earlier result of preflight --json", SchemaVersion)
		return b
	}
	b.GraphHash = r.text("trust_root_graph_hash", v.Get("trust_root_graph_hash"))
	b.PolicyHash = r.maybe("policy_snapshot_hash", v.Get("policy_snapshot_hash"))
	graph := v.Get("trust_root_graph")
	if hash := r.text("trust_root_graph.graph_hash", graph.Get("graph_hash")); hash != b.GraphHash {
		r.wrong("trust_root_graph.graph_hash", graph, "is not trust_root_graph_hash")
	}
	var nodes []Node
	for i, e := range r.items("trust_root_graph.nodes", graph.Get("nodes"), MaxFiles) {
		nodes = append(nodes, r.node(item("trust_root_graph.nodes", i), e))
	}
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	for i := range nodes {
		for name, sum := range nodes[i].FileHashes {
			b.Files[name] = sum
		}
	}
	if len(r.problems) == 0 && len(nodes) > 0 && graphHash(nodes) != b.GraphHash {
		r.wrong("trust_root_graph_hash", graph, "does not belong to these nodes: the result was changed, or another gate wrote it")
	}
	return b
}

func (r *reader) node(at string, v source.Value) Node {
	n := Node{
		ID: r.text(below(at, "id"), v.Get("id")), Kind: r.text(below(at, "kind"), v.Get("kind")),
		Pattern: r.text(below(at, "pattern"), v.Get("pattern")), ScopeType: ScopeType(r.text(below(at, "scope_type"), v.Get("scope_type"))),
		PresentPaths: []string{}, FileHashes: map[string]string{},
	}
	for i, e := range r.items(below(at, "present_paths"), v.Get("present_paths"), MaxEntries) {
		n.PresentPaths = append(n.PresentPaths, r.text(item(below(at, "present_paths"), i), e))
	}
	for _, m := range v.Get("file_hashes").Members {
		n.FileHashes[m.Key] = r.text(below(at, "file_hashes"), m.Value)
	}
	return n
}

// drift is how the graph differs from the base's.
func (b *Base) drift(g *Graph) *Drift {
	d := &Drift{Changed: b.GraphHash != g.Hash, BaseHash: &b.GraphHash, HeadHash: &g.Hash, Added: []string{}, Removed: []string{}, Modified: []string{}}
	head := map[string]string{}
	for i := range g.Nodes {
		for name, sum := range g.Nodes[i].FileHashes {
			head[name] = sum
		}
	}
	for name, sum := range head {
		switch was, known := b.Files[name]; {
		case !known:
			d.Added = append(d.Added, name)
		case was != sum:
			d.Modified = append(d.Modified, name)
		}
	}
	for name := range b.Files {
		if _, still := head[name]; !still {
			d.Removed = append(d.Removed, name)
		}
	}
	for _, list := range [][]string{d.Added, d.Removed, d.Modified} {
		slices.SortFunc(list, strings.Compare)
	}
	return d
}

// policyDrift is how the policy differs from the base's. What a policy holds is
// not kept in a result, so the manifest stands for all of it.
func (b *Base) policyDrift(manifest string, head *string) *Drift {
	d := &Drift{HeadHash: head, Added: []string{}, Removed: []string{}, Modified: []string{}}
	if b.PolicyHash != "" {
		d.BaseHash = &b.PolicyHash
	}
	switch {
	case d.BaseHash == nil && head == nil:
	case d.BaseHash == nil:
		d.Changed, d.Added = true, []string{manifest}
	case head == nil:
		d.Changed, d.Removed = true, []string{manifest}
	case *d.BaseHash != *head:
		d.Changed, d.Modified = true, []string{manifest}
	}
	return d
}
