package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// PolicyRule is one entry of a policy file as written: what rule 11 compares.
// Whether the values mean anything is not decided here.
type PolicyRule struct {
	ID, Action, Risk string // "" when the member is missing or no text
	Pos              source.Position
}

// IsPolicy says whether rule 11 reads the path: a policy by its name, or the
// file that --policy names, wherever it lies.
func (s *Surface) IsPolicy() bool { return s.Role == RolePolicy || s.Policy }

// PolicyRules is the rule list of both sides. ok is false when they are not to
// be compared because a known text did not parse; its failure is reported
// elsewhere (docs/spec/boundary.md §4.5, §10.5).
//
// When the whole of a side is not known, the hunks speak for both: a rule that
// no hunk shows has not changed.
func (s *Surface) PolicyRules() (before, after []PolicyRule, ok bool) {
	if s.Old.Unresolved != "" || s.New.Unresolved != "" {
		before, after = s.policyHunks()
		return before, after, true
	}
	old, now := s.OldDoc, s.NewDoc
	if s.Role != RolePolicy {
		// The path has another meaning too, or none; as a policy it is YAML.
		old, now = policyDoc(s.Old), policyDoc(s.New)
	}
	if old.Err != nil || now.Err != nil {
		return nil, nil, false
	}
	return PolicyRulesOf(old.Value), PolicyRulesOf(now.Value), true
}

func policyDoc(side Side) Doc {
	if !side.Present {
		return Doc{}
	}
	return parseText(RolePolicy, "", side.Bytes)
}

// PolicyRulesOf is the rule list of a parsed policy: a mapping with rules, a
// bare list, or one mapping with an id.
func PolicyRulesOf(doc source.Value) []PolicyRule {
	list := doc.Items
	switch rules := doc.Get("rules"); {
	case rules.Present():
		list = rules.Items
	case doc.Get("id").Present():
		list = []source.Value{doc}
	}
	var out []PolicyRule
	for _, v := range list {
		if id := v.Get("id").Str(); id != "" {
			out = append(out, PolicyRule{ID: id, Action: v.Get("action").Str(), Risk: v.Get("risk_level").Str(), Pos: v.Pos})
		}
	}
	return out
}

func (s *Surface) policyHunks() (before, after []PolicyRule) {
	if len(s.OldHunkLines)+len(s.NewHunkLines) > 0 {
		return PolicyRulesInLines(s.OldHunkLines), PolicyRulesInLines(s.NewHunkLines)
	}
	return PolicyRulesInLines(texts(s.Removed)), PolicyRulesInLines(texts(s.Added))
}

func texts(lines []AddedLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

// PolicyRulesInLines finds rules in loose lines of a policy file. The lines may
// begin in the middle of an entry: what such an entry says is kept under the
// empty id, so that a value lowered there is seen although its rule is not.
func PolicyRulesInLines(lines []string) []PolicyRule {
	var out []PolicyRule
	var entry PolicyRule
	end := func() {
		if entry.ID != "" || entry.Action != "" || entry.Risk != "" {
			out = append(out, entry)
		}
		entry = PolicyRule{}
	}
	for i, line := range lines {
		text := trimBlank(line)
		if body := afterDash(text); body != text {
			end()
			text = body
		}
		if strings.HasPrefix(text, "rules:") {
			end()
		}
		for _, member := range membersOf(text) {
			key, value, ok := strings.Cut(member, ":")
			if !ok {
				continue
			}
			field := entry.field(plainScalar(key))
			if field == nil {
				continue
			}
			if *field != "" {
				// A second value opens the next entry: its dash is not among the lines.
				end()
				field = entry.field(plainScalar(key))
			}
			*field = plainScalar(value)
			entry.Pos = source.Position{Line: i + 1, Column: 1}
		}
	}
	end()
	return out
}

// membersOf is the members that one line writes: several in a flow mapping,
// else one.
func membersOf(line string) []string {
	if inner, ok := strings.CutPrefix(line, "{"); ok {
		return strings.Split(strings.TrimRight(inner, "} \t"), ",")
	}
	return []string{line}
}

func (r *PolicyRule) field(key string) *string {
	switch key {
	case "id":
		return &r.ID
	case "action":
		return &r.Action
	case "risk_level":
		return &r.Risk
	}
	return nil
}

// plainScalar is a one-line YAML scalar without comment and quotation marks.
func plainScalar(s string) string {
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	return strings.Trim(s, " \t\"'")
}
