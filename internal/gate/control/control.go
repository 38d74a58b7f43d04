// Package control says what the caller of a check may do next: finish, act,
// publish for review, or stop.
//
// Control is a closed union. It has no exported fields; its makers take facts
// or a route, and every boolean that callers see is computed from the state, so
// none can be set on its own (docs/spec/boundary.md §7). The four states:
//
//	complete               nothing is owed
//	agent_action_required  one exact next step for the agent
//	review_publishable     a person decides before merge; the agent may publish
//	human_review_required  the agent stops
package control

// State is where the caller stands.
type State string

// The states.
const (
	Complete            State = "complete"
	AgentActionRequired State = "agent_action_required"
	ReviewPublishable   State = "review_publishable"
	HumanReviewRequired State = "human_review_required"
)

// Valid says whether s is one of the four.
func (s State) Valid() bool {
	switch s {
	case Complete, AgentActionRequired, ReviewPublishable, HumanReviewRequired:
		return true
	}
	return false
}

// Kind is the sort of a next action.
type Kind string

// The kinds of §7.4.
const (
	Verify     Kind = "verify"
	Discover   Kind = "discover"
	Configure  Kind = "configure"
	Repair     Kind = "repair"
	Rerun      Kind = "rerun"
	Initialize Kind = "initialize"
	Install    Kind = "install"
	FetchBase  Kind = "fetch_base"
	Review     Kind = "review"
	Stop       Kind = "stop"
)

// human says whether a person owns the action.
func (k Kind) human() bool { return k == Review || k == Stop }

// command says whether the action is one exact command.
func (k Kind) command() bool { return k.Valid() && !k.human() && k != FetchBase }

// Valid says whether k is one of the ten.
func (k Kind) Valid() bool {
	switch k {
	case Verify, Discover, Configure, Repair, Rerun, Initialize, Install, FetchBase, Review, Stop:
		return true
	}
	return false
}

// Actor owns a next action or a repair.
type Actor string

// The actors.
const (
	CodingAgent Actor = "coding_agent"
	Human       Actor = "human"
)

// Action is the next step. Exactly the kinds that are commands have a Command,
// and fetch_base alone has Expects.
type Action struct {
	Kind    Kind
	Command string
	Expects string
	Why     string
}

// Actor is who owns the action.
func (a *Action) Actor() Actor {
	if a.Kind.human() {
		return Human
	}
	return CodingAgent
}

// Permissions are the six things a caller may be allowed to do (§7.4).
type Permissions struct {
	Edit           bool `json:"edit"`
	Commit         bool `json:"commit"`
	Push           bool `json:"push"`
	UpdatePR       bool `json:"update_pr"`
	Merge          bool `json:"merge"`
	ReportComplete bool `json:"report_complete"`
}

var (
	allPermissions     = Permissions{true, true, true, true, true, true}
	publishPermissions = Permissions{Edit: true, Commit: true, Push: true, UpdatePR: true}
)

// Control is what the caller must do next. The zero Control is no control:
// State is empty and nothing is allowed.
type Control struct {
	state       State
	reason      string
	publishable bool // agent_action_required only: the subject was evaluated and may be published
	verify      bool
	next        *Action
	also        []string // commands beside that of next, sorted
	why         string   // human states only
	reviewers   []string // sorted, unique
}

// State is the state; callers switch on it and on nothing else.
func (c *Control) State() State { return c.state }

// Reason is one sentence, never empty.
func (c *Control) Reason() string { return c.reason }

// CompletionAllowed says whether the caller may report its task as done.
func (c *Control) CompletionAllowed() bool { return c.state == Complete }

// MustStop says whether the caller has to end its turn without acting.
func (c *Control) MustStop() bool { return c.state == HumanReviewRequired }

// VerifyRequired says whether verification is owed for this change.
func (c *Control) VerifyRequired() bool { return c.verify }

// NextAction is nil for a complete control only.
func (c *Control) NextAction() *Action {
	if c.next == nil {
		return nil
	}
	a := *c.next
	return &a
}

// AllowedNextCommands is every command the caller may run as its next step; the
// command of the next action is first. Never nil.
func (c *Control) AllowedNextCommands() []string {
	commands := make([]string, 0, 1+len(c.also))
	if c.next != nil && c.next.Kind.command() {
		commands = append(commands, c.next.Command)
	}
	return append(commands, c.also...)
}

// Permissions follow from the state alone; under agent_action_required an
// unevaluated or blocked subject gives none.
func (c *Control) Permissions() Permissions {
	switch {
	case c.state == Complete:
		return allPermissions
	case c.state == ReviewPublishable, c.state == AgentActionRequired && c.publishable:
		return publishPermissions
	}
	return Permissions{}
}

// HumanReview says whether a person is needed, why, and who. Reviewers is never
// nil; why is empty when nobody is needed.
func (c *Control) HumanReview() (required bool, why string, reviewers []string) {
	required = c.state == ReviewPublishable || c.state == HumanReviewRequired
	return required, c.why, append([]string{}, c.reviewers...)
}

// StopReason is why the caller has to stop; empty when it has not.
func (c *Control) StopReason() string {
	if c.MustStop() {
		return c.why
	}
	return ""
}

func complete(reason string) Control { return Control{state: Complete, reason: reason} }

// agent makes an agent_action_required control. The kind verify always owes
// verification (§7.4).
func agent(reason string, next Action, publishable, verify bool) Control {
	return Control{
		state: AgentActionRequired, reason: reason, next: &next,
		publishable: publishable, verify: verify || next.Kind == Verify,
	}
}

// human makes a control that stops the caller.
func human(reason string, kind Kind, why string, verify bool, reviewers []string) Control {
	return Control{
		state: HumanReviewRequired, reason: reason, next: &Action{Kind: kind, Why: why},
		verify: verify, why: why, reviewers: reviewers,
	}
}

// publish makes a control under which a person decides before merge; rerun is
// the one command that makes the same evidence again.
func publish(reason, why, rerun string, verify bool, reviewers []string) Control {
	return Control{
		state: ReviewPublishable, reason: reason, next: &Action{Kind: Review, Why: why},
		also: []string{rerun}, verify: verify, why: why, reviewers: reviewers,
	}
}

// NeedsInstall is the control of the install results: no gate could answer.
func NeedsInstall(reason, command string) Control {
	return agent(reason, Action{Kind: Install, Command: command, Why: reason}, false, true)
}

// NeedsRefs is the control of an error result whose refs have to be fetched;
// expects names them (§12.3).
func NeedsRefs(reason, expects, why string) Control {
	return agent(reason, Action{Kind: FetchBase, Expects: expects, Why: why}, false, false)
}

// NeedsPerson is the control of an error result that only a person can resolve.
func NeedsPerson(reason, why string) Control { return human(reason, Review, why, false, nil) }
