// Package e2e has no code: its tests build the program plimsoll, start it as
// people do, and speak to it over HTTP and through its own commands. They hold
// the acceptance criteria of docs/spec/contracts.md §18 and the truths of
// docs/spec/circle.md §11 on both databases, and what is left when processes are
// killed, frozen or asked everything at once.
//
// Flags make the tests heavier than a normal run does: -kills is the number of
// times the crash tests kill the service, -races the number of rounds of the race
// on a gate, -attacks the number of requests that carry an attack. -slow also runs the tests that wait as long as a production
// service waits.
package e2e
