// Package handoff projects a verifier artifact into one packet for the next agent
// or reviewer (docs/spec/verification.md §15). It never decides anything anew.
package handoff
