// Package server wires the service together: configuration, database, use cases,
// queue and surface, and the loops that run until it is told to stop.
//
// The order of a stop is the point of it: take no more requests, finish those
// under way, fetch no more jobs, finish those under way, close the store. A
// second signal cancels hard.
package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/console"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/login"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/secrets"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/sqlite"
	"plimsoll.dev/internal/webhook"
)

// Options is what a process gives the service besides its configuration.
type Options struct {
	Log     io.Writer
	Version string
	// Ready is told the address that is served, once it is.
	Ready func(address string)
	// Hard is closed by a second signal: what runs is cancelled.
	Hard <-chan struct{}
}

// Server is a service that is set up. New makes it; Run runs it; Close frees
// what New took when Run was never called.
type Server struct {
	conf      Config
	options   Options
	log       *slog.Logger
	telemetry *telemetry
	store     *store.Store
	read      *sql.DB // of the database, for what is looked at beside the store
	queue     *queue.Queue
	api       *api.API
	login     *login.Login // nil without an issuer
	console   *console.Console
	courier   *webhook.Courier
	condition condition
	service   *pipeline.Service
	secrets   *secrets.Finder
	circle    *request.Service
	handler   http.Handler
	origin    string // of the audit log
	node      string // names this process
	started   time.Time
	closers   []func() error
}

// New opens the database and wires everything.
func New(ctx context.Context, conf Config, options Options) (_ *Server, err error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	s := &Server{conf: conf, options: options, log: newLog(&conf, options.Log)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	signer, err := readSigner(&conf)
	if err != nil {
		return nil, err
	}
	s.origin = signer.Origin()
	addresses, err := webhook.ParseAddresses(conf.Webhooks)
	if err != nil {
		return nil, err
	}
	if s.telemetry, err = newTelemetry(ctx, &conf, options.Version); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return s.telemetry.stop(ctx)
	})
	node := "node-" + randomText(8)
	s.node, s.started = node, time.Now()
	driver, err := s.open(ctx, node)
	if err != nil {
		return nil, err
	}
	if s.secrets, err = secrets.New(); err != nil {
		return nil, err
	}
	if s.service, err = pipeline.New(s.pipelineConfig(addresses, signer)); err != nil {
		return nil, err
	}
	s.courier = webhook.New(webhook.Config{Store: s.store, Addresses: addresses, Log: s.log, Node: node})
	if s.circle, err = s.newCircle(); err != nil {
		return nil, err
	}
	if s.queue, err = queue.New(driver, queue.Config{
		Node: node, Nodes: s.store, Workers: conf.Workers, Grace: conf.Grace, Logger: slog.New(quiet{s.log.Handler()}), Kinds: s.kinds(),
	}); err != nil {
		return nil, err
	}
	if s.api, err = api.New(api.Config{
		Service: s.service, Store: s.store, Circle: s.circle, Log: s.log, Now: time.Now, Version: options.Version,
		Rate: api.Rate{PerSecond: float64(conf.RatePerSecond), Burst: conf.RateBurst}, Ready: s.ready, Metrics: s.telemetry.metrics,
		MetricsFrom: func(remote string) bool { return within(conf.MetricsFrom, remote) }, Seen: s.telemetry.seen,
		Signer: signer, Client: s.client,
	}); err != nil {
		return nil, err
	}
	if err := s.signIn(); err != nil {
		return nil, err
	}
	if s.console, err = s.newConsole(signer); err != nil {
		return nil, err
	}
	s.handler = s.telemetry.traced(http.HandlerFunc(s.route))
	return s, nil
}

// signIn sets up the sign-in of people, when there is an issuer.
func (s *Server) signIn() (err error) {
	if s.conf.OIDCIssuer == "" {
		return nil
	}
	secret := []byte{}
	if s.conf.OIDCSecret != "" {
		if secret, err = os.ReadFile(s.conf.OIDCSecret); err != nil {
			return fault.E("server.New", fault.Invalid, "read the client secret", err)
		}
	}
	s.login, err = login.New(login.Config{
		Issuer: s.conf.OIDCIssuer, Client: s.conf.OIDCClient, Secret: strings.TrimSpace(string(secret)), Redirect: s.conf.OIDCRedirect,
		Claim: s.conf.OIDCClaim, Service: s.service, Log: s.log, Now: time.Now, Door: "/signin",
		Entered: func(w http.ResponseWriter, r *http.Request) { s.console.Forget(w, r) },
	})
	return err
}

