package report_test

import (
	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/effect"
)

// rapidSide is a side whose one tool has this name.
func rapidSide(name string) *effect.Surface {
	return checktest.Surface(checktest.Manifest(), checktest.Tool(name, checktest.Described(name)))
}

// rapidGap is a side with one gap.
func rapidGap() *effect.Surface {
	s := rapidSide("a")
	s.Graph.Eligible = false
	return s
}

func rapidControl(t *rapid.T) control.Control {
	var c control.Control
	if err := c.UnmarshalJSON([]byte(controls["stop"])); err != nil {
		t.Fatal(err)
	}
	return c
}
