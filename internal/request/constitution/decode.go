package constitution

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/request/envelope"
)

var (
	localeForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`) })
	versionForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}$`)
	})
)

// assembles says whether a key means to take part in the making of a prompt.
func assembles(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc([]string{
		"prompt", "system", "append", "prepend", "prefix", "suffix", "override", "replace", "order", "inject", "template", "instruction",
		"preamble", "before", "after", "extra", "include",
	}, func(word string) bool { return strings.Contains(key, word) })
}

// decoder turns the registry's text into a Registry and keeps the lines that
// later checks point to.
type decoder struct {
	reader
	registry Registry
	prompts  map[AgentID]int // the line that names the prompt of an agent
}

func decodeRegistry(n *notes, path string, text []byte) *decoder {
	d := &decoder{reader: reader{notes: n, path: path}, prompts: map[AgentID]int{}}
	root := d.root(text)
	if root == nil {
		return d
	}
	f := d.fields(root, "the registry", "registry", "locales", "agents", "intents", "chains", "ceilings", "economy", "limits", "quorum")
	d.registry.Version = d.version(f["registry"], "the registry's version")
	d.locales(f["locales"])
	d.agents(f["agents"])
	d.chains(f["chains"])
	d.intents(f["intents"])
	d.ceilings(f["ceilings"])
	d.economy(f["economy"])
	d.limits(f["limits"])
	d.quorum(f["quorum"])
	return d
}

func (r *reader) version(n *yaml.Node, what string) string {
	v := r.text(n, what)
	if v != "" && !versionForm().MatchString(v) {
		r.wrong(n, "%s is not of the form 1.2.3", what)
	}
	return v
}

func (d *decoder) locales(n *yaml.Node) {
	for _, e := range d.items(n, "locales") {
		l := Locale(d.text(e, "a locale"))
		switch {
		case l == "":
		case !localeForm().MatchString(string(l)):
			d.wrong(e, "%q is not a language tag", clip(string(l)))
		case slices.Contains(d.registry.Locales, l):
			d.wrong(e, "the locale %s is listed twice", l)
		default:
			d.registry.Locales = append(d.registry.Locales, l)
		}
	}
}

// localized is a sentence in each of the registry's languages.
func (d *decoder) localized(n *yaml.Node, what string) map[Locale]string {
	texts := map[Locale]string{}
	if n == nil {
		return texts
	}
	keys, values := d.entries(n, what)
	for i, k := range keys {
		if l := Locale(k.Value); d.knows(k, l) {
			texts[l] = d.text(values[i], what+" in "+k.Value)
		}
	}
	for _, l := range d.registry.Locales {
		if _, ok := texts[l]; !ok {
			d.wrong(n, "%s has no text in %s", what, l)
		}
	}
	return texts
}

func (d *decoder) knows(n *yaml.Node, l Locale) bool {
	if !slices.Contains(d.registry.Locales, l) {
		d.wrong(n, "%q is none of the registry's locales", clip(string(l)))
		return false
	}
	return true
}

// outputs is a list of artifact types.
func (d *decoder) outputs(n *yaml.Node, what string) []envelope.ArtifactType {
	var list []envelope.ArtifactType
	for _, e := range d.items(n, what) {
		t := envelope.ArtifactType(d.text(e, what))
		switch {
		case t == "":
		case !t.Valid():
			d.wrong(e, "%s: %q is no type of artifact", what, clip(string(t)))
		case slices.Contains(list, t):
			d.wrong(e, "%s: %s is listed twice", what, t)
		default:
			list = append(list, t)
		}
	}
	return list
}

func (d *decoder) engine(n *yaml.Node, what string) Engine {
	e := Engine(d.text(n, what))
	if e != "" && !e.Valid() {
		d.wrong(n, "%s is neither builtin nor model", what)
	}
	return e
}

func (d *decoder) duration(n *yaml.Node, what string, unit, limit time.Duration) time.Duration {
	return time.Duration(d.number(n, what, int(limit/unit))) * unit
}

