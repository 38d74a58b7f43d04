package request

import (
	"context"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/worker"
)

// read is what the references of a request name, as far as the member who asks
// may see it. Over an external channel nobody has proved to be the member: what
// is private stays unread then.
func (s *Service) read(ctx context.Context, e *envelope.Envelope) (papers, error) {
	p := papers{documents: make([]worker.Document, len(e.Circle.References))}
	if len(p.documents) == 0 {
		return p, nil
	}
	err := s.conf.Store.View(ctx, func(r Reader) error {
		p = papers{documents: make([]worker.Document, len(e.Circle.References)), at: r.Now()}
		for i, ref := range e.Circle.References {
			p.documents[i] = worker.Document{Reference: ref}
			if err := p.stored(r, e, &p.documents[i]); err != nil {
				return err
			}
		}
		return p.lift(r, e)
	})
	if err != nil {
		return p, err
	}
	p.reports = make([]screen.Report, len(p.documents))
	for i := range p.documents {
		d := &p.documents[i]
		kind := d.Reference.Kind
		if !d.Found && s.conf.Library != nil && (kind == envelope.RefDocument || kind == envelope.RefDiff) {
			if err := p.shelved(ctx, s.conf.Library, d); err != nil {
				return p, err
			}
		}
		if d.Text == "" {
			continue
		}
		report := s.conf.Screen.Read(d.Text)
		p.secrets = p.secrets || report.Secrets()
		d.Text, d.Findings, p.reports[i] = report.Redacted, findings(&report), report
	}
	return p, nil
}

// stored fills in what the store has.
func (p *papers) stored(r Reader, e *envelope.Envelope, d *worker.Document) error {
	ref := d.Reference
	switch ref.Kind {
	case envelope.RefArtifact:
		a, err := r.Artifact(ref.ID)
		if err != nil {
			return ignoreMissing(err)
		}
		reader := e.Circle.MemberID
		if e.External() {
			reader = ""
		}
		seen, err := seenWithin(r, a, e.Circle.CircleID, reader)
		if err != nil || !seen {
			return err
		}
		p.found(d, string(a.Type), a.Content, a.AsSource())
		if d.Found {
			p.referred = append(p.referred, *a)
			ledger, err := r.Ledger(a.ID)
			p.ledger = append(p.ledger, ledger...)
			return err
		}
	case envelope.RefContract:
		c, err := r.Contracts().Contract(contract.ID(ref.ID))
		if err != nil {
			return ignoreMissing(err)
		}
		p.found(d, ref.ID, c.Text, artifact.Source{Kind: artifact.FromContract, ID: ref.ID, Visibility: envelope.Clan, Origin: envelope.Internal})
	case envelope.RefDiff:
		a, err := r.Contracts().Artifact(ref.ID, pipeline.BoundaryArtifact)
		if err != nil {
			return ignoreMissing(err)
		}
		p.found(d, ref.ID, a.Bytes, artifact.Source{Kind: artifact.FromDiff, ID: ref.ID, Visibility: envelope.Clan, Origin: envelope.Internal})
		if !d.Found {
			return nil
		}
		v, err := r.Contracts().Artifact(ref.ID, pipeline.VerifyArtifact)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		verify := []byte(nil)
		if err == nil {
			verify = v.Bytes
		}
		p.judged(d, a.Bytes, verify)
	case envelope.RefDocument, envelope.RefURL: // of the library; never fetched
	}
	return nil
}

func ignoreMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// found takes a text that was found, unless the request means other bytes.
func (p *papers) found(d *worker.Document, title string, text []byte, s artifact.Source) {
	if s.SHA256 == "" {
		s.SHA256 = artifact.Digest(text)
	}
	if d.Reference.SHA256 != "" && d.Reference.SHA256 != s.SHA256 {
		return
	}
	d.Found, d.Title, d.Text, d.Source = true, title, string(text), s
}

