package constitution_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/request/constitution"
)

func TestEachFaultOfAPromptFileHasItsLine(t *testing.T) {
	const front = "---\nid: Memory\nversion: 1.0.0\n---\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"no front matter":     {"# Memory\n", []string{"1: has no front matter: the first line must be ---"}},
		"an endless one":      {"---\nid: Memory\nversion: 1.0.0\n", []string{"1: has a front matter without an end: a line of --- must follow it"}},
		"no version":          {"---\nid: Memory\n---\nText\n", []string{"2: the front matter has no version"}},
		"a version of words":  {"---\nid: Memory\nversion: latest\n---\nText\n", []string{"3: the version is not of the form 1.2.3"}},
		"somebody else's":     {"---\nversion: 1.0.0\nid: Bridge\n---\nText\n", []string{`3: the prompt of Memory says that it is of "Bridge"`}},
		"a key twice":         {"---\nid: Memory\nversion: 1.0.0\nversion: 1.0.1\n---\nText\n", []string{`4: the front matter has the key "version" twice; the first is on line 3`}},
		"an unknown key":      {"---\nid: Memory\nversion: 1.0.0\nauthor: me\n---\nText\n", []string{`4: the front matter has an unknown key "author"`}},
		"a key that prepends": {"---\nid: Memory\nversion: 1.0.0\nprepend: me\n---\nText\n", []string{`4: the front matter has the key "prepend": nothing may add to, replace or reorder the parts of a prompt`}},
		"no text":             {front + "\n\n", []string{"5: has nothing below its front matter"}},
		"no UTF-8":            {front + "one\n\xff\n", []string{"6: is not UTF-8"}},
		"a zero-width space":  {front + "one\ntw\u200bo\n", []string{"6: holds the character U+200B, which cannot be seen"}},
		"a tag character":     {front + "one\U000E0041\n", []string{"5: holds the character U+E0041, which cannot be seen"}},
		"a bidi mark":         {front + "one\u202eeno\n", []string{"5: holds the character U+202E, which cannot be seen"}},
		"a joiner in Latin":   {front + "on\u200de\n", []string{"5: holds the character U+200D, which cannot be seen"}},
		"a byte order mark":   {"\ufeff" + front + "one\n", []string{"1: holds the character U+FEFF, which cannot be seen"}},
		"an escape":           {front + "\x1b[2Jone\n", []string{"5: holds the character U+001B, which cannot be seen"}},
		"a list":              {"---\n- id\n---\nText\n", []string{"2: the front matter is not a mapping"}},
		"an empty one":        {"---\n\n---\nText\n", []string{"2: is empty"}},
		"a directive":         {"---\nid: Memory\n%TAG ! x\n---\nText\n", []string{"3: holds a directive; take the line away"}},
		"too long":            {front + strings.Repeat("x", 64<<10), []string{"1: cannot be read: it is larger than 65536 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := folder(t)
			put(files, "workers/Memory.md", c.text)
			want := make([]string, len(c.want))
			for i, w := range c.want {
				want[i] = "workers/Memory.md:" + w
			}
			if diff := cmp.Diff(want, faults(t, files)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A joiner is part of how words of some languages are written.
func TestWordsThatNeedAJoinerAreRead(t *testing.T) {
	files := folder(t)
	delete(files, constitution.LockPath)
	put(files, "workers/Memory.md", "---\nid: Memory\nversion: 1.1.0\n---\nمی\u200cخواهم\n")
	load(t, files)
}

func TestEachFaultOfTheLockHasItsLine(t *testing.T) {
	memory := func(files fstest.MapFS) string { return string(files["workers/Memory.md"].Data) }
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   []string
	}{
		"a text under the same version": {
			func(files fstest.MapFS) { put(files, "workers/Memory.md", memory(files)+"One more.\n") },
			[]string{"workers/Memory.md:5: the text changed and its version is still 1.0.0; prompts.lock:11 locks another text under it"},
		},
		"a line that is none": {
			func(files fstest.MapFS) {
				put(files, constitution.LockPath, string(files[constitution.LockPath].Data)+"workers/Memory.md 1.0.0 abc\n")
			},
			[]string{"prompts.lock:17: is not a line of path, version and sha256"},
		},
		"a line twice": {
			func(files fstest.MapFS) {
				lines := strings.Split(string(files[constitution.LockPath].Data), "\n")
				put(files, constitution.LockPath, strings.Join(append(lines[:16], lines[15], ""), "\n"))
			},
			[]string{"prompts.lock:17: workers/Sync.md is locked twice; the first is on line 16"},
		},
		"a line left out": {
			func(files fstest.MapFS) {
				lines := strings.Split(string(files[constitution.LockPath].Data), "\n")
				put(files, constitution.LockPath, strings.Join(lines[:15], "\n"))
			},
			[]string{"prompts.lock:1: workers/Sync.md is not locked"},
		},
		"a stranger": {
			func(files fstest.MapFS) {
				put(files, constitution.LockPath, string(files[constitution.LockPath].Data)+"workers/Scribe.md 1.0.0 "+digest("")+"\n")
			},
			[]string{`prompts.lock:17: "workers/Scribe.md" is no prompt of this configuration`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := folder(t)
			c.change(files)
			if diff := cmp.Diff(c.want, faults(t, files)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A text that changed with its version is announced: it loads, and can be locked.
func TestANewVersionLoadsAndCanBeLocked(t *testing.T) {
	files := folder(t)
	put(files, "workers/Memory.md", strings.Replace(string(files["workers/Memory.md"].Data), "version: 1.0.0", "version: 1.0.1", 1)+"One more.\n")
	s := load(t, files)
	put(files, constitution.LockPath, string(s.Lock()))
	if again := load(t, files); !again.Locked() || string(again.Lock()) != string(s.Lock()) {
		t.Error("the lock of a set does not lock it")
	}
	put(files, "workers/Memory.md", string(files["workers/Memory.md"].Data)+"And more.\n")
	if got := faults(t, files); len(got) != 1 {
		t.Errorf("the new version is not locked: %q", got)
	}
}

func TestTheShippedPromptsAreLocked(t *testing.T) {
	files := folder(t)
	s := load(t, files)
	if !s.Locked() || string(s.Lock()) != string(files[constitution.LockPath].Data) {
		t.Error("config/roles/clan/zhos/prompts.lock is not of these prompts: plimsoll clan check config/roles/clan/zhos --lock")
	}
	delete(files, constitution.LockPath)
	if load(t, files).Locked() {
		t.Error("without a lock it is locked")
	}
}

func TestEachFaultOfTheFolderHasItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"no registry":          {func(f fstest.MapFS) { delete(f, constitution.RegistryPath) }, "agents_registry.yaml:1: is not there"},
		"an empty registry":    {func(f fstest.MapFS) { put(f, constitution.RegistryPath, "") }, "agents_registry.yaml:1: is empty"},
		"a prompt that is not": {func(f fstest.MapFS) { delete(f, "JOS_BASE.md"); delete(f, constitution.LockPath) }, "agents_registry.yaml:13: the prompt of JOS-BASE, JOS_BASE.md, is not there"},
		"a folder as prompt":   {func(f fstest.MapFS) { delete(f, "orchestrator.md"); put(f, "orchestrator.md/x", "") }, "orchestrator.md:1: cannot be read: it is not a file"},
		"a prompt of nobody":   {func(f fstest.MapFS) { put(f, "workers/Scribe.md", "x") }, "workers/Scribe.md:1: is the prompt of no agent"},
		"a prompt astray":      {func(f fstest.MapFS) { put(f, "Memory.md", "x") }, "Memory.md:1: is the prompt of no agent"},
		"a registry too large": {func(f fstest.MapFS) { put(f, constitution.RegistryPath, strings.Repeat("#\n", 1<<20)) }, "agents_registry.yaml:1: cannot be read: it is larger than 1048576 bytes"},
		"a hidden character": {func(f fstest.MapFS) {
			put(f, constitution.RegistryPath, "# one\u200b\n"+string(f[constitution.RegistryPath].Data))
		}, "agents_registry.yaml:1: holds the character U+200B, which cannot be seen"},
		"a second document": {func(f fstest.MapFS) {
			put(f, constitution.RegistryPath, "a: b\n---\nc: d\n")
		}, "agents_registry.yaml:2: holds a second document"},
	} {
		t.Run(name, func(t *testing.T) {
			files := folder(t)
			c.change(files)
			if diff := cmp.Diff([]string{c.want}, faults(t, files)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Everything that is wrong is said at once, in the order of the files.
func TestAllFaultsAreSaidAtOnce(t *testing.T) {
	files := folder(t)
	registry := string(files[constitution.RegistryPath].Data)
	for old, new := range map[string]string{
		"registry: 1.0.0": "registry: one", "priority: 13": "priority: 0", "heavy: 1,": "heavy: 0,", "outputs: [health_report]": "outputs: [gossip]",
		"- worker: Sync": "- worker: JOS-BASE",
	} {
		registry = strings.Replace(registry, old, new, 1)
	}
	put(files, constitution.RegistryPath, registry)
	put(files, "JOS_BASE.md", "---\nid: JOS-BASE\n---\nText\n")
	delete(files, "workers/Bridge.md")
	put(files, constitution.LockPath, "x\n")
	got := faults(t, files)
	for _, want := range []string{
		"JOS_BASE.md:2: the front matter has no version", "the registry's version", "the priority of Memory is 0", "the economy of heavy workers is 0",
		`"gossip" is no type`, "is not a worker: JOS-BASE", "workers/Bridge.md, is not there", "prompts.lock:1: is not a line",
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if !strings.HasPrefix(got[0], "JOS_BASE.md:2") || !strings.HasPrefix(got[len(got)-1], "prompts.lock:1") {
		t.Errorf("the faults are not in order: %q", got)
	}
}
