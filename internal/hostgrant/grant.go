package hostgrant

import (
	"encoding/json"

	"plimsoll.dev/internal/canonical"
)

// Kind is the sort of a grant.
type Kind string

// The kinds of §16.
const (
	AdditionalPath       Kind = "additional_path"
	Hook                 Kind = "hook"
	InstructionTrustRoot Kind = "instruction_trust_root"
	MCPServer            Kind = "mcp_server"
	PermissionMode       Kind = "permission_mode"
	PermissionRule       Kind = "permission_rule"
	PluginOrApp          Kind = "plugin_or_app"
	Profile              Kind = "profile"
	Requirement          Kind = "requirement"
	Sandbox              Kind = "sandbox"
	Workflow             Kind = "workflow"
)

// Access is what a grant lets a host do at most.
type Access string

// The ways of access, the least first. Unknown may be any of them.
const (
	NoAccess Access = "none"
	Read     Access = "read"
	Write    Access = "write"
	Execute  Access = "execute"
	External Access = "external"
	Admin    Access = "admin"
	Unknown  Access = "unknown"
)

// Risk is how much a grant can cost.
type Risk string

// The risks, the least first.
const (
	NoRisk      Risk = "none"
	Low         Risk = "low"
	Medium      Risk = "medium"
	High        Risk = "high"
	Critical    Risk = "critical"
	UnknownRisk Risk = "unknown"
)

// Disposition is what a permission rule does.
type Disposition string

// The dispositions.
const (
	Allow Disposition = "allow"
	Ask   Disposition = "ask"
	Deny  Disposition = "deny"
)

// Grant is one thing that a file lets a host do. Which of the members after
// ConfigSHA256 mean something follows from Kind; the others are not printed.
type Grant struct {
	ID     string
	Kind   Kind
	Host   Host
	Scope  Scope
	Source string // the path of its artifact
	Access Access
	Risk   Risk
	// ConfigSHA256 is the digest of the setting with its secrets masked.
	ConfigSHA256 string

	Path                string      // additional_path, instruction_trust_root
	Event               string      // hook
	Server              string      // mcp_server
	Transport           string      // mcp_server: stdio or url
	Endpoint            string      // mcp_server: a host or a program; "" for null
	EnvKeys, HeaderKeys []string    // mcp_server: names only
	Setting, Value      string      // permission_mode, sandbox; Value is requirement's too
	Rule                string      // permission_rule: the argument masked
	Disposition         Disposition // permission_rule
	Wildcard            bool        // permission_rule
	Name                string      // plugin_or_app, profile, requirement
	Enabled             *bool       // plugin_or_app: nil when the file does not say
	Resolved            bool        // profile
	Triggers            []string    // workflow
	WriteScopes         []string    // workflow
	WriteAll, OnTarget  bool        // workflow: write-all, pull_request_target
}

// object is the grant as the schema has it.
func (g *Grant) object() canonical.Object {
	var o canonical.Object
	add := func(key string, value any) { o = append(o, canonical.Member{Key: key, Value: value}) }
	add("grant_id", g.ID)
	add("kind", string(g.Kind))
	add("host", string(g.Host))
	add("scope", string(g.Scope))
	add("source", g.Source)
	add("access", string(g.Access))
	add("risk", string(g.Risk))
	add("config_sha256", g.ConfigSHA256)
	switch g.Kind {
	case AdditionalPath, InstructionTrustRoot:
		add("path", g.Path)
	case Hook:
		add("event", g.Event)
	case MCPServer:
		add("server", g.Server)
		add("transport", g.Transport)
		if g.Endpoint == "" {
			add("endpoint", nil)
		} else {
			add("endpoint", g.Endpoint)
		}
		add("env_keys", list(g.EnvKeys))
		add("header_keys", list(g.HeaderKeys))
	case PermissionMode, Sandbox:
		add("setting", g.Setting)
		add("value", g.Value)
	case PermissionRule:
		add("rule", g.Rule)
		add("disposition", string(g.Disposition))
		add("wildcard", g.Wildcard)
	case PluginOrApp:
		add("name", g.Name)
		if g.Enabled == nil {
			add("enabled", nil)
		} else {
			add("enabled", *g.Enabled)
		}
	case Profile:
		add("profile", g.Name)
		add("resolved", g.Resolved)
	case Requirement:
		add("requirement", g.Name)
		add("value", g.Value)
	case Workflow:
		add("triggers", list(g.Triggers))
		add("write_all", g.WriteAll)
		add("write_scopes", list(g.WriteScopes))
		add("pull_request_target", g.OnTarget)
	}
	return o
}

// MarshalJSON prints the members of the grant's kind.
func (g Grant) MarshalJSON() ([]byte, error) { return g.object().MarshalJSON() }

// wireGrant is every member that any kind has.
type wireGrant struct {
	ID           string      `json:"grant_id"`
	Kind         Kind        `json:"kind"`
	Host         Host        `json:"host"`
	Scope        Scope       `json:"scope"`
	Source       string      `json:"source"`
	Access       Access      `json:"access"`
	Risk         Risk        `json:"risk"`
	ConfigSHA256 string      `json:"config_sha256"`
	Path         string      `json:"path"`
	Event        string      `json:"event"`
	Server       string      `json:"server"`
	Transport    string      `json:"transport"`
	Endpoint     *string     `json:"endpoint"`
	EnvKeys      []string    `json:"env_keys"`
	HeaderKeys   []string    `json:"header_keys"`
	Setting      string      `json:"setting"`
	Value        string      `json:"value"`
	Rule         string      `json:"rule"`
	Disposition  Disposition `json:"disposition"`
	Wildcard     bool        `json:"wildcard"`
	Name         string      `json:"name"`
	Enabled      *bool       `json:"enabled"`
	Profile      string      `json:"profile"`
	Resolved     bool        `json:"resolved"`
	Requirement  string      `json:"requirement"`
	Triggers     []string    `json:"triggers"`
	WriteAll     bool        `json:"write_all"`
	WriteScopes  []string    `json:"write_scopes"`
	OnTarget     bool        `json:"pull_request_target"`
}

// UnmarshalJSON reads a grant that Save wrote. A member of another kind does not
// survive: what is read prints as it was written, or the baseline is refused.
func (g *Grant) UnmarshalJSON(text []byte) error {
	var w wireGrant
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*g = Grant{
		ID: w.ID, Kind: w.Kind, Host: w.Host, Scope: w.Scope, Source: w.Source, Access: w.Access, Risk: w.Risk, ConfigSHA256: w.ConfigSHA256,
		Path: w.Path, Event: w.Event, Server: w.Server, Transport: w.Transport, EnvKeys: w.EnvKeys, HeaderKeys: w.HeaderKeys,
		Setting: w.Setting, Value: w.Value, Rule: w.Rule, Disposition: w.Disposition, Wildcard: w.Wildcard,
		Name: w.Name + w.Profile + w.Requirement, Enabled: w.Enabled, Resolved: w.Resolved,
		Triggers: w.Triggers, WriteAll: w.WriteAll, WriteScopes: w.WriteScopes, OnTarget: w.OnTarget,
	}
	if w.Endpoint != nil {
		g.Endpoint = *w.Endpoint
	}
	return nil
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
