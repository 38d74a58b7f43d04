package canonical_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/canonical"
)

// known is a text that JSON spells null when nobody gave it.
type known string

func (known) ZeroIsNull() {}

func (k known) MarshalJSON() ([]byte, error) {
	if k == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(k))
}

// foreign has a JSON form of its own.
type foreign struct{ value any }

func (f foreign) MarshalJSON() ([]byte, error) { return json.Marshal(f.value) }

type inner struct {
	Words []string       `json:"words"`
	More  map[string]any `json:"more,omitempty"`
	Self  *inner         `json:"self"`
}

// Promoted is embedded.
type Promoted struct {
	Zeta  known `json:"zeta"`
	Alpha int   `json:"alpha"`
}

type everything struct {
	Name string `json:"name"`
	Promoted
	Left    string      `json:"-"`
	Flag    bool        `json:"flag"`
	Maybe   *bool       `json:"maybe"`
	Small   uint8       `json:"small"`
	Ratio   float64     `json:"ratio"`
	Number  json.Number `json:"number"`
	Any     any         `json:"any"`
	Foreign foreign     `json:"foreign"`
	Rows    []inner     `json:"rows"`
	Empty   string      `json:"empty,omitempty"`
	private int
	Bytes   []byte
	Object  canonical.Object `json:"object"`
}

func anything(t *rapid.T) everything {
	words := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`a"b\\c`, "<&>", "\u2028", "\x00\x7f", "\xff"})), 0, 3)
	row := rapid.Custom(func(t *rapid.T) inner {
		r := inner{Words: words.Draw(t, "words"), More: map[string]any{}}
		for _, w := range words.Draw(t, "keys") {
			r.More[w] = tree(2).Draw(t, "value")
		}
		if rapid.Bool().Draw(t, "self") {
			r.Self = &inner{Words: words.Draw(t, "words")}
		}
		return r
	})
	e := everything{
		Name: rapid.String().Draw(t, "name"), Left: "left out", Flag: rapid.Bool().Draw(t, "flag"), Small: rapid.Uint8().Draw(t, "small"),
		Ratio: rapid.Float64Range(-1e30, 1e30).Draw(t, "ratio"), Number: json.Number(rapid.SampledFrom([]string{"", "1.50e3", "-7"}).Draw(t, "number")),
		Any: tree(3).Draw(t, "any"), Foreign: foreign{tree(3).Draw(t, "foreign")}, Rows: rapid.SliceOfN(row, 0, 3).Draw(t, "rows"),
		Empty: rapid.SampledFrom([]string{"", "x"}).Draw(t, "empty"), private: 1, Bytes: []byte(rapid.String().Draw(t, "bytes")),
	}
	e.Zeta, e.Alpha = known(rapid.SampledFrom([]string{"", "z", "\u2029"}).Draw(t, "zeta")), rapid.Int().Draw(t, "alpha")
	if rapid.Bool().Draw(t, "maybe") {
		e.Maybe = &e.Flag
	}
	for _, key := range []string{"b", "a"} {
		e.Object = append(e.Object, canonical.Member{Key: key, Value: tree(2).Draw(t, "member")})
	}
	return e
}

func TestALineIsWhatTheEncoderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(t)
		got, err := canonical.Line([]byte("x"), &v)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Compact(&b, encoded(t, &v, "")); err != nil {
			t.Fatal(err)
		}
		if want := "x" + b.String(); string(got) != want {
			t.Fatalf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestTheCanonicalSpellingOfAnyValueIsItsReorderedText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(t)
		text := bytes.TrimSpace(encoded(t, v, ""))
		for _, s := range []canonical.Spelling{canonical.UTF8, canonical.Compact, canonical.Spaced} {
			for _, without := range [][]string{nil, {"alpha", "any"}} {
				got, err := s.SHA256Of(v, without...)
				want := s.Reorder(nil, text, without...)
				if sum := sha256.Sum256(want); err != nil || got != hex.EncodeToString(sum[:]) {
					t.Fatalf("%v\nit is not the digest of %s", err, want)
				}
			}
		}
	})
}

// A long list is hashed piece by piece.
func TestADigestOfALongListIsThatOfItsText(t *testing.T) {
	rows := make([]map[string]any, 3000)
	for i := range rows {
		rows[i] = map[string]any{"n": i, "text": strings.Repeat("x", i%100), "inside": []int{i, i + 1}}
	}
	v := map[string]any{"rows": rows, "more": "of it"}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := canonical.UTF8.SHA256Of(v)
	if sum := sha256.Sum256(canonical.UTF8.Reorder(nil, text)); err != nil || got != hex.EncodeToString(sum[:]) {
		t.Errorf("%v: the digest is another one", err)
	}
	if _, err := canonical.UTF8.SHA256Of([]any{func() {}}); err == nil {
		t.Error("what has no JSON has a digest")
	}
}

