// Package hostgrant reads what the hosts of agents are allowed and compares it
// with what was saved (docs/spec/verification.md §16).
package hostgrant
