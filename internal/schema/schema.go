// Package schema holds JSON documents against JSON Schemas of draft 2020-12: the
// part of it that the schemas of this program use. A schema that uses more is
// refused when it is compiled, never understood halfway.
//
// Everything a program links takes its part of every start, and the libraries
// that know all drafts compile their own schemas before main begins. They are the
// oracle of this package's tests instead.
//
// Values are what a strict reader of JSON makes: map[string]any, []any, string,
// bool, nil and json.Number. Numbers are compared as 64-bit integers where both
// are, else as binary64.
package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Formats is the formats that are asserted, by name; nil text is refused.
type Formats map[string]func(text string) bool

// Set is schemas that may refer to each other.
type Set struct {
	documents map[string]map[string]any
	formats   Formats
	nodes     map[string]*node // by document and pointer
}

// Schema is one schema of a Set, compiled.
type Schema struct{ root *node }

// NewSet takes documents as they were parsed. Each has an absolute $id.
func NewSet(formats Formats, documents ...any) (*Set, error) {
	s := &Set{documents: map[string]map[string]any{}, formats: formats, nodes: map[string]*node{}}
	for _, d := range documents {
		document, _ := d.(map[string]any)
		id, _ := document["$id"].(string)
		if id == "" {
			return nil, fmt.Errorf("a schema without $id")
		}
		s.documents[id] = document
	}
	return s, nil
}

// Compile is the schema with this id, or below it: "ID" or "ID#/$defs/name".
func (s *Set) Compile(id string) (*Schema, error) {
	n, err := s.node(id)
	if err != nil {
		return nil, err
	}
	return &Schema{n}, nil
}

// node is the compiled schema at a place. It is known before it is filled, so
// that schemas may refer to themselves.
func (s *Set) node(place string) (*node, error) {
	if n := s.nodes[place]; n != nil {
		return n, nil
	}
	id, pointer, _ := strings.Cut(place, "#")
	document, ok := s.documents[id]
	if !ok {
		return nil, fmt.Errorf("there is no schema %s", id)
	}
	var v any = document
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		object, _ := v.(map[string]any)
		if v, ok = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !ok {
			return nil, fmt.Errorf("there is no schema %s", place)
		}
	}
	n := &node{}
	s.nodes[place] = n
	c := compiler{set: s, base: id}
	if err := c.fill(n, v); err != nil {
		return nil, fmt.Errorf("schema %s: %w", place, err)
	}
	return n, nil
}

// node is one schema. A nil pointer or slice is a keyword that is absent.
type node struct {
	never bool // the schema false
	ref   *node

	types    kinds
	enum     []any
	constant *any
	number   bounds
	length   bounds // of a text, in characters
	count    bounds // of a list
	members  bounds // of an object
	pattern  *regexp.Regexp
	format   string
	formed   func(string) bool

	items      *node
	unique     bool
	names      []string // of properties, sorted
	properties map[string]*node
	required   []string
	additional *node
	closed     bool // unevaluatedProperties: false

	allOf, anyOf, oneOf []*node
	not, when           *node
	then, otherwise     *node
}

// bounds is a least and a most; nil is none.
type bounds struct{ least, most *json.Number }

type compiler struct {
	set  *Set
	base string
}

// fill reads a schema into n.
func (c compiler) fill(n *node, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		is, ok := v.(bool)
		if !ok {
			return fmt.Errorf("%v is no schema", v)
		}
		n.never = !is
		return nil
	}
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if err := c.keyword(n, keyword, object[keyword]); err != nil {
			return fmt.Errorf("%s: %w", keyword, err)
		}
	}
	return nil
}

func (c compiler) keyword(n *node, keyword string, v any) (err error) {
	switch keyword {
	case "$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "discriminator":
		// $defs are compiled when somebody refers to them.
	case "$ref":
		to, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v names no schema", v)
		}
		n.ref, err = c.set.node(c.resolve(to))
	case "type":
		n.types, err = kindsOf(v)
	case "enum":
		n.enum, err = listOf[any](v)
	case "const":
		n.constant = &v
	case "minimum", "minLength", "minItems", "maximum", "maxLength", "maxItems", "maxProperties":
		err = n.bound(keyword, v)
	case "pattern":
		text, _ := v.(string)
		n.pattern, err = regexp.Compile(text)
	case "format":
		n.format, _ = v.(string)
		if n.formed = c.set.formats[n.format]; n.formed == nil {
			return fmt.Errorf("%v is no format that is asserted", v)
		}
	case "uniqueItems":
		n.unique, _ = v.(bool)
	case "required":
		n.required, err = listOf[string](v)
	case "properties":
		err = c.propertiesOf(n, v)
	case "unevaluatedProperties":
		if v != false {
			return fmt.Errorf("%v is not supported", v)
		}
		n.closed = true
	case "items":
		n.items, err = c.one(v)
	case "additionalProperties":
		n.additional, err = c.one(v)
	case "allOf":
		n.allOf, err = c.many(v)
	case "anyOf":
		n.anyOf, err = c.many(v)
	case "oneOf":
		n.oneOf, err = c.many(v)
	case "not":
		n.not, err = c.one(v)
	case "if":
		n.when, err = c.one(v)
	case "then":
		n.then, err = c.one(v)
	case "else":
		n.otherwise, err = c.one(v)
	default:
		return fmt.Errorf("the keyword is not supported")
	}
	return err
}

func (n *node) bound(keyword string, v any) error {
	number, ok := v.(json.Number)
	if _, sane := numberOf(number); !ok || !sane {
		return fmt.Errorf("%v is no number", v)
	}
	of := map[string]**json.Number{
		"minimum": &n.number.least, "maximum": &n.number.most,
		"minLength": &n.length.least, "maxLength": &n.length.most,
		"minItems": &n.count.least, "maxItems": &n.count.most, "maxProperties": &n.members.most,
	}
	*of[keyword] = &number
	return nil
}

func (c compiler) propertiesOf(n *node, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is no object", v)
	}
	n.names, n.properties = slices.Sorted(maps.Keys(object)), make(map[string]*node, len(object))
	for _, name := range n.names {
		p, err := c.one(object[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n.properties[name] = p
	}
	return nil
}

func (c compiler) one(v any) (*node, error) {
	n := &node{}
	return n, c.fill(n, v)
}

func (c compiler) many(v any) ([]*node, error) {
	list, err := listOf[any](v)
	if err != nil {
		return nil, err
	}
	nodes := make([]*node, len(list))
	for i, v := range list {
		if nodes[i], err = c.one(v); err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return nodes, nil
}

// resolve makes a reference absolute: "#/$defs/name", or another document beside
// this one.
func (c compiler) resolve(to string) string {
	switch {
	case strings.HasPrefix(to, "#"):
		return c.base + to
	case strings.Contains(to, "://"):
		return to
	}
	return c.base[:strings.LastIndex(c.base, "/")+1] + to
}

func listOf[T any](v any) ([]T, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list", v)
	}
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], ok = e.(T); !ok && e != nil {
			return nil, fmt.Errorf("%v does not belong there", e)
		}
	}
	return out, nil
}
