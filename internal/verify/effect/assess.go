package effect

import (
	"fmt"
	"math/bits"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Conservative is the strongest claim about the effect (§6.2), write when there
// is none. Beside evidence that a control may rest on, a word of low confidence
// does not count: it is listed and decides nothing.
func (a *Assessment) Conservative() Effect {
	var best *Claim
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Dimension != EffectDimension || c.Confidence == tool.Low && !c.Eligible && len(a.Control) > 0 {
			continue
		}
		if best == nil || compareClaims(c, best) < 0 {
			best = c
		}
	}
	if best == nil {
		return Write
	}
	return Effect(best.Value)
}

// Unproven is every claim from words that is stronger than all that a control
// may rest on: whether hard controls apply is then open, which is a policy gap
// (§6.2). Nothing is open once an override says why the declared effect stands.
func (a *Assessment) Unproven() []Claim {
	if a.Settled {
		return nil
	}
	best := -1
	for _, e := range a.Control {
		best = max(best, Rank(e))
	}
	var open []Claim
	for _, c := range a.Claims {
		if c.Dimension == EffectDimension && !c.Eligible && c.Basis != ProtocolDefault &&
			c.Confidence.AtLeast(tool.Medium) && Rank(Effect(c.Value)) > best {
			open = append(open, c)
		}
	}
	return open
}

// Gaps are the issues that are more than a review concern.
func (a *Assessment) Gaps() []Issue {
	var gaps []Issue
	for _, i := range a.Issues {
		if !i.Concern {
			gaps = append(gaps, i)
		}
	}
	return gaps
}

// ReviewConcern says whether all that keeps the action from passing is an
// authority that is known and not limited (§6.3).
func (a *Assessment) ReviewConcern() bool {
	return len(a.Issues) > 0 && len(a.Gaps()) == 0 && a.IdentityEligible && a.BindingEligible && a.SurfaceComplete
}

// assessEffect sets the effect dimension.
func (a *Assessment) assessEffect(t *Tool, d *manifest.Action) {
	declared := Effect("")
	var control uint // a bit for the rank of each effect
	var read, other, reviewed, structural, inferred, fallback *Claim
	strongest := func(have **Claim, c *Claim) {
		if *have == nil || compareClaims(c, *have) < 0 {
			*have = c
		}
	}
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Dimension != EffectDimension {
			continue
		}
		if c.Eligible {
			control |= 1 << (Rank(Effect(c.Value)) + 1) // a value without a rank is no effect
		}
		switch {
		case c.Basis == ReviewedDeclaration:
			strongest(&reviewed, c)
		case c.Basis.Structural():
			strongest(&structural, c)
			if c.Value == string(Read) {
				strongest(&read, c)
			} else {
				strongest(&other, c)
			}
		case c.Basis == ProtocolDefault:
			strongest(&fallback, c)
		default:
			strongest(&inferred, c)
		}
	}
	a.Control = make([]Effect, 0, bits.OnesCount(control))
	for rank, e := range Effects() {
		if control&(1<<(rank+1)) != 0 {
			a.Control = append(a.Control, e)
		}
	}
	if reviewed != nil {
		declared = Effect(reviewed.Value)
	}
	if d != nil && d.Effect != "" {
		declared = Effect(d.Effect)
		a.Settled = d.Override != nil
	}
	issue := func(kind, why string) {
		i := about(t, kind, why)
		i.Key = sourceEffect
		a.Issues = append(a.Issues, i)
	}
	a.EffectConfidence = tool.High
	switch {
	case declared != "":
		a.EffectStatus = EffectDeclared
		switch against := a.outranking(declared); {
		case a.Settled:
		case against != nil:
			a.EffectStatus = EffectConflicting
			issue(ConflictingEffect, fmt.Sprintf("It is declared as %s. Against it stands %s: %s", declared, against.Value, against.Why))
		case read != nil && other != nil:
			a.EffectStatus = EffectConflicting
			issue(ConflictingEffect, collision(read, other))
		}
	case read != nil && other != nil:
		a.EffectStatus = EffectConflicting
		issue(ConflictingEffect, collision(read, other))
	case structural != nil:
		a.EffectStatus = EffectStructural
		if open := a.Unproven(); len(open) > 0 {
			issue(InferredEffectOnly, fmt.Sprintf("The source proves %s; words suggest %s: %s", structural.Value, open[0].Value, open[0].Why))
		}
	case inferred != nil:
		a.EffectStatus, a.EffectConfidence = EffectInferred, inferred.Confidence
		issue(InferredEffectOnly, fmt.Sprintf("Only words say what it does: %s", inferred.Why))
	case fallback != nil:
		a.EffectStatus, a.EffectConfidence = EffectProtocolDefault, tool.Low
		issue(MissingEffect, "Nothing says what it does; by its protocol it may write.")
	default:
		a.EffectStatus, a.EffectConfidence = EffectUnknown, tool.Low
		issue(MissingEffect, "Nothing says what it does.")
	}
}

