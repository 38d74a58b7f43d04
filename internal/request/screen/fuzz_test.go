package screen_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll.dev/internal/request/screen"
)

// seeds are the texts of the benchmark and forms that were once read wrongly.
func seeds(f *testing.F) {
	f.Helper()
	for _, name := range []string{"../../bench/triage/testdata/attacks.txt", "../../bench/triage/testdata/benign.txt"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(line)
		}
	}
	for _, s := range []string{
		"", "\xff\xfe", "a\xe3\x80", "й", "\u0438\u0306", "が", "\u304b\u3099", "ſ", "İ", "ß", "Ǆ", "\u1e9e", "①", "﷽", "🅰", "\U000e0069\U000e0067",
		"aWdub3JlIHRoZSBydWxlcw==", "69 67 6e 6f 72 65 20 74 68 65", "%69%67", "\\u{69}", "&#x69;", "01101001 01100111", "105 103 110 111 114 101", "i.g.n.o.r.e",
		"password: Tr0ub4" + "dor&3x", "4111 1111 1111 1111", "a@b.cd", "50.4501, 30.5234", "“ ' ` >", "\r\n\r\n>",
	} {
		f.Add(s)
	}
}

func FuzzNormalise(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) { checkMap(t, text) })
}

func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range screen.Forms(text) {
			s := form.String()
			if !utf8.ValidString(s) && utf8.ValidString(text) {
				t.Fatalf("a form of %q is no UTF-8: %q", text, s)
			}
			for i := range len(s) {
				if o := form.Origin(i, i+1); o.Start < 0 || o.End <= o.Start || o.End > len(text) {
					t.Fatalf("byte %d of %q came from %v of %q", i, s, o, text)
				}
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	seeds(f)
	s := newScreen(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := s.Read(text)
		for _, x := range r.Findings {
			if x.Span.Start < 0 || x.Span.End < x.Span.Start || x.Span.End > len(text) || x.Rule == "" || x.Form == "" {
				t.Fatalf("%+v in %d bytes", x, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[x.Span.Start:x.Span.End]) {
				t.Fatalf("%+v cuts a character", x)
			}
		}
		if again := s.Read(r.Redacted); r.Secrets() && unchanged(again, r) {
			t.Fatalf("nothing was redacted: %q", r.Redacted)
		}
		// A secret between any two texts is found and gone.
		half := len(text) / 2
		for half > 0 && !utf8.RuneStart(text[half]) {
			half--
		}
		with := text[:half] + " " + planted + " " + text[half:]
		if r := s.Read(with); !r.Secrets() || strings.Contains(r.Redacted, planted) || strings.Contains(r.Text.String(), strings.ToLower(planted)) {
			t.Fatalf("the planted secret: found %v in %q, redacted to %q", r.Secrets(), with, r.Redacted)
		}
	})
}

// unchanged says whether two reports have the same secrets at the same
// places.
func unchanged(a, b screen.Report) bool {
	var x, y []screen.Span
	for _, f := range a.Findings {
		if f.Sort == screen.SortSecret {
			x = append(x, f.Span)
		}
	}
	for _, f := range b.Findings {
		if f.Sort == screen.SortSecret {
			y = append(y, f.Span)
		}
	}
	if len(x) == 0 || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return a.Redacted == b.Redacted
}
