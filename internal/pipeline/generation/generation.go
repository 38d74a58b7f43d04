// Package generation says when a contract is generated, how often and how late:
// idempotency keys, budgets, retries, and what an exhausted generation freezes
// (docs/spec/contracts.md §4.1, §4.4). What is generated is package approval's
// (policies), package phase's (owners, verdicts) and the generators'.
package generation

import (
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Key identifies one generation. It is a unique column, written in the
// transaction that persists the target: of two concurrent attempts one commits
// and the other reads the first target.
//
// Discriminator is empty for what a source version yields once. It is the
// executionId for Evidence, of which one TaskSeed version has many, and
// for each judged result of an Acceptance; the verify decision id where
// a verify artifact revises one.
type Key struct {
	Source        contract.ID
	Version       int64
	Target        contract.Kind
	Discriminator string
}

// String is the key as it is stored, for example "IC-001:1:TaskSeed".
func (k Key) String() string {
	s := string(k.Source) + ":" + strconv.FormatInt(k.Version, 10) + ":" + string(k.Target)
	if k.Discriminator != "" {
		s += ":" + k.Discriminator
	}
	return s
}

// Duplicate is what an attempt ends with that finds its key: a success with the
// first target, and nothing more to do.
func Duplicate(k Key, target contract.ID) error {
	return refusal.New(refusal.GenerationDuplicate, "%s gave %s", k, target).About(string(k.Target), string(target), 0)
}

// Budget is how long one attempt may take from the receipt of its cause. For
// Evidence it counts from the end of the run.
func Budget(target contract.Kind) time.Duration {
	if target == contract.KindAcceptance {
		return 60 * time.Second
	}
	return 30 * time.Second
}

// InTime refuses an attempt that took longer than its budget; exactly the
// budget is inside. Late Evidence is kept and warned about instead: see package
// document.
func InTime(target contract.Kind, elapsed time.Duration) error {
	if target != contract.KindEvidence && elapsed > Budget(target) {
		return refusal.New(refusal.GenerationTimeout, "the %s took %s, and has %s", target, elapsed, Budget(target))
	}
	return nil
}

// Attempts is one first attempt and three retries.
const Attempts = 4

var delays = [Attempts]time.Duration{0, 30 * time.Second, 60 * time.Second, 120 * time.Second}

// Delay is how long attempt n, counted from 1, waits after the commit of the
// failed one before it. The error says that the attempts are used up.
func Delay(n int) (time.Duration, error) {
	if n < 1 || n > Attempts {
		return 0, refusal.New(refusal.GenerationExhausted, "%d attempts failed", Attempts)
	}
	return delays[n-1], nil
}

// Retried says whether an attempt that ended with code is made again. A fault of
// the service itself is repeated without counting and never comes here.
func Retried(code refusal.Code) bool {
	switch code {
	case refusal.GenerationTimeout, refusal.StoreUnavailable, refusal.GenerationInternal,
		refusal.ContractSchemaInvalid, refusal.RefNotFound:
		return true
	default:
		return false
	}
}

// Internal wraps a fault nobody foresaw in a generator: one failed attempt.
func Internal(err error) error {
	return refusal.New(refusal.GenerationInternal, "%v", err)
}

// FreezesTarget says which contract an exhausted generation freezes: the target
// where it is persisted in Draft or Active, else the source. A Published target
// never moves. target is "" when nothing was persisted.
func FreezesTarget(target contract.State) bool {
	return target == contract.Draft || target == contract.Active
}