func collision(read, other *Claim) string {
	return fmt.Sprintf("The source contradicts itself. %s %s", read.Why, other.Why)
}

// outranking is the strongest eligible claim above the declared effect that does
// not come from the tags of the same declaration; nil when it stands.
func (a *Assessment) outranking(declared Effect) *Claim {
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Dimension == EffectDimension && c.Eligible && c.Source != sourceRiskTags && Rank(Effect(c.Value)) > Rank(declared) {
			return c
		}
	}
	return nil
}

// assessAuthority sets the authority dimension.
func (a *Assessment) assessAuthority(t *Tool, au authority, inManifest bool) {
	a.AuthorityStatus, a.AuthorityMode = au.status, au.mode
	add := func(kind, why string) *Issue {
		i := about(t, kind, why)
		i.Key = "action_surface.actions[].authority"
		a.Issues = append(a.Issues, i)
		return &a.Issues[len(a.Issues)-1]
	}
	switch au.status {
	case AuthorityUnknown:
		add(MissingAuthority, "Nothing says what it acts with.")
	case AuthorityPartial:
		// A declaration may not replace what a source says by half: the source has
		// to say the rest, or people for all of its tools.
		i := add(PartialAuthority, au.why)
		switch {
		case len(t.Auth.Scopes) == 0:
		case inManifest:
			i.Key = "tool_sources[].authority"
		default:
			i.Key, i.InSource = "", true
		}
	case AuthorityConflicting:
		i := add(ConflictingAuthority, au.why)
		if ownAuthority(t.Auth).status == AuthorityConflicting && !au.choice {
			i.Key, i.InSource = "", true
		}
	case AuthorityDeclared, AuthorityStructural:
		if au.mode == ModeUnscoped || au.mode == ModeAmbient {
			i := add(PartialAuthority, fmt.Sprintf("It acts with authority that nothing limits (%s).", au.mode))
			i.Concern = true
		}
	}
}

// semanticHints are the annotations that are evidence only as exact booleans.
var semanticHints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// assessAnnotations reports annotations that look like evidence and are none.
// Where people declare the effect nobody needs them.
func (a *Assessment) assessAnnotations(t *Tool, d *manifest.Action) {
	if d != nil && d.Effect != "" {
		return
	}
	for i := range t.Members {
		m := &t.Members[i]
		bad := func(why string) {
			issue := at(m.Origin, InvalidAnnotation, t.Name, why)
			issue.ToolID, issue.Key = t.ID, sourceEffect
			a.Issues = append(a.Issues, issue)
		}
		for _, key := range semanticHints {
			if _, given := m.Annotations[key]; given {
				if _, ok := m.Flag(key); !ok {
					bad("The annotation " + key + " is not true or false.")
				}
			}
		}
		if _, ok := annotatedClasses(m); !ok {
			bad("A permission class is none of read, write, external, financial, production, destructive and unknown.")
		}
	}
}

// assessSurface says whether all of the tool was seen (§6.3). dynamic is why the
// reader could not enumerate the tool's source, "" when it could.
func (a *Assessment) assessSurface(t *Tool, dynamic string) {
	var why []string
	if !t.Confidence.AtLeast(tool.High) {
		sure := t.Confidence
		if sure == "" {
			sure = tool.Low
		}
		why = append(why, fmt.Sprintf("it was read from %s with %s confidence", t.Origin.Type, sure))
	}
	switch {
	case t.Wildcard():
		why = append(why, "it stands for tools that nobody lists")
	case !t.SchemaKnown():
		why = append(why, "what it takes is not known")
	}
	if dynamic != "" {
		why = append(why, dynamic)
	}
	a.SurfaceComplete = len(why) == 0
	if !a.SurfaceComplete {
		i := about(t, IncompleteSurface, "Not all of it can be seen: "+strings.Join(why, ", ")+".")
		i.Key = "tool_sources"
		a.Issues = append(a.Issues, i)
	}
}

// finish draws the line (§6.3, pass_eligible).
func (a *Assessment) finish(t *Tool) {
	a.IdentityEligible = t.IdentityEligible()
	a.PassEligible = a.IdentityEligible && a.BindingEligible && a.SurfaceComplete && len(a.Issues) == 0 &&
		(a.EffectStatus == EffectDeclared || a.EffectStatus == EffectStructural) && a.EffectConfidence == tool.High &&
		(a.AuthorityStatus == AuthorityDeclared || a.AuthorityStatus == AuthorityStructural) &&
		(a.AuthorityMode == ModeNone || a.AuthorityMode == ModeScoped)
}
