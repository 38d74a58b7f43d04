package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/triage"
	"plimsoll.dev/internal/request/worker"
)

// Ask is the entry of every request (docs/spec/circle.md §6). The text is an
// envelope; the answer is the package as far as it has come: workers run after
// it, as jobs. The same envelope again is answered with the package of the first.
//
// A request that is stopped is no error: its package says so. An envelope that is
// not one is a problem.List with every fault at once, and nothing has run.
func (s *Service) Ask(ctx context.Context, by pipeline.Caller, text []byte) (*Package, error) {
	e, faults := envelope.Decode(text)
	if faults == nil {
		faults = s.secretNames(&e)
	}
	if faults != nil {
		return nil, s.unreadable(ctx, by, e, faults)
	}
	d, err := s.door(ctx, by, e)
	if err != nil {
		// Refused before anything was read; the audit log hears of it.
		return do(ctx, s, by, "request.ask", func(x *session) (*Package, error) { return nil, err })
	}
	for again := 0; ; again++ {
		p, err := do(ctx, s, by, "request.ask", func(x *session) (*Package, error) { return x.ask(d) })
		if !errors.Is(err, errRaced) || again == 3 {
			return p, err
		}
	}
}

// errRaced is that the same id was taken while this request was: whether by the
// same envelope is seen when it is read again.
var errRaced = fault.E("request.Ask", fault.Unavailable, "the id of the request was taken at this moment", nil)

// arrival is a request at the door, with everything that was read and decided
// outside of the transaction that keeps it.
type arrival struct {
	given   envelope.Envelope
	e       envelope.Envelope // as it counts
	adapter string            // the actor that brought it; "" for the member
	set     *constitution.Set
	report  screen.Report
	triaged Triaged
	papers  papers
}

// door reads whatever a request refers to, screens it, and lets triage decide.
func (s *Service) door(ctx context.Context, by pipeline.Caller, e envelope.Envelope) (*arrival, error) {
	d := &arrival{given: e, set: s.conf.Set.Set()}
	known, err := view(ctx, s, by, func(r Reader, a *pipeline.Actor) (bool, error) {
		if err := d.enter(r, a); err != nil {
			return false, err
		}
		_, err := r.Request(d.e.RequestID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return false, err
		}
		return err == nil, nil
	})
	if err != nil || known {
		return d, err
	}
	d.report = s.conf.Screen.Read(d.e.InputText)
	if !d.report.Secrets() && !d.report.Breach() { // else nothing more is read for it
		if d.papers, err = s.read(ctx, &d.e); err != nil {
			return d, err
		}
	}
	t, err := s.triages.by(d.set)
	if err != nil {
		return d, err
	}
	in := triage.Input{Envelope: &d.e, Report: &d.report, Consent: triage.Consent{Own: d.own(), Granted: d.papers.lifted != "", Lifted: d.papers.lifted}}
	for i, doc := range d.papers.documents {
		if doc.Found {
			in.Sources = append(in.Sources, triage.Source{Level: doc.Source.Visibility, External: doc.Source.Origin == envelope.External, Report: &d.papers.reports[i]})
		}
	}
	result := t.Decide(in)
	d.triaged = decided(&result)
	return d, nil
}

// own says whether nobody but the member who asks is concerned.
func (d *arrival) own() bool {
	return !slices.ContainsFunc(d.e.Circle.Participants, func(p string) bool { return p != d.e.Circle.MemberID })
}

