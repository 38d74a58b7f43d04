package pipeline

import (
	"context"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// This file is the locks: those of runs, those a caller takes by itself, and
// those the service's own writes hold inside their transaction
// (docs/spec/contracts.md §12). Package lock has the rules, the store the rows.

// row is a stored lock as package lock has it.
func (l Lock) row() lock.Lock {
	return lock.Lock{Holder: lock.Holder(l.Holder), Token: l.Token, Beat: l.HeartbeatAt}
}

// one reads and locks the row of a key.
func (x *session) one(key lock.Key) (Lock, lock.Lock, error) {
	list, err := x.Locks(string(key))
	if err != nil {
		return Lock{}, lock.Lock{}, err
	}
	return list[0], list[0].row(), nil
}

// put writes the row after a change.
func (x *session) put(was Lock, next lock.Lock, by contract.ActorID) error {
	l := Lock{Key: was.Key, Token: next.Token, Holder: string(next.Holder), Actor: by, AcquiredAt: was.AcquiredAt, HeartbeatAt: next.Beat}
	if next.Token != was.Token {
		l.AcquiredAt = x.Now()
	}
	if next.Holder == "" {
		l.Actor = ""
	}
	return x.PutLock(l)
}

// free refuses a write of the service while somebody else holds the contract.
// The run whose result is being written holds it rightly.
func (x *session) free(id contract.ID) error {
	_, row, err := x.one(lock.Contract(id))
	if err != nil {
		return err
	}
	return row.Free(lock.Holder(x.run), x.Now())
}

// preempt takes a lock over for a stopping write: the run that held it is lost.
func (x *session) preempt(key lock.Key) error {
	l, row, err := x.one(key)
	if err != nil || !row.Held(x.Now()) {
		return err
	}
	holder := l.Holder
	if err := x.put(l, row.Preempt(x.Now()), ""); err != nil {
		return err
	}
	if holder == x.run {
		return nil
	}
	return x.lose(holder)
}

// lose ends the run that held a lock, when it was one.
func (x *session) lose(holder string) error {
	run, err := x.Run(holder)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil // a caller's own lock
	}
	if err != nil {
		return err
	}
	if !run.Alive() || run.Chain != x.w.chain.ID {
		return nil
	}
	return x.endLost(run)
}

// take takes the lock of a run's TaskSeed for it. A lock that may be broken is
// taken from the run that had it, which is lost.
func (x *session) take(key lock.Key, holder string, by contract.ActorID) (lock.Lock, error) {
	l, row, err := x.one(key)
	if err != nil {
		return row, err
	}
	next, broken, err := row.Acquire(lock.Holder(holder), x.Now())
	if err != nil {
		return row, err
	}
	if broken {
		x.note(x.actor, "lock.break", nil, event.Record{Cause: string(key), From: l.Holder, To: holder})
	}
	return next, x.put(l, next, by)
}

// LockList is a page of the locks that somebody holds, and that have not run
// out (§12). The service's own, under which it works off its lists, are nobody's.
func (s *Service) LockList(ctx context.Context, f LockFilter, p Page) ([]Lock, error) {
	return view(ctx, s, func(r Reader) ([]Lock, error) {
		f.Prefixes, f.Since = lock.Prefixes(), r.Now().Add(time.Microsecond-lock.TTL)
		return r.LockList(f, p)
	})
}

// LockAcquire takes locks for the caller, all or none.
func (s *Service) LockAcquire(ctx context.Context, by Caller, a AcquireArgs) (*Acquired, error) {
	id := s.conf.NewID("lock")
	return do(ctx, s, by, "lock.acquire", func(x *session) (*Acquired, error) {
		if err := x.holding(); err != nil {
			return nil, err
		}
		may := contract.RolesOf(contract.Developer, contract.CIAgent, contract.QA, contract.ReleaseManager, contract.Admin)
		if err := role.Permit(by.Role, may, "take locks"); err != nil {
			return nil, err
		}
		keys := make([]lock.Key, len(a.Keys))
		for i, text := range a.Keys {
			k, err := lock.ParseKey(text)
			if err != nil {
				return nil, err
			}
			keys[i] = k
		}
		keys = lock.Sorted(keys)
		x.rec.Cause = joined(keys)
		return x.acquire(id, keys)
	})
}

