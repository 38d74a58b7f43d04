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
	var walk func(v source.Value, key, pointer string)
	walk = func(v source.Value, key, pointer string) {
		switch {
		case len(list) == maxUnfilled:
		case v.Kind == source.String && v.Text == placeholder:
			list = append(list, tool.Warning{
				Code:    decision.PlaceholderLeft,
				Message: fmt.Sprintf("The manifest still says %s for %s, in line %d.", placeholder, key, v.Pos.Line),
				Origin:  tool.Origin{Type: "manifest", Ref: m.Name, Path: m.Name, Pointer: pointer, Start: v.Pos},
			})
		case v.Kind == source.List:
			for i, item := range v.Items {
				walk(item, key+"["+strconv.Itoa(i)+"]", pointer+"/"+strconv.Itoa(i))
			}
		case v.Kind == source.Map:
			for _, member := range v.Members {
				at := member.Key
				if key != "" {
					at = key + "." + at
				}
				walk(member.Value, at, pointer+"/"+pointerName.Replace(member.Key))
			}
		}
	}
	walk(m.Root, "", "")
	return list
}
