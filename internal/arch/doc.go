// Package arch holds no code: its tests keep the picture of
// docs/architecture.md true.
//
// Who may import whom is data (layers_test.go) and is compared with what go
// list sees on every operating system the gate runs on. A new edge is therefore
// a visible line in a review, and so is a new dependency.
package arch
