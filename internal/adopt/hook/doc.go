// Package hook speaks the hook protocols of the hosts: it reads what a host asks
// when its agent wants to stop, and words answers that fail closed
// (docs/spec/verification.md §18.2).
package hook
