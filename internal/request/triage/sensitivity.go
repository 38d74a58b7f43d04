package triage

import (
	"slices"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// flagsOf is what each kind of finding says about a request.
var flagsOf = map[screen.Kind][]envelope.Flag{
	screen.KindSecret: {envelope.Secrets},
	screen.Email:      {envelope.PersonalData},
	screen.Phone:      {envelope.PersonalData},
	screen.NationalID: {envelope.PersonalData},
	screen.Account:    {envelope.PersonalData, envelope.Finance},
	screen.Birth:      {envelope.PersonalData},
	screen.Name:       {envelope.PersonalData},
	screen.Address:    {envelope.PersonalData, envelope.Location},
	screen.Place:      {envelope.Location},
	screen.Illness:    {envelope.Health},
	screen.Minor:      {envelope.Minors},
	screen.Money:      {envelope.Finance},
	screen.Law:        {envelope.Legal},
}

// sensitivity adds flags to those of the envelope, and removes none: what the
// screen found, what the sources are, what the request is about, what a model
// thinks.
func (d *decision) sensitivity() {
	e := d.in.Envelope
	for _, f := range e.Flags {
		d.flag(f, "envelope.sensitivity_flags", screen.Span{})
	}
	for _, f := range d.in.Report.Findings {
		for _, flag := range flagsOf[f.Kind] {
			d.flag(flag, f.Rule, f.Span)
		}
	}
	for _, s := range d.in.Sources {
		for _, f := range s.Flags {
			d.flag(f, "source.flags", screen.Span{})
		}
		if s.Report == nil {
			continue
		}
		for _, f := range s.Report.Findings {
			if f.Sort == screen.SortBreach && !f.Data {
				// Nobody in the circle asked for it: it is ignored, and shown.
				d.say(OfOrigin, "ignored", "source."+f.Rule, screen.Span{})
			}
			for _, flag := range flagsOf[f.Kind] {
				d.flag(flag, "source."+f.Rule, screen.Span{})
			}
		}
	}
	if d.speaksOf(constitution.ExternalAction, envelope.ExportDraft) {
		d.about(envelope.ExternalAction, constitution.ExternalAction)
	}
	if d.speaksOf(constitution.CoreChange, envelope.CoreChangeDraft) {
		d.about(envelope.CoreChange, constitution.CoreChange)
	}
	if d.in.Model != nil {
		for _, f := range d.in.Model.Flags {
			if f.Valid() {
				d.flag(f, "model", screen.Span{})
			}
		}
	}
	for _, c := range []struct {
		because bool
		rule    string
	}{
		{d.flags[envelope.ExternalAction], "critical.external_action"},
		{d.flags[envelope.CoreChange], "critical.core_change"},
		{e.Target.Wider(envelope.Circle), "critical.target"},
		{d.flags[envelope.Health] && e.Target.Wider(envelope.Private), "critical.health"},
		{d.flags[envelope.Minors] && e.Target.Wider(envelope.Private), "critical.minors"},
	} {
		if c.because {
			d.flag(envelope.Critical, c.rule, screen.Span{})
		}
	}
	d.out.Flags = []envelope.Flag{}
	for _, f := range envelope.Flags() {
		if d.flags[f] {
			d.out.Flags = append(d.out.Flags, f)
		}
	}
	d.out.Guarded = d.guarded()
}

// deeds are the flags that say what a request does. They say nothing about whom or
// what it speaks of, and alone do not call the Privacy-Sentinel: the protocol's
// chain of a core change begins with Core-Guardian.
var deeds = []envelope.Flag{envelope.CoreChange, envelope.ExternalAction, envelope.Critical}

// guarded says whether the Privacy-Sentinel has to come first: for whatever is
// delicate, comes from outside or is meant for more than the circle.
func (d *decision) guarded() bool {
	return d.out.Origin == envelope.External || d.in.Envelope.Target.Wider(envelope.Circle) ||
		slices.ContainsFunc(d.out.Flags, func(f envelope.Flag) bool { return !slices.Contains(deeds, f) })
}

// about adds the flag of an intent, with the places that speak of it.
func (d *decision) about(f envelope.Flag, id constitution.Intent) {
	if d.out.Intent == id {
		d.flag(f, "intent."+string(id), screen.Span{})
	}
	for _, s := range d.spots[id] {
		d.flag(f, d.rule(s.Phrase), s.Span)
	}
}

func (d *decision) flag(f envelope.Flag, rule string, span screen.Span) {
	d.flags[f] = true
	d.say(OfSensitivity, string(f), rule, span)
}

// visibility is the widest level the flags and the sources allow
// (docs/spec/circle.md §7).
func (d *decision) visibility() {
	level := envelope.Public
	rule := ""
	lower := func(to envelope.Level, by string) {
		if level.Wider(to) {
			level, rule = to, by
		}
	}
	for _, f := range d.out.Flags {
		c, ok := d.registry.Ceiling(f)
		if !ok {
			continue
		}
		allowed := c.Without
		if allowed == envelope.Private && !d.private() {
			allowed = ""
		}
		if with := d.in.Consent.Lifted.Min(c.WithConsent); d.in.Consent.Lifted != "" && with.Wider(allowed) {
			allowed = with
		}
		lower(allowed, "ceiling."+string(f))
	}
	for _, s := range d.in.Sources {
		lower(s.Level, "source.level")
	}
	d.out.Ceiling = level
	if rule != "" {
		d.say(OfVisibility, string(level), rule, screen.Span{})
	}
}

// private says whether what may be private is the member's own: it is, when the
// circle knows that nobody else is concerned, and when only the member will see
// it. What a member may keep about others is decided with the artifact, which says
// whom it concerns.
func (d *decision) private() bool {
	return d.in.Consent.Own || d.in.Envelope.Target == envelope.Private
}

// consent is what the claim of the envelope is worth.
func (d *decision) consent() {
	claim := d.in.Envelope.Consent
	d.out.Critical = d.flags[envelope.Critical]
	rule := "envelope.consent_status"
	switch {
	case d.in.Consent.Granted:
		d.out.Consent, rule = envelope.ConsentGranted, "ledger"
	case claim == envelope.ConsentRefused || claim == envelope.ConsentRevoked:
		d.out.Consent = claim // against oneself a claim counts
	case claim == envelope.ConsentGranted:
		d.out.Consent, rule = envelope.ConsentMissing, "ledger"
	case d.out.Critical && claim != envelope.ConsentRequested:
		d.out.Consent, rule = envelope.ConsentMissing, "critical"
	default:
		d.out.Consent = claim
	}
	d.say(OfConsent, string(d.out.Consent), rule, screen.Span{})
}

// stops is what stops or blocks the request, in the order of docs/spec/circle.md §8.
func (d *decision) stops() {
	d.out.Stops = []envelope.Condition{}
	stop := func(c envelope.Condition, rule string, span screen.Span) {
		if !d.out.Stopped(c) {
			d.out.Stops = append(d.out.Stops, c)
		}
		d.say(OfStop, string(c), rule, span)
	}
	for _, f := range d.in.Report.Findings {
		if f.Sort == screen.SortSecret {
			stop(envelope.SecretsDetected, f.Rule, f.Span)
		}
	}
	for _, s := range d.in.Sources {
		if s.Report != nil && s.Report.Secrets() {
			stop(envelope.SecretsDetected, "source.secret", screen.Span{})
		}
	}
	if d.flags[envelope.Secrets] && !d.out.Stopped(envelope.SecretsDetected) {
		stop(envelope.SecretsDetected, "ceiling.secrets", screen.Span{})
	}
	for _, f := range d.in.Report.Findings {
		if f.Sort == screen.SortBreach && !f.Data {
			stop(envelope.BreachDetected, f.Rule, f.Span)
		}
	}
	if d.in.Envelope.Target.Wider(d.out.Ceiling) {
		stop(envelope.VisibilityClash, d.ceilingRule(), screen.Span{})
	}
	if d.out.Critical && d.out.Consent != envelope.ConsentGranted {
		stop(envelope.ConsentOwed, "critical", screen.Span{})
	}
}

// ceilingRule is the rule that set the ceiling.
func (d *decision) ceilingRule() string {
	for _, e := range d.out.Evidence {
		if e.Of == OfVisibility {
			return e.Rule
		}
	}
	return "ceiling"
}
