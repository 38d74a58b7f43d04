package constitution_test

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/constitution"
)

// faults loads a configuration that must not load.
func faults(tb testing.TB, files fs.FS) []string {
	tb.Helper()
	s, err := constitution.Load(files)
	if err == nil || s != nil {
		tb.Fatal("a broken configuration loads")
	}
	list, ok := errors.AsType[constitution.Faults](err)
	if !ok || fault.KindOf(err) != fault.Invalid {
		tb.Fatalf("%v is not a list of faults", err)
	}
	lines := make([]string, len(list))
	for i, f := range list {
		lines[i] = f.String()
	}
	return lines
}

// place is the path and line of the first line that contains text.
func place(tb testing.TB, files fstest.MapFS, path, text string) string {
	tb.Helper()
	before, _, found := strings.Cut(string(files[path].Data), text)
	if !found {
		tb.Fatalf("%s does not contain %q", path, text)
	}
	return path + ":" + strconv.Itoa(strings.Count(before, "\n")+1) + ": "
}

// broken is one way to break the registry: old becomes new, once, and the fault
// says want at the line where at stands afterwards. {{text}} in want is the line
// of a text. What follows from the same change is in also, by place; | stands between
// two of one place.
type broken struct {
	name, old, new, at, want string
	also                     map[string]string
}

var lineOf = regexp.MustCompile(`(?s)\{\{(.*?)\}\}`)

