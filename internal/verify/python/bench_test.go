package python_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/python"
)

// BenchmarkParse reads a module of about one MiB as people write them.
func BenchmarkParse(b *testing.B) {
	const part = `
@function_tool(name_override="look_up")
async def look_up(ctx: Context, case_id: int, *, kind: str = "open") -> dict[str, int]:
    """Look up a case.

    Nothing is changed.
    """
    found = {"id": case_id, "kind": f"{kind!r:>10}"}
    for key, value in sorted(found.items()):
        if value is None and key not in ("id", "kind"):
            raise KeyError(key) from None
    return {k: v for k, v in found.items() if v}


bot = Agent(name="Bot", tools=[look_up, *COMMON], handoffs=[billing, handoff(refunds)])
`
	text := []byte(strings.Repeat(part, 1<<20/len(part)))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := python.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
