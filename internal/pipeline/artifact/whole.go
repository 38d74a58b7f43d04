package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// What a release note says besides of the path it ends. A note that was written
// before there were correlation ids has none of it, and reads and renders as it
// always did; one with a correlation id has all of it.

// NoteRequest is the request a path began with: who asked, in which circle, and
// which decision somebody confirmed.
type NoteRequest struct {
	ID         string           `json:"id"`
	CircleID   string           `json:"circleId"`
	MemberID   contract.ActorID `json:"memberId"`
	ArtifactID string           `json:"artifactId"`
	SHA256     string           `json:"contentSha256"`
}

// NoteSignal is a critical signal, as declared, observed or undeclared.
type NoteSignal struct {
	Signal string `json:"signal"`
	Status string `json:"status"`
}

// NoteBoundary is what the gate said of the change, nil where nothing was
// delivered.
type NoteBoundary struct {
	AuditID string      `json:"auditId"`
	State   string      `json:"state"`
	Rows    []NoteRow   `json:"rows"`
	Verify  *NoteVerify `json:"verify,omitempty"`
}

// NoteRow is a row of the boundary result.
type NoteRow struct {
	RuleID   string `json:"ruleId"`
	Decision string `json:"decision"`
	Level    string `json:"riskLevel"`
}

// NoteVerify is what a verification came to.
type NoteVerify struct {
	DecisionID string `json:"decisionId"`
	Decision   string `json:"decision"`
}

// NoteRun is a run that has ended. What it did not deliver is "", or nil.
type NoteRun struct {
	ExecutionID string           `json:"executionId"`
	Phase       string           `json:"phase"`
	Role        contract.Role    `json:"role"`
	ActorID     contract.ActorID `json:"actorId"`
	Outcome     string           `json:"outcome"`
	StartedAt   string           `json:"startedAt"`
	EndedAt     string           `json:"endedAt"`
	BaseCommit  string           `json:"baseCommit,omitempty"`
	HeadCommit  string           `json:"headCommit,omitempty"`
	Tools       []string         `json:"tools"`
	ExitCode    *int64           `json:"exitCode,omitempty"` // of the test report
	BoundaryID  string           `json:"boundaryId,omitempty"`
	VerifyID    string           `json:"verifyId,omitempty"`
	EvidenceID  contract.ID      `json:"evidenceId,omitempty"`
}

// ExitCode is the exit code a test report tells, nil for what is none.
func ExitCode(report []byte) *int64 {
	var r struct{ ExitCode json.Number }
	if json.Unmarshal(report, &r) != nil {
		return nil
	}
	code, err := r.ExitCode.Float64() // 0.0 is an integer of JSON Schema
	if n := int64(code); err == nil && float64(n) == code {
		return &n
	}
	return nil
}

// TestReport is the kind of the test report a run of a phase delivers, "" for
// none.
func TestReport(p phase.Phase) phase.Proof {
	switch p {
	case phase.Build:
		return phase.UnitTestResult
	case phase.Stabilize:
		return phase.IntegrationReport
	case phase.Plan, phase.Refactor, phase.Publish, phase.Published:
	}
	return ""
}

// whole says whether the note tells of its path.
func (n *Note) whole() bool { return n.CorrelationID != "" }

func (n *Note) writePath(p func(format string, args ...any)) {
	if r := n.Request; r != nil {
		p("- Request: %s of %s in circle %s, decided as %s %s", escape(r.ID), escape(string(r.MemberID)), escape(r.CircleID), escape(r.ArtifactID), escape(r.SHA256))
	}
	if n.whole() {
		p("- Correlation: %s", escape(n.CorrelationID))
	}
}

func (n *Note) writeRisk(b *bytes.Buffer) {
	if !n.whole() {
		return
	}
	section(b, "Risk signals", n.Risk.Signals, func(s NoteSignal) string { return s.Status + " " + escape(s.Signal) })
	rows := []string{}
	if c := n.Boundary; c != nil {
		rows = append(rows, "result "+escape(c.AuditID)+" "+escape(c.State))
		for _, r := range c.Rows {
			rows = append(rows, escape(r.RuleID)+" "+escape(r.Decision)+" "+escape(r.Level))
		}
		if v := c.Verify; v != nil {
			rows = append(rows, "verification "+escape(v.DecisionID)+" "+escape(v.Decision))
		}
	}
	section(b, "Boundary", rows, func(row string) string { return row })
}

func (a *NoteApproval) agreedTo() string {
	text := ""
	if a.BaseCommit != "" || a.HeadCommit != "" {
		text = " " + escape(a.BaseCommit) + ".." + escape(a.HeadCommit)
	}
	if a.SelfApproved {
		text += " (self-approved)"
	}
	return text
}

func (n *Note) writeRuns(b *bytes.Buffer) {
	if !n.whole() {
		return
	}
	section(b, "Runs", n.Runs, func(r NoteRun) string {
		text := fmt.Sprintf("%s %s: %s, %s (%s), %s to %s", r.Phase, escape(r.ExecutionID), r.Outcome, escape(string(r.ActorID)), r.Role, moment(r.StartedAt), moment(r.EndedAt))
		if r.BaseCommit != "" {
			text += ", commits " + escape(r.BaseCommit) + ".." + escape(r.HeadCommit)
		}
		tools := make([]string, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = escape(t)
		}
		if len(tools) > 0 {
			text += ", tools " + strings.Join(tools, " ")
		}
		if r.ExitCode != nil {
			text += fmt.Sprintf(", exit %d", *r.ExitCode)
		}
		for _, id := range []struct{ what, id string }{{"boundary", r.BoundaryID}, {"verify", r.VerifyID}, {"evidence", string(r.EvidenceID)}} {
			if id.id != "" {
				text += ", " + id.what + " " + escape(id.id)
			}
		}
		return text
	})
}
