package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/stale"
)

// work is a chain as a use case sees it: the intent version under way and what
// was made from it, followed by source version and not by bare id.
type work struct {
	conf  *Config
	chain *Chain
	rows  []*Contract // of the chain, in chain order
	d     details

	resumed bool   // a person let the chain go on
	examine bool   // look at the chain anew before the commit
	was     []byte // the chain as it was read, to write it only when it changed
}

// details is what the Orchestrator remembers of a chain besides the columns of
// the store.
type details struct {
	// Asked is the request the path began with, nil where there is none.
	Asked *Asked `json:"asked,omitempty"`

	// Stated is the critical signals stated with a version of the intent;
	// Declared those of the version under way, Observed those of its runs.
	Stated   map[int64]risk.Signals `json:"stated,omitempty"`
	Declared risk.Signals           `json:"declared,omitempty"`
	Observed risk.Signals           `json:"observed,omitempty"`
	// Floor is the level reached so far: levels only rise.
	Floor contract.Level `json:"floor,omitempty"`

	// Tip and Dependencies are the copies of the last successful fetch (§11).
	Tip          string             `json:"tip,omitempty"`
	Dependencies []stale.Dependency `json:"dependencies,omitempty"`

	// Series counts the series of runs, Runs the runs of the one under way.
	Series int64 `json:"series,omitempty"`
	Runs   int64 `json:"runs,omitempty"`
	// Union is the signals and facts of the series under way, for its event.
	Union risk.Signals `json:"union,omitempty"`
	Facts []risk.Fact  `json:"facts,omitempty"`

	// Completed is the id of the last completed event of the TaskSeed version.
	Completed string `json:"completed,omitempty"`
	// Due is the series that ended and are not judged yet, in order.
	Due []due `json:"due,omitempty"`
	// Judged is the run whose result the Acceptance speaks for.
	Judged string `json:"judged,omitempty"`
	// Heard is the verification that the Acceptance takes into account, "" for none.
	Heard string `json:"heard,omitempty"`

	// Refactored is the role of the Refactor run that succeeded on the diff the
	// chain has, "" while there is none.
	Refactored contract.Role `json:"refactored,omitempty"`
	// Owed says that a return to Build was held back.
	Owed bool `json:"owed,omitempty"`

	// Conflicts is the updates a person must choose from (§13).
	Conflicts map[contract.ID][]Conflict `json:"conflicts,omitempty"`
}

// due is the end of a series as it waits for the Validator. Hold says that the
// chain starts no run before it is judged.
type due struct {
	Execution string `json:"execution"`
	Hold      bool   `json:"hold,omitempty"`
}

// open reads the chain of the use case. A session works on one chain.
func (x *session) open(id contract.ID) error {
	if x.w != nil {
		if x.w.chain.ID == id {
			return nil
		}
		return fault.E("pipeline.open", fault.Internal, fmt.Sprintf("one use case on %s and %s", x.w.chain.ID, id), nil)
	}
	w, err := load(x, &x.s.conf, id)
	if err != nil {
		return err
	}
	x.w = w
	return nil
}

func load(r Reader, conf *Config, id contract.ID) (*work, error) {
	chain, err := r.Chain(id)
	if chain, err = found(chain, err, "%s is unknown", id); err != nil {
		return nil, err
	}
	w, err := outline(conf, chain)
	if err != nil {
		return nil, err
	}
	w.was = w.text()
	w.rows, err = r.OfChain(id)
	return w, err
}

// outline is a chain without its contracts, to be read only.
func outline(conf *Config, chain *Chain) (*work, error) {
	w := &work{conf: conf, chain: chain}
	if len(chain.Details) > 0 {
		if err := json.Unmarshal(chain.Details, &w.d); err != nil {
			return nil, fault.E("pipeline.load", fault.Internal, "the details of "+string(chain.ID)+" do not read", err)
		}
	}
	return w, nil
}

// text is everything of the chain that can change, for a comparison.
func (w *work) text() []byte {
	c := *w.chain
	c.Details, c.UpdatedAt = nil, c.CreatedAt
	text, err := json.Marshal(struct {
		Chain   Chain
		Details details
	}{c, w.d})
	if err != nil {
		panic("pipeline: the details of a chain do not marshal: " + err.Error())
	}
	return text
}

// save writes the chain when anything of it changed.
func (x *session) save() error {
	if slices.Equal(x.w.text(), x.w.was) {
		return nil
	}
	text, err := json.Marshal(x.w.d)
	if err != nil {
		return fmt.Errorf("marshal the details of %s: %w", x.w.chain.ID, err)
	}
	x.w.chain.Details, x.w.chain.UpdatedAt = text, x.Now()
	return x.UpdateChain(x.w.chain)
}

// row is a version of a contract of the chain, nil when there is none.
func (w *work) row(ref Ref) *Contract {
	for _, c := range w.rows {
		if c.Ref() == ref {
			return c
		}
	}
	return nil
}

// versions is the rows of an id, lowest version first.
func (w *work) versions(id contract.ID) []*Contract {
	var list []*Contract
	for _, c := range w.rows {
		if c.Ref().ID == id {
			list = append(list, c)
		}
	}
	return list
}

// highest is the highest version of a kind in the chain, nil when there is none:
// along a chain a target keeps its id (§1.8).
func (w *work) highest(kind contract.Kind) *Contract {
	var best *Contract
	for _, c := range w.rows {
		if c.Document.Head().Kind == kind && (best == nil || c.Ref().Version > best.Ref().Version) {
			best = c
		}
	}
	return best
}

