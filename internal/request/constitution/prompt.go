package constitution

import "plimsoll.dev/internal/fault"

// separator stands between the two parts of every prompt
// (docs/spec/circle.md §3).
const separator = "\n\n---\n\n"

// Prompt is the system prompt of one agent:
//
//	JOS_BASE + "\n\n---\n\n" + SUBAGENT_PROMPT
//
// byte for byte. Only Set.Assemble makes one, out of files that were loaded and
// checked; a model client takes this type and nothing else. The zero Prompt is
// none, and must be refused: see Assembled.
type Prompt struct {
	agent        AgentID
	text         string
	constitution Version
	subagent     Version
	sum          string
}

// Assembled says whether p was made by Assemble.
func (p Prompt) Assembled() bool { return p.sum != "" }

// Agent is whose prompt it is.
func (p Prompt) Agent() AgentID { return p.agent }

// Text is the whole prompt.
func (p Prompt) Text() string { return p.text }

// ConstitutionVersion is CONSTITUTION_VERSION of the runtime record.
func (p Prompt) ConstitutionVersion() Version { return p.constitution }

// SubagentVersion is SUBAGENT_PROMPT_VERSION of the runtime record.
func (p Prompt) SubagentVersion() Version { return p.subagent }

// SHA256 is prompt_sha256 of the runtime record: the digest of Text, in lower
// case hex digits.
func (p Prompt) SHA256() string { return p.sum }

// Assemble makes the prompt of a worker or of the orchestrator. NotFound: there
// is no such agent, or it is the constitution itself, which begins every prompt
// and is nobody's.
func (s *Set) Assemble(id AgentID) (Prompt, error) {
	base, own := s.documents[Base], s.documents[id]
	if id == Base || own.body == "" {
		return Prompt{}, fault.E("constitution.Assemble", fault.NotFound, "no agent "+clip(string(id))+" has a prompt", nil)
	}
	text := base.body + separator + own.body
	return Prompt{agent: id, text: text, constitution: base.version, subagent: own.version, sum: digest([]byte(text))}, nil
}
