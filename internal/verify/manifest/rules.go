package manifest

import (
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// rules are what no single place of the file can be held to.
type rules struct {
	*faults
	m   *Manifest
	opt Options
}

func (r *rules) hold() {
	r.sources()
	r.inputs()
	r.scope()
	r.identities()
	r.bindings()
	r.actions()
	r.policies()
	r.overrides()
}

// at adds a problem at a place of the file, or at the place above it that exists.
func (r *rules) at(code Code, path []string, format string, args ...any) {
	if r.full {
		return
	}
	pos := source.Position{}
	for n := len(path); n >= 0 && pos.Line == 0; n-- {
		pos = r.m.At(path[:n]...)
	}
	r.add(path, pos, code, format, args...)
}

// twice tells of every repetition of a name.
func twice[T any](r *rules, items []T, name func(T) string, path func(i int) []string, what string) {
	first := map[string]int{}
	for i, item := range items {
		n := name(item)
		if n == "" {
			continue
		}
		if j, ok := first[n]; ok {
			r.at(Duplicate, path(i), "is the same %s as entry %d", what, j)
			continue
		}
		first[n] = i
	}
}

func index(keys ...string) func(i int) []string {
	return func(i int) []string {
		path := slices.Clone(keys)
		for j, key := range path {
			if key == "*" {
				path[j] = strconv.Itoa(i)
			}
		}
		return path
	}
}

func (r *rules) sources() {
	for i, s := range r.m.Sources {
		at := []string{"tool_sources", strconv.Itoa(i)}
		if s.Path == "" && s.Type != "openai_agents_sdk" && !r.broken(append(at, "path")...) && slices.Contains(sourceTypes, s.Type) {
			r.at(MissingKey, append(at, "path"), "is required for a source of type %s", s.Type)
		}
		if s.Type == "codex_plugin" && s.Mode != "" && s.Mode != "package" && s.Mode != "marketplace" {
			r.at(WrongValue, append(at, "mode"), "must be package or marketplace")
		}
		if s.Authority != nil {
			r.authority(append(at, "authority"), s.Authority, s.Authority.Scopes, append(at, "authority", "scopes"))
		}
		if s.Binding != nil && !s.Binding.Complete && !r.broken(append(at, "binding")...) {
			r.at(WrongValue, append(at, "binding", "complete"), "must be true: leave the binding out when it is not complete")
		}
	}
	twice(r, r.m.Sources, func(s Source) string { return s.ID }, index("tool_sources", "*", "id"), "id")
}

// authority holds the table of §4.8, last part of row authority.
func (r *rules) authority(at []string, a *Authority, scopes []string, scopesAt []string) {
	if r.broken(at...) || r.broken(scopesAt...) {
		return
	}
	needs := func(key, value string) {
		if blank(value) {
			r.at(MissingKey, append(slices.Clone(at), key), "is required with mode %s", a.Mode)
		}
	}
	none := func() {
		if len(scopes) > 0 {
			r.at(Contradiction, scopesAt, "must not be given with mode %s", a.Mode)
		}
	}
	switch a.Mode {
	case "none":
		none()
		if !blank(a.AuthType) {
			r.at(Contradiction, append(slices.Clone(at), "auth_type"), "must not be given with mode none")
		}
	case "scoped":
		needs("auth_type", a.AuthType)
		if len(scopes) == 0 {
			r.at(MissingKey, scopesAt, "are required with mode scoped")
		}
	case "unscoped":
		needs("auth_type", a.AuthType)
		needs("reason", a.Reason)
		none()
	case "ambient":
		needs("reason", a.Reason)
		none()
	}
}

// inputs holds the first whole-file rule of §4.2.
func (r *rules) inputs() {
	m := r.m
	if len(m.Sources) > 0 || m.OpenAI != nil || m.Anthropic != nil || m.ADK != nil || m.LangChain != nil || m.CrewAI != nil || m.N8N != nil {
		return
	}
	if r.broken("tool_sources") {
		return
	}
	r.at(MissingKey, []string{"tool_sources"}, "nothing names a tool: give tool_sources or one of %s", strings.Join(inputBlocks, ", "))
}

// inputBlocks are the blocks that stand for tool_sources.
var inputBlocks = []string{"openai_api", "anthropic", "google_adk", "langchain", "crewai", "n8n"}

// scopedBlocks and scopedTypes are inputs that describe an agent by themselves,
// so that no purpose need be given.
var (
	scopedBlocks = []string{"google_adk", "langchain", "crewai", "codex_plugins", "n8n"}
	scopedTypes  = []string{"google_adk", "langchain", "crewai", "codex_plugin"}
)

// scope holds the second whole-file rule of §4.2.
func (r *rules) scope() {
	m := r.m
	switch {
	case len(m.Agent.Purpose) > 0, !blank(m.Agent.Instructions):
		return
	case m.OpenAI != nil && len(m.OpenAI.Prompts) > 0, m.Anthropic != nil && len(m.Anthropic.Prompts) > 0:
		return
	case slices.ContainsFunc(scopedBlocks, func(key string) bool { return given(m.Root.Get(key)) }):
		return
	case slices.ContainsFunc(m.Sources, func(s Source) bool { return slices.Contains(scopedTypes, s.Type) }):
		return
	case r.broken("agent"), r.broken("openai_api"), r.broken("anthropic"), r.broken("tool_sources"):
		return
	}
	r.at(MissingKey, []string{"agent", "declared_purpose"}, "nothing says what the agent is for: give declared_purpose, instructions_preview, or prompt_files of openai_api or anthropic")
}

func (r *rules) identities() {
	twice(r, r.m.Identities, func(i Identity) string { return i.ID }, index("tool_identity", "bindings", "*", "id"), "id")
	for i, b := range r.m.Identities {
		at := []string{"tool_identity", "bindings", strconv.Itoa(i)}
		if r.broken(at...) {
			continue
		}
		same := func(s Selector) bool {
			p := b.Primary
			return s.SourceID == p.SourceID && s.Tool == p.Tool && (p.SourceType == "" || s.SourceType == p.SourceType)
		}
		if !slices.ContainsFunc(b.Members, same) {
			r.at(Contradiction, append(at, "primary"), "must be one of the members")
		}
		twice(r, b.Members, func(s Selector) string { return s.SourceID + "\x00" + s.SourceType + "\x00" + s.Tool },
			index("tool_identity", "bindings", strconv.Itoa(i), "members", "*"), "observation")
	}
}

func (r *rules) bindings() {
	declarations := r.m.Bindings.Declarations
	twice(r, declarations, func(b Binding) string { return b.Agent }, index("agent_bindings", "declarations", "*", "agent"), "agent")
	for i := range declarations {
		at := []string{"agent_bindings", "declarations", strconv.Itoa(i)}
		if v := r.value(append(at, "complete")...); v.Kind == source.Bool && !v.Truth {
			r.at(WrongValue, append(at, "complete"), "must be true: a declaration lists the whole set, or it is left out")
		}
	}
}

// value is the value at a path, items of lists by their index.
func (r *rules) value(path ...string) source.Value {
	v := r.m.Root
	for _, key := range path {
		next, _, ok := step(v, key)
		if !ok {
			return source.Value{}
		}
		v = next
	}
	return v
}

// selectorName is equal for two selectors that ask for the same.
func selectorName(s Selector) string {
	if s.Tool == "" && s.ToolID == "" {
		return ""
	}
	return strings.Join([]string{s.Tool, s.ToolID, s.Provider, s.SourceType, s.SourceID}, "\x00")
}

func (r *rules) actions() {
	actions := r.m.Surface.Actions
	twice(r, actions, func(a Action) string { return a.ID }, index("action_surface", "actions", "*", "id"), "id")
	twice(r, actions, func(a Action) string { return selectorName(a.Selector) }, index("action_surface", "actions", "*"), "tool")
	for i, a := range actions {
		at := []string{"action_surface", "actions", strconv.Itoa(i)}
		if a.Authority != nil {
			r.authority(append(at, "authority"), a.Authority, a.Scopes, append(at, "scopes"))
		}
		if a.Override != nil && a.Effect == "" && !r.broken(append(at, "effect")...) {
			r.at(MissingKey, append(at, "effect"), "is required with override")
		}
	}
}

func (r *rules) policies() {
	policies := r.m.Surface.Policies
	twice(r, policies, func(p Policy) string { return p.ID }, index("action_surface", "policies", "*", "id"), "id")
	for i := range policies {
		seen := map[string]bool{}
		for _, m := range r.value("action_surface", "policies", strconv.Itoa(i), "require").Members {
			path := or(aliases[m.Key], m.Key)
			if seen[path] {
				r.at(Duplicate, []string{"action_surface", "policies", strconv.Itoa(i), "require", m.Key}, "is the same path as another one, under its other name")
			}
			seen[path] = true
		}
	}
	twice(r, r.m.Checks.Packs, func(p Pack) string { return p.ID }, index("checks", "policy_packs", "*", "id"), "id")
}

// tiers of severities: critical, high, medium and low together, and info below
// them (§4.9).
var tiers = map[string]int{"critical": 3, "high": 2, "medium": 1, "low": 1, "info": 0}

func rank(severity string) int { return slices.Index(severities, severity) }

// overrides holds severity overrides to floors, tiers and expiry.
func (r *rules) overrides() {
	acks := r.m.Checks.Acknowledgements
	twice(r, acks, func(a Acknowledgement) string { return a.CheckID }, index("checks", "acknowledge_overrides", "*", "check_id"), "check")
	expired := func(day string) bool { return r.opt.Today != "" && isDate(day) && day < r.opt.Today }
	acknowledged := map[string]bool{}
	for i, a := range acks {
		if !expired(a.Expires) {
			acknowledged[a.CheckID] = true
			continue
		}
		r.at(OverrideRule, []string{"checks", "acknowledge_overrides", strconv.Itoa(i), "expires"}, "has passed; remove the entry or let a person renew it")
	}
	for _, o := range r.m.Checks.Overrides {
		at := []string{"checks", "severity_overrides", o.CheckID}
		if expired(o.Expires) {
			r.at(OverrideRule, append(at, "expires"), "has passed; remove the override or let a person renew it")
		}
		if r.opt.KnownCheck == nil || r.broken(at...) {
			continue
		}
		severity, floor, ok := r.opt.KnownCheck(o.CheckID)
		if !ok {
			if strings.HasPrefix(o.CheckID, "SHIP-") { // any other id may be a policy pack's
				r.suggest(at, o.Pos, UnknownKey, Nearest(o.CheckID, r.opt.CheckIDs), "is no check that is known")
			}
			continue
		}
		if floor != "" && rank(o.Severity) < rank(floor) {
			r.at(OverrideRule, at, "must not be below %s, the floor of this check", floor)
			continue
		}
		if tiers[o.Severity] < tiers[severity] && !acknowledged[o.CheckID] {
			r.at(OverrideRule, at, "lowers %s to %s: a person must add it to checks.acknowledge_overrides", severity, o.Severity)
		}
	}
}
