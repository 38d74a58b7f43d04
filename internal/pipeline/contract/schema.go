package contract

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/schema"
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
type Schema struct{ compiled *schema.Schema }

// CompileSchemas compiles the schema files in dir of files, by file name
// without ".schema.json". A schema that refers to another finds it in the same
// folder. It panics on a schema that does not compile: they are part of the
// program.
func CompileSchemas(files fs.FS, dir string) map[string]*Schema {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		panic(err)
	}
	documents, ids := make([]any, len(entries)), map[string]string{}
	for i, e := range entries {
		text, err := fs.ReadFile(files, dir+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		if documents[i], err = Parse(text); err != nil {
			panic(fmt.Errorf("schema %s: %w", e.Name(), err))
		}
		ids[strings.TrimSuffix(e.Name(), ".schema.json")], _ = documents[i].(map[string]any)["$id"].(string)
	}
	set, err := schema.NewSet(Formats(), documents...)
	if err != nil {
		panic(err)
	}
	schemas := map[string]*Schema{}
	for name, id := range ids {
		compiled, err := set.Compile(id)
		if err != nil {
			panic(err)
		}
		schemas[name] = &Schema{compiled}
	}
	return schemas
}

// Formats is the formats our schemas assert: date-time as ParseTimestamp has it.
func Formats() schema.Formats {
	return schema.Formats{"date-time": func(text string) bool {
		_, ok := ParseTimestamp(text)
		return ok
	}}
}

// Validate is every fault of a value Parse returned, each with its JSON pointer
// and schema keyword, sorted by place; nil when there is none.
func (s *Schema) Validate(v any) refusal.List {
	faults := outOfRange(v, nil, nil)
	for _, f := range s.compiled.Validate(v) {
		r := refusal.At(refusal.ContractSchemaInvalid, Pointer(f.Path...), "%s", f.Message)
		r.Keyword = f.Keyword
		faults = append(faults, r)
	}
	slices.SortStableFunc(faults, func(a, b *refusal.Refusal) int {
		return strings.Compare(a.Path+"\x00"+a.Keyword, b.Path+"\x00"+b.Keyword)
	})
	return slices.CompactFunc(faults, func(a, b *refusal.Refusal) bool {
		return a.Path == b.Path && a.Keyword == b.Keyword && a.Message == b.Message
	})
}

// outOfRange is a fault for each number beyond binary64: no schema of ours has
// room for one.
func outOfRange(v any, path []string, faults refusal.List) refusal.List {
	switch v := v.(type) {
	case json.Number:
		if len(v) > 20 {
			if _, err := v.Float64(); err != nil {
				r := refusal.At(refusal.ContractSchemaInvalid, Pointer(path...), "the number is out of range")
				r.Keyword = "maximum"
				return append(faults, r)
			}
		}
	case []any:
		for i, e := range v {
			faults = outOfRange(e, append(path, strconv.Itoa(i)), faults)
		}
	case map[string]any:
		for k, e := range v {
			faults = outOfRange(e, append(path, k), faults)
		}
	}
	return faults
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
