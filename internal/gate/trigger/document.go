package trigger

// CatalogueVersion is the version of the catalogue as a document
// (docs/spec/verification.md §2, A-20). Result, which check prints, is numbered
// apart.
const CatalogueVersion = "0.2"

// CatalogueDocument is the catalogue as callers read it: rules with their conditions in
// the vocabulary of §18.3.
type CatalogueDocument struct {
	SchemaVersion string         `json:"schema_version"`
	Name          string         `json:"name"`
	Default       string         `json:"default_command"`
	Rules         []RuleDocument `json:"rules"`
	Stop          When           `json:"stop_conditions"`
	Precedence    []string       `json:"action_precedence"`
}

// RuleDocument is one row of the catalogue.
type RuleDocument struct {
	ID        string  `json:"id"`
	Class     Class   `json:"surface_class"`
	When      When    `json:"when"`
	Action    Action  `json:"action"`
	Rationale string  `json:"rationale"`
	Command   *string `json:"command"`
}

// List is the whole catalogue. Commands name the agent as Evaluate does.
func List(agent string) CatalogueDocument {
	d := CatalogueDocument{
		SchemaVersion: CatalogueVersion, Name: "agents-shipgate-triggers", Default: detectCommand, Rules: []RuleDocument{},
		Stop: When{"all_of": []When{
			{"detect_returns": "is_agent_project: false"},
			{"detect_returns": "suggested_sources: []"},
			{"detect_returns": "codex_plugin_candidates: []"},
			{"file_absent": "shipgate.yaml"},
			{"user_did_not_request": true},
		}},
		Precedence: []string{"stop_conditions"},
	}
	for _, a := range precedence {
		d.Precedence = append(d.Precedence, string(a))
	}
	for i := range catalogue {
		e := &catalogue[i]
		r := RuleDocument{ID: e.ID, Class: e.Class, When: e.when.said(), Action: e.Action, Rationale: e.Rationale}
		if c := e.command(agent); c != "" {
			r.Command = &c
		}
		d.Rules = append(d.Rules, r)
	}
	return d
}

// Detected is what detection says of the tree that the change is in. The zero
// value is that nobody looked, or not at everything: it stops nothing.
type Detected struct {
	Complete     bool // the whole tree was looked at and understood
	AgentProject bool
	Sources      int // suggested_sources
	Plugins      int // codex_plugin_candidates
}

// Stop evaluates the stop block over a result: what it stops has nothing to do
// with agents, and nobody asked. It stops no row about the configuration of
// coding agents, whose command is check and not adoption (D80.A4).
func (r Result) Stop(in Input, requested bool, d Detected) Result {
	if requested || in.ManifestPresent || !d.Complete {
		return r
	}
	r.StopConditionsEvaluated = true
	if d.AgentProject || d.Sources > 0 || d.Plugins > 0 {
		return r
	}
	for _, m := range r.MatchedRules {
		if m.Class == ClassHostBoundary {
			return r
		}
	}
	r.StopConditionsFired = true
	r.ShouldRun, r.RunShipgate, r.ForceRun, r.DryRunRecommended = false, false, false, false
	r.Skip, r.NextAction = true, nil
	reason := Stopped
	r.SkipReason = &reason
	r.Rationale = "No agent, no source of tools, no manifest, and nobody asked for a verification."
	return r
}
