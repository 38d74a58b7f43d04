package request

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// Opened is a request as a person reads it: its package, what was written, and
// how what was made of it stands now. A package says how things stood when the
// request ended.
type Opened struct {
	*Package
	Written   Written
	Artifacts []*ArtifactShown // newest versions that the reader may see, in the order of the plan
	Events    []Progress       // what has happened, oldest first; none in a list
}

// Written is the envelope of a request, as it is kept: secrets are out of the text.
// The text is read by members of the circle only, and by others than who asked only
// when the flags let the circle see what they are about (docs/spec/circle.md §7).
type Written struct {
	Envelope   envelope.Envelope // without a text where the reader may not see it
	Locale     string            // the language triage found
	Consent    envelope.ConsentStatus
	Readable   bool // whether the text is there
	Redactions []Redaction
	// Evidence is the package's, with its places moved to where they are in the
	// text as it is kept; a place that was taken out with a secret is empty.
	Evidence []Evidence
}

// Redaction is where a secret was, in the text as it is kept.
type Redaction struct {
	screen.Span
	Rule string // that found it
}

// RequestOpen is a request as the caller may see it. NotFound: there is none, or
// the caller may not see it.
func (s *Service) RequestOpen(ctx context.Context, by pipeline.Caller, id string) (*Opened, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) (*Opened, error) {
		kept, err := r.Request(id)
		if err != nil {
			return nil, err
		}
		pipeline.Traced(ctx, kept.ID)
		o, err := s.opened(r, kept, a)
		if err != nil {
			return nil, err
		}
		since, err := o.since(r.Contracts())
		o.Events = append(o.progress(), since...)
		return o, err
	})
}

// RequestPage is RequestList with what was written and how it stands now. It is
// read in few steps: the packages hold neither plan nor runs nor documents.
func (s *Service) RequestPage(ctx context.Context, by pipeline.Caller, f Filter, p pipeline.Page) (list []*Opened, behind pipeline.Mark, err error) {
	return listed(ctx, s, by, f, p, func(r Reader, all []*Request, a *pipeline.Actor) ([]*Opened, error) {
		ids := make([]string, len(all))
		for i, one := range all {
			ids[i] = one.ID
		}
		made := map[string][]*artifact.Artifact{}
		if len(ids) > 0 {
			artifacts, err := r.Artifacts(ArtifactFilter{Requests: ids}, pipeline.Page{})
			if err != nil {
				return nil, err
			}
			for _, one := range artifacts {
				made[one.Provenance.RequestID] = append(made[one.Provenance.RequestID], one)
			}
		}
		known, err := recall(r, slices.Concat(slices.Collect(maps.Values(made))...))
		if err != nil {
			return nil, err
		}
		return each(all, func(kept *Request) (*Opened, error) { return s.brief(known, kept, a, made[kept.ID]) })
	})
}

// recalling asks once for what the rows of a list have in common.
type recalling struct {
	Reader
	rolls    map[string]circle.Roll
	channels map[string]*circle.Channel
	circles  map[string]*circle.Circle
	ledgers  map[string][]artifact.Consent // of the artifacts that wait for consents
}

// recall is a reader for a list that has these artifacts.
func recall(r Reader, list []*artifact.Artifact) (*recalling, error) {
	k := &recalling{
		Reader: r, rolls: map[string]circle.Roll{}, channels: map[string]*circle.Channel{}, circles: map[string]*circle.Circle{},
		ledgers: map[string][]artifact.Consent{},
	}
	var ids []string
	for _, a := range list {
		if a.Status == artifact.WaitingForConsent {
			ids = append(ids, a.ID)
			k.ledgers[a.ID] = []artifact.Consent{}
		}
	}
	all, err := r.Ledger(ids...)
	for _, one := range all {
		k.ledgers[one.ArtifactID] = append(k.ledgers[one.ArtifactID], one)
	}
	return k, err
}

// Ledger implements ArtifactReader.
func (r *recalling) Ledger(artifacts ...string) ([]artifact.Consent, error) {
	list := []artifact.Consent{}
	for _, id := range artifacts {
		some, ok := r.ledgers[id]
		if !ok {
			return r.Reader.Ledger(artifacts...)
		}
		list = append(list, some...)
	}
	return list, nil
}

// Roll implements CircleReader.
func (r *recalling) Roll(id string) (circle.Roll, error) { return once(r.rolls, id, r.Reader.Roll) }

// Channel implements CircleReader.
func (r *recalling) Channel(id string) (*circle.Channel, error) {
	return once(r.channels, id, r.Reader.Channel)
}

// Circle implements CircleReader.
func (r *recalling) Circle(id string) (*circle.Circle, error) {
	return once(r.circles, id, r.Reader.Circle)
}

func once[T any](known map[string]T, id string, read func(string) (T, error)) (T, error) {
	if v, ok := known[id]; ok {
		return v, nil
	}
	v, err := read(id)
	if err == nil {
		known[id] = v
	}
	return v, err
}

