package bundle_test

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/bundle"
)

func TestAGoodBundleIsGood(t *testing.T) {
	s := newService(t, "test.example/log")
	for name, want := range map[string]struct{ gate, decisions string }{
		"high": {"PG-001 version 1", "2 in the gate, the same in the log, in the same order, for this digest; none of them on work of their own"},
		"low":  {"PG-002 version 1", "1 in the gate, the same in the log, in the same order, for this digest; none of them on work of their own"},
	} {
		w := load(t, name)
		r, err := bundle.Verify(s.bundle(t, w), s.keys)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := map[string]string{}
		for _, c := range r.Checked {
			said[c.Item] = c.Said
		}
		if r.Gate.String() != want.gate || r.Released != w.Released || r.Digest != w.Digest || r.Signer != "test.example/log" || said["decisions"] != want.decisions {
			t.Errorf("%s: %+v", name, r)
		}
		for _, item := range []string{"manifest", "contracts", "evidence", "folder", "chain", "agreement", "bytes", "log", "records", "complete", "decisions"} {
			if said[item] == "" {
				t.Errorf("%s: nothing is said of the %s", name, item)
			}
		}
	}
}

// A bit is flipped in every 61st byte of every file, or with PLIMSOLL_EVERY=1 in
// every byte, and the file is named each time.
func TestFlippedBytesAreFound(t *testing.T) {
	s := newService(t, "test.example/log")
	good := s.bundle(t, load(t, "high"))
	step, tried := 61, 0
	if os.Getenv("PLIMSOLL_EVERY") != "" { // a minute and more
		step = 1
	}
	for _, path := range paths(good) {
		b := copied(good)
		data := b[path].Data
		for i := 0; i < len(data); i += step {
			bit := byte(1) << (i % 8)
			data[i] ^= bit
			found(t, path, b, s.keys, path)
			data[i] ^= bit
			tried++
		}
		if _, err := bundle.Verify(b, s.keys); err != nil {
			t.Fatalf("the mutation of %s was not taken back: %v", path, err)
		}
	}
	t.Logf("%d bytes were flipped", tried)
}

// Whatever is done to the files of a bundle is found, and one of the files that
// were touched is named.
func TestEveryMutationIsFound(t *testing.T) {
	s := newService(t, "test.example/log")
	stranger := newService(t, "test.example/log")
	good, other := s.bundle(t, load(t, "high")), s.bundle(t, load(t, "low"))
	foreign := stranger.bundle(t, load(t, "high"))
	list, others := paths(good), paths(other)
	kinds := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		b := copied(good)
		touched := map[string]bool{}
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			path := rapid.SampledFrom(list).Draw(t, "file")
			second := rapid.SampledFrom(list).Draw(t, "second")
			f := b[path]
			if f == nil || b[second] == nil {
				continue
			}
			what := rapid.SampledFrom([]string{
				"byte", "insert", "delete", "cut", "tail", "empty", "append", "drop", "add", "swap", "copy", "rename", "transplant", "signer", "lines",
			}).Draw(t, "what")
			at := rapid.IntRange(0, max(0, len(f.Data)-1)).Draw(t, "at")
			if what != "add" {
				touched[path] = true
			}
			switch what {
			case "byte":
				if len(f.Data) > 0 {
					f.Data[at] ^= rapid.ByteMin(1).Draw(t, "bits")
				}
			case "insert":
				f.Data = slices.Insert(f.Data, at, rapid.Byte().Draw(t, "value"))
			case "delete":
				if len(f.Data) > 0 {
					f.Data = slices.Delete(f.Data, at, at+1)
				}
			case "cut":
				f.Data = f.Data[:at]
			case "tail":
				f.Data = f.Data[at:]
			case "empty":
				f.Data = nil
			case "append":
				f.Data = append(f.Data, rapid.SampledFrom([]string{"\n", " ", "{}", "x"}).Draw(t, "more")...)
			case "drop":
				delete(b, path)
			case "add":
				name := rapid.SampledFrom([]string{"readme", "contracts/x", "contracts/TS-009.v1.dsse.json", "evidence/EV-009.v1.dsse.json", "a/b/c", "evidence/.x"}).Draw(t, "name")
				b[name] = &fstest.MapFile{Data: bytes.Clone(f.Data)}
				touched[name], touched["a"] = true, true
			case "swap":
				b[path], b[second] = b[second], b[path]
				touched[second] = true
			case "copy":
				b[path] = &fstest.MapFile{Data: bytes.Clone(b[second].Data)}
			case "rename":
				b[path+".bak"] = f
				delete(b, path)
				touched[path+".bak"] = true
			case "transplant":
				from := rapid.SampledFrom(others).Draw(t, "of another chain")
				b[path] = &fstest.MapFile{Data: bytes.Clone(other[from].Data)}
				if from == bundle.ManifestName { // which names other files, the first of them
					touched["contracts/IC-002.v1.dsse.json"] = true
				}
			case "signer":
				b[path] = &fstest.MapFile{Data: bytes.Clone(foreign[path].Data)}
			case "lines":
				l := bytes.SplitAfter(f.Data, []byte("\n"))
				i, j := rapid.IntRange(0, len(l)-1).Draw(t, "line"), rapid.IntRange(0, len(l)-1).Draw(t, "other line")
				l[i], l[j] = l[j], l[i]
				f.Data = bytes.Join(l, nil)
			}
			kinds[what]++
		}
		if same(b, good) || onlyYounger(b, good, other) {
			return
		}
		items := []string{}
		for path := range touched {
			items = append(items, path)
		}
		found(t, "mutation", b, s.keys, items...)
	})
	t.Logf("mutations: %v", kinds)
}

