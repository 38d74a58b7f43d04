// Package handoff projects a verifier artifact into one packet for the next agent
// or reviewer (docs/spec/verification.md §15).
//
// It never decides anything anew: every member is taken over from verifier.json
// or from the record of the same run, and artifacts that tell different stories
// are refused. The packet is not an artifact of the run itself: it quotes the
// digests of verify-run.json, which could not list a packet in turn (D80.E2).
package handoff
