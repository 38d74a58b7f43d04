package worker

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// consent asks everybody whose consent an artifact needs, for exactly what it
// would do. Who is asked, and what they have said already, is the ledger's.
func (t *Task) consent(a *artifact.Artifact) Draft {
	say := t.tongue()
	demand := t.demand(a)
	if demand.Empty() { // nobody must be asked; whoever wants it asked is
		demand.Of = []artifact.Owed{{Member: t.Request.Member, Why: artifact.Requester}}
	}
	standing := a.Stand(demand, t.Facts.Ledger, t.Facts.Roll, t.Now)
	from, owing := []canonical.Object{}, []string{}
	for _, l := range slices.Concat(standing.Of, standing.Council) {
		if len(from) == 1024 {
			break
		}
		from = append(from, canonical.Object{
			{Key: "member_id", Value: l.Member}, {Key: "why", Value: string(l.Why)}, {Key: "decision", Value: string(l.Answer)},
		})
		if l.Answer != artifact.AnswerGranted && l.Why != artifact.OfCouncil && len(owing) < 256 {
			owing = append(owing, l.Member)
		}
	}
	deadline := a.ConsentBy
	if deadline.IsZero() {
		deadline = t.Now.Add(t.Facts.Set.Registry().Limits.Consent)
	}
	action := a.Scope.Action
	if !action.Valid() {
		action = a.Type.Needs()
	}
	level := a.Scope.Visibility
	if !level.Valid() {
		level = a.Visibility
	}
	o := canonical.Object{
		{Key: "question", Value: line(t.question(a, level))},
		{Key: "subject", Value: artifactRef(a.ID, a.ContentSHA256)},
		{Key: "scope", Value: canonical.Object{
			{Key: "action", Value: string(action)},
			{Key: "visibility_level", Value: string(level)},
			{Key: "recipients", Value: parties(a.Scope.Recipients)},
		}},
		{Key: "from", Value: from},
		{Key: "deadline", Value: timestamp(deadline)},
		{Key: "step_up", Value: demand.StepUp},
		{Key: "locale", Value: string(say)},
	}
	remedies := []canonical.Object{}
	remedy := func(change string, who []string) {
		r := canonical.Object{{Key: "condition", Value: string(envelope.ConsentOwed)}, {Key: "change", Value: line(change)}}
		put(&r, "who", who)
		remedies = append(remedies, r)
	}
	if slices.Contains(t.Stops, envelope.ConsentOwed) || t.HandOver {
		if len(owing) > 0 {
			remedy(say.say(sayOwes, say.list(owing)), owing)
		}
		if demand.Needed > 0 {
			granted, missing := 0, []string{}
			for _, l := range standing.Council {
				if l.Answer == artifact.AnswerGranted {
					granted++
				} else if len(missing) < 256 {
					missing = append(missing, l.Member)
				}
			}
			if granted < demand.Needed {
				remedy(say.say(sayCouncil, demand.Needed, len(demand.Council), granted), missing)
			}
		}
	}
	if demand.Needed > 0 {
		o = append(o, canonical.Member{Key: "quorum", Value: canonical.Object{{Key: "needed", Value: demand.Needed}, {Key: "of", Value: len(demand.Council)}}})
	}
	put(&o, "remedies", remedies)
	d := drafted(envelope.ConsentRequest, o)
	d.Sources = []artifact.Source{}
	if slices.ContainsFunc(t.Facts.Referred, func(r artifact.Artifact) bool { return r.ID == a.ID }) {
		d.Sources = append(d.Sources, a.AsSource())
	}
	d.WaitsFor = a.ID
	return d
}

// question is one plain question about one artifact.
func (t *Task) question(a *artifact.Artifact, level envelope.Level) string {
	say := t.tongue()
	what := say.quote(clip(line(title(a)), 160))
	switch {
	case a.Type == envelope.BridgeDraft || a.Scope.Action == envelope.ExportDraft:
		to := []string{}
		for _, p := range a.Scope.Recipients {
			to = append(to, clip(p.ID, 80))
		}
		if len(to) == 0 {
			to = append(to, say.say(sayNobody))
		}
		return say.say(askExport, what, say.list(to[:min(len(to), 3)]))
	case a.Type == envelope.CoreChangeProposal:
		return say.say(askCore, what)
	}
	return say.say(askSee, what, say.level(level))
}