func same(a, b fstest.MapFS) bool {
	if len(a) != len(b) {
		return false
	}
	for path, f := range a {
		if b[path] == nil || !bytes.Equal(b[path].Data, f.Data) {
			return false
		}
	}
	return true
}

// onlyYounger says that nothing was done but to put a genuine later copy of the
// same log in the place of the log: that proves the same and more.
func onlyYounger(b, good, other fstest.MapFS) bool {
	if b[bundle.LogName] == nil || !bytes.Equal(b[bundle.LogName].Data, other[bundle.LogName].Data) {
		return false
	}
	c := copied(b)
	c[bundle.LogName] = good[bundle.LogName]
	return same(c, good)
}

// Everything of one file re-signed, and everything of all of them.
func TestAnotherSignerIsFound(t *testing.T) {
	s, stranger := newService(t, "test.example/log"), newService(t, "test.example/log")
	good, foreign := s.bundle(t, load(t, "high")), stranger.bundle(t, load(t, "high"))
	if kind := found(t, "all of it", foreign, s.keys, bundle.ManifestName); kind != bundle.Unsigned {
		t.Errorf("all of it: %v", kind)
	}
	both, err := auditlog.Keys(s.public, newService(t, "other.example/log").public)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths(good) {
		b := copied(good)
		b[path] = foreign[path]
		if kind := found(t, path, b, both, path); kind != bundle.Unsigned {
			t.Errorf("%s: %v", path, kind)
		}
	}
	// Two services that are both trusted do not vouch for each other.
	friend := newService(t, "friend.example/log")
	trusted, err := auditlog.Keys(s.public, friend.public)
	if err != nil {
		t.Fatal(err)
	}
	theirs := friend.bundle(t, load(t, "high"))
	if _, err := bundle.Verify(theirs, trusted); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths(good)[1:] {
		b := copied(good)
		b[path] = theirs[path]
		items := []string{path}
		if path == bundle.ManifestName { // it trusts the friend, and all others are ours
			items = append(items, "contracts/IC-001.v1.dsse.json")
		}
		found(t, "friend "+path, b, trusted, items...)
	}
	b := copied(good)
	b[bundle.LogName] = theirs[bundle.LogName]
	found(t, "friend's log", b, trusted, bundle.LogName)
}

// Statements of another chain of the same service, and its log at another time.
func TestTransplantsAreFound(t *testing.T) {
	s := newService(t, "test.example/log")
	high, low := s.bundle(t, load(t, "high")), s.bundle(t, load(t, "low"))
	for _, to := range paths(high) {
		for _, from := range paths(low) {
			if to == bundle.LogName && from == bundle.LogName {
				continue
			}
			b := copied(high)
			b[to] = low[from]
			items := []string{to}
			if to == bundle.ManifestName && from == bundle.ManifestName {
				items = []string{"contracts/IC-002.v1.dsse.json"} // the other manifest names other files
			}
			found(t, from+" as "+to, b, s.keys, items...)
		}
	}
	b := copied(low)
	b[bundle.LogName] = high[bundle.LogName]
	if kind := found(t, "an older log", b, s.keys, bundle.LogName); kind != bundle.Kind(auditlog.Truncated) {
		t.Errorf("an older log: %v", kind)
	}
	b = copied(high)
	b[bundle.LogName] = low[bundle.LogName]
	r, err := bundle.Verify(b, s.keys)
	if err != nil || r.Younger != 0 {
		t.Errorf("a younger log: %+v, %v", r, err)
	}
}

// What a hostile folder holds besides files.
func TestAHostileFolderIsNotFollowed(t *testing.T) {
	s := newService(t, "test.example/log")
	good := s.bundle(t, load(t, "high"))
	for _, path := range paths(good) {
		for name, f := range map[string]*fstest.MapFile{
			"link":   {Data: []byte("../elsewhere"), Mode: fs.ModeSymlink | 0o777},
			"pipe":   {Mode: fs.ModeNamedPipe},
			"device": {Mode: fs.ModeDevice},
			"folder": {Mode: fs.ModeDir | 0o700},
		} {
			b := copied(good)
			b[path] = f
			if kind := found(t, name+" as "+path, b, s.keys, path); kind != bundle.Malformed {
				t.Errorf("%s as %s: %v", name, path, kind)
			}
		}
	}
	b := copied(good)
	b["contracts/TS-001.v1.dsse.json"].Data = bytes.Repeat([]byte("x"), 17<<20)
	found(t, "a long file", b, s.keys, "contracts/TS-001.v1.dsse.json")
	b = copied(good)
	b["evidence"] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777}
	for path := range b {
		if len(path) > 9 && path[:9] == "evidence/" {
			delete(b, path)
		}
	}
	found(t, "a folder that is a link", b, s.keys, "evidence/EV-001.v1.dsse.json")
	found(t, "an empty folder", fstest.MapFS{}, s.keys, bundle.ManifestName)
}
