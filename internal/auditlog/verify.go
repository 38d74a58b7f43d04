package auditlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"plimsoll.dev/internal/pipeline/event"
)

// Kind is what is wrong with a copy.
type Kind string

// The kinds.
const (
	Malformed Kind = "malformed" // a line that no Writer writes
	Unsigned  Kind = "unsigned"  // a checkpoint whose signature does not hold
	Changed   Kind = "changed"   // a record that does not follow from those before it: edited, or another in its place
	Missing   Kind = "missing"   // a record is not there, or stands further down
	Repeated  Kind = "repeated"  // a record stands where a later one belongs
	Rewritten Kind = "rewritten" // a chain that holds by itself and is not the one that was signed
	Fork      Kind = "fork"      // a chain that leaves the one a known checkpoint is of
	Truncated Kind = "truncated" // it ends too early
)

// Problem is the first thing that is wrong with a copy. Record is the position
// of the first record that may be bad, counted from 1. Until is the last of
// those of which one is: later than Record only where signatures alone tell
// that something was changed between two of them.
type Problem struct {
	Kind   Kind
	Line   int64
	Record int64
	Until  int64
	Msg    string
}

func (p *Problem) Error() string {
	where := fmt.Sprintf("record %d", p.Record)
	if p.Until > p.Record {
		where = fmt.Sprintf("records %d to %d", p.Record, p.Until)
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, where, p.Msg)
}

// Report is how far a copy is good: all of it when Verify returned no error.
type Report struct {
	Origin      string
	From, To    event.Head
	Sealed      bool      // the records up to From were given up when their time had come
	Opened      time.Time // by the signers' clocks
	Closed      time.Time // zero when it does not come to its end
	Records     int64
	Checkpoints int
	// Reached is how many of the known checkpoints lie in the copy. One that is
	// older than the beginning tells nothing about it.
	Reached int
}

// Verify checks an export offline, in one pass and with every processor. It
// finds a record that was edited, left out, added or moved, a chain that was
// made anew, an end that was cut off, and, with the checkpoints the caller
// remembers, a log that is older than those or another one. The error is a
// *Problem, or what reading r came to.
//
// known must have been read with Open.
func Verify(r io.Reader, keys note.Verifiers, known ...Checkpoint) (Report, error) {
	c := combiner{keys: keys, known: known}
	var stop atomic.Bool
	jobs := make(chan *block, 4*runtime.GOMAXPROCS(0))
	order := make(chan *block, cap(jobs))
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for b := range jobs {
				b.check()
				close(b.done)
			}
		})
	}
	var problem *Problem
	all.Go(func() {
		for b := range order {
			<-b.done
			if problem == nil {
				if problem = c.add(b); problem != nil {
					stop.Store(true)
				}
			}
			free.Put(b.data)
		}
	})
	err := split(r, func(data *[]byte) bool {
		b := &block{data: data, links: len(known) > 0, done: make(chan struct{})}
		jobs <- b
		order <- b
		return !stop.Load()
	})
	close(jobs)
	close(order)
	all.Wait()
	if problem == nil && errors.Is(err, errLongLine) {
		problem = c.problem(Malformed, 1, "the line is longer than any record")
	}
	switch {
	case problem != nil:
		return c.report, problem
	case err != nil:
		return c.report, fmt.Errorf("read the export: %w", err)
	}
	if problem := c.finish(); problem != nil {
		return c.report, problem
	}
	return c.report, nil
}

// Sizes of reading. A record is bounded by the requests it comes from.
const (
	blockSize   = 256 << 10
	longestLine = 8 << 20
)

var (
	errLongLine = errors.New("a line is too long")
	free        = sync.Pool{New: func() any { b := make([]byte, 0, blockSize); return &b }}
)

// split cuts r into blocks that end with a line, except perhaps the last, until
// it ends or more is not wanted.
func split(r io.Reader, each func(*[]byte) bool) error {
	var rest []byte
	for {
		data := free.Get().(*[]byte)
		b := append((*data)[:0], rest...)
		for {
			if len(b) == cap(b) {
				b = append(b, 0)[:len(b)]
			}
			n, err := r.Read(b[len(b):cap(b)])
			b = b[:len(b)+n]
			if errors.Is(err, io.EOF) {
				if *data = b; len(b) > 0 {
					each(data)
				}
				return nil
			}
			if err != nil {
				return err
			}
			if len(b) >= blockSize {
				break
			}
		}
		end := bytes.LastIndexByte(b, '\n') + 1
		if end == 0 && len(b) > longestLine {
			return errLongLine
		}
		rest = append(rest[:0], b[end:]...)
		if *data = b[:end]; end > 0 && !each(data) {
			return nil
		}
	}
}

// combiner puts the blocks together in their order.
type combiner struct {
	keys  note.Verifiers
	known []Checkpoint

	report Report
	lines  int64
	agreed int64 // the last record a signature or a known checkpoint vouches for
	opened bool
	closed bool
}

func (c *combiner) problem(k Kind, line int64, format string, args ...any) *Problem {
	next := c.report.To.Count + 1
	return &Problem{Kind: k, Line: c.lines + line, Record: next, Until: next, Msg: fmt.Sprintf(format, args...)}
}

