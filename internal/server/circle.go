package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	plimsoll "plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/identity"
	"plimsoll.dev/internal/model"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/webhook"
)

// Circle is the use cases of the circle, for the surfaces beside the API.
func (s *Server) Circle() *request.Service { return s.circle }

// newCircle wires the circle to the store and the contracts.
func (s *Server) newCircle() (*request.Service, error) {
	files, err := s.clanFiles()
	if err != nil {
		return nil, err
	}
	set, err := constitution.Load(files)
	if err != nil {
		return nil, err
	}
	sc, err := screen.New(screen.Config{Secrets: s.secrets})
	if err != nil {
		return nil, err
	}
	text, err := plimsoll.ArtifactSchema()
	if err != nil {
		return nil, err
	}
	schema, err := artifact.NewSchema(text)
	if err != nil {
		return nil, err
	}
	conf := request.Config{
		Store: s.store.Circles(), Contracts: s.service, Set: constitution.NewHolder(set), Screen: sc, Contents: schema, Schema: contentSchema(text),
		Engines: request.BuiltIn(), NewID: newID, Probes: probes{s}, Violated: s.conf.Policy.violated, Repository: s.conf.Repository,
	}
	if s.conf.ClanConfig != "" {
		conf.Files = s.clanFiles
	}
	if s.conf.Documents != "" {
		conf.Library = library{s.conf.Documents}
	}
	if conf.Prover, err = s.prover(); err != nil {
		return nil, err
	}
	if s.conf.ModelAPI != "" {
		key, err := model.ReadKey(os.Getenv, s.conf.ModelKeyVariable, s.conf.ModelKeyFile)
		if err != nil {
			return nil, err
		}
		asked, err := model.New(model.Config{
			API: model.API(s.conf.ModelAPI), BaseURL: s.conf.ModelURL, Model: s.conf.ModelName, Key: key, Plain: s.conf.ModelPlain,
			Secrets: sc, Random: rand.Reader,
		})
		if err != nil {
			return nil, err
		}
		s.condition.model = &watched{Model: asked, now: time.Now}
		conf.Model = s.condition.model
	}
	return request.New(conf)
}

func (s *Server) clanFiles() (fs.FS, error) {
	if s.conf.ClanConfig == "" {
		return plimsoll.ClanConfig()
	}
	if info, err := os.Stat(s.conf.ClanConfig); err != nil || !info.IsDir() {
		return nil, fault.E("server.New", fault.Invalid, "clan-config is no folder", err)
	}
	return os.DirFS(s.conf.ClanConfig), nil
}

// prover is what proves identity anew. Its key is read, or made, when somebody is
// first asked: a service nobody enrols at has none. The nodes of a PostgreSQL
// service share one key, which has to be named; without one nobody can be asked
// there.
func (s *Server) prover() (request.Prover, error) {
	path := s.conf.IdentityKey
	if path == "" {
		file, ok := s.conf.file()
		if !ok {
			return nil, nil
		}
		path = strings.TrimSuffix(file, filepath.Ext(file)) + ".identity.key"
	}
	// The addresses are checked at the start, with a key that seals nothing.
	if _, err := identity.New(identity.Config{Key: identity.Key{1}, Origins: s.conf.Origins}); err != nil {
		return nil, err
	}
	return lateProver{sync.OnceValues(func() (*identity.Prover, error) {
		key, err := identity.OpenKey(path)
		if err != nil {
			return nil, err
		}
		return identity.New(identity.Config{Key: key, Origins: s.conf.Origins})
	})}, nil
}

// lateProver is a prover whose key is opened when it is first needed.
type lateProver struct {
	open func() (*identity.Prover, error)
}

// Enrol implements request.Prover.
func (l lateProver) Enrol(e request.Enrolling) (request.Enrolment, error) {
	p, err := l.open()
	if err != nil {
		return request.Enrolment{}, err
	}
	return p.Enrol(e)
}

// Ask implements request.Prover.
func (l lateProver) Ask(a request.Asking) (request.Asked, error) {
	p, err := l.open()
	if err != nil {
		return request.Asked{}, err
	}
	return p.Ask(a)
}

// Answer implements request.Prover.
func (l lateProver) Answer(c *request.Challenge, factors []*request.Factor, answer []byte, now time.Time) (request.Proof, error) {
	p, err := l.open()
	if err != nil {
		return request.Proof{}, err
	}
	return p.Answer(c, factors, answer, now)
}

// contentSchema is the schema of the content of each type, for a model.
func contentSchema(text []byte) func(envelope.ArtifactType) []byte {
	var document struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	_ = json.Unmarshal(text, &document) // it compiled
	return func(t envelope.ArtifactType) []byte { return document.Defs[string(t)] }
}

// stepTimeout is more than the longest deadline a registry may give a worker: the
// deadline ends the work, not the job.
const stepTimeout = 15 * time.Minute

