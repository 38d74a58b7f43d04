package manifest

import "plimsoll.dev/internal/gate/source"

// Exclusion is a row of a high-risk exclusions file (§4.6): it keeps a tool out of automatic approval.
type Exclusion struct {
	Tool, Reason, Owner string
	Pos                 source.Position
}

func exclusionsShape() *shape {
	return object(must("high_risk_auto_approval_exclusions", list(object(
		must("tool", line(), ""), may("reason", text(), ""), may("owner", text(), ""),
	)), ""))
}

// ParseExclusions reads a high-risk exclusions file. The error is an *Errors of
// class 3.
func ParseExclusions(name string, text []byte) ([]Exclusion, error) {
	f := &faults{}
	root, ok := parse(name, text, nil, f)
	if ok {
		w := walker{faults: f}
		w.value(root, exclusionsShape())
	}
	if err := f.errors(name, 3); err != nil {
		return nil, err
	}
	return each(root.Get("high_risk_auto_approval_exclusions"), func(_ int, v source.Value) Exclusion {
		return Exclusion{str(v.Get("tool")), str(v.Get("reason")), str(v.Get("owner")), v.Pos}
	}), nil
}

// Promotion is a promotion criteria file (§4.6). Posture is "" when not given.
type Promotion struct {
	Posture                                          string
	ApprovalTrace, OverrideReason, HighRiskExclusion bool
}

func promotionShape() *shape {
	return object(may("target_review_posture", word(postures), ""), may("required_evidence", flagsShape(), ""))
}

// ParsePromotion reads a promotion criteria file. The error is an *Errors of
// class 3.
func ParsePromotion(name string, text []byte) (*Promotion, error) {
	f := &faults{}
	root, ok := parse(name, text, nil, f)
	if ok {
		w := walker{faults: f}
		w.value(root, promotionShape())
	}
	if err := f.errors(name, 3); err != nil {
		return nil, err
	}
	flags := root.Get("required_evidence")
	return &Promotion{
		str(root.Get("target_review_posture")), truth(flags.Get("approval_trace_required"), false),
		truth(flags.Get("override_reason_required"), false), truth(flags.Get("high_risk_auto_approval_exclusion_required"), false),
	}, nil
}
