package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/request"
)

// The picture of a chain is seven cards from the request to the release. A card
// says what there is, or what is waited for; what it replaced lies behind it.

// card is one step.
type card struct {
	Step   string // of words/: chain.step.<Step>
	ID     string // "" while there is nothing
	Path   string // its page
	Kind   string // pass, wait, stop or quiet
	State  string // in words
	Level  contract.Level
	By     string
	Role   contract.Role
	At     time.Time // when it began, or was made
	Ended  time.Time
	Due    time.Time
	Facts  []string
	Text   string // of whoever made it
	Frozen contract.Cause
	Ask    string // where somebody can do something
	AskKey string // of words/
	Behind []card
	More   int // behind, and not shown
}

// stackMost is how many cards lie behind one.
const stackMost = 12

// story is what the picture of a chain is drawn from.
type story struct {
	w      *words
	who    people
	id     contract.ID
	shown  *pipeline.ChainShown
	runs   []*pipeline.Run // newest first
	votes  map[contract.ID][]pipeline.Vote
	intent *pipeline.Shown
	task   *pipeline.Shown
	accept *pipeline.Shown
	gate   *pipeline.Shown
	asked  *request.Package // it came of, nil for none that the reader may see
}

// follow finds what is under way, from the intent down.
func (s *story) follow() {
	s.intent = s.shown.Intent
	from := func(kind contract.Kind, source *pipeline.Shown) *pipeline.Shown {
		if source == nil {
			return nil
		}
		for _, c := range slices.Backward(s.shown.Contracts) {
			if c.Document.Head().Kind == kind && c.Source == source.Ref() {
				return c
			}
		}
		return nil
	}
	s.task = from(contract.KindTaskSeed, s.intent)
	s.accept = from(contract.KindAcceptance, s.task)
	s.gate = from(contract.KindPublishGate, s.accept)
}

func (s *story) cards(request card) []card {
	return []card{
		request,
		s.contract("intent", contract.KindIntent, s.intent),
		s.contract("task", contract.KindTaskSeed, s.task),
		s.work(),
		s.contract("acceptance", contract.KindAcceptance, s.accept),
		s.contract("gate", contract.KindPublishGate, s.gate),
		s.release(),
	}
}

// contract is the card of a kind: the one under way, the others behind it.
func (s *story) contract(step string, kind contract.Kind, now *pipeline.Shown) card {
	var top card
	if now == nil {
		top = card{Step: step, Kind: "quiet", State: s.w.say("chain.not_yet")}
	} else {
		top = s.of(step, now)
	}
	for _, c := range slices.Backward(s.shown.Contracts) {
		if c.Document.Head().Kind != kind || now != nil && c.Ref() == now.Ref() {
			continue
		}
		if len(top.Behind) == stackMost {
			top.More++
			continue
		}
		top.Behind = append(top.Behind, s.of(step, c))
	}
	return top
}

// of is the card of one version of a contract.
func (s *story) of(step string, c *pipeline.Shown) card {
	h := c.Document.Head()
	out := card{
		Step: step, ID: string(h.ID), Path: contractPath(s.id, c.Ref()), Kind: stateKind(h.State), State: s.w.say("state." + string(h.State)),
		At: h.CreatedAt.Time(), Frozen: c.FreezeCause,
	}
	if h.Version > 1 {
		out.Facts = append(out.Facts, s.w.say("chain.version", h.Version))
	}
	switch d := c.Document.(type) {
	case *contract.Intent:
		out.By = s.who.Name(d.Creator)
	case *contract.TaskSeed:
		out.Facts = append(out.Facts, s.w.say("chain.for_role", s.w.say("role."+string(d.OwnerRole))))
	case *contract.Acceptance:
		if h.State == contract.Draft || h.State == contract.Active {
			out.Facts = append(out.Facts, s.w.say("chain.status."+string(d.Status)))
		}
	case *contract.PublishGate:
		out.Level = d.RiskLevel
		if d.FinalDecision != contract.DecisionPending || h.State == contract.Active {
			out.Kind, out.State = finalKind(d.FinalDecision), s.w.say("final."+string(d.FinalDecision))
		}
		for _, a := range d.Approvals {
			out.Facts = append(out.Facts, s.said(a.Decision, a.ActorID, a.Role))
		}
		if d.FinalDecision == contract.DecisionPending && h.State == contract.Active {
			out.Due, out.Ask, out.AskKey = d.ApprovalDeadline.Time(), "/decisions/gates/"+string(h.ID), "chain.ask.gate"
		}
	}
	if h.State == contract.Draft {
		out.Ask, out.AskKey = "/decisions/activations/"+string(h.ID), "chain.ask.activation"
	}
	for _, vote := range s.votes[h.ID] {
		if vote.Version == h.Version {
			out.Facts = append(out.Facts, s.said(vote.Decision, vote.ActorID, vote.Role))
		}
	}
	return out
}

