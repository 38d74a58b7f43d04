package preflight

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/effect"
)

// highRisk are the effects that make a request a high-risk one (§13.4).
var highRisk = []string{
	"financial_write", "production_operation", "destructive", "code_execution", "identity_access", "privileged_data_access",
}

// highRiskTags are risk tags, as actions spell them, that make it one whatever
// its effect is called (docs/spec/verification.md §11.2).
var highRiskTags = []string{
	"code_execution", "destructive", "external_communication", "financial_write", "identity_access", "irreversible",
	"privileged_data", "production_ops", "secret_access",
}

// owed is one kind of evidence: what a request owes, when, and what gives it.
type owed struct {
	name     string
	field    string
	severity Severity
	of       []string // effects or tags; nil for every high-risk request
	given    func(*CapabilityRequest) bool
	reason   string
	advice   string
}

// evidenceTable is §13.4.
var evidenceTable = [...]owed{
	{
		"owner", "evidence.owner", High, nil, func(c *CapabilityRequest) bool { return answers(c.Owner) },
		"Nobody is named who answers for this capability.", "Name the person or team that owns it.",
	},
	{
		"auth_scopes", "scopes", High, nil, func(c *CapabilityRequest) bool {
			return len(c.Scopes) > 0 && !slices.ContainsFunc(c.Scopes, func(s string) bool { return !answers(s) })
		},
		"The scopes it would be called with are not named.", "Name the narrow scopes that the operation needs.",
	},
	{
		"audit_log", "controls.safeguard_audit_log", High, nil, func(c *CapabilityRequest) bool { return c.Controls.AuditLog },
		"Nothing says that its calls are recorded.", "Show where calls are recorded, and declare it.",
	},
	{
		"approval_policy", "controls.approval_required", Critical, nil, func(c *CapabilityRequest) bool { return c.Controls.Approval },
		"Nothing says that a person approves its calls.", "A person decides which calls need approval, and declares it.",
	},
	{
		"idempotency", "controls.safeguard_idempotency", Critical,
		[]string{"financial_write", "destructive", "external_write"},
		func(c *CapabilityRequest) bool { return c.Controls.Idempotency },
		"A call that is repeated would act twice.", "Show the key by which a repeated call is known, and declare it.",
	},
	{
		"confirmation", "controls.confirmation_required", High,
		[]string{"financial_write", "destructive", "external_communication"},
		func(c *CapabilityRequest) bool { return c.Controls.Confirmation },
		"Nothing says that a call is confirmed before it acts.", "A person decides what has to be confirmed, and declares it.",
	},
	{
		"runbook", "evidence.runbook", High, operations, func(c *CapabilityRequest) bool { return answers(c.Runbook) },
		"Nothing says what to do when it goes wrong.", "Name the runbook.",
	},
	{
		"rollback", "controls.safeguard_rollback", High, operations, func(c *CapabilityRequest) bool { return c.Controls.Rollback },
		"Nothing says that what it does can be taken back.", "Show how it is taken back, and declare it.",
	},
	{
		"dry_run", "controls.safeguard_dry_run", Medium, operations, func(c *CapabilityRequest) bool { return c.Controls.DryRun },
		"Nothing says that it can be tried without acting.", "Show the dry run, and declare it.",
	},
}

// answers says whether a text names something: a word that only says that nobody
// knows yet is no evidence, and neither is one without a letter or digit.
func answers(text string) bool {
	word := strings.ToLower(strings.Trim(text, " \t<>[](){}.?!"))
	return !slices.Contains(unknown, word) &&
		strings.ContainsFunc(text, func(r rune) bool { return visible(r) && (unicode.IsLetter(r) || unicode.IsDigit(r)) })
}

var unknown = []string{"change_me", "changeme", "tbd", "tba", "todo", "fixme", "n/a", "na", "none", "nobody", "null", "nil", "unknown", "placeholder"}

// visible says whether a character is seen at all.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) && r != brailleBlank && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

const brailleBlank = '\u2800'

var operations = []string{"production_operation", "destructive", "code_execution"}

// words are the effect of a request, its tags, and the effects that they claim.
func (c *CapabilityRequest) words() []string {
	list := append([]string{c.Effect}, c.RiskTags...)
	for _, tag := range c.RiskTags {
		if claimed, ok := effect.TagEffect(tag); ok {
			list = append(list, string(claimed))
		}
	}
	return list
}

// risky says whether it is a high-risk request.
func (c *CapabilityRequest) risky() bool {
	return slices.Contains(highRisk, c.Effect) || slices.ContainsFunc(c.RiskTags, func(tag string) bool {
		return slices.Contains(highRiskTags, effect.RiskTag(tag))
	})
}

func meets(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// name is how rows and signals call the request.
func (c *CapabilityRequest) name() string {
	return redact.Text(strings.TrimSpace(c.Provider) + "." + strings.TrimSpace(c.Tool) + "." + strings.TrimSpace(c.Operation))
}

// evidence is a row for everything that the requests owe. Requests of one name
// share their rows; such a row is satisfied when all of them are.
func evidence(requests []CapabilityRequest) []Evidence {
	list := []Evidence{}
	index := map[string]int{}
	for i := range requests {
		c := &requests[i]
		words := c.words()
		risky := c.risky()
		for j := range evidenceTable {
			o := &evidenceTable[j]
			if o.of == nil && !risky || o.of != nil && !meets(words, o.of) {
				continue
			}
			id := c.name() + ":" + o.name
			given := o.given(c)
			if at, known := index[id]; known {
				list[at].Satisfied = list[at].Satisfied && given
				continue
			}
			index[id] = len(list)
			list = append(list, Evidence{ID: id, Field: o.field, Satisfied: given, Severity: o.severity, Recommendation: o.advice})
		}
	}
	for i := range list {
		list[i].Reason = reasonOf(&list[i])
	}
	slices.SortFunc(list, func(a, b Evidence) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func reasonOf(e *Evidence) string {
	if e.Satisfied {
		return "The plan names it."
	}
	for i := range evidenceTable {
		if strings.HasSuffix(e.ID, ":"+evidenceTable[i].name) {
			return evidenceTable[i].reason
		}
	}
	return ""
}