func (b broken) check(t *testing.T) {
	t.Helper()
	t.Run(b.name, func(t *testing.T) {
		files := folder(t)
		text := string(files[constitution.RegistryPath].Data)
		if !strings.Contains(text, b.old) {
			t.Fatalf("the registry does not contain %q", b.old)
		}
		put(files, constitution.RegistryPath, strings.Replace(text, b.old, b.new, 1))
		line := func(text string) string {
			return strings.Split(place(t, files, constitution.RegistryPath, text), ":")[1]
		}
		want := []string{place(t, files, constitution.RegistryPath, b.at) + lineOf.ReplaceAllStringFunc(b.want, func(m string) string {
			return line(strings.Trim(m, "{}"))
		})}
		for at, also := range b.also {
			for _, one := range strings.Split(also, "|") {
				want = append(want, place(t, files, constitution.RegistryPath, at)+one)
			}
		}
		got := faults(t, files)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

const sentinel = "  - id: Privacy-Sentinel\n    kind: worker\n"

func TestEachFaultOfTheAgentsHasItsLine(t *testing.T) {
	for _, b := range []broken{
		{
			"a key twice", "priority: 1\n", "priority: 1\n    priority: 1\n", "priority: 1\n    class", `Privacy-Sentinel has the key "priority" twice; the first is on line {{priority: 1}}`, nil,
		},
		{"an unknown key", sentinel, sentinel + "    colour: blue\n", "colour", `Privacy-Sentinel has an unknown key "colour"`, nil},
		{"a key that appends", sentinel, sentinel + "    prompt_append: Be kind.\n", "prompt_append", `Privacy-Sentinel has the key "prompt_append": nothing may add to, replace or reorder the parts of a prompt`, nil},
		{"a key that overrides", "economy: {", "system_override: x\neconomy: {", "system_override", `the registry has the key "system_override": nothing may add to, replace or reorder the parts of a prompt`, nil},
		{"a key that reorders", sentinel, sentinel + "    before: JOS-BASE\n", "before:", `Privacy-Sentinel has the key "before": nothing may add to, replace or reorder the parts of a prompt`, nil},
		{"two prompts", "prompt: workers/Memory.md", "prompt: [workers/Memory.md, extra.md]", "extra.md", "the prompt of Memory is one file: nothing may add to, replace or reorder the parts of a prompt", nil},
		{"another prompt", "prompt: workers/Memory.md", "prompt: workers/Bridge.md #", "Bridge.md #", "the prompt of Memory is workers/Memory.md and no other file", nil},
		{"another constitution", "prompt: JOS_BASE.md", "prompt: orchestrator.md #", "orchestrator.md #", "the prompt of JOS-BASE is JOS_BASE.md and no other file", nil},
		{"no prompt", "    prompt: workers/Sync.md\n", "", "- id: Sync", "Sync has no prompt", nil},
		{"a worker nobody knows", "id: Gifts", "id: Trades", "- id: Trades", "Trades is none of the thirteen workers", map[string]string{"- id: JOS-BASE": "the agents have no Gifts"}},
		{"a missing kind", "    kind: orchestrator\n", "", "- id: Spirit-Orchestrator", "Spirit-Orchestrator has no kind", nil},
		{"an unknown kind", "kind: orchestrator", "kind: deputy", "kind: deputy", "the kind of Spirit-Orchestrator is none of constitution, orchestrator and worker", nil},
		{"a second orchestrator", "  - id: Memory\n    kind: worker\n", "  - {id: Memory, kind: constitution, prompt: workers/Memory.md}\n  - id: Memory\n    kind: worker\n", "- {id: Memory", "the only agent of kind constitution is JOS-BASE", map[string]string{
			"- id: Memory": "Memory is listed twice; the first is on line 181",
		}},
		{"a priority of another", "priority: 13", "priority: 12 # two", "priority: 12 # two", "Ritual-Field and Memory have the same priority 12", nil},
		{"two priorities exchanged", "priority: 1\n", "priority: 13\n", "priority: 13\n    class: supporting\n    engine: builtin\n    outputs: [privacy", "the priority of Privacy-Sentinel is 1 by the protocol, not 13", map[string]string{
			"priority: 13\n    class: supporting\n    engine: builtin\n    outputs: [memory": "Privacy-Sentinel and Memory have the same priority 13",
		}},
		{"a priority too high", "priority: 13", "priority: 14", "priority: 14", "the priority of Memory is 14; it must be at most 13", nil},
		{"priority zero", "priority: 13", "priority: 0", "priority: 0", "the priority of Memory is 0; it must be at least 1", nil},
		{"a priority in words", "priority: 13", "priority: last", "priority: last", "the priority of Memory is not a whole number", nil},
		{"another class", "class: supporting\n    engine: builtin\n    outputs: [memory_note]", "class: heavy\n    engine: builtin\n    outputs: [memory_note]", "class: heavy\n    engine: builtin\n    outputs: [memory_note]", "Memory is supporting by the protocol", nil},
		{"an unknown engine", "engine: model\n    outputs: [bridge_draft]", "engine: steam\n    outputs: [bridge_draft]", "engine: steam", "the engine of Bridge is neither builtin nor model", nil},
		{"an unknown output", "outputs: [health_report]", "outputs: [health_report, gossip]", "gossip", `the outputs of Infra-Health: "gossip" is no type of artifact`, nil},
		{"an output twice", "outputs: [health_report]", "outputs: [health_report, health_report]", "health_report, h", "the outputs of Infra-Health: health_report is listed twice", nil},
		{"no output", "outputs: [health_report]", "outputs: []", "outputs: []", "the outputs of Infra-Health: the list is empty", nil},
		{"a deadline of nothing", "deadline_seconds: 15", "deadline_seconds: 0", "deadline_seconds: 0", "the deadline of Infra-Health is 0; it must be at least 1", nil},
		{"an endless deadline", "deadline_seconds: 15", "deadline_seconds: 999999", "deadline_seconds: 999999", "the deadline of Infra-Health is 999999; it must be at most 3600", nil},
		{"a language left out", "      ja: 覚え書きを預かり、見てよい人のために思い出す。\n", "", "en: Keeps notes", "about Memory has no text in ja", nil},
		{"a language nobody declared", "      ja: 覚え書きを預かり", "      fr: Garde.\n      ja: 覚え書きを預かり", "fr: Garde", `"fr" is none of the registry's locales`, nil},
		{"a locale that is none", "locales: [en, uk, ja]", "locales: [en, uk, ja, English]", "locales:", `"English" is not a language tag`, nil},
		{"a version that is none", "registry: 1.0.0", "registry: 1.0", "registry: 1.0", "the registry's version is not of the form 1.2.3", nil},
		{"a locale twice", "locales: [en, uk, ja]", "locales: [en, uk, ja, uk]", "locales:", "the locale uk is listed twice", nil},
		{"an agent without a name", "  - id: Memory\n", "  -\n", "kind: worker\n    prompt: workers/Memory", "an agent has no id", map[string]string{"- id: JOS-BASE": "the agents have no Memory"}},
		{"an agent that is a word", "agents:\n", "agents:\n  - Memory\n", "- Memory\n", "an agent is not a mapping", nil},
		{"an agent that is an alias", "agents:\n", "agents:\n  - *memory\n", "- *memory\n", "is not YAML: unknown anchor 'memory' referenced", nil},
		{"a deadline that is an alias", "deadline_seconds: 15", "deadline_seconds: *d", "deadline_seconds: *d", "is not YAML: unknown anchor 'd' referenced", nil},
		{"an alias that is known", "registry: 1.0.0", "registry: &v 1.0.0", "registry: &v", "the registry's version has an anchor; nothing may point at it", nil},
		{"an empty text", "      en: Keeps notes and recalls them, for those who may see them.", "      en: ''", "en: ''", "about Memory in en is empty", nil},
		{"no text at all", "      en: Keeps notes and recalls them, for those who may see them.", "      en:", "en:\n      uk: Зберігає нотатки", "about Memory in en is not a text", nil},
		{"texts in a list", "engine: model\n    outputs: [gift_draft]", "engine: [model]\n    outputs: [gift_draft]", "engine: [model]", "the engine of Gifts is not a text", nil},
		{"outputs that are no list", "outputs: [health_report]", "outputs: health_report", "outputs: health_report", "the outputs of Infra-Health is not a list", nil},
		{"a long unknown name", sentinel, sentinel + "    " + strings.Repeat("ключ", 30) + ": x\n", "ключ", `Privacy-Sentinel has an unknown key "` + strings.Repeat("ключ", 8) + `…"`, nil},
		{"an alias", "outputs: [health_report]", "outputs: &o [health_report]", "&o", "the outputs of Infra-Health has an anchor; nothing may point at it", nil},
		{"a tag", "deadline_seconds: 15", "deadline_seconds: !!int 15", "!!int", "the deadline of Infra-Health has a tag; take it away", nil},
	} {
		b.check(t)
	}
}

func TestEachFaultOfThePlansHasItsLine(t *testing.T) {
	const merge = "  offline_merge:\n    - worker: Sync\n"
	for _, b := range []broken{
		{"a step of the orchestrator", merge, "  offline_merge:\n    - worker: Spirit-Orchestrator\n", "- worker: Spirit-Orchestrator", "a step of the chain offline_merge is not a worker: Spirit-Orchestrator can do nobody's job", nil},
		{"a step of the constitution", merge, "  offline_merge:\n    - worker: JOS-BASE\n", "- worker: JOS-BASE", "a step of the chain offline_merge is not a worker: JOS-BASE can do nobody's job", nil},
		{"a step of a stranger", merge, "  offline_merge:\n    - worker: Merger\n", "- worker: Merger", `a step of the chain offline_merge: "Merger" is none of the thirteen workers`, nil},
		{"a step left out", "    - worker: Sync\n      outputs: [merge_proposal]\n", "", "- worker: Process\n      outputs: [decision_draft, consent_request]\n    - worker: Audit-Log\n      outputs: [audit_entry]\n\n  core_change:", "the chain offline_merge does not have the steps of the protocol: Sync, Process, Audit-Log", nil},
		{"a chain left out", merge + "      outputs: [merge_proposal]\n    - worker: Process\n      outputs: [decision_draft, consent_request]\n    - worker: Audit-Log\n      outputs: [audit_entry]\n", "", "circle_decision:\n    - worker", "the chains have no offline_merge", nil},
		{"a chain of nothing", "chains:\n", "chains:\n  party:\n    - {worker: Memory, outputs: [memory_note]}\n", "party:", `"party" is the chain of no intent`, nil},
		{"an output of somebody else", "outputs: [merge_proposal]\n    - worker: Process", "outputs: [merge_proposal, memory_note]\n    - worker: Process", "merge_proposal, memory_note", "Sync may not return memory_note", nil},
		{"a condition that does not read", `any(flags, # in ["external_action", "core_change", "critical"])`, "flags has critical", "when: >-\n        flags has critical", `the condition of a step of the chain circle_decision does not read: unexpected token Identifier("has") (column 7)`, nil},
		{"a condition on an unknown fact", `any(flags, # in ["external_action", "core_change", "critical"])`, `input_text == "x"`, `when: >-` + "\n        input_text", "the condition of a step of the chain circle_decision does not read: unknown name input_text (column 1)", nil},
		{"a condition that answers no question", "when: >-\n        any(flags, # in [\"external_action\", \"core_change\", \"critical\"])\n        or \"diff\" in references\n        or any(artifacts, .type == \"decision_draft\" and .content.change != nil)", "when: len(flags)", "when: len(flags)", "the condition of a step of the chain circle_decision does not read: expected bool, but got int", nil},
		{"a condition that reads the clock", "when: >-\n        any(flags, # in [\"external_action\", \"core_change\", \"critical\"])\n        or \"diff\" in references\n        or any(artifacts, .type == \"decision_draft\" and .content.change != nil)", "when: now().Year() > 2000", "when: now()", "the condition of a step of the chain circle_decision does not read: unknown name now (column 1)", nil},
		{"a first step beside nothing", merge, "  offline_merge:\n    - worker: Sync\n      beside: true\n", "beside: true\n      outputs: [merge_proposal]", "the first step of the chain offline_merge has none to run beside", nil},
		{"neither yes nor no", "required: true", "required: perhaps", "required: perhaps", "required is neither true nor false", nil},
		{"an intent left out", "  - id: identify\n", "  - id: identity\n", "id: identity\n", `"identity" is no intent`, map[string]string{"- id: circle_decision": "the intents have no identify"}},
		{"an intent twice", "  - id: unclear\n", "  - id: research\n    workers: [Research-Scout]\n    outputs: [research_note]\n    actions: [research]\n    triggers: {en: [seek out], uk: [відшук*], ja: [探索]}\n  - id: unclear\n", "- id: research\n    workers: [Research-Scout]\n    outputs: [research_note]\n    actions: [research]\n    triggers: {", "research is listed twice; the first is on line {{- id: research\n}}", nil},
		{"a worker for a chain", "    chain: gift_exchange\n", "    chain: gift_exchange\n    workers: [Gifts]\n", "workers: [Gifts]", "gift_exchange has a chain and so no workers of its own", nil},
		{"the chain of another", "    chain: gift_exchange\n", "    chain: core_change\n", "chain: core_change\n", "the chain of gift_exchange is gift_exchange", nil},
		{"an intent served by the orchestrator", "workers: [Memory]", "workers: [Spirit-Orchestrator]", "workers: [Spirit", "a worker of remember is not a worker: Spirit-Orchestrator can do nobody's job", nil},
		{"an unknown action", "actions: [remember]", "actions: [execute]", "actions: [execute]", `the actions of remember: "execute" is no action`, nil},
		{"a trigger twice", "      en: [remember that,", "      en: [remember that, remember that,", "remember that, remember that", `the trigger "remember that" points at remember already`, nil},
		{"an action twice", "actions: [remember]", "actions: [remember, remember]", "actions: [remember, r", "the actions of remember: remember is listed twice", nil},
		{"no chain", "    chain: gift_exchange\n", "", "- id: gift_exchange", "gift_exchange has no chain", nil},
		{"a chain for a worker", "    workers: [Memory]\n", "    workers: [Memory]\n    chain: core_change\n", "    chain: core_change\n    outputs: [memory", "remember has workers and so no chain", nil},
		{"no worker", "    workers: [Memory]\n", "", "- id: remember", "remember has no workers", nil},
		{"a worker twice", "workers: [Memory]", "workers: [Memory, Memory]", "workers: [Memory, M", "Memory is listed twice", nil},
		{"an intent without a name", "  - id: identify\n", "  -\n", "workers: [Identity]", "an intent has no id", map[string]string{"- id: circle_decision": "the intents have no identify"}},
		{"triggers in a language nobody declared", "      en: [remember that,", "      fr: [retiens]\n      en: [remember that,", "fr: [", `"fr" is none of the registry's locales`, nil},
		{"triggers left out", "      ja: [覚えて", "      # ja: [覚えて", "en: [remember that,", "remember has no triggers in ja", nil},
		{"a language twice", "      ja: [覚えて", "      en: [one]\n      ja: [覚えて", "en: [one]", `the triggers of remember has the key "en" twice; the first is on line {{en: [remember that,}}`, nil},
		{"a trigger of nine words", "      en: [remember that,", "      en: [a b c d e f g h i,", "en: [a b", "a trigger of remember in en is longer than 8 terms or 200 bytes", nil},
		{"a trigger with room to spare", "      en: [remember that,", "      en: ['keep  it',", "en: ['keep", "a trigger of remember in en has white space that says nothing", nil},
		{"a trigger that is empty", "      en: [remember that,", "      en: ['',", "en: ['',", "a trigger of remember in en is empty", nil},
		{"a step of nobody", merge, "  offline_merge:\n    - outputs: [merge_proposal]\n    - worker: Sync\n", "- outputs: [merge", "a step of the chain offline_merge has no worker", nil},
		{"a list for chains", "chains:\n", "chains: []\nother:\n", "chains: []", "chains is not a mapping", map[string]string{
			"chains: []\nother": "the chains have no circle_decision|the chains have no external_action|the chains have no gift_exchange|the chains have no offline_merge|the chains have no core_change",
			"other:":            `the registry has an unknown key "other"`,
		}},
		{"a trigger in capitals", "      en: [remember that,", "      en: [Remember That,", "Remember That", "a trigger of remember in en is not in lower case; texts are compared so", nil},
		{"a star alone", "      en: [remember that,", "      en: ['* that',", "* that", "a trigger of remember in en has a term with nothing before its star", nil},
		{"a question in one language", "      uk: \"Що має вийти", "      #uk: \"Що має вийти", "en: What should come out", "the question of unclear has no text in uk", nil},
	} {
		b.check(t)
	}
}

func TestEachFaultOfTheLimitsHasItsLine(t *testing.T) {
	for _, b := range []broken{
		{"no worker at all", "{heavy: 1, supporting: 1}", "{heavy: 0, supporting: 1}", "{heavy: 0", "the economy of heavy workers is 0; it must be at least 1", nil},
		{"all workers at once", "{heavy: 1, supporting: 1}", "{heavy: 7, supporting: 1}", "{heavy: 7", "the economy of heavy workers is 7; it must be at most 6", nil},
		{"a negative limit", "regenerations: 2 ", "regenerations: -1 ", "regenerations: -1", "regenerations is -1; it must be at least 1", nil},
		{"a limit of nothing", "steps: 16", "steps: 0", "steps: 0", "steps is 0; it must be at least 1", nil},
		{"a limit left out", "  consent_days: 7           # then what waited is a draft again\n", "", "regenerations: 2", "the section limits has no consent_days", nil},
		{"a limit of a half", "consent_days: 7 ", "consent_days: 7.5 ", "consent_days: 7.5", "consent_days is not a whole number", nil},
		{"secrets for the circle", "secrets: {without_consent: none, with_consent: none}", "secrets: {without_consent: none, with_consent: circle}", "secrets: {", "the ceiling of secrets with consent can only be none", nil},
		{"health for everybody", "health: {without_consent: private, with_consent: circle}", "health: {without_consent: private, with_consent: public}", "health: {", "the ceiling of health with consent can be at most circle", nil},
		{"consent that lowers", "finance: {without_consent: clan, with_consent: public}", "finance: {without_consent: clan, with_consent: circle}", "finance: {", "the ceiling of finance is lower with consent than without", nil},
		{"no level", "finance: {without_consent: clan,", "finance: {without_consent: friends,", "finance: {", "the ceiling of finance without consent is none of none, private, circle, clan and public", nil},
		{"a ceiling left out", "  legal: {without_consent: clan, with_consent: public}\n", "", "secrets: {", "the ceilings have no legal", nil},
		{"a ceiling of nothing", "  legal: {", "  gossip: {without_consent: clan, with_consent: public}\n  legal: {", "gossip: {", `"gossip" is no flag with a ceiling`, nil},
		{"a quorum of a half", "fraction: 2/3", "fraction: 1/2", "fraction: 1/2", "the quorum's fraction is not like 2/3: more than a half, and at most the whole", nil},
		{"a quorum of more than all", "fraction: 2/3", "fraction: 4/3", "fraction: 4/3", "the quorum's fraction is not like 2/3: more than a half, and at most the whole", nil},
		{"a quorum in words", "fraction: 2/3", "fraction: most", "fraction: most", "the quorum's fraction is not like 2/3: more than a half, and at most the whole", nil},
		{"a quorum of nobody", "members: 1,", "members: 0,", "members: 0", "the quorum's members is 0; it must be at least 1", nil},
		{"no quorum", "quorum: {members: 1, fraction: 2/3}\n", "", "registry: 1.0.0", "the registry has no quorum", nil},
		{"no YAML", "economy: {heavy: 1, supporting: 1}", "economy: {heavy: 1, supporting: 1", "economy: {", "is not YAML: did not find expected ',' or '}'", nil},
	} {
		b.check(t)
	}
}
