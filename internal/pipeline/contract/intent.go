package contract

import (
	"fmt"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/capability"
)

// Intent is the authority for what was asked and which capabilities it wants.
type Intent struct {
	Base
	Intent                string
	Creator               ActorID
	Priority              Priority
	RequestedCapabilities capability.Set
}

// Source is empty: an intent comes from a person.
func (*Intent) Source() ID { return "" }

// With is a copy with another common part.
func (d *Intent) With(b Base) Document {
	c := *d
	c.Base = b
	return &c
}

func readIntent(b Base, m reader) *Intent {
	return &Intent{
		Base:                  b,
		Intent:                m.text("intent"),
		Creator:               ActorID(m.text("creator")),
		Priority:              Priority(m.text("priority")),
		RequestedCapabilities: m.capabilities("requestedCapabilities"),
	}
}

func (d *Intent) members() canonical.Object {
	return canonical.Object{
		{Key: "intent", Value: d.Intent},
		{Key: "creator", Value: string(d.Creator)},
		{Key: "priority", Value: string(d.Priority)},
		{Key: "requestedCapabilities", Value: names(d.RequestedCapabilities.List())},
	}
}

func (m reader) capabilities(name string) capability.Set {
	set, err := capability.Parse(m.texts(name))
	if err != nil {
		panic(letThrough{fmt.Errorf("contract: the schema let through an %w", err)})
	}
	return set
}

func (m reader) roles(name string) RoleSet {
	set, err := ParseRoles(m.texts(name))
	if err != nil {
		panic(letThrough{fmt.Errorf("contract: the schema let through an %w", err)})
	}
	return set
}
