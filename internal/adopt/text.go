package adopt

import (
	_ "embed" // the texts
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate"
)

// One template per kind (docs/spec/verification.md §21.4).
var (
	//go:embed text/instructions.md
	instructionsText string
	//go:embed text/cursor.md
	cursorText string
	//go:embed text/skill.md
	skillText string
	//go:embed text/pull_request.md
	pullRequestText string
	//go:embed text/workflow.yml
	workflowText string
	//go:embed text/precommit.yaml
	preCommitText string
)

// ReportsFolder is where verification writes, kept out of Git.
const ReportsFolder = "agents-shipgate-reports"

// instructions is what agents are told, with the name that their host has for
// the gate.
func instructions(agent gate.Actor) string {
	return strings.NewReplacer(
		"{{agent}}", string(agent),
		"{{contract}}", strconv.Itoa(gate.ContractVersion),
		"{{missing}}", installResult(gate.MissingInstall(), agent),
		"{{stale}}", installResult(gate.StaleInstall(), agent),
	).Replace(instructionsText)
}

// installResult is a result for want of a usable gate, one member a line: the
// shortest form in which no line both names the gate and speaks of what must not
// be done to it, which the gate would read as softening (docs/spec/boundary.md §5.1).
func installResult(r *gate.Result, agent gate.Actor) string {
	r.Agent, r.Actor, r.Subject.Agent = agent, agent, agent
	text := r.JSON()
	root, _ := parseParts(text)
	var b strings.Builder
	b.WriteString("{\n")
	for i, c := range root.children {
		b.WriteString("  " + quoted(c.key) + ": " + oneLine(text[c.part.start:c.part.end]))
		if i+1 < len(root.children) {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("}")
	return b.String()
}

// with is a text with the instructions for one host in it.
func with(text string, agent gate.Actor) string {
	return strings.ReplaceAll(text, "{{instructions}}\n", instructions(agent))
}

// blockText is the body of a target's block.
func blockText(t Target) string {
	switch t {
	case AgentsMD:
		return instructions(gate.ActorCodex)
	case ClaudeMD:
		return instructions(gate.ActorClaude)
	case PullRequest:
		return pullRequestText
	case Ignore:
		return ReportsFolder + "/\n"
	case PreCommit:
		return preCommitText
	case Manifest, Contract, CursorRule, CodexSkill, Workflow, CodexHooks, ClaudeHooks, CursorHooks:
	}
	return ""
}

// skillFolder is the tree of the skill.
const skillFolder = ".agents/skills/agents-shipgate/"

// wholeText is what is written to a file that is ours alone. It is rendered when
// it is needed.
type wholeText struct {
	target Target
	path   string
	text   func() string
}

// wholeTexts are the files that are ours alone, in the order of a plan. The
// contract is the caller's.
func wholeTexts(version string) []wholeText {
	return []wholeText{
		{CursorRule, ".cursor/rules/agents-shipgate.mdc", func() string { return with(cursorText, gate.ActorCursor) }},
		{CodexSkill, skillFolder + "SKILL.md", func() string { return with(skillText, gate.ActorCodex) }},
		{CodexSkill, skillFolder + "missing-install.json", func() string { return string(gate.MissingInstall().JSON()) }},
		{CodexSkill, skillFolder + "stale-install.json", func() string { return string(gate.StaleInstall().JSON()) }},
		{Workflow, ".github/workflows/agents-shipgate.yml", func() string { return strings.ReplaceAll(workflowText, "{{version}}", version) }},
	}
}
