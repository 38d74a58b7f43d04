package rule

import "plimsoll.dev/internal/gate/source"

// CodexNetworkWildcard reports a permission profile that newly allows a domain
// pattern standing for any number of hosts (docs/spec/boundary.md §5.1).
var CodexNetworkWildcard = Rule{
	ID:             "CODEX-NETWORK-WILDCARD",
	CheckID:        "SHIP-CODEX-BOUNDARY-NETWORK-WILDCARD",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Codex may reach any host under a wildcard domain",
	Recommendation: "List the exact domains, or let a person accept the wildcard.",
	Kinds:          []string{"network_domain_wildcard"},
	Check:          checkCodexNetworkWildcard,
}

func checkCodexNetworkWildcard(p *Pass) {
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		old := permissionsByProfile(before)
		for _, now := range after.Permissions {
			allowed := map[string]bool{}
			for _, d := range old[now.Profile].Domains {
				allowed[d.Pattern] = d.Allowed
			}
			for _, d := range now.Domains {
				if d.Allowed && d.Wildcard() && !allowed[d.Pattern] {
					p.Report(s.Path, d.Pos.Line, "network_domain_wildcard",
						With("profile", now.Profile), With("domain", d.Pattern), With("value", asWritten(d.Value)))
				}
			}
		}
	}
}

// asWritten is a permission that is allowed by true or by a word.
func asWritten(v source.Value) any {
	if v.Kind == source.Bool {
		return v.Truth
	}
	return v.Str()
}
