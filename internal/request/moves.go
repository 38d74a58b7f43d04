package request

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/problem"
)

// What people do with artifacts (docs/spec/circle.md §5). Only people who are
// members at that instant move one.

// ArtifactShown is an artifact with what it waits for, as somebody who may see it
// sees it.
type ArtifactShown struct {
	*artifact.Artifact
	Owed []Owed
}

// Tag is the entity tag of an artifact.
func (a *ArtifactShown) Tag() string { return tag(a.ID, a.Revision) }

// MoveArgs names an artifact to be moved and, of a confirmation, the digest of
// what was seen.
type MoveArgs struct {
	ID     string
	SHA256 string
}

// ArtifactGet is the newest version of an artifact. NotFound: there is none, or
// the caller may not see it.
func (s *Service) ArtifactGet(ctx context.Context, by pipeline.Caller, id string) (*ArtifactShown, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) (*ArtifactShown, error) {
		found, err := readable(r, id, string(a.ID))
		if err != nil {
			return nil, err
		}
		pipeline.Traced(ctx, found.Provenance.RequestID)
		return s.showing(r, found)
	})
}

// ArtifactList is a page of the artifacts of the caller's circles that they may
// see, newest change first. A page may hold fewer than were asked for, also none,
// and not be the last: behind is where the next one begins, its zero value the
// end.
func (s *Service) ArtifactList(ctx context.Context, by pipeline.Caller, f ArtifactFilter, p pipeline.Page) (list []*ArtifactShown, behind pipeline.Mark, err error) {
	list, err = view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]*ArtifactShown, error) {
		ids, err := among(r, string(a.ID), f.Circles)
		out := []*ArtifactShown{}
		behind = pipeline.Mark{}
		if err != nil || len(ids) == 0 {
			return out, err
		}
		f.Circles = ids
		all, err := r.Artifacts(f, p)
		if err != nil {
			return nil, err
		}
		known, err := recall(r, all)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			seen, err := seenBy(known, one, string(a.ID))
			if err != nil {
				return nil, err
			}
			if !seen || hidden(one) {
				continue
			}
			shown, err := s.showing(known, one)
			if err != nil {
				return nil, err
			}
			out = append(out, shown)
		}
		if p.Limit > 0 && len(all) == p.Limit {
			last := all[len(all)-1]
			behind = pipeline.Mark{At: last.UpdatedAt, ID: last.ID}
		}
		return out, nil
	})
	return list, behind, err
}

// among is the circles of a list that the caller is a member of; all of theirs
// when the list is empty.
func among(r Reader, actor string, list []string) ([]string, error) {
	all, err := mine(r, actor, "")
	if err != nil || len(list) == 0 {
		return all, err
	}
	for _, id := range list {
		if !slices.Contains(all, id) {
			return nil, problem.New(problem.MemberRequired, "only a member of the circle can see what is in it")
		}
	}
	return list, nil
}

// hidden says whether an artifact is of a request that was stopped: nothing of it
// is kept.
func hidden(a *artifact.Artifact) bool {
	return slices.ContainsFunc(a.Blocks, func(c envelope.Condition) bool { return c == envelope.SecretsDetected })
}

// readable is an artifact that an actor may see.
func readable(r reader, id, actor string) (*artifact.Artifact, error) {
	a, err := r.Artifact(id)
	if err != nil {
		return nil, err
	}
	seen, err := seenBy(r, a, actor)
	if err != nil {
		return nil, err
	}
	if !seen || hidden(a) {
		return nil, fault.E("request.Artifact", fault.NotFound, "there is no artifact with the id", nil)
	}
	return a, nil
}

func (s *Service) showing(r reader, a *artifact.Artifact) (*ArtifactShown, error) {
	out := &ArtifactShown{Artifact: a, Owed: []Owed{}}
	switch {
	case a.Status == artifact.WaitingForConsent && a.WaitsFor == "":
		owed, err := owedConsents(r, s.conf.Set.Set().Registry().Quorum, a)
		out.Owed = owed
		return out, err
	case a.Status == artifact.NeedsConfirmation:
		out.Owed = append(out.Owed, Owed{Kind: OwedConfirmation, ArtifactID: a.ID, SHA256: a.ContentSHA256})
	}
	return out, nil
}

