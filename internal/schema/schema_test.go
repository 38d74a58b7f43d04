package schema_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/schema"
	"plimsoll.dev/testdata/contracts"
)

func parse(t testing.TB, text []byte) any {
	t.Helper()
	v, err := contract.Parse(text)
	if err != nil {
		t.Fatalf("%v in %.100s", err, text)
	}
	return v
}

// pair is one schema as both compile it.
type pair struct {
	name   string
	ours   *schema.Schema
	theirs *jsonschema.Schema
}

// pairs is every schema of the program.
func pairs(t testing.TB) []pair {
	t.Helper()
	var documents []any
	var ids []string
	library := jsonschema.NewCompiler()
	library.AssertFormat()
	library.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: func(v any) error {
		if text, ok := v.(string); ok && !contract.Formats()["date-time"](text) {
			return errors.New("no date-time")
		}
		return nil
	}})
	for _, pattern := range []string{"../pipeline/contract/schema/*.json", "../pipeline/artifact/schema/*.json", "../../docs/contracts/*.schema.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v := parse(t, text)
			id, named := v.(map[string]any)["$id"].(string)
			if !named { // known by its file alone
				id = "https://plimsoll.dev/contracts/" + filepath.Base(file)
				v.(map[string]any)["$id"] = id
			}
			if err := library.AddResource(id, v); err != nil {
				t.Fatal(err)
			}
			documents, ids = append(documents, v), append(ids, id)
			defs, _ := v.(map[string]any)["$defs"].(map[string]any)
			for name := range defs {
				ids = append(ids, id+"#/$defs/"+name)
			}
		}
	}
	slices.Sort(ids)
	set, err := schema.NewSet(contract.Formats(), documents...)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]pair, len(ids))
	for i, id := range ids {
		ours, err := set.Compile(id)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = pair{id, ours, library.MustCompile(id)}
	}
	return list
}

// leaves is what the library reports, as places and keywords.
func leaves(e *jsonschema.ValidationError) []string {
	if len(e.Causes) > 0 {
		var list []string
		for _, cause := range e.Causes {
			list = append(list, leaves(cause)...)
		}
		return list
	}
	steps, keyword := e.InstanceLocation, ""
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		keyword = path[len(path)-1]
	}
	if _, closed := e.ErrorKind.(*kind.FalseSchema); closed && len(steps) > 0 {
		steps, keyword = steps[:len(steps)-1], "unevaluatedProperties"
	}
	return []string{contract.Pointer(steps...) + " " + keyword}
}

// same holds both against one value: the same verdict, and the same places and
// rules. The library counts members as unknown when the part that speaks of them
// failed; with another fault at hand those are left out.
func (p pair) same(t rapid.TB, v any) {
	t.Helper()
	var ours, theirs []string
	for _, f := range p.ours.Validate(v) {
		if f.Message == "" {
			t.Fatalf("%s: a fault without words", p.name)
		}
		ours = append(ours, contract.Pointer(f.Path...)+" "+f.Keyword)
	}
	if failed, ok := errors.AsType[*jsonschema.ValidationError](p.theirs.Validate(v)); ok {
		theirs = leaves(failed)
	}
	if (len(ours) == 0) != (len(theirs) == 0) {
		text, _ := json.Marshal(v)
		t.Fatalf("%s: we say %q, the library %q, of %s", p.name, ours, theirs, text)
	}
	unknown := func(f string) bool { return strings.HasSuffix(f, " unevaluatedProperties") }
	set := func(list []string) []string {
		list = slices.Sorted(slices.Values(list))
		if slices.ContainsFunc(list, func(f string) bool { return !unknown(f) }) {
			list = slices.DeleteFunc(list, unknown)
		}
		return slices.Compact(list)
	}
	if a, b := set(ours), set(theirs); !slices.Equal(a, b) {
		text, _ := json.Marshal(v)
		t.Fatalf("%s: we say %q, the library %q, of %s", p.name, a, b, text)
	}
}

// documents is values near to what the schemas take.
func documents(t testing.TB) []any {
	t.Helper()
	type vector struct{ Document json.RawMessage }
	var list []any
	for _, name := range []string{"schema-valid", "schema-invalid"} {
		for _, v := range contracts.Load[vector](t, name) {
			if d, err := contract.Parse(v.Document); err == nil {
				list = append(list, d)
			}
		}
	}
	return list
}

var words = []any{
	nil, true, false, "", "x", "Draft", "2026-03-29T10:00:00Z", "2026-03-29t10:00:00", "IC-001", "EV-1", "1.0.0", "äöü", "sha256:" + strings.Repeat("a", 64),
	json.Number("0"), json.Number("1"), json.Number("1.0"), json.Number("-1"), json.Number("1.5"), json.Number("1e3"),
	[]any{},
	[]any{"read_repo"},
	[]any{"a", "a"},
	[]any{json.Number("1"), json.Number("1.0")},
	[]any{map[string]any{}, map[string]any{}},
	map[string]any{},
	map[string]any{"id": "x"},
	map[string]any{"type": "x", "id": json.Number("1")},
}

