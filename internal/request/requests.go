package request

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// RequestGet is the package of a request, as far as the caller may see it. While
// the request runs it is what has been made so far. NotFound: there is none, or
// the caller may not see it.
func (s *Service) RequestGet(ctx context.Context, by pipeline.Caller, id string) (*Package, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) (*Package, error) {
		kept, err := r.Request(id)
		if err != nil {
			return nil, err
		}
		pipeline.Traced(ctx, kept.ID)
		return s.packed(r, r.Contracts(), kept, a)
	})
}

// RequestList is a page of the requests of the caller's circles, newest change
// first: their own, and those that are for the circle. A page may hold fewer than
// were asked for and not be the last: behind is where the next one begins, its
// zero value the end.
func (s *Service) RequestList(ctx context.Context, by pipeline.Caller, f Filter, p pipeline.Page) (list []*Package, behind pipeline.Mark, err error) {
	return listed(ctx, s, by, f, p, func(r Reader, all []*Request, a *pipeline.Actor) ([]*Package, error) {
		return each(all, func(kept *Request) (*Package, error) { return s.packed(r, r.Contracts(), kept, a) })
	})
}

// Progress is one thing that has happened to a request. Key names it: what was
// told before is not told again.
type Progress struct {
	Key   string `json:"key"`
	What  string `json:"what"` // accepted, started, done, failed, skipped, ended, phase, result
	Step  int64  `json:"step,omitempty"`
	Run   string `json:"run_id,omitempty"`
	Of    string `json:"worker,omitempty"`
	Fault string `json:"fault,omitempty"`

	Contract string `json:"contract_id,omitempty"` // of a phase or a result
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`

	At time.Time `json:"at"`
}

// RequestEvents is everything that has happened to a request so far, in order, and
// the package; the stream of a surface asks again until the package has ended, and
// tells what is new by its key. What became of its decisions comes last.
func (s *Service) RequestEvents(ctx context.Context, by pipeline.Caller, id string) (list []Progress, p *Package, err error) {
	p, err = view(ctx, s, by, func(r Reader, a *pipeline.Actor) (*Package, error) {
		kept, err := r.Request(id)
		if err != nil {
			return nil, err
		}
		pipeline.Traced(ctx, kept.ID)
		p, err := s.packed(r, r.Contracts(), kept, a)
		if err != nil {
			return nil, err
		}
		since, err := p.since(r.Contracts())
		list = append(p.progress(), since...)
		return p, err
	})
	if err != nil {
		return nil, nil, err
	}
	return list, p, nil
}

func (p *Package) progress() []Progress {
	list := []Progress{{Key: "accepted", What: "accepted", At: p.CreatedAt}}
	for _, r := range p.Runs {
		list = append(list, Progress{Key: r.RunID + ":started", What: "started", Step: r.Step, Run: r.RunID, Of: string(r.Worker), At: r.StartedAt})
		if r.EndedAt != nil {
			what := "done"
			if r.State == RunFailed {
				what = "failed"
			}
			list = append(list, Progress{
				Key: r.RunID + ":" + what, What: what, Step: r.Step, Run: r.RunID, Of: string(r.Worker), Fault: r.Fault, At: *r.EndedAt,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Progress) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Step, b.Step)) })
	if p.EndedAt != nil {
		list = append(list, Progress{Key: "ended", What: "ended", At: *p.EndedAt})
	}
	return list
}

// packed is the package of a request for somebody. The member who asked sees all
// of it, a member of the circle what is for the circle, and an adapter, which is
// no member, what anybody may see.
func (s *Service) packed(r reader, contracts pipeline.Reader, kept *Request, who *pipeline.Actor) (*Package, error) {
	k, err := s.packing(r, contracts, kept, who)
	if err != nil {
		return nil, err
	}
	return k.Package, nil
}

// packing is a package with what it was made of.
type packing struct {
	*Package
	f      *flow
	member bool // the reader is a member of the circle now
	own    bool // and asked
	seen   func(*artifact.Artifact) bool
}

func (s *Service) packing(r reader, contracts pipeline.Reader, kept *Request, who *pipeline.Actor) (*packing, error) {
	k, err := s.access(r, kept, who)
	if err != nil {
		return nil, err
	}
	if err := k.f.fill(r); err != nil {
		return nil, err
	}
	p := k.begin()
	for i, step := range k.f.plan.Steps {
		p.Plan = append(p.Plan, PlanShown{Step: i + 1, PlanStep: step})
	}
	for _, run := range k.f.runs {
		p.Runs = append(p.Runs, shownRun(run))
	}
	if err := p.fill(r, k.f, k.seen); err != nil {
		return nil, err
	}
	if err := p.came(r, contracts, k.f, k.seen); err != nil {
		return nil, err
	}
	if len(p.Stops) > 0 {
		p.Stop = &p.Stops[0]
	}
	return k, nil
}

// access is what a reader may see of a request; NotFound when that is nothing.
func (s *Service) access(r reader, kept *Request, who *pipeline.Actor) (*packing, error) {
	ch, err := r.Channel(kept.Channel)
	if err != nil {
		return nil, err
	}
	roll, err := r.Roll(kept.Circle)
	if err != nil {
		return nil, err
	}
	_, member := roll.At(string(who.ID), r.Now())
	brought := ch.Adapter == string(who.ID)
	switch {
	case brought, member && kept.Member == string(who.ID):
	case !member || kept.Target == envelope.Private:
		return nil, fault.E("request.Request", fault.NotFound, "there is no request with the id", nil)
	}
	seen := func(a *artifact.Artifact) bool {
		open := openTo(a)
		if brought && !member {
			return open.Visibility == envelope.Public
		}
		return open.SeenBy(string(who.ID), member, member)
	}
	f := &flow{r: kept, set: s.conf.Set.Set()}
	return &packing{f: f, member: member, own: member && kept.Member == string(who.ID), seen: seen}, nil
}

// begin is the package as far as it is kept with the request itself.
func (k *packing) begin() *Package {
	f, kept := k.f, k.f.r
	p := &Package{
		RequestID: kept.ID, Correlation: kept.ID, CircleID: kept.Circle, MemberID: kept.Member, State: kept.State, Status: kept.Status, Intent: f.t.Intent, Flags: f.t.Flags,
		Target: kept.Target, Origin: kept.Origin, ConfigSHA256: kept.Config, Stops: []Stop{}, Plan: []PlanShown{}, Runs: []RunShown{},
		Artifacts: []json.RawMessage{}, Owed: []Owed{}, Evidence: f.t.Evidence, Contracts: []ContractShown{}, CreatedAt: kept.CreatedAt, EndedAt: instant(kept.EndedAt),
		revision: kept.Revision,
	}
	if p.Flags == nil {
		p.Flags = []envelope.Flag{}
	}
	if p.Evidence == nil {
		p.Evidence = []Evidence{}
	}
	k.Package = p
	return p
}

// fill is the artifacts and what is owed: as they were when the request ended, or
// as they are while it runs.
func (p *Package) fill(r reader, f *flow, seen func(*artifact.Artifact) bool) error {
	o := outcome{}
	shown := f.artifacts
	if f.r.State == Ended {
		if err := json.Unmarshal(f.r.Package, &o); err != nil {
			return fault.E("request.packed", fault.Internal, "a package does not read", err)
		}
		shown = nil
		for _, as := range o.Artifacts {
			a, err := r.ArtifactAt(as.ID, as.Version)
			if err != nil {
				return err
			}
			then := *a
			then.Status = as.Status
			shown = append(shown, &then)
		}
	} else {
		p.Status = artifact.Draft
		statuses := []artifact.Status{}
		for _, c := range f.r.Stops {
			o.Stops = append(o.Stops, f.stopped(c))
		}
		for _, a := range shown {
			statuses = append(statuses, a.Status)
		}
		p.Status = artifact.Demanding(statuses...)
	}
	p.Question = o.Question
	p.Stops = append(p.Stops, o.Stops...)
	visible := map[string]bool{}
	for _, a := range shown {
		if !seen(a) {
			p.Hidden++
			continue
		}
		visible[a.ID] = true
		then := *a
		if then.Status == artifact.Confirmed { // it was confirmed while the request ran
			then.Status = artifact.NeedsConfirmation
		}
		p.Artifacts = append(p.Artifacts, then.Document())
	}
	for _, owed := range o.Owed {
		if visible[owed.ArtifactID] {
			p.Owed = append(p.Owed, owed)
		}
	}
	return nil
}
