package auditlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/event"
)

const origin = "plimsoll.test/log"

var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// zeros is chance that always falls the same way.
type zeros byte

func (z zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(z)
	}
	return len(p), nil
}

func keys(t testing.TB, seed byte) (*auditlog.Signer, note.Verifiers) {
	t.Helper()
	private, public, err := auditlog.NewKey(zeros(seed), origin)
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	v, err := auditlog.Keys(public)
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// record is the nth record of a log; variant makes another log of it.
func record(n int, variant string) []byte {
	return event.Record{
		Timestamp: start.AddDate(0, 0, n).Format(time.RFC3339), Kind: "TaskSeed", ID: fmt.Sprintf("TS-%03d", n), Version: 1,
		ActorID: "ada" + variant, Role: "project_lead", Action: "contract.transition", Success: true,
		From: "Active", To: "Published", CorrelationID: "IC-001", OS: "Linux", Runtime: "go1.26", ContainerImageDigest: "uncontainerized",
	}.Text()
}

// chain is n records, those from the given one on of a variant.
func chain(n, from int, variant string) []event.Chained {
	h := event.Genesis(origin)
	list := make([]event.Chained, n)
	for i := range list {
		text := record(i+1, "")
		if i+1 >= from && variant != "" {
			text = record(i+1, variant)
		}
		h = h.Append(text)
		list[i] = event.Chained{Text: text, Link: h.Link}
	}
	return list
}

func head(list []event.Chained, n int) event.Head {
	if n == 0 {
		return event.Genesis(origin)
	}
	return event.Head{Count: int64(n), Link: list[n-1].Link}
}

// export is the records behind after, with a checkpoint every five.
func export(t testing.TB, s *auditlog.Signer, list []event.Chained, after int, seal []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := auditlog.NewWriter(&b, s, auditlog.Options{From: head(list, after), At: start, Every: 5, Seal: seal})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list[after:] {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func known(t testing.TB, s *auditlog.Signer, v note.Verifiers, h event.Head) auditlog.Checkpoint {
	t.Helper()
	text, err := s.Sign(h, start, auditlog.Stands)
	if err != nil {
		t.Fatal(err)
	}
	c, err := auditlog.Open(text, v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func problem(t *testing.T, err error) *auditlog.Problem {
	t.Helper()
	p, ok := errors.AsType[*auditlog.Problem](err)
	if !ok {
		t.Fatalf("no problem was found: %v", err)
	}
	return p
}

func TestAnUntouchedExportIsGoodToItsEnd(t *testing.T) {
	s, v := keys(t, 1)
	list := chain(23, 0, "")
	for after := range 24 {
		got, err := auditlog.Verify(bytes.NewReader(export(t, s, list, after, nil)), v, known(t, s, v, head(list, 7)), known(t, s, v, head(list, 23)))
		if err != nil {
			t.Fatalf("behind %d: %v", after, err)
		}
		reached := 1
		if after <= 7 {
			reached = 2
		}
		if got.To != head(list, 23) || got.From != head(list, after) || got.Records != int64(23-after) || got.Reached != reached || got.Origin != origin || !got.Closed.Equal(start.Add(time.Hour)) {
			t.Errorf("behind %d: %+v", after, got)
		}
	}
}

// Each of these is one thing somebody does to a copy, line by line. Line 1 is the
// opening checkpoint; records 1 to 5 stand in lines 2 to 6.
func TestWhatWasDoneToACopyIsFoundAndPlaced(t *testing.T) {
	s, v := keys(t, 1)
	other, _ := keys(t, 2)
	list := chain(12, 0, "")
	forged := chain(12, 4, "x")
	for _, c := range []struct {
		name   string
		do     func(l []string) []string
		kind   auditlog.Kind
		record int64
		until  int64
	}{
		{"a record is edited", func(l []string) []string { l[3] = strings.Replace(l[3], "ada", "eve", 1); return l }, auditlog.Changed, 3, 3},
		{"the link of a record is edited", func(l []string) []string {
			l[3] = l[3][:9] + flip(l[3][9:10]) + l[3][10:]
			return l
		}, auditlog.Changed, 3, 3},
		{"a record is left out", func(l []string) []string { return append(l[:3], l[4:]...) }, auditlog.Missing, 3, 3},
		{"the first record is left out", func(l []string) []string { return append(l[:1], l[2:]...) }, auditlog.Missing, 1, 1},
		{"the last record is left out", func(l []string) []string { return append(l[:len(l)-2], l[len(l)-1]) }, auditlog.Missing, 12, 12},
		{"a record is left out and the rest is numbered anew", func(l []string) []string {
			for i := 4; i < 7; i++ {
				l[i] = strings.Replace(l[i], fmt.Sprintf(`"position":%d,`, i), fmt.Sprintf(`"position":%d,`, i-1), 1)
			}
			return append(l[:3], l[4:]...)
		}, auditlog.Changed, 3, 3},
		{"two records change places", func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, auditlog.Missing, 3, 3},
		{"a record is repeated", func(l []string) []string { return append(l[:4], l[3:]...) }, auditlog.Repeated, 4, 4},
		{"the end is cut off", func(l []string) []string { return l[:9] }, auditlog.Truncated, 8, 8},
		{"the end is cut off at a checkpoint", func(l []string) []string { return l[:7] }, auditlog.Truncated, 6, 6},
		{"nothing is left", func([]string) []string { return nil }, auditlog.Truncated, 1, 1},
		{"the chain is made anew from a record on", func(l []string) []string {
			for i, line := range strings.SplitAfter(string(export(t, s, forged, 0, nil)), "\n") {
				if strings.HasPrefix(line, `{"link"`) {
					l[i] = line
				}
			}
			return l
		}, auditlog.Rewritten, 1, 5},
		{"the log is signed by another key", func([]string) []string {
			return strings.SplitAfter(string(export(t, other, list, 0, nil)), "\n")
		}, auditlog.Unsigned, 1, 1},
		{"two exports are put together", func(l []string) []string {
			return append(append([]string{}, l...), l...)
		}, auditlog.Malformed, 13, 13},
		{"the beginning is gone", func(l []string) []string { return l[1:] }, auditlog.Malformed, 1, 1},
		{"a blank stands in a record line", func(l []string) []string { l[3] = strings.Replace(l[3], `,"record"`, `, "record"`, 1); return l }, auditlog.Malformed, 3, 3},
		{"a line is no record", func(l []string) []string { l[3] = "{}\n"; return l }, auditlog.Malformed, 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := strings.SplitAfter(string(export(t, s, list, 0, nil)), "\n")
			_, err := auditlog.Verify(strings.NewReader(strings.Join(c.do(lines[:len(lines)-1]), "")), v)
			p := problem(t, err)
			if p.Kind != c.kind || p.Record != c.record || p.Until != c.until {
				t.Errorf("%s, records %d to %d: %v", p.Kind, p.Record, p.Until, p)
			}
		})
	}
}

func flip(digit string) string {
	if digit == "0" {
		return "1"
	}
	return "0"
}

func TestAKnownCheckpointTellsAForkAndAnOldCopy(t *testing.T) {
	s, v := keys(t, 1)
	list := chain(12, 0, "")
	fork := chain(12, 8, "x")
	_, err := auditlog.Verify(bytes.NewReader(export(t, s, fork, 0, nil)), v, known(t, s, v, head(list, 9)))
	if p := problem(t, err); p.Kind != auditlog.Fork || p.Record != 6 || p.Until != 9 {
		t.Errorf("a fork: %+v", p)
	}
	_, err = auditlog.Verify(bytes.NewReader(export(t, s, list[:10], 0, nil)), v, known(t, s, v, head(list, 12)))
	if p := problem(t, err); p.Kind != auditlog.Truncated || p.Record != 11 || p.Until != 12 {
		t.Errorf("an old copy: %+v", p)
	}
	_, err = auditlog.Verify(bytes.NewReader(export(t, s, fork, 9, nil)), v, known(t, s, v, head(list, 9)))
	if p := problem(t, err); p.Kind != auditlog.Fork {
		t.Errorf("a copy that begins on a fork: %+v", p)
	}
	// Both sides of a fork are good by themselves: only who remembers can tell.
	if _, err := auditlog.Verify(bytes.NewReader(export(t, s, fork, 0, nil)), v); err != nil {
		t.Error(err)
	}
}

func TestACheckpointIsOneSpellingUnderOneSignature(t *testing.T) {
	s, v := keys(t, 1)
	text, err := s.Sign(event.Genesis(origin), start, auditlog.Stands)
	if err != nil {
		t.Fatal(err)
	}
	c, err := auditlog.Open(text, v)
	if err != nil || c.Origin != origin || c.Head != event.Genesis(origin) || !c.At.Equal(start) || c.Use != auditlog.Stands {
		t.Fatalf("%+v, %v", c, err)
	}
	for i := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[i] ^= 1 << bit
			if _, err := auditlog.Open(bad, v); err == nil {
				t.Fatalf("byte %d, bit %d: nobody noticed\n%s", i, bit, bad)
			}
		}
	}
	if _, err := auditlog.Open(append(bytes.Clone(text), text[bytes.LastIndex(text, []byte("\u2014")):]...), v); err == nil {
		t.Error("a second signature is not noticed")
	}
}

func TestAWriterSignsNothingThatDoesNotHold(t *testing.T) {
	s, _ := keys(t, 1)
	list := chain(3, 0, "")
	w, err := auditlog.NewWriter(&bytes.Buffer{}, s, auditlog.Options{From: event.Genesis(origin), At: start})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(list[1]); err == nil {
		t.Error("the second record was taken as the first")
	}
	if _, err := auditlog.NewWriter(&bytes.Buffer{}, s, auditlog.Options{From: event.Genesis("elsewhere")}); err == nil {
		t.Error("the genesis of another log was taken")
	}
}

func TestRecordsAreKeptForACalendarYearAndTheSealVouchesForThem(t *testing.T) {
	s, v := keys(t, 1)
	list := chain(20, 0, "") // one a day from 30 March 2026 on
	all := func(yield func(event.Chained, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
	for _, c := range []struct {
		now   time.Time
		extra time.Duration
		gone  int
	}{
		{start.AddDate(0, 6, 0), 0, 0},
		{time.Date(2027, 3, 30, 9, 59, 59, 0, time.UTC), 0, 0},
		{time.Date(2027, 3, 30, 10, 0, 0, 0, time.UTC), 0, 1},
		{time.Date(2027, 4, 3, 10, 0, 0, 0, time.UTC), 0, 5},
		{time.Date(2027, 4, 3, 10, 0, 0, 0, time.UTC), 48 * time.Hour, 3},
		{start.AddDate(3, 0, 0), 0, 20},
	} {
		got, err := auditlog.Expired(event.Genesis(origin), iter.Seq2[event.Chained, error](all), c.now, c.extra)
		if err != nil || got != head(list, c.gone) {
			t.Errorf("%s: %d records may go, want %d (%v)", c.now, got.Count, c.gone, err)
		}
	}
	seal, err := s.Sign(head(list, 5), start, auditlog.Seals)
	if err != nil {
		t.Fatal(err)
	}
	got, err := auditlog.Verify(bytes.NewReader(export(t, s, list, 5, seal)), v, known(t, s, v, head(list, 3)), known(t, s, v, head(list, 5)), known(t, s, v, head(list, 20)))
	if err != nil || !got.Sealed || got.From.Count != 5 || got.Reached != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	broken := func(yield func(event.Chained, error) bool) {
		_ = yield(list[0], nil) && yield(list[2], nil)
	}
	if _, err := auditlog.Expired(event.Genesis(origin), broken, start.AddDate(3, 0, 0), 0); err == nil {
		t.Error("a broken log is given up")
	}
}

func TestASignerOpensWhatItSigned(t *testing.T) {
	t.Parallel()
	private, _, err := auditlog.NewKey(nil, "plimsoll.test/log")
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := auditlog.NewKey(nil, "plimsoll.test/log")
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Sign(event.Genesis("plimsoll.test/log"), time.Now(), auditlog.Stands)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := auditlog.Open(text, s.Keys()); err != nil || c.Origin != "plimsoll.test/log" {
		t.Errorf("%v %v", c, err)
	}
	if s, err = auditlog.NewSigner(other); err != nil {
		t.Fatal(err)
	}
	if _, err := auditlog.Open(text, s.Keys()); err == nil {
		t.Error("another key opens it")
	}
}
