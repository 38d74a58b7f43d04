package gate_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll.dev/internal/mcp/gate"
)

// A diff of 32 MiB, from the first byte of its message to the last of the answer.
func BenchmarkLargestDiff(b *testing.B) {
	line := "+some line of an added file with \"words\" and tabs\t\n"
	text, err := json.Marshal(map[string]any{"diff_text": strings.Repeat(line, gate.MaxDiff/len(line))})
	if err != nil {
		b.Fatal(err)
	}
	input := []byte(greeting("2025-11-25") + call("1", string(text)))
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		if got := session(b, bytes.NewReader(input), nothing); len(got) != 2 || got[1].Error != nil {
			b.Fatalf("%+v", got)
		}
	}
}