// ArtifactConfirm lets an artifact take effect. The caller names the digest of
// what they saw. A decision about the repository becomes an intent contract, in
// Draft, whose creator is the caller, who needs the role requester for it; a
// bridge draft leaves, once; a note is kept (docs/spec/circle.md §§9, 10).
func (s *Service) ArtifactConfirm(ctx context.Context, by pipeline.Caller, a MoveArgs) (*ArtifactShown, error) {
	return s.move(ctx, by, "artifact.confirm", a, func(x *session, at *artifact.Artifact, roll circle.Roll) (artifact.Artifact, error) {
		st, err := x.standing(at)
		if err != nil {
			return *at, err
		}
		after, err := at.Confirmed(x.person(), roll, a.SHA256, st, x.Now())
		if err != nil {
			return after, err
		}
		return x.effects(after)
	})
}

// ArtifactDecline says no to an artifact, which stays as a draft.
func (s *Service) ArtifactDecline(ctx context.Context, by pipeline.Caller, a MoveArgs) (*ArtifactShown, error) {
	return s.move(ctx, by, "artifact.decline", a, func(x *session, at *artifact.Artifact, roll circle.Roll) (artifact.Artifact, error) {
		return at.Declined(x.person(), roll, x.Now())
	})
}

// ArtifactAdopt asks that a draft take effect: it waits for a confirmation then.
func (s *Service) ArtifactAdopt(ctx context.Context, by pipeline.Caller, a MoveArgs) (*ArtifactShown, error) {
	return s.move(ctx, by, "artifact.adopt", a, func(x *session, at *artifact.Artifact, roll circle.Roll) (artifact.Artifact, error) {
		return at.Adopted(x.person(), roll, x.Now())
	})
}

func (s *Service) move(ctx context.Context, by pipeline.Caller, action string, a MoveArgs,
	fn func(*session, *artifact.Artifact, circle.Roll) (artifact.Artifact, error),
) (*ArtifactShown, error) {
	return do(ctx, s, by, action, func(x *session) (*ArtifactShown, error) {
		at, roll, err := x.touched(a.ID)
		if err != nil {
			return nil, err
		}
		after, err := fn(x, at, roll)
		if err != nil {
			return nil, err
		}
		x.rec.From, x.rec.To, x.rec.Digest = string(at.Status), string(after.Status), at.ContentSHA256
		if err := x.UpdateArtifact(&after); err != nil {
			return nil, err
		}
		return x.s.showing(x, &after)
	})
}

// touched is an artifact that somebody acts on, and the roll of its circle.
func (x *session) touched(id string) (*artifact.Artifact, circle.Roll, error) {
	x.about(ofArtifact, "", "")
	a, err := readable(x, id, string(x.actor.ID))
	if err != nil {
		return nil, nil, err
	}
	x.about(ofArtifact, a.ID, a.Provenance.RequestID)
	x.rec.Version, x.rec.Cause = a.Version, provenance(a.Provenance.Origin)
	roll, err := x.Roll(a.Circle)
	if err != nil {
		return nil, nil, err
	}
	return a, roll, x.matches(tag(a.ID, a.Revision))
}

// standing is what the ledger says for an artifact, or for the one whose consents
// it waits for.
func (x *session) standing(a *artifact.Artifact) (artifact.Standing, error) {
	q := x.s.conf.Set.Set().Registry().Quorum
	if a.WaitsFor != "" {
		of, err := x.Artifact(a.WaitsFor)
		if err != nil {
			return artifact.Standing{}, err
		}
		a = of
	}
	st, _, err := stand(x, q, a)
	return st, err
}

// effects is what a confirmation lets happen, in the transaction of it.
func (x *session) effects(a artifact.Artifact) (artifact.Artifact, error) {
	var err error
	if a.Type == envelope.DecisionDraft {
		a.ContractID, err = x.decided(&a)
	}
	switch {
	case err != nil:
	case a.Type == envelope.BridgeDraft:
		err = x.sends(&a)
	case a.Type == envelope.MemoryNote:
		err = x.follows(&a)
	case acts(a.Type) || a.Type == envelope.ResearchNote:
		err = x.keep(&a, memory.OfArtifact)
	}
	return a, err
}

