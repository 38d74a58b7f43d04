package console

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// How the service does, in words: what is well, what is not, and what to do about
// it. Everybody who may read sees the words; the numbers behind them are an
// admin's.

// From when on something is not well.
const (
	queueSlow  = 30 * time.Second // the oldest job that could run waits
	queueStuck = 5 * time.Minute
	goneFresh  = 24 * time.Hour // a job was given up
	nodeSilent = 9 * time.Second
	diskTight  = 80 // percent
	diskFull   = 90
	triedOften = 5 // times that a subscriber did not take something
)

// vital is one part of the service.
type vital struct {
	Part  string // of health.part.* and health.do.*
	State string // pass, wait, stop or quiet, as piece.html has them
	Words string
}

// Trouble says whether somebody has to look.
func (v vital) Trouble() bool { return v.State == "stop" || v.State == "wait" }

// healthData is the page.
type healthData struct {
	At         time.Time
	Vitals     []vital
	Stops      []string // the names of the parts that are red
	Waits      []string // and of those that are not quite well
	Details    *Condition
	Checkpoint string // a signed note of where the log stands, for who may see it
}

// administers says whether whoever asks may look after the service.
func (v *visit) administers() bool {
	return v.may(operation.Administer) && v.who.Actor.Roles.Has(contract.Admin)
}

func (c *Console) health(v *visit) (page, error) {
	d := healthData{At: v.now}
	w := c.sheets[v.lang].words
	now, err := c.condition(v)
	switch {
	case err != nil:
		c.conf.Log.WarnContext(v.r.Context(), "measure the service", slog.String("error", err.Error()))
		d.Vitals = []vital{{"database", "stop", w.say("health.unmeasured")}}
	case now == nil:
		d.Vitals = []vital{{"database", "quiet", w.say("health.unknown")}}
	default:
		d.At, d.Vitals = now.At, c.vitals(w, now, v.now)
	}
	for _, x := range d.Vitals {
		name := w.say("health.part." + x.Part)
		switch x.State {
		case "stop":
			d.Stops = append(d.Stops, name)
		case "wait":
			d.Waits = append(d.Waits, name)
		}
	}
	if v.administers() && now != nil && err == nil {
		d.Details = now
		if v.may(operation.Audit) {
			if d.Checkpoint, err = c.checkpoint(v); err != nil {
				return page{}, err
			}
		}
	}
	return page{name: "health", title: "health.title", data: d, topics: []string{topicAll}}, nil
}

func (c *Console) condition(v *visit) (*Condition, error) {
	if c.conf.Condition == nil {
		return nil, nil
	}
	return c.conf.Condition(v.r.Context())
}

// checkpoint is the signed note of where the log stands now, "" where nothing
// signs it.
func (c *Console) checkpoint(v *visit) (string, error) {
	if c.conf.Signer == nil {
		return "", nil
	}
	head, err := c.conf.Contracts.AuditHead(v.r.Context())
	if err != nil {
		return "", err
	}
	text, err := c.conf.Signer.Sign(head, v.now, auditlog.Stands)
	return string(text), err
}

// vitals is every part in the order of the page.
func (c *Console) vitals(w *words, now *Condition, at time.Time) []vital {
	list := []vital{
		queueVital(w, now, at), nodesVital(w, now), databaseVital(w, now.Database), webhookVital(w, now), c.logVital(w, now.Log, at),
		eventsVital(w, now.Events), modelVital(w, now.Model, at),
	}
	return append(list, vital{"version", "pass", w.say("health.version", c.conf.Version)})
}

