package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/patch"
)

// Bad will in shapes that cost a careless reader the square of their length. No
// clock is asked: the square of a quarter of a megabyte would take longer than a test
// run may.
func TestHostileTextsCostNoMoreThanTheirLength(t *testing.T) {
	const size = 1 << 18
	fill := func(begin, unit, end string) string { return begin + strings.Repeat(unit, size/len(unit)) + end }
	numbered := func(begin, unit, end string) string {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String() + end
	}
	kinds := []check.PatchKind{check.SetPointer, check.AppendPointer, check.RemovePointer}
	for i, c := range []struct {
		name, text, pointer string
		format              patch.Format
	}{
		{"keys in lines", numbered("", "k%d: 1\n", ""), "/k7", patch.YAML},
		{"keys on one line", numbered("{", "k%d: é, ", "z: 1}"), "/k7", patch.YAML},
		{"keys that are numbers", numbered("", "%d: 1\n", ""), "/7", patch.YAML},
		{"keys that are no text, on one line", numbered("{", "%d: 1, ", "z: 1}"), "/7", patch.YAML},
		{"items in lines", fill("a:\n", "- b\n", ""), "/a/0", patch.YAML},
		{"items on one line", fill("a: [", "b, ", "b]"), "/a/0", patch.YAML},
		{"words", fill("a: ", "b ", "b\nc: 1\n"), "/c", patch.YAML},
		{"folded words", fill("a: ", "b\n ", "b\nc: 1\n"), "/c", patch.YAML},
		{"comments", fill("a: 1\n", "# x\n\n", "b: 1\n"), "/b", patch.YAML},
		{"commented items", fill("a:\n", "# x\n- b # c\n", ""), "/a/0", patch.YAML},
		{"a long comment in brackets", fill("a: [ # ", "# [", "\n b]\n"), "/a/0", patch.YAML},
		{"a block scalar", fill("a: |\n", "  # x\n", "b: 1\n"), "/b", patch.YAML},
		{"block scalars", fill("", "- |\n  x\n", ""), "/0", patch.YAML},
		{"empty values", numbered("", "k%d:\n", ""), "/k7", patch.YAML},
		{"quotes", fill("a: '", "''", "'\nb: 1\n"), "/b", patch.YAML},
		{"anchors", numbered("", "- &a%d b\n", ""), "/0", patch.YAML},
		{"tags", fill("", "- !t b\n", ""), "/0", patch.YAML},
		{"dashes", fill("", "- ", "a"), "/0", patch.YAML},
		{"brackets", fill("a: ", "[", ""), "/a", patch.YAML},
		{"line separators", fill("a: '", "\u2028", "'\nb: 1\n"), "/b", patch.YAML},
		{"json keys", numbered("{", `"k%d":1,`, `"z":1}`), "/k7", patch.JSON},
		{"json items", fill(`{"a":[`, "1,", `1]}`), "/a/0", patch.JSON},
		{"json brackets", fill(`{"a":`, "[", ``), "/a", patch.JSON},
		{"json escapes", fill(`{"a":"`, `\u0061`, `"}`), "/a", patch.JSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			edit := patch.Edit{Kind: kinds[i%len(kinds)], Pointer: c.pointer, Value: "new"}
			if after, err := patch.Apply([]byte(c.text), c.format, edit); err == nil && len(after) == 0 {
				t.Error("nothing is left")
			}
		})
	}
}
