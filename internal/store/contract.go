package store

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const (
	// keptColumns is what is read back; the rest of a row is there to be searched.
	keptColumns = `c.document, c.revision, c.chain, c.source_id, c.source_version, c.frozen_from, c.freeze_cause,
		c.execution_id, c.approval_digest, c.covers, c.base_commit, c.head_commit, c.signals, c.correlation_id`

	contractColumns = `id, version, kind, state, revision, head, chain, source_id, source_version, frozen_from, freeze_cause,
		execution_id, approval_digest, covers, base_commit, head_commit, signals,
		task_seed, status, level, final_decision, creator, owner_role, actor, verdict, classification, waiting_for, deadline,
		document, created_at, updated_at`

	// resolved puts the version first that a reference without a version names
	// (docs/spec/contracts.md §1.2, R-02).
	resolved = `ORDER BY CASE WHEN state IN ('Active', 'Frozen', 'Published') THEN 0 ELSE 1 END, version DESC`
)

func scanContract(rows *sql.Rows) (*pipeline.Contract, error) {
	c := &pipeline.Contract{}
	err := rows.Scan(&c.Text, &c.Revision, &c.Chain, &c.Source.ID, &c.Source.Version, &c.FrozenFrom, &c.FreezeCause,
		&c.ExecutionID, &c.ApprovalDigest, &c.Covers, &c.BaseCommit, &c.HeadCommit, &c.Signals, &c.Correlation)
	if err != nil {
		return nil, err
	}
	if c.Document, err = contract.Reread(c.Text); err != nil {
		return nil, fault.E("store.Contract", fault.Internal, "a stored contract does not read", err)
	}
	return c, nil
}

// Contract implements pipeline.Reader.
func (r *reader) Contract(id contract.ID) (*pipeline.Contract, error) {
	const op = "store.Contract"
	what := "read contract " + string(id)
	if r.writing {
		return r.heldContract(op, what, id, resolvedOf)
	}
	return one(r, op, what, scanContract, `SELECT `+keptColumns+` FROM contracts c WHERE c.id = $1 `+resolved+` LIMIT 1`, string(id))
}

// ContractAt implements pipeline.Reader.
func (r *reader) ContractAt(ref pipeline.Ref) (*pipeline.Contract, error) {
	const op = "store.Contract"
	what := fmt.Sprintf("read contract %s version %d", ref.ID, ref.Version)
	if r.writing {
		return r.heldContract(op, what, ref.ID, func(rows []*knownRow) *knownRow {
			i := slices.IndexFunc(rows, func(c *knownRow) bool { return c.head.Version == ref.Version })
			if i < 0 {
				return nil
			}
			return rows[i]
		})
	}
	return one(r, op, what, scanContract, `SELECT `+keptColumns+` FROM contracts c WHERE c.id = $1 AND c.version = $2`, string(ref.ID), ref.Version)
}

