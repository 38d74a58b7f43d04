package request

import (
	"slices"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Plan is what is done for a request: the workers in their order. It is fixed
// before any worker has seen a word of the request (docs/spec/circle.md §8), and
// kept with the request.
type Plan struct {
	Chain string     `json:"chain,omitempty"` // "" when the plan is no chain
	Steps []PlanStep `json:"steps"`
}

// PlanStep is one worker's turn.
type PlanStep struct {
	Worker   constitution.AgentID    `json:"worker"`
	Class    constitution.Class      `json:"class"`
	Outputs  []envelope.ArtifactType `json:"outputs"`
	Required bool                    `json:"required,omitempty"` // the plan ends when it fails
	Beside   bool                    `json:"beside,omitempty"`   // may run together with the step before it

	// Chained is the place of the step in its chain, from 1, whose condition it
	// has; 0 for a step that is not of the chain.
	Chained int `json:"chained,omitempty"`
	// HandOver is the condition whose remedy the worker is asked for.
	HandOver envelope.Condition `json:"hand_over,omitempty"`
	// Skipped says why the step had no turn; "" when it had, or may still have.
	Skipped Skip `json:"skipped,omitempty"`
}

// Skip is why a step of a plan had no turn.
type Skip string

// The reasons.
const (
	SkipCondition Skip = "not_needed" // its condition was not met
	SkipStopped   Skip = "stopped"    // the plan ended before it
)

// handOvers is who each condition is handed to (docs/spec/circle.md §8). That of
// the output is the worker itself, which is asked again; that of the consent only
// needs a step where Process has not asked for it in the chain already.
var handOvers = map[envelope.Condition][]constitution.AgentID{
	envelope.BreachDetected:  {constitution.AuditLog},
	envelope.VisibilityClash: {constitution.PrivacySentinel, constitution.GatePolicy},
	envelope.ExportNotPublic: {constitution.PrivacySentinel, constitution.Bridge},
	envelope.ConsentOwed:     {constitution.Process},
}

var handOverOutputs = map[constitution.AgentID][]envelope.ArtifactType{
	constitution.AuditLog:        {envelope.BreachReport},
	constitution.PrivacySentinel: {envelope.PrivacyReport},
	constitution.GatePolicy:      {envelope.GateVerdict},
	constitution.Bridge:          {envelope.BridgeDraft},
	constitution.Process:         {envelope.ConsentRequest},
}

// handOver is the steps that a condition is handed to.
func handOver(r *constitution.Registry, c envelope.Condition) []PlanStep {
	steps := []PlanStep{}
	for _, id := range handOvers[c] {
		w, _ := r.Worker(id)
		steps = append(steps, PlanStep{Worker: id, Class: w.Class, Outputs: slices.Clone(handOverOutputs[id]), HandOver: c})
	}
	return steps
}

// planned is the plan that a triage needs, the smallest one: the chain of the
// intent, or its workers in the order of their priority. The Privacy-Sentinel
// comes first whenever triage calls for it (docs/spec/circle.md §6.3).
//
// The steps of a chain are the protocol's, and with them their outputs: a chain
// is entered for what the request allows, and ends in entries nobody asks for by
// name.
func planned(r *constitution.Registry, e *envelope.Envelope, t Triaged) Plan {
	p := Plan{Steps: []PlanStep{}}
	entry, ok := r.Intent(t.Intent)
	if !ok {
		return p
	}
	if chain, ok := r.Chain(entry.Chain); ok {
		p.Chain = chain.ID
		for i, s := range chain.Steps {
			w, _ := r.Worker(s.Worker)
			p.Steps = append(p.Steps, PlanStep{
				Worker: s.Worker, Class: w.Class, Outputs: slices.Clone(s.Outputs), Required: s.Required || w.Class == constitution.Heavy,
				Beside: s.Beside, Chained: i + 1,
			})
		}
	} else {
		for _, id := range entry.Workers {
			w, _ := r.Worker(id)
			p.Steps = append(p.Steps, PlanStep{Worker: id, Class: w.Class, Outputs: wanted(w, entry, e), Required: w.Class == constitution.Heavy})
		}
	}
	if len(p.Steps) > 0 && t.Guarded && p.Steps[0].Worker != constitution.PrivacySentinel {
		w, _ := r.Worker(constitution.PrivacySentinel)
		first := PlanStep{Worker: w.ID, Class: w.Class, Outputs: []envelope.ArtifactType{envelope.PrivacyReport}}
		p.Steps = slices.Insert(p.Steps, 0, first)
	}
	return p
}

// wanted is what a worker that is no part of a chain is asked for: what the
// intent is for, as far as the request expects and allows it.
func wanted(w constitution.Worker, entry constitution.IntentEntry, e *envelope.Envelope) []envelope.ArtifactType {
	list := []envelope.ArtifactType{}
	for _, t := range w.Outputs {
		if slices.Contains(entry.Outputs, t) && e.Expects(t) && e.Allows(t.Needs()) {
			list = append(list, t)
		}
	}
	return list
}

// group is the first step of the group that a step belongs to: steps that may run
// together. What a step sees is what the groups before its own have made, so that
// it does not depend on who of a group is quicker.
func (p *Plan) group(step int) int {
	for step > 0 && p.Steps[step].Beside {
		step--
	}
	return step
}

// until is the step after the last of the group that begins with a step.
func (p *Plan) until(first int) int {
	next := first + 1
	for next < len(p.Steps) && p.Steps[next].Beside {
		next++
	}
	return next
}

// due says whether a step has a turn.
func (p *Plan) due(r *constitution.Registry, step int, f constitution.Facts) (bool, error) {
	s := p.Steps[step]
	if s.Chained == 0 {
		return true, nil
	}
	chain, ok := r.Chain(p.Chain)
	if !ok || s.Chained > len(chain.Steps) {
		return true, nil
	}
	return chain.Steps[s.Chained-1].Due(f)
}
