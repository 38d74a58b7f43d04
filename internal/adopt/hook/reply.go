package hook

// Act is what a host is asked to do with its agent.
type Act string

// The acts.
const (
	Allow Act = "allow" // the turn ends
	Block Act = "block" // the agent goes on, with the sentence as its instruction
	// Halt ends the turn without a pass: the host, not the agent, tells the person
	// what is owed.
	Halt Act = "halt"
)

// Reply is the answer to one event.
type Reply struct {
	Act Act
	// Says is the sentence for the agent (Block) or for the person (Halt, and
	// Allow, where it may be "").
	Says string
	// Told is what to remember under the finding's digest; 0 to forget it. It
	// counts only once the answer was written.
	Told int
}

// Patience is how often in one turn an agent is sent on with the same work
// before the turn is halted. It is as often as the least patient of the hosts
// allows, so that the person hears it from the gate and not from a host that gave
// up. An agent that makes progress does not get there: progress changes the digest.
const Patience = 5

// Answer is the reply to an event, after the same finding was told so many times
// in the same session (docs/spec/verification.md §21.6).
//
//   - A Failure is always blocked and never remembered.
//   - Person is blocked once. When the agent stops again it has reported, and its
//     turn ends; the person is told by the host as well, once.
//   - Work is blocked every time. Only a host that can halt is asked to, after
//     Patience blocks in one turn: an agent that does not act would go on for
//     ever, and a halted turn is no pass. A new turn begins to count anew.
func Answer(e *Event, f *Finding, told int) Reply {
	switch f.Weight {
	case Clear:
		return Reply{Act: Allow}
	case Person:
		switch {
		case told <= 0:
			return Reply{Act: Block, Says: f.Sentence, Told: 1}
		case told == 1 && facts[e.Host].speaks:
			return Reply{Act: Allow, Says: f.Notice, Told: 2}
		}
		return Reply{Act: Allow, Told: told}
	case Work:
		if !e.Again || told < 0 {
			told = 0
		}
		if told >= Patience && facts[e.Host].speaks {
			return Reply{Act: Halt, Says: f.Notice}
		}
		return Reply{Act: Block, Says: f.Sentence, Told: min(told+1, Patience)}
	case Failure:
	}
	return Reply{Act: Block, Says: f.Sentence}
}

// The forms of an answer. The shell program of Command knows their beginnings:
// the order of fields is part of the form.
type (
	blocking struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	notice struct {
		SystemMessage string `json:"systemMessage"`
	}
	halt struct {
		Continue   bool   `json:"continue"`
		StopReason string `json:"stopReason"`
	}
	cursorAnswer struct {
		FollowupMessage string `json:"followup_message"`
	}
)

// Bytes is the reply as the host reads it from stdout with exit code 0: one line.
func (r Reply) Bytes(h Host) []byte {
	var v any = struct{}{}
	switch {
	case !facts[h].speaks:
		if r.Act != Allow {
			v = cursorAnswer{r.Says}
		}
	case r.Act == Block:
		v = blocking{string(Block), r.Says}
	case r.Act == Halt:
		v = halt{StopReason: r.Says}
	case r.Says != "":
		v = notice{r.Says}
	}
	return append(line(v), '\n')
}
