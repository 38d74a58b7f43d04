// Package preflight says what a plan would touch and what it would owe, before
// anything is changed (docs/spec/verification.md §13).
package preflight
