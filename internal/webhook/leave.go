package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// leaveType is what a subscriber gets when people of a circle have confirmed that
// a draft leaves to it. It is none of the seven events and has no place in the
// stream (docs/spec/circle.md §10).
const leaveType = "plimsoll.circle.bridge.v1"

// Leave brings a document to one subscriber. The id is that of the delivery: a
// repetition has the same. The error says that the subscriber did not take it;
// one that is gone or switched off takes nothing, and that is no error.
func (c *Courier) Leave(ctx context.Context, webhook, id, subject string, document json.RawMessage) error {
	var hook *pipeline.Webhook
	var now time.Time
	err := c.conf.Store.View(ctx, func(r pipeline.Reader) (err error) {
		now = r.Now()
		hook, err = r.Webhook(webhook)
		return err
	})
	if err != nil || !hook.Enabled {
		return ignoreGone(err)
	}
	data, err := contract.Parse(document)
	if err != nil {
		return fault.E("webhook.Leave", fault.Internal, "what leaves does not read", err)
	}
	body := canonical.UTF8.Append(nil, canonical.Object{
		{Key: "specversion", Value: "1.0"},
		{Key: "id", Value: id},
		{Key: "source", Value: "/agent-protocols/circle"},
		{Key: "type", Value: leaveType},
		{Key: "subject", Value: subject},
		{Key: "time", Value: now.UTC().Format(time.RFC3339Nano)},
		{Key: "datacontenttype", Value: "application/json"},
		{Key: "data", Value: data},
	})
	if _, failure := c.send(ctx, hook, id, body); failure != "" {
		return fmt.Errorf("deliver to %s: %s", hook.ID, failure)
	}
	return nil
}