// brief is a request as a list shows it.
func (s *Service) brief(r Reader, kept *Request, who *pipeline.Actor, made []*artifact.Artifact) (*Opened, error) {
	k, err := s.access(r, kept, who)
	if err != nil {
		return nil, err
	}
	if err := k.f.decode(); err != nil {
		return nil, err
	}
	k.f.artifacts = made
	p, o := k.begin(), outcome{}
	if kept.State == Ended {
		if err := json.Unmarshal(kept.Package, &o); err != nil {
			return nil, fault.E("request.brief", fault.Internal, "a package does not read", err)
		}
	} else {
		for _, c := range kept.Stops {
			o.Stops = append(o.Stops, k.f.stopped(c))
		}
	}
	p.Question = o.Question
	if p.Stops = append(p.Stops, o.Stops...); len(p.Stops) > 0 {
		p.Stop = &p.Stops[0]
	}
	if err := p.came(r, r.Contracts(), k.f, k.seen); err != nil {
		return nil, err
	}
	return s.standing(r, k)
}

// listed is a page of requests, as of makes it of the rows.
func listed[T any](ctx context.Context, s *Service, by pipeline.Caller, f Filter, p pipeline.Page, of func(Reader, []*Request, *pipeline.Actor) ([]T, error)) (list []T, behind pipeline.Mark, err error) {
	list, err = view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]T, error) {
		behind = pipeline.Mark{}
		out := []T{}
		ids, err := among(r, string(a.ID), f.Circles)
		if err != nil || len(ids) == 0 {
			return out, err
		}
		f.Circles = ids
		all, err := r.Requests(f, p)
		if err != nil {
			return nil, err
		}
		if out, err = of(r, all, a); err != nil {
			return nil, err
		}
		if p.Limit > 0 && len(all) == p.Limit {
			last := all[len(all)-1]
			behind = pipeline.Mark{At: last.UpdatedAt, ID: last.ID}
		}
		return out, nil
	})
	return list, behind, err
}

// each is every request that the caller may see.
func each[T any](all []*Request, of func(*Request) (T, error)) ([]T, error) {
	out := []T{}
	for _, one := range all {
		shown, err := of(one)
		if fault.KindOf(err) == fault.NotFound && err != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, nil
}

func (s *Service) opened(r Reader, kept *Request, who *pipeline.Actor) (*Opened, error) {
	k, err := s.packing(r, r.Contracts(), kept, who)
	if err != nil {
		return nil, err
	}
	return s.standing(r, k)
}

// standing adds what was written and how it stands now.
func (s *Service) standing(r Reader, k *packing) (*Opened, error) {
	o := &Opened{Package: k.Package, Written: k.written(s.conf.Set.Set().Registry().Ceilings), Artifacts: []*ArtifactShown{}}
	for _, a := range k.f.artifacts {
		if !k.seen(a) || hidden(a) {
			continue
		}
		shown, err := s.showing(r, a)
		if err != nil {
			return nil, err
		}
		o.Artifacts = append(o.Artifacts, shown)
	}
	return o, nil
}

// written is the envelope as far as the reader may see it.
func (k *packing) written(ceilings []constitution.Ceiling) Written {
	a := Written{Envelope: k.f.e, Locale: k.f.t.Locale, Consent: k.f.t.Consent, Redactions: []Redaction{}, Evidence: slices.Clone(k.f.t.Evidence)}
	ceiling, _ := artifact.Ceiling(ceilings, k.f.t.Flags, true, "")
	if a.Readable = k.member && (k.own || !envelope.Circle.Wider(ceiling)); !a.Readable {
		a.Envelope.InputText = ""
		for i := range a.Evidence {
			a.Evidence[i].Start, a.Evidence[i].End = 0, 0
		}
		return a
	}
	a.place()
	return a
}

// place finds the evidence again in a text whose secrets were taken out: the
// places are those of the text as it was received, and triage has one for every
// secret. Where that does not fit, nothing is pointed at.
func (a *Written) place() {
	var gone []screen.Span // as received, none touching another
	for _, e := range a.Evidence {
		if e.Value == string(envelope.Secrets) && e.Start < e.End {
			gone = append(gone, screen.Span{Start: e.Start, End: e.End})
		}
	}
	gone = screen.Merged(gone)
	text, moved := a.Envelope.InputText, 0
	fits := true
	for _, s := range gone {
		at := s.Start + moved
		switch {
		case at >= len(text): // behind what was kept
		case strings.HasPrefix(text[at:], screen.Redaction):
			a.Redactions = append(a.Redactions, Redaction{screen.Span{Start: at, End: at + len(screen.Redaction)}, a.found(s)})
		default:
			fits = false
		}
		moved += len(screen.Redaction) - s.Len()
	}
	if !fits {
		a.Redactions = []Redaction{}
	}
	for i := range a.Evidence {
		e := &a.Evidence[i]
		start, end := e.Start, e.End
		for _, s := range gone {
			if start < s.End && s.Start < end {
				end = start // it is of a secret
				break
			}
			if s.End <= start {
				e.Start, e.End = e.Start+len(screen.Redaction)-s.Len(), e.End+len(screen.Redaction)-s.Len()
			}
		}
		if end <= start || !fits || e.End > len(text) {
			e.Start, e.End = 0, 0
		}
	}
}

// found is the rule that found a secret first.
func (a *Written) found(s screen.Span) string {
	i := slices.IndexFunc(a.Evidence, func(e Evidence) bool {
		return e.Value == string(envelope.Secrets) && e.Start < s.End && s.Start < e.End
	})
	if i < 0 {
		return ""
	}
	return a.Evidence[i].Rule
}
