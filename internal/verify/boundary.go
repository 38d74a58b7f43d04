package verify

import (
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/verify/check"
)

// boundaryFindings are what check says of the same change, one finding a row
// (docs/spec/verification.md §12.8): verify never answers less than check. A
// row that blocks there blocks here, whatever its severity.
func boundaryFindings(results []*gate.Result) []check.Finding {
	var found []check.Finding
	for _, r := range results {
		for i := range r.Violations {
			v := &r.Violations[i]
			evidence := plainObject(v.Evidence)
			evidence["path"] = v.Path
			f := check.Finding{
				CheckID: v.CheckID, Title: v.Title, Severity: check.Severity(v.RiskLevel), Recommendation: v.Recommendation,
				Evidence: evidence, BlocksRelease: v.Action == rule.Block,
				Source: check.Source{Type: "git", Ref: v.Path, Path: v.Path, StartLine: v.Line},
			}
			if !slices.ContainsFunc(found, func(o check.Finding) bool { return sameRow(&o, &f) }) {
				found = append(found, f)
			}
		}
	}
	return found
}

// sameRow says whether two findings are one row that both the committed range
// and the working tree show.
func sameRow(a, b *check.Finding) bool {
	return a.CheckID == b.CheckID && a.BlocksRelease == b.BlocksRelease && a.Severity == b.Severity &&
		canonical.Compact.String(a.Evidence) == canonical.Compact.String(b.Evidence)
}

// plainObject is an object of the boundary result as a plain map.
func plainObject(o canonical.Object) map[string]any {
	m := make(map[string]any, len(o)+1)
	for _, member := range o {
		m[member.Key] = plain(member.Value)
	}
	return m
}

func plain(v any) any {
	switch v := v.(type) {
	case canonical.Object:
		return plainObject(v)
	case []canonical.Object:
		list := make([]any, len(v))
		for i, o := range v {
			list[i] = plainObject(o)
		}
		return list
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = plain(x)
		}
		return list
	}
	return v
}
