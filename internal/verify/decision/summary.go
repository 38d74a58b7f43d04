package decision

import (
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Summary is the summary of report.json (§10.1).
type Summary struct {
	Status            string `json:"status"`
	Critical          int    `json:"critical_count"`
	High              int    `json:"high_count"`
	Medium            int    `json:"medium_count"`
	Low               int    `json:"low_count"`
	Info              int    `json:"info_count"`
	Suppressed        int    `json:"suppressed_count"`
	ReviewRecommended bool   `json:"human_review_recommended"`
	Evidence          string `json:"evidence_coverage"` // static or mixed
}

// Statuses of a summary.
const (
	statusBlockers    = "release_blockers_detected"
	statusWarnings    = "warnings_detected"
	statusRecommended = "human_review_recommended"
	statusClean       = "no_release_blockers_detected"
)

// Summarize counts the findings that are not suppressed, by severity.
func Summarize(findings []check.Finding, head *effect.Surface) Summary {
	s := Summary{Evidence: "static"}
	for i := range findings {
		s.add(&findings[i])
	}
	weak := false
	for _, t := range head.Tools() {
		low := t.Confidence != tool.High
		weak = weak || low
		if low || t.Origin.Type == "sdk_function" {
			s.Evidence = "mixed"
		}
	}
	switch {
	case s.Critical > 0:
		s.Status = statusBlockers
	case s.Critical+s.High+s.Medium+s.Low+s.Info > 0:
		s.Status = statusWarnings
	case weak:
		s.Status = statusRecommended
	default:
		s.Status = statusClean
	}
	s.ReviewRecommended = s.Critical+s.High > 0 || s.Status == statusRecommended
	return s
}

func (s *Summary) add(f *check.Finding) {
	if f.Suppressed {
		s.Suppressed++
		return
	}
	switch f.Severity {
	case check.Critical:
		s.Critical++
	case check.High:
		s.High++
	case check.Medium:
		s.Medium++
	case check.Low:
		s.Low++
	case check.Info:
		s.Info++
	}
}
