package request

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// flow is a request in a transaction, with everything that has been made of it.
// The transaction holds the request: two steps never change it at once.
type flow struct {
	x         *session
	r         *Request
	set       *constitution.Set
	e         envelope.Envelope
	t         Triaged
	plan      Plan
	runs      []*Run
	artifacts []*artifact.Artifact // newest versions, oldest artifact first
}

// load is what has been made of a request.
func (x *session) load(r *Request) (*flow, error) {
	f := &flow{x: x, r: r, set: x.s.conf.Set.Set()}
	return f, f.fill(x)
}

func (f *flow) fill(from reader) (err error) {
	if err := f.decode(); err != nil {
		return err
	}
	if f.runs, err = from.Runs(f.r.ID); err != nil {
		return err
	}
	if f.artifacts, err = from.ArtifactsOf(f.r.ID); err != nil {
		return err
	}
	slices.SortStableFunc(f.artifacts, func(a, b *artifact.Artifact) int { return f.place(a.ID) - f.place(b.ID) })
	return nil
}

// decode reads what is kept with the request itself.
func (f *flow) decode() (err error) {
	const op = "request.load"
	if f.e, err = envelope.Decode(f.r.Envelope); err != nil {
		return fault.E(op, fault.Internal, "the envelope of a request does not read", err)
	}
	if err := errorsOf(json.Unmarshal(f.r.Triage, &f.t), json.Unmarshal(f.r.Plan, &f.plan)); err != nil {
		return fault.E(op, fault.Internal, "the plan of a request does not read", err)
	}
	return nil
}

// place is where an artifact stands among all of the request, in the order of the
// plan, whoever was quicker.
func (f *flow) place(id string) int {
	for i, r := range f.runs { // by step and attempt
		if j := slices.Index(r.Artifacts, id); j >= 0 {
			return i*most + j
		}
	}
	return len(f.runs) * most
}

// derived is an id that follows from what it is of: a step that is repeated makes
// nothing twice.
func derived(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		h.Write(sum[:])
	}
	return prefix + "-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func runID(request string, step, attempt int64) string {
	return derived("run", request, strconv.FormatInt(step, 10), strconv.FormatInt(attempt, 10))
}

func artifactID(run string, n int) string { return derived("art", run, strconv.Itoa(n)) }

// last is the newest attempt at a step, nil when there is none. Steps of runs
// count from 1.
func (f *flow) last(step int) *Run {
	var best *Run
	for _, r := range f.runs {
		if r.Step == int64(step+1) && (best == nil || r.Attempt > best.Attempt) {
			best = r
		}
	}
	return best
}

// standing is how a step of the plan stands.
type standing int

const (
	open standing = iota
	passed
	broken // it failed, and nothing is tried again
)

func (f *flow) standing(step int) standing {
	if f.plan.Steps[step].Skipped != "" {
		return passed
	}
	r := f.last(step)
	switch {
	case r == nil || r.State == RunAlive:
		return open
	case r.State == RunDone:
		return passed
	case r.Fault == string(envelope.OutputNotAllowed) && r.Attempt <= int64(f.set.Registry().Limits.Regenerations):
		return open
	}
	return broken
}

// advance begins what comes next, or ends the request. It may be called at any
// time: what was begun is not begun again.
func (f *flow) advance() error {
	for first := 0; first < len(f.plan.Steps); first = f.plan.until(first) {
		if err := f.choose(first); err != nil {
			return err
		}
		waits := false
		for i := first; i < f.plan.until(first); i++ {
			switch f.standing(i) {
			case open:
				waits = true
				if err := f.call(i); err != nil {
					return err
				}
			case broken:
				if f.plan.Steps[i].Required {
					f.giveUp(i + 1)
				}
			case passed:
			}
		}
		if waits {
			return f.save()
		}
	}
	if f.unasked() {
		f.plan.Steps = append(f.plan.Steps, handOver(f.set.Registry(), envelope.ConsentOwed)...)
		return f.advance()
	}
	return f.finish()
}

// unasked says whether an artifact waits for consents that nobody has written a
// request for yet: Process is handed it, once.
func (f *flow) unasked() bool {
	if slices.ContainsFunc(f.plan.Steps, func(s PlanStep) bool { return s.HandOver != "" }) {
		return false
	}
	asked := func(id string) bool {
		return slices.ContainsFunc(f.artifacts, func(a *artifact.Artifact) bool { return a.Type == envelope.ConsentRequest && a.WaitsFor == id })
	}
	return slices.ContainsFunc(f.artifacts, func(a *artifact.Artifact) bool {
		return a.Status == artifact.WaitingForConsent && a.Type != envelope.ConsentRequest && a.WaitsFor == "" && !asked(a.ID)
	})
}