// made is the newest contract of a kind that was made from a source version.
func (w *work) made(kind contract.Kind, source Ref) *Contract {
	var best *Contract
	for _, c := range w.rows {
		if c.Source == source && c.Document.Head().Kind == kind && (best == nil || c.Ref().Version > best.Ref().Version) {
			best = c
		}
	}
	return best
}

func (w *work) intentRow() *Contract {
	return w.row(Ref{ID: w.chain.ID, Version: w.chain.Version})
}

func (w *work) taskRow() *Contract {
	intent := w.intentRow()
	if intent == nil {
		return nil
	}
	return w.made(contract.KindTaskSeed, intent.Ref())
}

func (w *work) acceptanceRow() *Contract {
	task := w.taskRow()
	if task == nil {
		return nil
	}
	return w.made(contract.KindAcceptance, task.Ref())
}

// gateRow is the gate of the current Acceptance version: the one that speaks
// for the work.
func (w *work) gateRow() *Contract {
	acceptance := w.acceptanceRow()
	if acceptance == nil {
		return nil
	}
	return w.made(contract.KindPublishGate, acceptance.Ref())
}

// lastGateRow is the newest gate made for the Acceptance of the TaskSeed version
// under way, whichever version of it (§9.2). The versions of the Acceptance that
// belong to an earlier TaskSeed end where the row of that one stands.
func (w *work) lastGateRow() *Contract {
	acceptance := w.acceptanceRow()
	if acceptance == nil {
		return nil
	}
	var before int64
	for _, c := range w.versions(acceptance.Ref().ID) {
		if v := c.Ref().Version; v < acceptance.Ref().Version {
			before = max(before, v)
		}
	}
	var best *Contract
	for _, c := range w.rows {
		if c.Document.Head().Kind == contract.KindPublishGate && c.Source.ID == acceptance.Ref().ID && c.Source.Version > before &&
			(best == nil || c.Ref().Version > best.Ref().Version) {
			best = c
		}
	}
	return best
}

func (w *work) intent() *contract.Intent { return docOf[*contract.Intent](w.intentRow()) }

func (w *work) task() *contract.TaskSeed { return docOf[*contract.TaskSeed](w.taskRow()) }

func (w *work) acceptance() *contract.Acceptance {
	return docOf[*contract.Acceptance](w.acceptanceRow())
}

func (w *work) gate() *contract.PublishGate { return docOf[*contract.PublishGate](w.gateRow()) }

func (w *work) lastGate() *contract.PublishGate {
	return docOf[*contract.PublishGate](w.lastGateRow())
}

func docOf[D contract.Document](c *Contract) D {
	if c == nil {
		var none D
		return none
	}
	return c.Document.(D)
}

// root is the intent version a contract goes back to, nil when it is gone.
func (w *work) root(c *Contract) *contract.Intent {
	for c != nil {
		if d, ok := c.Document.(*contract.Intent); ok {
			return d
		}
		c = w.source(c)
	}
	return nil
}

// source is the row a contract was made from. An Acceptance that was revised in
// place since then still stands for the version that was.
func (w *work) source(c *Contract) *Contract {
	if r := w.row(c.Source); r != nil {
		return r
	}
	var best *Contract
	for _, v := range w.versions(c.Source.ID) {
		if v.Ref().Version > c.Source.Version && (best == nil || v.Ref().Version < best.Ref().Version) {
			best = v
		}
	}
	return best
}

// gatesOf is what the gates say of the work of a TaskSeed version: the one of
// the current Acceptance version, and the newest of any. A run of an earlier
// TaskSeed is beside both.
func (w *work) gatesOf(task Ref) (current, last *contract.PublishGate) {
	if t := w.taskRow(); t == nil || t.Ref() != task {
		return nil, nil
	}
	return w.gate(), w.lastGate()
}

// stateOf is the state of a row, "" for none.
func stateOf(c *Contract) contract.State {
	if c == nil {
		return ""
	}
	return c.Document.Head().State
}

// phase is the phase as package phase has it.
func (w *work) phase() phase.Phase { return phase.Phase(w.chain.Phase) }

// level is the effective risk of the chain with its reasons. What was found of
// the boundary is taken into account when it is at hand.
func (w *work) level(b *risk.Boundary) risk.Assessment {
	c := risk.Circumstances{Declared: w.d.Declared, Observed: w.d.Observed, Floor: w.d.Floor, Boundary: b}
	if t := w.task(); t != nil {
		c.Capabilities = t.CapabilitiesSnapshot
	} else if i := w.intent(); i != nil {
		c.Capabilities = i.RequestedCapabilities
	}
	return risk.Assess(c)
}

// violation is the policy rule the work breaks, "" for none.
func (w *work) violation(level contract.Level) string {
	if w.conf.Violated == nil {
		return ""
	}
	return w.conf.Violated(Work{Intent: w.intent(), Task: w.task(), Level: level, Signals: w.d.Declared | w.d.Observed})
}

// stamp tells one state of the chain from every other: what is asked for again
// needs another key than what was asked for before.
func (w *work) stamp() string {
	var sum int64
	for _, c := range w.rows {
		sum += c.Revision
	}
	return fmt.Sprintf("%d.%d", w.chain.Revision, sum)
}

// add takes a new row into the picture.
func (w *work) add(c *Contract) { w.rows = append(w.rows, c) }

// shown is a row as an answer has it.
func (w *work) shown(c *Contract) *Shown {
	s := &Shown{Contract: c, Phase: w.chain.Phase, Outstanding: []contract.Role{}, Conflict: w.d.Conflicts[c.Ref().ID]}
	if g, ok := c.Document.(*contract.PublishGate); ok {
		s.Outstanding = outstanding(g)
	}
	return s
}