// said is a decision of somebody in words.
func (s *story) said(d contract.Decision, who contract.ActorID, role contract.Role) string {
	key := "chain.said.approved"
	if d != contract.Approved {
		key = "chain.said.rejected"
	}
	return s.w.say(key, s.who.Name(who), s.w.say("role."+string(role)))
}

func finalKind(d contract.FinalDecision) string {
	switch d {
	case contract.DecisionApproved:
		return "pass"
	case contract.DecisionPending:
		return "wait"
	case contract.DecisionRejected, contract.DecisionExpired:
	}
	return "stop"
}

// work is the card of the runs: the newest, the tries before it behind it.
func (s *story) work() card {
	if len(s.runs) == 0 {
		out := card{Step: "run", Kind: "quiet", State: s.w.say("chain.no_run")}
		if s.task != nil && s.task.Document.Head().State == contract.Active {
			out.Kind, out.State = "wait", s.w.say("chain.to_claim")
		}
		return out
	}
	top := s.run(s.runs[0])
	for _, r := range s.runs[1:] {
		if len(top.Behind) == stackMost {
			top.More = len(s.runs) - 1 - stackMost
			break
		}
		top.Behind = append(top.Behind, s.run(r))
	}
	return top
}

func (s *story) run(r *pipeline.Run) card {
	out := card{
		Step: "run", ID: r.ExecutionID, By: s.who.Name(r.Actor), Role: r.Role, At: r.StartedAt, Ended: r.EndedAt,
		Kind: outcomeKind(r), State: s.w.say("chain.outcome.alive"), Facts: []string{s.w.say("chain.try", s.w.say("phase."+string(r.Phase)), r.Attempt)},
	}
	if r.Alive() {
		out.Due = r.Deadline
	} else {
		out.State = s.w.outcome(r.Outcome)
	}
	var d struct{ Reason string }
	if json.Unmarshal(r.Details, &d) == nil && d.Reason != "" {
		out.Text, _ = shown(d.Reason)
	}
	if r.DiffHash != "" && r.DiffHash != contract.EmptyDiffHash {
		out.Path = "/chains/" + string(s.id) + "/diff?" + url.Values{"run": {r.ExecutionID}}.Encode()
	}
	return out
}

func (w *words) outcome(o string) string {
	if key := "chain.outcome." + o; w.has(key) {
		return w.say(key)
	}
	return o
}

func outcomeKind(r *pipeline.Run) string {
	switch {
	case r.Alive():
		return "wait"
	case phase.Outcome(r.Outcome) == phase.Succeeded:
		return "pass"
	}
	return "stop"
}

// release is the card of the end.
func (s *story) release() card {
	out := card{Step: "release", Kind: "quiet", State: s.w.say("chain.not_yet")}
	switch h := s.intent.Document.Head(); h.State {
	case contract.Published:
		out.Kind, out.State, out.At, out.Path, out.ID = "pass", s.w.say("state.Published"), h.UpdatedAt.Time(), "#note", s.w.say("chain.note")
		for _, r := range s.runs {
			if r.Phase == pipeline.Phase(phase.Publish) && phase.Outcome(r.Outcome) == phase.Succeeded {
				out.By, out.Role = s.who.Name(r.Actor), r.Role
				break
			}
		}
	case contract.Revoked, contract.Archived, contract.Superseded:
		out.Kind, out.State, out.At = "stop", s.w.say("chain.no_release"), h.UpdatedAt.Time()
	case contract.Draft, contract.Active, contract.Frozen:
		if s.shown.Chain.Phase == pipeline.Phase(phase.Publish) {
			out.Kind, out.State = "wait", s.w.say("chain.publishing")
		}
	}
	return out
}

// contractPath is the page of one version of a contract of a chain.
func contractPath(chain contract.ID, of pipeline.Ref) string {
	return "/chains/" + string(chain) + "/contracts/" + string(of.ID) + "?" + url.Values{"version": {strconv.FormatInt(of.Version, 10)}}.Encode()
}
