package verify

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// placeholder is what a first manifest says where nobody knew better.
const placeholder = "CHANGE_ME"

// maxUnfilled bounds the places that are named.
const maxUnfilled = 20

// pointerName is a key as a JSON pointer spells it.
var pointerName = strings.NewReplacer("~", "~0", "/", "~1")

// unfilled is a warning for each value of the manifest that is still the
// placeholder: nothing is decided in full as long as one is left
// (docs/spec/verification.md §18.2, D80.A5).
func unfilled(m *manifest.Manifest) []tool.Warning {
	var list []tool.Warning
	var way []step
	var walk func(v *source.Value)
	walk = func(v *source.Value) {
		switch {
		case len(list) == maxUnfilled:
		case v.Kind == source.String && v.Text == placeholder:
			key, pointer := written(way)
			list = append(list, tool.Warning{
				Code:    decision.PlaceholderLeft,
				Message: fmt.Sprintf("The manifest still says %s for %s, in line %d.", placeholder, key, v.Pos.Line),
				Origin:  tool.Origin{Type: "manifest", Ref: m.Name, Path: m.Name, Pointer: pointer, Start: v.Pos},
			})
		case v.Kind == source.List:
			for i := range v.Items {
				way = append(way, step{index: i, item: true})
				walk(&v.Items[i])
				way = way[:len(way)-1]
			}
		case v.Kind == source.Map:
			for i := range v.Members {
				way = append(way, step{key: v.Members[i].Key})
				walk(&v.Members[i].Value)
				way = way[:len(way)-1]
			}
		}
	}
	walk(&m.Root)
	return list
}

// step leads to a member of a map, or to an item of a list.
type step struct {
	key   string
	index int
	item  bool
}

// written is a way into the manifest as a dotted key and as a JSON pointer.
func written(way []step) (key, pointer string) {
	for _, s := range way {
		n := strconv.Itoa(s.index)
		switch {
		case s.item:
			key, pointer = key+"["+n+"]", pointer+"/"+n
			continue
		case key != "":
			key += "."
		}
		key, pointer = key+s.key, pointer+"/"+pointerName.Replace(s.key)
	}
	return key, pointer
}
