package plimsoll_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

func compiled(t *testing.T, text []byte, err error) (*jsonschema.Schema, map[string]any) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	document := v.(map[string]any)
	if err := c.AddResource(document["$id"].(string), document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(document["$id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return schema, document
}

// enumeration is the values a definition of the schema allows.
func enumeration(t *testing.T, schema map[string]any, path ...string) []string {
	t.Helper()
	at := any(schema)
	for _, step := range path {
		at = at.(map[string]any)[step]
	}
	var list []string
	for _, v := range at.([]any) {
		list = append(list, v.(string))
	}
	return list
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// examples is testdata/circle/artifacts.json, decoded anew for each caller.
func examples(t *testing.T) []map[string]any {
	t.Helper()
	text, err := os.ReadFile("testdata/circle/artifacts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Artifacts []map[string]any `json:"artifacts"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Artifacts
}

func TestTheArtifactSchemaTakesAnExampleOfEachType(t *testing.T) {
	text, err := plimsoll.ArtifactSchema()
	schema, document := compiled(t, text, err)
	seen := map[string]bool{}
	for _, a := range examples(t) {
		seen[a["type"].(string)] = true
		if err := schema.Validate(a); err != nil {
			t.Errorf("%s: %v", a["type"], err)
		}
	}
	if types := enumeration(t, document, "$defs", "artifact_type", "enum"); !slices.Equal(types, texts(envelope.ArtifactTypes())) {
		t.Errorf("the schema knows the types %q", types)
	} else if len(seen) != len(types) {
		t.Errorf("there are examples of %d of %d types", len(seen), len(types))
	}
}

// Every member the examples have is either required or known; no other is taken.
func TestTheArtifactSchemaIsStrict(t *testing.T) {
	text, err := plimsoll.ArtifactSchema()
	schema, document := compiled(t, text, err)
	defs := document["$defs"].(map[string]any)
	for i, a := range examples(t) {
		kind := a["type"].(string)
		content := a["content"].(map[string]any)
		for _, place := range []map[string]any{a, content, a["provenance"].(map[string]any)} {
			place["surprise"] = "x"
			if schema.Validate(a) == nil {
				t.Errorf("%s (%d) takes an unknown member", kind, i)
			}
			delete(place, "surprise")
		}
		definition := defs[kind].(map[string]any)
		for _, name := range definition["required"].([]any) {
			held := content[name.(string)]
			delete(content, name.(string))
			if schema.Validate(a) == nil {
				t.Errorf("%s is taken without %s", kind, name)
			}
			content[name.(string)] = held
		}
		for name := range maps.Clone(content) {
			held := content[name]
			content[name] = []any{map[string]any{}}
			if schema.Validate(a) == nil {
				t.Errorf("%s takes anything as %s", kind, name)
			}
			content[name] = held
		}
		for name := range definition["properties"].(map[string]any) {
			if _, shown := content[name]; !shown && kind != "memory_note" {
				t.Errorf("the example of %s does not show %s", kind, name)
			}
		}
		other := envelope.ArtifactTypes()[(slices.Index(envelope.ArtifactTypes(), envelope.ArtifactType(kind))+1)%len(envelope.ArtifactTypes())]
		a["type"] = string(other)
		if schema.Validate(a) == nil {
			t.Errorf("the content of %s is taken as %s", kind, other)
		}
		a["type"] = kind
		if err := schema.Validate(a); err != nil {
			t.Errorf("%s changed under the test: %v", kind, err)
		}
	}
}

func TestASchemaOfTheCircleKnowsTheWordsOfTheProgram(t *testing.T) {
	text, err := plimsoll.ArtifactSchema()
	_, artifact := compiled(t, text, err)
	text, err = plimsoll.EnvelopeSchema()
	_, request := compiled(t, text, err)
	for name, pair := range map[string][2][]string{
		"levels":    {enumeration(t, artifact, "$defs", "level", "enum"), texts(envelope.Levels())},
		"flags":     {enumeration(t, artifact, "$defs", "flag", "enum"), texts(envelope.Flags())},
		"workers":   {enumeration(t, artifact, "$defs", "provenance", "properties", "worker", "enum"), texts(constitution.Workers())},
		"targets":   {enumeration(t, request, "properties", "visibility_level_target", "enum"), texts(envelope.Levels())},
		"envelope":  {enumeration(t, request, "properties", "sensitivity_flags", "items", "enum"), texts(envelope.Flags())},
		"actions":   {enumeration(t, request, "properties", "allowed_actions", "items", "enum"), texts(envelope.Actions())},
		"artifacts": {enumeration(t, request, "$defs", "artifact_type", "enum"), texts(envelope.ArtifactTypes())},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: the schema knows %q, the program %q", name, pair[0], pair[1])
		}
	}
}

// The schema and the reader of envelopes take the same documents.
func TestTheEnvelopeSchemaAgreesWithTheReader(t *testing.T) {
	text, err := plimsoll.EnvelopeSchema()
	schema, _ := compiled(t, text, err)
	sound := func() map[string]any {
		return map[string]any{
			"request_id": "r-1",
			"circle_context": map[string]any{
				"circle_id": "c-forest", "member_id": "m-olha", "channel": map[string]any{"kind": "internal", "id": "console"}, "locale": "uk",
				"participants": []any{"m-taras"}, "references": []any{map[string]any{"kind": "diff", "id": "d-1"}},
			},
			"visibility_level_target": "circle", "sensitivity_flags": []any{"health"}, "consent_status": "missing",
			"allowed_actions": []any{"read", "propose_decision"}, "expected_output": "decision_draft", "input_text": "Let us decide.",
		}
	}
	agree := func(name string, want bool, change func(map[string]any)) {
		t.Helper()
		document := sound()
		change(document)
		bytes, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		_, read := envelope.Decode(bytes)
		valid := schema.Validate(document)
		if (read == nil) != want || (valid == nil) != want {
			t.Errorf("%s: want %v; the reader says %v, the schema %v", name, want, read, valid)
		}
	}
	agree("sound", true, func(map[string]any) {})
	for name := range sound() {
		agree("without "+name, false, func(d map[string]any) { delete(d, name) })
		agree("null "+name, false, func(d map[string]any) { d[name] = nil })
		agree("a number as "+name, false, func(d map[string]any) { d[name] = 1 })
	}
	context := func(d map[string]any) map[string]any { return d["circle_context"].(map[string]any) }
	for _, name := range []string{"circle_id", "member_id", "channel"} {
		agree("without "+name, false, func(d map[string]any) { delete(context(d), name) })
	}
	for _, name := range []string{"locale", "participants", "references"} {
		agree("without "+name, true, func(d map[string]any) { delete(context(d), name) })
	}
	agree("a list of outputs", true, func(d map[string]any) { d["expected_output"] = []any{"decision_draft"} })
	agree("no output", false, func(d map[string]any) { d["expected_output"] = []any{} })
	agree("an output twice", false, func(d map[string]any) { d["expected_output"] = []any{"decision_draft", "decision_draft"} })
	agree("no action", false, func(d map[string]any) { d["allowed_actions"] = []any{} })
	agree("execute", false, func(d map[string]any) { d["allowed_actions"] = []any{"read", "execute", "propose_decision"} })
	agree("a flag twice", false, func(d map[string]any) { d["sensitivity_flags"] = []any{"health", "health"} })
	agree("an unknown member", false, func(d map[string]any) { d["prompt_prefix"] = "x" })
	agree("an unknown member inside", false, func(d map[string]any) { context(d)["role"] = "steward" })
	agree("an empty text", false, func(d map[string]any) { d["input_text"] = "" })
	agree("a digest that is none", false, func(d map[string]any) {
		context(d)["references"] = []any{map[string]any{"kind": "diff", "id": "d-1", "sha256": "ABC"}}
	})
	agree("an id with a space", false, func(d map[string]any) { d["request_id"] = "r 1" })
}
