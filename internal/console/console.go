package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
)

// Config is what the pages are made of. Contracts, Log and Now are demanded.
type Config struct {
	Contracts *pipeline.Service
	Circle    *request.Service // nil: there is no circle, and its pages say so
	Signer    *auditlog.Signer // nil: nothing vouches for the audit log
	Log       *slog.Logger
	Now       func() time.Time

	Version string // of the program
	// Secret signs what a form carries back; all nodes of a service share it.
	Secret []byte

	// SignIn is where the sign-in through an issuer begins, "" without one.
	SignIn string
	// SignedIn is the secret of the token such a sign-in left in a request, "" for
	// none; nil without an issuer.
	SignedIn func(*http.Request) string
	// SignOut ends that token and takes it out of the browser; nil without an
	// issuer.
	SignOut func(http.ResponseWriter, *http.Request)
	// Client is the address of the caller, when a proxy in front knows better.
	Client func(*http.Request) string
	// Secure says that people reach the service through https.
	Secure func(*http.Request) bool

	// Condition is how the service does: queues, nodes, deliveries. nil is not
	// known.
	Condition func(context.Context) (*Condition, error)

	// Pulse is how often open pages look for news; 100 ms when it is 0.
	Pulse time.Duration
}

// Console is the pages. It is an http.Handler for the paths it owns; Run tells
// open pages what happens.
type Console struct {
	conf   Config
	mux    *http.ServeMux
	sheets map[string]*sheet // the templates, by language
	assets *assets
	hub    *hub
	guard  *http.CrossOriginProtection
	doors  *doors // how often an address may try to sign in
	counts counts // how much waits for whom
	proofs proofs // who has the audit log verified now
}

// New is a console.
func New(conf Config) (*Console, error) {
	if conf.Contracts == nil || conf.Log == nil || conf.Now == nil || len(conf.Secret) < 16 {
		return nil, errors.New("console: the use cases, a log, a clock and a secret are needed")
	}
	if conf.Pulse == 0 {
		conf.Pulse = 100 * time.Millisecond
	}
	if conf.Client == nil {
		conf.Client = func(r *http.Request) string { return r.RemoteAddr }
	}
	if conf.Secure == nil {
		conf.Secure = func(r *http.Request) bool { return r.TLS != nil }
	}
	c := &Console{conf: conf, mux: http.NewServeMux(), hub: newHub(conf.Contracts, conf.Log, conf.Pulse), guard: http.NewCrossOriginProtection(), doors: newDoors()}
	var err error
	if c.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if c.sheets, err = readSheets(c); err != nil {
		return nil, err
	}
	for _, r := range c.routes() {
		c.mux.Handle(r.method+" "+r.path, c.handler(r))
	}
	c.mux.Handle("GET "+assetPath, http.HandlerFunc(c.assets.serve))
	c.mux.Handle("GET /favicon.ico", http.RedirectHandler(c.assets.url("mark.svg"), http.StatusFound))
	c.mux.Handle("GET "+livePath, http.HandlerFunc(c.live))
	return c, nil
}

// Run tells open pages what happens, until ctx ends.
func (c *Console) Run(ctx context.Context) error { return c.hub.run(ctx) }

// Close ends what open pages listen to, so that a service that stops does not
// wait for them.
func (c *Console) Close() { c.hub.close() }

// Owns says whether a path is one of the console's.
func (c *Console) Owns(path string) bool {
	if path == "/" || path == "/favicon.ico" || path == livePath || strings.HasPrefix(path, assetPath) {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return rooms[first]
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if leaks(r.URL) {
		v := c.visit(w, r)
		v.here = "/inbox" // the address is not repeated
		c.fail(v, &notice{status: http.StatusBadRequest, title: "problem.token_in_url", words: "problem.token_in_url_how"})
		return
	}
	if !legible(r.URL.Query()) || !isText(r.URL.Path) {
		v := c.visit(w, r)
		v.here = "/inbox"
		c.fail(v, errNoPage)
		return
	}
	if err := c.guard.Check(r); err != nil {
		v := c.visit(w, r)
		c.fail(v, &notice{status: http.StatusForbidden, title: "problem.elsewhere", words: "problem.elsewhere_how"})
		return
	}
	if _, pattern := c.mux.Handler(r); pattern == "" {
		v := c.visit(w, r)
		c.fail(v, errNoPage)
		return
	}
	c.mux.ServeHTTP(w, r)
}
