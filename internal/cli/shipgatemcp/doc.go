// Package shipgatemcp is the program beside the gate that answers over the Model
// Context Protocol, so that the gate itself links no network code
// (docs/spec/verification.md §20).
//
// Every answer is what the shipgate program prints for the same question: its
// commands run in this process, with their streams in memory.
package shipgatemcp
