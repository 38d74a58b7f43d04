package report

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/tool"
)

// ContentID is sha256: and the digest of v in canonical JSON (§1). v is a value
// of this package's types: each has a JSON form. Members named in without are
// left out at the top.
func ContentID(v any, without ...string) string {
	sum, err := canonical.UTF8.SHA256Of(v, without...)
	if err != nil {
		panic("report: content without a JSON form: " + err.Error())
	}
	return "sha256:" + sum
}

// GitSubject is what is verified. Committed snapshots have no overlay; a
// working tree is its commit and the digest of what lies over it.
type GitSubject struct {
	RepositoryID     string `json:"repository_id"`
	SnapshotKind     string `json:"snapshot_kind"` // committed_tree or worktree_overlay
	BaseRef          Text   `json:"base_ref"`
	BaseCommit       Text   `json:"base_commit_sha"`
	BaseTree         Text   `json:"base_tree_sha"`
	HeadRef          string `json:"head_ref"`
	HeadCommit       Text   `json:"head_commit_sha"`
	HeadTree         Text   `json:"head_tree_sha"`
	MergeBase        Text   `json:"merge_base_sha"`
	SourceHeadCommit Text   `json:"source_head_commit_sha"`
	WorktreeOverlay  Text   `json:"worktree_overlay_sha256"`
}

// The kinds of snapshot.
const (
	CommittedTree   = "committed_tree"
	WorktreeOverlay = "worktree_overlay"
)

// Subject is a git subject under its id.
type Subject struct {
	SubjectID string     `json:"subject_id"`
	Git       GitSubject `json:"git"`
}

// Blob is one input by its content. Source is git_blob, worktree, generated,
// external_input or artifact.
type Blob struct {
	Path       string `json:"path"`
	Source     string `json:"source"`
	GitBlobOID Text   `json:"git_blob_oid"`
	SHA256     string `json:"sha256"` // sha256: and 64 hex digits
	Size       int64  `json:"size_bytes"`
}

// InputSet is everything that the run read, by content.
type InputSet struct {
	InputSetID     string            `json:"input_set_id"`
	Config         Blob              `json:"config"`
	ToolSources    []Blob            `json:"tool_sources"`
	Baseline       *Blob             `json:"baseline"`
	DiffFrom       *Blob             `json:"diff_from"`
	PolicyPacks    []Blob            `json:"policy_packs"`
	Diff           Blob              `json:"diff"`
	ChangedFiles   []Blob            `json:"changed_files"`
	ChangedPaths   []string          `json:"changed_paths"`
	Options        map[string]string `json:"options"`         // flags that judgement depends on
	EvaluationDate string            `json:"evaluation_date"` // YYYY-MM-DD
}

// Engine is what has to run so that the same inputs give the same decision. No
// part of it names a machine.
type Engine struct {
	EngineRequirementID  string `json:"engine_requirement_id"`
	Package              string `json:"package"`
	Version              string `json:"version"`
	Distribution         string `json:"engine_distribution_sha256"`
	AdapterSet           string `json:"adapter_set_sha256"`
	DependencySet        string `json:"dependency_set_sha256"`
	PluginSet            string `json:"plugin_set_sha256"`
	PolicyCatalog        string `json:"policy_catalog_sha256"`
	Platform             string `json:"platform"`
	PythonImplementation string `json:"python_implementation"`
	PythonVersion        string `json:"python_version"`
}

// Task is one unit of work of a plan.
type Task struct {
	TaskID     string   `json:"task_id"`
	Kind       string   `json:"kind"` // extract, normalize, evaluate
	Shard      int      `json:"shard"`
	ShardCount int      `json:"shard_count"`
	InputPaths []string `json:"input_paths"`
}

// UnitResult is what a task found, before anything was decided: it holds no
// decision, so that the same evidence has the same id under every policy of
// failing.
type UnitResult struct {
	SchemaVersion  string        `json:"schema_version"`
	UnitResultID   string        `json:"unit_result_id"`
	TaskID         string        `json:"task_id"`
	Findings       []UnitFinding `json:"findings"`
	Gaps           []UnitGap     `json:"evidence_gaps"`
	Capabilities   []UnitFact    `json:"capability_facts"`
	ToolInventory  []string      `json:"tool_inventory"` // tool ids, sorted
	SourceWarnings int           `json:"source_warning_count"`

	made string // the id that NewUnitResult gave it
}

// UnitResultVersion is the version of a unit result.
const UnitResultVersion = "shipgate.verification_unit_result/v1"

// UnitFinding is one finding as evidence.
type UnitFinding struct {
	ID             string `json:"id"`
	Fingerprint    string `json:"fingerprint"`
	CheckID        string `json:"check_id"`
	Severity       string `json:"severity"`
	Suppressed     bool   `json:"suppressed"`
	BaselineStatus Text   `json:"baseline_status"`
	SupportHash    Text   `json:"support_hash"`
}

// UnitGap is one gap as evidence.
type UnitGap struct {
	Kind      string `json:"kind"`
	Subject   string `json:"subject"`
	SourceRef Text   `json:"source_ref"`
}

// UnitFact is one capability by its hash.
type UnitFact struct {
	ID   string `json:"id"`
	Hash string `json:"sha256"`
}

// ArtifactFile is one artifact by content.
type ArtifactFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size_bytes"`
}

// ArtifactManifest is verification-artifacts.json.
type ArtifactManifest struct {
	SchemaVersion string         `json:"schema_version"`
	ArtifactSetID string         `json:"artifact_set_id"`
	Artifacts     []ArtifactFile `json:"artifacts"` // sorted by path
}

