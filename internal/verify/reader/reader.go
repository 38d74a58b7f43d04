// Package reader reads every source that a manifest declares, with the reader
// of its kind (docs/spec/verification.md §§4.4, 4.5, 5.2).
//
// Nothing is passed over in silence: a source ends as loaded, missing, failed
// or unsupported, and all but the first say so in a warning (ruling R13).
package reader

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/codex"
	"plimsoll.dev/internal/verify/reader/flow"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/reader/mcpserver"
	"plimsoll.dev/internal/verify/reader/openapi"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

// A row reads one row of tool_sources.
type row func(*manifest.Manifest, manifest.Source, fs.FS) (*tool.Reading, *tool.SourceError)

// rows are the readers of tool_sources by type.
func rows(kind string) row {
	switch kind {
	case "mcp":
		return listing.ReadMCP
	case "openapi":
		return openapi.ReadSource
	case "conductor":
		return flow.ReadConductor
	case "codex_config":
		return codex.ReadConfig
	case "codex_plugin":
		return codex.ReadPlugin
	case "mcp_server":
		return mcpserver.ReadServer
	case "openai_agents_sdk":
		return pyagent.ReadAgentsSDK
	case "google_adk":
		return pyagent.ReadADKSource
	case "crewai":
		return pyagent.ReadCrewAISource
	case "langchain":
		return pyagent.ReadLangChainSource
	}
	return nil
}

// A block reads one framework block of the manifest; without one it answers
// nil or an empty reading.
type block struct {
	name string
	read func(*manifest.Manifest, fs.FS) (*tool.Reading, *tool.SourceError)
	used func(*manifest.Manifest) bool
}

// blocks are the framework blocks in the order of §4.5.
var blocks = []block{
	{"openai_api", listing.ReadOpenAI, func(m *manifest.Manifest) bool { return m.OpenAI != nil }},
	{"anthropic", listing.ReadAnthropic, func(m *manifest.Manifest) bool { return m.Anthropic != nil }},
	{"google_adk", pyagent.ReadADK, func(m *manifest.Manifest) bool { return m.ADK != nil }},
	{"langchain", pyagent.ReadLangChain, func(m *manifest.Manifest) bool { return m.LangChain != nil }},
	{"crewai", pyagent.ReadCrewAI, func(m *manifest.Manifest) bool { return m.CrewAI != nil }},
	{"codex_plugins", codex.ReadInventories, func(m *manifest.Manifest) bool { return m.Plugins != nil }},
	{"n8n", flow.ReadN8N, func(m *manifest.Manifest) bool { return m.N8N != nil }},
}

// Read reads all sources of a manifest in its order: tool_sources, the framework
// blocks, then the evidence of validation. tree is the manifest directory. The error is the first
// source that is not optional and cannot be read: exit 3.
func Read(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r, _, err := ReadLike(m, tree, nil, nil)
	return r, err
}

