// Package gate offers the gate's five read-only tools over the Model Context
// Protocol (docs/spec/verification.md §20).
package gate