func joined(keys []lock.Key) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = string(k)
	}
	return strings.Join(texts, " ")
}

// acquire takes the keys under a new lock id, or under the one of the caller
// that holds exactly these already.
func (x *session) acquire(id string, keys []lock.Key) (*Acquired, error) {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = string(k)
	}
	rows, err := x.Locks(texts...)
	if err != nil {
		return nil, err
	}
	again := len(rows) > 0
	for _, l := range rows {
		again = again && l.Holder != "" && l.Holder == rows[0].Holder && l.Actor == x.by.Actor && !lock.Expired(x.Now().Sub(l.HeartbeatAt))
	}
	if again {
		// A run is no lock of a caller: its actor may not stretch it from here.
		if _, err := x.Run(rows[0].Holder); fault.KindOf(err) == fault.NotFound && err != nil {
			id = rows[0].Holder
		} else if err != nil {
			return nil, err
		}
	}
	out := &Acquired{LockID: id, Keys: texts, Again: again && id == rows[0].Holder}
	for _, l := range rows {
		next, broken, err := l.row().Acquire(lock.Holder(id), x.Now())
		if err != nil {
			return nil, err
		}
		if broken {
			if err := x.broken(l, id); err != nil {
				return nil, err
			}
		}
		if err := x.put(l, next, x.by.Actor); err != nil {
			return nil, err
		}
		out.Tokens = append(out.Tokens, next.Token)
		out.LockedUntil = next.Until()
	}
	return out, nil
}

// broken is what follows when a caller breaks a lock: the run that had it is
// lost with all that comes of that.
func (x *session) broken(l Lock, by string) error {
	x.note(x.actor, "lock.break", nil, event.Record{Cause: l.Key, From: l.Holder, To: by})
	run, err := x.Run(l.Holder)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if x.w == nil {
		if err := x.open(run.Chain); err != nil {
			return err
		}
	}
	if x.w.chain.ID != run.Chain {
		// Its own transaction ends it: one use case works on one chain.
		return x.enqueue(JobLost, run.ExecutionID+"/"+later(x.Now()), run.Chain, runArgs{Chain: run.Chain, Execution: run.ExecutionID}, x.Now())
	}
	return x.endLost(run)
}

// LockHeartbeat keeps locks.
func (s *Service) LockHeartbeat(ctx context.Context, by Caller, id string) (*Acquired, error) {
	return do(ctx, s, by, "lock.heartbeat", func(x *session) (*Acquired, error) {
		out := &Acquired{LockID: id, Again: true}
		err := x.own(id, func(l Lock, row lock.Lock) error {
			next, err := row.Renew(lock.Holder(id), true, x.Now())
			if err != nil {
				return err
			}
			out.Keys, out.Tokens, out.LockedUntil = append(out.Keys, l.Key), append(out.Tokens, next.Token), next.Until()
			return x.put(l, next, by.Actor)
		})
		return out, err
	})
}

// LockRelease gives locks back.
func (s *Service) LockRelease(ctx context.Context, by Caller, id string) error {
	return act(ctx, s, by, "lock.release", func(x *session) error {
		return x.own(id, func(l Lock, row lock.Lock) error {
			next, err := row.Release(lock.Holder(id), true, x.Now())
			if err != nil {
				return err
			}
			return x.put(l, next, "")
		})
	})
}

// own goes over the keys of a caller's own lock. A run is addressed by its own
// operations and not by these.
func (x *session) own(id string, each func(Lock, lock.Lock) error) error {
	x.rec.Cause = id
	holds, err := x.Holding(id)
	if err != nil {
		return err
	}
	if _, err := x.Run(id); err == nil || len(holds) == 0 || holds[0].Actor != x.by.Actor {
		return refusal.New(refusal.LockNotHolder, "%s is no lock of %s", id, x.by.Actor)
	} else if fault.KindOf(err) != fault.NotFound {
		return err
	}
	keys := make([]string, len(holds))
	for i, h := range holds {
		keys[i] = h.Key
	}
	rows, err := x.Locks(keys...)
	if err != nil {
		return err
	}
	for _, l := range rows {
		if err := each(l, l.row()); err != nil {
			return err
		}
	}
	return nil
}
