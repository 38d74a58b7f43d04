// Package plimsoll is the front page of the module, and the documents that its
// programs carry inside them.
//
// Plimsoll tells a coding agent what it may do next after it changed files. The
// tree reads from the inside out:
//
//   - internal/gate judges one change: pure functions from bytes to a result;
//   - internal/verify reads the tools of both sides of it and says what they mean
//     for a release, as purely;
//   - internal/git reads the change out of a repository, without trusting it;
//   - internal/cli/shipgate is the command line over both;
//   - cmd/ holds the doorsteps, one a program.
//
// docs/architecture.md draws it; internal/arch keeps the drawing true.
package plimsoll

import (
	"embed"
	"io/fs"
)

// Version is the version of a release: the tag of the module is "v" and this, and
// the files of make dist are named by it. The gate's results carry the version
// of the protocol's tool instead (internal/gate).
const Version = "0.1.0"

//go:embed docs/rules/*.md docs/agent-boundary-result-schema.v2.json
//go:embed examples/agent-protocol/diffs/*.diff examples/agent-protocol/expected/*.json examples/agent-protocol/legacy/*.json
var files embed.FS

// The circle's documents are apart from the gate's, so that a program without a
// circle does not carry them.
//
//go:embed config/roles/clan/zhos docs/contracts/clan-envelope.schema.json docs/contracts/clan-artifact.schema.json
var circle embed.FS

// The schemas of what verification writes, apart for the same reason.
//
//go:embed docs/contracts/capability-lock.v0.6.schema.json docs/contracts/capability-lock-diff.v0.7.schema.json
//go:embed docs/contracts/verifier.v0.8.schema.json docs/contracts/verify-run.v4.schema.json docs/contracts/report.v0.34.schema.json
//go:embed docs/contracts/shipgate-manifest.schema.json docs/contracts/agent-handoff.v7.schema.json
//go:embed docs/contracts/host-grants-inventory.v0.2.schema.json docs/contracts/host-grants-drift.v0.2.schema.json
//go:embed docs/contracts/preflight-result.v3.schema.json docs/contracts/preflight-plan.v1.schema.json
var verification embed.FS

// What self-check verifies, apart as well.
//
//go:embed all:examples/self-check
var selfCheck embed.FS

// SelfCheckSamples is one folder for each sample that a binary verifies to try
// itself, and expected.json with what must come out.
func SelfCheckSamples() (fs.FS, error) { return fs.Sub(selfCheck, "examples/self-check") }

// VerificationSchema is a schema of an artifact of verification by its file
// name without ".schema.json", for example capability-lock.v0.6.
func VerificationSchema(name string) ([]byte, error) {
	return verification.ReadFile("docs/contracts/" + name + ".schema.json")
}

// ClanConfig is the circle's default configuration: its registry, constitution
// and prompts, at the root of the file system (docs/spec/circle.md §2).
func ClanConfig() (fs.FS, error) { return fs.Sub(circle, "config/roles/clan/zhos") }

// EnvelopeSchema is the JSON schema of a request to the circle.
func EnvelopeSchema() ([]byte, error) {
	return circle.ReadFile("docs/contracts/clan-envelope.schema.json")
}

// ArtifactSchema is the JSON schema of an artifact, with a sub-schema of its
// content for each type under $defs.
func ArtifactSchema() ([]byte, error) {
	return circle.ReadFile("docs/contracts/clan-artifact.schema.json")
}

// ResultSchemaPath is where the schema of the check's result lies, in this
// repository and in every contract that names it.
const ResultSchemaPath = "docs/agent-boundary-result-schema.v2.json"

// ResultSchema is the JSON schema of the check's result.
func ResultSchema() ([]byte, error) { return files.ReadFile(ResultSchemaPath) }

// RulePath is where the page of a rule lies in this repository.
func RulePath(id string) string { return "docs/rules/" + id + ".md" }

// RulePage is the page of a rule in Markdown.
func RulePage(id string) ([]byte, error) { return files.ReadFile(RulePath(id)) }

// AgentProtocol is the example changes (diffs/), the results they must get
// (expected/), and results older than permissions with what they are read as
// (legacy/).
func AgentProtocol() (fs.FS, error) { return fs.Sub(files, "examples/agent-protocol") }
