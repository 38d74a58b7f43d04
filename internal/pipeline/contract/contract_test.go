package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

const intent = `{"schemaVersion":"1.0.0","id":"IC-001","kind":"IntentContract","state":"Draft","version":1,` +
	`"createdAt":"2026-03-29T10:00:00Z","updatedAt":"2026-03-29T10:00:00Z","intent":"x","creator":"user-001",` +
	`"priority":"low","requestedCapabilities":["read_repo"]}`

func TestDecodeReportsEveryFaultAtOnceAndNoneThatIsNotThere(t *testing.T) {
	text := strings.NewReplacer(`"IC-001"`, `"IC-1"`, `"low"`, `"urgent"`, `"creator":"user-001",`, `"extra~/1":true,`).Replace(intent)
	_, err := contract.Decode([]byte(text))
	list, ok := errors.AsType[refusal.List](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, f := range list {
		got = append(got, f.Path+" "+f.Keyword)
	}
	// The branch of the schema that failed leaves its members unevaluated; only
	// the member that nobody knows may be named.
	want := []string{" required", " unevaluatedProperties", "/id pattern", "/id pattern", "/priority enum"} // the id of any kind, and of this one
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q\n%v", got, want, err)
	}
	if !strings.Contains(err.Error(), `extra~/1`) {
		t.Errorf("the unknown member is not named: %v", err)
	}
}

func TestDecodeRefusesWhatIsNoDocument(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		code    refusal.Code
		path    string
		keyword string
	}{
		"nothing":               {``, refusal.ContractSchemaInvalid, "", ""},
		"a list":                {`[]`, refusal.ContractSchemaInvalid, "", "type"},
		"no kind":               {`{}`, refusal.ContractSchemaInvalid, "/kind", "enum"},
		"an unknown kind":       {`{"kind":"Order"}`, refusal.ContractSchemaInvalid, "/kind", "enum"},
		"more than one":         {intent + intent, refusal.ContractSchemaInvalid, "", ""},
		"a member twice":        {strings.Replace(intent, `"id"`, `"state":"Draft","id"`, 1), refusal.HashDuplicateKey, "/state", ""},
		"a lone surrogate":      {strings.Replace(intent, `"x"`, `"\ud83d"`, 1), refusal.HashInvalidUnicode, "/intent", ""},
		"bytes outside UTF-8":   {strings.Replace(intent, `"x"`, "\"\xff\"", 1), refusal.HashInvalidUnicode, "/intent", ""},
		"a version too large":   {strings.Replace(intent, `"version":1`, `"version":9007199254740992`, 1), refusal.ContractSchemaInvalid, "/version", "maximum"},
		"a version beyond all":  {strings.Replace(intent, `"version":1`, `"version":`+strings.Repeat("9", 400), 1), refusal.ContractSchemaInvalid, "/version", "maximum"},
		"a version as 1e400":    {strings.Replace(intent, `"version":1`, `"version":1e400`, 1), refusal.HashNonFinite, "/version", ""},
		"another schemaVersion": {strings.Replace(intent, `1.0.0`, `2.0.0`, 1), refusal.ContractSchemaInvalid, "/schemaVersion", "const"},
	} {
		_, err := contract.Decode([]byte(c.text))
		first, ok := errors.AsType[*refusal.Refusal](err)
		if !ok || first.Code != c.code || first.Path != c.path || first.Keyword != c.keyword {
			t.Errorf("%s: got %+v", name, first)
		}
	}
}

