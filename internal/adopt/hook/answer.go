package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/redact"
)

// Weight is how a finding binds the agent.
type Weight string

// The weights (docs/spec/verification.md §21.6).
const (
	Clear   Weight = "clear"   // nothing is owed
	Person  Weight = "person"  // a person decides; the agent has to report it and may then end its turn
	Work    Weight = "work"    // the agent has to act; the turn is not over until it did
	Failure Weight = "failure" // the gate has no result
)

// Finding is what the gate found, for one agent.
type Finding struct {
	Weight Weight
	// Sentence tells the agent what to do, and Notice the person what is owed; ""
	// for Clear.
	Sentence, Notice string
	// Digest names the finding: the same for the same result, "" for Clear and
	// Failure, which nobody remembers.
	Digest string
}

// Result is what a check or a verification came to.
type Result struct {
	Control *control.Control
	// Repair is how to repair it, where that is the next action.
	Repair []string
	// Places are the files that it is about.
	Places []string
	// Also are bytes that make a result with the same control another one, such as
	// its violations.
	Also []byte
}

// longest is how many bytes a sentence may have: hosts show it to people.
const longest = 1200

// Judge is what a result means for an agent that wants to end its turn. One
// without a state is a Failure.
func Judge(r Result) Finding {
	c := r.Control
	required, why, _ := c.HumanReview()
	next := c.NextAction()
	where := places(r.Places)
	switch {
	case c.State() == control.Complete:
		return Finding{Weight: Clear}
	case c.State() == control.AgentActionRequired && next != nil:
		todo := "do what is expected, " + quoted(next.Expects) + ","
		if next.Command != "" {
			todo = "run " + quoted(next.Command) + ", do what its control says,"
		}
		if next.Kind == control.Repair && len(r.Repair) > 0 {
			todo = "repair it (" + strings.Join(r.Repair, " ") + "), " + todo
		}
		return Finding{
			Weight:   Work,
			Sentence: sentence("Do not claim completion: ", todo+" and only then end your turn (", clause(c.Reason()), ")."),
			Notice:   sentence("shipgate still waits for the agent, and nothing has passed: ", clause(c.Reason()), "."),
			Digest:   sum(line(c), r.Also),
		}
	case c.State() == control.ReviewPublishable && required:
		publish := ""
		if commands := c.AllowedNextCommands(); len(commands) > 0 {
			publish = ", after that run " + quoted(commands[0])
		}
		return Finding{
			Weight: Person,
			Sentence: sentence("Do not merge and do not claim completion: commit, push and update the pull request only as your task asks", publish,
				", then show the person this and end your turn: ", clause(why), where, "."),
			Notice: sentence("shipgate: a person reviews this before it is merged: ", clause(why), where, "."),
			Digest: sum(line(c), r.Also),
		}
	case c.State() == control.HumanReviewRequired && required:
		said := clause(c.Reason())
		if also := clause(why); !strings.Contains(said, also) {
			said += "; " + also
		}
		return Finding{
			Weight:   Person,
			Sentence: sentence("Stop all work, call no further tool, show the person this and end your turn: ", said, where, "."),
			Notice:   sentence("shipgate: the agent has to stop until a person decides: ", said, where, "."),
			Digest:   sum(line(c), r.Also),
		}
	}
	return Failed("the result has no state")
}

// Failed is the finding where there is no result; why is a clause of ours.
func Failed(why string) Finding {
	return Finding{
		Weight: Failure,
		Sentence: sentence("shipgate could not check this change (", clause(why),
			"), so do not claim completion, stop all work and tell the person to run shipgate doctor."),
	}
}

// Worse is the finding that binds more; two that bind alike are said together
// and are one new result.
func Worse(a, b Finding) Finding {
	switch x, y := a.Weight.rank(), b.Weight.rank(); {
	case x > y:
		return a
	case x < y:
		return b
	case a.Digest == "" || a.Digest == b.Digest:
		return a
	}
	return Finding{
		Weight:   a.Weight,
		Sentence: sentence(a.Sentence, " ", b.Sentence), Notice: sentence(a.Notice, " ", b.Notice),
		Digest: sum([]byte(a.Digest), []byte(b.Digest)),
	}
}

func (w Weight) rank() int {
	return slices.Index([]Weight{Clear, Person, Work, Failure}, w)
}

func sum(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		one := sha256.Sum256(p)
		h.Write(one[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// quoted sets a command or a value off from the sentence around it.
func quoted(s string) string { return "`" + s + "`" }

// clause is a sentence made part of another.
func clause(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }

// mostPlaces is how many files a sentence names.
const mostPlaces = 3

// places names files at the end of a sentence.
func places(paths []string) string {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	if len(paths) == 0 {
		return ""
	}
	more := ""
	if n := len(paths) - mostPlaces; n > 0 {
		paths, more = paths[:mostPlaces], " and "+strconv.Itoa(n)+" more"
	}
	named := make([]string, 0, mostPlaces)
	for _, p := range paths {
		named = append(named, quoted(p))
	}
	return " (" + strings.Join(named, ", ") + more + ")"
}

// sentence is its parts as one line without secrets: names of the repository
// stand in reasons, and are whatever somebody called a file.
func sentence(parts ...string) string {
	flat := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(strings.Join(parts, ""), string(utf8.RuneError)))
	flat = redact.Text(strings.Join(strings.Fields(flat), " "))
	if len(flat) <= longest {
		return flat
	}
	cut := longest - len("…")
	for !utf8.RuneStart(flat[cut]) {
		cut--
	}
	return flat[:cut] + "…"
}
