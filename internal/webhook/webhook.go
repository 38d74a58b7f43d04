// Package webhook brings events to the subscribers (docs/spec/contracts.md
// §20.4).
//
// What is to be delivered, what was, and what may be tried next is in the store:
// a delivery is repeated for ever, and within one chain the next event goes out
// only after the one before was acknowledged. This package only carries. It
// calls nobody inside the network the service runs in unless the configuration
// says so, and finds that out on the address it connects to, not on a name.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Config is what a Courier needs. Store, Addresses and Log are demanded.
type Config struct {
	Store     pipeline.Store
	Addresses *Addresses
	Log       *slog.Logger

	// Node names the process, so that one of several carries for a webhook.
	Node string
	// Pulse is how often the courier looks for work; 200 ms when it is 0.
	Pulse time.Duration
	// Limit is how long a subscriber may take; 10 s when it is 0.
	Limit time.Duration
}

// Courier carries. New makes it.
type Courier struct {
	conf   Config
	client *http.Client

	mu   sync.Mutex // guards busy
	busy map[string]bool
}

const (
	many     = 64               // deliveries planned and carried at once, for one webhook
	parallel = 8                // of them under way at the same time
	lease    = 60 * time.Second // how long a node may be silent before another takes over
	first    = time.Second      // the wait after the first failed attempt
	longest  = time.Hour
)

// New is a courier.
func New(conf Config) *Courier {
	if conf.Pulse == 0 {
		conf.Pulse = 200 * time.Millisecond
	}
	if conf.Limit == 0 {
		conf.Limit = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: conf.Limit, ControlContext: conf.Addresses.control}
	return &Courier{conf: conf, busy: map[string]bool{}, client: &http.Client{
		Timeout: conf.Limit,
		// A redirect could lead anywhere, with the signature in its hands.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, // a proxy would connect where we do not look
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return dialer.DialContext(withHost(ctx, address), network, address)
			},
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: parallel, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: conf.Limit, ResponseHeaderTimeout: conf.Limit, MaxResponseHeaderBytes: 64 << 10,
		},
	}}
}

// Wait is how long a delivery rests after so many failed attempts.
func Wait(attempts int64) time.Duration {
	if attempts < 1 {
		return 0
	}
	if attempts > 12 {
		return longest
	}
	return min(longest, first<<(attempts-1))
}

// Run carries until ctx ends, and returns when what was under way has ended.
func (c *Courier) Run(ctx context.Context) error {
	defer c.client.CloseIdleConnections()
	var under sync.WaitGroup
	defer under.Wait()
	tick := time.NewTicker(c.conf.Pulse)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := c.start(ctx, &under); err != nil && ctx.Err() == nil {
			c.conf.Log.WarnContext(ctx, "webhooks", slog.String("error", err.Error()))
		}
	}
}

// Round carries what is due now, once, and waits for it.
func (c *Courier) Round(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	return c.start(ctx, &under)
}

