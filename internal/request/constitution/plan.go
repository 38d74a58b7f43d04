package constitution

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/request/envelope"
)

// The bounds of what an intent may list.
const (
	maxTriggers     = 500 // of one intent in one locale
	maxTriggerTerms = 8
	maxTriggerBytes = 200
)

// intents reads who serves what. Each intent is there once: triage decides among
// exactly these.
func (d *decoder) intents(n *yaml.Node) {
	if n == nil {
		return
	}
	seen := map[Intent]int{}
	phrases := map[Locale]map[string]Intent{}
	for _, e := range d.items(n, "intents") {
		id := Intent(d.peek(e, "id"))
		what := "an intent"
		if id != "" {
			what = clip(string(id))
		}
		keys := []string{"id", "?chain", "?workers", "outputs", "actions", "triggers"}
		if id == Unclear {
			keys = []string{"id", "question"}
		}
		f := d.fields(e, what, keys...)
		if id == "" {
			continue
		}
		if !id.Valid() {
			d.wrong(f["id"], "%q is no intent", what)
			continue
		}
		if first := seen[id]; first > 0 {
			d.wrong(e, "%s is listed twice; the first is on line %d", what, first)
			continue
		}
		seen[id] = d.line(e)
		entry := IntentEntry{ID: id}
		if id == Unclear {
			if q := f["question"]; q != nil {
				entry.Question = d.localized(q, "the question of "+what)
			}
		} else {
			d.served(e, f, &entry)
			entry.Outputs = d.outputs(f["outputs"], "the outputs of "+what)
			entry.Actions = d.actions(f["actions"], "the actions of "+what)
			entry.Triggers = d.triggers(f["triggers"], id, phrases)
		}
		d.registry.Intents = append(d.registry.Intents, entry)
	}
	for _, id := range intents {
		if seen[id] == 0 {
			d.wrong(n, "the intents have no %s", id)
		}
	}
}

// served reads the chain of an intent that has one, and the workers of another.
func (d *decoder) served(n *yaml.Node, f map[string]*yaml.Node, entry *IntentEntry) {
	_, chained := chainSteps()[entry.ID]
	switch {
	case chained && f["workers"] != nil:
		d.wrong(f["workers"], "%s has a chain and so no workers of its own", entry.ID)
	case chained && f["chain"] == nil:
		d.wrong(n, "%s has no chain", entry.ID)
	case !chained && f["chain"] != nil:
		d.wrong(f["chain"], "%s has workers and so no chain", entry.ID)
	case !chained && f["workers"] == nil:
		d.wrong(n, "%s has no workers", entry.ID)
	case chained:
		entry.Chain = d.text(f["chain"], "the chain of "+string(entry.ID))
		if entry.Chain != "" && entry.Chain != string(entry.ID) {
			d.wrong(f["chain"], "the chain of %s is %s", entry.ID, entry.ID)
		}
	default:
		for _, e := range d.items(f["workers"], "the workers of "+string(entry.ID)) {
			if id, ok := d.worksAs(e, "a worker of "+string(entry.ID)); ok {
				if slices.Contains(entry.Workers, id) {
					d.wrong(e, "%s is listed twice", id)
				}
				entry.Workers = append(entry.Workers, id)
			}
		}
		slices.SortStableFunc(entry.Workers, func(a, b AgentID) int {
			x, _ := protocol(a)
			y, _ := protocol(b)
			return x.priority - y.priority
		})
	}
}

// worksAs is the name of a worker; another name, or an agent that is none, is
// noted.
func (d *decoder) worksAs(n *yaml.Node, what string) (AgentID, bool) {
	id := AgentID(d.text(n, what))
	_, known := protocol(id)
	switch {
	case id == "" || known:
	case id == Base || id == Orchestrator:
		d.wrong(n, "%s is not a worker: %s can do nobody's job", what, id)
	default:
		d.wrong(n, "%s: %q is none of the thirteen workers", what, clip(string(id)))
	}
	return id, known
}

func (d *decoder) actions(n *yaml.Node, what string) []envelope.Action {
	var list []envelope.Action
	for _, e := range d.items(n, what) {
		a := envelope.Action(d.text(e, what))
		switch {
		case a == "":
		case !a.Valid():
			d.wrong(e, "%s: %q is no action", what, clip(string(a)))
		case slices.Contains(list, a):
			d.wrong(e, "%s: %s is listed twice", what, a)
		default:
			list = append(list, a)
		}
	}
	return list
}

