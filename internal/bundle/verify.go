package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/mod/sumdb/note"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// Kind is what is wrong with an item. Beside these there are the kinds of package
// auditlog, of the copy of the log.
type Kind string

// The kinds.
const (
	Malformed    Kind = "malformed"    // it is not as one is written
	Unsigned     Kind = "unsigned"     // no given key signed it
	Changed      Kind = "changed"      // a genuine file, and not the one that belongs here
	Missing      Kind = "missing"      // it is not there
	Added        Kind = "added"        // it is there and does not belong
	Contradicted Kind = "contradicted" // what it says is not what the others say
)

// Problem is the first thing that is wrong with a bundle. Item is a file, or a
// contract.
type Problem struct {
	Kind Kind   `json:"kind"`
	Item string `json:"item"`
	Msg  string `json:"message"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%s: %s: %s", p.Item, p.Kind, p.Msg) }

func bad(k Kind, item, format string, args ...any) error {
	return &Problem{k, item, fmt.Sprintf(format, args...)}
}

// Checked is one thing that was found good, in words.
type Checked struct {
	Item string `json:"item"`
	Said string `json:"said"`
}

// Report is what was found good, in the order in which it was checked: all of the
// bundle when Verify returned no error.
type Report struct {
	Signer   string      `json:"signer,omitempty"` // the origin of the log
	MadeAt   string      `json:"madeAt,omitempty"`
	IntentID contract.ID `json:"intentId,omitempty"`
	Gate     Reference   `json:"gate,omitzero"`
	Released string      `json:"released,omitempty"` // the commit
	DiffHash string      `json:"diffHash,omitempty"`
	Digest   string      `json:"approvalDigest,omitempty"`
	Younger  int         `json:"younger"` // records about these contracts that are younger than the bundle
	Checked  []Checked   `json:"checked"`
}

// checker is a verification under way.
type checker struct {
	fsys fs.FS
	keys note.Verifiers

	report Report
	there  map[string]fs.DirEntry
	m      Manifest
	about  []Subject
	point  auditlog.Checkpoint
	covers approval.Subject

	docs     map[Reference]contract.Document
	entries  map[Reference]Entry
	replaced map[Reference]bool
	ids      map[contract.ID]bool
	gate     *contract.PublishGate
	began    int64    // records of the log that were given up
	records  []record // about the contracts, and of the chain; ascending
}

// Verify checks a bundle. The error is a *Problem, or what reading came to.
func Verify(fsys fs.FS, keys note.Verifiers) (Report, error) {
	c := &checker{
		fsys: fsys, keys: keys, report: Report{Checked: []Checked{}}, there: map[string]fs.DirEntry{},
		docs: map[Reference]contract.Document{}, entries: map[Reference]Entry{}, replaced: map[Reference]bool{}, ids: map[contract.ID]bool{},
	}
	for _, step := range []func() error{
		c.list, c.manifest, c.statements, c.strangers, c.chain, c.agreement, c.log, c.complete, c.known, c.decisions,
	} {
		if err := step(); err != nil {
			return c.report, err
		}
	}
	return c.report, nil
}

func (c *checker) said(item, format string, args ...any) {
	c.report.Checked = append(c.report.Checked, Checked{item, fmt.Sprintf(format, args...)})
}

// list looks what is in the folder. A folder that nobody bounds is read no
// further than a bundle goes.
func (c *checker) list() error {
	for _, dir := range []string{".", contractsDir, evidenceDir} {
		if e := c.there[dir]; dir != "." && (e == nil || !e.IsDir()) {
			continue
		}
		entries, err := c.readDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := e.Name()
			if dir != "." {
				path = dir + "/" + path
			}
			c.there[path] = e
		}
		if len(c.there) > maxFiles+4 {
			return bad(Malformed, dir, "there are more files than in any bundle")
		}
	}
	return nil
}

func (c *checker) readDir(dir string) ([]fs.DirEntry, error) {
	f, err := c.fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: errors.New("it is no folder")}
	}
	entries, err := d.ReadDir(maxFiles + 5)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// open is a file of the bundle. A link is not followed, wherever it leads.
func (c *checker) open(path string) (fs.File, error) {
	e := c.there[path]
	switch {
	case e == nil:
		return nil, bad(Missing, path, "the file is not there")
	case e.Type()&fs.ModeSymlink != 0:
		return nil, bad(Malformed, path, "it is a link, and links are not followed")
	case !e.Type().IsRegular():
		return nil, bad(Malformed, path, "it is no file")
	}
	return c.fsys.Open(path)
}

func (c *checker) read(path string) ([]byte, error) {
	f, err := c.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxEnvelope+1))
	if err == nil && len(text) > maxEnvelope {
		err = bad(Malformed, path, "it is longer than any statement")
	}
	return text, err
}

// statement opens an envelope and the statement in it, and says who signed.
func (c *checker) statement(path string, text []byte) (Statement, string, error) {
	e, err := auditlog.OpenEnvelope(text, c.keys)
	if err != nil {
		return Statement{}, "", bad(Unsigned, path, "%v", err)
	}
	var s Statement
	if e.Type != PayloadType {
		return s, "", bad(Malformed, path, "it holds %q and no in-toto statement", e.Type)
	}
	if err := strict(e.Payload, &s); err != nil || s.Type != StatementType {
		return s, "", bad(Malformed, path, "it holds no in-toto statement")
	}
	return s, e.Signer, nil
}

// manifest reads what the bundle says it is.
func (c *checker) manifest() error {
	text, err := c.read(ManifestName)
	if err != nil {
		return err
	}
	s, signer, err := c.statement(ManifestName, text)
	if err != nil {
		return err
	}
	if s.PredicateType != ManifestType {
		return bad(Changed, ManifestName, "it is a statement of the type %q and no manifest", s.PredicateType)
	}
	if err := strict(s.Predicate, &c.m); err != nil {
		return bad(Malformed, ManifestName, "it does not read as a manifest")
	}
	if len(c.m.Files) > maxFiles || len(c.m.Log.Records) > maxRecords {
		return bad(Malformed, ManifestName, "it names more than any bundle holds")
	}
	if c.point, err = auditlog.Open([]byte(c.m.Log.Checkpoint), c.keys); err != nil {
		return bad(Unsigned, ManifestName, "its checkpoint of the log cannot be trusted: %v", err)
	}
	if c.point.Origin != signer || c.point.Use != auditlog.Stands {
		return bad(Contradicted, ManifestName, "it is signed by %s and has a checkpoint of %s that %s", signer, c.point.Origin, c.point.Use)
	}
	if c.covers, err = readCovers(c.m.Covers); err != nil {
		return bad(Malformed, ManifestName, "what the gate covers does not read")
	}
	c.about = subjects(c.m.Released, c.covers.DiffHash, c.m.Digest)
	if !sameSubjects(s.Subject, c.about) {
		return bad(Contradicted, ManifestName, "it is not about the commit, the change and the agreement it names")
	}
	c.report.Signer, c.report.MadeAt, c.report.IntentID, c.report.Gate = signer, c.m.MadeAt, c.m.IntentID, c.m.Gate
	c.report.Released, c.report.DiffHash, c.report.Digest = c.m.Released, c.covers.DiffHash, c.m.Digest
	c.said("manifest", "signed by %s at %s; it names %d files, and the log at record %d", signer, c.m.MadeAt, len(c.m.Files), c.point.Head.Count)
	return nil
}

func sameSubjects(a, b []Subject) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || len(a[i].Digest) != len(b[i].Digest) {
			return false
		}
		for k, v := range b[i].Digest {
			if a[i].Digest[k] != v {
				return false
			}
		}
	}
	return true
}
