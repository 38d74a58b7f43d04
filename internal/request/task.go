package request

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/worker"
)

// most is how many drafts one turn may have.
const most = 8

// task is a worker's turn, without what is still to be fetched: the envelope
// reduced to the job, and what groups before have made for as many as this
// worker's outputs are for.
func (f *flow) task(c *claim) *worker.Task {
	step := f.plan.Steps[c.args.Step]
	t := &worker.Task{
		Worker: step.Worker, Outputs: slices.Clone(step.Outputs), Run: c.run.ID, Now: f.x.Now(), IDs: make([]string, most),
		Request: f.reduced(step.Worker), Earlier: []artifact.Artifact{}, Stops: slices.Clone(f.r.Stops), HandOver: step.HandOver != "",
		Attempt: int(c.run.Attempt),
	}
	for i := range t.IDs {
		t.IDs[i] = artifactID(c.run.ID, i)
	}
	if t.Attempt > 1 {
		t.Faults = problem.List{problem.New(problem.ContentInvalid, "the answer before was not of the types that are asked for, or broke their schema")}
	}
	if step.HandOver != "" {
		t.Stops = []envelope.Condition{step.HandOver}
	}
	level := f.reach(c.args.Step)
	if step.HandOver != "" {
		level = level.Min(envelope.Circle)
	}
	for _, a := range f.before(f.plan.group(c.args.Step)) {
		if !level.Wider(a.Visibility) && !slices.Contains(t.Outputs, envelope.BreachReport) {
			t.Earlier = append(t.Earlier, *a)
		}
	}
	t.Facts.Set = f.set
	if worker.Needs(step.Worker, worker.NeedDoings) {
		t.Facts.Doings = f.doings()
	}
	return t
}

// reduced is the envelope, reduced to a worker's job (docs/spec/circle.md §6.5).
func (f *flow) reduced(id constitution.AgentID) worker.Request {
	e := &f.e
	r := worker.Request{
		ID: f.r.ID, Circle: f.r.Circle, Member: f.r.Member, Channel: e.Circle.Channel, Origin: f.r.Origin, Target: f.r.Target, Locale: f.t.Locale,
		Intent: f.t.Intent, Flags: slices.Clone(f.t.Flags), Consent: f.t.Consent, Actions: slices.Clone(e.AllowedActions),
		Expected: slices.Clone(e.ExpectedOutputs),
	}
	if r.Locale == "" {
		r.Locale = "en"
	}
	if worker.Needs(id, worker.NeedParticipants) {
		r.Participants = slices.Clone(e.Circle.Participants)
	}
	if worker.Needs(id, worker.NeedDocuments) {
		r.References = slices.Clone(e.Circle.References)
	}
	if worker.Needs(id, worker.NeedText) {
		report := f.x.s.conf.Screen.Read(e.InputText)
		r.Text, r.Findings = e.InputText, findings(&report)
		r.Source = artifact.Source{
			Kind: artifact.FromRequest, ID: f.r.ID, SHA256: artifact.Digest([]byte(e.InputText)), Visibility: f.r.Target, Origin: f.r.Origin,
		}
	}
	return r
}

// doings is what was done for the request so far.
func (f *flow) doings() []worker.Doing {
	list := []worker.Doing{{
		Action: "request.ask", Actor: f.r.Member, Kind: ofRequest, ID: f.r.ID, Outcome: "done", At: f.r.CreatedAt,
	}}
	if len(f.r.Stops) > 0 {
		list[0].Outcome = "blocked"
		if f.r.Stops[0].Stops() {
			list[0].Outcome = "stopped"
		}
	}
	for _, r := range f.runs {
		if r.State == RunAlive {
			continue
		}
		d := worker.Doing{Action: "run.end", Actor: string(r.Worker), Kind: ofRun, ID: r.ID, Outcome: "done", At: r.EndedAt}
		if r.State == RunFailed {
			d.Outcome = "failed"
		}
		list = append(list, d)
	}
	for _, a := range f.artifacts {
		list = append(list, worker.Doing{
			Action: "artifact.create", Actor: string(a.Provenance.Worker), Kind: ofArtifact, ID: a.ID, SHA256: a.ContentSHA256, Outcome: "done",
			At: a.CreatedAt,
		})
	}
	return list
}

// work does a worker's job: what it needs to be told is fetched, then its engine
// answers. The kind of a fault says what becomes of the run: Unavailable repeats
// it, Invalid asks the worker again.
func (s *Service) work(ctx context.Context, c *claim) (worker.Result, error) {
	if err := s.fetch(ctx, c); err != nil {
		return worker.Result{}, err
	}
	result, err := s.conf.Engines[c.worker.ID].Work(c.task)
	if err != nil || c.run.Engine != constitution.Model {
		return result, engineFault(err)
	}
	return s.drafted(ctx, c, result)
}

