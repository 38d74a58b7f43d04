package worker

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// The bounds of a privacy report.
const (
	maxChecked  = 256
	maxFindings = 1000
	maxRemedies = 64
)

// checked is one thing Privacy-Sentinel went through.
type checked struct {
	source   artifact.Source
	findings []Finding
}

// privacySentinel says what in a text is delicate, where it stands and who may
// see it (docs/spec/circle.md §1). What it says of a place is the rule and a
// mask; nothing that was found is in the report.
func privacySentinel(t *Task) (Result, error) {
	all := t.checked()
	objects, findings := make([]canonical.Object, len(all)), []canonical.Object{}
	kinds, order := map[string]int{}, []string{}
	for i, c := range all {
		objects[i] = canonical.Object{
			{Key: "kind", Value: string(c.source.Kind)}, {Key: "id", Value: c.source.ID}, {Key: "visibility_level", Value: string(c.source.Visibility)},
		}
		put(&objects[i], "sha256", c.source.SHA256)
		for _, f := range c.findings {
			kind := reportKind(f)
			if kind == "" || len(findings) == maxFindings {
				continue
			}
			if kinds[kind]++; kinds[kind] == 1 {
				order = append(order, kind)
			}
			o := canonical.Object{
				{Key: "rule", Value: clip(f.Rule, 128)},
				{Key: "kind", Value: kind},
				{Key: "checked", Value: i},
				{Key: "span", Value: canonical.Object{{Key: "start", Value: f.Start}, {Key: "end", Value: f.End}}},
				{Key: "masked", Value: mask(f)},
			}
			if people := t.concerned(); c.source.Kind == artifact.FromRequest && len(people) == 1 && f.Sort == "personal" {
				o = append(o, canonical.Member{Key: "person", Value: clip(people[0], 128)})
			}
			findings = append(findings, o)
		}
	}
	say := t.tongue()
	summary := say.say(sayClean, len(all))
	if len(order) > 0 {
		named := make([]string, len(order))
		for i, k := range order {
			named[i] = say.say(sayKinds, k, kinds[k])
		}
		summary = say.say(sayFound, len(all), say.list(named))
	}
	found := []Finding{}
	for _, c := range all {
		found = append(found, c.findings...)
	}
	v := t.visibility(all, flagsOf(found))
	rotate := secret(found)
	if rotate {
		summary += " " + say.say(sayRotate)
	}
	o := canonical.Object{
		{Key: "summary", Value: line(summary)},
		{Key: "checked", Value: objects},
		{Key: "findings", Value: findings},
		{Key: "flags", Value: texts(flagsOf(found))},
		{Key: "visibility", Value: canonical.Object{
			{Key: "target", Value: string(t.Request.Target)},
			{Key: "ceiling", Value: v.name()},
			{Key: "allowed", Value: v.allowed},
			{Key: "reason", Value: line(v.reason)},
		}},
		{Key: "rotate", Value: rotate},
	}
	if text := redacted(t.Request.Text, t.Request.Findings); text != "" {
		o = append(o, canonical.Member{Key: "redacted_text", Value: text})
	}
	put(&o, "remedies", t.privacyRemedies(all, v))
	d := drafted(envelope.PrivacyReport, o)
	for _, c := range all[1:] {
		d.Sources = append(d.Sources, c.source)
	}
	return Result{Drafts: []Draft{d}}, nil
}

// checked is everything that was handed over, the request first.
func (t *Task) checked() []checked {
	s := t.Request.Source
	s.Kind, s.ID = artifact.FromRequest, t.Request.ID
	if !s.Visibility.Valid() {
		s.Visibility = t.Request.Target
	}
	list := []checked{{s, t.Request.Findings}}
	for _, d := range t.found() {
		list = append(list, checked{d.Source, d.Findings})
	}
	for i := range t.Earlier {
		list = append(list, checked{t.Earlier[i].AsSource(), nil})
	}
	return list[:min(len(list), maxChecked)]
}