// between is a problem of which only the signatures around it tell.
func (c *combiner) between(k Kind, line, until int64, format string, args ...any) *Problem {
	p := c.problem(k, line, format, args...)
	p.Record, p.Until = c.agreed+1, max(until, c.agreed+1)
	return p
}

// add takes a checked block.
func (c *combiner) add(b *block) *Problem {
	for i := range b.parts {
		p := &b.parts[i]
		switch {
		case p.note != nil:
			if problem := c.checkpoint(p); problem != nil {
				return problem
			}
		case !c.opened:
			return c.problem(Malformed, p.line, "the export does not begin with a signed checkpoint")
		case c.closed:
			return c.problem(Malformed, p.line, "something follows the end of the export")
		case p.bad != "":
			// The records of the part before it are good.
			return c.problem(p.kind, p.line, "%s", p.bad)
		default:
			if problem := c.records(p); problem != nil {
				return problem
			}
		}
	}
	c.lines += b.lines
	return nil
}

// records takes a run of records that follow from each other; only the first is
// left to be joined to what came before.
func (c *combiner) records(p *part) *Problem {
	if p.from != c.report.To.Count+1 {
		return c.misplaced(p.line, p.from)
	}
	if !follows(c.report.To.Link, p.first, p.firstLink) {
		return c.problem(Changed, p.line, "%s", doesNotFollow)
	}
	c.report.Records += p.last.Count - p.from + 1
	before := c.report.To.Count
	c.report.To = p.last
	for i := range c.known {
		k := &c.known[i]
		if k.Head.Count <= before || k.Head.Count > p.last.Count || k.Origin != c.report.Origin {
			continue
		}
		if p.links[k.Head.Count-p.from] != k.Head.Link {
			return c.between(Fork, p.line, k.Head.Count, "the log goes another way than the known checkpoint of %s", k.At.Format(timeForm))
		}
		c.report.Reached++
	}
	return nil
}

const doesNotFollow = "it does not follow from the records before it"

func (c *combiner) misplaced(line, found int64) *Problem {
	want := c.report.To.Count + 1
	if found > want {
		return c.problem(Missing, line, "record %d stands in its place", found)
	}
	p := c.problem(Repeated, line, "record %d stands in the place of record %d", found, want)
	return p
}

func (c *combiner) checkpoint(p *part) *Problem {
	if c.closed {
		return c.problem(Malformed, p.line, "something follows the end of the export")
	}
	k, err := Open(p.note, c.keys)
	if err != nil {
		return c.between(Unsigned, p.line, c.report.To.Count, "the checkpoint here cannot be trusted: %v", err)
	}
	if !c.opened {
		return c.open(p, k)
	}
	switch {
	case k.Origin != c.report.Origin:
		return c.between(Rewritten, p.line, c.report.To.Count, "the checkpoint here is of the log %s", k.Origin)
	case k.Head.Count > c.report.To.Count:
		return c.problem(Missing, p.line, "the checkpoint here counts %d records", k.Head.Count)
	case k.Head.Count < c.report.To.Count:
		p := c.problem(Repeated, p.line, "the checkpoint of record %d stands behind record %d", k.Head.Count, c.report.To.Count)
		p.Record, p.Until = k.Head.Count+1, c.report.To.Count
		return p
	case k.Head.Link != c.report.To.Link:
		return c.between(Rewritten, p.line, k.Head.Count, "the records up to here are not those that were signed")
	case k.Use != Stands && k.Use != Closes:
		return c.problem(Malformed, p.line, "a checkpoint that %s an export stands in the middle of it", k.Use)
	}
	c.report.Checkpoints++
	c.agreed = k.Head.Count
	if k.Use == Closes {
		c.closed, c.report.Closed = true, k.At
	}
	return nil
}

// open begins with the first checkpoint.
func (c *combiner) open(p *part, k Checkpoint) *Problem {
	if k.Use != Opens && k.Use != Seals {
		return c.problem(Malformed, p.line, "the checkpoint here does not open an export")
	}
	if k.Head.Count == 0 && k.Head != event.Genesis(k.Origin) {
		return c.problem(Rewritten, p.line, "the log does not begin at its genesis")
	}
	c.opened, c.agreed = true, k.Head.Count
	c.report = Report{Origin: k.Origin, From: k.Head, To: k.Head, Sealed: k.Use == Seals, Opened: k.At, Checkpoints: 1}
	for _, known := range c.known {
		switch {
		case known.Origin != k.Origin || known.Head.Count != k.Head.Count:
		case known.Head.Link != k.Head.Link:
			return c.problem(Fork, p.line, "the export begins elsewhere than the known checkpoint of %s", known.At.Format(timeForm))
		default:
			c.report.Reached++
		}
	}
	return nil
}

// finish looks for what should have come.
func (c *combiner) finish() *Problem {
	switch {
	case !c.opened:
		return c.problem(Truncated, 1, "there is no export")
	case !c.closed:
		return c.problem(Truncated, 1, "the export ends without the checkpoint that closes it")
	}
	for _, k := range c.known {
		if k.Origin != c.report.Origin {
			return c.problem(Fork, 1, "the known checkpoint is of the log %s", k.Origin)
		}
		if k.Head.Count > c.report.To.Count {
			p := c.problem(Truncated, 1, "the known checkpoint of %s counts %d records", k.At.Format(timeForm), k.Head.Count)
			p.Until = k.Head.Count
			return p
		}
	}
	return nil
}
