package api

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// Lock is a lock that somebody holds.
type Lock struct {
	Key         string           `json:"key"`
	Holder      string           `json:"holder" doc:"A run or a lock id."`
	ActorID     contract.ActorID `json:"actorId,omitempty"`
	AcquiredAt  string           `json:"acquiredAt" format:"date-time"`
	HeartbeatAt string           `json:"heartbeatAt" format:"date-time"`
}

func lockList(s *pipeline.Service) endpoint {
	type parameters struct {
		Key    []string `query:"key"`
		Holder []string `query:"holder"`
	}
	// Locks are in the order of their keys: the place in the list is a key.
	return list("lock.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]pipeline.Lock, error) {
		return s.LockList(ctx, pipeline.LockFilter{Keys: p.Key, Holders: p.Holder}, page)
	}, func(l pipeline.Lock) Lock {
		return Lock{Key: l.Key, Holder: l.Holder, ActorID: l.Actor, AcquiredAt: stamp(l.AcquiredAt), HeartbeatAt: stamp(l.HeartbeatAt)}
	}, func(l pipeline.Lock) pipeline.Mark { return pipeline.Mark{ID: l.Key} })
}

// Acquired is locks that are held under one id.
type Acquired struct {
	LockID      string      `json:"lockId"`
	Locks       []LockToken `json:"locks"`
	LockedUntil string      `json:"lockedUntil" format:"date-time"`
}

// LockToken is the fencing token of one key.
type LockToken struct {
	Key   string `json:"key"`
	Token int64  `json:"token"`
}

func viewAcquired(a *pipeline.Acquired) Acquired {
	view := Acquired{LockID: a.LockID, Locks: []LockToken{}, LockedUntil: stamp(a.LockedUntil)}
	for i, key := range a.Keys {
		view.Locks = append(view.Locks, LockToken{key, a.Tokens[i]})
	}
	return view
}

func lockAcquire(s *pipeline.Service) endpoint {
	type body struct {
		Keys []string `json:"keys" minItems:"1" maxItems:"100"`
	}
	return actAs("lock.acquire", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*pipeline.Acquired, error) {
		return s.LockAcquire(ctx, by, pipeline.AcquireArgs{Keys: b.Keys})
	}, func(a *pipeline.Acquired, _ bool) answer {
		return answer{status: repeated(a.Again), body: viewAcquired(a)}
	}, typed[Acquired]())
}

type byLock struct {
	LockID string `path:"lockId"`
}

func lockHeartbeat(s *pipeline.Service) endpoint {
	return act("lock.heartbeat", noMedia, func(ctx context.Context, by pipeline.Caller, p *byLock, _ *none) (*pipeline.Acquired, error) {
		return s.LockHeartbeat(ctx, by, p.LockID)
	}, func(a *pipeline.Acquired) (Acquired, string) { return viewAcquired(a), "" })
}

func lockRelease(s *pipeline.Service) endpoint {
	return actAs("lock.release", noMedia, func(ctx context.Context, by pipeline.Caller, p *byLock, _ *none) (none, error) {
		return none{}, s.LockRelease(ctx, by, p.LockID)
	}, nothing[none], types{})
}
