package check_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// accepting is a baseline of everything that a run finds.
func accepting(e *check.Evaluation) *check.Baseline {
	b := &check.Baseline{}
	for _, f := range e.Findings {
		entry := check.Entry{Fingerprint: f.Fingerprint, CheckID: f.CheckID, ToolName: f.ToolName, Severity: f.Severity, Title: f.Title}
		if f.Support != nil {
			entry.SupportHash = f.Support.Hash
		}
		b.Entries = append(b.Entries, entry)
	}
	return b
}

func statuses(e *check.Evaluation) map[string]string {
	got := map[string]string{}
	for _, f := range e.Findings {
		got[f.CheckID] = f.BaselineStatus
	}
	return got
}

func TestWhatWasAcceptedIsMatched(t *testing.T) {
	s := paying(plain())
	first := evaluate(t, s, check.Options{})
	again := evaluate(t, s, check.Options{Baseline: accepting(first)})
	if n := len(first.Findings); again.Baseline.Matched != n || again.Baseline.New != 0 || again.Baseline.Resolved != 0 {
		t.Errorf("%+v of %d findings", again.Baseline, n)
	}
	for id, status := range statuses(again) {
		if status != "matched" {
			t.Errorf("%s is %q", id, status)
		}
	}
	for id, status := range statuses(first) {
		if status != "" {
			t.Errorf("without a baseline %s is %q", id, status)
		}
	}
}

// A finding that rested on a declaration and now rests on words is another one.
func TestAcceptanceKnowsWhatItRestedOn(t *testing.T) {
	const id = "SHIP-POLICY-APPROVAL-MISSING"
	b := accepting(evaluate(t, paying(plain()), check.Options{}))
	other := one(plain(), checktest.Writes(), checktest.Word("financial_action", tool.High))
	if got := statuses(evaluate(t, other, check.Options{Baseline: b}))[id]; got != "new" {
		t.Errorf("it is %q", got)
	}
	for i := range b.Entries {
		b.Entries[i].SupportHash = ""
	}
	if got := statuses(evaluate(t, other, check.Options{Baseline: b}))[id]; got != "new" {
		t.Errorf("an entry without a hash: it is %q", got)
	}
}

