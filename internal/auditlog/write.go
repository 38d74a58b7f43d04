package auditlog

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline/event"
)

// The two kinds of lines of an export, in their one spelling.
//
//	{"checkpoint":"<signed note>"}
//	{"link":"<64 hex digits>","position":<n>,"record":<the bytes that are hashed>}
const (
	checkpointOpen = `{"checkpoint":`
	linkOpen       = `{"link":"`
	positionOpen   = `","position":`
	recordOpen     = `,"record":`
)

// Options is what a Writer needs besides the signer.
type Options struct {
	From event.Head // where the export begins; the genesis of the origin for all of it
	At   time.Time  // when it begins
	// Every is how many records follow on each other without a checkpoint
	// between them, 0 for 1000: how closely a log that was rewritten from some
	// record on tells from which.
	Every int
	// Seal is the note that says that the records up to From were given up; nil
	// when they are only left out.
	Seal []byte
}

const defaultEvery = 1000

// Writer writes an export. It follows the chain itself and refuses to sign what
// does not hold.
type Writer struct {
	w      *bufio.Writer
	signer *Signer
	head   event.Head
	every  int
	since  int
	at     time.Time
	line   []byte
}

// NewWriter begins an export.
func NewWriter(w io.Writer, s *Signer, o Options) (*Writer, error) {
	if o.From.Count == 0 && o.From != event.Genesis(s.origin) {
		return nil, errors.New("the export begins at the genesis of another log")
	}
	x := &Writer{w: bufio.NewWriterSize(w, 64<<10), signer: s, head: o.From, every: o.Every, at: o.At}
	if x.every <= 0 {
		x.every = defaultEvery
	}
	if o.Seal != nil {
		return x, x.note(o.Seal)
	}
	return x, x.sign(o.At, Opens)
}

// Add writes the next record.
func (x *Writer) Add(c event.Chained) error {
	next := x.head.Append(c.Text)
	if next.Link != c.Link {
		return fmt.Errorf("audit record %d does not follow from the %d before it; the log was changed where it is stored", next.Count, x.head.Count)
	}
	if x.since == x.every {
		if err := x.sign(x.at, Stands); err != nil {
			return err
		}
	}
	x.head = next
	x.since++
	x.line = appendRecord(x.line[:0], next.Count, c)
	_, err := x.w.Write(x.line)
	return err
}

func appendRecord(b []byte, position int64, c event.Chained) []byte {
	b = append(b, linkOpen...)
	b = hex.AppendEncode(b, c.Link[:])
	b = append(b, positionOpen...)
	b = strconv.AppendInt(b, position, 10)
	b = append(b, recordOpen...)
	b = append(b, c.Text...)
	return append(b, "}\n"...)
}

// Head is how far the export has come.
func (x *Writer) Head() event.Head { return x.head }

// Close ends the export with a checkpoint that says so. An export without it is
// cut off.
func (x *Writer) Close(at time.Time) error {
	if err := x.sign(at, Closes); err != nil {
		return err
	}
	return x.w.Flush()
}

func (x *Writer) sign(at time.Time, u Use) error {
	text, err := x.signer.Sign(x.head, at, u)
	if err != nil {
		return err
	}
	x.since = 0
	return x.note(text)
}

func (x *Writer) note(text []byte) error {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return err
	}
	_, err = x.w.WriteString(checkpointOpen + string(quoted) + "}\n")
	return err
}
