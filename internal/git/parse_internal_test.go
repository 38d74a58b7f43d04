package git

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // what git's ids are made of
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/diff"
)

// What git prints is read field by field. A listing is understood in full or
// refused; nothing in it makes the reader panic, and no name gets lost.

func FuzzStatus(f *testing.F) {
	const id = "df967b96a579e45a18b8251732d16804b2e56a55"
	f.Add([]byte("# branch.oid " + id + "\x001 .M N... 100644 100644 100644 " + id + " " + id + " a b\x00"))
	f.Add([]byte("u UU N... 100644 100644 100644 100644 " + id + " " + id + " " + id + " f\x00"))
	f.Add([]byte("# branch.oid (initial)\x00"))
	f.Add([]byte("1 .M\x002 R. x\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		st := &status{}
		err := fields(bufio.NewReader(bytes.NewReader(out)), st.add)
		if err != nil {
			return
		}
		want := 0
		for field := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			if len(field) > 0 && field[0] != '#' {
				want++
			}
		}
		if got := len(st.changes); got != want {
			t.Errorf("%d entries of %d", got, want)
		}
		for _, c := range st.changes {
			if c.path == "" {
				t.Error("an entry without a path")
			}
		}
	})
}

func FuzzTracked(f *testing.F) {
	f.Add([]byte("H 100644 df967b96a579e45a18b8251732d16804b2e56a55 0\ta\tb"))
	f.Add([]byte("h 120000 00 3\t\xff"))
	f.Add([]byte("H 100644 0 0\t"))
	f.Add([]byte("\xda   0\t0"))
	f.Fuzz(func(t *testing.T, field []byte) {
		e, ok := parseTracked(field)
		if !ok {
			return
		}
		if again := fmt.Sprintf("%s %s %s %s\t%s", []byte{e.tag}, e.mode, e.id, []byte{e.stage}, e.path); again != string(field) {
			t.Errorf("%q was read as %q", field, again)
		}
	})
}

func FuzzPatch(f *testing.F) {
	const zero, one, two = "0000000000000000000000000000000000000000", "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	body := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ func\n-a\n+b\n"
	f.Add([]byte(":100644 100644 " + one + " " + two + " M\x00x\x00\x00" + body))
	f.Add([]byte(":100644 100644 " + one + " " + zero + " M\x00y\x00:100644 100644 " + one + " " + two + " M\x00x\x00\x00" + body))
	f.Add([]byte(":100644 100644 " + one + " " + one + " R100\x00a\x00b\x00\x00diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"))
	f.Add([]byte(":100644 000000 " + one + " " + zero + " U\x00x\x00\x00* Unmerged path x\n"))
	f.Add([]byte(":100644 120000 " + one + " " + two + " T\x00x\x00\x00diff --git a/x b/x\ndeleted file mode 100644\ndiff --git a/x b/x\nnew file mode 120000\n"))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, out []byte) {
		p, err := readPatch(bufio.NewReader(bytes.NewReader(bytes.Clone(out))))
		if err != nil {
			return
		}
		listed := map[string]bool{"": true}
		for _, e := range p.entries {
			listed[e.oldName], listed[e.newName] = true, true
		}
		if len(p.records) != len(p.texts) {
			t.Fatalf("%d records, %d texts", len(p.records), len(p.texts))
		}
		for i := range p.records {
			if r := &p.records[i]; !listed[r.OldName] || !listed[r.NewName] {
				t.Errorf("a record names what is not listed: %q %q", r.OldName, r.NewName)
			}
			if !bytes.HasPrefix(p.texts[i], []byte("diff --git ")) {
				t.Errorf("a text that is no record: %q", p.texts[i])
			}
		}
	})
}

