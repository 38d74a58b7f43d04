package console

import (
	"maps"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// A conflict is a contract with several contents under one version, of which a
// person chooses one (docs/spec/contracts.md §13).
type conflict struct {
	*pipeline.Shown
	Rivals []rival
}

// A rival is one of the contents: first what the contract says, then each update
// that competes with it.
type rival struct {
	Digest  string
	Text    []byte
	Stored  bool
	Differs []difference // from what the contract says
}

// A difference is a member that two contents have in different forms; "" is a
// member that is not there.
type difference struct{ Name, Stored, Here string }

// conflictsOf are the conflicts of a chain.
func conflictsOf(contracts []*pipeline.Shown) ([]conflict, error) {
	var list []conflict
	for _, c := range contracts {
		if len(c.Conflict) == 0 {
			continue
		}
		one := conflict{Shown: c}
		stored, err := members(c.Conflict[0].Text)
		if err != nil {
			return nil, err
		}
		for i, k := range c.Conflict {
			here, err := members(k.Text)
			if err != nil {
				return nil, err
			}
			one.Rivals = append(one.Rivals, rival{Digest: k.Digest, Text: k.Text, Stored: i == 0, Differs: differences(stored, here)})
		}
		list = append(list, one)
	}
	return list, nil
}

// members is a document as its members in words, without those that every update
// has its own of.
func members(text []byte) (map[string]string, error) {
	v, err := contract.Parse(text)
	o, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, fault.E("console.conflict", fault.Internal, "a kept update does not read", err)
	}
	out := map[string]string{}
	for name, value := range o {
		switch s, plain := value.(string); {
		case name == "version" || name == "updatedAt":
		case plain:
			out[name] = s
		default:
			out[name] = string(contract.CanonicalValue(value))
		}
	}
	return out, nil
}

func differences(stored, here map[string]string) []difference {
	all := maps.Clone(stored)
	maps.Copy(all, here)
	var list []difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if stored[name] != here[name] {
			list = append(list, difference{name, stored[name], here[name]})
		}
	}
	return list
}
