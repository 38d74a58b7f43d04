// Package gate offers the gate's five read-only tools over the Model Context
// Protocol (docs/spec/verification.md §20).
//
// It knows the tools' arguments and nothing of the gate: what answers comes in
// as functions. A client is a stranger: what it sends is bounded in length, depth
// and number before anybody reads it.
package gate
