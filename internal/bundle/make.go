package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// File is a file of a bundle. Path has slashes.
type File struct {
	Path string
	Text []byte
}

// Contract is a contract as it is stored.
type Contract struct {
	Document    contract.Document
	Text        []byte
	Source      Reference // zero for an intent
	ExecutionID string
}

// Source is what a bundle is made of, all of it from one state of the store.
type Source struct {
	At        time.Time
	Intent    contract.ID
	Gate      Reference
	Digest    string
	Covers    []byte
	Released  string
	Commits   Commits
	Decisions []Decision
	Contracts []Contract // every version of every contract of the chain, in chain order
	Replaced  []Replaced
	Records   []int64
	Head      event.Head
}

// Make is the signed files of a bundle, the manifest first. The copy of the log,
// which reaches at least to the head, is not among them.
func Make(src Source, s *auditlog.Signer) ([]File, error) {
	v, err := readCovers(src.Covers)
	if err != nil {
		return nil, fmt.Errorf("read what %s covers: %w", src.Gate, err)
	}
	about := subjects(src.Released, v.DiffHash, src.Digest)
	checkpoint, err := s.Sign(src.Head, src.At, auditlog.Stands)
	if err != nil {
		return nil, err
	}
	m := Manifest{
		MadeAt: contract.At(src.At).String(), IntentID: src.Intent, Gate: src.Gate, Digest: src.Digest, Covers: src.Covers,
		Released: src.Released, Commits: src.Commits, Decisions: append([]Decision{}, src.Decisions...), Files: []Entry{},
		Replaced: append([]Replaced{}, src.Replaced...), Log: Log{Checkpoint: string(checkpoint), Records: append([]int64{}, src.Records...)},
	}
	files := make([]File, 1, len(src.Contracts)+1)
	for _, c := range src.Contracts {
		h := c.Document.Head()
		e := Entry{Kind: h.Kind, Contract: Reference{h.ID, h.Version}, ExecutionID: c.ExecutionID}
		if c.Source != (Reference{}) {
			source := c.Source
			e.Source = &source
		}
		e.Path = nameOf(h.Kind, e.Contract)
		text, err := seal(s, Statement{Type: StatementType, Subject: about, PredicateType: predicateOf(h.Kind), Predicate: c.Text})
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		e.SHA256 = hex.EncodeToString(sum[:])
		m.Files, files = append(m.Files, e), append(files, File{e.Path, text})
	}
	predicate, err := encode(m)
	if err != nil {
		return nil, err
	}
	text, err := seal(s, Statement{Type: StatementType, Subject: about, PredicateType: ManifestType, Predicate: predicate})
	files[0] = File{ManifestName, text}
	return files, err
}

func predicateOf(kind contract.Kind) string {
	if kind == contract.KindEvidence {
		return EvidenceType
	}
	return ContractType
}

func seal(s *auditlog.Signer, st Statement) ([]byte, error) {
	payload, err := st.write()
	if err != nil {
		return nil, err
	}
	return s.Envelope(PayloadType, payload)
}