// route tells the sign-in and the pages from the surface. There is no table: a router that
// cleans paths would answer in the surface's place.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if s.secure(r) { // who came through https once is not to be led back to plain http
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	switch r.URL.Path {
	case login.Path, login.Callback, login.Out:
		if s.login != nil {
			s.login.ServeHTTP(w, r)
			return
		}
	}
	if s.console.Owns(r.URL.Path) {
		s.console.ServeHTTP(w, r)
		return
	}
	s.api.ServeHTTP(w, r)
}

// quiet is the log of a library, of which operators act on warnings only.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// open opens the database and makes the store on it. Jobs go into the queue in
// the transaction of what they follow from, so the queue's half that inserts
// comes first.
func (s *Server) open(ctx context.Context, node string) (queue.Driver, error) {
	var db *store.Database
	var driver queue.Driver
	var err error
	if path, ok := s.conf.file(); ok {
		if db, err = sqlite.Open(ctx, sqlite.Config{Path: path}); err != nil {
			return driver, err
		}
		driver, node = queue.SQLite(db.Write), ""
	} else {
		if db, err = postgres.Open(ctx, postgres.Config{URL: s.conf.DB}); err != nil {
			return driver, err
		}
		driver = queue.Postgres(db.Write)
	}
	s.read = db.Read
	s.closers = append(s.closers, func() error { return db.Close() })
	if err := queue.Migrate(ctx, driver); err != nil {
		return driver, err
	}
	inserter, err := queue.NewInserter(driver, nil)
	if err != nil {
		return driver, err
	}
	s.store, err = store.New(ctx, db, store.Config{
		Enqueue: func(ctx context.Context, tx *sql.Tx, jobs []pipeline.Job) error {
			return inserter.Enqueue(ctx, tx, jobs)
		},
		Origin: s.origin, Node: node, Version: s.options.Version,
	})
	return driver, err
}

func (s *Server) pipelineConfig(addresses *webhook.Addresses, signer *auditlog.Signer) pipeline.Config {
	c := pipeline.DefaultConfig()
	c.Store, c.NewID, c.Secret = s.store, newID, newSecret
	c.Options = approval.Options{DistinctActors: s.conf.DistinctActors, ForbidSelfApproval: s.conf.ForbidSelfApproval}
	c.Solo, c.Profile, c.Repository = s.conf.Solo, s.conf.Profile, s.conf.Repository
	c.Deadlines = approval.Deadlines{High: s.conf.DeadlineHigh, Critical: s.conf.DeadlineCritical}
	c.MaxReturns, c.AutomaticTests, c.AuditRetention = s.conf.MaxReturns, s.conf.AutomaticTests, s.conf.AuditRetention
	c.EventRetention = s.conf.EventRetention
	c.Seal = func(from event.Head, records []event.Chained, now time.Time) (event.Head, []byte, error) {
		return signer.Retain(from, records, now, s.conf.AuditRetention)
	}
	c.Address, c.Violated, c.SecretIn = addresses.Check, s.conf.Policy.violated, s.secrets.Kind
	if s.conf.Planner != "" {
		c.Planner = planner{s.conf.Planner}
	}
	if s.conf.ReferenceDir != "" {
		c.Reference = reference{s.conf.ReferenceDir, s.conf.ReferenceBranch}
	}
	return c
}

// kinds is the table of jobs: each calls one use case.
func (s *Server) kinds() []queue.Kind {
	list := []queue.Kind{}
	for _, name := range pipeline.JobKinds() {
		k := queue.Kind{Name: name, Work: s.service.Work, Retry: pipeline.Retry()}
		list = append(list, s.telemetry.kind(k, s.log))
	}
	list = append(list, s.telemetry.kind(queue.Kind{Name: pipeline.JobPing, Work: s.courier.Ping}, s.log))
	return append(list, s.circleKinds()...)
}

func again(err error) bool {
	_, ok := errors.AsType[*pipeline.Again](err)
	return ok || fault.KindOf(err) == fault.Unavailable
}

