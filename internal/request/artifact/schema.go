package artifact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/schema"
)

// Schema is the schema of artifacts, docs/contracts/clan-artifact.schema.json,
// compiled. It implements Contents.
type Schema struct {
	whole    *schema.Schema
	contents map[envelope.ArtifactType]*schema.Schema
}

// NewSchema compiles the text of the schema. It has a sub-schema for the content
// of every type under $defs; one that is missing is an error.
func NewSchema(text []byte) (*Schema, error) {
	v, err := contract.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the artifact schema: %w", err)
	}
	document, _ := v.(map[string]any)
	id, _ := document["$id"].(string)
	c, err := schema.NewSet(contract.Formats(), v)
	if err != nil {
		return nil, fmt.Errorf("read the artifact schema: %w", err)
	}
	s := &Schema{contents: map[envelope.ArtifactType]*schema.Schema{}}
	if s.whole, err = c.Compile(id); err != nil {
		return nil, fmt.Errorf("compile the artifact schema: %w", err)
	}
	for _, t := range envelope.ArtifactTypes() {
		if s.contents[t], err = c.Compile(id + "#/$defs/" + string(t)); err != nil {
			return nil, fmt.Errorf("compile the schema of %s: %w", t, err)
		}
	}
	return s, nil
}

// Check implements Contents.
func (s *Schema) Check(t envelope.ArtifactType, content any) problem.List {
	own, ok := s.contents[t]
	if !ok {
		return problem.List{problem.At(problem.ContentInvalid, "", "there is no such artifact type")}
	}
	return faults(own, content)
}

// CheckDocument is every fault of a whole artifact as Document writes it.
func (s *Schema) CheckDocument(text []byte) problem.List {
	v, err := contract.Parse(text)
	if err != nil {
		return problem.List{problem.At(problem.ContentInvalid, "", "the artifact is no JSON, or holds a member twice")}
	}
	return faults(s.whole, v)
}

// maxFaults bounds the answer to a content that is wrong everywhere.
const maxFaults = 100

// faults names the rules that are broken and their places, never the value: a
// worker's answer may hold what must not be repeated.
func faults(of *schema.Schema, v any) problem.List {
	if number, path := oversized(v, ""); number {
		return problem.List{problem.At(problem.ContentInvalid, path, "the number is out of range")}
	}
	var list problem.List
	for _, f := range of.Validate(v) {
		keyword := f.Keyword
		if keyword == "" {
			keyword = "schema"
		}
		list = append(list, problem.At(problem.ContentInvalid, contract.Pointer(f.Path...), "it breaks the rule %q of its schema", keyword))
	}
	slices.SortStableFunc(list, func(a, b *problem.Problem) int {
		return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
	})
	list = slices.CompactFunc(list, func(a, b *problem.Problem) bool { return a.Path == b.Path && a.Message == b.Message })
	return list[:min(len(list), maxFaults)]
}

// oversized finds a number no schema of ours has room for: 1e999999999.
func oversized(v any, path string) (found bool, at string) {
	switch v := v.(type) {
	case json.Number:
		return len(v) > 20 || strings.ContainsAny(string(v), "eE"), path
	case []any:
		for _, e := range v {
			if found, at := oversized(e, path); found {
				return true, at
			}
		}
	case map[string]any:
		for _, e := range v {
			if found, at := oversized(e, path); found {
				return true, at
			}
		}
	}
	return false, ""
}
