package report

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Version is report_schema_version (§2).
const Version = "0.34"

// Report is report.json (§10.1), in printed order. Blocks that are not built
// are empty or null, never left out.
type Report struct {
	SchemaVersion    string                 `json:"report_schema_version"`
	RunID            string                 `json:"run_id"`
	ManifestDir      string                 `json:"manifest_dir"`
	Project          projectJSON            `json:"project"`
	Agent            agentJSON              `json:"agent"`
	Environment      environmentJSON        `json:"environment"`
	Summary          decision.Summary       `json:"summary"`
	ReleaseDecision  *decision.Decision     `json:"release_decision"`
	Findings         []findingJSON          `json:"findings"`
	ToolCatalog      []toolJSON             `json:"tool_catalog"`
	ToolInventory    []namedJSON            `json:"tool_inventory"`
	Binding          bindingJSON            `json:"binding_surface_facts"`
	PolicyGaps       []policyGapJSON        `json:"policy_evidence_gaps"`
	CapabilityFacts  []factJSON             `json:"capability_facts"`
	Intentions       []string               `json:"declared_intentions"`
	Misalignments    []string               `json:"misalignments"`
	Consequence      *string                `json:"release_consequence"`
	Scenarios        []string               `json:"suggested_scenarios"`
	ToolFacts        *string                `json:"tool_surface_facts"`
	ToolDiff         *string                `json:"tool_surface_diff"`
	ActionFacts      actionFactsJSON        `json:"action_surface_facts"`
	ActionDiff       actionDiffJSON         `json:"action_surface_diff"`
	CapabilityChange CapabilityChange       `json:"capability_change"`
	Protected        []TrustRoot            `json:"protected_surface_changes"`
	Policy           any                    `json:"effective_policy"`
	HumanAck         []ackJSON              `json:"human_ack"`
	VerifierSummary  *string                `json:"verifier_summary"`
	ReviewerSummary  *ReviewerSummary       `json:"reviewer_summary"`
	AgentSummary     *AgentSummary          `json:"agent_summary"`
	Privacy          *string                `json:"privacy_audit"`
	Heuristics       heuristicsJSON         `json:"heuristics_filter"`
	RuntimeEvidence  *string                `json:"capability_runtime_evidence"`
	PluginSurface    *pluginSurfaceJSON     `json:"codex_plugin_surface"`
	Packs            []string               `json:"loaded_policy_packs"`
	Plugins          []string               `json:"loaded_plugins"`
	Warnings         []warningJSON          `json:"source_warnings"`
	Baseline         decision.BaselineDelta `json:"baseline"`
	Generated        map[string]string      `json:"generated_reports"`

	each tool.Each
}

type projectJSON struct {
	Name  string `json:"name"`
	Owner Text   `json:"owner"`
	Repo  Text   `json:"repo"`
}

type agentJSON struct {
	ID         Text     `json:"id"` // of the root agent, null while it is ambiguous
	Name       string   `json:"name"`
	Purpose    []string `json:"declared_purpose"`
	Prohibited []string `json:"prohibited_actions"`
	Tools      []string `json:"tools"`
}

type environmentJSON struct {
	Target string `json:"target"`
	From   Text   `json:"promotion_from"`
	To     Text   `json:"promotion_to"`
}

// findingJSON is a finding as §7.2 has it, nulls kept and secrets masked.
type findingJSON struct {
	ID                string            `json:"id"`
	Fingerprint       string            `json:"fingerprint"`
	CheckID           string            `json:"check_id"`
	Title             string            `json:"title"`
	Category          string            `json:"category"`
	Severity          check.Severity    `json:"severity"`
	Confidence        tool.Confidence   `json:"confidence"`
	Recommendation    string            `json:"recommendation"`
	DocsURL           Text              `json:"docs_url"`
	ToolID            Text              `json:"tool_id"`
	ToolName          Text              `json:"tool_name"`
	AgentID           Text              `json:"agent_id"`
	Evidence          any               `json:"evidence"`
	Source            *check.Source     `json:"source"`
	Suppressed        bool              `json:"suppressed"`
	SuppressionReason Text              `json:"suppression_reason"`
	BaselineStatus    Text              `json:"baseline_status"`
	Patches           []check.Patch     `json:"patches"`
	AutofixSafe       bool              `json:"autofix_safe"`
	HumanReview       bool              `json:"requires_human_review"`
	PatchKind         check.PatchKind   `json:"suggested_patch_kind"`
	AgentAction       check.AgentAction `json:"agent_action"`
	Provenance        check.Provenance  `json:"provenance_kind"`
	BlocksRelease     bool              `json:"blocks_release"`
	Support           *check.Support    `json:"support"`
	CapabilityRefs    []string          `json:"capability_refs"`
	TraceRefs         []string          `json:"capability_trace_refs"`
}

