// Package merge says which of two documents stands: a write against what is
// stored, and competing updates against each other (docs/spec/contracts.md
// §1.8, §13).
//
// The higher version wins and no clock is asked; two contents under one version
// are for a person to choose between. Evidence never merges.
package merge

import (
	"encoding/json"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// HigherVersion is the one strategy there is.
const HigherVersion = "higher_version"

// Result is what became of competing updates. Winner is the index of the
// document that stands, -1 when a person must choose. Freeze is the cause for
// which the stored contract is frozen, "" for none.
type Result struct {
	Winner int
	Merge  contract.MergeResult
	Freeze contract.Cause
}

// Updates resolves competing updates of one contract; the first is the stored
// copy. The values are what contract.Parse returned: an update that is not even
// valid is compared too, and refused only if it would win.
//
// With merge.manual_required the Result says what to record and whether to
// freeze; with every other refusal it is empty.
func Updates(updates ...any) (Result, error) {
	head, err := heads(updates)
	if err != nil {
		return Result{}, err
	}
	if head[0].kind == contract.KindEvidence {
		if err := Evidence(updates[0], updates[1:]...); err != nil {
			return Result{}, err
		}
		return Result{Winner: 0, Merge: contract.MergeResult{Status: contract.MergeNotApplicable}}, nil
	}
	if head[0].state == contract.Archived {
		return Result{}, refusal.New(refusal.ContractArchivedImmutable, "the stored copy of %s is Archived", head[0].id)
	}
	best, unique, conflict := 0, true, false
	for i := 1; i < len(updates); i++ {
		switch {
		case head[i].version > head[best].version:
			best, unique = i, true
		case head[i].version == head[best].version && !contract.Equal(updates[i], updates[best]):
			unique = false
		}
		conflict = conflict || !contract.Equal(updates[0], updates[i])
	}
	if !conflict {
		return Result{Winner: 0, Merge: contract.MergeResult{Status: contract.MergeNotApplicable}}, nil
	}
	if !unique {
		r := Result{Winner: -1, Merge: contract.MergeResult{Status: contract.MergeManual}}
		if head[0].state == contract.Active {
			r.Freeze = contract.ManualCheck
		}
		return r, refusal.New(refusal.MergeManualRequired, "version %d of %s has two contents", head[best].version, head[0].id)
	}
	if faults := contract.Validate(head[best].kind, updates[best]); len(faults) > 0 {
		return Result{}, faults
	}
	strategy := HigherVersion
	return Result{Winner: best, Merge: contract.MergeResult{Status: contract.Merged, Strategy: &strategy}}, nil
}

type head struct {
	id      string
	kind    contract.Kind
	state   contract.State
	version int64
}

func heads(updates []any) ([]head, error) {
	list := make([]head, len(updates))
	for i, u := range updates {
		o, _ := u.(map[string]any)
		list[i].id, _ = o["id"].(string)
		kind, _ := o["kind"].(string)
		state, _ := o["state"].(string)
		list[i].kind, list[i].state = contract.Kind(kind), contract.State(state)
		number, _ := o["version"].(json.Number)
		if f, err := number.Float64(); err == nil { // 2 and 2.0 are one version
			list[i].version = int64(f)
		}
		if list[i].id != list[0].id || list[i].kind != list[0].kind {
			return nil, refusal.New(refusal.MergeNotSameContract, "%s %s and %s %s", list[0].kind, list[0].id, list[i].kind, list[i].id)
		}
	}
	return list, nil
}

// Evidence compares a stored Evidence with others of its id: the same content
// is a duplicate and a success, any other is refused.
func Evidence(stored any, others ...any) error {
	for _, o := range others {
		if !contract.Equal(stored, o) {
			return immutable("/id", "the id is taken by other content")
		}
	}
	return nil
}

func immutable(path, text string) error {
	return refusal.At(refusal.EvidenceImmutable, path, "%s", text)
}

// Version judges the version of a write with different content against the
// stored one. A larger step than one is taken.
func Version(stored, written int64) error {
	switch {
	case written == stored:
		return refusal.At(refusal.ContractVersionConflict, "/version", "version %d is stored with other content", stored)
	case written < stored:
		return refusal.At(refusal.ContractVersionStale, "/version", "version %d is older than the stored %d", written, stored)
	}
	return nil
}
