// Package pipeline holds the use cases of the contracts and the ports they
// need.
//
// A use case is a method that reads through a Tx, asks the pure packages below
// this one what may happen, and writes what they answer: documents, events,
// audit records and jobs, in one transaction (docs/spec/contracts.md §0,
// rulings R11). It is safe to run twice, because a job runs at least once.
//
// Nothing here knows a database, a queue or a clock: port.go says what is
// needed of them.
package pipeline