// ArtifactManifestVersion is its version.
const ArtifactManifestVersion = "shipgate.verification_artifacts/v1"

// Receipt is verification-receipt.json: what was asked, by what, and what came
// out. AttemptID may differ from run to run and is not part of the id.
type Receipt struct {
	SchemaVersion string   `json:"schema_version"`
	ReceiptID     string   `json:"receipt_id"`
	AttemptID     Text     `json:"attempt_id"`
	RequestID     string   `json:"request_id"`
	ExecutorID    string   `json:"executor_id"`
	UnitResultIDs []string `json:"unit_result_ids"`
	DecisionID    string   `json:"decision_id"`
	ArtifactSetID string   `json:"artifact_set_id"`
}

// ReceiptVersion is its version.
const ReceiptVersion = "shipgate.verification_receipt/v1"

// SubjectID is the id of a git subject.
func SubjectID(g GitSubject) string { return ContentID(g) }

// ID is input_set_id: the digest of the inputs. Sets are sorted first.
func (s InputSet) ID() string { return ContentID(s.tidy(), "input_set_id") }

// tidy is the input set with every list there and every set sorted.
func (s InputSet) tidy() InputSet {
	byPath := func(blobs []Blob) []Blob {
		out := append([]Blob{}, blobs...)
		slices.SortFunc(out, func(a, b Blob) int { return strings.Compare(a.Path+"\x00"+a.Source, b.Path+"\x00"+b.Source) })
		return out
	}
	s.ToolSources, s.PolicyPacks, s.ChangedFiles = byPath(s.ToolSources), byPath(s.PolicyPacks), byPath(s.ChangedFiles)
	s.ChangedPaths = sortedSet(s.ChangedPaths)
	if s.Options == nil {
		s.Options = map[string]string{}
	}
	return s
}

func sortedSet(l []string) []string {
	out := append([]string{}, l...)
	slices.Sort(out)
	return slices.Compact(out)
}

// ID is engine_requirement_id.
func (e Engine) ID() string { return ContentID(e, "engine_requirement_id") }

// ID is task_id.
func (t Task) ID() string {
	t.InputPaths = sortedSet(t.InputPaths)
	return ContentID(t, "task_id")
}

// RequestID is request_id, which is run_id too.
func RequestID(subjectID, inputSetID, engineRequirementID string, taskIDs []string) string {
	return ContentID(struct {
		Subject string   `json:"subject_id"`
		Inputs  string   `json:"input_set_id"`
		Engine  string   `json:"engine_requirement_id"`
		Tasks   []string `json:"task_ids"`
	}{subjectID, inputSetID, engineRequirementID, list(taskIDs)})
}

// ExecutorID is the id of what ran: the engine and the digest of its runtime.
func ExecutorID(engineRequirementID, runtime string) string {
	return ContentID(struct {
		Engine  string `json:"engine_requirement_id"`
		Runtime string `json:"runtime_sha256"`
	}{engineRequirementID, runtime})
}

// ID is unit_result_id.
func (u UnitResult) ID() string { return ContentID(u.tidy(), "unit_result_id") }

func (u UnitResult) tidy() UnitResult {
	u.SchemaVersion = UnitResultVersion
	u.Findings, u.Gaps, u.Capabilities = list(u.Findings), list(u.Gaps), list(u.Capabilities)
	u.ToolInventory = sortedSet(u.ToolInventory)
	return u
}

// NewUnitResult is u under its id.
func NewUnitResult(u UnitResult) UnitResult {
	u = u.tidy()
	u.made = u.ID()
	u.UnitResultID = u.made
	return u
}

// JSON is the bytes of verification-unit-result.json.
func (u UnitResult) JSON() ([]byte, error) { return document(u) }

// Doc is the same in parts.
func (u *UnitResult) Doc(each tool.Each) (canonical.Doc, error) { return documentBy(each, u) }

// DecisionID is the id of what was decided about a request. An empty decision
// is null.
func DecisionID(requestID string, unitResultIDs []string, decision, verdict string, canMerge bool) string {
	ids := append([]string{}, unitResultIDs...)
	slices.Sort(ids)
	return ContentID(struct {
		Request  string   `json:"request_id"`
		Units    []string `json:"unit_result_ids"`
		Decision Text     `json:"decision"`
		Verdict  string   `json:"merge_verdict"`
		CanMerge bool     `json:"can_merge_without_human"`
	}{requestID, ids, Text(decision), verdict, canMerge})
}

// NewArtifactManifest lists artifacts under the id of the set.
func NewArtifactManifest(files []ArtifactFile) ArtifactManifest {
	m := ArtifactManifest{SchemaVersion: ArtifactManifestVersion, Artifacts: append([]ArtifactFile{}, files...)}
	slices.SortFunc(m.Artifacts, func(a, b ArtifactFile) int { return strings.Compare(a.Path, b.Path) })
	m.ArtifactSetID = ContentID(m, "artifact_set_id", "schema_version")
	return m
}

// JSON is the bytes of verification-artifacts.json.
func (m ArtifactManifest) JSON() ([]byte, error) { return document(m) }

// NewReceipt is r under its id.
func NewReceipt(r Receipt) Receipt {
	r.SchemaVersion, r.UnitResultIDs = ReceiptVersion, sortedSet(r.UnitResultIDs)
	r.ReceiptID = ContentID(r, "receipt_id", "schema_version", "attempt_id")
	return r
}

// JSON is the bytes of verification-receipt.json.
func (r Receipt) JSON() ([]byte, error) { return document(r) }
