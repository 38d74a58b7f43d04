package listing

import (
	"io/fs"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// ReadAnthropic reads the anthropic block: prompts, tools and policy rules
// (§4.5, §5.2 row "anthropic block"). It answers nil without a block.
func ReadAnthropic(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	if m.Anthropic == nil {
		return nil, nil
	}
	b := &block{
		tree: tree, id: "anthropic", kind: "anthropic_api",
		api: &tool.API{Anthropic: true}, out: &tool.Reading{},
	}
	b.out.API = b.api
	if err := b.each("prompt_files", m.Anthropic.Prompts, b.prompt); err != nil {
		return nil, err
	}
	if err := b.each("tools", m.Anthropic.Tools, b.anthropicTools); err != nil {
		return nil, err
	}
	if err := b.each("policy_rules", m.Anthropic.PolicyRules, b.policy); err != nil {
		return nil, err
	}
	return b.out, nil
}

func (b *block) anthropicTools(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, items, pointer, err := b.toolList(name, text)
	if err != nil {
		return err
	}
	for i, v := range items {
		f.anthropicTool(v, pointer+"/"+strconv.Itoa(i))
	}
	return nil
}

// toolList is the list of a file that is one, or that holds one below tools.
func (b *block) toolList(name string, text []byte) (*file, []source.Value, string, *tool.SourceError) {
	f, err := b.file(name, text)
	if err != nil {
		return nil, nil, "", err
	}
	items, pointer, ok := f.entries("tools")
	if !ok {
		return nil, nil, "", f.fail(f.root, "", "holds neither a list of tools nor an object with tools")
	}
	return f, items, pointer, nil
}

// anthropicTool reads one flat tool. A tool that the provider runs on its own
// servers has no schema here: it is named in a warning.
func (f *file) anthropicTool(v source.Value, pointer string) {
	if v.Kind != source.Map {
		f.warn("not_a_tool", "an entry is not an object and was skipped", v, pointer)
		return
	}
	name := strings.TrimSpace(f.text(v, pointer, "name"))
	if kind := f.text(v, pointer, "type"); kind != "" && kind != "custom" {
		f.warn("server_tool", "a tool of type "+strconv.Quote(kind)+" is run by the provider and was skipped", v, pointer)
		if kind == "mcp_toolset" {
			f.remote(v, pointer, "mcp_server_name")
		}
		return
	}
	if name == "" {
		f.warn("unnamed_tool", "an entry has no name and was skipped", v, pointer)
		return
	}
	if !anthropicName(name) {
		f.warn("invalid_name", "the API refuses the name "+strconv.Quote(name), v, pointer+"/name")
	}
	t := f.apiTool(v, pointer, name, "input_schema")
	if cache := v.Get("cache_control"); cache.Present() && cache.Kind != source.Null {
		note(&t, "anthropicCacheControl", tool.Plain(cache))
	}
	f.add(t, v)
}

// remote is an MCP server that the provider calls: nobody can list its tools
// from here.
func (f *file) remote(v source.Value, pointer, nameKey string) {
	f.out.Dynamic = append(f.out.Dynamic, tool.Dynamic{
		Framework: f.kind, Kind: "mcp_client", Reason: "remote_server", Name: v.Get(nameKey).Str(),
		Filtered: v.Get("allowed_tools").Kind == source.List, Origin: f.origin(v, pointer),
	})
}

// apiTool is a tool whose schema stands below schemaKey.
func (f *file) apiTool(v source.Value, pointer, name, schemaKey string) tool.Tool {
	t := tool.Tool{
		Name:        name,
		Description: f.text(v, pointer, "description"),
		Owner:       f.text(v, pointer, "owner"),
		Origin:      f.origin(v, pointer),
		Annotations: f.annotations(v, pointer),
		Auth:        f.auth(v, pointer),
		Method:      "declared",
		Confidence:  tool.High,
	}
	t.Input, _ = f.schema(v, pointer, schemaKey)
	t.Params = tool.Parameters(t.Input)
	return t
}

// anthropicName is ^[a-zA-Z0-9_-]{1,64}$.
func anthropicName(name string) bool {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return 1 <= len(name) && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune(alphabet, r)
	})
}
