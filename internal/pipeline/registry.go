package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// The registry of actors and their tokens (docs/spec/contracts.md §20.1). An
// actor is made inactive and never deleted; of a token only its digest is kept.

// administers refuses whoever is no admin.
func (x *session) administers(what string) error {
	if err := x.holding(); err != nil {
		return err
	}
	return role.Permit(x.by.Role, contract.RolesOf(contract.Admin), what)
}

// ActorList is a page of the registry.
func (s *Service) ActorList(ctx context.Context, p Page) ([]*Actor, error) {
	return view(ctx, s, func(r Reader) ([]*Actor, error) { return r.Actors(p) })
}

// ActorGet is one actor, also an inactive one.
func (s *Service) ActorGet(ctx context.Context, id contract.ActorID) (*Actor, error) {
	return view(ctx, s, func(r Reader) (*Actor, error) {
		a, err := r.Actor(id)
		return found(a, err, "the actor %s is unknown", id)
	})
}

// ActorCreate registers an actor under an id that nobody has had.
func (s *Service) ActorCreate(ctx context.Context, by Caller, a ActorArgs) (*Actor, error) {
	return do(ctx, s, by, "actor.create", func(x *session) (*Actor, error) {
		x.rec.ID = string(a.ID)
		if err := x.administers("register actors"); err != nil {
			return nil, err
		}
		roles, err := namedRoles(a.Roles)
		if err != nil {
			return nil, err
		}
		if a.ID == "" || !a.Type.Valid() {
			return nil, malformed("", "an actor has an id and one of the three types")
		}
		if err := x.plain("/name", a.Name); err != nil {
			return nil, err
		}
		made := &Actor{
			ID: a.ID, Type: a.Type, Roles: roles, Name: a.Name, Active: true, CreatedAt: x.Now(), UpdatedAt: x.Now(),
		}
		if err := x.CreateActor(made); fault.KindOf(err) == fault.Conflict && err != nil {
			return nil, refusal.New(refusal.ActorIDTaken, "the id %s is in use", a.ID)
		} else if err != nil {
			return nil, err
		}
		x.rec.To = roles.String()
		return made, nil
	})
}

// Bootstrap registers the first actors of a service that has none: an admin, and
// the two the service acts as. It does nothing where there are actors.
func (s *Service) Bootstrap(ctx context.Context, admin Actor) error {
	return service(s.conf.Store.Update(ctx, func(tx Tx) error {
		list, err := tx.Actors(Page{Limit: 1})
		if err != nil || len(list) > 0 {
			return err
		}
		admin.Type, admin.Roles, admin.Active = contract.Human, admin.Roles.Union(contract.RolesOf(contract.Admin)), true
		for _, a := range []Actor{
			admin,
			{ID: s.conf.Orchestrator, Type: contract.System, Roles: contract.RolesOf(contract.Orchestrator), Active: true},
			{ID: contract.PolicyEngineActor, Type: contract.System, Roles: contract.RolesOf(contract.PolicyEngine), Active: true},
		} {
			a.CreatedAt, a.UpdatedAt = tx.Now(), tx.Now()
			if err := tx.CreateActor(&a); err != nil {
				return err
			}
			x := s.begin(tx, Caller{Actor: s.conf.Orchestrator, Role: contract.Orchestrator}, "actor.create")
			x.rec.ID, x.rec.To, x.rec.Success = string(a.ID), a.Roles.String(), true
			if err := tx.Record(x.rec); err != nil {
				return err
			}
		}
		return nil
	}))
}

// ActorEdit changes an actor. One active human admin always remains.
func (s *Service) ActorEdit(ctx context.Context, by Caller, a ActorEdit) (*Actor, error) {
	return do(ctx, s, by, "actor.edit", func(x *session) (*Actor, error) {
		x.rec.ID = string(a.ID)
		if err := x.administers("change actors"); err != nil {
			return nil, err
		}
		admins, err := x.Admins()
		if err != nil {
			return nil, err
		}
		actor, err := x.Actor(a.ID)
		if actor, err = found(actor, err, "the actor %s is unknown", a.ID); err != nil {
			return nil, err
		}
		if err := x.matches(actor.Tag()); err != nil {
			return nil, err
		}
		if a.Roles != nil {
			if actor.Roles, err = namedRoles(*a.Roles); err != nil {
				return nil, err
			}
		}
		if a.Active != nil {
			actor.Active = *a.Active
		}
		if a.Name != nil {
			if err := x.plain("/name", *a.Name); err != nil {
				return nil, err
			}
			actor.Name = *a.Name
		}
		stays := actor.Active && actor.Type == contract.Human && actor.Roles.Has(contract.Admin)
		if !stays && len(admins) == 1 && admins[0] == a.ID {
			return nil, refusal.New(refusal.ActorLastAdmin, "%s is the last active human admin", a.ID)
		}
		actor.UpdatedAt = x.Now()
		x.rec.To = actor.Roles.String()
		return actor, x.UpdateActor(actor)
	})
}

func namedRoles(names []string) (contract.RoleSet, error) {
	roles, err := contract.ParseRoles(names)
	if err != nil {
		return 0, refusal.New(refusal.RoleUnknown, "%v", err)
	}
	return roles, nil
}