// agents reads the fifteen agents: each kind has keys of its own.
func (d *decoder) agents(n *yaml.Node) {
	if n == nil {
		return
	}
	seen := map[AgentID]int{}
	priorities := map[int]AgentID{}
	for _, e := range d.items(n, "agents") {
		id, kind := d.peek(e, "id"), d.peek(e, "kind")
		what := "an agent"
		if id != "" {
			what = clip(id)
		}
		var f map[string]*yaml.Node
		switch kind {
		case "constitution":
			f = d.fields(e, what, "id", "kind", "prompt")
			d.only(e, id, kind, Base)
		case "orchestrator":
			f = d.fields(e, what, "id", "kind", "prompt", "engine", "deadline_seconds", "about")
			d.only(e, id, kind, Orchestrator)
			d.registry.Manager = Manager{
				Engine: d.engine(f["engine"], "the engine of "+what), Deadline: d.deadline(f["deadline_seconds"], what),
				About: d.localized(f["about"], "about "+what),
			}
		case "worker":
			f = d.fields(e, what, "id", "kind", "prompt", "priority", "class", "engine", "outputs", "deadline_seconds", "about")
			d.worker(e, f, AgentID(id), priorities)
		default:
			f = d.fields(e, what, "id", "kind", "?prompt", "?priority", "?class", "?engine", "?outputs", "?deadline_seconds", "?about")
			if k := f["kind"]; k != nil {
				d.wrong(k, "the kind of %s is none of constitution, orchestrator and worker", what)
			}
		}
		if id == "" {
			continue
		}
		if first := seen[AgentID(id)]; first > 0 {
			d.wrong(e, "%s is listed twice; the first is on line %d", what, first)
			continue
		}
		seen[AgentID(id)] = d.line(e)
		if p := f["prompt"]; p != nil {
			d.promptPath(p, AgentID(id))
		}
	}
	for _, id := range agents() {
		if seen[id] == 0 {
			d.wrong(n, "the agents have no %s", id)
		}
	}
	slices.SortStableFunc(d.registry.Workers, func(a, b Worker) int { return a.Priority - b.Priority })
}

// peek is a member of a mapping that decides how the rest is read.
func (d *decoder) peek(n *yaml.Node, key string) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value
		}
	}
	return ""
}

func (d *decoder) only(n *yaml.Node, id, kind string, want AgentID) {
	if id != string(want) {
		d.wrong(n, "the only agent of kind %s is %s", kind, want)
	}
}

func (d *decoder) deadline(n *yaml.Node, what string) time.Duration {
	return d.duration(n, "the deadline of "+what, time.Second, time.Hour)
}

// promptPath checks that an agent's prompt is where the specification has it:
// the registry says so for its readers, and decides nothing.
func (d *decoder) promptPath(n *yaml.Node, id AgentID) {
	d.prompts[id] = d.line(n)
	want, known := promptPaths()[id]
	switch {
	case n.Kind != yaml.ScalarNode:
		d.wrong(n, "the prompt of %s is one file: nothing may add to, replace or reorder the parts of a prompt", clip(string(id)))
	case known && d.text(n, "the prompt of "+string(id)) != want:
		d.wrong(n, "the prompt of %s is %s and no other file", id, want)
	}
}

func (d *decoder) worker(n *yaml.Node, f map[string]*yaml.Node, id AgentID, priorities map[int]AgentID) {
	what := clip(string(id))
	rule, known := protocol(id)
	if !known && id != "" {
		d.wrong(n, "%s is none of the thirteen workers", what)
	}
	w := Worker{
		ID: id, Priority: d.number(f["priority"], "the priority of "+what, len(workers)), Class: Class(d.text(f["class"], "the class of "+what)),
		Engine: d.engine(f["engine"], "the engine of "+what), Outputs: d.outputs(f["outputs"], "the outputs of "+what),
		Deadline: d.deadline(f["deadline_seconds"], what), About: d.localized(f["about"], "about "+what),
	}
	if first, twice := priorities[w.Priority]; twice && w.Priority > 0 {
		d.wrong(f["priority"], "%s and %s have the same priority %d", first, what, w.Priority)
	} else if w.Priority > 0 {
		priorities[w.Priority] = id
		if known && w.Priority != rule.priority {
			d.wrong(f["priority"], "the priority of %s is %d by the protocol, not %d", what, rule.priority, w.Priority)
		}
	}
	if known && w.Class != "" && w.Class != rule.class {
		d.wrong(f["class"], "%s is %s by the protocol", what, rule.class)
	}
	if known && !slices.ContainsFunc(d.registry.Workers, func(o Worker) bool { return o.ID == id }) {
		d.registry.Workers = append(d.registry.Workers, w)
	}
}