// bent is a value with a part of it changed.
func bent(t *rapid.T, v any) any {
	if rapid.IntRange(0, 5).Draw(t, "here") == 0 {
		return rapid.SampledFrom(words).Draw(t, "word")
	}
	switch v := v.(type) {
	case map[string]any:
		own := map[string]any{}
		for name, e := range v {
			own[name] = e
		}
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range own {
				if !yield(name) {
					return
				}
			}
		})
		switch {
		case len(names) == 0 || rapid.IntRange(0, 4).Draw(t, "add") == 0:
			own[rapid.SampledFrom([]string{"extra", "id", "reason", "kind", "type", "content"}).Draw(t, "name")] = rapid.SampledFrom(words).Draw(t, "word")
		default:
			name := rapid.SampledFrom(names).Draw(t, "member")
			if rapid.Bool().Draw(t, "drop") {
				delete(own, name)
			} else {
				own[name] = bent(t, own[name])
			}
		}
		return own
	case []any:
		own := slices.Clone(v)
		if len(own) == 0 || rapid.Bool().Draw(t, "more") {
			return append(own, rapid.SampledFrom(append(own, words...)).Draw(t, "word"))
		}
		i := rapid.IntRange(0, len(own)-1).Draw(t, "entry")
		own[i] = bent(t, own[i])
		return own
	}
	return rapid.SampledFrom(words).Draw(t, "word")
}

func TestWeAgreeWithTheLibraryOnWhatNearlyFits(t *testing.T) {
	all, near := pairs(t), documents(t)
	for _, p := range all {
		for _, v := range near {
			p.same(t, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(all).Draw(t, "schema")
		v := rapid.SampledFrom(near).Draw(t, "document")
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			v = bent(t, v)
		}
		p.same(t, v)
	})
}

// What an own schema of a rule says, in small: each is a schema, a value and the
// places and keywords of its faults.
func TestRules(t *testing.T) {
	for _, c := range []struct{ schema, value, faults string }{
		{`{"type":["string","null"]}`, `1`, ` type`},
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"type":"integer"}`, `1e400`, ` type`}, // no binary64
		{`{"minimum":1,"maximum":2}`, `2.5`, ` maximum`},
		{`{"const":1}`, `1.0`, ``},
		{`{"enum":[1,"1"]}`, `true`, ` enum`},
		{`{"minLength":2,"maxLength":3}`, `"äö"`, ``},
		{`{"minLength":3}`, `"äö"`, ` minLength`},
		{`{"pattern":"b+"}`, `"abc"`, ``},
		{`{"format":"date-time"}`, `"today"`, ` format`},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2.0,"a":1}]`, ` uniqueItems`},
		{`{"items":{"type":"string"},"maxItems":1}`, `["a",1]`, ` maxItems,/1 type`},
		{`{"required":["a","b"]}`, `{}`, ` required`},
		{`{"properties":{"a":true},"additionalProperties":false}`, `{"b":1,"c":1}`, ` additionalProperties`},
		{`{"additionalProperties":{"type":"string"}}`, `{"b":1}`, `/b type`},
		{`{"maxProperties":1}`, `{"a":1,"b":1}`, ` maxProperties`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a `},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, ` unevaluatedProperties`},
		{`{"if":{"required":["a"]},"then":{"properties":{"a":true,"b":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":false}`, `{"a":1,"b":1}`, ``},
		{`{"if":{"required":["a"]},"then":{"properties":{"a":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":false}`, `{"b":1,"c":1}`, ` unevaluatedProperties`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, ` type, type`},
		{`{"oneOf":[{"type":"integer"},{"minimum":0}]}`, `1`, ` oneOf`},
		{`{"not":{"type":"integer"}}`, `1`, ` not`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"type":"array"}}}`, `[[],[1]]`, `/1/0 type`},
		{`{"$ref":"other.json"}`, `1`, ` type`},
	} {
		own := parse(t, []byte(c.schema)).(map[string]any)
		own["$id"] = "https://test/own.json"
		set, err := schema.NewSet(contract.Formats(), own, parse(t, []byte(`{"$id":"https://test/other.json","type":"string"}`)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := set.Compile("https://test/own.json")
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		var v any
		d := json.NewDecoder(strings.NewReader(c.value))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Validate(v) {
			got = append(got, contract.Pointer(f.Path...)+" "+f.Keyword)
		}
		if strings.Join(got, ",") != c.faults {
			t.Errorf("%s of %s: %q, want %q", c.value, c.schema, got, c.faults)
		}
	}
}

func TestASchemaThatSaysMoreIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"contains":{}}`, `{"type":"text"}`, `{"type":1}`, `{"pattern":"("}`, `{"format":"email"}`, `{"minimum":"1"}`, `{"minimum":1e999}`,
		`{"items":[]}`, `{"properties":[]}`, `{"unevaluatedProperties":true}`, `{"required":[1]}`, `{"allOf":{}}`, `{"$ref":"#/$defs/none"}`,
		`{"$ref":"none.json"}`, `{"$ref":1}`, `{"enum":1}`, `{"properties":{"a":1}}`, `{"oneOf":[1]}`,
	} {
		var v map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		v["$id"] = "https://test/own.json"
		set, err := schema.NewSet(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Compile("https://test/own.json"); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if _, err := schema.NewSet(nil, map[string]any{}); err == nil {
		t.Error("a schema without a name is taken")
	}
}