// triggers reads the phrases of an intent. A phrase points at one intent: two
// that share one would be decided by their order.
func (d *decoder) triggers(n *yaml.Node, id Intent, phrases map[Locale]map[string]Intent) map[Locale][]Trigger {
	all := map[Locale][]Trigger{}
	if n == nil {
		return all
	}
	keys, values := d.entries(n, "the triggers of "+string(id))
	for i, k := range keys {
		l := Locale(k.Value)
		if !d.knows(k, l) {
			continue
		}
		what := "the triggers of " + string(id) + " in " + k.Value
		list := d.items(values[i], what)
		if len(list) > maxTriggers {
			d.wrong(values[i], "%s are more than %d", what, maxTriggers)
			list = list[:maxTriggers]
		}
		all[l] = []Trigger{}
		for _, e := range list {
			t, ok := d.trigger(e, "a trigger of "+string(id)+" in "+k.Value)
			if !ok {
				continue
			}
			if phrases[l] == nil {
				phrases[l] = map[string]Intent{}
			}
			if other, taken := phrases[l][t.Text]; taken {
				d.wrong(e, "the trigger %q points at %s already", t.Text, other)
				continue
			}
			phrases[l][t.Text] = id
			all[l] = append(all[l], t)
		}
	}
	for _, l := range d.registry.Locales {
		if all[l] == nil && !slices.ContainsFunc(keys, func(k *yaml.Node) bool { return k.Value == string(l) }) {
			d.wrong(n, "%s has no triggers in %s", id, l)
		}
	}
	return all
}

func (d *decoder) trigger(n *yaml.Node, what string) (Trigger, bool) {
	text := d.text(n, what)
	if text == "" {
		return Trigger{}, false
	}
	words := strings.Fields(text)
	switch {
	case len(text) > maxTriggerBytes || len(words) > maxTriggerTerms:
		d.wrong(n, "%s is longer than %d terms or %d bytes", what, maxTriggerTerms, maxTriggerBytes)
		return Trigger{}, false
	case strings.Join(words, " ") != text:
		d.wrong(n, "%s has white space that says nothing", what)
		return Trigger{}, false
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.ToLower(c) != c }):
		d.wrong(n, "%s is not in lower case; texts are compared so", what)
		return Trigger{}, false
	}
	t := Trigger{Text: text, Line: d.line(n)}
	for _, w := range words {
		term, stem := strings.CutSuffix(w, "*")
		if term == "" || strings.Contains(term, "*") {
			d.wrong(n, "%s has a term with nothing before its star", what)
			return Trigger{}, false
		}
		t.Terms = append(t.Terms, Term{Text: term, Stem: stem})
	}
	return t, true
}

// chains reads the plans. The workers and their order are the protocol's.
func (d *decoder) chains(n *yaml.Node) {
	if n == nil {
		return
	}
	keys, values := d.entries(n, "chains")
	seen := map[string]bool{}
	for i, k := range keys {
		want, known := chainSteps()[Intent(k.Value)]
		what := "the chain " + clip(k.Value)
		if !known {
			d.wrong(k, "%q is the chain of no intent", clip(k.Value))
			continue
		}
		seen[k.Value] = true
		chain := Chain{ID: k.Value}
		sound := true
		for j, e := range d.items(values[i], what) {
			step, ok := d.step(e, what, j == 0)
			sound = sound && ok
			chain.Steps = append(chain.Steps, step)
		}
		if sound && !slices.EqualFunc(chain.Steps, want, func(s Step, id AgentID) bool { return s.Worker == id }) {
			d.wrong(values[i], "%s does not have the steps of the protocol: %s", what, join(want))
		}
		d.registry.Chains = append(d.registry.Chains, chain)
	}
	for _, id := range intents {
		if _, must := chainSteps()[id]; must && !slices.ContainsFunc(keys, func(k *yaml.Node) bool { return k.Value == string(id) }) {
			d.wrong(n, "the chains have no %s", id)
		}
	}
}

func (d *decoder) step(n *yaml.Node, what string, first bool) (Step, bool) {
	f := d.fields(n, "a step of "+what, "worker", "outputs", "?when", "?required", "?beside")
	if f["worker"] == nil {
		return Step{}, false
	}
	id, ok := d.worksAs(f["worker"], "a step of "+what)
	s := Step{
		Worker: id, Outputs: d.outputs(f["outputs"], "the outputs of a step of "+what),
		Required: d.flag(f["required"], "required"), Beside: d.flag(f["beside"], "beside"),
	}
	if first && s.Beside {
		d.wrong(f["beside"], "the first step of %s has none to run beside", what)
	}
	if w, read := d.registry.Worker(id); read {
		for _, t := range s.Outputs {
			if !w.May(t) {
				d.wrong(f["outputs"], "%s may not return %s", id, t)
			}
		}
	}
	if when := f["when"]; when != nil {
		if text := d.text(when, "the condition of a step"); text != "" {
			c, err := newCondition(text)
			if err != nil {
				d.wrong(when, "the condition of a step of %s does not read: %v", what, err)
			}
			s.When = c
		}
	}
	return s, ok
}

func join(ids []AgentID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}
