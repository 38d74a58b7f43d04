package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/contract"
)

// record is what the check reads of an audit record.
type record struct {
	Position int64 `json:"-"`

	ID            contract.ID
	Version       int64
	ActorID       contract.ActorID
	Role          contract.Role
	Action        string
	Success       bool
	To            string
	RiskLevel     contract.Level
	Digest        string `json:"approvalDigest"`
	BaseCommit    string
	HeadCommit    string
	CorrelationID string
	IntentID      contract.ID
	SelfApproved  bool     `json:"self_approved"`
	Decision      *decided `json:"approvalDecision"`
}

type decided struct {
	Role      contract.Role
	ActorID   contract.ActorID
	Decision  contract.Decision
	DecidedAt string
	Reason    *string
}

func (r record) ref() Reference { return Reference{r.ID, r.Version} }

// of says whether r is a record of the chain of an intent. It names the intent,
// unless the correlation id is the intent's own.
func (r record) of(intent contract.ID) bool {
	return r.IntentID == intent || r.IntentID == "" && r.CorrelationID == string(intent)
}

func (r record) name() string { return LogName + " record " + strconv.FormatInt(r.Position, 10) }

// log checks the copy of the log: that it holds from its beginning to its end,
// and reaches the checkpoint the manifest was signed with. The records about the
// contracts are taken out of the very bytes that are checked.
func (c *checker) log() error {
	f, err := c.open(LogName)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	intent := strconv.Quote(string(c.m.IntentID))
	out := &sieve{ids: c.ids, chain: [][]byte{[]byte(`"correlationId":` + intent), []byte(`"intentId":` + intent)}}
	report, err := auditlog.Verify(io.TeeReader(f, out), c.keys, c.point)
	if p, ok := errors.AsType[*auditlog.Problem](err); ok {
		return &Problem{Kind(p.Kind), LogName, p.Error()}
	}
	if err != nil {
		return err
	}
	switch {
	case report.Origin != c.report.Signer:
		return bad(Contradicted, LogName, "it is the log %s, and the manifest is signed by %s", report.Origin, c.report.Signer)
	case report.Reached != 1:
		return bad(Contradicted, LogName, "it does not hold the checkpoint in the manifest")
	case report.From.Count != 0 && !report.Sealed:
		return bad(Kind(auditlog.Truncated), LogName, "it begins behind record %d, and the records before were not given up", report.From.Count)
	case out.over:
		return bad(Malformed, LogName, "it holds more about these contracts than anybody reads")
	}
	c.began = report.From.Count
	for _, line := range out.lines {
		var l struct {
			Link     string
			Position int64
			Record   record
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return bad(Malformed, LogName, "a record about these contracts does not read")
		}
		l.Record.Position = l.Position
		if c.ids[l.Record.ID] || l.Record.of(c.m.IntentID) {
			c.records = append(c.records, l.Record)
		}
	}
	began := "from its genesis"
	if report.Sealed {
		began = "from a signed seal"
	}
	c.said("log", "%s: records %d to %d follow from each other %s, pass the checkpoint in the manifest and end with a signed one",
		report.Origin, report.From.Count+1, report.To.Count, began)
	return nil
}

// known holds the records about the contracts against those the manifest names:
// none may be left out on either side.
func (c *checker) known() error {
	named := c.m.Log.Records
	for i, n := range named {
		if n < 1 || n > c.point.Head.Count || i > 0 && n <= named[i-1] {
			return bad(Malformed, ManifestName, "its list of records does not count up")
		}
	}
	found := 0
	for _, r := range c.records {
		if !c.ids[r.ID] {
			continue
		}
		if r.Position > c.point.Head.Count {
			c.report.Younger++
			continue
		}
		if found == len(named) || named[found] > r.Position {
			return bad(Added, r.name(), "it is about %s, and the manifest does not name it", r.ID)
		}
		if named[found] < r.Position {
			break
		}
		found++
	}
	if found < len(named) {
		return bad(Missing, record{Position: named[found]}.name(), "the manifest names it, and it is not in the log as a record about these contracts")
	}
	c.said("records", "%d records are about these contracts: all of them, and no other, are named in the manifest", found)
	return nil
}

// complete holds the contracts against the log: what it says was made is here,
// and what is here was made.
func (c *checker) complete() error {
	made, seen := map[contract.ID]bool{}, map[Reference]bool{}
	for _, r := range c.records {
		if !r.Success || r.Position > c.point.Head.Count || !r.ID.Valid() || r.Version < 1 {
			continue
		}
		if r.Action == "contract.create" {
			made[r.ID] = true
		}
		seen[r.ref()] = true
		if c.docs[r.ref()] == nil && !c.replaced[r.ref()] {
			return bad(Missing, nameOf(r.ID.Kind(), r.ref()), "%s is about it, and it is not in the bundle", r.name())
		}
	}
	for _, e := range c.m.Files {
		if !made[e.Contract.ID] || !seen[e.Contract] {
			if c.began > 0 {
				return bad(Missing, e.Path, "the log, which begins behind record %d, does not know that %s was made; the records may have been given up", c.began, e.Contract)
			}
			return bad(Contradicted, e.Path, "the log does not know that %s was made", e.Contract)
		}
	}
	c.said("complete", "every contract of %s that the log knows is here, and the log knows every one that is here", c.m.IntentID)
	return nil
}

// sieve keeps the lines of a log that may be about the contracts. It reads what
// was not checked yet: what it keeps is looked at when all of it is.
type sieve struct {
	ids   map[contract.ID]bool
	chain [][]byte // the members that name the chain

	rest  []byte
	lines [][]byte
	size  int
	over  bool
}

// Write takes the next bytes of the log. It fails never: what is too much is
// dropped, and over says so.
func (s *sieve) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, after, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			break
		}
		if len(s.rest) > 0 {
			line = append(s.rest, line...)
			s.rest = s.rest[:0]
		}
		s.line(line)
		b = after
	}
	if len(s.rest)+len(b) > maxEnvelope { // the log itself is refused for such a line
		s.rest, s.over = s.rest[:0], true
		return n, nil
	}
	s.rest = append(s.rest, b...)
	return n, nil
}

func (s *sieve) line(line []byte) {
	if s.over || !s.wanted(line) {
		return
	}
	if s.size += len(line); s.size > maxKept {
		s.lines, s.over = nil, true
		return
	}
	s.lines = append(s.lines, slices.Clone(line))
}

// wanted looks for the members a record would name the contracts with. A quote
// inside a text is escaped, so they are members wherever they stand.
func (s *sieve) wanted(line []byte) bool {
	for _, member := range s.chain {
		if bytes.Contains(line, member) {
			return true
		}
	}
	for rest := line; ; {
		_, after, found := bytes.Cut(rest, []byte(`"id":"`))
		if !found {
			return false
		}
		id, _, _ := bytes.Cut(after, []byte(`"`))
		if s.ids[contract.ID(id)] {
			return true
		}
		rest = after
	}
}