// A number a validator would have to write out in full must not cost anything.
func TestANumberWithAHugeExponentIsCheap(t *testing.T) {
	start := time.Now()
	text := strings.Replace(intent, `"version":1`, `"version":1e-999999999`, 1)
	if _, err := contract.Decode([]byte(text)); err == nil {
		t.Error("version 0 was taken")
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestTimestamps(t *testing.T) {
	for text, ok := range map[string]bool{
		"2026-03-29T10:00:00Z":           true,
		"2026-03-29T10:00:00.000000001Z": true,
		"2026-03-29T19:00:00+09:00":      true,
		"2026-03-29T10:00:00-00:30":      true,
		"2028-02-29T00:00:00Z":           true,
		"2026-02-29T00:00:00Z":           false,
		"2026-03-29t10:00:00Z":           false,
		"2026-03-29T10:00:00z":           false,
		"2026-03-29 10:00:00Z":           false,
		"2026-03-29T10:00:00":            false,
		"2026-03-29T10:00:00+0900":       false,
		"2026-03-29T10:00:00+24:00":      false,
		"2026-03-29T10:00:00+09:60":      false,
		"2026-03-29T10:00:00,5Z":         false,
		"2026-03-29T10:00:00.Z":          false,
		"2026-03-29T1:00:00Z":            false,
		"2026-03-29T23:59:60Z":           false,
		"2026-03-29T10:00:00Z ":          false,
		"2026-03-29T10:00:00.123+-1:00":  false,
		"":                               false,
	} {
		ts, got := contract.ParseTimestamp(text)
		if got != ok || ok && ts.String() != text {
			t.Errorf("%q: got %v", text, got)
		}
	}
	a, _ := contract.ParseTimestamp("2026-03-29T10:00:00Z")
	b, _ := contract.ParseTimestamp("2026-03-29T19:00:00+09:00")
	if !a.Equal(b) || a == b {
		t.Error("one instant in two spellings is Equal and not ==")
	}
	at := time.Date(2026, 3, 29, 10, 0, 0, 1_999_999, time.UTC)
	if got := contract.At(at).String(); got != "2026-03-29T10:00:00.001Z" {
		t.Errorf("the service writes %s", got)
	}
}

func TestIDs(t *testing.T) {
	for id, kind := range map[contract.ID]contract.Kind{
		"IC-001": contract.KindIntent, "EV-1234": contract.KindEvidence, "PG-000": contract.KindPublishGate,
		"IC-1": "", "ic-001": "", "XX-001": "", "IC-00a": "", "IC-٠٠١": "", "IC001": "", "": "",
	} {
		if got := id.Kind(); got != kind {
			t.Errorf("%q is %q, want %q", id, got, kind)
		}
	}
	if a, b := contract.NewID(contract.KindTaskSeed, 7), contract.NewID(contract.KindTaskSeed, 12345); a != "TS-007" || b != "TS-12345" {
		t.Error(a, b)
	}
}

func TestContentDigestLeavesOutWhatATransitionChanges(t *testing.T) {
	d, err := contract.Decode([]byte(intent))
	if err != nil {
		t.Fatal(err)
	}
	moved := d.Head()
	moved.State, moved.UpdatedAt = contract.Active, contract.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	if contract.ContentDigest(d) != contract.ContentDigest(d.With(moved)) {
		t.Error("a transition changed the content digest")
	}
	moved.Version = 2
	if contract.ContentDigest(d) == contract.ContentDigest(d.With(moved)) {
		t.Error("a revision did not change the content digest")
	}
}

func TestRoleSetsAreWrittenInCanonicalOrder(t *testing.T) {
	s := contract.RolesOf(contract.PolicyEngine, contract.ReleaseManager, contract.ProjectLead)
	text, _ := json.Marshal(s)
	if string(text) != `["project_lead","release_manager","policy_engine"]` {
		t.Errorf("got %s", text)
	}
	var back contract.RoleSet
	if err := json.Unmarshal(text, &back); err != nil || back != s {
		t.Error(back, err)
	}
	if json.Unmarshal([]byte(`["auditor"]`), &back) == nil {
		t.Error("an unknown role was read")
	}
}

func TestEqualComparesNumbersByValueAndTextByCharacters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true},
		{`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`, true},
		{`9007199254740993`, `9007199254740992.0`, false},
		{`[1,2]`, `[2,1]`, false},
		{`"2026-03-29T10:00:00Z"`, `"2026-03-29T10:00:00+00:00"`, false},
		{`"1"`, `1`, false},
		{`null`, `{}`, false},
		{`{"a":null}`, `{}`, false},
	} {
		if got := contract.Equal(parse(t, []byte(c.a)), parse(t, []byte(c.b))); got != c.same {
			t.Errorf("%s = %s: %v", c.a, c.b, got)
		}
	}
}

// Whatever is written canonically is read back as the same canonical text.
func TestCanonicalIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := strings.Join([]string{
			rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign"),
			rapid.StringMatching(`0|[1-9][0-9]{0,25}`).Draw(t, "digits"),
			rapid.StringMatching(`(\.[0-9]{1,25})?`).Draw(t, "fraction"),
			rapid.StringMatching(`([eE][+-]?[0-9]{1,2})?`).Draw(t, "exponent"),
		}, "")
		text, _ := json.Marshal(map[string]any{rapid.String().Draw(t, "key"): json.Number(number), "s": rapid.String().Draw(t, "s")})
		once, err := contract.Canonical(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		twice, err := contract.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s, then %s, %v", once, twice, err)
		}
		if a, b := parseRapid(t, text), parseRapid(t, once); !contract.Equal(a, b) {
			t.Fatalf("%s and %s differ", text, once)
		}
	})
}

func parseRapid(t *rapid.T, text []byte) any {
	v, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What Parse takes, encoding/json takes and understands in the same way; what
// only encoding/json takes has a flaw with a name.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{intent, `[1e5,-0.0,"\ud83d\ude00"]`, `{"a":1,"a":2}`, `"\ud800x"`, `NaN`, `{"a":[`, `"\u+123"`, "\xff", `-`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := contract.Parse(text)
		if err != nil {
			bad, ok := errors.AsType[*contract.TextError](err)
			if !ok || bad.Offset < 0 || bad.Offset > len(text) {
				t.Fatalf("%v", err)
			}
			if json.Valid(text) && (bad.Flaw == contract.Malformed || bad.Flaw == contract.Truncated) {
				t.Fatalf("valid JSON is %v: %q", err, text)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("took %q", text)
		}
		canonical := contract.CanonicalValue(v)
		var a, b any
		if json.Unmarshal(text, &a) != nil || json.Unmarshal(canonical, &b) != nil {
			t.Fatalf("unreadable: %s", canonical)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("read as %v and written as %s", a, canonical)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		if _, err := contract.Decode([]byte(intent)); err != nil {
			b.Fatal(err)
		}
	}
}
