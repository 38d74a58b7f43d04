package api

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Webhook is a subscriber. Secret is there when it was just made.
type Webhook struct {
	ID        string        `json:"id"`
	URL       string        `json:"url" format:"uri"`
	Types     []event.Type  `json:"types" doc:"Empty: all."`
	Subjects  []contract.ID `json:"subjects" doc:"Empty: all."`
	Enabled   bool          `json:"enabled"`
	CreatedAt string        `json:"createdAt" format:"date-time"`
	UpdatedAt string        `json:"updatedAt" format:"date-time"`
	Secret    string        `json:"secret,omitempty" doc:"Shown once."`
}

func showWebhook(w *pipeline.Webhook) (Webhook, string) {
	return Webhook{
		ID: w.ID, URL: w.URL, Types: append([]event.Type{}, w.Types...), Subjects: append([]contract.ID{}, w.Subjects...),
		Enabled: w.Enabled, CreatedAt: stamp(w.CreatedAt), UpdatedAt: stamp(w.UpdatedAt),
	}, quoted(w.Tag())
}

func viewWebhook(w *pipeline.Webhook) Webhook {
	view, _ := showWebhook(w)
	return view
}

// showWebhookSecret leaves the secret out of the answer that is kept: it is
// shown once, and a repetition under the same key is a second time.
func showWebhookSecret(w *pipeline.Secret[*pipeline.Webhook], kept bool) answer {
	view, etag := showWebhook(w.Of)
	if !kept {
		view.Secret = w.Secret
	}
	return answer{body: view, etag: etag}
}

// byName is the parameter of what has an id that is no contract's.
type byName struct {
	ID string `path:"id"`
}

func webhookList(s *pipeline.Service) endpoint {
	return list("webhook.list", func(ctx context.Context, by pipeline.Caller, _ *none, page pipeline.Page) ([]*pipeline.Webhook, error) {
		return s.WebhookList(ctx, by, page)
	}, viewWebhook, func(w *pipeline.Webhook) pipeline.Mark { return pipeline.Mark{At: w.UpdatedAt, ID: w.ID} })
}

func webhookCreate(s *pipeline.Service) endpoint {
	type body struct {
		URL      string         `json:"url" format:"uri"`
		Types    *[]event.Type  `json:"types,omitempty"`
		Subjects *[]contract.ID `json:"subjects,omitempty"`
	}
	return actAs("webhook.create", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *body) (*pipeline.Secret[*pipeline.Webhook], error) {
		return s.WebhookCreate(ctx, by, pipeline.WebhookArgs{URL: &b.URL, Types: b.Types, Subjects: b.Subjects})
	}, showWebhookSecret, typed[Webhook]())
}

func webhookGet(s *pipeline.Service) endpoint {
	return act("webhook.get", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*pipeline.Webhook, error) {
		return s.WebhookGet(ctx, by, p.ID)
	}, showWebhook)
}

func webhookEdit(s *pipeline.Service) endpoint {
	type body struct {
		URL      *string        `json:"url,omitempty" format:"uri"`
		Types    *[]event.Type  `json:"types,omitempty"`
		Subjects *[]contract.ID `json:"subjects,omitempty"`
		Enabled  *bool          `json:"enabled,omitempty"`
	}
	return act("webhook.edit", mergeMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (*pipeline.Webhook, error) {
		return s.WebhookEdit(ctx, by, pipeline.WebhookArgs{ID: p.ID, URL: b.URL, Types: b.Types, Subjects: b.Subjects, Enabled: b.Enabled})
	}, showWebhook)
}

func webhookDelete(s *pipeline.Service) endpoint {
	return actAs("webhook.delete", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (none, error) {
		return none{}, s.WebhookDelete(ctx, by, p.ID)
	}, nothing[none], types{})
}

func webhookRotate(s *pipeline.Service) endpoint {
	return actAs("webhook.rotate", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*pipeline.Secret[*pipeline.Webhook], error) {
		return s.WebhookRotate(ctx, by, p.ID)
	}, showWebhookSecret, typed[Webhook]())
}

func webhookTest(s *pipeline.Service) endpoint {
	return actAs("webhook.test", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (none, error) {
		return none{}, s.WebhookTest(ctx, by, p.ID)
	}, nothing[none], types{})
}

func webhookReplay(s *pipeline.Service) endpoint {
	type body struct {
		After int64 `json:"after" doc:"The position to deliver again from behind."`
	}
	return actAs("webhook.replay", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byName, b *body) (none, error) {
		return none{}, s.WebhookReplay(ctx, by, pipeline.ReplayArgs{ID: p.ID, After: b.After})
	}, nothing[none], types{})
}

// Delivery is one event on its way to one webhook.
type Delivery struct {
	Position    int64                   `json:"position"`
	EventID     string                  `json:"eventId"`
	Status      pipeline.DeliveryStatus `json:"status" enum:"pending,delivered"`
	Attempts    int64                   `json:"attempts"`
	NextAt      string                  `json:"nextAt,omitempty" format:"date-time"`
	LastStatus  int                     `json:"lastStatus,omitempty" doc:"Of the last answer; absent when there was none."`
	LastError   string                  `json:"lastError,omitempty"`
	DeliveredAt string                  `json:"deliveredAt,omitempty" format:"date-time"`
}

func deliveryList(s *pipeline.Service) endpoint {
	type parameters struct {
		byName
		Status []pipeline.DeliveryStatus `query:"status"`
	}
	return positioned("delivery.list", func(ctx context.Context, by pipeline.Caller, p *parameters, behind int64, limit int) ([]pipeline.Delivery, error) {
		return s.DeliveryList(ctx, by, pipeline.DeliveryFilter{Webhook: p.ID, Statuses: p.Status}, behind, limit)
	}, func(d pipeline.Delivery) Delivery {
		return Delivery{
			Position: d.Position, EventID: d.EventID, Status: d.Status, Attempts: d.Attempts, NextAt: stamp(d.NextAt),
			LastStatus: d.LastStatus, LastError: d.LastError, DeliveredAt: stamp(d.DeliveredAt),
		}
	}, func(d pipeline.Delivery) int64 { return d.Position })
}
