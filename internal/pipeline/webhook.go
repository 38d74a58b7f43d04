package pipeline

import (
	"context"
	"encoding/base64"
	"time"

	"plimsoll.dev/internal/pipeline/refusal"
)

// Subscribers (docs/spec/contracts.md §20.4). Who calls them is an adapter: it
// asks the store for what is due and says what became of it.

// rotation is how long both secrets sign after a rotation.
const rotation = 24 * time.Hour

// WebhookList is a page of subscribers.
func (s *Service) WebhookList(ctx context.Context, by Caller, p Page) ([]*Webhook, error) {
	return administered(ctx, s, by, "webhook.list", func(r Reader) ([]*Webhook, error) { return r.Webhooks(p) })
}

// WebhookGet is one subscriber.
func (s *Service) WebhookGet(ctx context.Context, by Caller, id string) (*Webhook, error) {
	return administered(ctx, s, by, "webhook.get", func(r Reader) (*Webhook, error) {
		w, err := r.Webhook(id)
		return found(w, err, "the webhook %s is unknown", id)
	})
}

// DeliveryList is the deliveries to a webhook, newest event first.
func (s *Service) DeliveryList(ctx context.Context, by Caller, f DeliveryFilter, behind int64, limit int) ([]Delivery, error) {
	return administered(ctx, s, by, "delivery.list", func(r Reader) ([]Delivery, error) {
		w, err := r.Webhook(f.Webhook)
		if _, err := found(w, err, "the webhook %s is unknown", f.Webhook); err != nil {
			return nil, err
		}
		return r.Deliveries(f, behind, limit)
	})
}

// administered is a view for an admin.
func administered[T any](ctx context.Context, s *Service, by Caller, id string, fn func(Reader) (T, error)) (T, error) {
	return seen(ctx, s, by, id, func(r Reader) (T, error) {
		admin, err := isAdmin(r, by)
		if err == nil && !admin {
			err = refuseRole(by.Role, "see the webhooks")
		}
		if err != nil {
			var none T
			return none, err
		}
		return fn(r)
	})
}

// WebhookCreate adds a subscriber. It gets what happens from now on.
func (s *Service) WebhookCreate(ctx context.Context, by Caller, a WebhookArgs) (*Secret[*Webhook], error) {
	raw, id := s.conf.Secret(), s.conf.NewID("wh")
	return do(ctx, s, by, "webhook.create", func(x *session) (*Secret[*Webhook], error) {
		x.rec.Cause = id
		if err := x.administers("subscribe"); err != nil {
			return nil, err
		}
		if a.URL == nil {
			return nil, malformed("/url", "a webhook has an address")
		}
		_, last, err := x.EventRange()
		if err != nil {
			return nil, err
		}
		w := &Webhook{ID: id, Enabled: true, Cursor: last, CreatedAt: x.Now(), Secret: raw[:]}
		if err := s.described(w, a, x.Now()); err != nil {
			return nil, err
		}
		return &Secret[*Webhook]{Of: w, Secret: webhookSecret(raw)}, x.CreateWebhook(w)
	})
}

// webhookSecret is the form the receivers' libraries take.
func webhookSecret(raw [32]byte) string { return "whsec_" + base64.StdEncoding.EncodeToString(raw[:]) }

// described writes the description of a subscriber, whose address is checked
// when it is stored and again on every connection.
func (s *Service) described(w *Webhook, a WebhookArgs, now time.Time) error {
	if a.URL != nil {
		if s.conf.Address != nil {
			if err := s.conf.Address(*a.URL); err != nil {
				return refusal.New(refusal.WebhookAddressForbidden, "%v", err)
			}
		}
		w.URL = *a.URL
	}
	if a.Types != nil {
		for _, t := range *a.Types {
			if !t.Valid() {
				return malformed("/types", "%q is no event", t)
			}
		}
		w.Types = *a.Types
	}
	if a.Subjects != nil {
		for _, id := range *a.Subjects {
			if !id.Valid() {
				return malformed("/subjects", "%q is no contract id", id)
			}
		}
		w.Subjects = *a.Subjects
	}
	if a.Enabled != nil {
		w.Enabled = *a.Enabled
	}
	w.UpdatedAt = now
	return nil
}

// hook is a subscriber that an admin changes.
func (x *session) hook(id, what string) (*Webhook, error) {
	x.rec.Cause = id
	if err := x.administers(what); err != nil {
		return nil, err
	}
	w, err := x.Webhook(id)
	if w, err = found(w, err, "the webhook %s is unknown", id); err != nil {
		return nil, err
	}
	return w, x.matches(w.Tag())
}

// WebhookEdit changes a subscriber.
func (s *Service) WebhookEdit(ctx context.Context, by Caller, a WebhookArgs) (*Webhook, error) {
	return do(ctx, s, by, "webhook.edit", func(x *session) (*Webhook, error) {
		w, err := x.hook(a.ID, "change a subscription")
		if err != nil {
			return nil, err
		}
		if err := s.described(w, a, x.Now()); err != nil {
			return nil, err
		}
		return w, x.UpdateWebhook(w)
	})
}

// WebhookDelete removes a subscriber with its deliveries.
func (s *Service) WebhookDelete(ctx context.Context, by Caller, id string) error {
	return act(ctx, s, by, "webhook.delete", func(x *session) error {
		w, err := x.hook(id, "end a subscription")
		if err != nil {
			return err
		}
		return x.DeleteWebhook(id, w.Revision)
	})
}

// WebhookRotate gives a subscriber a new secret. The old one signs too for a day.
func (s *Service) WebhookRotate(ctx context.Context, by Caller, id string) (*Secret[*Webhook], error) {
	raw := s.conf.Secret()
	return do(ctx, s, by, "webhook.rotate", func(x *session) (*Secret[*Webhook], error) {
		w, err := x.hook(id, "rotate a secret")
		if err != nil {
			return nil, err
		}
		w.OldSecret, w.OldSecretUntil, w.Secret, w.UpdatedAt = w.Secret, x.Now().Add(rotation), raw[:], x.Now()
		return &Secret[*Webhook]{Of: w, Secret: webhookSecret(raw)}, x.UpdateWebhook(w)
	})
}

// pingArgs is a test delivery that an admin asked for.
type pingArgs struct {
	Webhook string `json:"webhook"`
}

// WebhookTest has the adapter send a test delivery.
func (s *Service) WebhookTest(ctx context.Context, by Caller, id string) error {
	return act(ctx, s, by, "webhook.test", func(x *session) error {
		if _, err := x.hook(id, "test a subscription"); err != nil {
			return err
		}
		return x.enqueue(JobPing, "", "", pingArgs{Webhook: id}, time.Time{})
	})
}

// WebhookReplay plans the deliveries behind a position again.
func (s *Service) WebhookReplay(ctx context.Context, by Caller, a ReplayArgs) error {
	return act(ctx, s, by, "webhook.replay", func(x *session) error {
		if _, err := x.hook(a.ID, "replay events"); err != nil {
			return err
		}
		if err := kept(x, a.After); err != nil {
			return err
		}
		return x.Rewind(a.ID, a.After)
	})
}

// kept refuses a position whose next event is gone.
func kept(r Reader, after int64) error {
	first, _, err := r.EventRange()
	if err != nil {
		return err
	}
	if after < first-1 {
		return refusal.New(refusal.EventSequenceGone, "the events up to %d are no longer kept", first-1)
	}
	return nil
}