// choose decides which steps of a group have a turn.
func (f *flow) choose(first int) error {
	for i := first; i < f.plan.until(first); i++ {
		s := &f.plan.Steps[i]
		if s.Skipped != "" || f.last(i) != nil {
			continue
		}
		due, err := f.plan.due(f.set.Registry(), i, f.facts(first))
		if err != nil {
			// A condition that asks a content for what it does not hold: nobody has
			// said that the step may be left out.
			f.x.note("run.condition", event.Record{Kind: ofRequest, ID: f.r.ID, Cause: string(s.Worker), ErrorCode: "condition.failed", ErrorMessage: "the condition of a step does not hold or fail"})
			due = true
		}
		if !due {
			s.Skipped = SkipCondition
		} else if i >= f.set.Registry().Limits.Steps {
			s.Skipped = SkipStopped
		}
	}
	return nil
}

// giveUp ends the plan before a step. Who was handed a condition still runs.
func (f *flow) giveUp(from int) {
	for i := from; i < len(f.plan.Steps); i++ {
		if s := &f.plan.Steps[i]; s.Skipped == "" && s.HandOver == "" && f.last(i) == nil {
			s.Skipped = SkipStopped
		}
	}
}

// stepArgs names a worker's turn.
type stepArgs struct {
	Request string `json:"request"`
	Step    int    `json:"step"` // of the plan, from 0
	Attempt int64  `json:"attempt"`
}

// call has a job do a step.
func (f *flow) call(step int) error {
	args := stepArgs{Request: f.r.ID, Step: step, Attempt: 1}
	if r := f.last(step); r != nil {
		args.Attempt = r.Attempt
		if r.State == RunFailed {
			args.Attempt++
		}
	}
	return f.x.enqueue(JobStep, fmt.Sprintf("%s/%d/%d", f.r.ID, step+1, args.Attempt), f.r.ID, args, time.Time{})
}

// facts is what the condition of a step sees: what groups before it have made.
func (f *flow) facts(first int) constitution.Facts {
	out := constitution.Facts{
		Intent: string(f.t.Intent), Flags: names(f.t.Flags), Origin: string(f.r.Origin), Target: string(f.r.Target), Consent: string(f.t.Consent),
		Actions: names(f.e.AllowedActions), Expected: names(f.e.ExpectedOutputs), References: []string{}, Artifacts: []constitution.Fact{},
	}
	for _, r := range f.e.Circle.References {
		out.References = append(out.References, string(r.Kind))
	}
	for _, a := range f.before(first) {
		content := map[string]any{}
		if err := json.Unmarshal(a.Content, &content); err != nil {
			content = map[string]any{}
		}
		out.Artifacts = append(out.Artifacts, constitution.Fact{
			Type: string(a.Type), Worker: string(a.Provenance.Worker), Status: string(a.Status), Visibility: string(a.Visibility),
			Origin: string(a.Provenance.Origin), Content: content,
		})
	}
	return out
}

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// before is the artifacts that steps before a group have made, in the order of
// the plan.
func (f *flow) before(first int) []*artifact.Artifact {
	list := []*artifact.Artifact{}
	for i := range first {
		r := f.last(i)
		if r == nil || r.State != RunDone {
			continue
		}
		for _, id := range r.Artifacts {
			if a := f.artifact(id); a != nil {
				list = append(list, a)
			}
		}
	}
	return list
}