func TestEntriesOfTheBaseline(t *testing.T) {
	const id, expired, stale = "SHIP-POLICY-APPROVAL-MISSING", "SHIP-BASELINE-ENTRY-EXPIRED", "SHIP-BASELINE-ENTRY-STALE"
	until := func(day string) *check.Baseline {
		b := accepting(evaluate(t, paying(plain()), check.Options{}))
		for i := range b.Entries {
			b.Entries[i].Provenance = &check.Acceptance{Expires: day}
		}
		return b
	}
	t.Run("accepted to the last day", func(t *testing.T) {
		e := evaluate(t, paying(plain()), check.Options{Baseline: until(checktest.Today)})
		if statuses(e)[id] != "matched" || of(e, expired) != nil {
			t.Errorf("%v", statuses(e))
		}
	})
	t.Run("the day after", func(t *testing.T) {
		e := evaluate(t, paying(plain()), check.Options{Baseline: until("2026-06-14"), BaselinePath: "b.json"})
		f := of(e, expired)
		if f != nil && f.Source != (check.Source{Type: "baseline", Ref: "b.json", Path: "b.json"}) {
			t.Errorf("it points at %+v", f.Source)
		}
		if statuses(e)[id] != "new" || f == nil || f.Evidence["expires"] != "2026-06-14" || f.Severity != check.High || f.BaselineStatus != "new" {
			t.Errorf("%v, %+v", statuses(e), f)
		}
		if of(e, stale) != nil {
			t.Error("an expired entry is also called stale")
		}
	})
	t.Run("nothing left to accept", func(t *testing.T) {
		e := evaluate(t, one(plain(checktest.Granted("stock:read"))), check.Options{Baseline: &check.Baseline{Entries: []check.Entry{{Fingerprint: "fp_gone", CheckID: "X"}}}})
		f := of(e, stale)
		if f == nil || f.Severity != check.Low || e.Baseline.Resolved != 1 || len(e.Findings) != 1 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("set aside is not gone", func(t *testing.T) {
		words := one(plain(), checktest.Writes(), checktest.Word("financial_action", tool.High))
		b := accepting(evaluate(t, words, check.Options{}))
		if f := of(evaluate(t, words, check.Options{Baseline: b, NoHeuristics: true}), stale); f != nil {
			t.Errorf("%+v", f)
		}
	})
	t.Run("suppressed is skipped", func(t *testing.T) {
		b := accepting(evaluate(t, paying(plain()), check.Options{}))
		m := plain(func(m *manifest.Manifest) { m.Checks.Ignore = []manifest.Ignore{{CheckID: id, Reason: "r"}} })
		e := evaluate(t, paying(m), check.Options{Baseline: b})
		if f := of(e, id); !f.Suppressed || f.BaselineStatus != "" || of(e, stale) == nil {
			t.Errorf("%+v", f)
		}
	})
}

// A baseline cannot make a finding disappear, add one beyond its own entries',
// or touch anything but its status.
func TestABaselineOnlyMarks(t *testing.T) {
	s := paying(plain(checktest.Granted("x:*")))
	plainly := evaluate(t, s, check.Options{})
	rapid.Check(t, func(t *rapid.T) {
		kept := rapid.SliceOfN(rapid.Bool(), len(plainly.Findings), len(plainly.Findings)).Draw(t, "accepted")
		b := accepting(plainly)
		b.Entries = slices.DeleteFunc(b.Entries, func(e check.Entry) bool {
			return !kept[slices.IndexFunc(plainly.Findings, func(f check.Finding) bool { return f.Fingerprint == e.Fingerprint })]
		})
		marked := evaluate(t, s, check.Options{Baseline: b})
		for i := range marked.Findings {
			want := "new"
			if kept[i] {
				want = "matched"
			}
			if got := marked.Findings[i].BaselineStatus; got != want {
				t.Fatalf("%s is %q, want %q", marked.Findings[i].CheckID, got, want)
			}
			marked.Findings[i].BaselineStatus = ""
		}
		if d := cmp.Diff(plainly.Findings, marked.Findings); d != "" {
			t.Fatalf("(-without +with):\n%s", d)
		}
	})
}

func TestIntegrityOfTheBaseline(t *testing.T) {
	const id = "SHIP-BASELINE-INTEGRITY-MISMATCH"
	under := func(mode string, ok bool) *check.Finding {
		m := plain(func(m *manifest.Manifest) { m.Baseline.IntegrityMode = mode })
		return of(evaluate(t, one(m), check.Options{Integrity: &check.Integrity{OK: ok, Expected: "a", Actual: "b", Why: "w"}}), id)
	}
	if f := under("strict", false); f == nil || f.Severity != check.Critical || f.Evidence["expected"] != "a" || f.Evidence["actual"] != "b" {
		t.Errorf("strict: %+v", f)
	}
	if f := under("warn", false); f == nil || f.Severity != check.Medium {
		t.Errorf("warn: %+v", f)
	}
	if f := under("off", false); f != nil {
		t.Errorf("off: %+v", f)
	}
	if f := under("strict", true); f != nil {
		t.Errorf("sound: %+v", f)
	}
}

func TestBaselineFilesAreRead(t *testing.T) {
	for _, version := range []string{"0.2", "0.3", "0.4", "0.5"} {
		b, err := check.ReadBaseline([]byte(`{"schema_version":"` + version + `","later":1,"findings":[{"fingerprint":"fp_a","check_id":"X","tool_name":null,"severity":"high"}]}`))
		if err != nil || len(b.Entries) != 1 || b.Entries[0].ToolName != "" {
			t.Errorf("%s: %+v, %v", version, b, err)
		}
	}
	for name, text := range map[string]string{
		"another version":    `{"schema_version":"0.6","findings":[]}`,
		"no version":         `{"findings":[]}`,
		"a key twice":        `{"schema_version":"0.5","findings":[],"findings":[]}`,
		"no object":          `[]`,
		"no JSON":            `{`,
		"no fingerprint":     `{"schema_version":"0.5","findings":[{"check_id":"X"}]}`,
		"no check":           `{"schema_version":"0.5","findings":[{"fingerprint":"fp_a"}]}`,
		"a strange severity": `{"schema_version":"0.5","findings":[{"fingerprint":"fp_a","check_id":"X","severity":"grave"}]}`,
		"a strange date":     `{"schema_version":"0.5","findings":[{"fingerprint":"fp_a","check_id":"X","provenance":{"expires":"soon"}}]}`,
		"a number as a list": `{"schema_version":"0.5","findings":7}`,
	} {
		if b, err := check.ReadBaseline([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", name, b)
		}
	}
}

// The time of a baseline changes only when something else does, and what people
// said about an entry stays with it.
func TestSavingAgain(t *testing.T) {
	old := &check.Baseline{
		Version: "0.5", CreatedAt: "2026-01-01T00:00:00Z", RunID: "run-1", Notes: []string{"agreed"},
		Entries: []check.Entry{{Fingerprint: "fp_a", CheckID: "X", Provenance: &check.Acceptance{RunID: "run-1", Expires: "2027-01-01", Reason: "later"}}},
	}
	same := &check.Baseline{CreatedAt: "2026-02-02T00:00:00Z", RunID: "run-1", Entries: []check.Entry{{Fingerprint: "fp_a", CheckID: "X"}}}
	if err := same.Keep(old, checktest.Today); err != nil {
		t.Fatal(err)
	}
	if same.CreatedAt != old.CreatedAt || same.Entries[0].Provenance.Reason != "later" || !slices.Equal(same.Notes, old.Notes) {
		t.Errorf("%+v", same)
	}
	renewed := func(said *check.Acceptance) string {
		b := &check.Baseline{Entries: []check.Entry{{Fingerprint: "fp_a", CheckID: "X", Provenance: said}}}
		if err := b.Keep(old, "2027-01-02"); err != nil {
			t.Fatal(err)
		}
		return b.Entries[0].Provenance.Expires
	}
	if day := renewed(&check.Acceptance{RunID: "run-2"}); day != "2027-01-01" {
		t.Errorf("saved without a word, what expired lasts until %q", day)
	}
	if day := renewed(&check.Acceptance{Expires: "2028-01-01"}); day != "2028-01-01" {
		t.Errorf("saved with a new day, what expired lasts until %q", day)
	}
	other := &check.Baseline{CreatedAt: "2026-02-02T00:00:00Z", RunID: "run-1", Entries: []check.Entry{{Fingerprint: "fp_b", CheckID: "X"}}}
	if err := other.Keep(old, checktest.Today); err != nil {
		t.Fatal(err)
	}
	if other.CreatedAt != "2026-02-02T00:00:00Z" || other.Entries[0].Provenance != nil {
		t.Errorf("%+v", other)
	}
}

func saved(t *testing.T, log []byte, file string, at string) []byte {
	t.Helper()
	log, err := check.AppendSaved(log, check.Saved{At: at, Baseline: "b.json", SHA256: check.HashOf([]byte(file))})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestTheAuditLogShowsEdits(t *testing.T) {
	log := saved(t, saved(t, nil, "one", "t1"), "two", "t2")
	if bytes.Count(log, []byte("\n")) != 2 {
		t.Fatalf("%q", log)
	}
	for _, c := range []struct {
		name, file string
		log        []byte
		ok         bool
		why        string
	}{
		{"as saved", "two", log, true, ""},
		{"an older state", "one", log, false, "not what the last save wrote"},
		{"edited", "two and a half", log, false, "not what the last save wrote"},
		{"no log", "two", nil, false, "no audit log"},
		{"an empty log", "two", []byte{}, false, "no line about this file"},
		{"a line taken out", "two", log[bytes.IndexByte(log, '\n')+1:], false, "does not follow"},
		{"a line changed", "two", bytes.Replace(log, []byte("t1"), []byte("t9"), 1), false, "does not follow"},
		{"a line that is none", "two", append(slices.Clone(log), "{}\n"...), false, "no record"},
		{"no JSON", "two", append(slices.Clone(log), "x\n"...), false, "no JSON"},
		{"other line ends", "two", bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n")), true, ""},
	} {
		got := check.VerifyIntegrity([]byte(c.file), c.log, "b.json")
		if got.OK != c.ok || !strings.Contains(got.Why, c.why) || (got.Why == "") != c.ok {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, name := range []string{"./b.json", "service/b.json"} {
		if got := check.VerifyIntegrity([]byte("two"), log, name); !got.OK {
			t.Errorf("seen as %s: %+v", name, got)
		}
	}
	if got := check.VerifyIntegrity([]byte("two"), log, "other-b.json"); got.OK {
		t.Error("the log of another file vouches for this one")
	}
	if _, err := check.AppendSaved([]byte("x\n"), check.Saved{SHA256: strings.Repeat("0", 64)}); err == nil {
		t.Error("a broken log is continued")
	}
}

func FuzzReadBaseline(f *testing.F) {
	f.Add([]byte(`{"schema_version":"0.5","project":{"name":"p"},"findings":[{"fingerprint":"fp_a","check_id":"X","tool_name":"t","severity":"low","provenance":{"expires":"2026-01-01"}}],"notes":["n"]}`))
	f.Add([]byte(`{"schema_version":"0.2","findings":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := check.ReadBaseline(text)
		if err != nil {
			return
		}
		first, err := b.Write()
		if err != nil {
			t.Fatal(err)
		}
		again, err := check.ReadBaseline(first)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, first, err)
		}
		second, err := again.Write()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q, then %q (%v)", first, second, err)
		}
	})
}

func FuzzAuditLog(f *testing.F) {
	line, err := json.Marshal(check.Saved{Event: "save", SHA256: strings.Repeat("a", 64), Baseline: "b.json"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, '\n'))
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		file := []byte("content")
		grown, err := check.AppendSaved(log, check.Saved{Baseline: "b.json", SHA256: check.HashOf(file)})
		if err != nil {
			if check.VerifyIntegrity(file, log, "b.json").OK {
				t.Fatalf("%q cannot be continued and vouches", log)
			}
			return
		}
		if got := check.VerifyIntegrity(file, grown, "b.json"); !got.OK {
			t.Fatalf("%q: %+v", grown, got)
		}
	})
}
