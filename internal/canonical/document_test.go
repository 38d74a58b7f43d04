package canonical_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/canonical"
)

// tree draws any JSON value.
func tree(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `\"`, "a,b:{}[]", "é\u2028😀", "<&>", "\x00\x1f", "\xff"}))
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int().AsAny(), text.AsAny(),
		rapid.Just[any]([]any{}), rapid.Just[any](map[string]any{}),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.SliceOfN(tree(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(text, tree(depth-1), 0, 5).AsAny(),
		)
	}
	return rapid.OneOf(leaves...)
}

func encoded(t *rapid.T, v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A document has the very bytes of the encoder that everybody knows.
func TestADocumentIsWhatTheEncoderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := tree(4).Draw(t, "value")
		got, err := canonical.Document(v)
		if err != nil {
			t.Fatal(err)
		}
		if want := encoded(t, v, "  "); !bytes.Equal(got, want) {
			t.Fatalf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestADocumentOfWhatHasNoJSONIsAnError(t *testing.T) {
	if _, err := canonical.Document(func() {}); err == nil {
		t.Fatal("a function was written")
	}
}

// Text that is reordered has the digest of the value that it spells.
func TestReorderedTextIsTheCanonicalSpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := encoded(t, tree(4).Draw(t, "value"), "")
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for _, s := range []canonical.Spelling{canonical.UTF8, canonical.Compact, canonical.Spaced} {
			if got, want := string(s.Reorder(nil, text)), s.String(v); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}
	})
}

func TestReorderingLeavesMembersOutAtTheTopAlone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"b":1,"id":"x","a":{"id":2,"c":[{"id":3}]}}`, `{"a":{"c":[{"id":3}],"id":2},"b":1}`},
		{`{"id":1}`, `{}`},
		{`{"a":1,"a":2}`, `{"a":2}`}, // as reading it into a map
		{`[{"id":1}]`, `[{"id":1}]`},
		{`-1.50e+3`, `-1.50e+3`},
	} {
		if got := string(canonical.UTF8.Reorder(nil, []byte(c.text), "id")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestATextIsWrittenAsTheEncoderWritesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain", `a"b\c`, "<&>", "\u2028", "\x00", "\x7f", "\xff"})).Draw(t, "text")
		got, err := canonical.AppendText([]byte("x"), text)
		if err != nil {
			t.Fatal(err)
		}
		if want := "x" + string(bytes.TrimRight(encoded(t, text, ""), "\n")); string(got) != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
