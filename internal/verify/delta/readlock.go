package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// lockVersions are the versions of the lock file that are read.
var lockVersions = []string{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"}

// legacyBinding stands for a binding that a lock older than bindings does not
// have.
const legacyBinding = "legacy_binding_unknown"

// ReadLock reads a lock file of version 0.1 to 0.6, at most MaxLock bytes. What
// a newer version has and an older one has not gets the schema's default; an
// unknown member is refused in the version that is written here, and ignored in
// an older one, whose schema is not at hand. The error is a fault of kind
// Invalid and repeats nothing of the text.
func ReadLock(text []byte) (*Lock, error) {
	if len(text) > MaxLock {
		return nil, refused(fmt.Sprintf("is over %d MiB", MaxLock>>20))
	}
	root, err := source.ParseJSON(text)
	if err != nil {
		return nil, refused("is not strict JSON: " + err.Error())
	}
	if root.Kind != source.Map {
		return nil, refused("is no JSON object")
	}
	version := root.Get("capability_lock_schema_version").Str()
	if !slices.Contains(lockVersions, version) {
		return nil, refused("is of no version that can be read (0.1 to 0.6)")
	}
	if pos, ok := oddKey(root); ok {
		return nil, refused(fmt.Sprintf("has a member at line %d, column %d whose name no lock file uses", pos.Line, pos.Column))
	}
	l := &Lock{}
	l.Source.PluginsEnabled = true // the schema's default
	dec := json.NewDecoder(bytes.NewReader(text))
	if version == LockVersion {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(l); err != nil {
		return nil, refused(decodeDetail(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, refused("has something after its end")
	}
	if err := l.complete(); err != nil {
		return nil, err
	}
	return l, nil
}

func refused(detail string) error {
	return fault.E("delta.ReadLock", fault.Invalid, "the capability lock "+detail, nil).
		WithHint("Write it again with: shipgate capability export --config shipgate.yaml --out FILE")
}

// decodeDetail says what is wrong without a value of the file.
func decodeDetail(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "has a value of the wrong type in " + quoted(wrong.Field)
	}
	return "has a member that its version does not know, or a value that cannot be read"
}

// oddKey finds a member whose name is no lower-case ASCII name: the decoder
// matches names without regard to case, and two spellings of one member are two
// meanings. The evidence of a claim is free.
func oddKey(v source.Value) (source.Position, bool) {
	for _, item := range v.Items {
		if pos, odd := oddKey(item); odd {
			return pos, true
		}
	}
	claim := v.Get("dimension").Present()
	for _, m := range v.Members {
		for i := range len(m.Key) {
			if c := m.Key[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return m.Pos, true
			}
		}
		if claim && m.Key == "evidence" {
			continue
		}
		if pos, odd := oddKey(m.Value); odd {
			return pos, true
		}
	}
	return source.Position{}, false
}

// complete fills in what a lock may leave out and refuses what cannot be
// compared.
func (l *Lock) complete() error {
	if l.Capabilities == nil {
		l.Capabilities = []Fact{}
	}
	for i := range l.Capabilities {
		f := &l.Capabilities[i]
		for _, member := range []string{f.ID, f.Identity.ToolName, f.Identity.Operation, f.Hashes.Identity, f.Evidence.SourceType} {
			if member == "" {
				return refused("has a capability without id, tool_name, operation, identity_hash or source_type at /capabilities/" + strconv.Itoa(i))
			}
		}
		f.fillDefaults()
		if at, ok := f.known(); !ok {
			return refused(fmt.Sprintf("has an unknown value at /capabilities/%d/%s", i, at))
		}
	}
	if err := l.unique(); err != nil {
		return err
	}
	slices.SortStableFunc(l.Capabilities, func(a, b Fact) int { return byPlace(&a, &b) })
	return nil
}

func (f *Fact) fillDefaults() {
	for _, list := range []*[]string{
		&f.Identity.Resource, &f.Identity.Scope, &f.Authority.Scopes, &f.Authority.BroadScopes, &f.RiskTags,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	f.Identity.SubjectKind = or(f.Identity.SubjectKind, "action")
	f.Effect.Reversibility = or(f.Effect.Reversibility, "unknown")
	f.Evidence.ProvenanceKind = or(f.Evidence.ProvenanceKind, "static_declaration")
	f.Evidence.Confidence = or(f.Evidence.Confidence, tool.Medium)
	f.Hashes.Binding = or(f.Hashes.Binding, legacyBinding)
	s := f.Semantic
	if s == nil {
		return
	}
	claims := []*[]SemanticClaim{&s.Effect.Claims, &s.Authority.Claims}
	issues := []*[]SemanticIssue{&s.Effect.Issues, &s.Authority.Issues}
	lists := []*[]string{&s.Authority.Scopes}
	if b := s.Binding; b != nil {
		claims, issues, lists = append(claims, &b.Claims), append(issues, &b.Issues), append(lists, &b.Path)
	}
	if id := s.Identity; id != nil {
		claims, issues, lists = append(claims, &id.Claims), append(issues, &id.Issues), append(lists, &id.Observations)
	}
	for _, c := range claims {
		if *c == nil {
			*c = []SemanticClaim{}
		}
		for i := range *c {
			claim := &(*c)[i]
			claim.Basis = or(claim.Basis, effect.UnknownBasis)
			if claim.Evidence == nil {
				claim.Evidence = map[string]any{}
			}
		}
	}
	for _, list := range issues {
		if *list == nil {
			*list = []SemanticIssue{}
		}
	}
	for _, list := range lists {
		if *list == nil {
			*list = []string{}
		}
	}
}

func or[T ~string](value, otherwise T) T {
	if value == "" {
		return otherwise
	}
	return value
}

// The closed vocabularies of the published schema.
var (
	effectWords = []effect.Effect{
		effect.Read, effect.Write, effect.Destructive, effect.ExternalCommunication, effect.FinancialWrite,
		effect.ProductionOperation, effect.PrivilegedDataAccess, effect.CodeExecution, effect.IdentityAccess,
	}
	basisWords = []effect.Basis{
		effect.ReviewedDeclaration, effect.ProtocolStructure, effect.TypedProviderFact, effect.StructuralScope,
		effect.InferredKeyword, effect.InferredRegex, effect.ProtocolDefault, effect.UnknownBasis,
	}
	effectStatusWords = []effect.EffectStatus{
		effect.EffectDeclared, effect.EffectStructural, effect.EffectProtocolDefault, effect.EffectInferred,
		effect.EffectUnknown, effect.EffectConflicting,
	}
	statusWords      = []string{"declared", "structural", "partial", "unknown", "conflicting"}
	confidenceWords  = []tool.Confidence{tool.Low, tool.Medium, tool.High}
	modeWords        = []string{"none", "scoped", "unscoped", "ambient", "unknown"}
	dimensionWords   = []string{"identity", "binding", "effect", "authority"}
	reversibleWords  = []string{"reversible", "unknown", "irreversible"} // least risk first
	subjectKindWords = []string{"tool", "action", "scope", "policy", "ci", "baseline", "agent_instruction", "manifest", "unknown"}
	factProvenance   = []string{"static_declaration", "ast_extraction", "keyword_heuristic", "regex_heuristic", "policy_pack"}
	claimProvenance  = append(slices.Clip(factProvenance), "runtime_trace")
)

// known says whether every word of a closed vocabulary is one of it, and where
// the first other one stands.
func (f *Fact) known() (at string, ok bool) {
	switch {
	case !slices.Contains(effectWords, f.Effect.Effect):
		return "effect/effect", false
	case !slices.Contains(reversibleWords, f.Effect.Reversibility):
		return "effect/reversibility", false
	case !slices.Contains(subjectKindWords, f.Identity.SubjectKind):
		return "identity/subject_kind", false
	case !slices.Contains(factProvenance, f.Evidence.ProvenanceKind):
		return "evidence/provenance_kind", false
	case !slices.Contains(confidenceWords, f.Evidence.Confidence):
		return "evidence/confidence", false
	case f.Semantic == nil:
		return "", true
	}
	s := f.Semantic
	if !slices.Contains(effectWords, s.ConservativeEffect) || !slices.Contains(effectStatusWords, s.Effect.Status) ||
		!slices.Contains(confidenceWords, s.Effect.Confidence) ||
		!slices.Contains(statusWords, string(s.Authority.Status)) || !slices.Contains(modeWords, s.Authority.Mode) {
		return "semantic_assessment", false
	}
	if b := s.Binding; b != nil && (!slices.Contains(statusWords, b.Status) || !slices.Contains(confidenceWords, b.Confidence)) {
		return "semantic_assessment/binding", false
	}
	if id := s.Identity; id != nil && !slices.Contains(statusWords, id.Status) {
		return "semantic_assessment/identity", false
	}
	claims := slices.Concat(s.Effect.Claims, s.Authority.Claims)
	issues := slices.Concat(s.Effect.Issues, s.Authority.Issues)
	if s.Binding != nil {
		claims, issues = append(claims, s.Binding.Claims...), append(issues, s.Binding.Issues...)
	}
	if s.Identity != nil {
		claims, issues = append(claims, s.Identity.Claims...), append(issues, s.Identity.Issues...)
	}
	for _, c := range claims {
		if !slices.Contains(basisWords, c.Basis) || !slices.Contains(confidenceWords, c.Confidence) ||
			!slices.Contains(dimensionWords, c.Dimension) || !slices.Contains(claimProvenance, c.ProvenanceKind) {
			return "semantic_assessment (a claim)", false
		}
	}
	for _, i := range issues {
		if _, ok := dimensionOf(i.Kind); !ok || !slices.Contains(dimensionWords, i.Dimension) {
			return "semantic_assessment (an issue)", false
		}
	}
	return "", true
}

func quoted(s string) string { return strconv.Quote(s) }