// sendWaits is how long after each failed attempt what leaves a circle is tried
// again.
func sendWaits() []time.Duration {
	list := []time.Duration{}
	for n := int64(1); n <= 12; n++ {
		list = append(list, webhook.Wait(n))
	}
	return list
}

// circleKinds is the jobs of the circle.
func (s *Server) circleKinds() []queue.Kind {
	list := []queue.Kind{}
	for _, name := range request.JobKinds() {
		list = append(list, s.telemetry.kind(queue.Kind{Name: name, Work: s.circle.Work, Retry: pipeline.Retry(), Timeout: stepTimeout}, s.log))
	}
	return append(list, s.telemetry.kind(queue.Kind{Name: request.JobSend, Work: s.send, Retry: sendWaits()}, s.log))
}

// send brings a confirmed draft to the subscriber it was confirmed for.
func (s *Server) send(ctx context.Context, a pipeline.Attempt) error {
	out, err := s.circle.Outgoing(ctx, a)
	if err != nil || out == nil {
		return err
	}
	return s.courier.Leave(ctx, out.Webhook, out.ID, out.Subject, out.Document)
}

// library is a folder of documents. Nothing outside of it is read, also not
// through links.
type library struct{ dir string }

// maxDocument is the longest document that is read, in bytes.
const maxDocument = 1 << 20

// Read implements request.Library.
func (l library) Read(_ context.Context, r envelope.Reference) (_ request.Paper, err error) {
	const op = "server.Read"
	none := fault.E(op, fault.NotFound, "there is no such document", nil)
	if !filepath.IsLocal(filepath.FromSlash(r.ID)) {
		return request.Paper{}, none
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return request.Paper{}, fault.E(op, fault.Unavailable, "open the folder of documents", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(r.ID)
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDocument {
		return request.Paper{}, none
	}
	f, err := root.Open(name)
	if err != nil {
		return request.Paper{}, none
	}
	text, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err := errors.Join(err, f.Close()); err != nil {
		return request.Paper{}, fault.E(op, fault.Unavailable, "read a document", err)
	}
	return request.Paper{Title: r.ID, Text: text, Level: envelope.Circle}, nil
}

// probes measures what the service stands on.
type probes struct{ s *Server }

// Probe implements request.Probes.
func (p probes) Probe(ctx context.Context) []request.Probe {
	list := []request.Probe{p.store(ctx), p.queue(ctx), p.model()}
	if d, ok := p.disk(); ok {
		list = append(list, d)
	}
	return list
}

// slow is how long the store may take to answer before it counts as degraded.
const slow = 500

func (p probes) store(ctx context.Context) request.Probe {
	begun := time.Now()
	out := request.Probe{Name: "store", State: "ok", Detail: "the store answers", Limit: slow, Unit: "milliseconds"}
	if err := p.s.ready(ctx); err != nil {
		out.State, out.Detail = "down", "the store does not answer"
	}
	out.Value = time.Since(begun).Milliseconds()
	if out.State == "ok" && out.Value >= slow {
		out.State, out.Detail = "degraded", "the store answers slowly"
	}
	return out
}

// lagging is how long the oldest job that could run may wait, in seconds.
const lagging = 30

func (p probes) queue(ctx context.Context) request.Probe {
	out := request.Probe{Name: "queue", State: "ok", Detail: "no job waits", Limit: lagging, Unit: "seconds"}
	waiting, oldest, err := p.s.queue.Waiting(ctx)
	switch {
	case err != nil:
		out.State, out.Detail = "unknown", "the queue does not say how long it is"
	case waiting > 0:
		out.Value, out.Detail = int64(oldest.Seconds()), "jobs wait"
		if out.Value >= lagging {
			out.State, out.Detail = "degraded", "jobs wait too long"
		}
	}
	return out
}

func (p probes) model() request.Probe {
	out := request.Probe{Name: "model", State: "ok", Detail: "no model is configured: the built-in engines do every job"}
	if p.s.conf.ModelAPI != "" {
		// To ask it costs money and says little about the next question.
		out.State, out.Detail = "unknown", "a model is configured; it is asked when a worker drafts"
	}
	return out
}

// full is from how many percent on a disk counts as degraded.
const full = 90

func (p probes) disk() (request.Probe, bool) {
	path, ok := p.s.conf.file()
	if !ok {
		return request.Probe{}, false
	}
	used, err := diskUsed(filepath.Dir(path))
	out := request.Probe{Name: "disk", State: "ok", Detail: "the disk of the database has room", Value: int64(used), Limit: full, Unit: "percent"}
	switch {
	case err != nil:
		return request.Probe{Name: "disk", State: "unknown", Detail: "the disk does not say how full it is"}, true
	case used >= full:
		out.State, out.Detail = "degraded", "the disk of the database is nearly full"
	}
	return out, true
}
