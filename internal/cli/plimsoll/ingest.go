package plimsoll

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/ingest"
)

// batch is how many bytes of lines go in one request, and pace how often a file
// that is followed is looked at.
const (
	batch = 4 << 20
	pace  = 300 * time.Millisecond
)

func evidenceIngest(s *session) *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "ingest FILE", Short: "Take Evidence in from JSON Lines; - reads stdin", Args: cobra.ExactArgs(1),
		Long: `ingest reads JSON Lines, as the evidence plugin of workflow-cookbook's StructuredLogger appends
them, and says line by line what became of each: accepted, duplicate, refused, deferred (the
last line is not finished) or skipped (a log line that is no Evidence). A bad line never stops
the next one. What was taken in before is a duplicate, so a file may be read again.

With --follow it goes on as the file grows, over rotations and while the service is away,
until it is interrupted. A last line without its line end waits for the rest.

examples/workflow-cookbook holds a configuration of the plugin.

Exit codes: 0 no line was refused, 1 some were, 3 the service does not answer.`,
		Example: "  plimsoll evidence ingest evidence.jsonl\n  plimsoll evidence ingest --follow evidence.jsonl",
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			i := &intake{session: s, client: cl, follows: follow}
			switch {
			case follow && args[0] == "-":
				return usage("stdin is read to its end in any case; --follow is for a file")
			case follow:
				err = i.follow(c.Context(), s.env.abs(args[0]))
			default:
				err = i.whole(c.Context(), args[0])
			}
			if err == nil && i.sum.Summary.Refused > 0 {
				err = &exit{exitNo}
			}
			return err
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on as the file grows")
	return c
}

// intake takes a file in, some lines at a time.
type intake struct {
	*session
	client  *client
	follows bool

	lines int           // of the file that are dealt with
	at    int64         // where the next line begins
	sum   api.Ingestion // of everything, without the lines when the file is followed
}

