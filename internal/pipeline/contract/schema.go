package contract

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"plimsoll.dev/internal/pipeline/refusal"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// SchemaText is the schema of a kind as it is published; nil for an unknown one.
func SchemaText(k Kind) []byte {
	text, err := schemaFiles.ReadFile("schema/" + string(k) + ".schema.json")
	if err != nil {
		return nil
	}
	return text
}

// Schema is a compiled JSON Schema of draft 2020-12 with date-time asserted.
type Schema struct {
	compiled *jsonschema.Schema
	known    map[string]bool // the member names the root knows
}

// CompileSchemas compiles the schema files in dir of files, by file name
// without ".schema.json". A schema that refers to another finds it in the same
// folder. It panics on a schema that does not compile: they are part of the
// program.
func CompileSchemas(files fs.FS, dir string) map[string]*Schema {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: dateTime})
	documents := map[string]map[string]any{}
	for _, e := range entries {
		text, err := fs.ReadFile(files, dir+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		v, err := Parse(text)
		if err != nil {
			panic(fmt.Errorf("schema %s: %w", e.Name(), err))
		}
		document := v.(map[string]any)
		if err := c.AddResource(document["$id"].(string), document); err != nil {
			panic(err)
		}
		documents[strings.TrimSuffix(e.Name(), ".schema.json")] = document
	}
	schemas := map[string]*Schema{}
	for name, document := range documents {
		s := &Schema{compiled: c.MustCompile(document["$id"].(string)), known: map[string]bool{}}
		for _, d := range []map[string]any{document, documents["common"]} {
			memberNames(d, s.known)
		}
		schemas[name] = s
	}
	return schemas
}

func memberNames(schema map[string]any, into map[string]bool) {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		into[name] = true
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if part, ok := part.(map[string]any); ok {
			memberNames(part, into)
		}
	}
}

func dateTime(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if _, ok := ParseTimestamp(text); !ok {
		return errors.New("not an RFC 3339 time with an upper-case T and an offset")
	}
	return nil
}

// Validate is every fault of a value Parse returned, each with its JSON pointer
// and schema keyword, sorted by place; nil when there is none.
func (s *Schema) Validate(v any) refusal.List {
	bounded, faults := boundNumbers(v, nil, nil)
	err := s.compiled.Validate(bounded)
	if failed, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		faults = s.leaves(failed, faults)
	} else if err != nil {
		faults = append(faults, refusal.At(refusal.ContractSchemaInvalid, "", "%v", err))
	}
	slices.SortStableFunc(faults, func(a, b *refusal.Refusal) int {
		return strings.Compare(a.Path+"\x00"+a.Keyword, b.Path+"\x00"+b.Keyword)
	})
	return slices.CompactFunc(faults, func(a, b *refusal.Refusal) bool {
		return a.Path == b.Path && a.Keyword == b.Keyword && a.Message == b.Message
	})
}

// leaves collects the faults at the ends of the tree: what lies between only
// says through which allOf and $ref a fault was reached.
func (s *Schema) leaves(e *jsonschema.ValidationError, faults refusal.List) refusal.List {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			faults = s.leaves(cause, faults)
		}
		return faults
	}
	steps := e.InstanceLocation
	keyword := ""
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		keyword = path[len(path)-1]
	}
	text := e.ErrorKind.LocalizedString(english())
	if _, closed := e.ErrorKind.(*kind.FalseSchema); closed && len(steps) > 0 {
		// The library points at the member an unevaluatedProperties refused,
		// and counts members of a branch that failed for another reason too.
		name := steps[len(steps)-1]
		if len(steps) == 1 && s.known[name] {
			return faults
		}
		steps, keyword = steps[:len(steps)-1], "unevaluatedProperties"
		text = fmt.Sprintf("the member %q is not known", name)
	}
	r := refusal.At(refusal.ContractSchemaInvalid, Pointer(steps...), "%s", text)
	r.Keyword = keyword
	return append(faults, r)
}

var english = sync.OnceValue(func() *message.Printer { return message.NewPrinter(language.English) })

// boundNumbers replaces numbers the validator would have to expand in full,
// such as 1e-300 or a thousand digits, by their binary64. An integer beyond it
// is a fault: no schema of ours has room for one.
func boundNumbers(v any, path []string, faults refusal.List) (any, refusal.List) {
	switch v := v.(type) {
	case json.Number:
		if len(v) <= 20 && !strings.ContainsAny(string(v), ".eE") {
			return v, faults
		}
		f, err := v.Float64()
		if err != nil {
			r := refusal.At(refusal.ContractSchemaInvalid, Pointer(path...), "the number is out of range")
			r.Keyword = "maximum"
			return json.Number("1"), append(faults, r)
		}
		return f, faults
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i], faults = boundNumbers(e, append(path, fmt.Sprint(i)), faults)
		}
		return list, faults
	case map[string]any:
		object := make(map[string]any, len(v))
		for k, e := range v {
			object[k], faults = boundNumbers(e, append(path, k), faults)
		}
		return object, faults
	}
	return v, faults
}

// Compiling takes milliseconds and most programs that link this package never
// read a document, so it waits for the first.
var schemas = sync.OnceValue(func() map[string]*Schema {
	return CompileSchemas(schemaFiles, "schema")
})

// Validate is every fault of v against the schema of kind k.
func Validate(k Kind, v any) refusal.List {
	if !k.Valid() {
		r := refusal.At(refusal.ContractSchemaInvalid, "/kind", "%q is no kind of contract", k)
		r.Keyword = "enum"
		return refusal.List{r}
	}
	return schemas()[string(k)].Validate(v)
}
