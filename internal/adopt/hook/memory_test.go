package hook_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/adopt/hook"
)

func digestOf(n int) string {
	h := sha256.Sum256(fmt.Append(nil, n))
	return hex.EncodeToString(h[:])
}

func TestAMemoryKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m hook.Memory
		want := map[string]int{}
		for range rapid.IntRange(0, 60).Draw(t, "times") {
			d, told := digestOf(rapid.IntRange(0, 20).Draw(t, "digest")), rapid.IntRange(0, hook.Patience).Draw(t, "told")
			m, want[d] = m.With(d, told), told
			m = hook.ReadMemory(m.Bytes())
		}
		for d, told := range want {
			if m.Told(d) != told {
				t.Fatalf("%s was told %d times, not %d", d, told, m.Told(d))
			}
		}
	})
	var m hook.Memory
	for i := range 1000 {
		m = m.With(digestOf(i), 1)
	}
	if n := len(m.Bytes()); n > hook.MaxMemory || m.Told(digestOf(999)) != 1 || m.Told(digestOf(0)) != 0 {
		t.Errorf("%d bytes; the newest %d, the oldest %d", n, m.Told(digestOf(999)), m.Told(digestOf(0)))
	}
}

// What cannot be read was told nobody.
func TestAMemoryThatIsNoneRemembersNothing(t *testing.T) {
	good := hook.Memory{}.With(digestOf(1), 2).Bytes()
	for name, text := range map[string][]byte{
		"nothing":         nil,
		"broken off":      good[:len(good)-4],
		"another version": bytes.Replace(good, []byte(`"version":1`), []byte(`"version":2`), 1),
		"a count of none": bytes.Replace(good, []byte(`"told":2`), []byte(`"told":0`), 1),
		"a great count":   bytes.Replace(good, []byte(`"told":2`), []byte(`"told":9999999999999999999`), 1),
		"a short digest":  bytes.Replace(good, []byte(digestOf(1)), []byte(digestOf(1)[2:]), 1),
		"too large":       append(bytes.Repeat([]byte(" "), hook.MaxMemory), good...),
	} {
		if told := hook.ReadMemory(text).Told(digestOf(1)); told != 0 {
			t.Errorf("%s: told %d times", name, told)
		}
	}
	if hook.ReadMemory(good).Told(digestOf(1)) != 2 {
		t.Error("a good memory is not read")
	}
}

func FuzzReadMemory(f *testing.F) {
	f.Add(hook.Memory{}.With(digestOf(1), 1).With(digestOf(2), 8).Bytes())
	f.Add([]byte(`{"version":1,"told":[{"digest":"ff","told":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := hook.ReadMemory(text)
		again := hook.ReadMemory(m.Bytes())
		if !bytes.Equal(again.Bytes(), m.Bytes()) || len(m.Bytes()) > hook.MaxMemory {
			t.Errorf("%q reads as %q and %q", text, m.Bytes(), again.Bytes())
		}
	})
}