// TokenList is a page of the tokens of an actor: of the caller's own, or for an
// admin of anybody's, and of all when none is named.
func (s *Service) TokenList(ctx context.Context, by Caller, actor contract.ActorID, p Page) ([]*Token, error) {
	return seen(ctx, s, by, "token.list", func(r Reader) ([]*Token, error) {
		admin, err := isAdmin(r, by)
		if err != nil {
			return nil, err
		}
		if !admin && actor != "" && actor != by.Actor {
			return nil, role.Refuse(by.Role, "see the tokens of "+string(actor))
		}
		if !admin {
			actor = by.Actor
		}
		return r.Tokens(actor, p)
	})
}

// isAdmin says whether the caller acts as an admin: under that role, or, naming
// none, as one who has it.
func isAdmin(r Reader, by Caller) (bool, error) {
	a, err := r.Actor(by.Actor)
	if err != nil {
		return false, err
	}
	return a.Active && a.Roles.Has(contract.Admin) && (by.Role == contract.Admin || by.Role == ""), nil
}

// TokenCreate makes a token. The secret is in the answer and nowhere else: an
// answer that is kept under a key is kept without it.
func (s *Service) TokenCreate(ctx context.Context, by Caller, a TokenArgs) (*Secret[*Token], error) {
	raw, id := s.conf.Secret(), s.conf.NewID("tok")
	return do(ctx, s, by, "token.create", func(x *session) (*Secret[*Token], error) {
		admin, err := isAdmin(x, by)
		if err != nil {
			return nil, err
		}
		if a.Actor == "" {
			a.Actor = by.Actor
		}
		x.rec.ID = string(a.Actor)
		if a.Actor != by.Actor && !admin {
			return nil, role.Refuse(by.Role, "make a token for "+string(a.Actor))
		}
		owner, err := x.Actor(a.Actor)
		if owner, err = found(owner, err, "the actor %s is unknown", a.Actor); err != nil {
			return nil, err
		}
		for _, name := range a.Scopes {
			if !operation.Scope(name).Valid() {
				return nil, malformed("/scopes", "%q is no scope", name)
			}
			if !admin && by.Scopes != nil && !slices.Contains(by.Scopes, name) {
				return nil, refusal.New(refusal.AuthScopeMissing, "the token in use does not have the scope %s", name)
			}
		}
		if len(a.Scopes) == 0 || !a.ExpiresAt.After(x.Now()) {
			return nil, malformed("", "a token has scopes and ends in the future")
		}
		if err := x.plain("/name", a.Name); err != nil {
			return nil, err
		}
		secret := tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
		t := &Token{
			ID: id, Actor: owner.ID, Hash: sha256.Sum256([]byte(secret)), Scopes: slices.Sorted(slices.Values(a.Scopes)), Name: a.Name,
			CreatedAt: x.Now(), ExpiresAt: a.ExpiresAt.UTC(),
		}
		x.rec.Cause, x.rec.To = t.ID, strings.Join(t.Scopes, " ")
		return &Secret[*Token]{Of: t, Secret: secret}, x.CreateToken(*t)
	})
}

// tokenPrefix makes a leaked token findable.
const tokenPrefix = "plm_"

// TokenRevoke ends a token.
func (s *Service) TokenRevoke(ctx context.Context, by Caller, id string) error {
	return act(ctx, s, by, "token.revoke", func(x *session) error {
		x.rec.Cause = id
		t, err := x.Token(id)
		if t, err = found(t, err, "the token %s is unknown", id); err != nil {
			return err
		}
		admin, err := isAdmin(x, by)
		if err != nil {
			return err
		}
		if t.Actor != by.Actor && !admin {
			return missing("the token %s is unknown", id) // whose it is, is nobody else's business
		}
		x.rec.ID = string(t.Actor)
		return x.RevokeToken(id)
	})
}

// Authenticate is who a token belongs to. An unknown, expired or revoked token
// and an inactive actor are told the same.
func (s *Service) Authenticate(ctx context.Context, secret string) (*Identity, error) {
	refused := refusal.New(refusal.AuthRequired, "the token is not valid")
	return view(ctx, s, func(r Reader) (*Identity, error) {
		t, err := r.TokenByHash(sha256.Sum256([]byte(secret)))
		if err != nil && fault.KindOf(err) == fault.NotFound {
			return nil, refused
		}
		if err != nil {
			return nil, err
		}
		if !t.RevokedAt.IsZero() || !r.Now().Before(t.ExpiresAt) {
			return nil, refused
		}
		a, err := r.Actor(t.Actor)
		if err != nil {
			return nil, err
		}
		if !a.Active {
			return nil, refused
		}
		return &Identity{Actor: a, Token: *t}, nil
	})
}

// Settings is the effective configuration.
func (s *Service) Settings() Settings {
	return Settings{
		Profile: s.conf.Profile, Options: s.conf.Options, Solo: s.conf.Solo, Deadlines: s.conf.Deadlines,
		MaxReturns: s.conf.MaxReturns, AutomaticTests: s.conf.AutomaticTests, AuditRetention: s.conf.AuditRetention, EventRetention: s.conf.EventRetention,
	}
}