// ReadLike is Read by as many hands as each has, and with the record of it. other
// is the record of another tree with the same manifest; what both have alike is
// taken from there. Both may be nil.
func ReadLike(m *manifest.Manifest, tree fs.FS, each tool.Each, other *Record) (*tool.Reading, *Record, *tool.SourceError) {
	out, rec := &tool.Reading{}, &Record{sources: make([]recorded, len(m.Sources))}
	failed, done := make([]*tool.SourceError, len(m.Sources)), make([]bool, len(m.Sources))
	var mu sync.Mutex // of what all hands count
	tools, refused := 0, false
	read := func(i int) {
		failed[i], done[i] = rec.source(i, m, tree, other), true
		mu.Lock()
		defer mu.Unlock()
		refused = refused || failed[i] != nil && !m.Sources[i].Optional
		if r := rec.sources[i].reading; r != nil {
			tools += len(r.Tools)
		}
	}
	// One of those that are read will be refused: no more time and memory for others.
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return refused || tools > MaxTools
	}
	each.Do(len(m.Sources), func(i int) {
		if !enough() {
			read(i)
		}
	})
	out.Tools = slices.Grow(out.Tools, min(tools, MaxTools))
	for i := range m.Sources {
		if !done[i] {
			read(i) // before the one that will be refused, if one will
		}
		if err := source(out, m.Sources[i], rec.sources[i].reading, failed[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := rest(out, m, tree); err != nil {
		return nil, nil, err
	}
	return out, rec, nil
}

// source reads source i, or takes it from the other record.
func (r *Record) source(i int, m *manifest.Manifest, tree fs.FS, other *Record) *tool.SourceError {
	s := m.Sources[i]
	read := rows(s.Type)
	if read == nil {
		return nil
	}
	if reading := other.again(i, tree); reading != nil {
		r.sources[i].reading = reading
		return nil
	}
	w := &watched{tree: tree, large: &r.large}
	defer w.end()
	reading, err := read(m, s, w)
	if reading != nil {
		once := new(tool.Once)
		for n := range reading.Tools {
			reading.Tools[n].Once = once
		}
	}
	r.sources[i] = recorded{seen: w.seen, whole: !w.lost && err == nil && reading != nil, reading: reading}
	return err
}

// rest reads what is no row of tool_sources.
func rest(out *tool.Reading, m *manifest.Manifest, tree fs.FS) *tool.SourceError {
	for _, b := range blocks {
		if !b.used(m) {
			continue
		}
		r, err := b.read(m, tree)
		if err == nil {
			err = tooMany(out, r, b.name)
		}
		if err != nil {
			return err
		}
		add(out, r, tool.Source{ID: b.name, Type: b.name, Path: m.Name, State: tool.Loaded})
	}
	names(out)
	evidence, warnings, err := listing.ReadEvidence(m, tree)
	if err != nil {
		return err
	}
	out.Add(&tool.Reading{Evidence: evidence, Warnings: warnings})
	return nil
}

// source adds what one row of tool_sources was read as.
func source(out *tool.Reading, s manifest.Source, r *tool.Reading, err *tool.SourceError) *tool.SourceError {
	state := tool.Source{ID: s.ID, Type: s.Type, Path: s.Path, State: tool.Loaded, Optional: s.Optional}
	if rows(s.Type) == nil {
		unsupported(out, state)
		return nil
	}
	if err == nil {
		err = tooMany(out, r, s.Path)
	}
	switch {
	case err == nil:
		add(out, r, state)
		return nil
	case s.Optional:
		out.Add(tool.Skipped(state, err))
		return nil
	}
	if err.SourceID == "" {
		err.SourceID = s.ID
	}
	return err
}

// MaxTools is the most tools that all sources of a manifest may list together.
// What is written about a tool takes kilobytes in every artifact: without an end
// a list of ten megabytes would become artifacts of a gigabyte. More than that is
// refused, never cut short.
const MaxTools = 10_000

func tooMany(out, r *tool.Reading, at string) *tool.SourceError {
	if r == nil || len(out.Tools)+len(r.Tools) <= MaxTools {
		return nil
	}
	if o := r.Tools[max(0, MaxTools-len(out.Tools))].Origin; o.Path != "" {
		at = o.Path // a block names several files
	}
	return &tool.SourceError{
		Path: at, Problem: tool.TooLarge,
		Detail: fmt.Sprintf("lists %d tools, %d with those of the sources before it; at most %d are judged in one run", len(r.Tools), len(out.Tools)+len(r.Tools), MaxTools),
	}
}

// add appends a reading, and the row of its source where the reader itself
// keeps none.
func add(out, r *tool.Reading, s tool.Source) {
	if r == nil {
		r = &tool.Reading{}
	}
	if len(r.Sources) == 0 {
		s.Tools = len(r.Tools)
		out.Sources = append(out.Sources, s)
	}
	out.Add(r)
}

// unsupported names a source that nobody here can read (ruling R13).
func unsupported(out *tool.Reading, s tool.Source) {
	s.State = tool.Unsupported
	out.Sources = append(out.Sources, s)
	out.Warn("unsupported_source_type",
		fmt.Sprintf("unsupported source type %s: the source was not read and nothing in it was evaluated", strconv.Quote(s.Type)),
		tool.Origin{Type: s.Type, SourceID: s.ID, Ref: s.Path, Path: s.Path})
}

// names warns of names that frameworks and hosts may refuse or spell otherwise
// (§5.1); the tools stay.
func names(out *tool.Reading) {
	for i := range out.Tools {
		if t := &out.Tools[i]; !plainName(t.Name) {
			out.Warn("unusual_tool_name", "the tool name "+strconv.Quote(t.Name)+" is not made of 1 to 129 letters, digits, dots, dashes and underscores", t.Origin)
		}
	}
}

// plainName is ^[A-Za-z][A-Za-z0-9._-]{0,128}$.
func plainName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || '9' < c) && c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 129
}
