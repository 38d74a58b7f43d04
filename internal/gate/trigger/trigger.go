// Package trigger says whether a change is any of the gate's business: which
// rows of the catalogue match its names and its text, and what follows from
// them (docs/spec/boundary.md §6.2).
//
// For check the answer is context: only force_run moves the control. The same
// rows also find capability surfaces that no manifest declares (§6.4).
package trigger

import (
	"fmt"
	"slices"
)

// SchemaVersion is the version of the catalogue.
const SchemaVersion = "0.3"

// Input is what the catalogue looks at. That the user asked is a given: check
// only runs when it is called.
type Input struct {
	ChangedFiles    []string
	Text            [][]byte // the diff texts, as bytes (ruling R16)
	ManifestPresent bool
	Agent           string // the calling agent, as command strings name it
}

// Result is the object trigger of the result, its members in printed order.
type Result struct {
	SchemaVersion           string      `json:"schema_version"`
	ShouldRun               bool        `json:"should_run"`
	RunShipgate             bool        `json:"run_shipgate"`
	Skip                    bool        `json:"skip"`
	ForceRun                bool        `json:"force_run"`
	DryRunRecommended       bool        `json:"dry_run_recommended"`
	SkipReason              *SkipReason `json:"skip_reason"`
	StopConditionsFired     bool        `json:"stop_conditions_fired"`
	StopConditionsEvaluated bool        `json:"stop_conditions_evaluated"`
	Rationale               string      `json:"rationale"`
	MatchedRules            []Match     `json:"matched_rules"`
	ChangedFiles            []string    `json:"changed_files"`
	DiffTokens              []string    `json:"diff_tokens"`
	NextAction              *NextAction `json:"next_action"`
}

// Match is one row of the catalogue that holds.
type Match struct {
	ID        string  `json:"id"`
	Action    Action  `json:"action"`
	Class     Class   `json:"surface_class"`
	Rationale string  `json:"rationale"`
	Command   *string `json:"command"`
}

// NextAction is what the catalogue suggests; null when nothing has to run.
type NextAction struct {
	Kind    string `json:"kind"`
	Command string `json:"command"`
	Why     string `json:"why"`
}

// SkipReason says why nothing has to run.
type SkipReason string

// The reasons.
const (
	SkipRule   SkipReason = "skip_rule"
	DryRunOnly SkipReason = "dry_run_only"
	NoMatch    SkipReason = "no_match"
	Stopped    SkipReason = "stop_conditions" // never in a result of check
)

// Valid says whether r is one of the four.
func (r SkipReason) Valid() bool {
	return slices.Contains([]SkipReason{SkipRule, DryRunOnly, NoMatch, Stopped}, r)
}

// Evaluate runs the whole catalogue over a change.
func Evaluate(in Input) Result {
	f := newFacts(in)
	r := Result{
		SchemaVersion: SchemaVersion,
		MatchedRules:  []Match{},
		ChangedFiles:  append([]string{}, in.ChangedFiles...),
		DiffTokens:    []string{},
	}
	var winner *Entry
	for i := range catalogue {
		e := &catalogue[i]
		held, tokens := f.holds(e)
		if !held {
			continue
		}
		for _, t := range tokens {
			if !slices.Contains(r.DiffTokens, t) {
				r.DiffTokens = append(r.DiffTokens, t)
			}
		}
		m := Match{ID: e.ID, Action: e.Action, Class: e.Class, Rationale: e.Rationale}
		if c := e.command(in.Agent); c != "" {
			m.Command = &c
		}
		r.MatchedRules = append(r.MatchedRules, m)
		if winner == nil || winner.Action.yields(e.Action) {
			winner = e
		}
	}
	r.Rationale = fmt.Sprintf("%d rule(s) matched.", len(r.MatchedRules))
	r.settle(winner, in.Agent)
	return r
}

// settle writes the outcome of the row that wins. There is no stop block to
// evaluate: it needs what only a detector knows, and a user who did not ask.
func (r *Result) settle(winner *Entry, agent string) {
	skip := func(reason SkipReason) { r.SkipReason = &reason }
	if winner == nil {
		skip(NoMatch)
		return
	}
	switch winner.Action {
	case ForceRun:
		r.ShouldRun, r.RunShipgate, r.ForceRun = true, true, true
	case RunShipgate:
		r.ShouldRun, r.RunShipgate = true, true
	case SkipShipgate:
		r.Skip = true
		skip(SkipRule)
		return
	case DryRun:
		r.DryRunRecommended = true
		skip(DryRunOnly)
	}
	command := winner.command(agent)
	if command == "" {
		command = previewCommand
	}
	r.NextAction = &NextAction{Kind: "command", Command: command, Why: winner.why()}
}
