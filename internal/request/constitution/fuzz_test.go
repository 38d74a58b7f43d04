package constitution_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/request/constitution"
)

// sound loads a configuration that may be anything: it gives a set whose prompts
// are the formula, or faults that each stand on a line of a file.
func sound(t *testing.T, name string, text []byte) {
	t.Helper()
	files := folder(t)
	delete(files, constitution.LockPath)
	put(files, name, string(text))
	s, err := constitution.Load(files)
	if err != nil {
		list, ok := errors.AsType[constitution.Faults](err)
		if !ok || len(list) == 0 || s != nil {
			t.Fatalf("%v is no list of faults", err)
		}
		for _, f := range list {
			last := 1
			if file := files[f.Path]; file != nil {
				last = strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(file.Data)), "\n") + 1
			}
			if f.Line < 1 || f.Line > last || f.Msg == "" || len(f.Msg) > 1000 || strings.ContainsAny(f.Msg, "\n\x1b") {
				t.Fatalf("%q is no place in a file of %d lines", f, last)
			}
		}
		return
	}
	if len(s.Registry().Workers) != 13 || len(s.Registry().Intents) != 13 || len(s.Registry().Chains) != 5 {
		t.Fatalf("a registry of %d workers, %d intents and %d chains loads", len(s.Registry().Workers), len(s.Registry().Intents), len(s.Registry().Chains))
	}
	if e := s.Registry().Economy; e.Heavy < 1 || e.Supporting < 1 {
		t.Fatalf("the economy is %+v", e)
	}
	for _, id := range everyAgent() {
		p, err := s.Assemble(id)
		if err != nil || p.Text() != s.Body(constitution.Base)+"\n\n---\n\n"+s.Body(id) || p.SHA256() != digest(p.Text()) {
			t.Fatalf("the prompt of %s is not the formula: %v", id, err)
		}
		if strings.ContainsAny(p.Text(), "\r\u200b\u202e") || strings.HasSuffix(p.Text(), "\n") {
			t.Fatalf("the prompt of %s is not normalised", id)
		}
	}
	if again, err := constitution.Load(files); err != nil || again.SHA256() != s.SHA256() {
		t.Fatalf("the same files load otherwise: %v", err)
	}
	put(files, constitution.LockPath, string(s.Lock()))
	if locked, err := constitution.Load(files); err != nil || !locked.Locked() {
		t.Fatalf("the lock of a set does not fit it: %v", err)
	}
}

// edited is text with cut bytes from at on replaced: a small input that reaches
// deep into a large file.
func edited(text []byte, at, cut uint16, with string) []byte {
	from := min(int(at), len(text))
	to := min(from+int(cut), len(text))
	return slices.Concat(text[:from], []byte(with), text[to:])
}

func FuzzRegistry(f *testing.F) {
	text := string(folder(f)[constitution.RegistryPath].Data)
	for _, edit := range [][2]string{
		{"priority: 1\n", "priority: 1\n    priority: 1\n"},
		{"heavy: 1", "heavy: &a 1"},
		{"outputs: [health_report]", "outputs: [*a]"},
		{"when: >-", "when: |\n        (((\n      x: >-"},
		{"2/3", "-2/-3"},
		{"locales: [en, uk, ja]", "locales: {en: uk}"},
		{"chains:", "? [a, b]\n: c\nchains:"},
		{"# The agents", "%TAG ! tag:x,2000:\n---\n# The agents"},
		{"}\n\nlimits", "\n\nlimits"},
		{"registry: 1.0.0", "\u2028registry: 1.0.0"},
	} {
		at := strings.Index(text, edit[0])
		if at < 0 {
			f.Fatalf("the registry does not contain %q", edit[0])
		}
		f.Add(uint16(at), uint16(len(edit[0])), edit[1])
	}
	f.Add(uint16(0), uint16(1<<16-1), "a: [")
	f.Fuzz(func(t *testing.T, at, cut uint16, with string) {
		sound(t, constitution.RegistryPath, edited([]byte(text), at, cut, with))
	})
}

func FuzzPromptFile(f *testing.F) {
	for _, text := range []string{
		"---\r\nid: Memory\r\nversion: 1.0.0\r\n---\r\nOne.\r\n\r\n", "---\nid: Memory\nversion: 1.0.0\n---\nA\n\n---\n\nB",
		"---\nid: *x\n---\n", "---\n---\nx", "---\nid: Memory\rversion: 1.0.0\n---\nOne\rtwo", "---\nid: Memory\nversion: 1.0.0\nsystem: x\n---\nx",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sound(t, "workers/Memory.md", text) })
}

func FuzzLock(f *testing.F) {
	lock := folder(f)[constitution.LockPath].Data
	f.Add(uint16(0), uint16(0), "JOS_BASE.md 1.0.0 "+digest("")+"\n")
	f.Add(uint16(0), uint16(1<<16-1), "# only words\r\n")
	f.Add(uint16(70), uint16(1), "\x00")
	f.Fuzz(func(t *testing.T, at, cut uint16, with string) {
		text := edited(lock, at, cut, with)
		files := folder(t)
		put(files, constitution.LockPath, string(text))
		s, err := constitution.Load(files)
		if _, faulty := errors.AsType[constitution.Faults](err); err != nil && !faulty {
			t.Fatalf("%v is no list of faults", err)
		}
		if err != nil {
			return
		}
		for _, p := range s.Prompts() {
			if !strings.Contains(string(text), p.Path+" ") {
				t.Fatalf("%s loads although the lock does not name it", p.Path)
			}
			if strings.Contains(string(text), p.Path+" "+string(p.Version)+" ") && !strings.Contains(string(text), p.SHA256) {
				t.Fatalf("%s loads although the lock has another text for it", p.Path)
			}
		}
	})
}
