// Package capability holds the six things an agent can be allowed to do and the
// one set type they are kept in (docs/spec/contracts.md §1.3).
//
// A Set has no order of its own: two lists that name the same capabilities are
// the same Set and compare with ==. Where one is written, it is written in the
// canonical order of §0.
package capability

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
)

// Capability is one thing an agent may ask to do, as the wire names it.
type Capability string

// The capabilities, in canonical order.
const (
	ReadRepo       Capability = "read_repo"
	WriteRepo      Capability = "write_repo"
	InstallDeps    Capability = "install_deps"
	NetworkAccess  Capability = "network_access"
	ReadSecrets    Capability = "read_secrets"
	PublishRelease Capability = "publish_release"
)

var canonicalOrder = [...]Capability{ReadRepo, WriteRepo, InstallDeps, NetworkAccess, ReadSecrets, PublishRelease}

// Valid says whether c is one of the six.
func (c Capability) Valid() bool { return c.bit() != 0 }

func (c Capability) bit() Set {
	for i, known := range canonicalOrder {
		if c == known {
			return 1 << i
		}
	}
	return 0
}

// Set is a set of capabilities. The zero value is the empty set.
type Set uint8

// All is the set of all six.
const All Set = 1<<len(canonicalOrder) - 1

// Of is the set of the given capabilities. It panics on an unknown one: a name
// from outside goes through Parse.
func Of(list ...Capability) Set {
	var s Set
	for _, c := range list {
		if !c.Valid() {
			panic("capability: unknown capability " + string(c))
		}
		s |= c.bit()
	}
	return s
}

// Parse is the set of the given names, or an error that names the first unknown
// one. A repeated name is taken once.
func Parse(names []string) (Set, error) {
	var s Set
	for _, name := range names {
		c := Capability(name)
		if !c.Valid() {
			return 0, fmt.Errorf("unknown capability %q", name)
		}
		s |= c.bit()
	}
	return s, nil
}

// Has says whether c is in s.
func (s Set) Has(c Capability) bool { return c.Valid() && s&c.bit() != 0 }

// Contains says whether every member of t is in s.
func (s Set) Contains(t Set) bool { return s&t == t }

// Meets says whether s and t have a member in common.
func (s Set) Meets(t Set) bool { return s&t != 0 }

// Union is the set of what is in s or in t.
func (s Set) Union(t Set) Set { return s | t }

// Minus is the set of what is in s and not in t.
func (s Set) Minus(t Set) Set { return s &^ t }

// Empty says whether s has no member.
func (s Set) Empty() bool { return s == 0 }

// Len is the number of members.
func (s Set) Len() int { return bits.OnesCount8(uint8(s)) }

// List is the members in canonical order, never nil.
func (s Set) List() []Capability {
	list := make([]Capability, 0, s.Len())
	for i, c := range canonicalOrder {
		if s&(1<<i) != 0 {
			list = append(list, c)
		}
	}
	return list
}

// String is the members in canonical order, separated by commas.
func (s Set) String() string {
	names := make([]string, 0, s.Len())
	for _, c := range s.List() {
		names = append(names, string(c))
	}
	return strings.Join(names, ",")
}

// MarshalJSON writes the members as a list in canonical order.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.List()) }

// UnmarshalJSON reads a list of names and refuses an unknown one.
func (s *Set) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	read, err := Parse(names)
	if err != nil {
		return err
	}
	*s = read
	return nil
}
