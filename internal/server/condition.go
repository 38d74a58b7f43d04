package server

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"plimsoll.dev/internal/console"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
)

// freshness is how old what people see of the service may be: however many look,
// it is measured no oftener.
const freshness = 2 * time.Second

// measureTime is the longest a measurement may take.
const measureTime = 3 * time.Second

// condition is the last measurement.
type condition struct {
	model *watched // nil without a model

	mu   sync.Mutex // guards last, and lets one measure at a time
	last *console.Condition
}

// measure says how the service does.
func (s *Server) measure(ctx context.Context) (*console.Condition, error) {
	c := &s.condition
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && time.Since(c.last.At) < freshness {
		return c.last, nil
	}
	// Whoever asked may leave: the next one takes what was measured.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), measureTime)
	defer cancel()
	now, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	c.last = now
	return now, nil
}

func (s *Server) look(ctx context.Context) (*console.Condition, error) {
	stored, err := s.store.Condition(ctx)
	if err != nil {
		return nil, err
	}
	loads, err := queue.Loads(ctx, s.read)
	if err != nil {
		return nil, err
	}
	c := &console.Condition{
		At: time.Now(), Webhooks: stored.Webhooks, Database: console.DatabaseSize{Kind: stored.Database, Size: stored.Size, Disk: -1},
		Events: console.EventRange{First: stored.FirstEvent, Last: stored.LastEvent}, Model: s.condition.model.seen(s.conf.ModelAPI),
	}
	for _, l := range loads {
		c.Jobs = append(c.Jobs, console.JobLoad{
			Kind: string(l.Kind), Waiting: l.Waiting, Running: l.Running, Again: l.Again, Later: l.Later, GivenUp: l.GivenUp, Oldest: l.Oldest, LastGone: l.LastGone,
		})
	}
	// Leases are counted on the clock of the database; people read them on ours.
	ahead := c.At.Sub(stored.At)
	for _, n := range stored.Nodes {
		c.Nodes = append(c.Nodes, console.NodeSeen{
			ID: n.ID, Version: n.Version, Started: n.Started.Add(ahead), Seen: n.Seen.Add(ahead), Here: n.ID == s.node,
		})
	}
	if path, alone := s.conf.file(); alone {
		c.Nodes = []console.NodeSeen{{ID: s.node, Version: s.options.Version, Started: s.started, Seen: c.At, Here: true}}
		if used, err := diskUsed(filepath.Dir(path)); err == nil {
			c.Database.Disk = used
		}
	} else {
		c.Clustered = true
	}
	for _, f := range stored.Failing {
		c.Failing = append(c.Failing, console.Subscriber{
			ID: f.Webhook, Host: hostOf(f.URL), Deliveries: f.Deliveries, Attempts: f.Attempts, LastStatus: f.LastStatus, NextAt: f.NextAt.Add(ahead),
		})
	}
	c.Log, err = s.logHead(ctx)
	return c, err
}

// hostOf is what may be shown of the address of a subscriber: its path and its
// query are often a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func (s *Server) logHead(ctx context.Context) (console.LogHead, error) {
	head, err := s.service.AuditHead(ctx)
	if err != nil {
		return console.LogHead{}, err
	}
	out := console.LogHead{Count: head.Count, Link: head.Link.String()}
	seal, _, err := s.service.AuditSeal(ctx)
	if err != nil {
		return out, err
	}
	out.Begins = seal.Count
	lines, err := s.service.AuditList(ctx, head.Count-1, pipeline.AuditFilter{}, 1)
	if err != nil || len(lines) == 0 {
		return out, err
	}
	var last struct{ Timestamp string }
	if err := json.Unmarshal(lines[0].Text, &last); err == nil {
		out.Last, _ = time.Parse(time.RFC3339Nano, last.Timestamp)
	}
	return out, nil
}

// watched is a model of which it is known when it was last asked, and whether it
// answered.
type watched struct {
	request.Model
	now func() time.Time

	mu       sync.Mutex // guards what follows
	asked    time.Time
	answered bool
}

// Draft implements request.Model.
func (w *watched) Draft(ctx context.Context, p constitution.Prompt, t request.Turn) (request.Drafted, error) {
	out, err := w.Model.Draft(ctx, p, t)
	if fault.KindOf(err) == fault.Denied && err != nil {
		return out, err // it was not asked
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// An answer that breaks its contract is an answer.
	w.asked, w.answered = w.now(), err == nil || fault.KindOf(err) == fault.Invalid
	return out, err
}

// seen is the model as people see it; the zero value where there is none.
func (w *watched) seen(api string) console.ModelSeen {
	if w == nil {
		return console.ModelSeen{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return console.ModelSeen{API: api, Name: w.Name(), Asked: w.asked, Answered: w.answered}
}