// engineFault is an error of a built-in engine. It is not the service's, whatever
// it says.
func engineFault(err error) error {
	if err == nil {
		return nil
	}
	return fault.E("request.work", fault.Internal, "the engine gave up", err)
}

// fetch reads the facts that a worker's job needs, each through its port.
func (s *Service) fetch(ctx context.Context, c *claim) error {
	facts, needs := &c.task.Facts, func(n worker.Need) bool { return worker.Needs(c.worker.ID, n) }
	e := envelope.Envelope{Circle: envelope.Context{
		CircleID: c.task.Request.Circle, MemberID: c.task.Request.Member, Channel: c.task.Request.Channel, References: c.task.Request.References,
	}}
	if needs(worker.NeedDocuments) {
		p, err := s.read(ctx, &e)
		if err != nil {
			return err
		}
		c.papers, facts.Documents, facts.Referred = p, p.documents, p.referred
	}
	if needs(worker.NeedProbes) && s.conf.Probes != nil {
		facts.Probes = s.conf.Probes.Probe(ctx)
	}
	if needs(worker.NeedGate) {
		facts.Gate = &worker.Gate{Boundaries: c.papers.gates}
		if s.conf.Violated != nil {
			facts.Gate.Violated = func(l contract.Level, asks capability.Set, signals risk.Signals) string {
				return s.conf.Violated(pipeline.Work{Intent: &contract.Intent{RequestedCapabilities: asks}, Level: l, Signals: signals})
			}
		}
	}
	if err := s.conf.Store.View(ctx, func(r Reader) error { return c.look(r, s.conf.Screen) }); err != nil {
		return err
	}
	if needs(worker.NeedIdentity) {
		return s.prepare(ctx, c)
	}
	return nil
}

// look reads the facts that the store has.
func (c *claim) look(r Reader, sc *screen.Screen) error {
	t, facts := c.task, &c.task.Facts
	needs := func(n worker.Need) bool { return worker.Needs(c.worker.ID, n) }
	of, err := r.Circle(t.Request.Circle)
	if err != nil {
		return err
	}
	facts.Circle = *of
	if needs(worker.NeedRoll) {
		if facts.Roll, err = r.Roll(of.ID); err != nil {
			return err
		}
	}
	if needs(worker.NeedLedger) {
		facts.Ledger = slices.Clone(c.papers.ledger)
		for i := range t.Earlier {
			ledger, err := r.Ledger(t.Earlier[i].ID)
			if err != nil {
				return err
			}
			facts.Ledger = append(facts.Ledger, ledger...)
		}
	}
	if needs(worker.NeedGifts) {
		if err := c.gifts(r); err != nil {
			return err
		}
	}
	if needs(worker.NeedNotes) {
		if err := c.notes(r, of); err != nil {
			return err
		}
	}
	if needs(worker.NeedBreach) && t.HandOver {
		return c.breach(r, sc)
	}
	return nil
}

// reader is who reads for a request: over an external channel nobody has proved
// to be the member, and what is private stays unread.
func (c *claim) reader() string {
	if c.task.Request.Origin == envelope.External {
		return ""
	}
	return c.task.Request.Member
}

// enough is how many notes and gifts a worker is told of.
const enough = 20

func (c *claim) gifts(r Reader) error {
	list, err := r.Artifacts(ArtifactFilter{
		Circles: []string{c.task.Request.Circle}, Types: []envelope.ArtifactType{envelope.GiftProposal}, Statuses: []artifact.Status{artifact.Confirmed},
	}, pipeline.Page{Limit: enough})
	if err != nil {
		return err
	}
	for _, a := range list {
		seen := openTo(a)
		if seen.SeenBy(c.reader(), true, true) && !c.level().Wider(seen.Visibility) {
			c.task.Facts.Gifts = append(c.task.Facts.Gifts, *a)
		}
	}
	return nil
}

// level is how widely what the worker returns may be seen.
func (c *claim) level() envelope.Level {
	level := envelope.Private
	for _, t := range c.task.Outputs {
		l := c.task.Request.Target
		if internalTo(t) {
			l = l.Min(envelope.Circle)
		}
		if l.Wider(level) {
			level = l
		}
	}
	return level
}

func (c *claim) notes(r Reader, of *circle.Circle) error {
	found, err := r.Search(memory.Ask(c.task.Request.Text), []memory.Kind{memory.Kept, memory.OfArtifact, memory.OfDocument},
		memory.Viewer{Actor: c.reader(), Circle: of.ID, Clan: of.Clan}, enough)
	if err != nil {
		return err
	}
	for _, n := range found {
		// What fewer may see than will see the answer has no place in it.
		if !c.level().Wider(n.Visibility) {
			c.task.Facts.Notes = append(c.task.Facts.Notes, n)
		}
	}
	return nil
}

