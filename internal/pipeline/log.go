package pipeline

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// EvidenceList is a page of Evidence.
func (s *Service) EvidenceList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	f.Kinds = []contract.Kind{contract.KindEvidence}
	return s.ContractList(ctx, f, p)
}

// EvidenceIngest takes Evidence in from JSON Lines and says line by line what
// became of it (§10.2).
func (s *Service) EvidenceIngest(ctx context.Context, by Caller, text []byte) (*IngestResult, error) {
	return do(ctx, s, by, "evidence.ingest", func(x *session) (*IngestResult, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		may := contract.RolesOf(contract.Developer, contract.CIAgent, contract.QA, contract.Admin)
		if err := role.Permit(by.Role, may, "take Evidence in"); err != nil {
			return nil, err
		}
		in := &intake{x: x, chains: map[contract.ID]*work{}}
		report := ingest.Read(text, in, x.Now())
		if in.err != nil {
			return nil, in.err
		}
		for _, l := range report.Lines {
			if err := x.ingested(in, l); err != nil {
				return nil, err
			}
		}
		return &IngestResult{Report: report, Summary: report.Summary()}, nil
	})
}

// intake is what ingestion looks up. The first fault of the store ends it: a
// line must not be refused because the database was away.
type intake struct {
	x      *session
	chains map[contract.ID]*work
	err    error
}

// of is the chain of the TaskSeed an Evidence is about, nil when it is unknown.
func (in *intake) of(task contract.ID) *work {
	c, err := in.x.Contract(task)
	if err != nil {
		if fault.KindOf(err) != fault.NotFound && in.err == nil {
			in.err = err
		}
		return nil
	}
	if w := in.chains[c.Chain]; w != nil {
		return w
	}
	w, err := load(in.x, &in.x.s.conf, c.Chain)
	if err != nil && in.err == nil {
		in.err = err
	}
	in.chains[c.Chain] = w
	return w
}

// Evidence implements ingest.Store.
func (in *intake) Evidence(id contract.ID) ([]byte, bool) {
	c, err := in.x.Contract(id)
	if err != nil {
		if fault.KindOf(err) != fault.NotFound && in.err == nil {
			in.err = err
		}
		return nil, false
	}
	return c.Text, true
}

// Around implements ingest.Store.
func (in *intake) Around(e *contract.Evidence) document.Around {
	w := in.of(e.TaskSeedID)
	around := document.Around{
		TaskSeed: func(id contract.ID) (*contract.TaskSeed, bool) {
			if w == nil {
				return nil, false
			}
			return document0(w, id)
		},
		Actor: func(id contract.ActorID) bool {
			_, err := in.x.Actor(id)
			if err != nil && fault.KindOf(err) != fault.NotFound && in.err == nil {
				in.err = err
			}
			return err == nil
		},
		GateAsked: true,
	}
	if w == nil {
		return around
	}
	if t := w.taskRow(); t != nil && t.Ref().ID == e.TaskSeedID {
		around.Gate, around.Level = w.lastGate(), w.level(nil).Level
	}
	return around
}

// document0 is the TaskSeed an id resolves to.
func document0(w *work, id contract.ID) (*contract.TaskSeed, bool) {
	var best *contract.TaskSeed
	for _, c := range w.versions(id) {
		t, ok := c.Document.(*contract.TaskSeed)
		if ok && (best == nil || t.State == contract.Active || t.State == contract.Frozen || t.State == contract.Published || best.State == contract.Draft || best.State == contract.Revoked) {
			best = t
		}
	}
	return best, best != nil
}

// ingested stores an accepted line, and audits what was rewritten in it.
func (x *session) ingested(in *intake, l ingest.Line) error {
	if l.Status != ingest.Accepted {
		if l.Status == ingest.Refused {
			x.note(x.actor, "evidence.ingest", nil, event.Record{
				Kind: string(contract.KindEvidence), ID: string(l.ID), ErrorCode: string(l.Fault.Code), ErrorMessage: l.Fault.Message,
			})
		}
		return nil
	}
	w := in.of(l.Evidence.TaskSeedID)
	if in.err != nil {
		return in.err
	}
	task, _ := document0(w, l.Evidence.TaskSeedID)
	c := &Contract{Document: l.Evidence, Text: l.Text, Chain: w.chain.ID, Source: Ref{ID: task.ID, Version: task.Version}}
	was := x.w
	x.w = w
	err := x.create(x.actor, c, state.Event{}, state.Snapshot{}, nil)
	x.w = was
	if err != nil {
		return err
	}
	r := event.Record{To: string(contract.Published), TaskSeedID: string(task.ID)}
	if len(l.Normalised) > 0 {
		r.Cause = "normalised " + l.Normalised[0]
	}
	x.note(x.actor, "contract.create", c, r)
	// Ingested Evidence is keyed by its id alone (§4.4).
	key := generation.Key{Source: l.ID, Version: 1, Target: contract.KindEvidence}.String()
	return x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()})
}

// EventList is the events behind a position, ascending. Behind 0 it begins with
// the first that is kept.
func (s *Service) EventList(ctx context.Context, after int64, f EventFilter, limit int) ([]Event, error) {
	return view(ctx, s, func(r Reader) ([]Event, error) {
		if after != 0 {
			if err := kept(r, after); err != nil {
				return nil, err
			}
		}
		return r.Events(after, f, limit)
	})
}

// AuditList is the records of the audit log behind a position, ascending.
func (s *Service) AuditList(ctx context.Context, after int64, f AuditFilter, limit int) ([]AuditLine, error) {
	return view(ctx, s, func(r Reader) ([]AuditLine, error) { return r.Audit(after, f, limit) })
}

// AuditBack is the records before a position and behind floor, descending.
func (s *Service) AuditBack(ctx context.Context, before, floor int64, f AuditFilter, limit int) ([]AuditLine, error) {
	return view(ctx, s, func(r Reader) ([]AuditLine, error) { return r.AuditBack(before, floor, f, limit) })
}

// AuditSeal is where the audit log begins, and the signed note of it; at the
// origin there is none.
func (s *Service) AuditSeal(ctx context.Context) (head event.Head, note []byte, err error) {
	err = s.conf.Store.View(ctx, func(r Reader) (err error) {
		head, note, err = r.Seal()
		return err
	})
	return head, note, err
}

// AuditHead is how far the audit log has come, for a checkpoint.
func (s *Service) AuditHead(ctx context.Context) (event.Head, error) {
	return view(ctx, s, func(r Reader) (event.Head, error) { return r.AuditHead() })
}
