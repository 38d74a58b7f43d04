package pipeline

import (
	"context"
	"maps"
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// Edits of Drafts, and updates that compete (docs/spec/contracts.md §1.8, §13).

// fixed is the members no edit may touch (§1.8).
var fixed = []string{"id", "kind", "createdAt", "schemaVersion", "state", "updatedAt", "creator", "intentId", "requestedCapabilitiesSnapshot", "ownerRole"}

// ContractEdit changes the content of a Draft, in place (§1.8).
func (s *Service) ContractEdit(ctx context.Context, by Caller, a EditArgs) (*Shown, error) {
	return do(ctx, s, by, "contract.edit", func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		if err := x.plainValue("", a.Patch); err != nil {
			return nil, err
		}
		c, err := x.edited(a)
		if err != nil {
			return nil, err
		}
		h := c.Document.Head()
		change := merge.Content
		for _, name := range slices.Sorted(maps.Keys(a.Patch)) {
			if slices.Contains(fixed, name) {
				change = merge.Change(name)
			}
		}
		next, text, err := x.patched(c, a)
		if err != nil {
			return nil, err
		}
		err = merge.Edit(merge.Write{Kind: h.Kind, State: h.State, Change: change, Role: by.Role, Stored: h.Version, Written: a.Version})
		if refusal.CodeOf(err) == refusal.ContractVersionConflict {
			return nil, x.compete(c, text, err)
		}
		if err != nil {
			return nil, err
		}
		if d, ok := c.Document.(*contract.Intent); ok && by.Role == contract.Requester && d.Creator != by.Actor {
			return nil, role.Refuse(by.Role, "edit somebody else's intent")
		}
		if err := x.rules(c, next); err != nil {
			return nil, err
		}
		return x.replace(c, next, text)
	})
}

// edited is the row an edit is for: the Draft of the id where there is one,
// because that is the version people edit.
func (x *session) edited(a EditArgs) (*Contract, error) {
	if _, err := x.resolvedFor(a.ID); err != nil {
		return nil, err
	}
	c := x.w.row(Ref{ID: a.ID, Version: x.current(a.ID)})
	x.about(c)
	return c, x.matches(c.Tag())
}

// resolvedFor is resolved without the precondition, which is of the Draft.
func (x *session) resolvedFor(id contract.ID) (*Contract, error) {
	match := x.by.Match
	x.by.Match = ""
	c, err := x.resolved(id)
	x.by.Match = match
	return c, err
}

// current is the version an edit of an id is for.
func (x *session) current(id contract.ID) int64 {
	rows := x.w.versions(id)
	for _, c := range slices.Backward(rows) {
		if stateOf(c) == contract.Draft {
			return c.Ref().Version
		}
	}
	return rows[len(rows)-1].Ref().Version
}

// patched is the document after a merge patch (RFC 7396), as its schema takes it.
func (x *session) patched(c *Contract, a EditArgs) (contract.Document, []byte, error) {
	v, err := contract.Parse(c.Text)
	if err != nil {
		return nil, nil, err
	}
	merged, _ := patch(v, a.Patch).(map[string]any)
	merged["version"], merged["updatedAt"] = number(a.Version), x.at().String()
	d, err := contract.DecodeValue(merged)
	if err != nil {
		return nil, nil, err
	}
	return d, contract.CanonicalValue(merged), nil
}

func patch(target, change any) any {
	o, ok := change.(map[string]any)
	if !ok {
		return change
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for k, v := range o {
		if v == nil {
			delete(t, k)
			continue
		}
		t[k] = patch(t[k], v)
	}
	return t
}

// rules is what a document says wrong beyond its schema.
func (x *session) rules(c *Contract, d contract.Document) error {
	faults := document.Alone(d)
	if t, ok := d.(*contract.TaskSeed); ok {
		faults = append(faults, document.TaskSeed(t, x.w.root(c))...)
	}
	return faults.Err()
}

// replace stores a new content in place: a new round of activation begins.
func (x *session) replace(c *Contract, d contract.Document, text []byte) (*Shown, error) {
	if err := x.free(c.Ref().ID); err != nil {
		return nil, err
	}
	from := c.Ref().Version
	c.Document, c.Text = d, text
	if err := x.ReplaceContract(c, from); err != nil {
		return nil, err
	}
	if signals, ok := x.w.d.Stated[from]; ok && d.Head().Kind == contract.KindIntent {
		delete(x.w.d.Stated, from)
		x.w.d.Stated[c.Ref().Version] = signals
	}
	if x.w.chain.Version == from && d.Head().Kind == contract.KindIntent {
		x.w.chain.Version = c.Ref().Version
	}
	delete(x.w.d.Conflicts, c.Ref().ID)
	x.about(c)
	if err := x.policyVote(c); err != nil {
		return nil, err
	}
	return x.w.shown(c), nil
}

// conflicts bounds how many competing updates of a contract are kept.
const conflicts = 8

// compete keeps an update that competes with the stored one under the same
// version, for a person to choose (§13); the refusal stands.
func (x *session) compete(c *Contract, text []byte, refused error) error {
	w, id := x.w, c.Ref().ID
	list := w.d.Conflicts[id]
	if len(list) == 0 {
		list = []Conflict{{Digest: contract.ContentDigest(c.Document), Text: c.Text}}
	}
	d, err := contract.Decode(text)
	if err != nil {
		return err
	}
	if own := contract.ContentDigest(d); !slices.ContainsFunc(list, func(k Conflict) bool { return k.Digest == own }) && len(list) < conflicts {
		if w.d.Conflicts == nil {
			w.d.Conflicts = map[contract.ID][]Conflict{}
		}
		w.d.Conflicts[id] = append(list, Conflict{Digest: own, Text: text})
	}
	x.kept = refused
	return nil
}

// MergeResolve chooses one of the updates that compete (§13).
func (s *Service) MergeResolve(ctx context.Context, by Caller, a ResolveArgs) (*Shown, error) {
	return do(ctx, s, by, "merge.resolve", func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		c, err := x.exactly(a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if err := role.Permit(by.Role, contract.RolesOf(contract.ProjectLead, contract.Admin), "choose between updates"); err != nil {
			return nil, err
		}
		x.rec.Digest = a.Chosen
		list := x.w.d.Conflicts[a.ID]
		if stateOf(c) == contract.Archived {
			return nil, merge.Edit(merge.Write{Kind: c.Document.Head().Kind, State: contract.Archived})
		}
		i := slices.IndexFunc(list, func(k Conflict) bool { return k.Digest == a.Chosen })
		if i < 0 {
			return nil, missing("no update of %s has this digest", a.ID)
		}
		delete(x.w.d.Conflicts, a.ID)
		if i == 0 {
			return x.w.shown(c), nil // the stored one stands
		}
		return x.adopt(c, list[i].Text)
	})
}

// adopt stores the chosen content under the next version.
func (x *session) adopt(c *Contract, text []byte) (*Shown, error) {
	v, err := contract.Parse(text)
	if err != nil {
		return nil, err
	}
	o, _ := v.(map[string]any)
	o["version"], o["updatedAt"] = number(c.Ref().Version+1), x.at().String()
	d, err := contract.DecodeValue(o)
	if err != nil {
		return nil, err
	}
	if stateOf(c) != contract.Draft {
		return nil, merge.Edit(merge.Write{Kind: d.Head().Kind, State: stateOf(c), Change: merge.Content, Role: contract.Admin})
	}
	if err := x.rules(c, d); err != nil {
		return nil, err
	}
	return x.replace(c, d, contract.CanonicalValue(o))
}
