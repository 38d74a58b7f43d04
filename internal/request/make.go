package request

import (
	"encoding/json"
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/worker"
)

// What becomes of an answer: drafts are held against the output contract, and the
// status, origin and level of an artifact are set here, by the type and the plan.

// acts says whether an artifact of a type would do something once it is
// confirmed; the others inform.
func acts(t envelope.ArtifactType) bool {
	return slices.Contains([]envelope.ArtifactType{
		envelope.DecisionDraft, envelope.TestimonyDraft, envelope.CoreChangeProposal, envelope.BridgeDraft, envelope.GiftProposal,
		envelope.MergeProposal, envelope.MemoryNote,
	}, t)
}

// internalTo says whether a type is about the request and not for those the
// outcome is for: it is seen by the circle at most.
func internalTo(t envelope.ArtifactType) bool {
	return slices.Contains([]envelope.ArtifactType{
		envelope.PrivacyReport, envelope.GateVerdict, envelope.ConsentRequest, envelope.IdentityChallenge, envelope.IdentityAssertion,
		envelope.AuditEntry, envelope.BreachReport, envelope.HealthReport,
	}, t)
}

// levelOf is the level an artifact of a type is for.
func (f *flow) levelOf(t envelope.ArtifactType) envelope.Level {
	if internalTo(t) {
		return f.r.Target.Min(envelope.Circle)
	}
	return f.r.Target
}

// reach is the widest level of what a step may return: what it rests on must be
// for as many (docs/spec/circle.md §6.5).
func (f *flow) reach(step int) envelope.Level {
	level := envelope.Private
	for _, t := range f.plan.Steps[step].Outputs {
		if l := f.levelOf(t); l.Wider(level) {
			level = l
		}
	}
	return level
}

// make turns drafts into artifacts. The condition is the one that an answer met,
// "" when it is as it was asked for; then nothing of it is kept.
func (f *flow) make(c *claim, result worker.Result) ([]artifact.Artifact, envelope.Condition) {
	step := f.plan.Steps[c.args.Step]
	if len(result.Drafts) == 0 || len(result.Drafts) > len(c.task.IDs) {
		return nil, envelope.OutputNotAllowed
	}
	conf := &f.x.s.conf
	for _, d := range result.Drafts {
		if report := conf.Screen.Read(string(d.Content)); report.Secrets() {
			return nil, envelope.SecretsDetected
		}
	}
	made := make([]artifact.Artifact, 0, len(result.Drafts))
	for i := range result.Drafts {
		d := &result.Drafts[i]
		if !slices.Contains(step.Outputs, d.Type) || !c.worker.May(d.Type) {
			return nil, envelope.OutputNotAllowed
		}
		m, condition := f.making(c, d, i, made)
		if condition != "" {
			return nil, condition
		}
		a, err := artifact.Make(m, conf.Contents)
		if err != nil {
			return nil, envelope.OutputNotAllowed // what is wrong is the worker's, and it is asked again
		}
		f.begins(&a, made)
		made = append(made, a)
	}
	return made, ""
}

// making is what an artifact is made of.
func (f *flow) making(c *claim, d *worker.Draft, i int, made []artifact.Artifact) (artifact.Making, envelope.Condition) {
	handOver := f.plan.Steps[c.args.Step].HandOver != ""
	m := artifact.Making{
		ID: c.task.IDs[i], Circle: f.r.Circle, Owner: f.r.Member, Type: d.Type, Status: artifact.Draft, Content: d.Content,
		Origin: f.r.Origin, Concerns: f.concerned(d.Concerns), Now: f.x.Now(),
		Provenance: artifact.Provenance{
			RequestID: f.r.ID, Worker: c.run.Worker, RunID: c.run.ID, ConstitutionVersion: c.run.ConstitutionVersion,
			SubagentPromptVersion: c.run.SubagentPromptVersion, Engine: c.run.Engine, Model: c.run.Model, Sources: c.sources(d),
		},
		Scope: artifact.Scope{Action: d.Type.Needs(), Recipients: parties(d)},
	}
	_, bound := artifact.Bounds(m.Provenance.Sources)
	level := f.levelOf(d.Type)
	if d.Level.Valid() {
		level = level.Min(d.Level)
	}
	if internalTo(d.Type) || handOver {
		// It says what is wrong with a request that may be for more than it may be.
		m.Target = level.Min(bound)
		if !m.Target.Valid() {
			m.Target = envelope.Private
		}
		m.Scope.Visibility = m.Target
		if handOver && acts(d.Type) {
			m.Target, m.Blocks = m.Target.Min(envelope.Circle), slices.Clone(f.r.Stops)
			m.Scope.Visibility = m.Target
		}
		return m, ""
	}
	m.Flags = flagged(f.t.Flags, d.Flags)
	if d.Type == envelope.BridgeDraft && !payloadPublic(d, m.Provenance.Sources) {
		return m, envelope.ExportNotPublic
	}
	ceiling, _ := artifact.Ceiling(f.set.Registry().Ceilings, m.Flags, f.own(m.Concerns), c.papers.lifted)
	if level.Wider(ceiling) || level.Wider(bound) {
		return m, envelope.VisibilityClash
	}
	m.Target, m.Scope.Visibility = level, level
	for _, c := range f.r.Stops { // the request was blocked while this ran
		if acts(d.Type) && (c == envelope.VisibilityClash || c == envelope.ExportNotPublic) {
			m.Blocks = append(m.Blocks, c)
		}
	}
	m.WaitsFor = f.waitsFor(d, made)
	return m, ""
}

