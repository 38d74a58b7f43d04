package gate

import "encoding/json"

// maxNames is more names than any message of the protocol has on one level; an
// object with more is refused like one that has a name twice.
const maxNames = 1000

// twice says whether a message, or what it gives as params, has a name twice.
// Whoever looks at the first of them sees another call than the one that is made
// of the last. message is valid JSON.
func twice(message json.RawMessage) bool {
	seen := map[string]bool{}
	for key, value := range members(message) {
		var name string
		if json.Unmarshal(key, &name) != nil || seen[name] || len(seen) == maxNames {
			return true
		}
		seen[name] = true
		if name == "params" && shallowTwice(value) {
			return true
		}
	}
	return false
}

func shallowTwice(object json.RawMessage) bool {
	seen := map[string]bool{}
	for key := range members(object) {
		var name string
		if json.Unmarshal(key, &name) != nil || seen[name] || len(seen) == maxNames {
			return true
		}
		seen[name] = true
	}
	return false
}
