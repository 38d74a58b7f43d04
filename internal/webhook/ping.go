package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// pingType is what a subscriber is sent that was asked to be tried. It is none
// of the seven events and has no place in the stream: a subscriber acknowledges
// unknown types (docs/spec/contracts.md §3.3).
const pingType = "plimsoll.webhook.test.v1"

// Ping is the job of a test: one request, whose answer is an audit matter of
// nobody. It is not repeated: whoever asked looks at their subscriber and asks
// again.
func (c *Courier) Ping(ctx context.Context, a pipeline.Attempt) error {
	var args struct {
		Webhook string `json:"webhook"`
	}
	if err := json.Unmarshal(a.Args, &args); err != nil || args.Webhook == "" {
		return fault.E("webhook.Ping", fault.Invalid, "the arguments of the test do not read", err)
	}
	var hook *pipeline.Webhook
	var now time.Time
	err := c.conf.Store.View(ctx, func(r pipeline.Reader) (err error) {
		now = r.Now()
		hook, err = r.Webhook(args.Webhook)
		return err
	})
	if err != nil {
		return ignoreGone(err)
	}
	id := pingType + "/" + hook.ID + "/" + strconv.FormatInt(now.UnixMilli(), 10)
	body := canonical.UTF8.Append(nil, canonical.Object{
		{Key: "specversion", Value: "1.0"},
		{Key: "id", Value: id},
		{Key: "source", Value: "/agent-protocols/orchestrator"},
		{Key: "type", Value: pingType},
		{Key: "subject", Value: hook.ID},
		{Key: "time", Value: now.UTC().Format(time.RFC3339Nano)},
		{Key: "datacontenttype", Value: "application/json"},
		{Key: "data", Value: canonical.Object{}},
	})
	if _, failure := c.send(ctx, hook, id, body); failure != "" {
		return fmt.Errorf("test %s: %s", hook.ID, failure)
	}
	return nil
}
