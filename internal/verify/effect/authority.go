package effect

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// The authority modes (§4.8).
const (
	ModeNone     = "none"
	ModeScoped   = "scoped"
	ModeUnscoped = "unscoped"
	ModeAmbient  = "ambient"
)

// authority is what an action acts with and how well that is known. The mode is
// "" when it is not known.
type authority struct {
	status                     AuthorityStatus
	mode, authType, credential string
	scopes                     []string
	why                        string // of partial and conflicting
	choice                     bool   // conflicting, because the source offers several ways: people may say which is taken
}

// ownAuthority is what the source itself says (§6.3).
func ownAuthority(a tool.Auth) authority {
	out := authority{status: AuthorityStructural, authType: a.Type, credential: a.CredentialMode, scopes: sorted(a.Scopes)}
	none := strings.EqualFold(a.Type, ModeNone)
	switch {
	case a.Differ:
		out.status, out.why, out.choice = AuthorityConflicting, "The source offers several ways to act, with different types or scopes.", true
	case none || a.Anonymous:
		if a.Type != "" && !none || len(a.Scopes) > 0 {
			out.status, out.why = AuthorityConflicting, "The source offers a call without credentials beside one with them."
			out.choice = a.Anonymous && !none
			return out
		}
		out.mode, out.authType = ModeNone, ""
	case a.Type != "" && len(a.Scopes) > 0:
		out.mode = ModeScoped
	case a.Type != "":
		out.mode = ModeUnscoped
	case len(a.Scopes) > 0:
		out.status, out.why = AuthorityPartial, "The source names scopes and no auth type."
	default:
		out.status = AuthorityUnknown
	}
	return out
}

// statedAuthority is what people state, for an action or for a whole source.
// What belongs together must be there together (§4.8): a mode that is half said
// is partial, one that contradicts itself conflicting.
func statedAuthority(a *manifest.Authority, scopes []string) authority {
	out := authority{status: AuthorityDeclared, scopes: sorted(scopes)}
	if a == nil {
		out.status, out.why = AuthorityPartial, "The declaration names scopes and no authority."
		return out
	}
	out.mode, out.authType, out.credential = a.Mode, a.AuthType, a.CredentialMode
	some := len(scopes) > 0
	fail := func(status AuthorityStatus, why string) authority {
		out.status, out.why, out.mode = status, why, ""
		return out
	}
	switch a.Mode {
	case ModeNone:
		if some || a.AuthType != "" {
			return fail(AuthorityConflicting, "The declaration says that there is no authority, and names one.")
		}
	case ModeScoped:
		if !some || a.AuthType == "" {
			return fail(AuthorityPartial, "The declaration says scoped without auth type and scopes.")
		}
	case ModeUnscoped:
		if some {
			return fail(AuthorityConflicting, "The declaration says unscoped and names scopes.")
		}
		if a.AuthType == "" {
			return fail(AuthorityPartial, "The declaration says unscoped without an auth type.")
		}
	case ModeAmbient:
		if some {
			return fail(AuthorityConflicting, "The declaration says ambient and names scopes.")
		}
	default:
		return fail(AuthorityPartial, "The declaration names no authority mode.")
	}
	return out
}

// resolveAuthority joins what the source says, what people state for all of the
// source, and what they declare for the action. A declaration fills what nobody
// says; it replaces nothing (§6.3).
func resolveAuthority(own tool.Auth, block *manifest.Authority, d *manifest.Action) authority {
	base := ownAuthority(own)
	declares := d != nil && (d.Authority != nil || d.Scopes != nil)
	if base.status == AuthorityUnknown {
		switch {
		case declares && d.Authority != nil:
			return statedAuthority(d.Authority, declaredScopes(d))
		case declares && block != nil:
			return statedAuthority(block, declaredScopes(d))
		case declares:
			return statedAuthority(nil, d.Scopes)
		case block != nil:
			return statedAuthority(block, block.Scopes)
		}
		return base
	}
	if base.choice {
		return base.choose(block, d)
	}
	if block != nil {
		base = base.within(block)
	}
	if declares {
		base = base.agree(d)
	}
	return base
}