// whole takes in what there is, and reports it at the end.
func (i *intake) whole(ctx context.Context, path string) error {
	i.sum = api.Ingestion{Lines: []api.IngestedLine{}}
	in := i.env.Stdin
	if path != "-" {
		f, err := os.Open(i.env.abs(path))
		if err != nil {
			return fault.E("plimsoll", fault.Invalid, "read "+path, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	err := i.read(ctx, in, true)
	if i.json {
		text, failed := json.Marshal(i.sum)
		return errors.Join(err, failed, i.printJSON(text))
	}
	rows := [][]string{}
	for _, l := range i.sum.Lines {
		rows = append(rows, []string{strconv.Itoa(l.Line), string(l.Status), string(l.ID), reason(l)})
	}
	return errors.Join(err, table(i.env.Stdout, []string{"LINE", "STATUS", "ID", "WHY"}, rows))
}

// follow takes a file in as it grows, until it is interrupted.
func (i *intake) follow(ctx context.Context, path string) error {
	waiting := false
	for ctx.Err() == nil {
		f, err := os.Open(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if !waiting {
				fmt.Fprintln(i.env.Stderr, "waiting for "+path)
			}
			waiting = true
			i.pause(ctx)
		case err != nil:
			return fault.E("plimsoll", fault.Invalid, "read "+path, err)
		default:
			waiting = false
			i.at, i.lines = 0, 0
			if err := errors.Join(i.tail(ctx, path, f), f.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// tail takes in one file until another one has its name.
func (i *intake) tail(ctx context.Context, path string, f *os.File) error {
	for {
		now, err := f.Stat()
		if err != nil {
			return fault.E("plimsoll", fault.Unavailable, "look at "+path, err)
		}
		if now.Size() < i.at { // it was emptied, and grows again
			i.at, i.lines = 0, 0
		}
		// Looked at before the last reading: who rotates a file writes no more to it.
		named, err := os.Stat(path)
		gone := err != nil || !os.SameFile(now, named)
		if now.Size() > i.at {
			if err := i.more(ctx, f, gone); err != nil || ctx.Err() != nil {
				return err
			}
		}
		if gone {
			return nil
		}
		if i.pause(ctx); ctx.Err() != nil {
			return nil
		}
	}
}

// more takes in what was appended. A service that does not answer is asked
// again: what it had taken in is then a duplicate.
func (i *intake) more(ctx context.Context, f *os.File, end bool) error {
	for {
		if _, err := f.Seek(i.at, io.SeekStart); err != nil {
			return fault.E("plimsoll", fault.Unavailable, "read the file", err)
		}
		err := i.read(ctx, f, end)
		p, answered := errors.AsType[*problem](err)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil || answered && p.exit() != exitUnknown || !answered && fault.KindOf(err) != fault.Unavailable {
			return err
		}
		fmt.Fprintln(i.env.Stderr, oneLine(err.Error())+"; trying again")
		i.pause(ctx)
	}
}

func (i *intake) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pace):
	}
}

// read takes in the lines there are. The last one without a line end goes too
// when it is the end, and the service says whether it is finished.
func (i *intake) read(ctx context.Context, from io.Reader, end bool) error {
	in := bufio.NewReaderSize(from, 64<<10)
	var text []byte
	var size int64
	lines := 0
	for {
		line, n, err := nextLine(in)
		if err == nil || end && n > 0 {
			text, size, lines = append(text, line...), size+n, lines+1
		}
		if err == nil && len(text) < batch {
			continue
		}
		if len(text) > 0 {
			if failed := i.send(ctx, text); failed != nil {
				return failed
			}
			i.at, i.lines = i.at+size, i.lines+lines
			text, size, lines = text[:0], 0, 0
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.E("plimsoll", fault.Unavailable, "read the file", err)
		}
	}
}

// nextLine is the next line with its end, and how long it is. Of one that is too
// long for the service only as much is kept as it takes to be told so.
func nextLine(in *bufio.Reader) (line []byte, n int64, err error) {
	const most = ingest.MaxLine + 2 // one byte too many, and a carriage return
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if room := most - len(line); room >= len(part) {
			line = append(line, part...)
		} else {
			line = append(line, part[:max(room, 0)]...)
			if err == nil {
				line = append(line, '\n')
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}

// send takes some lines in and reports on them, by their number in the file.
func (i *intake) send(ctx context.Context, text []byte) error {
	ans, err := i.client.do(ctx, call{method: http.MethodPost, path: "/v1/evidence/ingest", raw: text, media: "application/jsonl", prefer: executors})
	if err != nil {
		return err
	}
	var got api.Ingestion
	if err := decode(ans.body, &got); err != nil {
		return err
	}
	sum := &i.sum.Summary
	sum.Accepted, sum.Refused = sum.Accepted+got.Summary.Accepted, sum.Refused+got.Summary.Refused
	sum.Actors, sum.Verdicts = union(sum.Actors, got.Summary.Actors), union(sum.Verdicts, got.Summary.Verdicts)
	i.sum.Read += got.Read
	for _, l := range got.Lines {
		l.Line += i.lines
		if !i.follows {
			i.sum.Lines = append(i.sum.Lines, l)
			continue
		}
		if err := i.printLine(l); err != nil {
			return err
		}
	}
	return nil
}

// printLine reports a line at once.
func (i *intake) printLine(l api.IngestedLine) error {
	if i.json {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = i.env.Stdout.Write(append(text, '\n'))
		return err
	}
	_, err := fmt.Fprintf(i.env.Stdout, "%6d  %-9s  %-7s %s\n", l.Line, l.Status, oneLine(string(l.ID)), oneLine(reason(l)))
	return err
}

func reason(l api.IngestedLine) string {
	switch {
	case l.Error != nil:
		return l.Error.Error()
	case len(l.Warnings) > 0:
		return join(l.Warnings)
	}
	return ""
}

// union is what is in either list, sorted.
func union[T cmp.Ordered](a, b []T) []T {
	list := slices.Sorted(slices.Values(append(a, b...)))
	return slices.Compact(list)
}