// Cutting what was cut changes nothing, so that a subject has one digest.
func FuzzSplitRecords(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\n@@ -1 +1 @@ func\n-a\n+b\n* Unmerged path z\ndiff --git a/y b/y\n@@ -1 +1 @@ x @@\n"))
	f.Add([]byte("* Unmerged path a\ndiff --git a/x b/x"))
	f.Add([]byte("diff --git a/x b/x\n@@ -1 +1 @@"))
	f.Fuzz(func(t *testing.T, body []byte) {
		texts := splitRecords(bytes.Clone(body))
		joined := bytes.Join(texts, nil)
		if len(joined) > len(body) {
			t.Fatal("there is more text than before")
		}
		again := splitRecords(bytes.Clone(joined))
		if !slices.EqualFunc(texts, again, bytes.Equal) {
			t.Errorf("%q became %q", texts, again)
		}
		for _, text := range texts {
			if records := diff.Parse(text); len(records) != 1 {
				t.Errorf("%d records in %q", len(records), text)
			}
		}
	})
}

func FuzzTree(f *testing.F) {
	id := bytes.Repeat([]byte{7}, 20)
	f.Add(slices.Concat([]byte("100644 a\x00"), id, []byte("40000 b\x00"), id))
	f.Add([]byte("100644 a"))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha1.Sum(data) //nolint:gosec // any id of this length
		entries, err := parseTree(&object{id: hex.EncodeToString(sum[:]), kind: "tree", data: data})
		if err != nil {
			return
		}
		for name, e := range entries {
			if len(e.id) != 40 || strings.Contains(name, "\x00") {
				t.Errorf("entry %q %+v", name, e)
			}
			short := strings.TrimPrefix(e.mode, "0")
			if !bytes.Contains(data, []byte(short+" "+name+"\x00")) {
				t.Errorf("entry %q is not in the tree", name)
			}
		}
	})
}

// Every driver that the configuration names is emptied, whatever its name.
func FuzzFilterDrivers(f *testing.F) {
	f.Add("lfs")
	f.Add("")
	f.Add("a.b=c")
	f.Add("clean")
	f.Fuzz(func(t *testing.T, driver string) {
		if strings.ContainsAny(driver, "\x00\n") {
			return // no name of a section holds these
		}
		keys := "core.bare\x00filter.clean\x00filter." + driver + ".clean\x00filter." + driver + ".required\x00"
		if got := filterDrivers([]byte(keys)); !slices.Equal(got, []string{driver}) {
			t.Fatalf("got %q", got)
		}
		env := newRunner("/x", nil, []string{driver}).env
		for _, key := range []string{"clean", "smudge", "process", "required"} {
			if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasSuffix(kv, "=filter."+driver+"."+key) }) {
				t.Errorf("%s is not set", key)
			}
		}
	})
}

func FuzzLFSPointer(f *testing.F) {
	sum := strings.Repeat("ab", 32)
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\next-0-x sha256:1\noid sha256:" + sum + "\nsize 12\n"))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + sum + "\nsize -1\n"))
	f.Fuzz(func(t *testing.T, blob []byte) {
		sum, size, ok := lfsPointer(blob)
		if ok && (size < 0 || len(sum) != 64 || !bytes.Contains(blob, []byte("\noid sha256:"+sum+"\nsize "))) {
			t.Errorf("%q is a pointer to %q, %d", blob, sum, size)
		}
	})
}

func FuzzShown(f *testing.F) {
	f.Add("fatal: '/home/x/my repo/.git' is /no/repo")
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		const root = "/home/x/my repo"
		got := shown(root, text)
		if len(got) > stderrShown || !utf8.ValidString(got) || strings.Contains(got, root) || strings.ContainsAny(got, "\n\r\t\x1b\u202e") {
			t.Errorf("%q is shown as %q", text, got)
		}
		if masked := maskPaths(text); strings.HasPrefix(masked, "/") || strings.Contains(masked, " /") {
			t.Errorf("%q keeps a path: %q", text, masked)
		}
	})
}