func (f *flow) artifact(id string) *artifact.Artifact {
	i := slices.IndexFunc(f.artifacts, func(a *artifact.Artifact) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return f.artifacts[i]
}

// stop adds a condition to those of the request.
func (f *flow) stop(c envelope.Condition) {
	if slices.Contains(f.r.Stops, c) {
		return
	}
	list := []envelope.Condition{}
	for _, known := range envelope.Conditions() {
		if known == c || slices.Contains(f.r.Stops, known) {
			list = append(list, known)
		}
	}
	f.r.Stops = list
	f.x.note("request.stop", event.Record{
		Kind: ofRequest, ID: f.r.ID, ErrorCode: string(c), ErrorMessage: "a stop condition was met", Cause: provenance(f.r.Origin),
	})
}

// halt ends the request at once: nothing more runs, and no draft is kept
// (docs/spec/circle.md §8).
func (f *flow) halt(c envelope.Condition) error {
	f.stop(c)
	f.giveUp(0)
	f.artifacts = nil
	return f.x.DropArtifacts(f.r.ID)
}

// block stops what the request asked for, and hands it to those who can say what
// would have to change.
func (f *flow) block(c envelope.Condition) error {
	f.stop(c)
	f.giveUp(0)
	f.plan.Steps = append(f.plan.Steps, handOver(f.set.Registry(), c)...)
	for _, a := range f.artifacts {
		if !acts(a.Type) || slices.Contains(a.Blocks, c) {
			continue
		}
		a.Blocks = append(slices.Clone(a.Blocks), c)
		if err := f.x.UpdateArtifact(a); err != nil {
			return err
		}
	}
	return nil
}

// save writes the request.
func (f *flow) save() error {
	if err := errorsOf(encode(&f.r.Triage, f.t), encode(&f.r.Plan, f.plan)); err != nil {
		return err
	}
	f.r.UpdatedAt = f.x.Now()
	return f.x.UpdateRequest(f.r)
}

// finish gives the request its answer. Nothing of it is ever confirmed.
func (f *flow) finish() error {
	o := outcome{Stops: []Stop{}, Artifacts: []artifactStatus{}, Owed: []Owed{}}
	statuses := []artifact.Status{}
	owed, err := f.owed()
	if err != nil {
		return err
	}
	o.Owed = owed
	for _, a := range f.artifacts {
		o.Artifacts = append(o.Artifacts, artifactStatus{a.ID, a.Version, a.Status})
		statuses = append(statuses, a.Status)
		if a.Status == artifact.WaitingForConsent && slices.Contains(a.Blocks, envelope.ConsentOwed) {
			f.stop(envelope.ConsentOwed)
		}
	}
	if f.t.Intent == constitution.Unclear && len(f.r.Stops) == 0 {
		o.Question = question(f.set.Registry(), f.t.Locale)
	}
	for _, c := range f.r.Stops {
		o.Stops = append(o.Stops, f.stopped(c))
	}
	if err := encode(&f.r.Package, o); err != nil {
		return err
	}
	f.r.State, f.r.Status, f.r.EndedAt = Ended, artifact.Demanding(statuses...), f.x.Now()
	f.x.note("request.end", event.Record{Kind: ofRequest, ID: f.r.ID, To: string(f.r.Status), Cause: provenance(f.r.Origin)})
	return f.save()
}

// stopped is a condition as the package shows it.
func (f *flow) stopped(c envelope.Condition) Stop {
	s := Stop{Condition: c, Effect: Block, HandedTo: []constitution.AgentID{}}
	if c.Stops() {
		s.Effect = Halt
	}
	switch c {
	case envelope.SecretsDetected:
		s.Recommend = "rotate"
	case envelope.ConsentOwed:
		s.HandedTo = append(s.HandedTo, constitution.Process)
	case envelope.OutputNotAllowed:
		for i := range f.plan.Steps {
			if f.standing(i) == broken && f.last(i).Fault == string(c) {
				s.HandedTo = append(s.HandedTo, f.plan.Steps[i].Worker)
			}
		}
	case envelope.BreachDetected, envelope.VisibilityClash, envelope.ExportNotPublic:
		for i, step := range f.plan.Steps {
			if step.HandOver == c && f.last(i) != nil {
				s.HandedTo = append(s.HandedTo, step.Worker)
			}
		}
	}
	return s
}

func question(r *constitution.Registry, locale string) string {
	entry, _ := r.Intent(constitution.Unclear)
	for _, l := range []constitution.Locale{constitution.Locale(locale), "en"} {
		if q := entry.Question[l]; q != "" {
			return q
		}
	}
	return ""
}

// owed is what people have to do before the artifacts take effect.
func (f *flow) owed() ([]Owed, error) {
	list := []Owed{}
	for _, a := range f.artifacts {
		switch a.Status {
		case artifact.WaitingForConsent:
			if a.WaitsFor != "" {
				continue
			}
			more, err := owedConsents(f.x, f.set.Registry().Quorum, a)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		case artifact.NeedsConfirmation:
			list = append(list, Owed{Kind: OwedConfirmation, ArtifactID: a.ID, SHA256: a.ContentSHA256})
		case artifact.Draft, artifact.Confirmed:
		}
	}
	return list, nil
}

// owedConsents is whose consents an artifact waits for.
func owedConsents(r reader, q constitution.Quorum, a *artifact.Artifact) ([]Owed, error) {
	st, d, err := stand(r, q, a)
	if err != nil {
		return nil, err
	}
	list := []Owed{}
	line := func(l artifact.Line, needed int) {
		list = append(list, Owed{
			Kind: OwedConsent, ArtifactID: a.ID, SHA256: a.ContentSHA256, Member: l.Member, Why: l.Why, Answer: l.Answer, Needed: needed,
			StepUp: d.StepUp, By: instant(a.ConsentBy),
		})
	}
	for _, l := range st.Of {
		line(l, 0)
	}
	for _, l := range st.Council {
		line(l, st.Needed)
	}
	return list, nil
}

// stand holds what an artifact needs against the ledger, now.
func stand(r reader, q constitution.Quorum, a *artifact.Artifact) (artifact.Standing, artifact.Demand, error) {
	c, err := r.Circle(a.Circle)
	if err != nil {
		return artifact.Standing{}, artifact.Demand{}, err
	}
	roll, err := r.Roll(a.Circle)
	if err != nil {
		return artifact.Standing{}, artifact.Demand{}, err
	}
	ledger, err := r.Ledger(a.ID)
	if err != nil {
		return artifact.Standing{}, artifact.Demand{}, err
	}
	d := a.Demand(c, roll, q, r.Now())
	return a.Stand(d, ledger, roll, r.Now()), d, nil
}

// running is the request of a job, nil when it has ended or is gone.
func (x *session) running(id string) (*flow, error) {
	r, err := x.Request(id)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if r.State != Running {
		return nil, nil
	}
	x.about(ofRequest, id, id)
	return x.load(r)
}
