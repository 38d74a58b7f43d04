package request

import (
	"context"
	"errors"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/request/constitution"
)

// ConfigShown is the configuration in use (docs/spec/circle.md §2). Every actor
// may read it.
type ConfigShown struct {
	SHA256              string
	Registry            string // its version
	ConstitutionVersion string
	PromptSHA256        string // of the orchestrator's own, assembled
	Locked              bool
	Files               []string
	Locales             []constitution.Locale
	Economy             constitution.Economy
	Limits              constitution.Limits
	Quorum              constitution.Quorum
	Ceilings            []constitution.Ceiling
	Model               string // "" when none is configured
}

// WorkerShown is a worker as the registry has it, with its prompt's version.
type WorkerShown struct {
	constitution.Worker
	PromptVersion constitution.Version
	PromptSHA256  string
}

// ConfigGet is the configuration in use.
func (s *Service) ConfigGet(ctx context.Context, by pipeline.Caller) (*ConfigShown, error) {
	return view(ctx, s, by, func(Reader, *pipeline.Actor) (*ConfigShown, error) { return s.config(s.conf.Set.Set()) })
}

func (s *Service) config(set *constitution.Set) (*ConfigShown, error) {
	r := set.Registry()
	p, err := set.Assemble(constitution.Orchestrator)
	if err != nil {
		return nil, err
	}
	out := &ConfigShown{
		SHA256: set.SHA256(), Registry: r.Version, ConstitutionVersion: string(p.ConstitutionVersion()),
		PromptSHA256: p.SHA256(), Locked: set.Locked(), Files: set.Paths(),
		Locales: slices.Clone(r.Locales), Economy: r.Economy, Limits: r.Limits, Quorum: r.Quorum, Ceilings: slices.Clone(r.Ceilings),
	}
	if s.conf.Model != nil {
		out.Model = s.conf.Model.Name()
	}
	return out, nil
}

// ConfigFile is the text of a file of the configuration in use: every actor may
// read the constitution and the registry. NotFound: there is no such file.
func (s *Service) ConfigFile(ctx context.Context, by pipeline.Caller, name string) ([]byte, error) {
	return view(ctx, s, by, func(Reader, *pipeline.Actor) ([]byte, error) {
		text := s.conf.Set.Set().File(name)
		if text == nil {
			return nil, fault.E("request.ConfigFile", fault.NotFound, "the configuration has no such file", nil)
		}
		return text, nil
	})
}

// ConfigReload reads the configuration anew and puts it into use. When it is not
// sound the one in use stays; the error is constitution.Faults then. An admin
// does. Requests under way keep the plan they began with.
func (s *Service) ConfigReload(ctx context.Context, by pipeline.Caller) (*ConfigShown, error) {
	const op = "request.ConfigReload"
	// Whether the caller may is asked first, in a transaction: a refusal is audited.
	// A key is not kept: to read the same files twice does no harm.
	by.Once = pipeline.Once{}
	_, err := do(ctx, s, by, "config.reload", func(x *session) (struct{}, error) {
		x.about(ofConfig, "", "")
		x.quiet = true
		if !x.actor.Roles.Has(contract.Admin) {
			return struct{}{}, role.Refuse(x.by.Role, "reload the configuration")
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	if s.conf.Files == nil {
		return nil, fault.E(op, fault.Invalid, "the configuration is the one that is built in: there is nothing to reload", nil)
	}
	files, err := s.conf.Files()
	if err != nil {
		return nil, err
	}
	before := s.conf.Set.Set().SHA256()
	set, failed := s.conf.Set.Reload(files)
	err = s.own(context.WithoutCancel(ctx), "config.reload", func(x *session) error {
		x.rec.ActorID, x.rec.Role, x.quiet = string(by.Actor), string(by.Role), false
		x.about(ofConfig, "", "")
		x.rec.From = before
		if set != nil {
			x.rec.To = set.SHA256()
			return nil
		}
		x.quiet = true
		r := x.rec
		r.Success, r.ErrorCode, r.ErrorMessage = false, "config.invalid", "the configuration was not taken; the one in use stays"
		x.more = append(x.more, r)
		return nil
	})
	if failed != nil {
		return nil, errors.Join(failed, err)
	}
	if err != nil {
		return nil, err
	}
	return s.config(set)
}

// WorkerList is the thirteen workers of the configuration in use, by priority.
func (s *Service) WorkerList(ctx context.Context, by pipeline.Caller) ([]WorkerShown, error) {
	return view(ctx, s, by, func(Reader, *pipeline.Actor) ([]WorkerShown, error) {
		set := s.conf.Set.Set()
		list := []WorkerShown{}
		for _, w := range set.Registry().Workers {
			p, err := set.Assemble(w.ID)
			if err != nil {
				return nil, err
			}
			list = append(list, WorkerShown{Worker: w, PromptVersion: p.SubagentVersion(), PromptSHA256: p.SHA256()})
		}
		return list, nil
	})
}
