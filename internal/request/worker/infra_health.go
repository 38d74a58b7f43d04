package worker

import (
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/envelope"
)

// states is how a part of the service may be, the best first.
var states = []string{"ok", "unknown", "degraded", "down"}

// What Infra-Health says.
var (
	sayWell      = phrase{"All %d parts are well.", "Усі частини справні: %d.", "%d個の部分はすべて正常。"}
	sayNotWell   = phrase{"Not well: %s. %d of %d parts are.", "Не справні: %s. Справних: %d із %d.", "正常でないもの：%s。%[3]d個のうち%[2]d個は正常。"}
	sayUnprobed  = phrase{"Nothing was measured.", "Нічого не виміряно.", "何も測っていない。"}
	sayReading   = phrase{"%s: %d %s.", "%s: %d %s.", "%s：%d %s。"}
	sayWithin    = phrase{"%s: %d %s; no longer well from %d on.", "%s: %d %s; межа %d.", "%s：%d %s。%dからは正常でない。"}
	sayNoReading = phrase{"%s.", "%s.", "%s。"}
	sayStates    = map[string]phrase{
		"ok": {"well", "справно", "正常"}, "unknown": {"did not answer", "не відповіло", "応答なし"}, "degraded": {"slow or full", "повільно або переповнено", "遅いか一杯"},
		"down": {"down", "не працює", "停止"},
	}
	sayUnits = map[string]phrase{
		"bytes": {"bytes", "байтів", "バイト"}, "count": {"items", "шт.", "件"}, "milliseconds": {"ms", "мс", "ミリ秒"}, "seconds": {"s", "с", "秒"}, "percent": {"%", "%", "%"},
	}
)

// infraHealth tells how the service is doing, by what its probes measured
// (docs/spec/circle.md §1). What a probe says in its own words is not repeated: it
// may name a machine or a path.
func infraHealth(t *Task) (Result, error) {
	say := t.tongue()
	components, bad, worst := []canonical.Object{}, []string{}, "ok"
	for _, p := range t.Facts.Probes[:min(len(t.Facts.Probes), 256)] {
		state := p.State
		if !slices.Contains(states, state) {
			state = "unknown"
		}
		if slices.Index(states, state) > slices.Index(states, worst) {
			worst = state
		}
		name := componentName(p.Name)
		if state != "ok" {
			bad = append(bad, name+" ("+say.say(sayStates[state])+")")
		}
		_, measured := sayUnits[p.Unit]
		measured = measured && p.Value >= 0 && p.Value < 1<<53
		o := canonical.Object{{Key: "name", Value: name}, {Key: "state", Value: state}}
		detail := say.say(sayNoReading, say.say(sayStates[state]))
		if measured {
			detail = say.say(sayReading, say.say(sayStates[state]), p.Value, say.say(sayUnits[p.Unit]))
			if p.Limit > 0 && p.Limit < 1<<53 {
				detail = say.say(sayWithin, say.say(sayStates[state]), p.Value, say.say(sayUnits[p.Unit]), p.Limit)
			}
		}
		o = append(o, canonical.Member{Key: "detail", Value: line(detail)})
		if measured {
			o = append(o, canonical.Member{Key: "value", Value: p.Value}, canonical.Member{Key: "unit", Value: p.Unit})
			if p.Limit > 0 && p.Limit < 1<<53 {
				o = append(o, canonical.Member{Key: "limit", Value: p.Limit})
			}
		}
		components = append(components, o)
	}
	summary := say.say(sayWell, len(components))
	switch {
	case len(components) == 0:
		worst, summary = "unknown", say.say(sayUnprobed)
		components = append(components, canonical.Object{{Key: "name", Value: "service"}, {Key: "state", Value: "unknown"}, {Key: "detail", Value: summary}})
	case len(bad) > 0:
		summary = say.say(sayNotWell, say.list(bad), len(components)-len(bad), len(components))
	}
	d := drafted(envelope.HealthReport, canonical.Object{
		{Key: "state", Value: worst}, {Key: "summary", Value: line(summary)}, {Key: "measured_at", Value: timestamp(t.Now)}, {Key: "components", Value: components},
	})
	return Result{Drafts: []Draft{d}}, nil
}

// componentName is the name of a probe as the schema has it.
func componentName(name string) string {
	name = strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, "0123456789_.-")
	if name == "" {
		name = "part"
	}
	return name[:min(len(name), 64)]
}
