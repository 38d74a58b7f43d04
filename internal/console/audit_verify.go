package console

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// The log is verified where it lies: every record is hashed again behind the one
// before it, from where the log begins to where it stood when the verification
// began. The page tells how far it came and ends in one sentence.

const (
	verifyBatch = 2000                   // records in memory at once
	verifySays  = 500 * time.Millisecond // how often it tells how far it is
)

// proofs is who has the log verified now: each person once.
type proofs struct {
	mu   sync.Mutex // guards open
	open map[contract.ActorID]bool
}

func (p *proofs) begin(who contract.ActorID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[who] {
		return false
	}
	if p.open == nil {
		p.open = map[contract.ActorID]bool{}
	}
	p.open[who] = true
	return true
}

func (p *proofs) end(who contract.ActorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, who)
}

// verifyData is the page.
type verifyData struct {
	Running bool
	Count   int64
	Signed  bool // there is a key, so a checkpoint can be held against the log
	Known   string
}

// verifyProgress is one line of it.
type verifyProgress struct {
	Records, Of int64
	At          time.Time // of the record that was hashed last
}

// What is wrong with a log.
const (
	badChanged   = "changed"   // a record does not follow from those before it
	badMissing   = "missing"   // a record is not there
	badEnd       = "end"       // the last record is not the one the log says it ends with
	badSeal      = "seal"      // where it begins is not what was signed
	badFork      = "fork"      // it goes another way than a checkpoint somebody remembers
	badTruncated = "truncated" // it is shorter than that
)

// verdict is how it ended.
type verdict struct {
	Records     int64
	From, To    int64
	First, Last time.Time
	Sealed      bool // it begins behind records that were given up
	Link        string
	Bad         string // what is wrong, "" for nothing
	Record      int64  // the first bad one
	Shown       bool   // it has a page
	Known       *auditlog.Checkpoint
	Reached     bool   // the checkpoint of the person lies in it, and agrees
	Checkpoint  string // signed, of what was found good; "" without a key or with something bad
	Took        time.Duration
}

func (c *Console) verifyPage(v *visit) (page, error) {
	if err := v.audits("audit.export"); err != nil {
		return page{}, err
	}
	head, err := c.conf.Contracts.AuditHead(v.r.Context())
	if err != nil {
		return page{}, err
	}
	return c.verifyShown(v, &verifyData{Count: head.Count, Signed: c.conf.Signer != nil}), nil
}

func (c *Console) verifyShown(v *visit, d *verifyData) page {
	return page{name: "verify", title: "verify.title", data: d, trail: []crumb{{"/audit", c.sheets[v.lang].words.say("audit.title")}}}
}

// verifyAudit is the verification. The page is sent while it goes on.
func (c *Console) verifyAudit(v *visit) (page, error) {
	if err := v.audits("audit.export"); err != nil {
		return page{}, err
	}
	var known *auditlog.Checkpoint
	if text := strings.TrimSpace(strings.ReplaceAll(v.form("known"), "\r", "")); text != "" && c.conf.Signer != nil {
		k, err := auditlog.Open([]byte(text+"\n"), c.conf.Signer.Keys())
		if err != nil {
			return page{}, &notice{status: http.StatusUnprocessableEntity, title: "verify.no_checkpoint", words: "verify.no_checkpoint_how"}
		}
		known = &k
	}
	head, err := c.conf.Contracts.AuditHead(v.r.Context())
	if err != nil {
		return page{}, err
	}
	who := v.me()
	if !c.proofs.begin(who) {
		return page{}, &notice{status: http.StatusConflict, title: "verify.busy", words: "verify.busy_how"}
	}
	p := c.verifyShown(v, &verifyData{Running: true, Count: head.Count, Signed: c.conf.Signer != nil, Known: v.form("known")})
	p.pour = func(send func(string, any) error) error {
		out, err := c.verify(v.r.Context(), head, known, func(now verifyProgress) error { return send("progress", now) })
		if err != nil {
			return err
		}
		return send("verdict", out)
	}
	p.done = func() { c.proofs.end(who) }
	return p, nil
}

// verify follows the log to where it stood. tell hears how far it is.
func (c *Console) verify(ctx context.Context, goal event.Head, known *auditlog.Checkpoint, tell func(verifyProgress) error) (*verdict, error) {
	began := time.Now()
	from, seal, err := c.conf.Contracts.AuditSeal(ctx)
	if err != nil {
		return nil, err
	}
	out := &verdict{From: from.Count + 1, To: from.Count, Sealed: seal != nil, Known: known}
	at := from
	bad := func(kind string, record int64, shown bool) (*verdict, error) {
		out.Bad, out.Record, out.Shown = kind, record, shown
		out.To, out.Records, out.Link, out.Took = at.Count, at.Count-from.Count, at.Link.String(), time.Since(began)
		return out, nil
	}
	if seal != nil && c.conf.Signer != nil {
		if k, err := auditlog.Open(seal, c.conf.Signer.Keys()); err != nil || k.Head != from {
			return bad(badSeal, from.Count+1, true)
		}
	}
	for told := began; at.Count < goal.Count; {
		lines, err := c.conf.Contracts.AuditList(ctx, at.Count, pipeline.AuditFilter{}, int(min(verifyBatch, goal.Count-at.Count)))
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			return bad(badMissing, at.Count+1, false)
		}
		for _, l := range lines {
			if l.Position != at.Count+1 {
				return bad(badMissing, at.Count+1, false)
			}
			next := at.Append(l.Text)
			if next.Link != l.Link {
				return bad(badChanged, next.Count, true)
			}
			if known != nil && known.Head.Count == next.Count {
				if known.Head.Link != next.Link {
					return bad(badFork, next.Count, true)
				}
				out.Reached = true
			}
			at = next
		}
		if out.Last = instantOf(lines[len(lines)-1]); out.First.IsZero() {
			out.First = instantOf(lines[0])
		}
		if now := time.Now(); now.Sub(told) >= verifySays || told.Equal(began) {
			told = now
			if err := tell(verifyProgress{Records: at.Count, Of: goal.Count, At: out.Last}); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case at.Link != goal.Link:
		return bad(badEnd, at.Count, true)
	case known != nil && known.Head.Count > at.Count:
		return bad(badTruncated, at.Count+1, false)
	case known != nil && known.Head == from:
		out.Reached = true
	}
	out.To, out.Records, out.Link, out.Took = at.Count, at.Count-from.Count, at.Link.String(), time.Since(began)
	if c.conf.Signer != nil {
		text, err := c.conf.Signer.Sign(at, c.conf.Now(), auditlog.Stands)
		if err != nil {
			return nil, err
		}
		out.Checkpoint = string(text)
	}
	return out, nil
}

func instantOf(l pipeline.AuditLine) time.Time {
	at, _ := contract.ParseTimestamp(recordOf(l).Timestamp)
	return at.Time()
}
