package checkpoint_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/checkpoint"
	"plimsoll.dev/internal/pipeline/event"
)

const origin = "plimsoll.test/log"

func signer(t *testing.T, name string, seed byte) *checkpoint.Signer {
	t.Helper()
	s, err := checkpoint.NewSigner(name, [32]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verifier(t *testing.T, s *checkpoint.Signer) *checkpoint.Verifier {
	t.Helper()
	v, err := checkpoint.ParseVerifier(s.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestANoteSaysWhatWasSigned(t *testing.T) {
	s := signer(t, origin, 1)
	want := checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin).Append([]byte("a record"))}
	note := s.Sign(want)
	if !strings.HasPrefix(string(note), origin+"\n1\n") {
		t.Errorf("the note begins %q", note)
	}
	got, err := verifier(t, s).Open(note)
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestANoteThatWasTouchedIsRefused(t *testing.T) {
	s := signer(t, origin, 1)
	v := verifier(t, s)
	note := string(s.Sign(checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin)}))
	for name, bad := range map[string]string{
		"another number":      strings.Replace(note, "\n0\n", "\n1\n", 1),
		"another origin":      "x" + note,
		"no signature":        note[:strings.Index(note, "\n\n")+2],
		"no blank line":       strings.Replace(note, "\n\n", "\n", 1),
		"another key":         string(signer(t, origin, 2).Sign(checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin)})),
		"another name":        string(signer(t, "other", 1).Sign(checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin)})),
		"a line put in":       strings.Replace(note, "\n0\n", "\n0\nmore\n", 1),
		"a broken signature":  note[:len(note)-8] + "AAAAAA=\n",
		"nothing":             "",
		"signature is no b64": strings.Replace(note, origin+" ", origin+" !", 1),
	} {
		if c, err := v.Open([]byte(bad)); err == nil {
			t.Errorf("%s was taken as %+v", name, c)
		}
	}
}

func TestAWitnessBesideItChangesNothing(t *testing.T) {
	s := signer(t, origin, 1)
	c := checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin)}
	_, cosigned, _ := strings.Cut(string(signer(t, "witness", 9).Sign(c)), "\n\n")
	if got, err := verifier(t, s).Open(append(s.Sign(c), cosigned...)); err != nil || got != c {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNamesAndKeysThatAreNone(t *testing.T) {
	for _, name := range []string{"", "two words", "a+b", "line\n"} {
		if _, err := checkpoint.NewSigner(name, [32]byte{}); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	good := signer(t, origin, 1).Verifier()
	for _, text := range []string{"", origin, strings.Replace(good, "plimsoll", "plimsol", 1), good[:len(good)-4], good + "AAAA"} {
		if _, err := checkpoint.ParseVerifier(text); err == nil {
			t.Errorf("%q is taken for a verifier", text)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, err := checkpoint.NewSigner(origin, [32]byte{1})
	if err != nil {
		f.Fatal(err)
	}
	v, err := checkpoint.ParseVerifier(s.Verifier())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Sign(checkpoint.Checkpoint{Origin: origin, Head: event.Genesis(origin)}))
	f.Fuzz(func(t *testing.T, note []byte) {
		// Whatever opens was signed: only the text of the note can be in it.
		if c, err := v.Open(note); err == nil && !strings.HasPrefix(string(note), c.Text()) {
			t.Errorf("%q opened as %+v", note, c)
		}
	})
}
