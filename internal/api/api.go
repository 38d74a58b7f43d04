// Package api is the service over HTTP: the operations of docs/spec/contracts.md
// §20.2 and docs/spec/circle.md §10, and nothing else.
//
// routes.go is the whole table. What a request must be before its use case runs
// is checked in one place and in one order (surface.go); a handler turns
// parameters and a body into the arguments of one use case, and its answer into
// JSON. It decides nothing: who may act is the use case's business.
package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/operation"
	clan "plimsoll.dev/internal/request"
)

// Config is what the surface needs. Service, Store, Log, Now and Signer are demanded;
// the zero value of the rest works.
type Config struct {
	Service *pipeline.Service
	Store   pipeline.Store
	Circle  *clan.Service // nil: there is no circle, and its operations say so
	Log     *slog.Logger
	Now     func() time.Time

	Version string // of the program, for the OpenAPI document
	Rate    Rate   // of a token; zero sets no bound

	// Ready says what keeps the service from serving; nil is always ready.
	Ready func(context.Context) error
	// Metrics answers for /metrics; nil is an empty answer. MetricsFrom says
	// whether an address may read it without a token.
	Metrics     http.Handler
	MetricsFrom func(remote string) bool
	// Seen is told of every request that was answered.
	Seen func(ctx context.Context, op string, status int, took time.Duration)

	// Signer signs how far the audit log has come.
	Signer *auditlog.Signer

	// Client is the address of the caller, when a proxy in front knows better;
	// nil is that of the connection.
	Client func(*http.Request) string

	// Memory bounds the bytes of all bodies that are read at the same time;
	// 256 MiB when it is 0.
	Memory int64
	// Pulse is how often streams look for events, and Comment how often a
	// silent one says that it lives; 100 ms and 15 s when they are 0.
	Pulse, Comment time.Duration
}

// API is the surface. It is an http.Handler; Run drives its streams.
type API struct {
	conf       Config
	mux        *http.ServeMux
	rates      *limiter
	anon       *limiter // audit records of callers nobody knows, by address
	memory     *semaphore.Weighted
	stream     *stream
	openapi    []byte // the document
	docsPolicy string

	mu      sync.Mutex // guards closing
	closing chan struct{}
}

const defaultMemory = 256 << 20

// New is the surface of a service.
func New(conf Config) (*API, error) {
	if conf.Service == nil || conf.Store == nil || conf.Log == nil || conf.Now == nil || conf.Signer == nil {
		return nil, errors.New("api: a service, its store, a log, a clock and a signer are needed")
	}
	if conf.Memory == 0 {
		conf.Memory = defaultMemory
	}
	a := &API{
		conf: conf, mux: http.NewServeMux(), memory: semaphore.NewWeighted(conf.Memory),
		rates: newLimiter(conf.Rate), anon: newLimiter(Rate{PerSecond: 1, Burst: 20}),
		stream: newStream(conf), closing: make(chan struct{}),
	}
	routes := a.routes()
	text, err := document(routes, conf.Version)
	if err != nil {
		return nil, err
	}
	a.openapi = text
	a.docsPolicy = docsPolicy()
	a.mount(routes)
	return a, nil
}

// Run serves the event streams until ctx ends.
func (a *API) Run(ctx context.Context) error { return a.stream.run(ctx, a.conf.Store) }

// Close ends the streams, so that a server that shuts down does not wait for
// clients that never leave.
func (a *API) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.closing:
	default:
		close(a.closing)
	}
}

// mount registers every path once, whatever its methods, so that a wrong method
// is told from a wrong path.
func (a *API) mount(routes []endpoint) {
	paths := map[string]map[string]endpoint{}
	for _, e := range routes {
		if paths[e.op.Path] == nil {
			paths[e.op.Path] = map[string]endpoint{}
		}
		paths[e.op.Path][e.op.Method] = e
	}
	for path, methods := range paths {
		a.mux.Handle(path, a.handler(methods))
	}
	a.mux.Handle("/docs", http.HandlerFunc(a.serveDocs))
}

// ServeHTTP implements http.Handler. A path that would have to be cleaned first
// is no route: a redirect would make two requests of one.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := a.mux.Handler(r); pattern != "" && clean(r.URL.Path) {
		a.mux.ServeHTTP(w, r)
		return
	}
	a.handler(nil).ServeHTTP(w, r)
}

// newRequestID is a random UUID.
func newRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// operationOf is a row of the table; the id is ours, so it is there.
func operationOf(id string) operation.Operation {
	o, ok := operation.Find(id)
	if !ok {
		panic("api: there is no operation " + id)
	}
	return o
}
