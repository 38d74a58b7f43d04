package effect

import "cmp"

// Two orders of effects are in use, and they are not the same on purpose:
// Rank picks the strongest claim about one action (§6.2), DeltaRank says whether
// a change of an action is a step up or down (§11.3).

// Effects are all effects, weakest first in the resolver's order.
func Effects() []Effect {
	return []Effect{
		Read, Write, PrivilegedDataAccess, IdentityAccess, CodeExecution,
		ProductionOperation, ExternalCommunication, FinancialWrite, Destructive,
	}
}

// Valid says whether e is one of the effects.
func (e Effect) Valid() bool { return Rank(e) >= 0 }

// Rank is the place of e in the resolver's order, 0 to 8; -1 for no effect.
func Rank(e Effect) int {
	switch e {
	case Read:
		return 0
	case Write:
		return 1
	case PrivilegedDataAccess:
		return 2
	case IdentityAccess:
		return 3
	case CodeExecution:
		return 4
	case ProductionOperation:
		return 5
	case ExternalCommunication:
		return 6
	case FinancialWrite:
		return 7
	case Destructive:
		return 8
	}
	return -1
}

// DeltaRank is the place of e in the order that changes are judged by, 0 to 5;
// -1 for no effect.
func DeltaRank(e Effect) int {
	switch e {
	case Read:
		return 0
	case PrivilegedDataAccess:
		return 1
	case Write:
		return 2
	case ExternalCommunication:
		return 3
	case FinancialWrite, ProductionOperation, IdentityAccess, CodeExecution:
		return 4
	case Destructive:
		return 5
	}
	return -1
}

// basisRank orders what claims rest on: proof that people stand for first.
var basisRank = map[Basis]int{
	ReviewedDeclaration: 7, ProtocolStructure: 6, TypedProviderFact: 5, StructuralScope: 4,
	InferredKeyword: 3, InferredRegex: 2, ProtocolDefault: 1, UnknownBasis: 0,
}

// Structural says whether the basis is something that was read off a protocol,
// a provider's typed hint or a scope.
func (b Basis) Structural() bool {
	return b == ProtocolStructure || b == TypedProviderFact || b == StructuralScope
}

// Inferred says whether the basis is words.
func (b Basis) Inferred() bool { return b == InferredKeyword || b == InferredRegex }

// Stronger is the stronger of two effect claims: the higher effect, then what a
// control may rest on, then the better basis and confidence. It is a join: which
// claim comes first, and how often it comes, changes nothing.
func Stronger(a, b Claim) Claim {
	if compareClaims(&a, &b) <= 0 {
		return a
	}
	return b
}

// compareClaims orders effect claims, the strongest first.
func compareClaims(a, b *Claim) int {
	if c := cmp.Compare(Rank(Effect(b.Value)), Rank(Effect(a.Value))); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(truth(b.Eligible), truth(a.Eligible)),
		cmp.Compare(basisRank[b.Basis], basisRank[a.Basis]),
		cmp.Compare(b.Confidence.Rank(), a.Confidence.Rank()),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Value, b.Value),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Why, b.Why),
		cmp.Compare(a.At.Path, b.At.Path),
		cmp.Compare(a.At.Pointer, b.At.Pointer),
		cmp.Compare(a.At.Start.Line, b.At.Start.Line),
	)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