func findingOf(f shown) findingJSON {
	j := findingJSON{
		ID: f.ID, Fingerprint: f.Fingerprint, CheckID: f.CheckID, Title: redact.Text(f.Title), Category: f.Category,
		Severity: f.Severity, Confidence: cmp.Or(f.Confidence, tool.Medium), Recommendation: f.Recommendation, DocsURL: Text(f.DocsURL),
		ToolID: Text(f.ToolID), ToolName: Text(f.ToolName), AgentID: Text(f.AgentID), Evidence: f.evidence,
		Suppressed: f.Suppressed, SuppressionReason: Text(redact.Text(f.SuppressionReason)), BaselineStatus: Text(f.BaselineStatus),
		Patches: list(f.Patches), AutofixSafe: f.AutofixSafe, HumanReview: f.HumanReview,
		PatchKind: cmp.Or(f.PatchKind, check.NoPatch), AgentAction: cmp.Or(f.AgentAction, check.Escalate),
		Provenance: cmp.Or(f.Provenance, check.StaticDeclaration), BlocksRelease: f.BlocksRelease, Support: decision.Support(f.Support),
		CapabilityRefs: list(f.CapabilityRefs), TraceRefs: list(f.TraceRefs),
	}
	if f.Source.Type != "" {
		at := f.Source
		j.Source = &at
	}
	return j
}

// namedJSON is a reachable tool. What there is to say of it the catalog says.
type namedJSON struct {
	ID   string `json:"tool_id"`
	Name string `json:"name"`
}

// factJSON is a capability by the digest of its line in the lock, which says the
// rest.
type factJSON struct {
	ID     string `json:"id"`
	ToolID string `json:"tool_id"`
	Hash   string `json:"hash"`
}

func factsOf(facts []delta.Fact) []factJSON {
	rows := make([]factJSON, len(facts))
	for i := range facts {
		f := &facts[i]
		rows[i] = factJSON{f.ID, f.Identity.ToolID, f.Digest}
	}
	return rows
}

// toolJSON is one tool of the catalog.
type toolJSON struct {
	ID             string      `json:"tool_id"`
	Name           string      `json:"name"`
	Description    string      `json:"description"`
	Provider       string      `json:"provider"`
	Identity       string      `json:"identity_status"`
	Observations   []string    `json:"observations"`
	SourceType     string      `json:"source_type"`
	SourceID       Text        `json:"source_id"`
	SourceRef      Text        `json:"source_ref"`
	SourcePath     Text        `json:"source_path"`
	SourceLine     Line        `json:"source_start_line"`
	Pointer        Text        `json:"source_pointer"`
	Reach          string      `json:"reach"` // reachable, possible, unbound
	Classes        []string    `json:"permission_classes"`
	RiskTags       []hintJSON  `json:"risk_tags"`
	Parameters     []paramJSON `json:"parameters"`
	HasInputSchema bool        `json:"has_input_schema"`
	HasOutput      bool        `json:"has_output_schema"`
	AuthType       Text        `json:"auth_type"`
	Scopes         []string    `json:"auth_scopes"`
	CredentialMode Text        `json:"credential_mode"`
	Owner          Text        `json:"owner"`
	Method         string      `json:"extraction_method"`
	Confidence     string      `json:"extraction_confidence"`
}

type hintJSON struct {
	Tag        string `json:"tag"`
	Source     string `json:"source"`
	Confidence string `json:"confidence"`
}

type paramJSON struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

