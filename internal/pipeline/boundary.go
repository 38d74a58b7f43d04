package pipeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
)

// finding is what the gate said of the work the chain has now: the newest
// boundary result and verify artifact for its diff (R10). The zero finding is
// that nothing was delivered.
type finding struct {
	result    *risk.Boundary
	auditID   string
	policySet string
	verifyID  string
	files     []string
	run       *Run // that delivered the boundary result

	stored []Artifact // all of the chain, without their bytes
}

// boundaryResult is a boundary result as far as it is read here
// (docs/spec/boundary.md §8).
type boundaryResult struct {
	AuditID         string   `json:"audit_id"`
	PolicySetSHA256 string   `json:"policy_set_sha256"`
	ChangedFiles    []string `json:"changed_files"`
	Control         struct {
		State      string `json:"state"`
		NextAction struct {
			Kind string `json:"kind"`
		} `json:"next_action"`
	} `json:"control"`
	Violations []struct {
		CheckID   string `json:"check_id"`
		Action    string `json:"action"`
		RiskLevel string `json:"risk_level"`
	} `json:"violations"`
}

// verifyArtifact is what a verify artifact says, in whichever of its forms it
// was delivered: what the verifier said, the run, or the hand-off made from them
// (docs/spec/verification.md §10, §15).
type verifyArtifact struct {
	Decision   string `json:"decision"`
	DecisionID string `json:"decision_id"`
	BaseRef    string `json:"base_ref"`
	HeadRef    string `json:"head_ref"`
	Outcome    struct {
		Decision string `json:"decision"`
	} `json:"outcome"`
	Plan struct {
		Subject struct {
			Git verifySubject `json:"git"`
		} `json:"subject"`
	} `json:"plan"`
	Release struct {
		Decision string `json:"decision"`
	} `json:"release_decision"`
	Gate struct {
		Decision string `json:"decision"`
	} `json:"gate"`
	Reproducibility struct {
		DecisionID string `json:"decision_id"`
	} `json:"reproducibility"`
	Subject verifySubject `json:"subject"`
}

// verifySubject is the commits that a verify artifact is about.
type verifySubject struct {
	BaseCommit string `json:"base_commit_sha"`
	HeadCommit string `json:"head_commit_sha"`
}

// commits is every pair of commits the artifact names. Refs count where they are
// commits in full: what a branch is, the artifact does not say.
func (v verifyArtifact) commits() []verifySubject {
	list := []verifySubject{v.Subject, v.Plan.Subject.Git}
	if fullCommit(v.BaseRef) && fullCommit(v.HeadRef) {
		list = append(list, verifySubject{v.BaseRef, v.HeadRef})
	}
	return slices.DeleteFunc(list, func(s verifySubject) bool { return s.BaseCommit == "" || s.HeadCommit == "" })
}

func fullCommit(text string) bool {
	hex := func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' }
	return (len(text) == 40 || len(text) == 64) && strings.TrimFunc(text, hex) == ""
}

func readVerify(b []byte) (verifyArtifact, bool) {
	var v verifyArtifact
	if err := json.Unmarshal(b, &v); err != nil {
		return v, false
	}
	for _, d := range []string{v.Release.Decision, v.Outcome.Decision, v.Gate.Decision} {
		if v.Decision == "" {
			v.Decision = d
		}
	}
	if v.DecisionID == "" {
		v.DecisionID = v.Reproducibility.DecisionID
	}
	return v, v.Decision != "" && v.DecisionID != ""
}

// boundary reads what the gate said of the diff the chain has. A result that was
// delivered for another diff says nothing about this one.
func (x *session) boundary() (finding, error) { return readBoundary(x, x.w) }

func readBoundary(r Reader, w *work) (finding, error) {
	list, err := r.Artifacts(w.chain.ID)
	if err != nil {
		return finding{}, err
	}
	newest, by := map[phase.Proof][]byte{}, map[phase.Proof]*Run{}
	for _, a := range slices.Backward(list) {
		k := phase.Proof(a.Kind)
		if k != phase.BoundaryResult && k != phase.VerifyResult || newest[k] != nil {
			continue
		}
		run, err := speaksFor(r, w, a)
		if err != nil {
			return finding{}, err
		}
		if run == nil {
			continue
		}
		full, err := r.Artifact(a.ExecutionID, a.Kind)
		if err != nil {
			return finding{}, err
		}
		if (artifact.Record{SHA256: full.SHA256, Size: full.Size}).Intact(full.Bytes) {
			newest[k], by[k] = full.Bytes, run
		}
	}
	f := findings(newest[phase.BoundaryResult], newest[phase.VerifyResult])
	f.run, f.stored = by[phase.BoundaryResult], list
	return f, nil
}

// findings reads the two artifacts, either of which may be nil. A boundary
// result that does not read leaves an unknown state behind, which blocks: nobody
// has judged the change then.
func findings(check, verify []byte) finding {
	f := finding{}
	if v, ok := readVerify(verify); ok {
		f.verifyID = v.DecisionID
	}
	if check == nil {
		return f
	}
	var r boundaryResult
	_ = json.Unmarshal(check, &r)
	f.result = &risk.Boundary{ControlState: r.Control.State, RouteKind: r.Control.NextAction.Kind}
	if v, ok := readVerify(verify); ok {
		f.result.Verify = v.Decision
	}
	for _, row := range r.Violations {
		f.result.Rows = append(f.result.Rows, risk.Row{RuleID: row.CheckID, Decision: row.Action, Level: contract.Level(row.RiskLevel)})
	}
	f.auditID, f.policySet, f.files = r.AuditID, r.PolicySetSHA256, r.ChangedFiles
	return f
}

// speaksFor is the run of an artifact that is about the diff the chain has, nil
// for one that is not. While its run is alive it is about the diff that run will
// report.
func speaksFor(r Reader, w *work, a Artifact) (*Run, error) {
	if t := w.taskRow(); t == nil || a.Task != t.Ref() {
		return nil, nil
	}
	run, err := r.Run(a.ExecutionID)
	if err != nil {
		return nil, err
	}
	if run.Alive() || run.DiffHash == w.diff() && w.chain.DiffHash != "" {
		return run, nil
	}
	return nil, nil
}

// changes is the changed files as the release note has them. The boundary
// result names them; how each has changed is what its run said, which says
// nothing of those that were modified.
func (f finding) changes() ([]artifact.File, error) {
	how := map[string]string{}
	if f.run != nil {
		d, err := f.run.details()
		if err != nil {
			return nil, err
		}
		for _, one := range d.Files {
			how[one.Path] = one.Change
		}
	}
	list := make([]artifact.File, 0, len(f.files))
	for _, path := range f.files {
		list = append(list, artifact.File{Change: cmp.Or(how[path], artifact.Modified), Path: path})
	}
	return list, nil
}
