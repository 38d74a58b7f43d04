package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// Person is an actor that a new service begins with.
type Person struct {
	ID    contract.ActorID
	Type  contract.ActorType
	Roles contract.RoleSet
	Name  string // as people say it; may be ""
}

// Made is an actor with its token, which is shown once.
type Made struct {
	Person
	Token   string
	Expires time.Time
}

// Setup makes the database, the key that signs the audit log, and the first
// actors. A database that has actors is left alone: who is in it makes others.
// The first of the people who is a human admin registers the rest.
func Setup(ctx context.Context, conf Config, people []Person, valid time.Duration) (_ []Made, err error) {
	const op = "server.Setup"
	first, err := checkPeople(people)
	if err != nil {
		return nil, err
	}
	path, err := conf.keyFile()
	if err != nil {
		return nil, err
	}
	if err := makeKey(path, conf.AuditOrigin); err != nil {
		return nil, err
	}
	s, err := New(ctx, conf, Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	there, err := s.service.ActorList(ctx, pipeline.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, fault.E(op, fault.Conflict, "the database has actors already", nil).
			WithHint("an admin makes further ones: plimsoll actor create")
	}
	if err := s.service.Bootstrap(ctx, pipeline.Actor{ID: first.ID, Roles: first.Roles, Name: first.Name}); err != nil {
		return nil, err
	}
	by := pipeline.Caller{Actor: first.ID, Role: contract.Admin}
	made := make([]Made, 0, len(people))
	for _, p := range people {
		if p.ID != first.ID {
			roles := []string{}
			for _, r := range p.Roles.List() {
				roles = append(roles, string(r))
			}
			if _, err := s.service.ActorCreate(ctx, by, pipeline.ActorArgs{ID: p.ID, Type: p.Type, Roles: roles, Name: p.Name}); err != nil {
				return nil, err
			}
		}
		token, err := s.service.TokenCreate(ctx, by, pipeline.TokenArgs{
			Actor: p.ID, Scopes: scopes(p), ExpiresAt: time.Now().Add(valid), Name: "init",
		})
		if err != nil {
			return nil, err
		}
		made = append(made, Made{Person: p, Token: token.Secret, Expires: token.Of.ExpiresAt})
	}
	return made, nil
}

// scopes is what the first token of an actor allows: people may do everything
// their roles let them, agents carry out and decide nothing.
func scopes(p Person) []string {
	list := []operation.Scope{operation.Read, operation.Write, operation.Execute}
	if p.Type == contract.Human {
		list = append(list, operation.Decide, operation.Audit)
		if p.Roles.Has(contract.Admin) {
			list = append(list, operation.Administer, operation.Metrics)
		}
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return names
}

// checkPeople answers the first human admin among people.
func checkPeople(people []Person) (Person, error) {
	const op = "server.Setup"
	var first *Person
	seen := map[contract.ActorID]bool{}
	for i, p := range people {
		switch {
		case seen[p.ID] || p.ID == "" || p.ID == contract.PolicyEngineActor || p.ID == "orchestrator":
			return Person{}, fault.E(op, fault.Invalid, fmt.Sprintf("the actor id %q is empty or taken", p.ID), nil)
		case !p.Type.Valid():
			return Person{}, fault.E(op, fault.Invalid, fmt.Sprintf("%q is no type of actor", p.Type), nil).WithHint("human, agent or system")
		}
		seen[p.ID] = true
		if first == nil && p.Type == contract.Human && p.Roles.Has(contract.Admin) {
			first = &people[i]
		}
	}
	if first == nil {
		return Person{}, fault.E(op, fault.Invalid, "nobody of the first actors is a human admin", nil).
			WithHint("--actor NAME:human:admin,...")
	}
	return *first, nil
}

// ParsePerson reads "alice:human:requester,admin".
func ParsePerson(text string) (Person, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return Person{}, fault.E("server.ParsePerson", fault.Invalid, fmt.Sprintf("%q is no actor", text), nil).
			WithHint("name it as NAME:human|agent:ROLE,ROLE")
	}
	roles, err := contract.ParseRoles(strings.Split(parts[2], ","))
	if err != nil {
		return Person{}, fault.E("server.ParsePerson", fault.Invalid, text, err)
	}
	return Person{ID: contract.ActorID(parts[0]), Type: contract.ActorType(parts[1]), Roles: roles}, nil
}

// makeKey makes the key pair of the audit log, unless it is there. The public
// half lies beside it, for whoever checks a copy.
func makeKey(path, origin string) error {
	const op = "server.Setup"
	private, public, err := auditlog.NewKey(rand.Reader, origin)
	if err != nil {
		return fault.E(op, fault.Invalid, "audit.origin "+origin+" is no name of a log", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fault.E(op, fault.Unavailable, "make the folder of the key", err)
	}
	for _, f := range []struct {
		path, text string
		mode       fs.FileMode
	}{{path, private, 0o600}, {path + ".pub", public, 0o644}} {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
		if errors.Is(err, fs.ErrExist) {
			return nil // both are there, or the private one that must not be lost
		}
		if err != nil {
			return fault.E(op, fault.Unavailable, "make the key", err)
		}
		_, err = fmt.Fprintln(file, f.text)
		if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
			return fault.E(op, fault.Unavailable, "write the key", err)
		}
	}
	return nil
}
