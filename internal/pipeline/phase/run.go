package phase

import (
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// Outcome is how a run, or a series of runs, ended.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	TimedOut  Outcome = "timed_out"
	Blocked   Outcome = "blocked" // it could not be done
)

// Valid says whether o is one of the four.
func (o Outcome) Valid() bool {
	switch o {
	case Succeeded, Failed, TimedOut, Blocked:
		return true
	}
	return false
}

// Failure says whether a run with o counts as a failed one.
func (o Outcome) Failure() bool { return o == Failed || o == TimedOut }

// Claim asks to start a run. Stale and Lock are the answers of packages stale
// and lock, nil when they let it through.
type Claim struct {
	Phase        Phase // asked for
	Chain        Phase
	TaskSeed     contract.State
	Intent       contract.State
	Role         contract.Role
	Deputy       bool
	Capabilities capability.Set
	Level        contract.Level
	Automatic    bool // all tests are
	Gate         state.Answer
	Stale        error
	Lock         error
}

// Start says whether the run may start, in the order of checks of
// docs/spec/contracts.md §4.5.
func Start(c Claim) error {
	if err := state.Running(contract.KindTaskSeed, c.TaskSeed); err != nil {
		return err
	}
	if err := state.Running(contract.KindIntent, c.Intent); err != nil {
		return err
	}
	if c.Phase != c.Chain || c.Phase == Plan || c.Phase == Published {
		return refusal.New(refusal.PhaseGuardFailed, "the chain is in %s", c.Chain)
	}
	deputy := c.Phase == Publish && c.Role == contract.Admin && c.Deputy
	if chosen := Chosen(c.Phase, c.Capabilities, c.Level, c.Automatic); c.Role != chosen && !deputy {
		return notNamed(c.Role, "run it: "+string(chosen)+" is chosen")
	}
	if c.Phase == Publish {
		if err := c.Gate.Err(); err != nil {
			return err
		}
	}
	if c.Stale != nil {
		return c.Stale
	}
	return c.Lock
}

// Retry says whether a run may follow in this visit of p after so many failed
// ones. again is true when one may; the error says that they are used up.
func Retry(p Phase, failedRuns int) (again bool, err error) {
	if failedRuns > limits[p].retries {
		return false, refusal.New(refusal.PhaseRetryExhausted, "%d runs of %s failed", failedRuns, p)
	}
	return failedRuns > 0, nil
}

// Ended says whether the series of runs is over: with the first run that
// succeeds or is blocked, or with the failed run that uses up the retries.
// failedRuns counts that run.
func Ended(p Phase, o Outcome, failedRuns int) bool {
	if !o.Failure() {
		return true
	}
	_, err := Retry(p, failedRuns)
	return err != nil
}

// Overrun refuses a run that took longer than p allows; exactly the limit is
// inside. Such a run has failed.
func Overrun(p Phase, elapsed time.Duration) error {
	if limit, ok := p.Limit(); ok && elapsed > limit {
		return refusal.New(refusal.PhaseTimeout, "the run took %s, and %s allows %s", elapsed, p, limit)
	}
	return nil
}

// Return counts one more return to Build, or says that the bound is used up:
// the return is then owed and the TaskSeed frozen for phase_exhausted.
func Return(soFar, bound int) (int, error) {
	if soFar >= bound {
		return soFar, refusal.New(refusal.PhaseReturnsExhausted, "%d returns to Build were made", soFar)
	}
	return soFar + 1, nil
}
