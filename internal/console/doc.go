// Package console is the pages of the service: what waits for a person, what they
// would agree to, and what became of everything before (docs/console.md).
//
// Pages are made on the server and read without a script; with one they follow
// what happens (live.go). A page is one row of routes.go, one method that reads
// use cases and answers data, one template under page/ and its sentences in both
// languages under words/. A page decides nothing: who may act is the use case's
// business, and a button that nobody would be let through is a sentence instead.
//
// Nothing here comes from another site: the policy of contents (shell.go) admits
// scripts, styles and connections of this service only, and no script in a page.
package console