// enter checks who asks: the member in person, or an adapter in the name of one,
// over whose channel everything is from outside (docs/spec/circle.md §4).
func (d *arrival) enter(r reader, a *pipeline.Actor) error {
	d.e = d.given
	switch {
	case a.Roles.Has(contract.ChannelAdapter):
		d.adapter = string(a.ID)
		d.e = d.e.OverAdapter(over(d.adapter, d.e.Circle.Channel.ID))
	case a.Type != contract.Human:
		return problem.New(problem.HumanRequired, "an agent or a service asks as a channel, with the role channel_adapter")
	case d.e.Circle.MemberID != string(a.ID):
		return problem.At(problem.MemberMismatch, "/circle_context/member_id", "the member is not who asks")
	}
	_, roll, err := membership(r, d.e.Circle.CircleID, d.e.Circle.MemberID, "ask in it")
	if err != nil {
		return err
	}
	for i, p := range d.e.Circle.Participants {
		if _, ok := roll.At(p, r.Now()); !ok {
			return problem.At(problem.FieldInvalid, fmt.Sprintf("/circle_context/participants/%d", i), "a participant is no member of the circle")
		}
	}
	return nil
}

// over is the channel of an adapter: its own id before the one it names, so that
// two adapters never share a channel.
func over(adapter, channel string) string {
	name := adapter + "/" + channel
	if len(name) > envelope.MaxID {
		name = adapter + "/" + artifact.Digest([]byte(channel))[:24]
	}
	return name[:min(len(name), envelope.MaxID)]
}

// ask keeps a request, and begins what is to be done for it.
func (x *session) ask(d *arrival) (*Package, error) {
	// What was true at the door is read again: this transaction decides.
	if err := d.enter(x, x.actor); err != nil {
		return nil, err
	}
	e := &d.e
	x.about(ofRequest, e.RequestID, e.RequestID)
	x.rec.Cause = provenance(e.Circle.Channel.Kind)
	known, err := x.Request(e.RequestID)
	switch {
	case err == nil && known.SHA256 == e.SHA256():
		x.quiet = true
		return x.s.packed(x, x.Contracts(), known, x.actor)
	case err == nil:
		return nil, problem.At(problem.IDConflict, "/request_id", "the id belongs to another request")
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	case d.triaged.Intent == "": // it was there at the door, and is no more
		return nil, fault.E("request.Ask", fault.Unavailable, "the request was being taken", nil)
	}
	ch, err := x.channel(d)
	if err != nil {
		return nil, err
	}
	r, err := x.accept(d, ch)
	if err != nil {
		return nil, err
	}
	if err := x.CreateRequest(r); err != nil {
		if fault.KindOf(err) == fault.Conflict {
			err = errRaced
		}
		return nil, err
	}
	f, err := x.load(r)
	if err != nil {
		return nil, err
	}
	if err := f.advance(); err != nil {
		return nil, err
	}
	return x.s.packed(x, x.Contracts(), r, x.actor)
}

// channel is the way the request came over, which exists from its first request
// on. A suspended one lets nothing in.
func (x *session) channel(d *arrival) (*circle.Channel, error) {
	e := &d.e
	ch, err := x.Channel(circle.ChannelID(e.Circle.CircleID, e.Circle.Channel, e.Circle.MemberID))
	if err == nil {
		return ch, ch.Open()
	}
	if fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	opened := circle.OpenChannel(e.Circle.CircleID, e.Circle.Channel, e.Circle.MemberID, d.adapter, x.Now())
	return &opened, x.CreateChannel(&opened)
}

// accept is the request as it is kept, with its plan: of what stops it, or of
// what it needs.
func (x *session) accept(d *arrival, ch *circle.Channel) (*Request, error) {
	e, registry := &d.e, d.set.Registry()
	stops := d.stops(registry)
	sum := e.SHA256()
	kept := *e
	kept.InputText = clipped(d.report.Redacted, envelope.MaxText)
	d.triaged.Stops = stops
	plan := planned(registry, e, d.triaged)
	if len(stops) > 0 {
		x.rec.To = string(stops[0])
		plan = Plan{Steps: handOver(registry, stops[0])}
	} else if !answerable(registry, e, d.triaged, plan) {
		d.triaged.Intent, plan = constitution.Unclear, Plan{Steps: []PlanStep{}}
	}
	if slices.Contains(stops, envelope.BreachDetected) {
		if err := x.breached(d, ch, registry.Limits); err != nil {
			return nil, err
		}
	}
	if slices.Contains(stops, envelope.SecretsDetected) {
		x.note("request.stop", event.Record{
			Kind: ofRequest, ID: e.RequestID, ErrorCode: string(envelope.SecretsDetected), ErrorMessage: "a secret was found; rotate it",
			Ground: d.places(screen.SortSecret), Cause: provenance(e.Circle.Channel.Kind),
		})
	}
	r := &Request{
		ID: e.RequestID, Circle: e.Circle.CircleID, Member: e.Circle.MemberID, Channel: ch.ID, Origin: e.Circle.Channel.Kind, Target: e.Target,
		SHA256: sum, Envelope: kept.Encode(), Config: d.set.SHA256(), State: Running, Stops: stops, CreatedAt: x.Now(), UpdatedAt: x.Now(),
	}
	return r, errorsOf(encode(&r.Triage, d.triaged), encode(&r.Plan, plan))
}