// own says whether nobody but the member who asks is concerned.
func (f *flow) own(concerns []string) bool {
	others := func(m string) bool { return m != f.r.Member }
	return !slices.ContainsFunc(concerns, others) && !slices.ContainsFunc(f.e.Circle.Participants, others)
}

// concerned is who of those a draft names is a member, each once.
func (f *flow) concerned(list []string) []string {
	out := []string{}
	for _, m := range list {
		if m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

func flagged(of, more []envelope.Flag) []envelope.Flag {
	list := []envelope.Flag{}
	for _, flag := range envelope.Flags() {
		if slices.Contains(of, flag) || slices.Contains(more, flag) {
			list = append(list, flag)
		}
	}
	return list
}

// waitsFor is the artifact of this request whose consents a draft waits for, as
// far as the request has one.
func (f *flow) waitsFor(d *worker.Draft, made []artifact.Artifact) string {
	if d.WaitsFor == "" || f.artifact(d.WaitsFor) == nil && !slices.ContainsFunc(made, func(a artifact.Artifact) bool { return a.ID == d.WaitsFor }) {
		return ""
	}
	return d.WaitsFor
}

// begins sets the status an artifact begins with: whatever is critical waits for
// consent, what would act waits for a person, the rest informs
// (docs/spec/circle.md §5). A draft is never confirmed here.
func (f *flow) begins(a *artifact.Artifact, made []artifact.Artifact) {
	if len(a.Blocks) > 0 {
		return
	}
	by := f.x.Now().Add(f.set.Registry().Limits.Consent)
	switch {
	case a.Type == envelope.ConsentRequest:
		a.WaitsFor = f.subject(a, made)
		a.Status, a.ConsentBy = artifact.WaitingForConsent, by
	case internalTo(a.Type):
	case len(a.Critical()) > 0:
		a.Status, a.ConsentBy, a.Blocks = artifact.WaitingForConsent, by, []envelope.Condition{envelope.ConsentOwed}
		if a.Type == envelope.TestimonyDraft && a.WaitsFor == "" {
			a.WaitsFor = f.testified(made) // who agrees to the decision agrees to its testimony
		}
		if a.WaitsFor != "" && !f.covers(a, made) {
			a.WaitsFor = ""
		}
	case acts(a.Type) && (a.Type != envelope.MemoryNote || a.Provenance.Origin == envelope.External):
		a.Status = artifact.NeedsConfirmation
	}
}

// testified is the artifact whose consents the decision of this request waits
// for, "" when there is none.
func (f *flow) testified(made []artifact.Artifact) string {
	id := ""
	look := func(a *artifact.Artifact) {
		if a.Type == envelope.DecisionDraft {
			id = a.ID
			if a.WaitsFor != "" {
				id = a.WaitsFor
			}
		}
	}
	for _, a := range f.artifacts {
		look(a)
	}
	for i := range made {
		look(&made[i])
	}
	return id
}

// subject is the artifact that a consent request is about, as its content says.
func (f *flow) subject(a *artifact.Artifact, made []artifact.Artifact) string {
	var content struct {
		Subject struct {
			ID     string `json:"artifact_id"`
			SHA256 string `json:"content_sha256"`
		} `json:"subject"`
	}
	if err := json.Unmarshal(a.Content, &content); err != nil {
		return ""
	}
	if s := f.named(content.Subject.ID, made); s != nil && s.ContentSHA256 == content.Subject.SHA256 {
		return s.ID
	}
	return ""
}

func (f *flow) named(id string, made []artifact.Artifact) *artifact.Artifact {
	if a := f.artifact(id); a != nil {
		return a
	}
	for i := range made {
		if made[i].ID == id {
			return &made[i]
		}
	}
	return nil
}

// covers says whether consents to the artifact that another waits for are good
// for it as well: it is at least as critical, and as widely seen.
func (f *flow) covers(a *artifact.Artifact, made []artifact.Artifact) bool {
	s := f.named(a.WaitsFor, made)
	if s == nil || s.WaitsFor != "" || s.Status != artifact.WaitingForConsent || a.Scope.Visibility.Wider(s.Scope.Visibility) {
		return false
	}
	for _, c := range a.Critical() {
		if !slices.Contains(s.Critical(), c) {
			return false
		}
	}
	for _, m := range a.Concerns {
		if !slices.Contains(s.Concerns, m) {
			return false
		}
	}
	return true
}

// sources is what a draft was made from: all that the worker was told, and what
// the draft names besides.
func (c *claim) sources(d *worker.Draft) []artifact.Source {
	list := []artifact.Source{}
	add := func(s artifact.Source) {
		if s.ID != "" && !slices.Contains(list, s) && len(list) < 256 {
			list = append(list, s)
		}
	}
	if c.task.Request.Text != "" {
		add(c.task.Request.Source)
	}
	for _, doc := range c.task.Facts.Documents {
		if doc.Found {
			add(doc.Source)
		}
	}
	for i := range c.task.Earlier {
		add(c.task.Earlier[i].AsSource())
	}
	for _, s := range d.Sources {
		add(s)
	}
	return list
}

// payloadPublic says whether every part of what would leave is public, of those
// the draft names and of those the worker was told.
func payloadPublic(d *worker.Draft, sources []artifact.Source) bool {
	var content struct {
		Public bool `json:"public"`
		Parts  []struct {
			Level envelope.Level `json:"visibility_level"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(d.Content, &content); err != nil || !content.Public {
		return false
	}
	for _, p := range content.Parts {
		if p.Level != envelope.Public {
			return false
		}
	}
	return !slices.ContainsFunc(sources, func(s artifact.Source) bool { return s.Visibility != envelope.Public })
}

// parties is who gets what a draft would send, as its content says: what people
// consent to is what they read.
func parties(d *worker.Draft) []artifact.Party {
	type party struct {
		Kind artifact.PartyKind `json:"kind"`
		ID   string             `json:"id"`
	}
	var content struct {
		Recipients []party `json:"recipients"`
		Receiver   *party  `json:"receiver"`
	}
	if d.Type != envelope.BridgeDraft && d.Type != envelope.GiftProposal || json.Unmarshal(d.Content, &content) != nil {
		return []artifact.Party{}
	}
	if content.Receiver != nil {
		content.Recipients = append(content.Recipients, *content.Receiver)
	}
	list := []artifact.Party{}
	for _, p := range content.Recipients {
		list = append(list, artifact.Party{Kind: p.Kind, ID: p.ID})
	}
	return list
}

// done keeps what a run made, with what follows from it, and begins what comes
// next.
func (f *flow) done(c *claim, run *Run, made []artifact.Artifact) error {
	x := f.x
	run.State, run.EndedAt, run.Artifacts = RunDone, x.Now(), []string{}
	for i := range made {
		a := &made[i]
		if err := x.CreateArtifact(a); err != nil {
			return err
		}
		f.artifacts = append(f.artifacts, a)
		run.Artifacts = append(run.Artifacts, a.ID)
		x.note("artifact.create", event.Record{
			Kind: ofArtifact, ID: a.ID, Version: a.Version, To: string(a.Status), Cause: provenance(a.Provenance.Origin), Digest: a.ContentSHA256,
		})
		if err := x.follows(a); err != nil {
			return err
		}
		if a.Type == envelope.IdentityChallenge && c.asked != nil {
			if err := x.opens(a, c.asked); err != nil {
				return err
			}
		}
		if !a.ConsentBy.IsZero() && a.WaitsFor == "" {
			if err := x.settleAt(a, a.ConsentBy); err != nil {
				return err
			}
		}
	}
	x.note("run.end", event.Record{Kind: ofRun, ID: run.ID, To: string(run.Worker), Cause: provenance(run.Origin), Digest: run.PromptSHA256})
	if err := x.UpdateRun(run); err != nil {
		return err
	}
	return f.advance()
}

// follows is what an artifact does without a confirmation: a note that is owed to
// nobody is kept.
func (x *session) follows(a *artifact.Artifact) error {
	if a.Type != envelope.MemoryNote || a.Status != artifact.Draft && a.Status != artifact.Confirmed || len(a.Blocks) > 0 {
		return nil
	}
	return x.keep(a, memory.Kept)
}

// keep makes an artifact something that can be found by its words.
func (x *session) keep(a *artifact.Artifact, kind memory.Kind) error {
	n := memory.Note{
		ID: "note-" + a.ID, Kind: kind, Circle: a.Circle, Owner: a.Owner, Visibility: a.Visibility, Origin: a.Provenance.Origin, Source: a.ID,
		SHA256: a.ContentSHA256, CreatedAt: x.Now(),
	}
	var content struct {
		Act       string `json:"act"`
		Title     string `json:"title"`
		Text      string `json:"text"`
		Proposal  string `json:"proposal"`
		Statement string `json:"statement"`
		Question  string `json:"question"`
		Message   string `json:"message"`
		Gift      string `json:"gift"`
		Merged    string `json:"merged"`
		Reason    string `json:"reason"`
		ExpiresAt string `json:"expires_at"`
	}
	if err := json.Unmarshal(a.Content, &content); err != nil || content.Act == "recall" {
		return nil //nolint:nilerr // the schema admitted it: what is not there is not found
	}
	for _, t := range []string{content.Title, content.Gift, content.Question} {
		if n.Title == "" {
			n.Title = t
		}
	}
	for _, t := range []string{content.Text, content.Proposal, content.Statement, content.Message, content.Merged, content.Reason} {
		if n.Text == "" {
			n.Text = t
		}
	}
	if n.Title == "" && n.Text == "" {
		return nil
	}
	if at, ok := contract.ParseTimestamp(content.ExpiresAt); ok {
		n.ExpiresAt = at.Time()
	}
	return x.Keep(n)
}