func toolOf(t *effect.Tool, reach effect.Reach) toolJSON {
	j := toolJSON{
		ID: t.ID, Name: t.Name, Description: redact.Text(t.Description), Provider: cmp.Or(t.Provider, t.Origin.SourceID), Identity: t.Status,
		Observations: list(t.Observations), SourceType: t.Origin.Type, SourceID: Text(t.Origin.SourceID), SourceRef: Text(t.Origin.Ref),
		SourcePath: Text(t.Origin.Path), SourceLine: Line(t.Origin.Start.Line), Pointer: Text(t.Origin.Pointer),
		Reach: string(cmp.Or(reach, effect.Unbound)), Classes: list(t.Classes), RiskTags: []hintJSON{}, Parameters: []paramJSON{},
		HasInputSchema: t.Input != nil, HasOutput: t.Output != nil, AuthType: Text(t.Auth.Type), Scopes: list(t.Auth.Scopes),
		CredentialMode: Text(t.Auth.CredentialMode), Owner: Text(t.Owner), Method: t.Tool.Method, Confidence: string(t.Confidence),
	}
	for _, h := range t.Hints {
		j.RiskTags = append(j.RiskTags, hintJSON{h.Tag, h.Source, string(h.Confidence)})
	}
	for i := range t.Params {
		p := &t.Params[i]
		j.Parameters = append(j.Parameters, paramJSON{p.Name, p.Type, p.Required})
	}
	return j
}

type bindingJSON struct {
	Root     Text       `json:"root_agent_id"`
	Status   string     `json:"status"`
	Eligible bool       `json:"pass_eligible"`
	Agents   []nodeJSON `json:"agents"`
	Edges    []edgeJSON `json:"edges"`
}

type nodeJSON struct {
	ID   string `json:"agent_id"`
	Name string `json:"name"`
	Path Text   `json:"source_path"`
	Line Line   `json:"source_start_line"`
}

type edgeJSON struct {
	Kind       string `json:"kind"`
	From       string `json:"from_agent_id"`
	ToolID     Text   `json:"tool_id"`
	ToAgent    Text   `json:"to_agent_id"`
	Complete   bool   `json:"complete"`
	Provenance string `json:"provenance_kind"`
	Confidence string `json:"confidence"`
	Path       Text   `json:"source_path"`
	Line       Line   `json:"source_start_line"`
}

func bindingOf(g *effect.Graph) bindingJSON {
	j := bindingJSON{Root: Text(g.Root), Status: g.Status, Eligible: g.Eligible, Agents: []nodeJSON{}, Edges: make([]edgeJSON, 0, len(g.Edges))}
	for _, n := range g.Nodes {
		j.Agents = append(j.Agents, nodeJSON{n.ID, n.Name, Text(n.At.Path), Line(n.At.Start.Line)})
	}
	for _, e := range g.Edges {
		row := edgeJSON{
			Kind: string(e.Kind), From: e.From, ToolID: Text(e.Tool), ToAgent: Text(e.To), Complete: e.Complete,
			Provenance: "ast_extraction", Confidence: "medium", Path: Text(e.At.Path), Line: Line(e.At.Start.Line),
		}
		if e.Declared {
			row.Provenance = "static_declaration"
		}
		if e.Complete {
			row.Confidence = "high"
		}
		j.Edges = append(j.Edges, row)
	}
	return j
}

type policyGapJSON struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	ToolID  Text   `json:"tool_id"`
	Why     string `json:"why"`
}

type ackJSON struct {
	Surface string `json:"affected_surface"`
	Owner   string `json:"owner"`
	Reason  string `json:"reason"`
	Expires Text   `json:"expires"`
}

type heuristicsJSON struct {
	Enabled bool          `json:"enabled"`
	Count   int           `json:"filtered_count"`
	Set     []findingJSON `json:"filtered_findings"`
}

type warningJSON struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	SourceID Text   `json:"source_id"`
	Path     Text   `json:"source_path"`
	Line     Line   `json:"source_start_line"`
	Pointer  Text   `json:"source_pointer"`
}