// The hash of a file on disk with its CRs before LFs left out is that of the
// text with LFs, wherever the blocks that it is read in end.
func TestLineEndsAreDroppedAcrossBlocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(rapid.StringMatching("[a\r\n]{0,40}").Draw(rt, "text"))
		want := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		for _, drop := range []bool{true, false} {
			h := &recorded{Buffer: &bytes.Buffer{}}
			w := &crlfCounter{next: h, drop: drop}
			for rest := text; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "block")
				w.write(rest[:n])
				rest = rest[n:]
			}
			w.flush()
			if !drop {
				want = text
			}
			if !bytes.Equal(h.Bytes(), want) || w.pairs != int64(bytes.Count(text, []byte("\r\n"))) {
				rt.Fatalf("%q became %q, %d pairs", text, h.Bytes(), w.pairs)
			}
		}
	})
}

// recorded is a hash that keeps what it is given.
type recorded struct{ *bytes.Buffer }

func (recorded) Sum(b []byte) []byte { return b }
func (recorded) Size() int           { return 0 }
func (recorded) BlockSize() int      { return 1 }

// Links are followed as the operating system follows them, or not at all.
func TestLinksAreFollowedAsTheSystemFollowsThem(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(rt *rapid.T) {
		root := filepath.Join(t.TempDir(), "root")
		for range rapid.IntRange(1, 10).Draw(rt, "entries") {
			p := filepath.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "path")...)
			full := filepath.Join(root, p)
			if !plainFolder(root, filepath.Dir(p)) {
				continue
			}
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				os.Mkdir(full, 0o755) //nolint:errcheck // something may lie there
			case 1:
				os.WriteFile(full, nil, 0o644) //nolint:errcheck // something may lie there
			default:
				up := strings.Repeat("../", rapid.IntRange(0, 3).Draw(rt, "up"))
				down := filepath.Join(rapid.SliceOfN(names, 0, 3).Draw(rt, "down")...)
				os.Symlink(up+down, full) //nolint:errcheck // something may lie there
			}
		}
		v := diskView{disk: newDisk(root), sparse: newOverlay()}
		realRoot, err := filepath.EvalSymlinks(root)
		if err != nil {
			return
		}
		for range 10 {
			p := strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "resolved"), "/")
			res, err := resolve(v, p, nil)
			if err != nil {
				rt.Fatal(err)
			}
			real, err := filepath.EvalSymlinks(filepath.Join(root, p))
			rel, inside := relative(realRoot, real)
			if rel == "." {
				rel = ""
			}
			switch res.outcome {
			case plain, linked, folder:
				if err != nil || !inside || rel != res.end {
					rt.Errorf("%s: ends at %q, the system at %q (%v)", p, res.end, real, err)
				}
				if (res.outcome == linked) != (res.through() && res.outcome != folder) {
					rt.Errorf("%s: %v through %q", p, res.outcome, res.via)
				}
			case nothing, dangling:
				if err == nil {
					rt.Errorf("%s: leads nowhere, but the system finds %q", p, real)
				}
			case refused:
				if err == nil && inside && len(res.via) <= maxHops && !leavesRoot(root, p) {
					rt.Errorf("%s: refused, but the system finds %q", p, real)
				}
			}
		}
	})
}

// plainFolder makes a folder below root, but not through links.
func plainFolder(root, dir string) bool {
	full := root
	for _, name := range append([]string{"."}, strings.Split(dir, string(filepath.Separator))...) {
		full = filepath.Join(full, name)
		os.Mkdir(full, 0o755) //nolint:errcheck // it may be there
		if info, err := os.Lstat(full); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// leavesRoot says whether some link above or at p climbs over the root, which is
// refused even where it comes back.
func leavesRoot(root, p string) bool {
	climbs := false
	filepath.WalkDir(root, func(full string, d os.DirEntry, err error) error { //nolint:errcheck // a look is enough
		if text, err := os.Readlink(full); err == nil {
			target := filepath.Join(filepath.Dir(full), text)
			_, inside := relative(root, target)
			climbs = climbs || !inside
		}
		return nil
	})
	return climbs && p != ""
}