// decided is the id of the intent contract that a decision about the repository
// becomes, "" for another decision. The contract begins as a Draft: what activates
// it is the contracts' own approval (docs/spec/circle.md §9).
func (x *session) decided(a *artifact.Artifact) (string, error) {
	var content struct {
		Change *struct {
			Repository   string   `json:"repository"`
			Intent       string   `json:"intent"`
			Priority     string   `json:"priority"`
			Capabilities []string `json:"requested_capabilities"`
		} `json:"change"`
	}
	if err := json.Unmarshal(a.Content, &content); err != nil {
		return "", fault.E("request.decided", fault.Internal, "a decision does not read", err)
	}
	c := content.Change
	if c == nil {
		return "", nil
	}
	if x.s.conf.Repository != "" && c.Repository != x.s.conf.Repository {
		return "", problem.At(problem.ContentInvalid, "/content/change/repository", "the contracts here are about another repository")
	}
	capabilities, err := x.judged(a, c.Capabilities)
	if err != nil {
		return "", err
	}
	by := x.by
	by.Role, by.Once, by.Match = contract.Requester, pipeline.Once{}, ""
	made, err := x.s.conf.Contracts.IntentCreateWithin(x.Contracts(), by, pipeline.IntentArgs{
		Intent: c.Intent, Priority: c.Priority, RequestedCapabilities: capabilities,
		Asked: &pipeline.Asked{
			Request: a.Provenance.RequestID, Circle: a.Circle, Member: contract.ActorID(a.Owner), Artifact: a.ID, SHA256: a.ContentSHA256,
		},
	})
	if err != nil {
		return "", err
	}
	id := string(made.Ref().ID)
	x.note("artifact.contract", event.Record{Kind: ofArtifact, ID: a.ID, To: id, Cause: provenance(a.Provenance.Origin), Digest: a.ContentSHA256})
	return id, nil
}

// judged is the capabilities that the gate verdict of the same request found to be
// asked for; those of the decision itself where there is no verdict. What the
// decision asks for besides is asked for as well.
func (x *session) judged(a *artifact.Artifact, asked []string) ([]string, error) {
	list, err := x.ArtifactsOf(a.Provenance.RequestID)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(asked)
	for _, v := range list {
		var verdict struct {
			Capabilities []string `json:"requested_capabilities"`
		}
		if v.Type != envelope.GateVerdict || json.Unmarshal(v.Content, &verdict) != nil {
			continue
		}
		for _, name := range verdict.Capabilities {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// SendArgs is what a JobSend says: what is sent to which subscriber of the
// contracts. The receiver knows a repetition by the id.
type SendArgs struct {
	ID       string `json:"id"`
	Webhook  string `json:"webhook"`
	Artifact string `json:"artifact"`
	SHA256   string `json:"content_sha256"`
}

// sends has a confirmed draft leave, once: to each webhook among its recipients
// there is one job, in the transaction of the confirmation. Only a webhook of the
// contracts is called, which an admin has made: a recipient names its id or its
// address. A message or the text of a pull request is there to be taken away
// (docs/spec/circle.md §10).
func (x *session) sends(a *artifact.Artifact) error {
	var content struct {
		Channel    string `json:"channel"`
		Recipients []struct {
			ID string `json:"id"`
		} `json:"recipients"`
	}
	if err := json.Unmarshal(a.Content, &content); err != nil {
		return fault.E("request.sends", fault.Internal, "a bridge draft does not read", err)
	}
	if content.Channel != "webhook" {
		return nil
	}
	hooks, err := x.Contracts().Webhooks(pipeline.Page{})
	if err != nil {
		return err
	}
	for i, to := range content.Recipients {
		at := slices.IndexFunc(hooks, func(h *pipeline.Webhook) bool { return h.Enabled && (h.ID == to.ID || h.URL == to.ID) })
		if at < 0 {
			return problem.At(problem.ContentInvalid, "/content/recipients/"+number(i), "there is no webhook with the id or the address that is called")
		}
		hook := hooks[at]
		args := SendArgs{ID: a.ID + "/" + hook.ID, Webhook: hook.ID, Artifact: a.ID, SHA256: a.ContentSHA256}
		if err := x.enqueue(JobSend, args.ID, a.Provenance.RequestID, args, time.Time{}); err != nil {
			return err
		}
		x.note("artifact.send", event.Record{Kind: ofArtifact, ID: a.ID, To: hook.ID, Cause: provenance(a.Provenance.Origin), Digest: a.ContentSHA256})
	}
	return nil
}
