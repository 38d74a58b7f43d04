package request

import (
	"encoding/json"
	"time"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Package is the one answer to a request (docs/spec/circle.md §6.6), as somebody
// who may see it sees it. Its JSON is what every surface shows.
//
// While the request runs, Status is what its artifacts come to so far. It is
// never confirmed.
type Package struct {
	RequestID    string              `json:"request_id"`
	Correlation  string              `json:"correlation_id"` // of everything that is done for it: the id itself
	CircleID     string              `json:"circle_id"`
	MemberID     string              `json:"member_id"`
	State        RequestState        `json:"state"`
	Status       artifact.Status     `json:"status"`
	Intent       constitution.Intent `json:"intent,omitempty"`
	Flags        []envelope.Flag     `json:"sensitivity_flags"`
	Target       envelope.Level      `json:"visibility_level_target"`
	Origin       envelope.Origin     `json:"origin"`
	ConfigSHA256 string              `json:"config_sha256"`

	Question string `json:"question,omitempty"` // what is asked back when the intent is unclear
	Stop     *Stop  `json:"stop"`               // the one that acts; null when there is none
	Stops    []Stop `json:"stops"`              // all of them, in the order in which several act

	Plan      []PlanShown       `json:"plan"`
	Runs      []RunShown        `json:"runs"`
	Artifacts []json.RawMessage `json:"artifacts"` // documents of docs/contracts/clan-artifact.schema.json
	Hidden    int               `json:"hidden"`    // artifacts that the reader may not see
	Owed      []Owed            `json:"owed"`
	Evidence  []Evidence        `json:"evidence"`
	Contracts []ContractShown   `json:"contracts"` // what decisions of it became, as they stand

	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`

	revision int64
}

// Tag is the entity tag of the package.
func (p *Package) Tag() string { return tag(p.RequestID, p.revision) }

// Stop is a condition that stopped or blocked the request, with its effect and
// who it was handed to (docs/spec/circle.md §8).
type Stop struct {
	Condition envelope.Condition     `json:"condition"`
	Effect    Effect                 `json:"effect"`
	HandedTo  []constitution.AgentID `json:"handed_to"`
	Recommend string                 `json:"recommend,omitempty"` // rotate
}

// Effect is what a condition does.
type Effect string

// The effects.
const (
	Halt  Effect = "stop"  // nothing more runs, no draft is kept
	Block Effect = "block" // nothing that was asked for has an effect until the cause is gone
)

// PlanShown is a step of the plan as the package shows it.
type PlanShown struct {
	Step int `json:"step"` // from 1
	PlanStep
}

// RunShown is the runtime record of one worker's turn.
type RunShown struct {
	RunID                 string               `json:"run_id"`
	Step                  int64                `json:"step"`
	Attempt               int64                `json:"attempt"`
	Worker                constitution.AgentID `json:"worker"`
	Engine                constitution.Engine  `json:"engine"`
	Model                 string               `json:"model,omitempty"`
	ConstitutionVersion   string               `json:"CONSTITUTION_VERSION"`
	SubagentPromptVersion string               `json:"SUBAGENT_PROMPT_VERSION"`
	PromptSHA256          string               `json:"prompt_sha256"`
	Provenance            envelope.Origin      `json:"provenance"`
	State                 RunState             `json:"state"`
	Fault                 string               `json:"fault,omitempty"`
	Artifacts             []string             `json:"artifacts"`
	StartedAt             time.Time            `json:"started_at"`
	EndedAt               *time.Time           `json:"ended_at,omitempty"`
}

// Owed is what somebody has to do before an artifact takes effect.
type Owed struct {
	Kind       OwedKind        `json:"kind"`
	ArtifactID string          `json:"artifact_id"`
	SHA256     string          `json:"content_sha256"`
	Member     string          `json:"member_id,omitempty"` // "" is any member of the circle who may
	Why        artifact.Why    `json:"why,omitempty"`
	Answer     artifact.Answer `json:"answer,omitempty"`
	Needed     int             `json:"needed,omitempty"` // of the council
	StepUp     bool            `json:"step_up,omitempty"`
	By         *time.Time      `json:"by,omitempty"`
}

// OwedKind says what is owed.
type OwedKind string

// The kinds.
const (
	OwedConsent      OwedKind = "consent"
	OwedConfirmation OwedKind = "confirmation"
)

// outcome is what is kept of a package when the request has ended: who reads it
// later sees it as it was.
type outcome struct {
	Stops     []Stop           `json:"stops"`
	Artifacts []artifactStatus `json:"artifacts"`
	Owed      []Owed           `json:"owed"`
	Question  string           `json:"question,omitempty"`
}

type artifactStatus struct {
	ID      string          `json:"id"`
	Version int64           `json:"version"`
	Status  artifact.Status `json:"status"`
}

func shownRun(r *Run) RunShown {
	out := RunShown{
		RunID: r.ID, Step: r.Step, Attempt: r.Attempt, Worker: r.Worker, Engine: r.Engine, Model: r.Model,
		ConstitutionVersion: r.ConstitutionVersion, SubagentPromptVersion: r.SubagentPromptVersion, PromptSHA256: r.PromptSHA256,
		Provenance: r.Origin, State: r.State, Fault: r.Fault, Artifacts: r.Artifacts, StartedAt: r.StartedAt, EndedAt: instant(r.EndedAt),
	}
	if out.Artifacts == nil {
		out.Artifacts = []string{}
	}
	return out
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
