package api

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// Actor is an entry of the registry.
type Actor struct {
	ActorID   contract.ActorID   `json:"actorId"`
	Type      contract.ActorType `json:"type" enum:"human,agent,system"`
	Roles     []contract.Role    `json:"roles"`
	Name      string             `json:"name,omitempty"`
	Active    bool               `json:"active"`
	Revision  int64              `json:"revision"`
	CreatedAt string             `json:"createdAt" format:"date-time"`
	UpdatedAt string             `json:"updatedAt" format:"date-time"`
}

func showActor(a *pipeline.Actor) (Actor, string) {
	return Actor{
		ActorID: a.ID, Type: a.Type, Roles: a.Roles.List(), Name: a.Name, Active: a.Active, Revision: a.Revision,
		CreatedAt: stamp(a.CreatedAt), UpdatedAt: stamp(a.UpdatedAt),
	}, quoted(a.Tag())
}

func viewActor(a *pipeline.Actor) Actor {
	view, _ := showActor(a)
	return view
}

type byActor struct {
	ActorID contract.ActorID `path:"actorId"`
}

func actorList(s *pipeline.Service) endpoint {
	return list("actor.list", func(ctx context.Context, _ pipeline.Caller, _ *none, page pipeline.Page) ([]*pipeline.Actor, error) {
		return s.ActorList(ctx, page)
	}, viewActor, func(a *pipeline.Actor) pipeline.Mark { return pipeline.Mark{At: a.UpdatedAt, ID: string(a.ID)} })
}

func actorCreate(s *pipeline.Service) endpoint {
	type body struct {
		ActorID contract.ActorID   `json:"actorId"`
		Type    contract.ActorType `json:"type" enum:"human,agent,system"`
		Roles   []string           `json:"roles"`
		Name    string             `json:"name,omitempty"`
	}
	return act("actor.create", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*pipeline.Actor, error) {
		return s.ActorCreate(ctx, by, pipeline.ActorArgs{ID: b.ActorID, Type: b.Type, Roles: b.Roles, Name: b.Name})
	}, showActor)
}

func actorGet(s *pipeline.Service) endpoint {
	return read("actor.get", func(ctx context.Context, p *byActor) (*pipeline.Actor, error) { return s.ActorGet(ctx, p.ActorID) }, showActor)
}

func actorEdit(s *pipeline.Service) endpoint {
	type body struct {
		Roles  *[]string `json:"roles,omitempty"`
		Active *bool     `json:"active,omitempty"`
		Name   *string   `json:"name,omitempty"`
	}
	return act("actor.edit", mergeMedia, func(ctx context.Context, by pipeline.Caller, p *byActor, b *body) (*pipeline.Actor, error) {
		return s.ActorEdit(ctx, by, pipeline.ActorEdit{ID: p.ActorID, Roles: b.Roles, Active: b.Active, Name: b.Name})
	}, showActor)
}

// Token is a credential. Token itself is there when it was just made.
type Token struct {
	ID        string           `json:"id"`
	ActorID   contract.ActorID `json:"actorId"`
	Scopes    []string         `json:"scopes" enum:"read,write,decide,execute,audit,admin,metrics"`
	Name      string           `json:"name,omitempty"`
	CreatedAt string           `json:"createdAt" format:"date-time"`
	ExpiresAt string           `json:"expiresAt,omitempty" format:"date-time"`
	RevokedAt string           `json:"revokedAt,omitempty" format:"date-time"`
	Token     string           `json:"token,omitempty" doc:"Shown once."`
}

func viewToken(t *pipeline.Token) Token {
	return Token{
		ID: t.ID, ActorID: t.Actor, Scopes: append([]string{}, t.Scopes...), Name: t.Name, CreatedAt: stamp(t.CreatedAt),
		ExpiresAt: stamp(t.ExpiresAt), RevokedAt: stamp(t.RevokedAt),
	}
}

func tokenList(s *pipeline.Service) endpoint {
	type parameters struct {
		ActorID contract.ActorID `query:"actorId" doc:"An admin's view of somebody else's."`
	}
	return list("token.list", func(ctx context.Context, by pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Token, error) {
		return s.TokenList(ctx, by, p.ActorID, page)
	}, viewToken, func(t *pipeline.Token) pipeline.Mark { return pipeline.Mark{At: t.CreatedAt, ID: t.ID} })
}

func tokenCreate(s *pipeline.Service) endpoint {
	type body struct {
		ActorID   contract.ActorID `json:"actorId,omitempty" doc:"Your own when it is not given."`
		Scopes    []string         `json:"scopes"`
		ExpiresAt contractTime     `json:"expiresAt" format:"date-time"`
		Name      string           `json:"name,omitempty"`
	}
	return actAs("token.create", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*pipeline.Secret[*pipeline.Token], error) {
		return s.TokenCreate(ctx, by, pipeline.TokenArgs{Actor: b.ActorID, Scopes: b.Scopes, ExpiresAt: time.Time(b.ExpiresAt), Name: b.Name})
	}, func(t *pipeline.Secret[*pipeline.Token], kept bool) answer {
		view := viewToken(t.Of)
		if !kept { // as for webhooks: a repetition would be a second time
			view.Token = t.Secret
		}
		return answer{body: view}
	}, typed[Token]())
}

func tokenRevoke(s *pipeline.Service) endpoint {
	return actAs("token.revoke", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (none, error) {
		return none{}, s.TokenRevoke(ctx, by, p.ID)
	}, nothing[none], types{})
}