// clipped is at most so many bytes of a text, cut between characters.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func encode(into *[]byte, v any) error {
	text, err := json.Marshal(v)
	*into = text
	return err
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stops is what stops or blocks the request before anything has run, in the order
// in which several act (docs/spec/circle.md §8).
func (d *arrival) stops(r *constitution.Registry) []envelope.Condition {
	found := map[envelope.Condition]bool{
		envelope.SecretsDetected: d.report.Secrets() || d.papers.secrets,
		envelope.BreachDetected:  d.report.Breach(),
		envelope.VisibilityClash: d.clash(r),
		envelope.ExportNotPublic: d.exports(),
	}
	for _, c := range d.triaged.Stops {
		// A consent is owed once there is something to consent to.
		found[c] = found[c] || c != envelope.ConsentOwed && c != envelope.OutputNotAllowed
	}
	list := []envelope.Condition{}
	for _, c := range envelope.Conditions() {
		if found[c] {
			list = append(list, c)
		}
	}
	return list
}

// clash says whether the target is wider than a flag or a source allows.
func (d *arrival) clash(r *constitution.Registry) bool {
	ceiling, _ := artifact.Ceiling(r.Ceilings, d.triaged.Flags, d.own(), d.papers.lifted)
	return d.e.Target.Wider(ceiling) || d.papers.narrower(d.e.Target)
}

// exports says whether something that is not public would have to leave.
func (d *arrival) exports() bool {
	return d.triaged.Intent == constitution.ExternalAction && (d.e.Target != envelope.Public || d.papers.narrower(envelope.Public))
}

// answerable says whether the request allows what its intent is for. One that
// does not is asked what it wants.
func answerable(r *constitution.Registry, e *envelope.Envelope, t Triaged, p Plan) bool {
	entry, ok := r.Intent(t.Intent)
	if !ok || len(p.Steps) == 0 {
		return false
	}
	if p.Chain != "" {
		return slices.ContainsFunc(entry.Outputs, func(o envelope.ArtifactType) bool { return e.Allows(o.Needs()) })
	}
	return !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return len(s.Outputs) == 0 })
}

// breached records a breach, and suspends the channel after so many.
func (x *session) breached(d *arrival, ch *circle.Channel, l constitution.Limits) error {
	e := &d.e
	b := circle.Breach{Channel: ch.ID, Request: e.RequestID, Member: e.Circle.MemberID, At: x.Now()}
	if err := x.AddBreach(b); err != nil {
		return err
	}
	x.note("request.breach", event.Record{
		Kind: ofRequest, ID: e.RequestID, ErrorCode: string(envelope.BreachDetected), ErrorMessage: "a breach was refused",
		From: e.Circle.MemberID, To: ch.ID, Ground: d.places(screen.SortBreach), Cause: provenance(e.Circle.Channel.Kind),
	})
	list, err := x.Breaches(ch.ID, ch.Counts(l, x.Now()))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(o circle.Breach) bool { return o.Request == b.Request }) {
		list = append(list, b)
	}
	next := ch.Breached(list, l, x.Now())
	if next.Suspended.IsZero() == ch.Suspended.IsZero() {
		return nil
	}
	x.note("channel.suspend", event.Record{Kind: ofChannel, ID: ch.ID, From: e.Circle.MemberID, Cause: provenance(ch.Kind)})
	if err := x.UpdateChannel(&next); err != nil {
		return err
	}
	*ch = next
	return nil
}

