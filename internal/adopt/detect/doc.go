// Package detect finds the agent frameworks and the tool sources of a repository,
// each with its evidence (docs/spec/verification.md §18.1). It runs nothing.
package detect
