// Package starter writes the first manifest: what detection proves, and as
// questions with a ready patch what only a person knows
// (docs/spec/verification.md §18.2, rulings R12).
package starter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Placeholder stands where a value is needed and not known.
const Placeholder = "CHANGE_ME"

// ErrNothing says that there is nothing a manifest could name.
var ErrNothing = errors.New("no agent framework and no list of tools was found")

// Options is what the caller chooses.
type Options struct {
	Minimal bool   // without comments and without what has a default
	Name    string // of the project; "" takes the first candidate
	Agent   string // name of the agent; "" takes the root agent's
}

// Question is one thing that only a person knows.
type Question struct {
	Key   string `json:"key"`  // dotted key of the manifest
	Path  string `json:"path"` // of the manifest
	Line  int    `json:"line"` // where the answer goes, one-based
	Why   string `json:"why"`
	Patch string `json:"patch"` // unified diff against Draft.Text, which the others leave applicable; values to fill in are CHANGE_ME
}

// Draft is a first manifest.
type Draft struct {
	Text      []byte     // of shipgate.yaml
	Questions []Question // in the order of the lines; never nil
}

// Manifest writes the first manifest of what was detected. It states no effect,
// authority, approval, confirmation, idempotency or closed-world binding. The
// error is ErrNothing when nothing was found that a manifest could name.
func Manifest(d *detect.Result, opt Options) (Draft, error) {
	if len(d.Found) == 0 && len(d.Signals.Unsupported) == 0 {
		return Draft{}, ErrNothing
	}
	w := &writer{d: d, opt: opt}
	w.project = plain(cmp.Or(opt.Name, first(d.ProjectNames)))
	w.found()
	// Scope text is needed unless a framework stands for it; the loader knows.
	if _, err := manifest.Load(w.text(), manifest.Options{}); err != nil {
		w.purpose = true
	}
	m, err := manifest.Load(w.text(), manifest.Options{})
	if err != nil {
		return Draft{}, fmt.Errorf("the draft is no manifest: %w", err)
	}
	w.root(m)
	text := w.text()
	if m, err = manifest.Load(text, manifest.Options{}); err != nil {
		return Draft{}, fmt.Errorf("the draft is no manifest: %w", err)
	}
	q := &asker{text: text, m: m, w: w, surface: w.resolve(m)}
	return Draft{Text: text, Questions: q.ask()}, nil
}

// first is the first of a list, "" of none.
func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// row is one source of the manifest.
type row struct {
	id, kind, path, mode string
	entries              []string // of a block
	note                 string   // for a comment
	reading              *tool.Reading
}

// found turns what was detected into rows, each id once.
func (w *writer) found() {
	for i := range w.d.Found {
		f := &w.d.Found[i]
		if plain(f.Path) == "" || plain(f.ID) == "" {
			continue // detection names none such
		}
		r := row{id: f.ID, kind: string(f.Type), path: f.Path, mode: f.Mode, entries: f.Entries, reading: f.Reading}
		if r.reading == nil {
			r.reading = &tool.Reading{}
		}
		r.note = summary(r.reading)
		switch {
		case f.Type == detect.OpenAI || f.Type == detect.Anthropic || f.Type == detect.N8N || len(f.Entries) > 0:
			if len(r.entries) == 0 {
				r.entries = []string{f.Path}
			}
			w.block(r)
		default:
			w.rows = append(w.rows, r)
		}
	}
	if len(w.rows) == 0 && len(w.blocks) == 0 {
		w.rows = append(w.rows, row{id: "tools", kind: string(detect.MCP), path: Placeholder, reading: &tool.Reading{}})
		w.missing = true
	}
}

// block adds files to a block of the manifest.
func (w *writer) block(r row) {
	for i := range w.blocks {
		if b := &w.blocks[i]; b.kind == r.kind {
			for _, e := range r.entries {
				if !slices.Contains(b.entries, e) {
					b.entries = append(b.entries, e)
				}
			}
			merged := &tool.Reading{}
			merged.Add(b.reading)
			merged.Add(r.reading)
			b.reading, b.note = merged, summary(merged)
			return
		}
	}
	w.blocks = append(w.blocks, r)
}

// reading is everything that the sources show.
func (w *writer) reading() *tool.Reading {
	out := &tool.Reading{}
	for _, list := range [][]row{w.rows, w.blocks} {
		for _, r := range list {
			out.Add(r.reading)
		}
	}
	return out
}

// resolve is who may call what under a draft; nil when the sources cannot stand
// beside each other, which a verification says with the place.
func (w *writer) resolve(m *manifest.Manifest) *effect.Surface {
	s, err := effect.Resolve(m, w.reading())
	if err != nil {
		return nil
	}
	return s
}

// root names the root agent when exactly one can be it, and what the code shows
// of it.
func (w *writer) root(m *manifest.Manifest) {
	w.agent = plain(w.opt.Agent)
	s := w.resolve(m)
	if s == nil {
		w.agent = cmp.Or(w.agent, only(w.d.AgentNames))
		return
	}
	for _, n := range s.Graph.Nodes {
		if n.ID != s.Graph.Root || plain(n.Name) != n.Name || n.At.SourceID == "" || plain(n.At.SourceID) != n.At.SourceID {
			continue
		}
		w.rootObject, w.rootSource, w.rootAt = n.Name, n.At.SourceID, n.At
		w.agent = cmp.Or(w.agent, n.Name)
		for _, e := range s.Graph.Edges {
			if e.From != n.ID || !e.Complete {
				continue
			}
			for _, t := range s.Catalog {
				if t.ID == e.Tool {
					w.rootTools = append(w.rootTools, t.Name)
				}
			}
			for _, to := range s.Graph.Nodes {
				if to.ID == e.To {
					w.rootHandoffs = append(w.rootHandoffs, to.Name)
				}
			}
		}
		slices.Sort(w.rootTools)
		slices.Sort(w.rootHandoffs)
		w.rootTools, w.rootHandoffs = slices.Compact(w.rootTools), slices.Compact(w.rootHandoffs)
	}
	w.agent = cmp.Or(w.agent, only(w.d.AgentNames))
}

// only is the single member of a list, "" for any other list.
func only(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return plain(list[0])
}

func summary(r *tool.Reading) string {
	text := counted(len(r.Tools), "tool")
	if n := len(r.Agents); n > 0 {
		text += ", " + counted(n, "agent")
	}
	open := 0
	for i := range r.Dynamic {
		if !r.Dynamic[i].Resolved {
			open++
		}
	}
	if open > 0 {
		text += ", " + counted(open, "list") + " that only running would show"
	}
	return text
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
