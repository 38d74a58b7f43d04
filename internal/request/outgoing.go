package request

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/worker"
)

// Probe is one measurement of the service, as Infra-Health reads it.
type Probe = worker.Probe

// BuiltIn is the thirteen engines that need no model. Whoever wires the service
// gets them here: nothing else reaches a worker.
func BuiltIn() map[constitution.AgentID]worker.Engine { return worker.Engines() }

// Outgoing is a confirmed draft on its way to one webhook.
type Outgoing struct {
	ID       string // of the delivery: a repetition has the same
	Webhook  string
	Subject  string // the artifact
	Document []byte
}

// Outgoing is what a JobSend brings, nil when nothing is to leave any more: only
// exactly the bytes that were confirmed do.
func (s *Service) Outgoing(ctx context.Context, a pipeline.Attempt) (*Outgoing, error) {
	pipeline.Traced(ctx, string(a.Chain)) // the request
	args, err := arguments[SendArgs](a)
	if err != nil {
		return nil, err
	}
	var out *Outgoing
	err = s.conf.Store.View(ctx, func(r Reader) error {
		out = nil
		at, err := r.Artifact(args.Artifact)
		if err != nil {
			return ignoreMissing(err)
		}
		if at.Status != artifact.Confirmed || at.ContentSHA256 != args.SHA256 {
			return fault.E("request.Outgoing", fault.Internal, "what was confirmed is no longer what would leave", nil)
		}
		out = &Outgoing{ID: args.ID, Webhook: args.Webhook, Subject: at.ID, Document: at.Content}
		return nil
	})
	return out, err
}
