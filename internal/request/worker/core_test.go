package worker_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// edited is a file of the shipped configuration with one thing replaced.
func edited(t *testing.T, name, old, replacement string) string {
	t.Helper()
	text := string(shipped().File(name))
	if strings.Count(text, old) < 1 {
		t.Fatalf("%s has no %q", name, old)
	}
	return strings.Replace(text, old, replacement, 1)
}

func TestAChangeOfTheRegistryIsShownByWhatItLetsHappen(t *testing.T) {
	for name, x := range map[string]struct {
		old, replacement string
		want             map[string]string
	}{
		"a lower quorum": {"fraction: 2/3", "fraction: 3/5", map[string]string{
			"changes.0.effects.0": `{"after":"3/5","before":"2/3","direction":"widens","kind":"changed","meaning":"Another part of the council must consent to a core change.","place":"quorum / fraction"}`, "widens": "true",
		}},
		"a higher quorum": {"fraction: 2/3", "fraction: 3/4", map[string]string{"changes.0.effects.0.direction": "narrows", "widens": "false"}},
		"a stricter ceiling": {"location: {without_consent: circle, with_consent: public}", "location: {without_consent: circle, with_consent: clan}", map[string]string{
			"changes.0.effects.0.place": "ceilings / location / with_consent", "changes.0.effects.0.direction": "narrows", "changes.0.effects.0.after": "clan",
		}},
		"fewer breaches": {"breaches: 3 ", "breaches: 2 ", map[string]string{"changes.0.effects.0.place": "limits / breaches", "changes.0.effects.0.direction": "narrows"}},
		"a model drafts": {"class: heavy\n    engine: builtin\n    outputs: [gate_verdict]", "class: heavy\n    engine: model\n    outputs: [gate_verdict]", map[string]string{
			"changes.0.effects.0.place": "agents / Gate-Policy / engine", "changes.0.effects.0.direction": "widens",
		}},
		"a trigger goes": {"[gift*, donat*, ", "[donat*, ", map[string]string{
			"changes.0.effects.0.place": "intents / gift_exchange / triggers / en", "changes.0.effects.0.before": "gift*", "changes.0.effects.0.kind": "removed", "changes.0.effects.0.direction": "unclear", "widens": "true",
		}},
		"a step is no longer required": {"required: true", "required: false", map[string]string{"changes.0.effects.0.place": "chains / external_action / 1. Privacy-Sentinel / required", "changes.0.effects.0.direction": "widens"}},
		"other words":                  {"Keeps notes and recalls them,", "Keeps notes, and recalls them,", map[string]string{"changes.0.effects.0.direction": "neutral", "widens": "false"}},
		"the same in another spelling": {"economy: {heavy: 1, supporting: 1}", "economy:\n  heavy: 1\n  supporting: 1", map[string]string{"changes.0.effects": "[]", "widens": "false", "changes.0.what": "~says the same"}},
		"what would not load":          {"economy: {heavy: 1, supporting: 1}", "economy: {heavy: 99, supporting: 1}", map[string]string{"changes.0.effects.0.direction": "unclear", "changes.0.effects.0.place": "~agents_registry.yaml:", "widens": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := refers(task(constitution.CoreGuardian, "en", "Change the registry as in the document."), document(envelope.RefDocument, "config/roles/clan/zhos/agents_registry.yaml", edited(t, "agents_registry.yaml", x.old, x.replacement)))
			o := only(t, k)
			says(t, o, x.want)
			says(t, o, map[string]string{
				"changes.0.root": "registry", "changes.0.path": "agents_registry.yaml", "changes.0.effects.1": "", "changes.0.version_before": "1.0.0", "council": `{"needed":2,"of":3}`,
				"reason": "Change the registry as in the document.",
			})
			if at(o, "changes.0.before_sha256") == at(o, "changes.0.after_sha256") {
				t.Error("two texts have one digest")
			}
		})
	}
}

