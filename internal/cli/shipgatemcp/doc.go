// Package shipgatemcp is the program beside the gate that answers over the Model
// Context Protocol, so that the gate itself links no network code
// (docs/spec/verification.md §20).
package shipgatemcp
