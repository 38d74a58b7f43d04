package approval_test

import (
	"encoding/json"
	"testing"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/testdata/contracts"
)

type policy struct {
	AutoActivate bool             `json:"auto_activate"`
	Approvals    contract.RoleSet `json:"requiredActivationApprovals"`
}

func same(p policy, g contract.GenerationPolicy) bool {
	return p.AutoActivate == g.AutoActivate && p.Approvals == g.Approvals
}

// Levels and approvers of every subset, and what follows for an Acceptance.
func TestGenerationPolicies(t *testing.T) {
	type vector struct {
		Name         string
		Capabilities capability.Set
		Expected     struct {
			policy
			MinimalRiskLevel                   contract.Level
			AcceptancePolicyWithoutRiskSignals policy
			GateRequiredApprovals              contract.RoleSet
		}
	}
	for _, v := range contracts.Load[vector](t, "generation-policy") {
		p := approval.TaskSeedPolicy(v.Capabilities)
		level := risk.OfCapabilities(v.Capabilities)
		if !same(v.Expected.policy, p) || level != v.Expected.MinimalRiskLevel || approval.Required(level) != v.Expected.GateRequiredApprovals {
			t.Errorf("%s: got %+v at %s", v.Name, p, level)
		}
		if a := approval.AcceptancePolicy(p, v.Capabilities, contract.Low); !same(v.Expected.AcceptancePolicyWithoutRiskSignals, a) {
			t.Errorf("%s: the Acceptance has %+v", v.Name, a)
		}
	}
}

func TestRiskLevelsAndWhoMustApprove(t *testing.T) {
	type vector struct {
		Name                                                     string
		Capabilities                                             capability.Set
		Signals                                                  map[string]bool
		Facts                                                    []risk.Fact
		ExecutionRiskLevel, DeclaredRiskLevel, ObservedRiskLevel contract.Level
		Boundary                                                 *struct {
			ControlState, RouteKind, Verify string
			Rows                            []struct {
				Decision  string
				RiskLevel contract.Level
			}
		}
		Expected struct {
			RiskLevel                  contract.Level
			RequiredApprovals          contract.RoleSet
			Signals                    []risk.Signal
			AcceptanceGenerationPolicy *policy
			AcceptanceStatus           contract.Status
		}
	}
	for _, v := range contracts.Load[vector](t, "risk") {
		declared, err := risk.ParseSignals(v.Signals)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Facts {
			if err := f.Check(); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
		}
		c := risk.Circumstances{
			Capabilities: v.Capabilities, Declared: declared, Observed: risk.FromFacts(v.Facts),
			Floor: v.ExecutionRiskLevel.Max(v.DeclaredRiskLevel).Max(v.ObservedRiskLevel),
		}
		if v.Boundary != nil {
			c.Boundary = &risk.Boundary{ControlState: v.Boundary.ControlState, RouteKind: v.Boundary.RouteKind, Verify: v.Boundary.Verify}
			for _, r := range v.Boundary.Rows {
				c.Boundary.Rows = append(c.Boundary.Rows, risk.Row{RuleID: "row", Decision: r.Decision, Level: r.RiskLevel})
			}
			if status, _ := c.Boundary.Admits(); status != v.Expected.AcceptanceStatus {
				t.Errorf("%s: the Acceptance is %s", v.Name, status)
			}
		}
		got := risk.Assess(c)
		if got.Level != v.Expected.RiskLevel || approval.Required(got.Level) != v.Expected.RequiredApprovals {
			t.Errorf("%s: got %s", v.Name, got.Level)
		}
		if v.Facts != nil && c.Observed != risk.SignalsOf(v.Expected.Signals...) {
			t.Errorf("%s: observed %v", v.Name, c.Observed.List())
		}
		if want := v.Expected.AcceptanceGenerationPolicy; want != nil {
			if p := approval.AcceptancePolicy(approval.TaskSeedPolicy(v.Capabilities), v.Capabilities, v.ExecutionRiskLevel); !same(*want, p) {
				t.Errorf("%s: the Acceptance has %+v", v.Name, p)
			}
		}
	}
}

type text string

func (s *text) UnmarshalJSON(b []byte) error {
	var p *string
	err := json.Unmarshal(b, &p)
	if p != nil {
		*s = text(*p)
	}
	return err
}
