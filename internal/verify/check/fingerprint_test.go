package check_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
)

func value(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func fingerprint(t testing.TB, id, tool string, evidence map[string]any) string {
	t.Helper()
	fp, err := check.Fingerprint(id, tool, evidence)
	if err != nil {
		t.Fatal(err)
	}
	return fp
}

// The names that findings had before they were ours stay their names: each
// finding of four published reports.
func TestFingerprintsAreThoseOfPublishedReports(t *testing.T) {
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		CheckID     string          `json:"check_id"`
		ToolName    string          `json:"tool_name"`
		Evidence    json.RawMessage `json:"evidence"`
		Fingerprint string          `json:"fingerprint"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 30 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		if got := fingerprint(t, r.CheckID, r.ToolName, value(t, string(r.Evidence))); got != r.Fingerprint {
			t.Errorf("%s on %q: %s, want %s", r.CheckID, r.ToolName, got, r.Fingerprint)
		}
	}
}

// What the reports do not show: text outside of ASCII, escapes, numbers of
// every size, lists in lists. The digests were made by the other runtime.
func TestFingerprintsSpellJSONAsTheOtherRuntimeDoes(t *testing.T) {
	for _, c := range []struct{ name, evidence, want string }{
		{"text", `{"t":"h\u00e9llo \ud83d\udea2 \u2028 \u007f \u0001 \" \\ / <&>"}`, "fp_2afb60d3d5925674"},
		{"numbers", `{"n":[1,1.0,1e3,1E-5,0.0001,1e16,123456789012345678901234567890,-0,-0.0,1.5e300,3.14,100000000000000000000.0,5e-324,1e15,0.1]}`, "fp_a74411ed9e74956d"},
		{"lists, and keys that are left out", `{"l":[[2,1],["b","a"],{"b":1,"a":2},null,true,false,"z","A"],"observed":3,"x":{"default_severity":1,"source_provenance":[],"observed":{},"k":[]}}`, "fp_f8bd196aa5bd4af6"},
		{"nothing", `{}`, "fp_c7337750a85ba272"},
		{"keys", `{"\u00e9":1,"z":2,"a":{"\ud83d\udea2":[]}}`, "fp_89b1934585b95e47"},
	} {
		if got := fingerprint(t, "X", "", value(t, c.evidence)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestFingerprintsRefuseWhatIsNoJSON(t *testing.T) {
	for name, v := range map[string]any{
		"NaN": math.NaN(), "an infinity": math.Inf(-1), "a number beyond all": json.Number("1e999"), "a word": json.Number("NaN"),
		"a struct": struct{}{}, "a nested infinity": []any{map[string]any{"x": math.Inf(1)}},
	} {
		if fp, err := check.Fingerprint("X", "", map[string]any{"v": v}); err == nil {
			t.Errorf("%s has the fingerprint %s", name, fp)
		}
	}
}

// Go's own numbers and lists mean the same as those that were read.
func TestFingerprintsDoNotDependOnTheGoType(t *testing.T) {
	read := value(t, `{"a":["x","y"],"n":3,"f":0.5,"o":[{"k":true}]}`)
	ours := map[string]any{"a": []string{"y", "x"}, "n": 3, "f": 0.5, "o": []map[string]any{{"k": true}}}
	if a, b := fingerprint(t, "X", "t", read), fingerprint(t, "X", "t", ours); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func anyJSON() *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
	)
	list := rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(l []any) any { return l })
	object := rapid.Map(rapid.MapOfN(rapid.StringN(0, 4, 8), rapid.OneOf(scalar, list), 0, 4), func(m map[string]any) any { return m })
	return rapid.OneOf(scalar, list, object)
}

// The order of a list, and what says how a finding was made, change no name;
// anything else does.
func TestFingerprintsIgnoreOrderAndManner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyJSON(), 0, 5).Draw(t, "list")
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		a, errA := check.Fingerprint("X", "t", map[string]any{"l": list})
		b, errB := check.Fingerprint("X", "t", map[string]any{"l": shuffled, "observed": list, "default_severity": "low"})
		if (errA == nil) != (errB == nil) || a != b {
			t.Fatalf("%s (%v) and %s (%v)", a, errA, b, errB)
		}
		c, err := check.Fingerprint("X", "t", map[string]any{"l": append(slices.Clone(list), "one more")})
		if errA == nil && (err != nil || c == a) {
			t.Fatalf("one entry more keeps the name %s (%v)", c, err)
		}
	})
}

// FuzzFingerprint: evidence that was read has one name, and reading it again
// from its own JSON keeps it.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2.5,"\u00e9",null]}`, `{"a":1e999}`, `{"a":-0}`, `{"observed":[[[]]]}`, `{"a":{"b":[{"c":1E5}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var evidence map[string]any
		if d.Decode(&evidence) != nil {
			return
		}
		before := maps.Clone(evidence)
		first, err := check.Fingerprint("X", "t", evidence)
		again, errAgain := check.Fingerprint("X", "t", before)
		if (err == nil) != (errAgain == nil) || first != again {
			t.Fatalf("%s (%v), then %s (%v)", first, err, again, errAgain)
		}
		if err != nil {
			return
		}
		encoded, err := json.Marshal(evidence)
		if err != nil {
			t.Fatal(err)
		}
		if third := fingerprint(t, "X", "t", value(t, string(encoded))); third != first {
			t.Fatalf("%s becomes %s", first, third)
		}
	})
}
