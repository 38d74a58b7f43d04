// Package artifact holds what a phase leaves behind besides contracts: logs,
// test reports, reviews, boundary and verify results, and the release note
// (docs/spec/contracts.md §7.1).
//
// An artifact is bytes with a record that names them by digest. It never
// changes; one per kind and run. The release note is a function of data, so
// that two services write the same bytes and an approver can recompute them.
package artifact

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

//go:embed schema/*.json
var schemaFiles embed.FS

var schemas = sync.OnceValue(func() map[string]*contract.Schema {
	return contract.CompileSchemas(schemaFiles, "schema")
})

// Form is the name of one of the schemas of artifacts.
type Form string

// The forms.
const (
	RecordForm      Form = "phase-artifact"
	TestReportForm  Form = "test-report"
	ReviewForm      Form = "review-result"
	ReleaseNoteForm Form = "release-note"
)

// Validate is every fault of v, a value contract.Parse returned, against a form.
func Validate(f Form, v any) refusal.List { return schemas()[string(f)].Validate(v) }

// SchemaText is the schema of a form as it is published; nil for an unknown one.
func SchemaText(f Form) []byte {
	text, err := schemaFiles.ReadFile("schema/" + string(f) + ".schema.json")
	if err != nil {
		return nil
	}
	return text
}

// MaxSize is the largest artifact.
const MaxSize = 64 << 20

const (
	plainText = "text/plain; charset=utf-8"
	jsonText  = "application/json"
	markdown  = "text/markdown; charset=utf-8"
	diffText  = "text/x-diff" // of files in whatever character set
)

// MediaType is the media type of a kind, "" for what is no artifact.
func MediaType(kind phase.Proof) string {
	switch kind {
	case phase.BuildLog, phase.ErrorLog, phase.FailedTestLog:
		return plainText
	case phase.UnitTestResult, phase.IntegrationReport, phase.ReviewResult, phase.BoundaryResult, phase.VerifyResult:
		return jsonText
	case phase.ReleaseNote:
		return markdown
	case phase.ChangeDiff:
		return diffText
	case phase.TaskSeedProof, phase.PublishGateProof, phase.EvidenceProof:
	}
	return ""
}

// FormOf is the form the bytes of a kind must have; "" where bytes are only
// bytes, and for the boundary and verify results, which have schemas of their
// own.
func FormOf(kind phase.Proof) Form {
	switch kind {
	case phase.UnitTestResult, phase.IntegrationReport:
		return TestReportForm
	case phase.ReviewResult:
		return ReviewForm
	case phase.BuildLog, phase.ErrorLog, phase.FailedTestLog, phase.ReleaseNote, phase.BoundaryResult, phase.VerifyResult, phase.ChangeDiff,
		phase.TaskSeedProof, phase.PublishGateProof, phase.EvidenceProof:
	}
	return ""
}

// Record names the bytes of one artifact. ExecutionID is "" for a review, which
// belongs to no run.
type Record struct {
	Kind            phase.Proof
	ContractID      contract.ID
	ContractVersion int64
	Phase           phase.Phase
	ExecutionID     string
	SHA256          string
	Size            int64
	MediaType       string
}

// NewRecord is the record of bytes delivered for a run, or what its form, or
// the form of its bytes, refuses.
func NewRecord(kind phase.Proof, task contract.ID, version int64, p phase.Phase, executionID string, b []byte) (Record, error) {
	r := Record{
		Kind: kind, ContractID: task, ContractVersion: version, Phase: p, ExecutionID: executionID,
		SHA256: contract.Hash(b), Size: int64(len(b)), MediaType: MediaType(kind),
	}
	v, err := contract.Parse(r.JSON())
	if err != nil {
		return Record{}, err
	}
	if faults := Validate(RecordForm, v); len(faults) > 0 {
		return Record{}, faults
	}
	form := FormOf(kind)
	if form == "" {
		return r, nil
	}
	content, err := contract.Parse(b)
	if err != nil {
		return Record{}, contract.Unreadable(err)
	}
	if faults := Validate(form, content); len(faults) > 0 {
		return Record{}, faults
	}
	return r, nil
}

// JSON is the record as it is stored.
func (r Record) JSON() []byte {
	var execution any
	if r.ExecutionID != "" {
		execution = r.ExecutionID
	}
	return canonical.UTF8.Append(nil, canonical.Object{
		{Key: "kind", Value: string(r.Kind)},
		{Key: "contractId", Value: string(r.ContractID)},
		{Key: "contractVersion", Value: r.ContractVersion},
		{Key: "phase", Value: string(r.Phase)},
		{Key: "executionId", Value: execution},
		{Key: "sha256", Value: r.SHA256},
		{Key: "size", Value: r.Size},
		{Key: "mediaType", Value: r.MediaType},
	})
}

// Again judges a second delivery under the kind and run of r: the same bytes are
// a success without effect, others are refused.
func (r Record) Again(b []byte) error {
	if contract.Hash(b) == r.SHA256 {
		return nil
	}
	return refusal.New(refusal.ContractVersionConflict, "the run has delivered another %s", r.Kind)
}

// Intact says whether b is what r names: what a step that needs the artifact
// looks for.
func (r Record) Intact(b []byte) bool {
	return int64(len(b)) == r.Size && contract.Hash(b) == r.SHA256
}

// TestsPassed reads a test report: passed means exit code 0 and nothing failed.
func TestsPassed(report []byte) (bool, error) {
	v, err := contract.Parse(report)
	if err != nil {
		return false, contract.Unreadable(err)
	}
	if faults := Validate(TestReportForm, v); len(faults) > 0 {
		return false, faults
	}
	var r struct{ ExitCode, Failed json.Number }
	if err := json.Unmarshal(report, &r); err != nil {
		return false, fmt.Errorf("the schema of the test report admits more than its type: %w", err)
	}
	exit, err1 := r.ExitCode.Float64() // 0.0 is an integer of JSON Schema
	failed, err2 := r.Failed.Float64()
	return err1 == nil && err2 == nil && exit == 0 && failed == 0, nil
}