// ceilings reads the widest level of each flag. A configuration may be stricter
// than docs/spec/circle.md §7, never laxer.
func (d *decoder) ceilings(n *yaml.Node) {
	if n == nil {
		return
	}
	read := map[envelope.Flag]Ceiling{}
	keys, values := d.entries(n, "ceilings")
	for i, k := range keys {
		flag := envelope.Flag(k.Value)
		widest, ok := widestCeilings()[flag]
		f := d.fields(values[i], "the ceiling of "+clip(k.Value), "without_consent", "with_consent")
		if !ok {
			d.wrong(k, "%q is no flag with a ceiling", clip(k.Value))
			continue
		}
		c := Ceiling{
			Flag: flag, Without: d.ceiling(f["without_consent"], flag, "without", widest.Without),
			WithConsent: d.ceiling(f["with_consent"], flag, "with", widest.WithConsent),
		}
		if c.Without.Wider(c.WithConsent) {
			d.wrong(values[i], "the ceiling of %s is lower with consent than without", flag)
		}
		read[flag] = c
	}
	for _, flag := range envelope.Flags() {
		if _, must := widestCeilings()[flag]; must {
			if c, ok := read[flag]; ok {
				d.registry.Ceilings = append(d.registry.Ceilings, c)
			} else if !slices.ContainsFunc(keys, func(k *yaml.Node) bool { return k.Value == string(flag) }) {
				d.wrong(n, "the ceilings have no %s", flag)
			}
		}
	}
}

// ceiling is one level of a ceiling; "none" is no level.
func (d *decoder) ceiling(n *yaml.Node, flag envelope.Flag, how string, widest envelope.Level) envelope.Level {
	what := fmt.Sprintf("the ceiling of %s %s consent", flag, how)
	text := d.text(n, what)
	if text == "" || text == "none" {
		return ""
	}
	level := envelope.Level(text)
	switch {
	case !level.Valid():
		d.wrong(n, "%s is none of none, private, circle, clan and public", what)
		return ""
	case widest == "":
		d.wrong(n, "%s can only be none", what)
		return ""
	case level.Wider(widest):
		d.wrong(n, "%s can be at most %s", what, widest)
	}
	return level
}

// economy refuses to let all workers of a class run at once.
func (d *decoder) economy(n *yaml.Node) {
	if n == nil {
		return
	}
	f := d.fields(n, "the section economy", "heavy", "supporting")
	count := map[Class]int{}
	for _, w := range workers {
		count[w.class]++
	}
	d.registry.Economy = Economy{
		Heavy:      d.number(f["heavy"], "the economy of heavy workers", count[Heavy]-1),
		Supporting: d.number(f["supporting"], "the economy of supporting workers", count[Supporting]-1),
	}
}

func (d *decoder) limits(n *yaml.Node) {
	if n == nil {
		return
	}
	f := d.fields(n, "the section limits", "regenerations", "steps", "artifacts", "breaches", "breach_window_minutes", "consent_days", "step_up_minutes")
	const day = 24 * time.Hour
	d.registry.Limits = Limits{
		Regenerations: d.number(f["regenerations"], "regenerations", 2),
		Steps:         d.number(f["steps"], "steps", 64),
		Artifacts:     d.number(f["artifacts"], "artifacts", 1024),
		Breaches:      d.number(f["breaches"], "breaches", 3),
		BreachWindow:  d.duration(f["breach_window_minutes"], "breach_window_minutes", time.Minute, 30*day),
		Consent:       d.duration(f["consent_days"], "consent_days", day, 366*day),
		StepUp:        d.duration(f["step_up_minutes"], "step_up_minutes", time.Minute, day),
	}
}

// quorum takes a fraction of more than a half: two halves of a council could
// decide against each other.
func (d *decoder) quorum(n *yaml.Node) {
	if n == nil {
		return
	}
	f := d.fields(n, "the section quorum", "members", "fraction")
	q := Quorum{Members: d.number(f["members"], "the quorum's members", math.MaxInt16), Numerator: 1, Denominator: 1}
	if text := d.text(f["fraction"], "the quorum's fraction"); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &q.Numerator, &q.Denominator); err != nil || text != fmt.Sprintf("%d/%d", q.Numerator, q.Denominator) ||
			q.Denominator < 1 || q.Denominator > 1000 || q.Numerator > q.Denominator || 2*q.Numerator <= q.Denominator {
			d.wrong(f["fraction"], "the quorum's fraction is not like 2/3: more than a half, and at most the whole")
			q.Numerator, q.Denominator = 1, 1
		}
	}
	d.registry.Quorum = q
}
