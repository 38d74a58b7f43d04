package hostgrant

import (
	"plimsoll.dev/internal/canonical"
)

// The versions of §2.
const (
	InventoryVersion = "0.2"
	BaselineVersion  = "0.2"
	DriftVersion     = "0.2"
)

// Host is a program that runs coding agents, or their workflows.
type Host string

// The hosts in table order.
const (
	Codex      Host = "codex"
	ClaudeCode Host = "claude-code"
	Cursor     Host = "cursor"
	VSCode     Host = "vscode"
	GitHub     Host = "github"
)

var hosts = []Host{Codex, ClaudeCode, Cursor, VSCode, GitHub}

// Scope says whose files are read.
type Scope string

// The scopes. LocalStatic is Repository and the user's own files: those below
// the home folder, and those of the repository that Git ignores.
const (
	Repository  Scope = "repository"
	LocalStatic Scope = "local_static"
)

// Valid says whether s is one of the two.
func (s Scope) Valid() bool { return s == Repository || s == LocalStatic }

// ArtifactKind is what a configuration file is to its host.
type ArtifactKind string

// The kinds of artifacts.
const (
	Config       ArtifactKind = "config"
	MCP          ArtifactKind = "mcp"
	Hooks        ArtifactKind = "hooks"
	WorkflowFile ArtifactKind = "workflow"
	Instructions ArtifactKind = "instructions"
	Requirements ArtifactKind = "requirements"
)

// ParseStatus says what came of reading a file.
type ParseStatus string

// The statuses. An unsupported file was parsed and says something that no
// reader of files can know.
const (
	Parsed      ParseStatus = "parsed"
	Failed      ParseStatus = "failed"
	Unsupported ParseStatus = "unsupported"
)

// Artifact is one configuration file.
type Artifact struct {
	ID          string       `json:"artifact_id"`
	Host        Host         `json:"host"`
	Kind        ArtifactKind `json:"kind"`
	Path        string       `json:"path"` // relative to the Git root, or ~/… for a file of the user
	Scope       Scope        `json:"scope"`
	ParseStatus ParseStatus  `json:"parse_status"`
	// RedactedSHA256 is the digest of the content with its secrets masked; nil
	// when the content is not known.
	RedactedSHA256 *string `json:"redacted_sha256"`
}

// IssueKind is why something of the configuration is not known.
type IssueKind string

// The kinds of issues.
const (
	ParseFailed           IssueKind = "parse_failed"
	Unreadable            IssueKind = "unreadable"
	UnsupportedSetting    IssueKind = "unsupported"
	UnresolvedPrecedence  IssueKind = "unresolved_precedence"
	DynamicSourceExcluded IssueKind = "dynamic_source_excluded"
	RemoteSourceExcluded  IssueKind = "remote_source_excluded"
)

// Issue is one thing that is not known. With a blocking one the inventory is
// incomplete: it is not saved and not compared.
type Issue struct {
	ID       string    `json:"issue_id"`
	Host     Host      `json:"host"`
	Kind     IssueKind `json:"kind"`
	Blocking bool      `json:"blocking"`
	Message  string    `json:"message"` // one sentence without any content of the file
	Source   string    `json:"source"`
}

// CoverageStatus says how much of a host's configuration was read.
type CoverageStatus string

// The statuses of coverage.
const (
	CoverageComplete     CoverageStatus = "complete"
	CoveragePartial      CoverageStatus = "partial"
	CoverageExperimental CoverageStatus = "experimental"
)

// Coverage is what was looked for and what was there, for one host in one scope.
type Coverage struct {
	Host     Host           `json:"host"`
	Scope    Scope          `json:"scope"`
	Status   CoverageStatus `json:"status"`
	Expected []string       `json:"sources_expected"`
	Observed []string       `json:"sources_observed"`
	IssueIDs []string       `json:"issue_ids"`
}

// Inventory is what the hosts are allowed. Lists are sorted and never nil.
type Inventory struct {
	Version         string     `json:"host_grants_inventory_schema_version"`
	Workspace       string     `json:"workspace"` // as given
	Scope           Scope      `json:"scope"`
	StaticOnly      bool       `json:"static_analysis_only"`     // always true
	SessionVerified bool       `json:"runtime_session_verified"` // always false
	Artifacts       []Artifact `json:"artifacts"`
	Grants          []Grant    `json:"grants"`
	Coverage        []Coverage `json:"host_coverage"`
	Issues          []Issue    `json:"issues"`
	Excluded        []string   `json:"excluded_scopes"`
}

// JSON is the inventory as a document.
func (v *Inventory) JSON() ([]byte, error) { return canonical.Document(v) }

// Complete says whether nothing blocks: only then is what the inventory does not
// name not granted by the files of its scope.
func (v *Inventory) Complete() bool { return v.blocker() == nil }

// blocker is the first issue that makes the inventory incomplete.
func (v *Inventory) blocker() *Issue {
	for i := range v.Issues {
		if v.Issues[i].Blocking {
			return &v.Issues[i]
		}
	}
	return nil
}

// id is a short name that the same parts give again.
func id(prefix string, parts ...string) string {
	return prefix + "_" + canonical.UTF8.SHA256(parts)[:16]
}
