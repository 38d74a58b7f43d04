package delta

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// LockVersion is the version of the lock file that is written.
const LockVersion = "0.6"

// StandardVersion is the capability standard that the facts of such a file
// follow: which fields a capability has, and what its hashes cover.
const StandardVersion = "0.5"

// Lock is a capability lock: every capability of one side, in a form that is
// compared later (docs/spec/verification.md §11.1). It gates nothing.
type Lock struct {
	Version      string      `json:"capability_lock_schema_version"`
	CLIVersion   string      `json:"cli_version"`
	Experimental bool        `json:"experimental"`
	Source       LockSource  `json:"source"`
	Summary      LockSummary `json:"summary"`
	Hashes       SetHashes   `json:"hashes"`
	Capabilities []Fact      `json:"capabilities"`

	// Path is where the lock lies, for the reader of a difference; "" when it
	// lies nowhere.
	Path string `json:"-"`
}

// LockSource says what the lock was made from. ManifestDir is relative.
type LockSource struct {
	ConfigPath         string `json:"config_path"`
	ManifestDir        string `json:"manifest_dir"`
	AgentID            string `json:"agent_id"`
	AgentName          string `json:"agent_name"`
	ProjectName        Text   `json:"project_name"`
	EnvironmentTarget  Text   `json:"environment_target"`
	SourceCount        int    `json:"source_count"`
	SourceWarningCount int    `json:"source_warning_count"`
	ToolCount          int    `json:"tool_count"`
	ToolkitBoundCount  int    `json:"toolkit_bound_count"`
	PluginsEnabled     bool   `json:"plugins_enabled"`
}

// LockSummary counts capabilities.
type LockSummary struct {
	Capabilities          int `json:"capability_count"`
	HighRisk              int `json:"high_risk_count"`
	Writes                int `json:"write_count"`
	Financial             int `json:"financial_count"`
	CodeExecution         int `json:"code_execution_count"`
	ExternalCommunication int `json:"external_communication_count"`
	BroadScopes           int `json:"broad_scope_count"`
}

// SetHashes are SHA-256 digests in hex over all capabilities. Semantic leaves
// out where things are written, so moving or commenting a file keeps it.
type SetHashes struct {
	Semantic string `json:"semantic_capability_set_hash"`
	Evidence string `json:"evidence_set_hash"`
	Source   string `json:"source_set_hash"`
}

// Meta is what a lock says about its making that the surface does not know.
type Meta struct {
	ConfigPath  string // relative to the Git root, POSIX
	ManifestDir string // relative, "." for the root
	CLIVersion  string
}

// NewLock is the lock of a surface. Two capabilities with one id are a fault of
// kind Invalid (exit code 2).
func NewLock(s *effect.Surface, meta Meta) (*Lock, error) { return NewLockOf(s, Facts(s), meta) }

// NewLockOf is NewLock for a surface whose Facts were made before.
func NewLockOf(s *effect.Surface, facts []Fact, meta Meta) (*Lock, error) {
	l := &Lock{
		Version: LockVersion, CLIVersion: meta.CLIVersion, Source: lockSource(s, meta), Capabilities: facts,
	}
	if err := l.unique(); err != nil {
		return nil, err
	}
	l.Summary = summaryOf(l.Capabilities)
	l.Hashes.Source = l.Source.hash()
	l.Hashes.hashSets(l.Capabilities)
	return l, nil
}

func lockSource(s *effect.Surface, meta Meta) LockSource {
	src := LockSource{ConfigPath: meta.ConfigPath, ManifestDir: meta.ManifestDir, AgentID: s.Graph.Root}
	if m := s.Manifest; m != nil {
		src.AgentName, src.ProjectName, src.EnvironmentTarget = m.Agent.Name, Text(m.Project.Name), Text(m.Environment.Target)
	}
	src.ToolCount = len(s.Tools())
	src.SourceWarningCount = len(s.Warnings)
	if r := s.Reading; r != nil {
		src.SourceCount = len(r.Sources)
		src.SourceWarningCount += len(r.Warnings)
		src.ToolkitBoundCount = len(r.Toolkit)
	}
	return src
}