func (p *papers) judged(d *worker.Document, check, verify []byte) {
	b, id := pipeline.ReadBoundary(check, verify)
	if b == nil {
		return
	}
	p.gates = append(p.gates, worker.Boundary{Reference: d.Reference, AuditID: id, SHA256: d.Source.SHA256, Result: *b})
}

// shelved fills in what the library has.
func (p *papers) shelved(ctx context.Context, l Library, d *worker.Document) error {
	paper, err := l.Read(ctx, d.Reference)
	if err != nil {
		return ignoreMissing(err)
	}
	kind := artifact.FromDocument
	if d.Reference.Kind == envelope.RefDiff {
		kind = artifact.FromDiff
	}
	p.found(d, paper.Title, paper.Text, artifact.Source{Kind: kind, ID: d.Reference.ID, Visibility: paper.Level, Origin: envelope.Internal})
	if d.Found && kind == artifact.FromDiff {
		p.judged(d, paper.Text, nil)
	}
	return nil
}

// lift is how far the consents to the artifacts that are referred to lift a
// ceiling: as far as everybody concerned by every one of them has agreed.
func (p *papers) lift(r Reader, e *envelope.Envelope) error {
	if len(p.referred) == 0 {
		return nil
	}
	lifted := envelope.Public
	for i := range p.referred {
		a := &p.referred[i]
		roll, err := r.Roll(a.Circle)
		if err != nil {
			return err
		}
		if a.Circle != e.Circle.CircleID {
			lifted = ""
			break
		}
		lifted = lifted.Min(a.Lift(p.ledger, roll, r.Now()))
	}
	p.lifted = lifted
	return nil
}

// findings is what the screen found, as workers are told.
func findings(r *screen.Report) []worker.Finding {
	list := make([]worker.Finding, len(r.Findings))
	for i, f := range r.Findings {
		list[i] = worker.Finding{
			Sort: string(f.Sort), Kind: string(f.Kind), Rule: f.Rule, Form: f.Form, Start: f.Span.Start, End: f.Span.End, Data: f.Data,
		}
	}
	return list
}

// Who may see an artifact. What nobody has confirmed is seen by the circle at
// most, whatever level it is for: consent to the rest is still owed
// (docs/spec/circle.md §7).

func openTo(a *artifact.Artifact) artifact.Artifact {
	seen := *a
	switch {
	case a.Status == artifact.Confirmed && a.Scope.Visibility.Wider(a.Visibility):
		seen.Visibility = a.Scope.Visibility
	case a.Status != artifact.Confirmed:
		seen.Visibility = a.Visibility.Min(envelope.Circle)
	}
	return seen
}

// seenWithin says whether a member of a circle may see an artifact; an actor of ""
// is somebody of the circle of whom nothing else is known.
func seenWithin(r reader, a *artifact.Artifact, id, actor string) (bool, error) {
	seen := openTo(a)
	if a.Circle == id {
		return seen.SeenBy(actor, true, true), nil
	}
	c, err := r.Circle(id)
	if err != nil {
		return false, err
	}
	other, err := r.Circle(a.Circle)
	if err != nil {
		return false, err
	}
	return seen.SeenBy(actor, false, c.Clan != "" && c.Clan == other.Clan), nil
}

// seenBy says whether an actor may see an artifact, by all their memberships.
func seenBy(r reader, a *artifact.Artifact, actor string) (bool, error) {
	seen := openTo(a)
	roll, err := r.Roll(a.Circle)
	if err != nil {
		return false, err
	}
	if _, member := roll.At(actor, r.Now()); member || seen.Visibility == envelope.Public {
		return seen.SeenBy(actor, member, true), nil
	}
	if seen.Visibility != envelope.Clan {
		return false, nil
	}
	of, err := r.Circle(a.Circle)
	if err != nil || of.Clan == "" {
		return false, err
	}
	list, err := r.Circles(CircleFilter{Member: actor, Clan: of.Clan}, pipeline.Page{})
	return slices.ContainsFunc(list, func(c *circle.Circle) bool { return c.Clan == of.Clan }), err
}
