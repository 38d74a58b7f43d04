package pipeline

import (
	"context"
	"encoding/json"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/merge"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// IntentCreate raises an intent, as a Draft.
func (s *Service) IntentCreate(ctx context.Context, by Caller, a IntentArgs) (*Shown, error) {
	return do(ctx, s, by, "intent.create", func(x *session) (*Shown, error) { return x.newIntent(a, nil) })
}

// newIntent is a new intent with its chain, as a part of the path that a request
// started; nil begins one.
func (x *session) newIntent(a IntentArgs, asked *Asked) (*Shown, error) {
	if err := x.holding(); err != nil {
		return nil, err
	}
	id, err := x.NextID(contract.KindIntent)
	if err != nil {
		return nil, err
	}
	signals, err := stated(a.Signals)
	if err != nil {
		return nil, err
	}
	c, err := x.intentOf(id, 1, a)
	if err != nil {
		return nil, err
	}
	chain := &Chain{ID: id, Version: 1, Repository: x.s.conf.Repository, CreatedAt: x.Now(), UpdatedAt: x.Now()}
	if asked != nil {
		chain.Correlation = asked.Request
	}
	if err := x.CreateChain(chain); err != nil {
		return nil, err
	}
	if err := x.open(id); err != nil {
		return nil, err
	}
	x.w.d.Asked = asked
	return x.raise(c, signals)
}

// IntentRevise adds the next version of an intent, as a Draft (§1.8).
func (s *Service) IntentRevise(ctx context.Context, by Caller, id contract.ID, a IntentArgs) (*Shown, error) {
	return do(ctx, s, by, "intent.revise", func(x *session) (*Shown, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		if _, err := x.resolved(id); err != nil {
			return nil, err
		}
		signals, err := stated(a.Signals)
		if err != nil {
			return nil, err
		}
		rows := x.w.versions(id)
		if len(rows) == 0 || id.Kind() != contract.KindIntent {
			return nil, missing("%s is no intent", id)
		}
		states := make([]contract.State, len(rows))
		for i, c := range rows {
			states[i] = stateOf(c)
		}
		c, err := x.intentOf(id, rows[len(rows)-1].Ref().Version+1, a)
		if err != nil {
			return nil, err
		}
		if err := role.Permit(by.Role, contract.RolesOf(contract.Requester, contract.Admin), "revise an intent"); err != nil {
			return nil, err
		}
		if err := merge.Revise(states); err != nil {
			return nil, err
		}
		return x.raise(c, signals)
	})
}

// intentOf is the row of an intent that asks for a. The values are checked by
// the schema, as those of a document from anywhere.
func (x *session) intentOf(id contract.ID, version int64, a IntentArgs) (*Contract, error) {
	if err := x.plain("/intent", a.Intent); err != nil {
		return nil, err
	}
	capabilities := make([]any, len(a.RequestedCapabilities))
	for i, name := range a.RequestedCapabilities {
		capabilities[i] = name
	}
	at := x.at().String()
	v := map[string]any{
		"schemaVersion": contract.SchemaVersion, "id": string(id), "kind": string(contract.KindIntent), "state": string(contract.Draft),
		"version": json.Number(strconv.FormatInt(version, 10)), "createdAt": at, "updatedAt": at,
		"intent": a.Intent, "creator": string(x.by.Actor), "priority": a.Priority, "requestedCapabilities": capabilities,
	}
	d, err := contract.DecodeValue(v)
	if err != nil {
		return nil, err
	}
	c := &Contract{Document: d, Text: contract.CanonicalValue(v), Chain: id}
	x.about(c)
	return c, nil
}

// raise stores a Draft of an intent with the signals stated with it.
func (x *session) raise(c *Contract, signals risk.Signals) (*Shown, error) {
	if err := document.Alone(c.Document).Err(); err != nil {
		return nil, err
	}
	if err := x.create(x.actor, c, state.Event{}, state.Snapshot{}, nil); err != nil {
		return nil, err
	}
	if signals != 0 {
		if x.w.d.Stated == nil {
			x.w.d.Stated = map[int64]risk.Signals{}
		}
		x.w.d.Stated[c.Ref().Version] = signals
	}
	x.rec.To = string(contract.Draft)
	return x.w.shown(c), nil
}

func stated(named map[string]bool) (risk.Signals, error) {
	signals, err := risk.ParseSignals(named)
	if err != nil {
		return 0, fault.E("pipeline.IntentCreate", fault.Invalid, "read the signals stated with the intent", err)
	}
	return signals, nil
}

// begun is what follows when an intent becomes Active: its version is under way
// from now on, the chain enters Plan, and the TaskSeed is generated (§7, §3.1).
func (x *session) begun(c *Contract) error {
	w := x.w
	v := c.Ref().Version
	w.d = details{Asked: w.d.Asked, Stated: w.d.Stated, Declared: w.d.Stated[v], Tip: w.d.Tip, Conflicts: w.d.Conflicts, Series: w.d.Series}
	w.chain.Version, w.chain.Phase = v, Phase("Plan")
	w.chain.FailedRuns, w.chain.Returns = 0, 0
	w.chain.BaseCommit, w.chain.HeadCommit, w.chain.DiffHash = w.d.Tip, w.d.Tip, ""
	x.note(x.orchestrator(), "phase.step", c, event.Record{To: "Plan"})
	return x.generateFrom(c, "")
}

// ChainList is a page of chains.
func (s *Service) ChainList(ctx context.Context, f ChainFilter, p Page) ([]*Chain, error) {
	return view(ctx, s, func(r Reader) ([]*Chain, error) { return r.Chains(f, p) })
}

// ChainGet is one chain with its contracts.
func (s *Service) ChainGet(ctx context.Context, id contract.ID) (*ChainShown, error) {
	return view(ctx, s, func(r Reader) (*ChainShown, error) {
		w, err := load(r, &s.conf, id)
		if err != nil {
			return nil, err
		}
		out := &ChainShown{Chain: w.chain, Contracts: make([]*Shown, len(w.rows))}
		for i, c := range w.rows {
			out.Contracts[i] = w.shown(c)
			if c == w.intentRow() {
				out.Intent = out.Contracts[i]
			}
		}
		return out, nil
	})
}
