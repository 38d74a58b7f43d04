package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fault is a rule that a value breaks.
type Fault struct {
	Path    []string // the steps to the value; an unknown member is a fault of its object
	Keyword string   // of the rule; "" where the schema takes no value at all
	Message string   // says what the rule wants; it repeats names, never values
}

// Validate is every fault of a value, in the order of the schema; nil when there
// is none.
func (s *Schema) Validate(v any) []Fault {
	var c check
	c.validate(s.root, v)
	return c.faults
}

// check is one validation. path is the steps to the value at hand.
type check struct {
	path   []string
	faults []Fault
}

func (c *check) fault(keyword, message string) {
	c.faults = append(c.faults, Fault{Path: slices.Clone(c.path), Keyword: keyword, Message: message})
}

// below validates a value inside the one at hand.
func (c *check) below(step string, n *node, v any) {
	c.path = append(c.path, step)
	c.validate(n, v)
	c.path = c.path[:len(c.path)-1]
}

// passes says whether n takes v. Nothing of it is reported.
func passes(n *node, v any) bool {
	var c check
	c.validate(n, v)
	return len(c.faults) == 0
}

func (c *check) validate(n *node, v any) {
	if n.never {
		c.fault("", "nothing may stand here")
		return
	}
	kind := kindOf(v)
	if n.types != 0 && n.types&kind == 0 {
		c.fault("type", "it is "+kind.String()+" and must be "+n.types.String())
		return // the rest would say the same in other words
	}
	if n.constant != nil && key(*n.constant) != key(v) {
		c.fault("const", "it must be "+short(*n.constant))
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(e any) bool { return same(e, v) }) {
		names := make([]string, len(n.enum))
		for i, e := range n.enum {
			names[i] = short(e)
		}
		c.fault("enum", "it must be one of "+strings.Join(names, ", "))
	}
	switch v := v.(type) {
	case json.Number:
		if of, ok := numberOf(v); ok {
			c.within(n.number, of, "minimum", "maximum", "")
		}
	case string:
		c.text(n, v)
	case []any:
		c.list(n, v)
	case map[string]any:
		c.object(n, v)
	}
	c.combined(n, v)
	if object, ok := v.(map[string]any); ok && n.closed {
		c.known(n, object)
	}
}

// same is equality; nearly all enumerations are of texts.
func same(a, b any) bool {
	x, ok1 := a.(string)
	y, ok2 := b.(string)
	if ok1 || ok2 {
		return ok1 && ok2 && x == y
	}
	return key(a) == key(b)
}

// short is a value of the schema, which is ours, as a message shows it.
func short(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return key(v)
}

func (c *check) within(b bounds, of value, least, most, unit string) {
	if b.least != nil {
		if l, _ := numberOf(*b.least); below(of, l) {
			c.fault(least, "it must be at least "+b.least.String()+unit)
		}
	}
	if b.most != nil {
		if m, _ := numberOf(*b.most); below(m, of) {
			c.fault(most, "it must be at most "+b.most.String()+unit)
		}
	}
}

func whole(n int) value { return value{whole: true, integer: int64(n), float: float64(n)} }

func (c *check) text(n *node, v string) {
	if n.length != (bounds{}) {
		c.within(n.length, whole(utf8.RuneCountInString(v)), "minLength", "maxLength", " characters long")
	}
	switch {
	case n.formed != nil && !n.formed(v):
		c.fault("format", "it must be a "+n.format)
	case n.pattern != nil && !n.pattern.MatchString(v):
		c.fault("pattern", "it must match "+n.pattern.String())
	}
}

func (c *check) list(n *node, v []any) {
	c.within(n.count, whole(len(v)), "minItems", "maxItems", " entries long")
	if n.unique {
		seen := make(map[string]int, len(v))
		for i, e := range v {
			k := key(e)
			if first, twice := seen[k]; twice {
				c.fault("uniqueItems", "entries "+strconv.Itoa(first)+" and "+strconv.Itoa(i)+" are the same")
				break
			}
			seen[k] = i
		}
	}
	if n.items != nil {
		for i, e := range v {
			c.below(strconv.Itoa(i), n.items, e)
		}
	}
}

func (c *check) object(n *node, v map[string]any) {
	c.within(n.members, whole(len(v)), "", "maxProperties", " members")
	var missing []string
	for _, name := range n.required {
		if _, there := v[name]; !there {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if missing != nil {
		c.fault("required", "it lacks "+strings.Join(missing, ", "))
	}
	for _, name := range n.names {
		if e, there := v[name]; there {
			c.below(name, n.properties[name], e)
		}
	}
	if n.additional == nil {
		return
	}
	var unknown []string
	for _, name := range sorted(v) {
		switch {
		case n.properties[name] != nil:
		case n.additional.never:
			unknown = append(unknown, strconv.Quote(name))
		default:
			c.below(name, n.additional, v[name])
		}
	}
	if unknown != nil {
		c.fault("additionalProperties", "it knows no "+strings.Join(unknown, ", "))
	}
}

func (c *check) combined(n *node, v any) {
	if n.ref != nil {
		c.validate(n.ref, v)
	}
	for _, part := range n.allOf {
		c.validate(part, v)
	}
	if n.anyOf != nil && !slices.ContainsFunc(n.anyOf, func(part *node) bool { return passes(part, v) }) {
		for _, part := range n.anyOf {
			c.validate(part, v)
		}
	}
	if n.oneOf != nil {
		fitting := 0
		for _, part := range n.oneOf {
			if passes(part, v) {
				fitting++
			}
		}
		switch {
		case fitting > 1:
			c.fault("oneOf", "it fits more than one form")
		case fitting == 0:
			for _, part := range n.oneOf {
				c.validate(part, v)
			}
		}
	}
	if n.not != nil && passes(n.not, v) {
		c.fault("not", "it has a form that is excluded")
	}
	switch {
	case n.when == nil:
	case passes(n.when, v):
		if n.then != nil {
			c.validate(n.then, v)
		}
	case n.otherwise != nil:
		c.validate(n.otherwise, v)
	}
}

// known refuses members that no part of a closed schema speaks of. A part that
// failed has been reported; what it speaks of is known all the same.
func (c *check) known(n *node, v map[string]any) {
	for _, name := range sorted(v) {
		if !n.speaksOf(name, v) {
			c.fault("unevaluatedProperties", "the member "+strconv.Quote(name)+" is not known")
		}
	}
}

func (n *node) speaksOf(name string, v map[string]any) bool {
	if n.properties[name] != nil || n.additional != nil {
		return true
	}
	if n.ref != nil && n.ref.speaksOf(name, v) {
		return true
	}
	for _, part := range n.allOf {
		if part.speaksOf(name, v) {
			return true
		}
	}
	for _, part := range slices.Concat(n.anyOf, n.oneOf) {
		if part.speaksOf(name, v) && passes(part, v) {
			return true
		}
	}
	if n.when == nil {
		return false
	}
	if passes(n.when, v) {
		return n.when.speaksOf(name, v) || n.then != nil && n.then.speaksOf(name, v)
	}
	return n.otherwise != nil && n.otherwise.speaksOf(name, v)
}

func sorted(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }
