package listing_test

import (
	"os"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
)

// Whatever a file holds, the reading ends in tools, warnings or an error, and
// no tool is without a name or a place.
func FuzzListing(f *testing.F) {
	for _, name := range []string{
		"support_refund_agent/mcp-tools.json", "support_refund_agent/wildcard-tools.json", "simple_openai_api_agent/tools/openai-tools.json",
		"simple_anthropic_agent/tools/anthropic-tools.json", "simple_openai_api_agent/policies/openai-api-policy.yaml", "simple_openai_api_agent/traces/sample.jsonl",
	} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("tools: [{name: a, inputSchema: {allOf: [{$ref: '#'}]}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := fstest.MapFS{"x.json": {Data: text}, "x.yaml": {Data: text}, "x.jsonl": {Data: text}}
		for name := range files {
			one := []manifest.Artifact{{Path: name}}
			r, err := listing.ReadMCP(nil, source(name), files)
			if (r == nil) == (err == nil) {
				t.Fatalf("%v and %v", r, err)
			}
			if r != nil {
				for _, o := range r.Tools {
					if o.Name == "" || o.Origin.Path != name {
						t.Fatalf("%+v", o)
					}
				}
			}
			for _, o := range []manifest.OpenAI{{Tools: one}, {FunctionSchemas: one}, {ResponseFormats: one}, {ModelConfig: &one[0]}, {TestCases: one}, {Traces: one}, {PolicyRules: one}} {
				if _, err := openai(files, o); err != nil && err.SourceID != "openai_api" {
					t.Fatal(err)
				}
			}
			_, _ = listing.ReadAnthropic(&manifest.Manifest{Anthropic: &manifest.Anthropic{Tools: one, PolicyRules: one}}, files)
		}
	})
}