// choose takes the one of several ways that people state, for the action or for
// the whole source. It needs every scope that the source names: which of them
// belongs to which way is not asked, so none is left out.
func (a authority) choose(block *manifest.Authority, d *manifest.Action) authority {
	var stated authority
	switch {
	case d != nil && d.Authority != nil:
		stated = statedAuthority(d.Authority, declaredScopes(d))
	case block != nil:
		stated = statedAuthority(block, block.Scopes)
	}
	if stated.status != AuthorityDeclared {
		return a
	}
	cover := NewCover(stated.scopes)
	for _, scope := range a.scopes {
		if !cover.Has(scope) {
			a.why = "The source needs the scope " + scope + ", which the declaration leaves out."
			return a
		}
	}
	stated.scopes = sorted(slices.Concat(stated.scopes, a.scopes))
	return stated
}

func declaredScopes(d *manifest.Action) []string {
	if d.Scopes != nil || d.Authority == nil {
		return d.Scopes
	}
	return d.Authority.Scopes
}

// within joins what a tool says with the statement about its whole source: the
// statement may say what the tool leaves open, and must bound what it says.
func (a authority) within(block *manifest.Authority) authority {
	if a.status == AuthorityConflicting {
		return a
	}
	if a.status == AuthorityPartial {
		stated := statedAuthority(block, block.Scopes)
		switch {
		case stated.status != AuthorityDeclared:
			return a
		case stated.mode != ModeScoped:
			return a.conflict("The tool names scopes, and its source's authority has the mode " + stated.mode + ".")
		}
		a.status, a.mode, a.why = AuthorityDeclared, ModeScoped, ""
		a.authType = stated.authType
		if a.credential == "" {
			a.credential = stated.credential
		}
	}
	return a.check(block.Mode, block.AuthType, block.CredentialMode, block.Scopes, "its source's authority", true)
}

// agree holds a declaration against what is known. It may say more, never less.
func (a authority) agree(d *manifest.Action) authority {
	scopes := declaredScopes(d)
	mode, authType, credential := "", "", ""
	if d.Authority != nil {
		mode, authType, credential = d.Authority.Mode, d.Authority.AuthType, d.Authority.CredentialMode
	}
	if a.status == AuthorityPartial {
		// The mode is what a partial source leaves open; it stays open.
		mode = ""
	}
	known := a.check(mode, authType, credential, scopes, "the declaration", scopes != nil || mode == ModeNone)
	if known.status != AuthorityConflicting && known.credential == "" {
		known.credential = credential
	}
	known.scopes = sorted(slices.Concat(known.scopes, scopes))
	return known
}

// check holds a statement against a: "" is "not said", and scopes are compared
// when they were given.
func (a authority) check(mode, authType, credential string, scopes []string, who string, given bool) authority {
	switch {
	case a.status == AuthorityConflicting:
		return a
	case mode != "" && a.mode != "" && mode != a.mode:
		return a.conflict("The source says " + a.mode + ", " + who + " says " + mode + ".")
	case authType != "" && a.authType != "" && !strings.EqualFold(authType, a.authType):
		return a.conflict("The source says " + a.authType + ", " + who + " says " + authType + ".")
	case credential != "" && a.credential != "" && !strings.EqualFold(credential, a.credential):
		return a.conflict("The source and " + who + " name different credential modes.")
	}
	if !given {
		return a
	}
	cover := NewCover(scopes)
	for _, scope := range a.scopes {
		if !cover.Has(scope) {
			return a.conflict("The source needs the scope " + scope + ", which " + who + " leaves out.")
		}
	}
	return a
}

func (a authority) conflict(why string) authority {
	a.status, a.mode, a.why = AuthorityConflicting, "", why
	return a
}
