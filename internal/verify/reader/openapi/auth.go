package openapi

import (
	"slices"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// auth is what security says of an operation. The list holds alternatives; the
// schemes of one alternative are needed together. The operation's own list
// replaces that of the document, an empty one included.
func (d *document) auth(op source.Value, pointer string) tool.Auth {
	list, at := op.Get("security"), pointer+"/security"
	if !list.Present() {
		list, at = d.root.Get("security"), "/security"
	}
	if !list.Present() {
		return tool.Auth{}
	}
	if list.Kind != source.List {
		d.warn("invalid_field", "security is not a list", list, at)
		return tool.Auth{}
	}
	a := tool.Auth{Source: "source", Anonymous: len(list.Items) == 0}
	var first []string
	for i, alternative := range list.Items {
		if alternative.Kind != source.Map {
			d.warn("invalid_field", "a security requirement is not an object", alternative, at)
			continue
		}
		if len(alternative.Members) == 0 {
			a.Anonymous = true
		}
		says := d.alternative(&a, alternative, at)
		if i > 0 && !slices.Equal(first, says) {
			a.Differ = true
		}
		if i == 0 {
			first = says
		}
	}
	slices.Sort(a.Scopes)
	a.Scopes = slices.Compact(a.Scopes)
	return a
}

// alternative adds one alternative to a and says it in a form that can be
// compared with the others: types and scopes, sorted.
func (d *document) alternative(a *tool.Auth, v source.Value, at string) []string {
	var says []string
	for _, m := range v.Members {
		kind := d.scheme(m, at)
		if a.Type == "" {
			a.Type = kind
		}
		says = append(says, "type "+kind)
		for _, scope := range m.Value.Items {
			if scope.Kind != source.String {
				d.warn("invalid_field", "a scope is not text", scope, at)
				continue
			}
			a.Scopes = append(a.Scopes, scope.Text)
			says = append(says, "scope "+scope.Text)
		}
	}
	slices.Sort(says)
	return slices.Compact(says)
}

// scheme is the type of a named security scheme, "" when it is not known.
func (d *document) scheme(m source.Member, at string) string {
	v := d.root.At("components", "securitySchemes", m.Key)
	if v.Present() {
		v, _ = d.follow(v, tool.Pointer("components", "securitySchemes", m.Key))
	}
	if kind := v.Get("type").Str(); kind != "" {
		return kind
	}
	d.warn("unknown_security_scheme", "a required security scheme is not described", source.Value{Pos: m.Pos}, at)
	return ""
}