// lockContract keeps others out of the chain of a contract. One that is not
// there has nothing to lock.
func (r *reader) lockContract(op, what string, id contract.ID) error {
	if !r.writing || r.d.ForUpdate == "" {
		return nil
	}
	_, err := r.holdContract(op, what, id)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// existing locks the chain of a contract that must be there.
func (t *tx) existing(op, what string, id contract.ID) error {
	_, err := t.holdContract(op, what, id)
	return err
}

// Versions implements pipeline.Reader.
func (r *reader) Versions(id contract.ID) ([]*pipeline.Contract, error) {
	const op = "store.Versions"
	what := "read the versions of " + string(id)
	if err := r.lockContract(op, what, id); err != nil {
		return nil, err
	}
	return rows(r, op, what, scanContract, `SELECT `+keptColumns+` FROM contracts c WHERE c.id = $1 ORDER BY c.version DESC`, string(id))
}

// History implements pipeline.Reader.
func (r *reader) History(id contract.ID) ([]pipeline.Replaced, error) {
	return rows(r, "store.History", "read the history of "+string(id), func(rows *sql.Rows) (pipeline.Replaced, error) {
		p := pipeline.Replaced{Ref: pipeline.Ref{ID: id}}
		err := rows.Scan(&p.Ref.Version, &p.Text, instant{&p.At})
		return p, err
	}, `SELECT version, document, replaced_at FROM contract_versions WHERE id = $1 ORDER BY version DESC`, string(id))
}

// MadeFrom implements pipeline.Reader.
func (r *reader) MadeFrom(kind contract.Kind, source pipeline.Ref) ([]*pipeline.Contract, error) {
	const op = "store.MadeFrom"
	what := fmt.Sprintf("read what was made from %s version %d", source.ID, source.Version)
	if err := r.lockContract(op, what, source.ID); err != nil {
		return nil, err
	}
	return rows(r, op, what, scanContract, `SELECT `+keptColumns+` FROM contracts c
		WHERE c.source_id = $1 AND c.source_version = $2 AND c.kind = $3 AND c.source_id <> ''
		ORDER BY c.version DESC, c.id`, string(source.ID), source.Version, string(kind))
}

// OfChain implements pipeline.Reader.
func (r *reader) OfChain(chain contract.ID) ([]*pipeline.Contract, error) {
	const op = "store.OfChain"
	if !r.writing {
		return rows(r, op, "read chain "+string(chain), scanContract, ofChain, string(chain))
	}
	list := []*pipeline.Contract{}
	if _, err := r.holdChain(op, chain); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return list, nil
		}
		return nil, err
	}
	k, err := r.contracts(op, chain)
	if err != nil {
		return nil, err
	}
	for _, row := range k.rows {
		c, err := row.copied()
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

const ofChain = `SELECT ` + keptColumns + ` FROM contracts c WHERE c.chain = $1
	ORDER BY CASE c.kind WHEN 'IntentContract' THEN 1 WHEN 'TaskSeed' THEN 2 WHEN 'Acceptance' THEN 3 WHEN 'PublishGate' THEN 4 ELSE 5 END,
		length(c.id), c.id, c.version`

// Contracts implements pipeline.Reader.
func (r *reader) Contracts(f pipeline.ContractFilter, p pipeline.Page) ([]*pipeline.Contract, error) {
	w := &where{}
	if f.Asking {
		w.add("c.state IN ('Draft', 'Frozen')") // as the index has it
	} else {
		w.add("c.head")
	}
	// Of some chains, and of what waits, there is little; of a kind there is much,
	// and SQLite would take its index all the same (40 ms at 10,000 chains).
	kind := "c.kind"
	if len(f.Chains)+len(f.WaitingFor) > 0 {
		kind = "(c.kind || '')"
	}
	in(w, kind, f.Kinds)
	in(w, "c.id", f.IDs)
	in(w, "c.state", f.States)
	in(w, "c.chain", f.Chains)
	if len(f.Correlations) > 0 {
		w.add(ofPath("c.chain", w, f.Correlations))
	}
	in(w, "c.task_seed", f.TaskSeeds)
	in(w, "c.status", f.Statuses)
	in(w, "c.level", f.Levels)
	in(w, "c.final_decision", f.FinalDecisions)
	in(w, "c.freeze_cause", f.FreezeCauses)
	in(w, "c.creator", f.Creators)
	in(w, "c.owner_role", f.OwnerRoles)
	in(w, "c.execution_id", f.ExecutionIDs)
	in(w, "c.actor", f.Actors)
	in(w, "c.verdict", f.Verdicts)
	in(w, "c.classification", f.Classifications)
	in(w, "c.head_commit", f.HeadCommits)
	if len(f.Phases) > 0 {
		w.add("EXISTS (SELECT 1 FROM chains h WHERE h.id = c.chain AND h.phase IN " + among(w, f.Phases) + ")")
	}
	if len(f.WaitingFor) > 0 {
		roles := make([]string, len(f.WaitingFor))
		for i, role := range f.WaitingFor {
			roles[i] = "c.waiting_for LIKE " + w.arg("%,"+string(role)+",%")
		}
		w.add("c.final_decision = 'pending' AND (" + strings.Join(roles, " OR ") + ")") // as the index has it
	}
	if !f.DueBefore.IsZero() {
		w.add("c.final_decision = 'pending' AND c.deadline < " + w.arg(f.DueBefore.UnixMicro()))
	}
	if f.Claimable {
		w.add(`c.kind = 'TaskSeed' AND c.state = 'Active'
			AND EXISTS (SELECT 1 FROM contracts i WHERE i.id = c.source_id AND i.version = c.source_version AND i.state = 'Active')
			AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.chain = c.chain AND r.ended_at IS NULL)`)
	}
	w.within("c.updated_at", f.UpdatedSince, f.UpdatedBefore)
	return rows(r, "store.Contracts", "list contracts", scanContract,
		`SELECT `+keptColumns+` FROM contracts c`+w.page(p, "c.updated_at", "c.id"), w.args...)
}

// NextID implements pipeline.Tx. A number that came in with an ingested
// Evidence is passed over.
func (t *tx) NextID(kind contract.Kind) (contract.ID, error) {
	const op = "store.NextID"
	for {
		var n int64
		var taken bool
		if err := t.row(op, "count up "+string(kind), t.d.Number, string(kind), kind.Prefix())(&n, &taken); err != nil {
			return "", err
		}
		if !taken {
			return contract.NewID(kind, n), nil
		}
	}
}

// CreateContract implements pipeline.Tx.
func (t *tx) CreateContract(c *pipeline.Contract) error {
	const op = "store.CreateContract"
	h := c.Document.Head()
	what := fmt.Sprintf("create %s version %d", h.ID, h.Version)
	if c.Revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	of, err := t.holdChain(op, c.Chain)
	if err != nil {
		return err
	}
	row, err := t.contractRow(c, 1)
	if err != nil {
		return err
	}
	row = append(row, of.chain.Correlation)
	err = t.later(op, what, there, `INSERT INTO contracts (`+contractColumns+`, correlation_id) VALUES `+params(len(row))+orNot, row...)
	if err != nil {
		return err
	}
	c.Revision, c.Correlation = 1, of.chain.Correlation
	if k := t.of(c.Chain); k.rows != nil || k.ids[h.ID] != nil {
		k.note(h.ID, c.Document)
	}
	return t.resolve(op, c.Chain, h.ID)
}

// UpdateContract implements pipeline.Tx.
func (t *tx) UpdateContract(c *pipeline.Contract) error {
	return t.writeContract("store.UpdateContract", c, c.Document.Head().Version)
}

// ReplaceContract implements pipeline.Tx.
func (t *tx) ReplaceContract(c *pipeline.Contract, from int64) error {
	const op = "store.ReplaceContract"
	h := c.Document.Head()
	what := fmt.Sprintf("replace %s version %d", h.ID, from)
	if h.Version <= from {
		return fault.E(op, fault.Invalid, what+": the new version is no higher", nil)
	}
	if err := t.lockChain(op, c.Chain); err != nil {
		return err
	}
	err := t.later(op, what, gone, `INSERT INTO contract_versions (id, version, document, replaced_at)
		SELECT id, version, document, $1 FROM contracts WHERE id = $2 AND version = $3 AND revision = $4`,
		t.now.UnixMicro(), string(h.ID), from, c.Revision)
	if err != nil {
		return err
	}
	return t.writeContract(op, c, from)
}

func (t *tx) writeContract(op string, c *pipeline.Contract, from int64) error {
	h := c.Document.Head()
	what := fmt.Sprintf("write %s version %d", h.ID, from)
	if err := t.lockChain(op, c.Chain); err != nil {
		return err
	}
	row, err := t.contractRow(c, c.Revision+1)
	if err != nil {
		return err
	}
	n := len(row)
	err = t.later(op, what, gone, `UPDATE contracts SET (`+contractColumns+`) = `+params(n)+
		` WHERE id = $1 AND version = $`+strconv.Itoa(n+1)+` AND revision = $5 - 1 AND chain = $7 AND kind = $3`,
		append(row, from)...)
	if err != nil {
		return err
	}
	c.Revision++
	return t.resolve(op, c.Chain, h.ID)
}

// resolve marks the version an id resolves to, so that lists need not look. A
// row is written as the one; where it is the only one, it is.
func (t *tx) resolve(op string, chain, id contract.ID) error {
	const wanted = `(version = (SELECT version FROM contracts WHERE id = $1 ` + resolved + ` LIMIT 1))`
	k := t.of(chain)
	k.rows = nil // they were written to
	if known := k.ids[id]; known != nil && known.versions == 1 {
		return nil
	}
	return t.later(op, "resolve "+string(id), nil, `UPDATE contracts SET head = `+wanted+` WHERE id = $1 AND head <> `+wanted, string(id))
}

// contractRow is c as the columns of contractColumns.
func (t *tx) contractRow(c *pipeline.Contract, revision int64) ([]any, error) {
	h := c.Document.Head()
	s, err := t.searched(c)
	if err != nil {
		return nil, err
	}
	return []any{
		string(h.ID), h.Version, string(h.Kind), string(h.State), revision, true, string(c.Chain), string(c.Source.ID), c.Source.Version,
		string(c.FrozenFrom), string(c.FreezeCause),
		c.ExecutionID, c.ApprovalDigest, c.Covers, c.BaseCommit, c.HeadCommit, c.Signals,
		string(s.taskSeed), string(s.status), string(s.level), string(s.finalDecision), string(s.creator), string(s.ownerRole),
		string(s.actor), string(s.verdict), string(s.classification), s.waitingFor, micros(s.deadline),
		c.Text, h.CreatedAt.Time().UnixMicro(), h.UpdatedAt.Time().UnixMicro(),
	}, nil
}

// searched is what a document says that lists are filtered by.
type searched struct {
	taskSeed       contract.ID
	status         contract.Status
	level          contract.Level
	finalDecision  contract.FinalDecision
	creator        contract.ActorID
	ownerRole      contract.Role
	actor          contract.ActorID
	verdict        contract.PolicyVerdict
	classification contract.Classification
	waitingFor     string
	deadline       time.Time
}

func (t *tx) searched(c *pipeline.Contract) (searched, error) {
	switch d := c.Document.(type) {
	case *contract.Intent:
		return searched{creator: d.Creator}, nil
	case *contract.TaskSeed:
		return searched{taskSeed: d.ID, ownerRole: d.OwnerRole}, nil
	case *contract.Acceptance:
		return searched{taskSeed: d.TaskSeedID, status: d.Status}, nil
	case *contract.PublishGate:
		s := searched{level: d.RiskLevel, finalDecision: d.FinalDecision, deadline: d.ApprovalDeadline.Time()}
		if d.FinalDecision == contract.DecisionPending {
			missing := d.RequiredApprovals
			for _, a := range d.Approvals {
				if a.Role.Valid() {
					missing = missing.Minus(contract.RolesOf(a.Role))
				}
			}
			s.waitingFor = joined(missing.List())
		}
		if known := t.of(c.Chain).ids[d.EntityID]; known != nil {
			s.taskSeed = known.task
			return s, nil
		}
		err := t.row("store.CreateContract", "read the TaskSeed of "+string(d.EntityID),
			`SELECT task_seed FROM contracts WHERE id = $1 LIMIT 1`, string(d.EntityID))(&s.taskSeed)
		return s, err
	case *contract.Evidence:
		return searched{
			taskSeed: d.TaskSeedID, actor: d.Actor, verdict: d.PolicyVerdict, classification: d.StaleStatus.Classification,
		}, nil
	}
	return searched{}, fault.E("store.CreateContract", fault.Internal, fmt.Sprintf("a document of type %T", c.Document), nil)
}
