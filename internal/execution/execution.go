// Package execution is the local half of "plimsoll run": it claims a task,
// works on it in a worktree of its own, and reports what happened to the
// service (docs/spec/contracts.md §4.5, §7.1, §9, §20.3).
//
// A run is a folder below Config.State. Its journal says at every moment what
// has been done, so that whatever dies - the command, the runner, the machine,
// the service - the next start of any runner can finish the account:
//
//	claiming ──► working ──► delivering ──► (gone: delivered, nothing to keep)
//	    │           │             ├───────► kept     delivered; the worktree stays for a person
//	    │           │             └───────► refused  the service takes no account of it
//	    └───────────┴──► Recover makes the account of a run whose runner died
//
// A folder is in the hands of whoever holds the lock on its journal; a runner
// that dies lets go of it.
//
// The repository is somebody's place of work. A run adds a worktree and a branch
// ("plimsoll/<task>/<run>") to it and touches nothing else: not its working
// tree, not its index, not the branch it is on. Git is called with hooks,
// filters and every other program of the repository off. The command gets the
// variables of a list and no secrets of the runner; it is not confined. It finds
// PLIMSOLL_TASK, PLIMSOLL_PHASE, PLIMSOLL_EXECUTION, PLIMSOLL_BASE_COMMIT and
// PLIMSOLL_OUT among them. PLIMSOLL_OUT is a folder in which it may leave
// report.json (type Report); in Publish release_note.md lies there, to which it
// may append.
package execution

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// Config is what a Runner needs. New fills in what is zero, but for the first
// group.
type Config struct {
	Server Server
	Repo   string // any folder of the repository
	State  string // a folder of the runner's own, outside the repository

	// Judge is the gate on a committed range. One that cannot be read has a
	// result too; the error is an invariant of the gate's own.
	Judge func(ctx context.Context, r Range) (*gate.Result, error)

	// Verify is the verification that a boundary result sends a run to, on a
	// committed range. The error is that it came to no decision: the verification
	// is owed then, as it is when Verify is nil.
	Verify func(ctx context.Context, r Range) (Verification, error)

	// NewID is a name nobody has used: of a run's folder, and the
	// Idempotency-Key of its claim.
	NewID func() string
	Now   func() time.Time
	// Pause waits between two attempts to reach the service; an error of the
	// context ends it.
	Pause func(ctx context.Context, d time.Duration) error

	// Environ is the environment of the runner. Of it the command gets what
	// programs cannot do without, and the variables that Pass names.
	Environ []string
	Pass    []string

	// Output gets what the command prints, a line at a time and with secrets
	// masked, as the log has it. Notes gets one line for each step of the run.
	Output io.Writer
	Notes  io.Writer

	Agent     gate.Actor // who the gate takes the change to be made by; codex
	Model     Model      // the zero Model is none
	Container string     // digest of the image the runner is in; uncontainerized
	Runtime   string     // what the command runs on; the runner's own

	Limit     time.Duration // of the command; the phase's limit when that is shorter, or Limit is 0
	MaxOutput int64         // bytes the command may print; 32 MiB
	Grace     time.Duration // between the interrupt and the kill; 10 s
	Patience  time.Duration // for a service that does not answer, once the work is done; 30 s

	// Hard ends the command at once, where the end of the context lets it
	// finish within Grace. nil is never.
	Hard <-chan struct{}
}

// Model is the model behind the command. A model that took part and cannot be
// named is "unknown", never "none".
type Model struct {
	Name       string
	Version    string
	Parameters []byte // JSON; nil is {}
}

// Order is what to run.
type Order struct {
	Task    contract.ID
	Phase   phase.Phase
	Base    string   // a commit to start the chain from, "" for the chain's own
	Command []string // program and arguments
}

// Status is what became of a run.
type Status string

// The statuses.
const (
	Delivered Status = "delivered" // the service has the account, and Outcome is its
	Lost      Status = "lost"      // the service had given the run up; it keeps the Evidence (§4.5)
	Spooled   Status = "spooled"   // the service does not answer, or not to this token; the next start delivers
	Refused   Status = "refused"   // the service takes neither the result nor the failure
)

// Valid says whether s is one of the four.
func (s Status) Valid() bool {
	switch s {
	case Delivered, Lost, Spooled, Refused:
		return true
	}
	return false
}

// Result is the account of one run.
type Result struct {
	Run         string // name of the run's folder
	Task        contract.ID
	Phase       phase.Phase
	ExecutionID string
	Status      Status
	Outcome     phase.Outcome
	Reason      string // why it did not succeed
	ExitCode    int    // of the command; -1 when it did not end by itself

	BaseCommit string
	HeadCommit string
	DiffHash   string
	Branch     string
	Worktree   string // "" when it is removed

	// Control is control.state of the boundary result and Route the kind of its
	// next action; "" when no gate ran.
	Control string
	Route   string

	// Verified is the decision of the verification that the boundary result sent
	// the run to, Owed why there is none yet; both are "" when none is owed.
	Verified, Owed string

	Evidence contract.ID
	Ended    Ended
	Err      error // the answer of the service behind Lost, Spooled or Refused
}

// Kept is the folder of a run that somebody may want to look at.
type Kept struct {
	Run, ExecutionID string
	Task             contract.ID
	Phase            phase.Phase
	Status           Status
	Reason           string
	Branch, Worktree string
	Since            time.Time
}

// Runner runs tasks. Its methods may be called at the same time, also by
// several processes that share State.
type Runner struct{ conf Config }

const (
	defaultOutput   = 32 << 20
	defaultGrace    = 10 * time.Second
	defaultPatience = 30 * time.Second
)

// New is a runner.
func New(c Config) (*Runner, error) {
	const op = "execution.New"
	switch {
	case c.Server == nil:
		return nil, fault.E(op, fault.Invalid, "no service to report to", nil)
	case c.Repo == "" || c.State == "":
		return nil, fault.E(op, fault.Invalid, "no repository, or no folder for runs", nil)
	case c.Judge == nil:
		return nil, fault.E(op, fault.Invalid, "no gate to judge the work", nil)
	case c.NewID == nil:
		return nil, fault.E(op, fault.Invalid, "no source of names", nil)
	}
	state, err := filepath.Abs(c.State)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "the folder for runs: "+err.Error(), err)
	}
	c.State = state
	if err := checkPassed(c.Pass); err != nil {
		return nil, fault.E(op, fault.Invalid, err.Error(), nil)
	}
	if err := c.Model.check(); err != nil {
		return nil, fault.E(op, fault.Invalid, err.Error(), nil)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Output == nil {
		c.Output = io.Discard
	}
	if c.Notes == nil {
		c.Notes = io.Discard
	}
	if c.Agent == "" {
		c.Agent = gate.ActorCodex
	}
	if c.Container == "" {
		c.Container = contract.Uncontainerized
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = defaultOutput
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.Patience <= 0 {
		c.Patience = defaultPatience
	}
	return &Runner{conf: c}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
