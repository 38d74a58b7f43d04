package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// wire is the JSON form, in the order of §8. Nulls are kept.
type wire struct {
	State             State        `json:"state"`
	Reason            string       `json:"reason"`
	CompletionAllowed bool         `json:"completion_allowed"`
	MustStop          bool         `json:"must_stop"`
	VerifyRequired    bool         `json:"verify_required"`
	NextAction        *wireAction  `json:"next_action"`
	Commands          []string     `json:"allowed_next_commands"`
	Permissions       *Permissions `json:"permissions,omitempty"`
	HumanReview       wireReview   `json:"human_review"`
	StopReason        *string      `json:"stop_reason"`
}

type wireAction struct {
	Actor   Actor   `json:"actor"`
	Kind    Kind    `json:"kind"`
	Command *string `json:"command"`
	Expects *string `json:"expects"`
	Why     string  `json:"why"`
}

type wireReview struct {
	Required  bool     `json:"required"`
	Why       *string  `json:"why"`
	Reviewers []string `json:"required_reviewers"`
}

func (c *Control) wire() wire {
	permissions := c.Permissions()
	required, why, reviewers := c.HumanReview()
	w := wire{
		State: c.state, Reason: c.reason,
		CompletionAllowed: c.CompletionAllowed(), MustStop: c.MustStop(), VerifyRequired: c.verify,
		Commands: c.AllowedNextCommands(), Permissions: &permissions,
		HumanReview: wireReview{Required: required, Why: orNull(why), Reviewers: reviewers},
		StopReason:  orNull(c.StopReason()),
	}
	if c.next != nil {
		w.NextAction = &wireAction{
			Actor: c.next.Actor(), Kind: c.next.Kind, Command: orNull(c.next.Command), Expects: orNull(c.next.Expects), Why: c.next.Why,
		}
	}
	return w
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// MarshalJSON prints the control as the schema has it.
func (c Control) MarshalJSON() ([]byte, error) { return plain(c.wire()) }

// LegacyJSON prints the control as the deprecated Codex format has it: without
// permissions, and without review_publishable, which that format does not know
// and which therefore reads as a stop (§13.3).
func (c Control) LegacyJSON() ([]byte, error) {
	if c.state == ReviewPublishable {
		c.state, c.also = HumanReviewRequired, nil
	}
	w := c.wire()
	w.Permissions = nil
	return plain(w)
}

func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// UnmarshalJSON reads a control that a gate wrote, and refuses one whose members
// contradict each other: no boolean is believed, each must be what the state
// makes of it. Without a permission vector (before contract 20) a control reads
// as its state says, except review_publishable, which did not exist then; a
// caller treats any error as a stop (§7.4).
func (c *Control) UnmarshalJSON(data []byte) error {
	var w wire
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return fmt.Errorf("read control: %w", err)
	}
	r := Control{state: w.State, reason: w.Reason, verify: w.VerifyRequired}
	if a := w.NextAction; a != nil {
		r.next = &Action{Kind: a.Kind, Command: text(a.Command), Expects: text(a.Expects), Why: a.Why}
		if a.Actor != r.next.Actor() {
			return errors.New("read control: next_action has an actor of another kind")
		}
		r.also = w.Commands
		if a.Kind.command() {
			if len(w.Commands) == 0 || w.Commands[0] != r.next.Command {
				return errors.New("read control: the command of next_action is not the first allowed one")
			}
			r.also = w.Commands[1:]
		}
	}
	r.why, r.reviewers = text(w.HumanReview.Why), w.HumanReview.Reviewers
	if p := w.Permissions; p != nil {
		r.publishable = w.State == AgentActionRequired && p.UpdatePR
	} else if w.State == ReviewPublishable {
		return errors.New("read control: review_publishable without permissions")
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("read control: %w", err)
	}
	if w.CompletionAllowed != r.CompletionAllowed() || w.MustStop != r.MustStop() ||
		w.Permissions != nil && *w.Permissions != r.Permissions() ||
		w.HumanReview.Required != (r.state == ReviewPublishable || r.state == HumanReviewRequired) ||
		text(w.StopReason) != r.StopReason() || w.NextAction == nil && len(w.Commands) > 0 {
		return fmt.Errorf("read control: members contradict the state %s", r.state)
	}
	*c = r
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// check is the enforced relations of §7.4 that the type itself cannot hold.
func (c *Control) check() error {
	if !c.state.Valid() || c.reason == "" {
		return errors.New("no state or no reason")
	}
	if c.state == Complete {
		if c.next != nil || c.verify || c.why != "" || len(c.reviewers) > 0 {
			return errors.New("a complete control owes nothing")
		}
		return nil
	}
	n := c.next
	switch {
	case n == nil || !n.Kind.Valid() || n.Why == "":
		return errors.New("no next action")
	case n.Kind.command() != (n.Command != "") || (n.Kind == FetchBase) != (n.Expects != ""):
		return fmt.Errorf("action %s with the wrong members", n.Kind)
	case n.Kind.human() != (c.state != AgentActionRequired):
		return fmt.Errorf("action %s in state %s", n.Kind, c.state)
	case c.state == ReviewPublishable && (n.Kind != Review || len(c.also) > 1):
		return errors.New("a publishable review has one command at most")
	case c.state == HumanReviewRequired && len(c.also) > 0:
		return errors.New("a stop allows no command")
	case n.Kind == Verify && !c.verify:
		return errors.New("a verify action that is not required")
	case n.Kind.human() != (c.why != "") || !n.Kind.human() && len(c.reviewers) > 0:
		return errors.New("a person without a reason, or a reason without a person")
	case c.publishable && (n.Kind == FetchBase || n.Kind == Install):
		return fmt.Errorf("action %s with permissions", n.Kind)
	case !increasing(c.also) || !increasing(c.reviewers) || slices.Contains(c.also, n.Command):
		return errors.New("commands or reviewers are not sorted and unique")
	}
	return nil
}

func increasing(list []string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}
