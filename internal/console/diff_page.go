package console

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// changeView is a change as it is shown: the diff when it was delivered, and
// always how to see it at home.
type changeView struct {
	Chain      contract.ID
	Path       string // the correlation id
	Run        *pipeline.Run
	Base       string
	Head       string
	Digest     string
	Delivered  bool
	Exact      bool // what was delivered has the digest
	Diff       *diff
	Files      []*diffFile // what of it is shown
	Rest       []spot      // findings in no file of it
	Findings   int
	Whole      string // the page of all of it
	Shown      int    // rows
	More       bool   // rows that are not shown
	Next, Prev string
}

// filesMost is how many files of a change a page names; whoever makes a change
// decides how many it has.
const filesMost = 500

// Listed is the files that the page names.
func (c *changeView) Listed() []*diffFile { return c.Diff.Files[:min(len(c.Diff.Files), filesMost)] }

// Unlisted is how many it does not.
func (c *changeView) Unlisted() int { return len(c.Diff.Files) - len(c.Listed()) }

// How many rows the page of a chain and one page of a change show.
const (
	changeInline = 120
	changeRows   = 500
)

// change is the change of a run or, for "", the one the chain stands at; nil where
// nothing has changed yet. Of its rows most are shown, from one on.
func (c *Console) change(ctx context.Context, s *story, execution string, from, most int) (*changeView, error) {
	run, a, err := c.changed(ctx, s, execution)
	if err != nil || run == nil {
		return nil, err
	}
	out := &changeView{Chain: s.id, Path: s.shown.Chain.Correlation, Run: run, Base: run.BaseCommit, Head: run.HeadCommit, Digest: run.DiffHash}
	out.Whole = "/chains/" + string(s.id) + "/diff?" + url.Values{"run": {run.ExecutionID}}.Encode()
	spots, err := c.spots(ctx, s, run)
	if err != nil {
		return nil, err
	}
	out.Findings = len(spots)
	if a == nil {
		out.Rest = spots
		return out, nil
	}
	out.Delivered, out.Exact = true, contract.Hash(a.Bytes) == run.DiffHash
	out.Diff = readDiff(string(a.Bytes))
	out.Rest = out.Diff.place(spots)
	from = min(max(from, 0), max(out.Diff.Rows-1, 0))
	var masked int
	if out.Files, masked = out.Diff.part(from, most); masked > 0 {
		out.Exact, out.Diff.Withheld = false, out.Diff.Withheld+masked
	}
	for _, f := range out.Files {
		out.Shown += len(f.Rows)
	}
	at := func(row int) string { return out.Whole + "&from=" + strconv.Itoa(row) }
	if from+most < out.Diff.Rows {
		out.More, out.Next = true, at(from+most)
	}
	if from > 0 {
		out.Prev = at(max(from-most, 0))
	}
	return out, nil
}

// changed is the run a change is shown of, and its diff; a is nil when none was
// delivered. Of several runs with the same change the newest that has its diff is
// taken.
func (c *Console) changed(ctx context.Context, s *story, execution string) (run *pipeline.Run, a *pipeline.Artifact, err error) {
	for _, r := range s.runs {
		if execution != "" && r.ExecutionID != execution || r.Alive() || r.DiffHash == "" || r.DiffHash == contract.EmptyDiffHash || !slices.Contains(changing, r.Phase) {
			continue
		}
		if execution == "" && s.shown.Chain.DiffHash != "" && r.DiffHash != s.shown.Chain.DiffHash {
			continue
		}
		if run == nil {
			run = r
		}
		a, err = c.conf.Contracts.ArtifactGet(ctx, r.ExecutionID, pipeline.ArtifactKind(phase.ChangeDiff))
		if err == nil {
			return r, a, nil
		}
		if !errors.Is(absent(err), errNoPage) {
			return nil, nil, err
		}
	}
	return run, nil, nil
}

// spots is what was found in the change of a run, by it or by another with the
// same change.
func (c *Console) spots(ctx context.Context, s *story, run *pipeline.Run) ([]spot, error) {
	var check, verify []byte
	for _, r := range s.runs {
		if r.DiffHash != run.DiffHash || r.Alive() || !slices.Contains(changing, r.Phase) {
			continue
		}
		for _, want := range []struct {
			kind pipeline.ArtifactKind
			into *[]byte
		}{{pipeline.BoundaryArtifact, &check}, {pipeline.VerifyArtifact, &verify}} {
			if *want.into != nil {
				continue
			}
			a, err := c.conf.Contracts.ArtifactGet(ctx, r.ExecutionID, want.kind)
			if err == nil {
				*want.into = a.Bytes
			} else if !errors.Is(absent(err), errNoPage) {
				return nil, err
			}
		}
	}
	return spotsOf(check, verify), nil
}

// diff is the whole change of a run, a page at a time.
func (c *Console) diff(v *visit) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	s, err := c.story(v.r.Context(), v.lang, id)
	if err != nil {
		return page{}, err
	}
	from, _ := strconv.Atoi(v.query("from")) // the beginning for what is no number
	if n, err := strconv.Atoi(v.query("file")); err == nil {
		if from, err = c.firstOf(v.r.Context(), s, v.query("run"), n); err != nil {
			return page{}, err
		}
	}
	out, err := c.change(v.r.Context(), s, v.query("run"), from, changeRows)
	if err != nil {
		return page{}, err
	}
	if out == nil {
		return page{}, errNoPage
	}
	return page{name: "diff", title: "diff.title", args: []any{string(id)}, data: out, trail: c.chainTrail(v, id)}, nil
}

// firstOf is the first row of a file of a change.
func (c *Console) firstOf(ctx context.Context, s *story, execution string, n int) (int, error) {
	_, a, err := c.changed(ctx, s, execution)
	if err != nil || a == nil {
		return 0, err
	}
	for _, f := range readDiff(string(a.Bytes)).Files {
		if f.N == n {
			return f.First, nil
		}
	}
	return 0, nil
}