// breach is the redacted evidence of what stopped a request.
func (c *claim) breach(r Reader, sc *screen.Screen) error {
	kept, err := r.Request(c.task.Request.ID)
	if err != nil {
		return err
	}
	e, err := envelope.Decode(kept.Envelope)
	if err != nil {
		return fault.E("request.breach", fault.Internal, "the envelope of a request does not read", err)
	}
	ch, err := r.Channel(kept.Channel)
	if err != nil {
		return err
	}
	list, err := r.Breaches(ch.ID, ch.Counts(c.task.Facts.Set.Registry().Limits, kept.CreatedAt))
	if err != nil {
		return err
	}
	b := &worker.Breach{Condition: kept.Stops[0], Channel: e.Circle.Channel, Suspended: !ch.Suspended.IsZero(), Hits: []worker.Hit{}}
	for _, one := range list {
		if !one.At.After(kept.CreatedAt) {
			b.InWindow++
		}
	}
	report := sc.Read(e.InputText)
	for _, f := range findings(&report) {
		if f.Sort != string(screen.SortBreach) || f.Data || len(b.Hits) == 64 {
			continue
		}
		masked := sc.Read(clipped(e.InputText[f.Start:f.End], 200))
		b.Hits = append(b.Hits, worker.Hit{Finding: f, Masked: masked.Redacted})
	}
	c.task.Facts.Breach = b
	return nil
}

// prepared is a challenge that nobody was shown yet.
type prepared struct {
	challenge *Challenge
}

// prepare makes a challenge for the member, which is opened when a draft names it.
func (s *Service) prepare(ctx context.Context, c *claim) error {
	t := c.task
	id := &worker.Identity{Action: sensitive(t.Request.Actions), Factors: []worker.Factor{}}
	t.Facts.Identity = id
	if t.Request.Origin == envelope.External {
		return nil // over such a channel nobody can prove anything
	}
	var factors []*Factor
	err := s.conf.Store.View(ctx, func(r Reader) (err error) {
		factors, err = r.Factors(t.Request.Member)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range factors {
		if f.Counts() {
			id.Factors = append(id.Factors, worker.Factor{ID: f.ID, Kind: string(f.Kind), Name: f.Name})
		}
	}
	kind := Strongest(factors)
	if kind == "" || s.conf.Prover == nil {
		return nil
	}
	ch := &Challenge{
		ID: derived("chal", t.Run), Actor: t.Request.Member, Circle: t.Request.Circle, Request: t.Request.ID, Action: id.Action, Kind: kind,
		CreatedAt: t.Now, ExpiresAt: t.Now.Add(t.Facts.Set.Registry().Limits.StepUp),
	}
	asked, err := s.conf.Prover.Ask(Asking{Challenge: ch.ID, Actor: ch.Actor, Kind: kind, Factors: factors})
	if err != nil {
		return engineFault(err)
	}
	ch.Material = asked.Material
	c.asked = &prepared{ch}
	id.Prepared = &worker.Challenge{ID: ch.ID, Kind: string(kind), ExpiresAt: ch.ExpiresAt}
	if w := asked.WebAuthn; w != nil {
		id.Prepared.WebAuthn = &worker.WebAuthn{
			Challenge: w.Challenge, RelyingParty: w.RelyingParty, Credentials: w.Credentials, UserVerification: w.UserVerification,
		}
	}
	return nil
}

// sensitive is what a step-up is for: the most far-reaching of the actions.
func sensitive(actions []envelope.Action) envelope.Action {
	for _, a := range []envelope.Action{envelope.ExportDraft, envelope.CoreChangeDraft, envelope.StepUp} {
		if slices.Contains(actions, a) {
			return a
		}
	}
	return envelope.StepUp
}

// opens keeps the challenge that a draft names; a draft that names another opens
// none.
func (x *session) opens(a *artifact.Artifact, p *prepared) error {
	var content struct {
		ID string `json:"challenge_id"`
	}
	if err := json.Unmarshal(a.Content, &content); err != nil || content.ID != p.challenge.ID {
		return nil //nolint:nilerr // the schema admitted it
	}
	return x.CreateChallenge(p.challenge)
}

// settleAt has an artifact looked at again when the time for a consent runs out.
func (x *session) settleAt(a *artifact.Artifact, at time.Time) error {
	return x.enqueue(JobSettle, a.ID+"/"+at.UTC().Format("20060102T150405.000000"), a.Provenance.RequestID, settleArgs{Artifact: a.ID}, at)
}

// settleArgs names an artifact.
type settleArgs struct {
	Artifact string `json:"artifact"`
}
