// Package hostgrant reads what the hosts of coding agents are allowed and
// compares it with what was saved (docs/spec/verification.md §16).
//
// The configuration files come in as bytes and go out as grants: who lets which
// host do what, from which file, how far it reaches and how much it risks.
// Nothing is run and no session is looked at, so a grant is what a file says, not
// what a host does with it.
//
// Names are kept, values are not: the key of a variable or a header is in the
// inventory, what it holds is in no member and in no digest.
//
//	files -> Take -> Inventory -> Save -> baseline
//	                 Inventory, baseline -> Compare -> Drift
package hostgrant
