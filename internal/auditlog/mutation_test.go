package auditlog_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/auditlog"
)

// Whatever is done to the bytes of a copy is found. The one thing that may be
// done is to take out, or to repeat, a checkpoint in the middle: the records and
// both ends are then what they were.
func TestEveryMutationIsFound(t *testing.T) {
	s, v := keys(t, 1)
	list := chain(40, 0, "")
	good := export(t, s, list, 0, nil)
	lines := bytes.SplitAfter(good, []byte("\n"))
	lines = lines[:len(lines)-1]
	tried, found := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := slices.Clone(lines)
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			if len(l) == 0 {
				break
			}
			i := rapid.IntRange(0, len(l)-1).Draw(t, "line")
			j := rapid.IntRange(0, len(l)-1).Draw(t, "other")
			switch rapid.SampledFrom([]string{"byte", "insert", "drop", "delete", "swap", "copy", "cut", "tail"}).Draw(t, "what") {
			case "byte":
				k := rapid.IntRange(0, len(l[i])-1).Draw(t, "at")
				l[i] = bytes.Clone(l[i])
				l[i][k] ^= rapid.ByteMin(1).Draw(t, "bits")
			case "insert":
				k := rapid.IntRange(0, len(l[i])).Draw(t, "at")
				l[i] = slices.Insert(bytes.Clone(l[i]), k, rapid.Byte().Draw(t, "value"))
			case "drop":
				k := rapid.IntRange(0, len(l[i])-1).Draw(t, "at")
				if l[i] = slices.Delete(bytes.Clone(l[i]), k, k+1); len(l[i]) == 0 {
					l = slices.Delete(l, i, i+1)
				}
			case "delete":
				l = slices.Delete(l, i, i+1)
			case "swap":
				l[i], l[j] = l[j], l[i]
			case "copy":
				l = slices.Insert(l, i, l[j])
			case "cut":
				l = l[:i]
			case "tail":
				l = l[i:]
			}
		}
		bad := bytes.Join(l, nil)
		if bytes.Equal(bad, good) {
			return
		}
		tried++
		got, err := auditlog.Verify(bytes.NewReader(bad), v)
		if err == nil {
			if got.Records != 40 || got.To != head(list, 40) || !slices.Equal(records(bad), records(good)) {
				t.Fatalf("nobody noticed:\n%s", bad)
			}
			return
		}
		found++
		p, ok := errors.AsType[*auditlog.Problem](err)
		if !ok || p.Record < 1 || p.Until < p.Record || p.Line < 1 || p.Msg == "" {
			t.Fatalf("the problem is not placed: %#v", err)
		}
		// What stands before the first bad record is what it was.
		before := records(bad)
		for i, text := range records(good)[:min(int(p.Record)-1, 40)] {
			if i >= len(before) || before[i] != text {
				t.Fatalf("record %d is bad, and the first bad one is said to be %d", i+1, p.Record)
			}
		}
	})
	if tried == 0 || found < tried*9/10 {
		t.Errorf("%d of %d mutations were found, the rest are checkpoints taken out", found, tried)
	}
}

// records is the record lines of an export.
func records(b []byte) []string {
	var list []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, `{"link"`) {
			list = append(list, line)
		}
	}
	return list
}

// Blocks are cut at places that depend on how much is read at once; the answer
// must not.
func TestTheAnswerDoesNotDependOnHowItIsRead(t *testing.T) {
	s, v := keys(t, 1)
	list := chain(3000, 0, "")
	good := export(t, s, list, 0, nil)
	bad := bytes.Replace(good, []byte(`"id":"TS-2500"`), []byte(`"id":"TS-2501"`), 1)
	for _, size := range []int{1000, 1 << 16, 1 << 30} {
		if _, err := auditlog.Verify(&slow{good, size}, v); err != nil {
			t.Errorf("%d bytes at once: %v", size, err)
		}
		_, err := auditlog.Verify(&slow{bad, size}, v)
		if p, ok := errors.AsType[*auditlog.Problem](err); !ok || p.Kind != auditlog.Changed || p.Record != 2500 {
			t.Errorf("%d bytes at once: %v", size, err)
		}
	}
}

type slow struct {
	rest []byte
	size int
}

func (s *slow) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), s.size)], s.rest)
	s.rest = s.rest[n:]
	if n == 0 {
		return 0, errEnd
	}
	return n, nil
}

func FuzzVerify(f *testing.F) {
	s, v := keys(f, 1)
	list := chain(6, 0, "")
	f.Add(export(f, s, list, 0, nil))
	f.Add(export(f, s, list, 3, nil))
	f.Add([]byte(`{"checkpoint":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := auditlog.Verify(bytes.NewReader(b), v)
		if err == nil && got.To.Count > 6 {
			t.Errorf("somebody can sign: %+v", got)
		}
	})
}
