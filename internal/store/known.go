package store

import (
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// known is what an update has read of a chain that it holds. Nobody else can
// change any of it before the transaction ends, so nothing is asked for twice:
// statements are most of what an update costs. Whoever asks gets a copy, as if
// the database had answered.
type known struct {
	chain *pipeline.Chain // nil: not read
	rows  []*knownRow     // in chain order; nil: not read, or changed since
	ids   map[contract.ID]*knownID
}

// knownRow is a row of a chain. Its document is decoded once and then given to
// the first who asks; the next gets one of their own.
type knownRow struct {
	row  pipeline.Contract
	head contract.Base
}

// knownID is what is known of an id for as long as the transaction lasts, also
// after one of its rows was written.
type knownID struct {
	versions int
	task     contract.ID // the TaskSeed the contract belongs to
}

// copied is the row for somebody to keep.
func (k *knownRow) copied() (*pipeline.Contract, error) {
	c := k.row
	c.Text, c.Covers, c.Signals = slices.Clip(c.Text), slices.Clip(c.Covers), slices.Clip(c.Signals)
	if k.row.Document != nil {
		k.row.Document = nil
		return &c, nil
	}
	d, err := contract.Reread(c.Text)
	c.Document = d
	return &c, err
}

func copyOf(c *pipeline.Chain) *pipeline.Chain {
	own := *c
	own.Details = slices.Clip(c.Details)
	return &own
}

// of is what is known of a chain, which the caller holds.
func (r *reader) of(chain contract.ID) *known {
	k := r.chains[chain]
	if k == nil {
		k = &known{ids: map[contract.ID]*knownID{}}
		r.chains[chain] = k
	}
	return k
}

// hold reads the row of a chain and, where writers run side by side, keeps
// others out of the chain until the transaction ends. which is a condition on
// the table chains. NotFound says that there is no such chain.
func (r *reader) hold(op, what, which string, arg string) (*known, error) {
	c, err := one(r, op, what, scanChain, `SELECT `+keptChain+` FROM chains WHERE id = `+which+r.d.ForUpdate, arg)
	if err != nil {
		return nil, err
	}
	k := r.of(c.ID)
	k.chain = c
	return k, nil
}

// The chain a row belongs to never changes, so it can be looked up in the same
// statement that locks it.
const (
	theChain   = `$1`
	ofContract = `(SELECT chain FROM contracts WHERE id = $1 LIMIT 1)`
	ofRun      = `(SELECT chain FROM runs WHERE execution_id = $1)`
)

// holdChain holds a chain that is named.
func (r *reader) holdChain(op string, chain contract.ID) (*known, error) {
	if k := r.chains[chain]; k != nil && k.chain != nil {
		return k, nil
	}
	return r.hold(op, "read chain "+string(chain), theChain, string(chain))
}

// holdContract holds the chain of a contract.
func (r *reader) holdContract(op, what string, id contract.ID) (*known, error) {
	for _, k := range r.chains {
		if k.ids[id] != nil && k.chain != nil {
			return k, nil
		}
	}
	return r.hold(op, what, ofContract, string(id))
}

// contracts is every row of a chain that is held, in chain order.
func (r *reader) contracts(op string, chain contract.ID) (*known, error) {
	k := r.of(chain)
	if k.rows != nil {
		return k, nil
	}
	list, err := rows(r, op, "read chain "+string(chain), scanContract, ofChain, string(chain))
	if err != nil {
		return nil, err
	}
	k.rows, k.ids = make([]*knownRow, len(list)), map[contract.ID]*knownID{}
	for i, c := range list {
		h := c.Document.Head()
		k.rows[i] = &knownRow{row: *c, head: h}
		k.note(h.ID, c.Document)
	}
	return k, nil
}

// note counts a version of an id.
func (k *known) note(id contract.ID, d contract.Document) {
	if k.ids[id] == nil {
		k.ids[id] = &knownID{task: taskOf(d)}
	}
	k.ids[id].versions++
}

// taskOf is the TaskSeed a document names, or is.
func taskOf(d contract.Document) contract.ID {
	switch d := d.(type) {
	case *contract.TaskSeed:
		return d.ID
	case *contract.Acceptance:
		return d.TaskSeedID
	case *contract.Evidence:
		return d.TaskSeedID
	}
	return ""
}

// heldContract is the first row of an id that fits, of a chain that is then held.
func (r *reader) heldContract(op, what string, id contract.ID, fits func(rows []*knownRow) *knownRow) (*pipeline.Contract, error) {
	k, err := r.holdContract(op, what, id)
	if err != nil {
		return nil, err
	}
	if k, err = r.contracts(op, k.chain.ID); err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(slices.Clone(k.rows), func(c *knownRow) bool { return c.head.ID != id })
	found := fits(mine)
	if found == nil {
		return nil, fault.E(op, fault.NotFound, what+": there is none", nil)
	}
	return found.copied()
}

// resolvedOf is what the words of resolved say, of rows by rising version.
func resolvedOf(rows []*knownRow) *knownRow {
	var best *knownRow
	rank := func(s contract.State) int {
		if s.Live() || s == contract.Published {
			return 1
		}
		return 0
	}
	for _, c := range rows {
		if best == nil || rank(c.head.State) >= rank(best.head.State) {
			best = c
		}
	}
	return best
}

// heldRun is a run, of a chain that is then held.
func (r *reader) heldRun(op, what, executionID string) (*pipeline.Run, error) {
	run := r.runs[executionID]
	if run == nil {
		if _, err := r.hold(op, what, ofRun, executionID); err != nil {
			return nil, err
		}
		var err error
		if run, err = one(r, op, what, scanRun, oneRun, executionID); err != nil {
			return nil, err
		}
	}
	r.keepRun(run)
	own := *run
	own.Details = slices.Clip(run.Details)
	return &own, nil
}

func (r *reader) keepRun(run *pipeline.Run) {
	own := *run
	r.runs[run.ExecutionID] = &own
}
