package listing

import (
	"io/fs"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// ReadOpenAI reads the openai_api block: prompts, tools, schemas, response
// formats, the model's configuration, test cases, traces and policy rules
// (§4.5, §5.2 row "openai_api block"). It answers nil without a block.
func ReadOpenAI(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	o := m.OpenAI
	if o == nil {
		return nil, nil
	}
	b := &block{
		tree: tree, id: "openai_api", kind: "openai_api",
		api: &tool.API{OpenAI: true}, out: &tool.Reading{},
	}
	b.out.API = b.api
	var config []manifest.Artifact
	if o.ModelConfig != nil {
		config = append(config, *o.ModelConfig)
	}
	for _, role := range []struct {
		name string
		list []manifest.Artifact
		read func(manifest.Artifact, string, []byte) *tool.SourceError
	}{
		{"prompt_files", o.Prompts, b.prompt},
		{"tools", o.Tools, b.openaiTools},
		{"function_schemas", o.FunctionSchemas, b.functionSchema},
		{"response_formats", o.ResponseFormats, b.responseFormat},
		{"model_config", config, b.modelConfig},
		{"test_cases", o.TestCases, b.testCases},
		{"trace_samples", o.Traces, b.traces},
		{"policy_rules", o.PolicyRules, b.policy},
	} {
		if err := b.each(role.name, role.list, role.read); err != nil {
			return nil, err
		}
	}
	return b.out, nil
}

func (b *block) openaiTools(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, items, pointer, err := b.toolList(name, text)
	if err != nil {
		return err
	}
	for i, v := range items {
		f.openaiTool(v, pointer+"/"+strconv.Itoa(i))
	}
	return nil
}

// openaiTool reads a function in the form of Responses or of Chat Completions.
// What the provider runs itself is named in a warning; a remote MCP server
// among it is a surface that nobody can list here.
func (f *file) openaiTool(v source.Value, pointer string) {
	if v.Kind != source.Map {
		f.warn("not_a_tool", "an entry is not an object and was skipped", v, pointer)
		return
	}
	if kind := f.text(v, pointer, "type"); kind != "" && kind != "function" && kind != "custom" {
		f.warn("server_tool", "a tool of type "+strconv.Quote(kind)+" is run by the provider and was skipped", v, pointer)
		if kind == "mcp" {
			f.remote(v, pointer, "server_label")
		}
		return
	}
	strict := v.Get("strict")
	for _, form := range []string{"function", "custom"} {
		if inner := v.Get(form); inner.Kind == source.Map {
			v, pointer = inner, pointer+"/"+form
			if inner.Get("strict").Present() {
				strict = inner.Get("strict")
			}
		}
	}
	f.function(v, pointer, strings.TrimSpace(f.text(v, pointer, "name")), strict)
}

func (f *file) function(v source.Value, pointer, name string, strict source.Value) {
	if name == "" {
		f.warn("unnamed_tool", "an entry has no name and was skipped", v, pointer)
		return
	}
	t := f.apiTool(v, pointer, name, "parameters")
	if strict.Present() && strict.Kind != source.Null {
		note(&t, "openaiStrict", tool.Plain(strict))
	}
	f.add(t, v)
}

// functionSchema reads a file that is one function, a list of functions, or
// nothing but the schema of a function's parameters.
func (b *block) functionSchema(art manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, err := b.file(name, text)
	if err != nil {
		return err
	}
	if items, pointer, ok := f.entries("tools"); ok {
		for i, v := range items {
			f.openaiTool(v, pointer+"/"+strconv.Itoa(i))
		}
		return nil
	}
	if f.root.Kind != source.Map {
		return f.fail(f.root, "", "holds neither a function nor a schema")
	}
	wrapped := f.root.Get("parameters").Kind == source.Map && f.root.Get("properties").Kind == ""
	if f.root.Get("function").Kind == source.Map || wrapped && f.root.Get("name").Str() != "" && art.Name == "" {
		f.openaiTool(f.root, "")
		return nil
	}
	if wrapped {
		f.function(f.root, "", named(art, f.root.Get("name").Str()), f.root.Get("strict"))
		return nil
	}
	schema := tool.Plain(f.root)
	t := tool.Tool{
		Name: named(art, ""), Description: f.text(f.root, "", "description"), Origin: f.origin(f.root, ""),
		Input: schema, Params: tool.Parameters(schema), Method: "declared", Confidence: tool.High,
	}
	if art.Name == "" {
		f.warn("unnamed_tool", "the schema has no declared name; the file's name stands for it", f.root, "")
	}
	f.add(t, f.root)
	return nil
}

// responseFormat takes the schema out of the envelopes that the APIs put
// around it.
func (b *block) responseFormat(art manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, err := b.file(name, text)
	if err != nil {
		return err
	}
	v, inside := f.root, ""
	for range 4 {
		next := source.Value{}
		for _, key := range []string{"response_format", "text", "format", "json_schema", "schema"} {
			if inner := v.Get(key); inner.Kind == source.Map && v.Get("properties").Kind == "" {
				next = inner
				break
			}
		}
		if inside == "" && v.Get("properties").Kind == "" {
			inside = v.Get("name").Str()
		}
		if !next.Present() {
			break
		}
		v = next
	}
	if v.Kind != source.Map {
		return f.fail(v, "", "holds no schema")
	}
	b.api.ResponseFormats = append(b.api.ResponseFormats, tool.ResponseFormat{
		Name: named(art, inside), Path: name, Schema: tool.Plain(v), Critical: art.Critical,
	})
	return nil
}

// modelConfig says whether retries and time limits are declared at all.
func (b *block) modelConfig(_ manifest.Artifact, name string, text []byte) *tool.SourceError {
	f, err := b.file(name, text)
	if err != nil {
		return err
	}
	if f.root.Kind != source.Map {
		return f.fail(f.root, "", "is not an object")
	}
	b.api.RetryPolicy = said(b.api.RetryPolicy, f.root, "retry_policy", "max_retries")
	b.retry(f.root.Get("retry_policy"))
	b.retry(f.root.Get("max_retries"))
	b.api.Timeouts = said(b.api.Timeouts, f.root, "timeouts", "timeout")
	return nil
}

// retry keeps the first retry policy that says anything.
func (b *block) retry(v source.Value) {
	if b.api.Retry == nil && declares(v) {
		b.api.Retry = tool.Plain(v)
	}
}

// said is whether one of keys declares something; without any key it stays as
// it was.
func said(before *bool, v source.Value, keys ...string) *bool {
	for _, key := range keys {
		item := v.Get(key)
		if !item.Present() {
			continue
		}
		if before != nil && *before {
			return before
		}
		before = new(declares(item))
	}
	return before
}

// declares: a null, a false, a zero and an empty object declare nothing.
func declares(v source.Value) bool {
	return v.True() || v.Kind == source.String && v.Text != "" || v.Kind == source.Number && v.Text != "0" ||
		len(v.Members) > 0 || len(v.Items) > 0
}
