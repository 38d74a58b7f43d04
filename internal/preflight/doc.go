// Package preflight says what a plan would touch and what it would owe, before
// anything is changed (docs/spec/verification.md §13).
//
// Evaluate is a pure function of the files of a workspace and a plan. It routes
// and decides nothing: it never says complete, and what it lets go on is still
// owed to verification.
package preflight
