package effect

// ControlKind is a control that policies select tools for (§4.6).
type ControlKind string

// The kinds.
const (
	ApprovalControl     ControlKind = "approval"
	ConfirmationControl ControlKind = "confirmation"
	IdempotencyControl  ControlKind = "idempotency"
)

// Controlled says whether a policy selects exactly this tool for the control:
// a selector under policies, or a policy rule file of the openai_api and
// anthropic blocks. A selector that fits several tools controls none of them.
func (s *Surface) Controlled(kind ControlKind, t *Tool) bool {
	return t != nil && s.controls[kind][t.ID]
}

// control merges what policies, annotations and parameters give with what is
// declared; the declaration holds (§5.5).
func control(inherited *bool, from string, declared *bool) Control {
	c := Control{Inherited: inherited, Declared: declared}
	switch {
	case declared != nil:
		c.Known, c.Value, c.From = true, *declared, "declaration"
	case inherited != nil:
		c.Known, c.Value, c.From = true, *inherited, from
	}
	return c
}

// IdempotencyParameter says whether a caller can send a key that makes a repeat
// harmless: a parameter idempotency_key, in any of the usual spellings.
func (t *Tool) IdempotencyParameter() bool {
	const key = "idempotencykey"
	for i := range t.Params {
		if name := t.Params[i].Name; len(name) >= len(key) && plainName(name) == key {
			return t.SchemaKnown()
		}
	}
	return false
}

// plainName is a name without case, dashes, underscores and dots.
func plainName(name string) string {
	plain := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.':
		case 'A' <= c && c <= 'Z':
			plain = append(plain, c+'a'-'A')
		default:
			plain = append(plain, c)
		}
	}
	return string(plain)
}

// inheritedApproval is what policies say of approval.
func (t *Tool) inheritedApproval() (*bool, string) {
	if t.under.approval {
		return new(true), "policy"
	}
	return nil, ""
}

// inheritedIdempotency: a policy, the provider's hint, a parameter, in that order.
func (t *Tool) inheritedIdempotency() (*bool, string) {
	if t.under.idempotency {
		return new(true), "policy"
	}
	hint, said := t.Flag("idempotentHint")
	if said && hint {
		return new(true), "annotation"
	}
	if t.IdempotencyParameter() {
		return new(true), "parameter"
	}
	if said {
		return new(false), "annotation"
	}
	return nil, ""
}

// inheritedFlag is a boolean annotation in one of its spellings. Where two
// spellings disagree the weaker one holds.
func inheritedFlag(t *Tool, keys ...string) (*bool, string) {
	var found *bool
	for _, key := range keys {
		if value, ok := t.Flag(key); ok && (found == nil || !value) {
			found = new(value)
		}
	}
	if found == nil {
		return nil, ""
	}
	return found, "annotation"
}
