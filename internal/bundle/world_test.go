package bundle_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/mod/sumdb/note"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// The files of testdata are two bundles of a service and its log, without their
// signatures: high.jsonl is a manifest and the documents it names, of a chain that
// two people released; low.jsonl one that the Policy Engine released later;
// records.jsonl the records of the log up to the second. The tests sign them.

// service is a service as it signs: honestly, or not.
type service struct {
	signer *auditlog.Signer
	keys   note.Verifiers
	public string
}

func newService(t testing.TB, origin string) service {
	t.Helper()
	private, public, err := auditlog.NewKey(nil, origin)
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auditlog.Keys(public)
	if err != nil {
		t.Fatal(err)
	}
	return service{s, keys, public}
}

// told is what a service says: what it signs a bundle of, and the records of its
// log, oldest first. The log had come to upTo when the bundle was made.
type told struct {
	t testing.TB
	bundle.Source
	records []string
	upTo    int
	from    int // records that were given up before, or left out
	sealed  bool
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		list = append(list, s.Text())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func load(t testing.TB, name string) told {
	t.Helper()
	list := lines(t, name)
	var m bundle.Manifest
	if err := json.Unmarshal([]byte(list[0]), &m); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, m.MadeAt)
	if err != nil {
		t.Fatal(err)
	}
	upTo, err := strconv.Atoi(strings.Split(m.Log.Checkpoint, "\n")[1])
	if err != nil {
		t.Fatal(err)
	}
	s := told{t: t, Source: bundle.Source{
		At: at, Intent: m.IntentID, Gate: m.Gate, Digest: m.Digest, Covers: m.Covers, Released: m.Released, Commits: m.Commits,
		Decisions: m.Decisions, Replaced: m.Replaced, Records: m.Log.Records,
	}, records: lines(t, "records"), upTo: upTo}
	for i, e := range m.Files {
		c := bundle.Contract{Text: []byte(list[i+1]), ExecutionID: e.ExecutionID}
		if c.Document, err = contract.Decode(c.Text); err != nil {
			t.Fatal(err)
		}
		if e.Source != nil {
			c.Source = *e.Source
		}
		s.Contracts = append(s.Contracts, c)
	}
	return s
}

// log is a sealed copy of the log up to its n-th record.
func (s service) log(t testing.TB, w told, n int) ([]byte, event.Head) {
	t.Helper()
	head := event.Genesis(s.signer.Origin())
	chained := []event.Chained{}
	at := head
	for i, text := range w.records {
		head = head.Append([]byte(text))
		chained = append(chained, event.Chained{Text: []byte(text), Link: head.Link})
		if i+1 == w.from {
			at = head
		}
	}
	o := auditlog.Options{From: at, At: w.At}
	if w.sealed {
		seal, err := s.signer.Sign(at, w.At, auditlog.Seals)
		if err != nil {
			t.Fatal(err)
		}
		o.Seal = seal
	}
	var b bytes.Buffer
	x, err := auditlog.NewWriter(&b, s.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chained[w.from:n] {
		if err := x.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(w.At); err != nil {
		t.Fatal(err)
	}
	head = event.Genesis(s.signer.Origin())
	for _, text := range w.records[:w.upTo] {
		head = head.Append([]byte(text))
	}
	return b.Bytes(), head
}

// bundle is what the service hands out.
func (s service) bundle(t testing.TB, w told) fstest.MapFS {
	t.Helper()
	log, head := s.log(t, w, w.upTo)
	w.Head = head
	files, err := bundle.Make(w.Source, s.signer)
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{bundle.LogName: {Data: log}}
	for _, f := range files {
		out[f.Path] = &fstest.MapFile{Data: f.Text}
	}
	return out
}

// copied is a bundle whose files may be changed.
func copied(b fstest.MapFS) fstest.MapFS {
	c := fstest.MapFS{}
	for path, f := range b {
		c[path] = &fstest.MapFile{Data: slices.Clone(f.Data), Mode: f.Mode}
	}
	return c
}

func paths(b fstest.MapFS) []string {
	list := make([]string, 0, len(b))
	for path := range b {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// found checks that a bundle is not good, and that what is named is one of items.
// It answers what is wrong with it.
func found(t failer, what string, b fs.FS, keys note.Verifiers, items ...string) bundle.Kind {
	t.Helper()
	_, err := bundle.Verify(b, keys)
	p, ok := err.(*bundle.Problem) //nolint:errorlint // Verify gives the problem itself
	switch {
	case err == nil:
		t.Errorf("%s: nobody noticed", what)
	case !ok:
		t.Errorf("%s: it could not be read: %v", what, err)
	case p.Kind == "" || p.Msg == "" || !slices.Contains(items, p.Item):
		t.Errorf("%s: %v is named, and not %v", what, p, items)
	default:
		return p.Kind
	}
	return ""
}
