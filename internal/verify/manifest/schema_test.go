package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
)

const published = "../../../docs/contracts/shipgate-manifest.schema.json"

func TestThePublishedSchemaIsTheTable(t *testing.T) {
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		if err := os.WriteFile(published, manifest.Schema(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(published)
	if err != nil || !bytes.Equal(text, manifest.Schema()) {
		t.Errorf("%s is not what the table makes (%v): make golden", published, err)
	}
}

// parsed is a JSON text with its numbers as written.
func parsed(t testing.TB, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func oracle(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource(manifest.SchemaID, parsed(t, manifest.Schema())); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile(manifest.SchemaID)
}

// document is a YAML text as JSON.
func document(t testing.TB, text []byte) any {
	t.Helper()
	v, err := source.ParseYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.JSON(v)
}

func TestTheSchemaTakesEverySampleAndNoAntiPattern(t *testing.T) {
	schema := oracle(t)
	for name, text := range glob(t, "testdata/samples/*.yaml") {
		if err := schema.Validate(document(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range glob(t, "testdata/refused/*.yaml") {
		if schema.Validate(document(t, text)) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func everyKey(t testing.TB) []byte {
	t.Helper()
	return glob(t, "testdata/every_key.yaml")["every_key.yaml"]
}

// loose compares manifests by what they say, not by where it stands.
var loose = cmp.Options{
	cmpopts.IgnoreFields(manifest.Manifest{}, "Root", "Text", "Name"),
	cmpopts.IgnoreTypes(source.Position{}),
}

// ignored are keys that are known and mean nothing.
var ignored = []string{"agent.sdk.deep_import"}

// Every key of the published schema is in the file of every key; and every key
// of that file changes what is loaded, or the file is refused without it. So the
// table, the schema and the binder know the same keys.
func TestEveryKeyIsPublishedAndBound(t *testing.T) {
	text := everyKey(t)
	whole, err := manifest.Load(text, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root := document(t, text)
	if err := oracle(t).Validate(root); err != nil {
		t.Fatal(err)
	}
	schema := parsed(t, manifest.Schema()).(map[string]any)
	s := schemaWalk{schema["$defs"].(map[string]any), map[string]bool{}}
	s.object(schema, []any{root}, "")
	for key, found := range s.found {
		if !found {
			t.Errorf("%s is published and not in the file of every key", key)
		}
	}

	keys := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range sortedKeys(v) {
				path := strings.TrimPrefix(at+"."+key, ".")
				if strings.HasPrefix(at, "action_surface.policies.0.require") || slices.Contains(ignored, path) {
					continue
				}
				walk(v[key], path)
				was := v[key]
				delete(v, key)
				keys++
				without, err := json.Marshal(root)
				if err != nil {
					t.Fatal(err)
				}
				m, failed := manifest.Load(without, manifest.Options{})
				if failed == nil && cmp.Equal(whole, m, loose) {
					t.Errorf("without %s the same is loaded", path)
				}
				v[key] = was
			}
		case []any:
			for i, e := range v {
				walk(e, at+"."+strconv.Itoa(i))
			}
		}
	}
	walk(root, "")
	if keys < 200 {
		t.Errorf("only %d keys were tried", keys)
	}
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// schemaWalk follows a schema along values and keeps of each of its keys whether
// one of them has it.
type schemaWalk struct {
	defs  map[string]any
	found map[string]bool
}

func (s schemaWalk) object(schema any, values []any, at string) {
	node, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := node["$ref"].(string); ok {
		s.object(s.defs[strings.TrimPrefix(ref, "#/$defs/")], values, ref)
		return
	}
	either, _ := node["anyOf"].([]any)
	for _, e := range either {
		if m, ok := e.(map[string]any); ok && (m["type"] != nil || m["$ref"] != nil || m["anyOf"] != nil) {
			s.object(e, values, at)
		}
	}
	if items, ok := node["items"]; ok {
		var inner []any
		for _, v := range values {
			list, _ := v.([]any)
			inner = append(inner, list...)
		}
		s.object(items, inner, at+"[]")
	}
	if more, ok := node["additionalProperties"].(map[string]any); ok {
		var inner []any
		for _, v := range values {
			m, _ := v.(map[string]any)
			for _, key := range sortedKeys(m) {
				inner = append(inner, m[key])
			}
		}
		s.object(more, inner, at+"{}")
	}
	properties, _ := node["properties"].(map[string]any)
	if node["type"] == nil {
		return // an alternative that speaks of some keys
	}
	for _, key := range sortedKeys(properties) {
		var inner []any
		for _, v := range values {
			m, _ := v.(map[string]any)
			if have, ok := m[key]; ok {
				inner = append(inner, have)
			}
		}
		s.found[at+"."+key] = s.found[at+"."+key] || len(inner) > 0
		s.object(properties[key], inner, at+"."+key)
	}
}

// What the loader takes the schema takes; what it refuses for a key, a kind or a
// word, the schema refuses.
func TestTheSchemaAndTheLoaderAgree(t *testing.T) {
	schema, text := oracle(t), everyKey(t)
	said := []manifest.Code{manifest.UnknownKey, manifest.LegacyKey, manifest.WrongType, manifest.WrongValue, manifest.Blank}
	replacements := []any{nil, true, "", " ", "x", "0.1", "2030-01-31", "critical", "none", json.Number("1"), json.Number("0.1"), []any{}, []any{"a"}, []any{nil}, map[string]any{}, map[string]any{"tool": "t"}, map[string]any{"path": "p"}}
	rapid.Check(t, func(t *rapid.T) {
		v, err := source.ParseYAML(text)
		if err != nil {
			t.Fatal(err)
		}
		root := manifest.JSON(v)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			root = bent(t, root, replacements)
		}
		if _, ok := root.(map[string]any); !ok {
			return
		}
		written, failed := json.Marshal(root)
		if failed != nil {
			t.Fatal(failed)
		}
		_, refused := manifest.Load(written, manifest.Options{})
		invalid := schema.Validate(root)
		if refused == nil && invalid != nil {
			t.Fatalf("the schema refuses what is loaded: %v", invalid)
		}
		var faults *manifest.Errors
		if errors.As(refused, &faults) && invalid == nil {
			for _, p := range faults.Problems {
				// Days that no calendar has, and modes of one type, are the loader's.
				if slices.Contains(said, p.Code) && !strings.HasSuffix(p.Path, "expires") && !strings.HasSuffix(p.Path, "mode") && !strings.HasSuffix(p.Path, "complete") {
					t.Fatalf("the schema takes what is refused: %v", refused)
				}
			}
		}
	})
}

// bent is a value with one place changed: replaced, dropped, or a key added.
func bent(t *rapid.T, v any, words []any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := sortedKeys(v)
		if len(keys) == 0 || rapid.IntRange(0, 9).Draw(t, "add") == 0 {
			v[rapid.SampledFrom([]string{"extra", "tool", "reason", "check_severity_overrides"}).Draw(t, "key")] = rapid.SampledFrom(words).Draw(t, "word")
			return v
		}
		key := rapid.SampledFrom(keys).Draw(t, "member")
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			delete(v, key)
		case 1:
			v[key] = rapid.SampledFrom(words).Draw(t, "word")
		default:
			v[key] = bent(t, v[key], words)
		}
		return v
	case []any:
		if len(v) == 0 || rapid.IntRange(0, 5).Draw(t, "more") == 0 {
			return append(v, rapid.SampledFrom(words).Draw(t, "word"))
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "entry")
		v[i] = bent(t, v[i], words)
		return v
	}
	return rapid.SampledFrom(words).Draw(t, "word")
}