func queueVital(w *words, now *Condition, at time.Time) vital {
	var sum JobLoad
	for _, j := range now.Jobs {
		sum.Waiting += j.Waiting
		sum.Running += j.Running
		sum.Again += j.Again
		sum.GivenUp += j.GivenUp
		if !j.Oldest.IsZero() && (sum.Oldest.IsZero() || j.Oldest.Before(sum.Oldest)) {
			sum.Oldest = j.Oldest
		}
		if j.LastGone.After(sum.LastGone) {
			sum.LastGone = j.LastGone
		}
	}
	waited := max(0, at.Sub(sum.Oldest))
	if sum.Oldest.IsZero() {
		waited = 0
	}
	x := vital{Part: "queue"}
	switch {
	case waited >= queueStuck:
		x.State, x.Words = "stop", w.say("health.queue.stuck", sum.Waiting, w.span(waited))
	case !sum.LastGone.IsZero() && at.Sub(sum.LastGone) < goneFresh:
		x.State, x.Words = "stop", w.say("health.queue.gone", sum.GivenUp, w.ago(sum.LastGone, at))
	case waited >= queueSlow:
		x.State, x.Words = "wait", w.say("health.queue.slow", sum.Waiting, w.span(waited))
	case sum.Again > 0:
		x.State, x.Words = "wait", w.say("health.queue.again", sum.Again)
	case sum.Waiting > 0:
		x.State, x.Words = "pass", w.say("health.queue.busy", sum.Waiting, w.number(sum.Running))
	case sum.Running > 0:
		x.State, x.Words = "pass", w.say("health.queue.idle", sum.Running)
	default:
		x.State, x.Words = "pass", w.say("health.queue.none")
	}
	return x
}

func nodesVital(w *words, now *Condition) vital {
	x := vital{"nodes", "pass", w.say("health.nodes.alone")}
	if now.Clustered {
		x.Words = w.say("health.nodes.many", len(now.Nodes))
	}
	versions := []string{}
	for _, n := range now.Nodes {
		if silent := now.At.Sub(n.Seen); silent > nodeSilent {
			return vital{"nodes", "stop", w.say("health.nodes.silent", n.ID, w.span(silent))}
		}
		if !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	switch {
	case len(now.Nodes) == 0:
		return vital{"nodes", "stop", w.say("health.nodes.none")}
	case len(versions) > 1:
		return vital{"nodes", "wait", w.say("health.nodes.mixed", strings.Join(versions, ", "))}
	}
	return x
}

func databaseVital(w *words, d DatabaseSize) vital {
	kind := w.say("health.database." + d.Kind)
	switch {
	case d.Disk >= diskFull:
		return vital{"database", "stop", w.say("health.database.full", kind, w.size(d.Size), d.Disk)}
	case d.Disk >= diskTight:
		return vital{"database", "wait", w.say("health.database.tight", kind, w.size(d.Size), d.Disk)}
	case d.Disk >= 0:
		return vital{"database", "pass", w.say("health.database.room", kind, w.size(d.Size), d.Disk)}
	}
	return vital{"database", "pass", w.say("health.database.size", kind, w.size(d.Size))}
}

func webhookVital(w *words, now *Condition) vital {
	if now.Webhooks == 0 {
		return vital{"webhooks", "quiet", w.say("health.webhooks.none")}
	}
	state := "pass"
	for _, f := range now.Failing {
		if state = "wait"; f.Attempts >= triedOften {
			return vital{"webhooks", "stop", w.say("health.webhooks.failing", len(now.Failing), w.number(int64(now.Webhooks)))}
		}
	}
	if state == "wait" {
		return vital{"webhooks", state, w.say("health.webhooks.slow", len(now.Failing), w.number(int64(now.Webhooks)))}
	}
	return vital{"webhooks", state, w.say("health.webhooks.well", now.Webhooks)}
}

func (c *Console) logVital(w *words, l LogHead, at time.Time) vital {
	switch {
	case c.conf.Signer == nil:
		return vital{"audit", "stop", w.say("health.audit.unsigned")}
	case l.Count == 0:
		return vital{"audit", "quiet", w.say("health.audit.none")}
	case l.Begins > 0:
		return vital{"audit", "pass", w.say("health.audit.sealed", l.Count, w.ago(l.Last, at), w.number(l.Begins))}
	}
	return vital{"audit", "pass", w.say("health.audit.well", l.Count, w.ago(l.Last, at))}
}

func eventsVital(w *words, e EventRange) vital {
	if e.Last < e.First {
		return vital{"events", "quiet", w.say("health.events.none")}
	}
	return vital{"events", "pass", w.say("health.events.kept", w.number(e.First), w.number(e.Last))}
}

func modelVital(w *words, m ModelSeen, at time.Time) vital {
	switch {
	case m.API == "":
		return vital{"model", "quiet", w.say("health.model.none")}
	case m.Asked.IsZero():
		return vital{"model", "quiet", w.say("health.model.unasked", m.Name)}
	case !m.Answered:
		return vital{"model", "stop", w.say("health.model.away", m.Name, w.ago(m.Asked, at))}
	}
	return vital{"model", "pass", w.say("health.model.well", m.Name, w.ago(m.Asked, at))}
}