// testimony writes down what the circle decided or left open, as the record has
// it. Nobody agreed unless the ledger says so of this very text.
func (t *Task) testimony() Draft {
	say := t.tongue()
	a := t.newest(envelope.DecisionDraft)
	name, outcome := say.say(sayUntitled), "open"
	decisions, dissent := []canonical.Object{}, []canonical.Object{}
	var needed, granted, refused int
	var decidedAt string
	if a != nil {
		name = title(a)
		decisions = append(decisions, artifactRef(a.ID, a.ContentSHA256))
		subject := a
		if a.WaitsFor != "" {
			for _, list := range [][]artifact.Artifact{t.Earlier, t.Facts.Referred} {
				if i := slices.IndexFunc(list, func(x artifact.Artifact) bool { return x.ID == a.WaitsFor }); i >= 0 {
					subject = &list[i]
				}
			}
		}
		s := subject.Stand(t.demand(subject), t.Facts.Ledger, t.Facts.Roll, t.Now)
		needed = len(s.Of) + s.Needed
		for _, l := range s.Of {
			granted, refused = granted+one(l.Answer == artifact.AnswerGranted), refused+one(l.Answer == artifact.AnswerRefused || l.Answer == artifact.AnswerRevoked)
		}
		yes, no := 0, 0
		for _, l := range s.Council {
			yes, no = yes+one(l.Answer == artifact.AnswerGranted), no+one(l.Answer == artifact.AnswerRefused || l.Answer == artifact.AnswerRevoked)
		}
		granted, refused = granted+min(yes, s.Needed), refused+min(no, s.Needed-min(yes, s.Needed))
		switch out := s.Outcome(); {
		case a.Status == artifact.Confirmed:
			outcome, decidedAt = "adopted", timestamp(a.ConfirmedAt)
		case out == artifact.SomeoneNo || out == artifact.TakenBack || out == artifact.RanOut || a.Reason == artifact.Decline:
			outcome = "declined"
		}
	}
	pending := max(0, needed-granted-refused)
	sentence := map[string]phrase{"open": sayOpen, "adopted": sayAdopted, "declined": sayDeclined}[outcome]
	counted := say.say(sayNoConsent)
	if needed > 0 {
		counted = say.say(sayCounted, needed, granted, refused, pending)
	}
	members := t.members()
	present := []string{t.Request.Member}
	for _, p := range t.Request.Participants {
		if slices.Contains(members, p) && !slices.Contains(present, p) && len(present) < 1024 {
			present = append(present, p)
		}
	}
	for _, s := range sentences(t.Request.Text) {
		if !dissentWords.in(s.of(t.Request.Text)) || len(dissent) == 256 {
			continue
		}
		o := canonical.Object{{Key: "text", Value: line(s.of(t.Request.Text))}}
		if who := mentions(s.of(t.Request.Text), members); len(who) == 1 {
			o = append(o, canonical.Member{Key: "member_id", Value: who[0]})
		}
		dissent = append(dissent, o)
	}
	o := canonical.Object{
		{Key: "title", Value: line(say.say(sayTestimony, clip(name, 200)))},
		{Key: "statement", Value: strings.Join([]string{say.say(sentence, t.Now.Format("2006-01-02"), clip(name, 400)), counted}, " ")},
		{Key: "outcome", Value: outcome},
		{Key: "decisions", Value: decisions},
		{Key: "present", Value: present},
		{Key: "consents", Value: canonical.Object{
			{Key: "needed", Value: needed}, {Key: "granted", Value: granted}, {Key: "refused", Value: refused}, {Key: "pending", Value: pending},
		}},
		{Key: "locale", Value: string(say)},
	}
	put(&o, "decided_at", decidedAt)
	put(&o, "dissent", dissent)
	d := drafted(envelope.TestimonyDraft, o)
	d.Concerns = t.concerned()
	return d
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
