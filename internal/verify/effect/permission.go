package effect

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// The permission classes of MCP checks (§6.3).
const (
	ClassRead        = "read"
	ClassWrite       = "write"
	ClassExternal    = "external"
	ClassFinancial   = "financial"
	ClassProduction  = "production"
	ClassDestructive = "destructive"
	ClassUnknown     = "unknown"
)

// classes is the lattice with what each class weighs and which effect it claims.
var classes = map[string]struct {
	rank, score int
	effect      Effect
}{
	ClassRead:        {0, 10, Read},
	ClassWrite:       {1, 40, Write},
	ClassExternal:    {2, 70, ExternalCommunication},
	ClassFinancial:   {3, 90, FinancialWrite},
	ClassProduction:  {3, 90, ProductionOperation},
	ClassDestructive: {4, 95, Destructive},
	ClassUnknown:     {5, 60, ""},
}

// ClassRank is the place of a permission class in the lattice, -1 for no class.
// Unknown is the highest: nothing bounds it.
func ClassRank(class string) int {
	if c, ok := classes[class]; ok {
		return c.rank
	}
	return -1
}

// classKeys are the annotations that carry permission classes (§5.3).
var classKeys = []string{
	"shipgate_permission_classes", "permission_classes", "permission_class", "x-agents-shipgate-permissions",
}

// effectClass is the class of an effect for tools that carry no class.
var effectClass = map[Effect]string{
	Read: ClassRead, Write: ClassWrite, PrivilegedDataAccess: ClassUnknown, IdentityAccess: ClassUnknown,
	CodeExecution: ClassUnknown, ProductionOperation: ClassProduction, ExternalCommunication: ClassExternal,
	FinancialWrite: ClassFinancial, Destructive: ClassDestructive,
}

// annotatedClasses are the classes that annotations name, and whether every
// given annotation could be read.
func annotatedClasses(t *tool.Tool) (found []string, valid bool) {
	valid = true
	for _, key := range classKeys {
		given, ok := t.Annotations[key]
		if !ok {
			continue
		}
		var list []any
		switch given := given.(type) {
		case string:
			list = []any{given}
		case []any:
			list = given
		default:
			valid = false
		}
		for _, item := range list {
			class, ok := item.(string)
			if !ok || ClassRank(class) < 0 {
				valid = false
				continue
			}
			found = append(found, class)
		}
	}
	return found, valid
}

// classify sets the permission classes: those that annotations and evidence
// give; where there is none, what words suggest beyond reading; else unknown.
func (t *Tool) classify(claims []Claim) {
	t.Classes = nil
	found, _ := annotatedClasses(&t.Tool)
	for _, eligible := range []bool{true, false} {
		for _, c := range claims {
			suggested := c.Basis.Inferred() && c.Source != sourceOfName && c.Value != string(Read) && c.Confidence.AtLeast(tool.Medium)
			if c.Dimension == EffectDimension && c.Eligible == eligible && (eligible || suggested) {
				found = append(found, effectClass[Effect(c.Value)])
			}
		}
		if len(found) > 0 {
			break
		}
	}
	if len(found) == 0 || t.Wildcard() {
		found = append(found, ClassUnknown)
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(ClassRank(b), ClassRank(a)), strings.Compare(a, b))
	})
	t.Classes = slices.Compact(found)
}

// Wildcard says whether the tool stands for tools that nobody lists.
func (t *Tool) Wildcard() bool { return wildcard(&t.Tool) }

func wildcard(t *tool.Tool) bool {
	for _, key := range []string{"wildcard_tools", "mcp_wildcard_tools"} {
		if wild, ok := t.Flag(key); ok && wild {
			return true
		}
	}
	return false
}

// SchemaKnown says whether it is known what the tool takes. An operation of an
// OpenAPI document and a function in code say it by themselves.
func (t *Tool) SchemaKnown() bool { return schemaKnown(&t.Tool) }

func schemaKnown(t *tool.Tool) bool {
	if unknown, ok := t.Flag(unknownSchema); ok && unknown || wildcard(t) {
		return false
	}
	if len(t.Params) > 0 || t.Signature != "" {
		return true
	}
	schema, ok := t.Input.(map[string]any)
	return ok && len(schema) > 0 || t.Origin.Type == "openapi"
}

// AutoApproved says whether the host calls the tool without asking anybody.
func (t *Tool) AutoApproved() bool {
	mode, _ := t.Annotations["mcp_approval_mode"].(string)
	switch strings.ToLower(mode) {
	case "auto", "approve", "always", "never_ask":
		return true
	}
	return false
}

// EnvSecrets are the names of environment variables that look like secrets and
// are handed to the tool's server, sorted.
func (t *Tool) EnvSecrets() []string {
	names := []string{}
	list, _ := t.Annotations["mcp_env_secret_names"].([]any)
	for _, item := range list {
		if name, ok := item.(string); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReadOnlyClasses says whether every permission class of the tool is read.
func (t *Tool) ReadOnlyClasses() bool {
	return len(t.Classes) > 0 && !slices.ContainsFunc(t.Classes, func(c string) bool { return c != ClassRead })
}

// RiskScore weighs an MCP tool, 0 to 100 (§6.3).
func RiskScore(t *Tool) int {
	score := 0
	for _, class := range t.Classes {
		score = max(score, classes[class].score)
	}
	add := func(on bool, points int) {
		if on {
			score += points
		}
	}
	add(t.AutoApproved() && !t.ReadOnlyClasses(), 20)
	add(t.Wildcard(), 20)
	add(len(t.EnvSecrets()) > 0, 15)
	add(slices.ContainsFunc(t.Auth.Scopes, BroadScope), 10)
	add(!t.SchemaKnown(), 10)
	return min(score, 100)
}

// RiskLevel is the word for a risk score; "" for 0.
func RiskLevel(score int) string {
	switch {
	case score >= 90:
		return "critical"
	case score >= 70:
		return "high"
	case score >= 40:
		return "medium"
	case score > 0:
		return "low"
	}
	return ""
}