// reportKind is the kind of a finding as the report has it; "" for what is none
// of its business.
func reportKind(f Finding) string {
	switch f.flagOf() {
	case envelope.Secrets:
		return "secret"
	case envelope.PersonalData, envelope.Health, envelope.Finance, envelope.Legal, envelope.Minors, envelope.Location:
		return string(f.flagOf())
	case envelope.CoreChange, envelope.ExternalAction, envelope.Critical:
	}
	return ""
}

// mask stands in the place of what was found: it says of what kind that is.
func mask(f Finding) string {
	kind := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || r == '_' {
			return r
		}
		return -1
	}, f.Kind)
	if kind == "" {
		kind = reportKind(f)
	}
	return "[" + clip(kind, 100) + "]"
}

// redacted is a text with everything personal masked. Where a secret was taken
// out of it the places no longer fit, and it is left out altogether.
func redacted(text string, findings []Finding) string {
	if secret(findings) {
		return ""
	}
	var b strings.Builder
	last := 0
	for _, f := range findings {
		if reportKind(f) == "" || f.Start < last || f.End > len(text) || f.Start >= f.End {
			continue
		}
		b.WriteString(text[last:f.Start])
		b.WriteString(mask(f))
		last = f.End
	}
	b.WriteString(text[last:])
	return b.String()
}

// verdict is the target held against the ceilings and the sources.
type verdict struct {
	ceiling envelope.Level // "" is none
	allowed bool
	reason  string
	flag    envelope.Flag // that decides; "" when a source does, or nothing
}

func (v verdict) name() string {
	if v.ceiling == "" {
		return "none"
	}
	return string(v.ceiling)
}

func (t *Task) visibility(all []checked, called []envelope.Flag) verdict {
	say := t.tongue()
	flags := t.allFlags()
	for _, f := range called {
		if !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	others := slices.DeleteFunc(t.concerned(), func(m string) bool { return m == t.Request.Member })
	var v verdict
	v.ceiling, v.flag = artifact.Ceiling(t.Facts.Set.Registry().Ceilings, flags, len(others) == 0, "")
	v.reason = say.say(sayNoFlag)
	if v.flag != "" {
		v.reason = say.say(sayFlagRule, v.flag, say.level(v.ceiling))
	}
	for _, c := range all {
		if v.ceiling.Wider(c.source.Visibility) {
			v.ceiling, v.flag = c.source.Visibility, ""
			v.reason = say.say(saySource, clip(c.source.ID, 100), say.level(c.source.Visibility))
		}
	}
	v.allowed = v.ceiling != "" && !t.Request.Target.Wider(v.ceiling)
	return v
}

// privacyRemedies is what would have to change, one line for each way; none when
// nothing has to.
func (t *Task) privacyRemedies(all []checked, v verdict) []canonical.Object {
	say := t.tongue()
	list := []canonical.Object{}
	add := func(c envelope.Condition, change string, who ...string) {
		o := canonical.Object{{Key: "condition", Value: string(c)}, {Key: "change", Value: line(change)}}
		put(&o, "who", who)
		if len(list) < maxRemedies {
			list = append(list, o)
		}
	}
	blocked := func(c envelope.Condition) bool { return slices.Contains(t.Stops, c) }
	if !v.allowed || blocked(envelope.VisibilityClash) {
		if v.ceiling != "" && v.ceiling != t.Request.Target {
			add(envelope.VisibilityClash, say.say(sayLower, say.level(v.ceiling)))
		}
		if people := t.concerned(); v.flag != "" && v.flag != envelope.Secrets && len(people) > 0 {
			add(envelope.VisibilityClash, say.say(sayAsk), people...)
		} else if v.flag != "" && v.flag != envelope.Secrets {
			add(envelope.VisibilityClash, say.say(sayAsk), t.Request.Member)
		}
		for _, c := range all {
			for _, f := range c.findings {
				if kind := reportKind(f); kind != "" {
					add(envelope.VisibilityClash, say.say(sayLeaveOut, kind, f.Start, f.End))
				}
			}
		}
	}
	for _, c := range all {
		if blocked(envelope.ExportNotPublic) && c.source.Visibility != envelope.Public {
			add(envelope.ExportNotPublic, say.say(sayPartOut, clip(c.source.ID, 100), say.level(c.source.Visibility)))
		}
	}
	return list
}