// Handler is the surface without a listener, for tests and for what is mounted
// beside it.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves until ctx is done, then stops in order. It returns when nothing of
// it runs any more.
func (s *Server) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.conf.Listen)
	if err != nil {
		return fault.E("server.Run", fault.Unavailable, "listen on "+s.conf.Listen, err)
	}
	web := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// Requests outlive ctx: they are finished, not cut off.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	if s.conf.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(s.conf.TLSCert, s.conf.TLSKey)
		if err != nil {
			return errors.Join(fault.E("server.Run", fault.Invalid, "load the certificate", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}})
	}

	// Each stage has its own context, so that one ends after the other.
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	jobs, endJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	defer endJobs()
	g, gone := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fault.E("server.Run", fault.Unavailable, "serve", err)
		}
		return nil
	})
	g.Go(func() error { return s.api.Run(streams) })
	g.Go(func() error { return s.console.Run(streams) })
	g.Go(func() error {
		err := s.queue.Run(jobs)
		if jobs.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // stopped before it had begun
		}
		return err
	})
	g.Go(func() error { return s.courier.Run(jobs) })
	g.Go(func() error { return s.sweep(jobs) })
	g.Go(func() error {
		<-gone.Done()
		s.log.Info("stopping")
		s.api.Close() // no longer ready, and streams end
		s.console.Close()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.conf.Grace)
		defer cancel()
		stopped := make(chan struct{})
		defer close(stopped)
		g.Go(func() error { return s.hard(stopped, cancel, endJobs) })
		err := web.Shutdown(grace)
		if err != nil {
			err = web.Close() // what is left had its time
		}
		endStreams()
		endJobs()
		return err
	})
	s.log.Info("serving", slog.String("address", listener.Addr().String()), slog.String("db", redactURL(s.conf.DB)), slog.Bool("solo", s.conf.Solo))
	if s.options.Ready != nil {
		s.options.Ready(listener.Addr().String())
	}
	err = g.Wait()
	s.log.Info("stopped")
	return err
}

// hard cuts off what runs when a second signal comes.
func (s *Server) hard(stopped <-chan struct{}, cancel, endJobs func()) error {
	select {
	case <-stopped:
		return nil
	case <-s.options.Hard:
	}
	cancel()
	endJobs()
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	return s.queue.Abort(ctx)
}

// sweep asks for retention once an hour. The key makes it once for all nodes.
func (s *Server) sweep(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		err := s.store.Update(ctx, func(tx pipeline.Tx) error {
			return tx.Enqueue(pipeline.Job{Kind: pipeline.JobSweep, Key: "sweep/" + tx.Now().Format("2006-01-02T15")})
		})
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sweep", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// ready is an error while the store does not answer. It is for everybody, so it
// says no more than that.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.store.View(ctx, func(r pipeline.Reader) error { _, _, err := r.EventRange(); return err }); err != nil {
		return errors.New("the store does not answer")
	}
	return nil
}

// Close frees what New took, the last first.
func (s *Server) Close() error {
	var err error
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i]())
	}
	s.closers = nil
	return err
}

// client is the address a request comes from: of the connection, or what a
// trusted proxy says it forwarded for.
func (s *Server) client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if !within(s.conf.ProxiesFrom, host) {
		return host
	}
	// The last entry that is no proxy of ours was written by one of ours.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := strings.TrimSpace(hops[i])
		if _, err := netip.ParseAddr(hop); err != nil {
			return host
		}
		host = hop
		if !within(s.conf.ProxiesFrom, hop) {
			return host
		}
	}
	return host
}

func within(list []netip.Prefix, address string) bool {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	for _, p := range list {
		if p.Contains(ip.Unmap()) || p.Contains(ip) {
			return true
		}
	}
	return false
}

func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// newID is an id nobody has. Its first half is the time, so that lists by id
// are lists by age.
func newID(prefix string) string {
	return fmt.Sprintf("%s-%012x%s", prefix, time.Now().UnixMilli(), randomText(8))
}

func newSecret() (b [32]byte) {
	_, _ = rand.Read(b[:]) // never fails
	return b
}

// readSigner is the signer of the audit log, whose name is that of its key.
func readSigner(conf *Config) (*auditlog.Signer, error) {
	const op = "server.New"
	path, err := conf.keyFile()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.E(op, fault.NotFound, "there is no key at "+path, nil).WithHint("run plimsoll init first")
	}
	if err != nil {
		return nil, fault.E(op, fault.Unavailable, "read the key", err)
	}
	signer, err := auditlog.NewSigner(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fault.E(op, fault.Invalid, path+" holds no key of an audit log", nil)
	}
	return signer, nil
}