// Kept texts lie side by side, and none is written over, however long they are.
func TestWhatIsKeptStays(t *testing.T) {
	type row struct {
		Kept canonical.Kept `json:"-"`
		Text string         `json:"text"`
	}
	rows := make([]row, 300)
	var want []byte
	for i := range rows {
		rows[i].Text = strings.Repeat("x", i*i*i%40_000)
		rows[i].Kept = canonical.Keep(&rows[i])
		if i%50 == 0 && canonical.Keep(func() {}).SHA256() != "" {
			t.Error("what has no JSON is kept")
		}
		want = fmt.Appendf(append(want, ','), "{\"text\":%q}", rows[i].Text)
		rows[i].Text = "written from what was kept"
	}
	want = append(want, ']')
	want[0] = '['
	if got, err := canonical.Line(nil, rows); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %d bytes, want %d", err, len(got), len(want))
	}
}

func TestASheetSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(t)
		got, err := canonical.Sheet(v)
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		if err := json.Unmarshal(encoded(t, v, ""), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(have, want) {
			t.Fatalf("got %v, want %v", have, want)
		}
	})
}

func TestASheetHasARowALine(t *testing.T) {
	got, err := canonical.Sheet(struct {
		Title   string           `json:"title"`
		Nothing []string         `json:"nothing"`
		None    map[string]int   `json:"none"`
		Deep    map[string][]any `json:"deep"`
		Foreign foreign          `json:"foreign"`
		Rows    []inner          `json:"rows"`
	}{
		"t: [x]",
		[]string{},
		map[string]int{},
		map[string][]any{"b": {1, []any{2, "3"}}, "a": {}},
		foreign{map[string]any{"list": []any{map[string]any{"k": "]"}, 2}, "text": `"},{"`, "void": []any{}}},
		[]inner{{Words: []string{"a", "b"}}, {Self: &inner{}}},
	})
	want := `{
  "title": "t: [x]",
  "nothing": [],
  "none": {},
  "deep": {
    "a": [],
    "b": [
      1,
      [2,"3"]
    ]
  },
  "foreign": {
    "list": [
      {"k":"]"},
      2
    ],
    "text": "\"},{\"",
    "void": []
  },
  "rows": [
    {"words":["a","b"],"self":null},
    {"words":null,"self":{"words":null,"self":null}}
  ]
}
`
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
	}
}

func TestManyHandsWriteTheSameSheet(t *testing.T) {
	atOnce := func(n int, do func(i int)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]any, rapid.IntRange(0, 1000).Draw(t, "rows"))
		text := strings.Repeat(rapid.StringN(0, 40, 200).Draw(t, "text"), rapid.SampledFrom([]int{1, 20, 1000}).Draw(t, "times"))
		kept := &fact{Name: text}
		kept.Kept = canonical.Keep(kept)
		row := map[string]any{"text": text, "list": []int{1, 2}, "kept": kept}
		for i := range rows {
			row := maps.Clone(row)
			row["n"] = i
			rows[i] = row
		}
		v := map[string]any{"before": 1, "deep": map[string]any{"rows": rows}, "more": rows[:len(rows)/2], "inside": []any{map[string]any{"rows": rows}}}
		want, err := canonical.Sheet(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := canonical.SheetBy(atOnce, v)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%v: %d rows by many hands are other bytes", err, len(rows))
		}
		var written bytes.Buffer
		n, err := got.WriteTo(&written)
		if err != nil || n != int64(len(want)) || got.Len() != len(want) || !bytes.Equal(written.Bytes(), want) {
			t.Fatalf("%v: %d of %d bytes were written", err, n, len(want))
		}
		if sum := sha256.Sum256(want); got.SHA256() != hex.EncodeToString(sum[:]) {
			t.Fatal("the digest is not that of the text")
		}
	})
	if _, err := canonical.SheetBy(atOnce, make([]func(), 1000)); err == nil {
		t.Error("functions were written")
	}
}

type fact struct {
	Kept canonical.Kept `json:"-"`
	Name string         `json:"name"`
}

func TestWhatIsKeptIsCopied(t *testing.T) {
	f := fact{Name: "first"}
	f.Kept = canonical.Keep(&f)
	f.Name = "second" // so that a copy can be told from a new text
	line, _ := canonical.Line(nil, []fact{f})
	sheet, _ := canonical.Sheet([]*fact{&f})
	digest, _ := canonical.UTF8.SHA256Of(f)
	if string(line) != `[{"name":"first"}]` || !strings.Contains(string(sheet), "first") {
		t.Errorf("got %s and %s", line, sheet)
	}
	if sum := sha256.Sum256([]byte(`{"name":"second"}`)); digest != hex.EncodeToString(sum[:]) {
		t.Error("a digest is not of the value")
	}
}

func TestWhatHasNoJSONIsAnError(t *testing.T) {
	for _, v := range []any{func() {}, map[string]any{"a": make(chan int)}, []any{struct{ F func() }{}}, json.Number("x")} {
		if text, err := canonical.Line(nil, v); err == nil {
			t.Errorf("%T was written as %s", v, text)
		}
		if text, err := canonical.Sheet(v); err == nil {
			t.Errorf("%T was written as %s", v, text)
		}
	}
}