// start begins a turn for every webhook that has something to be carried and no
// turn under way: one that is slow holds up nobody else.
func (c *Courier) start(ctx context.Context, under *sync.WaitGroup) error {
	var hooks []*pipeline.Webhook
	err := c.conf.Store.View(ctx, func(r pipeline.Reader) error {
		hooks = nil
		all, err := r.Webhooks(pipeline.Page{})
		if err != nil {
			return err
		}
		_, last, err := r.EventRange()
		if err != nil {
			return err
		}
		for _, w := range all {
			if !w.Enabled {
				continue
			}
			due, err := r.Due(w.ID, 1)
			if err != nil {
				return err
			}
			if w.Cursor < last || len(due) > 0 {
				hooks = append(hooks, w)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range hooks {
		if !c.take(w.ID) {
			continue
		}
		under.Go(func() {
			defer c.leave(w.ID)
			if err := c.turn(ctx, w.ID); err != nil && ctx.Err() == nil {
				c.conf.Log.WarnContext(ctx, "webhook", slog.String("webhook_id", w.ID), slog.String("error", err.Error()))
			}
		})
	}
	return nil
}

func (c *Courier) take(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[id] {
		return false
	}
	c.busy[id] = true
	return true
}

func (c *Courier) leave(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, id)
}

// turn plans and carries one batch for one webhook.
func (c *Courier) turn(ctx context.Context, id string) error {
	var hook *pipeline.Webhook
	var due []pipeline.Delivery
	key := "webhook:" + id
	held := false
	err := c.conf.Store.Update(ctx, func(tx pipeline.Tx) (err error) {
		hook, due, held = nil, nil, false
		locks, err := tx.Locks(key)
		if err != nil {
			return err
		}
		l := locks[0]
		if l.Holder != "" && l.Holder != c.conf.Node && tx.Now().Sub(l.HeartbeatAt) < lease {
			return nil
		}
		if hook, err = tx.Webhook(id); err != nil {
			return err
		}
		if _, err = tx.Plan(id, many); err != nil {
			return err
		}
		if due, err = tx.Due(id, many); err != nil || len(due) == 0 {
			return err
		}
		held = true
		l.Token, l.Holder, l.AcquiredAt, l.HeartbeatAt = l.Token+1, c.conf.Node, tx.Now(), tx.Now()
		return tx.PutLock(l)
	})
	if err != nil || !held {
		return ignoreGone(err)
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, d := range due {
		g.Go(func() error { return c.carry(ctx, hook, d) })
	}
	err = g.Wait()
	release := c.conf.Store.Update(context.WithoutCancel(ctx), func(tx pipeline.Tx) error {
		locks, err := tx.Locks(key)
		if err != nil || locks[0].Holder != c.conf.Node {
			return err
		}
		locks[0].Holder = ""
		return tx.PutLock(locks[0])
	})
	return errors.Join(ignoreGone(err), release)
}

// ignoreGone takes a webhook that was deleted meanwhile for what it is.
func ignoreGone(err error) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// carry makes one attempt and records it.
func (c *Courier) carry(ctx context.Context, hook *pipeline.Webhook, d pipeline.Delivery) error {
	var body []byte
	err := c.conf.Store.View(ctx, func(r pipeline.Reader) error {
		e, err := r.Event(d.EventID)
		if err != nil {
			return err
		}
		body, err = e.MarshalJSON()
		return err
	})
	if err != nil {
		return err
	}
	status, failure := c.send(ctx, hook, d.EventID, body)
	if ctx.Err() != nil {
		return nil // it was not the subscriber's fault; the next start tries again
	}
	return c.conf.Store.Update(context.WithoutCancel(ctx), func(tx pipeline.Tx) error {
		d := d
		d.Attempts++
		d.LastStatus, d.LastError = status, failure
		switch failure {
		case "":
			d.Status, d.DeliveredAt, d.NextAt = pipeline.DeliveryDelivered, tx.Now(), time.Time{}
		default:
			d.NextAt = tx.Now().Add(Wait(d.Attempts))
		}
		if status == http.StatusGone {
			w, err := tx.Webhook(hook.ID)
			if err != nil {
				return err
			}
			w.Enabled = false
			if err := tx.UpdateWebhook(w); err != nil {
				return err
			}
		}
		return tx.UpdateDelivery(d)
	})
}

// send makes one request. The failure is "" when the subscriber acknowledged.
func (c *Courier) send(ctx context.Context, hook *pipeline.Webhook, id string, body []byte) (status int, failure string) {
	if err := c.conf.Addresses.Check(hook.URL); err != nil {
		return 0, "the address is forbidden"
	}
	ctx, cancel := context.WithTimeout(ctx, c.conf.Limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, strings.NewReader(string(body)))
	if err != nil {
		return 0, "the URL does not read"
	}
	now := time.Now()
	stamp := strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	r.Header.Set("User-Agent", "plimsoll")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", stamp)
	signatures := Signature(hook.Secret, id, stamp, body)
	if len(hook.OldSecret) > 0 && now.Before(hook.OldSecretUntil) {
		signatures += " " + Signature(hook.OldSecret, id, stamp, body)
	}
	r.Header.Set("webhook-signature", signatures)
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, reason(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer.StatusCode, "answered " + strconv.Itoa(answer.StatusCode)
	}
	return answer.StatusCode, ""
}

// Signature is what webhook-signature holds for one secret.
func Signature(secret []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = io.WriteString(mac, id+"."+timestamp+".") // never fails
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// reason is why nobody answered, without the URL: its path may hold a secret.
func reason(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, errForbidden):
		return "the address is forbidden"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return "the request did not come through"
}