// hash leaves out the count of warnings: a warning is about a reading, not
// about what was read.
func (s *LockSource) hash() string {
	return canonical.UTF8.SHA256(canonical.Object{
		{Key: "agent_id", Value: s.AgentID},
		{Key: "agent_name", Value: s.AgentName},
		{Key: "config_path", Value: s.ConfigPath},
		{Key: "environment_target", Value: s.EnvironmentTarget.value()},
		{Key: "manifest_dir", Value: s.ManifestDir},
		{Key: "plugins_enabled", Value: s.PluginsEnabled},
		{Key: "project_name", Value: s.ProjectName.value()},
		{Key: "source_count", Value: s.SourceCount},
		{Key: "tool_count", Value: s.ToolCount},
		{Key: "toolkit_bound_count", Value: s.ToolkitBoundCount},
	})
}

func summaryOf(facts []Fact) LockSummary {
	s := LockSummary{Capabilities: len(facts)}
	for i := range facts {
		f := &facts[i]
		has := func(tag string) bool { return slices.Contains(f.RiskTags, tag) }
		for _, c := range []struct {
			count *int
			holds bool
		}{
			{&s.HighRisk, f.Effect.HighRisk},
			{&s.Writes, has("writes_data") || effect.DeltaRank(f.Effect.Effect) >= effect.DeltaRank(effect.Write)},
			{&s.Financial, f.Effect.Financial},
			{&s.CodeExecution, f.Effect.CodeExecution},
			{&s.ExternalCommunication, has("external_communication") || f.Effect.Effect == effect.ExternalCommunication},
			{&s.BroadScopes, len(f.Authority.BroadScopes) > 0},
		} {
			if c.holds {
				*c.count++
			}
		}
	}
	return s
}

// hashSets takes the digests over all capabilities, by id: a capability without the
// place of its evidence, and with that alone. Rows are compact sorted JSON.
func (h *SetHashes) hashSets(facts []Fact) {
	order := make([]*Fact, len(facts))
	for i := range facts {
		order[i] = &facts[i]
	}
	slices.SortFunc(order, func(a, b *Fact) int { return strings.Compare(a.ID, b.ID) })
	h.Semantic = hashRows(order, func(l *line, f *Fact) {
		l.text(`{"authority_hash":`, f.Hashes.Authority)
		l.text(`,"binding_hash":`, f.Hashes.Binding)
		l.text(`,"control_hash":`, f.Hashes.Control)
		l.text(`,"effect_hash":`, f.Hashes.Effect)
		l.text(`,"id":`, f.ID)
		l.text(`,"identity_hash":`, f.Hashes.Identity)
		l.text(`,"risk_hash":`, f.Hashes.Risk)
		l.text(`,"schema_hash":`, f.Hashes.Schema)
		l.put(`}`)
	})
	h.Evidence = hashRows(order, func(l *line, f *Fact) {
		l.text(`{"evidence_hash":`, f.Hashes.Evidence)
		l.text(`,"id":`, f.ID)
		l.put(`}`)
	})
}

// hashRows is the digest of a list that nobody keeps.
func hashRows(order []*Fact, row func(*line, *Fact)) string {
	h := sha256.New()
	l := line{dst: make([]byte, 0, 4<<10)}
	l.put("[")
	for i, f := range order {
		if i > 0 {
			l.put(",")
		}
		row(&l, f)
		h.Write(l.dst)
		l.dst = l.dst[:0]
	}
	l.put("]")
	h.Write(l.dst)
	return hex.EncodeToString(h.Sum(nil))
}

func (l *Lock) unique() error {
	seen := make(map[string]bool, len(l.Capabilities))
	for i := range l.Capabilities {
		f := &l.Capabilities[i]
		if seen[f.ID] {
			return fault.E("delta.Lock", fault.Invalid, "two capabilities have one id", nil).
				WithHint("Give the actions different operations or providers in action_surface.")
		}
		seen[f.ID] = true
	}
	return nil
}

// JSON is the lock file: a capability a line, and a final line end.
func (l *Lock) JSON() ([]byte, error) { return document(l) }

// Doc is the same in parts, by as many hands as each has.
func (l *Lock) Doc(each tool.Each) (canonical.Doc, error) { return documentBy(each, l) }

func document(v any) ([]byte, error) {
	d, err := documentBy(nil, v)
	return d.Bytes(), err
}

func documentBy(each tool.Each, v any) (canonical.Doc, error) {
	text, err := canonical.SheetBy(each, v)
	if err != nil {
		return canonical.Doc{}, fault.E("delta.JSON", fault.Internal, "write a capability document", err)
	}
	return text, nil
}

// MaxLock is the most bytes of a lock file that is read.
const MaxLock = tool.MaxFile
