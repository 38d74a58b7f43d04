package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
)

// SchemaID names the published schema of shipgate.yaml.
const SchemaID = "https://plimsoll.dev/contracts/shipgate-manifest.schema.json"

// Schema is the JSON schema of shipgate.yaml, made from the table that the
// loader reads by. It admits the shorthand of artifacts, selectors, packs and
// overrides. What a schema cannot say, the loader alone holds: unique
// ids, floors, expiry, the rules of authority.
func Schema() []byte {
	defs := map[string]any{}
	root := schemaOf(table(), false, defs)
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", SchemaID
	root["title"] = "shipgate.yaml, version 0.1"
	root["description"] = "What a team declares about its agent, where its tools come from and which controls stand."
	root["$defs"] = defs
	root["allOf"] = []any{inputsSchema(), scopeSchema()}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic(err) // maps of texts and numbers always encode
	}
	return b.Bytes()
}

// schemaOf is the schema of a place. nullable says that null stands for "not
// given" there.
func schemaOf(s *shape, nullable bool, defs map[string]any) map[string]any {
	if s.name != "" {
		if _, ok := defs[s.name]; !ok {
			defs[s.name] = true // the name is taken while its own schema is made
			defs[s.name] = plainSchema(s, false, defs)
		}
		ref := map[string]any{"$ref": "#/$defs/" + s.name}
		if !nullable {
			return ref
		}
		return map[string]any{"anyOf": []any{ref, map[string]any{"type": "null"}}}
	}
	return plainSchema(s, nullable, defs)
}

func plainSchema(s *shape, nullable bool, defs map[string]any) map[string]any {
	if s.short != "" {
		long := *s
		long.short, long.name = "", ""
		either := []any{schemaOf(s.at(s.short).shape, false, defs), plainSchema(&long, false, defs)}
		if nullable {
			either = append(either, map[string]any{"type": "null"})
		}
		return map[string]any{"anyOf": either}
	}
	v := map[string]any{}
	typed := func(kinds ...string) {
		if nullable {
			kinds = append(kinds, "null")
		}
		v["type"] = kinds
		if len(kinds) == 1 {
			v["type"] = kinds[0]
		}
	}
	switch s.kind {
	case anyShape:
	case textShape, scalarShape:
		typed("string")
		if s.kind == scalarShape {
			typed("string", "number")
		}
		if len(s.words) > 0 {
			words := make([]any, 0, len(s.words)+1)
			for _, w := range s.words {
				words = append(words, w)
			}
			if nullable {
				words = append(words, nil)
			}
			v["enum"] = words
		}
		if pattern := map[form]string{filled: filledPattern, dated: datedPattern, digest: digestPattern}[s.form]; pattern != "" {
			v["pattern"] = pattern
		}
	case flagShape:
		typed("boolean")
	case wholeShape:
		typed("integer")
		v["minimum"] = s.least
	case listShape:
		typed("array")
		v["items"] = schemaOf(s.item, false, defs)
		if s.least > 0 {
			v["minItems"] = s.least
		}
	case dictShape:
		typed("object")
		v["additionalProperties"] = schemaOf(s.item, false, defs)
		if s.least > 0 {
			v["not"] = map[string]any{"maxProperties": s.least - 1}
		}
	case objectShape:
		typed("object")
		objectSchema(s, v, defs)
	}
	return v
}

func objectSchema(s *shape, v map[string]any, defs map[string]any) {
	properties := map[string]any{}
	var required []string
	for _, f := range s.fields {
		p := schemaOf(f.shape, !f.must, defs)
		if f.help != "" {
			p["description"] = f.help
		}
		if f.fixed != nil {
			p["default"] = f.fixed
		}
		properties[f.key] = p
		if f.must {
			required = append(required, f.key)
		}
	}
	v["properties"], v["additionalProperties"] = properties, false
	if len(required) > 0 {
		slices.Sort(required)
		v["required"] = required
	}
	if len(s.anyOf) > 0 {
		v["anyOf"] = has(s.anyOf...)
	}
}

// has is one alternative for each key: that it is there.
func has(keys ...string) []any {
	var either []any
	for _, key := range keys {
		either = append(either, map[string]any{"required": []string{key}, "properties": map[string]any{key: map[string]any{"not": map[string]any{"type": "null"}}}})
	}
	return either
}

// filledList is a key whose list has an entry.
func filledList(key string) map[string]any {
	return map[string]any{"required": []string{key}, "properties": map[string]any{key: map[string]any{"type": "array", "minItems": 1}}}
}

// inputsSchema is the rule that something names a tool (§4.2).
func inputsSchema() map[string]any {
	return map[string]any{"anyOf": append([]any{filledList("tool_sources")}, has(inputBlocks...)...)}
}

// scopeSchema is the rule that something says what the agent is for (§4.2).
func scopeSchema() map[string]any {
	inside := func(key string, v map[string]any) map[string]any {
		return map[string]any{"required": []string{key}, "properties": map[string]any{key: v}}
	}
	// A list has an item of a sort when it is not true that no item is of it.
	noneOf := map[string]any{"items": map[string]any{"not": inside("type", map[string]any{"enum": scopedTypes})}}
	either := []any{
		inside("agent", map[string]any{"type": "object", "anyOf": []any{
			filledList("declared_purpose"),
			inside("instructions_preview", map[string]any{"type": "string", "pattern": filledPattern}),
		}}),
		inside("openai_api", map[string]any{"type": "object", "anyOf": []any{filledList("prompt_files")}}),
		inside("anthropic", map[string]any{"type": "object", "anyOf": []any{filledList("prompt_files")}}),
		inside("tool_sources", map[string]any{"type": "array", "not": noneOf}),
	}
	return map[string]any{"anyOf": append(either, has(scopedBlocks...)...)}
}