// places is the redacted evidence of a sort of finding: rules and spans.
func (d *arrival) places(sort screen.Sort) string {
	list := []string{}
	for _, f := range d.report.Findings {
		if f.Sort == sort && !f.Data && len(list) < 16 {
			list = append(list, f.String())
		}
	}
	return strings.Join(list, "; ")
}

// unreadable refuses an envelope that is none. To ask for what no request may ask
// for is a breach, also where nothing else can be read; it counts when it is known
// over which channel it came.
func (s *Service) unreadable(ctx context.Context, by pipeline.Caller, e envelope.Envelope, faults error) error {
	_, err := do(ctx, s, by, "request.ask", func(x *session) (*Package, error) {
		list, ok := errors.AsType[problem.List](faults)
		if !ok || !list.Has(problem.Breach) || e.RequestID == "" || e.Circle.Channel.ID == "" || !e.Circle.Channel.Kind.Valid() {
			return nil, faults
		}
		d := &arrival{given: e, set: s.conf.Set.Set()}
		if err := d.enter(x, x.actor); err != nil {
			return nil, faults
		}
		x.about(ofRequest, d.e.RequestID, d.e.RequestID)
		ch, err := x.channel(d)
		if err == nil {
			err = x.breached(d, ch, d.set.Registry().Limits)
		}
		if err != nil && problem.CodeOf(err) == "" {
			return nil, err
		}
		x.kept = faults
		return nil, nil
	})
	return err
}

// secretNames refuses a secret where a name belongs: an id is a key, and would
// have to be kept. The fault points at the member and repeats nothing.
func (s *Service) secretNames(e *envelope.Envelope) error {
	names := []struct{ path, text string }{
		{"/request_id", e.RequestID},
		{"/circle_context/circle_id", e.Circle.CircleID},
		{"/circle_context/member_id", e.Circle.MemberID},
		{"/circle_context/channel/id", e.Circle.Channel.ID},
	}
	for i, p := range e.Circle.Participants {
		names = append(names, struct{ path, text string }{fmt.Sprintf("/circle_context/participants/%d", i), p})
	}
	for i, r := range e.Circle.References {
		names = append(names, struct{ path, text string }{fmt.Sprintf("/circle_context/references/%d/id", i), r.ID})
	}
	var b strings.Builder
	ends := make([]int, len(names))
	for i, n := range names {
		b.WriteString(n.text + "\n")
		ends[i] = b.Len()
	}
	report := s.conf.Screen.Read(b.String())
	var faults problem.List
	for _, f := range report.Findings {
		if f.Sort != screen.SortSecret {
			continue
		}
		i, _ := slices.BinarySearch(ends, f.Span.Start+1)
		path := names[min(i, len(names)-1)].path
		if !slices.ContainsFunc(faults, func(p *problem.Problem) bool { return p.Path == path }) {
			faults = append(faults, problem.At(problem.SecretFound, path, "a secret stands where a name belongs: rotate it"))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	*e = envelope.Envelope{}
	return faults
}

// papers is what the references of a request name, as it was read.
type papers struct {
	documents []worker.Document // in the order of the references
	referred  []artifact.Artifact
	ledger    []artifact.Consent
	reports   []screen.Report // of their texts
	gates     []worker.Boundary
	secrets   bool           // one of them holds a secret
	lifted    envelope.Level // to which the consents to the artifacts among them lift a ceiling
	at        time.Time
}

// narrower says whether one of them is not for as many as a level.
func (p *papers) narrower(l envelope.Level) bool {
	return slices.ContainsFunc(p.documents, func(d worker.Document) bool { return d.Found && l.Wider(d.Source.Visibility) })
}