func warningsOf(s *effect.Surface) []warningJSON {
	var all []tool.Warning
	if s.Reading != nil {
		all = append(all, s.Reading.Warnings...)
		for i := range s.Reading.Dynamic {
			if d := &s.Reading.Dynamic[i]; !d.Resolved {
				all = append(all, tool.Warning{
					Code: "dynamic_surface", SourceID: d.Origin.SourceID, Origin: d.Origin,
					Message: strings.ReplaceAll(d.Framework+" "+d.Kind+" cannot be listed by reading: "+d.Reason, "_", " "),
				})
			}
		}
	}
	all = append(all, s.Warnings...)
	out := make([]warningJSON, 0, len(all))
	for i := range all {
		w := &all[i]
		out = append(out, warningJSON{
			w.Code, redact.Text(w.Message), Text(w.SourceID), Text(w.Origin.Path), Line(w.Origin.Start.Line), Text(w.Origin.Pointer),
		})
	}
	return out
}

// New makes the report. It holds no verdict of its own: release_decision is
// what was decided.
func New(in *Input) *Report {
	head, m := in.Head, in.Head.Manifest
	r := &Report{
		SchemaVersion: Version, RunID: in.RunID, ManifestDir: in.ManifestDir,
		Project:     projectJSON{m.Project.Name, Text(m.Project.Owner), Text(m.Project.Repo)},
		Agent:       agentJSON{Text(head.Graph.Root), m.Agent.Name, list(m.Agent.Purpose), list(m.Agent.Prohibited), []string{}},
		Environment: environmentJSON{m.Environment.Target, Text(m.Environment.PromotionFrom), Text(m.Environment.PromotionTo)},
		Summary:     in.Summary, ReleaseDecision: in.Decision,
		ToolInventory: make([]namedJSON, 0, len(head.Actions)), Binding: bindingOf(&head.Graph), PolicyGaps: []policyGapJSON{},
		CapabilityFacts: factsOf(in.facts()), Intentions: list(m.Agent.Purpose), Misalignments: []string{}, Scenarios: []string{},
		ActionFacts: actionFactsOf(head, in.Each), ActionDiff: actionDiffOf(in.Actions), CapabilityChange: ChangeOf(in),
		Protected: list(in.TrustRoots), Policy: in.Policy, HumanAck: []ackJSON{}, ReviewerSummary: in.ReviewerSummary(), AgentSummary: in.AgentSummary(),
		Heuristics:    heuristicsJSON{in.NoHeuristics, len(in.Aside), []findingJSON{}},
		PluginSurface: pluginSurfaceOf(head.Reading), Packs: list(in.Packs), Plugins: []string{}, Warnings: warningsOf(head), Baseline: in.Decision.Baseline, Generated: in.Generated,
		each: in.Each,
	}
	if r.Generated == nil {
		r.Generated = map[string]string{}
	}
	order := in.findings()
	r.Findings = make([]findingJSON, len(order))
	in.Each.Do(len(order), func(i int) { r.Findings[i] = findingOf(order[i]) })
	for _, f := range decision.ReportOrder(in.Aside) {
		r.Heuristics.Set = append(r.Heuristics.Set, findingOf(shownOf(f)))
	}
	r.ToolCatalog = make([]toolJSON, len(head.Catalog))
	in.Each.Do(len(head.Catalog), func(i int) {
		t := head.Catalog[i]
		r.ToolCatalog[i] = toolOf(t, head.Reach[t.ID])
	})
	for _, t := range head.Catalog {
		if head.Reach[t.ID] == effect.Reachable {
			r.ToolInventory = append(r.ToolInventory, namedJSON{t.ID, t.Name})
			r.Agent.Tools = append(r.Agent.Tools, t.Name)
		}
	}
	for _, i := range in.PolicyGaps {
		r.PolicyGaps = append(r.PolicyGaps, policyGapJSON{i.Kind, i.Subject, Text(i.ToolID), i.Why})
	}
	for _, a := range m.Acks {
		r.HumanAck = append(r.HumanAck, ackJSON{a.Surface, a.Owner, a.Reason, Text(a.Expires)})
	}
	slices.Sort(r.Agent.Tools)
	return r
}

// JSON is the bytes of report.json.
func (r *Report) JSON() ([]byte, error) { return document(r) }

// Doc is the same in parts.
func (r *Report) Doc() (canonical.Doc, error) { return documentBy(r.each, r) }