func TestAChangeOfTheConstitutionIsShownClauseByClause(t *testing.T) {
	const clause = "4. Silence is not a yes. A date that passes turns what was waiting back into a draft, never into a decision.\n"
	k := refers(task(constitution.CoreGuardian, "en", "Amend the constitution."), document(envelope.RefDocument, "JOS_BASE.md", edited(t, "JOS_BASE.md", clause, "")))
	says(t, only(t, k), map[string]string{
		"changes.0.root": "constitution", "changes.0.effects.0.kind": "removed", "changes.0.effects.0.direction": "widens", "changes.0.effects.0.place": "English / 1. People decide / 4",
		"changes.0.effects.0.before": "~Silence is not a yes.", "changes.0.effects.1.meaning": "~the two no longer say the same", "changes.0.effects.2.place": "version", "changes.0.effects.3": "", "widens": "true",
	})
	k = refers(task(constitution.CoreGuardian, "uk", "Поправка."), document(envelope.RefDocument, "JOS_BASE.md", edited(t, "JOS_BASE.md", "version: 1.0.0", "version: 1.1.0")))
	says(t, only(t, k), map[string]string{"changes.0.effects": "[]", "changes.0.version_after": "1.1.0", "widens": "false"})
	text := strings.Replace(edited(t, "JOS_BASE.md", clause, clause+"5. Nobody speaks twice before everybody spoke once.\n"), "version: 1.0.0", "version: 1.1.0", 1)
	text = strings.Replace(text, "5. An agent has no membership, no voice and no vote.", "6. An agent has no membership, no voice and no vote.", 1)
	k = refers(task(constitution.CoreGuardian, "en", "Amend."), document(envelope.RefDocument, "JOS_BASE.md", text))
	says(t, only(t, k), map[string]string{"changes.0.effects.0.kind": "added", "changes.0.effects.0.direction": "narrows", "changes.0.effects.0.after": "~Nobody speaks twice", "changes.0.effects.1.meaning": "~Only one language"})
}

func TestADiffIsSearchedForTrustRoots(t *testing.T) {
	patch := strings.Join([]string{
		"diff --git a/src/main.go b/src/main.go", "--- a/src/main.go", "+++ b/src/main.go", "@@ -1,1 +1,1 @@", "-a", "+b",
		"diff --git a/AGENTS.md b/AGENTS.md", "--- a/AGENTS.md", "+++ b/AGENTS.md", "@@ -3,1 +3,1 @@", "-Ask before you push.", "+Push when you like.", "",
	}, "\n")
	k := refers(task(constitution.CoreGuardian, "en", "Change the agent instructions."), document(envelope.RefDiff, "d-1", patch))
	says(t, only(t, k), map[string]string{
		"changes.0.root": "agent_instructions", "changes.0.path": "AGENTS.md", "changes.0.effects.0.place": "AGENTS.md:3", "changes.0.effects.0.before": "Ask before you push.\n",
		"changes.0.effects.0.after": "Push when you like.\n", "changes.0.effects.0.direction": "unclear", "changes.1": "",
	})
	k = refers(task(constitution.CoreGuardian, "en", "Change it."), document(envelope.RefDiff, "exec-1", `{"changed_files":["README.md",".agents-shipgate/waivers.json","policies/a.yaml"]}`))
	says(t, only(t, k), map[string]string{"changes.0.root": "waiver", "changes.1.root": "policy", "changes.2": ""})
}

func TestAChangeInWordsIsShownBesideWhatStandsThere(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"Change the constitution so that two members can approve an export instead of three.": {
			"title": "~two members can approve an export instead of three", "changes.0.root": "constitution", "changes.0.effects.0.direction": "widens", "widens": "true",
		},
		"Change the constitution so that four members must approve an export instead of three.": {"changes.0.effects.0.direction": "narrows", "widens": "false"},
		"Пропоную змінити конституцію: додати правило про тишу на зібраннях.": {
			"changes.0.effects.0": `{"after":"додати правило про тишу на зібраннях","direction":"unclear","kind":"added","meaning":"As proposed in words; what it allows shows when its text is there.","place":"JOS_BASE.md"}`, "widens": "true",
		},
		"Change the quorum to three quarters.":                             {"changes.0.root": "registry", "changes.0.effects.0.before": "2/3", "changes.0.effects.0.after": "3/4", "changes.0.effects.0.direction": "narrows"},
		"Змінимо кворум на 3/5.":                                           {"changes.0.effects.0.after": "3/5", "changes.0.effects.0.direction": "widens"},
		"定足数を五分の四に変更して。":                                                   {"changes.0.effects.0.after": "4/5", "changes.0.effects.0.direction": "narrows"},
		"Remove the rule that silence is not a yes from the constitution.": {"changes.0.effects.0.kind": "removed", "changes.0.effects.0.direction": "widens", "changes.0.effects.0.place": "English / 1. People decide / 4"},
		"Change the prompt of Bridge so that it may write links.":          {"changes.0.root": "prompt", "changes.0.path": "workers/Bridge.md"},
	} {
		says(t, only(t, task(constitution.CoreGuardian, "en", text)), want)
	}
}
