// Package login signs people in through an OpenID Connect issuer.
//
// Who comes back with an identity that an active actor of the registry has gets
// a token like any other (docs/spec/contracts.md §20.1), in a cookie that no
// script reads. Nothing is registered here: an identity without an actor is
// refused. The issuer is asked when somebody signs in, not when the service
// starts, so one that is away stops nobody who has a token.
package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// Service is the use cases that a sign-in needs.
type Service interface {
	ActorGet(ctx context.Context, id contract.ActorID) (*pipeline.Actor, error)
	TokenCreate(ctx context.Context, by pipeline.Caller, a pipeline.TokenArgs) (*pipeline.Secret[*pipeline.Token], error)
	TokenRevoke(ctx context.Context, by pipeline.Caller, id string) error
	Authenticate(ctx context.Context, secret string) (*pipeline.Identity, error)
}

// Config is what signing in needs. All but Door, Entered, Valid and HTTP are demanded.
type Config struct {
	Issuer   string
	Client   string
	Secret   string
	Redirect string // this service's Callback as people reach it
	Claim    string // the claim that is the actor's id; "email" must be verified

	Service Service
	Log     *slog.Logger
	Now     func() time.Time
	// Door is the page where a sign-in that failed ends, with why in its query; ""
	// answers with a line of text.
	Door string
	// Entered is told of a browser that has signed in, before it is sent on.
	Entered func(http.ResponseWriter, *http.Request)
	Valid   time.Duration // of a sign-in; 12 hours when it is 0
	HTTP    *http.Client  // asks the issuer
}

// The paths of a sign-in.
const (
	Path     = "/login"
	Callback = "/login/callback"
	Out      = "/logout"
)

// Login is the sign-in. It is an http.Handler for its three paths.
type Login struct {
	conf   Config
	secure bool // people reach the service through https

	mu       sync.Mutex // guards provider
	provider *oidc.Provider
}

// New is a sign-in.
func New(conf Config) (*Login, error) {
	const op = "login.New"
	u, err := url.Parse(conf.Redirect)
	if err != nil || u.Host == "" || u.Path != Callback || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fault.E(op, fault.Invalid, "oidc.redirect is no URL that ends in "+Callback, err)
	}
	if conf.Valid == 0 {
		conf.Valid = 12 * time.Hour
	}
	if conf.HTTP == nil {
		conf.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	return &Login{conf: conf, secure: u.Scheme == "https"}, nil
}

// ServeHTTP implements http.Handler.
func (l *Login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Frame-Options", "DENY")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	switch {
	case r.URL.Path == Path && r.Method == http.MethodGet:
		l.begin(w, r)
	case r.URL.Path == Callback && r.Method == http.MethodGet:
		l.finish(w, r)
	case r.URL.Path == Out && r.Method == http.MethodPost:
		l.out(w, r)
	default:
		http.NotFound(w, r)
	}
}

// discover asks the issuer who it is, once it has answered.
func (l *Login) discover(ctx context.Context) (*oidc.Provider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.provider != nil {
		return l.provider, nil
	}
	// The provider keeps its context to fetch keys with later.
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), l.conf.HTTP), l.conf.Issuer)
	if err != nil {
		return nil, err
	}
	l.provider = p
	return p, nil
}

func (l *Login) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: l.conf.Client, ClientSecret: l.conf.Secret, RedirectURL: l.conf.Redirect, Endpoint: p.Endpoint(),
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// attempt is one sign-in on its way, kept in a cookie of the browser that began
// it: no node of the service has to remember it.
type attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"x"`
	Until    int64  `json:"u"`
}

const attemptTime = 10 * time.Minute

func (l *Login) begin(w http.ResponseWriter, r *http.Request) {
	p, err := l.discover(r.Context())
	if err != nil {
		l.conf.Log.WarnContext(r.Context(), "sign-in", slog.String("error", err.Error()))
		l.failed(w, r, "away", "the issuer does not answer", http.StatusServiceUnavailable)
		return
	}
	a := attempt{
		State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Next: local(r.URL.Query().Get("next")),
		Until: l.conf.Now().Add(attemptTime).Unix(),
	}
	text, err := json.Marshal(a)
	if err != nil {
		http.Error(w, "fault of the service", http.StatusInternalServerError)
		return
	}
	l.cookie(w, l.name("attempt"), base64.RawURLEncoding.EncodeToString(text), attemptTime)
	http.Redirect(w, r, l.oauth(p).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), http.StatusFound)
}

var errRefused = errors.New("the sign-in was refused")

func (l *Login) finish(w http.ResponseWriter, r *http.Request) {
	l.cookie(w, l.name("attempt"), "", -1) // one attempt, one answer
	token, next, err := l.exchange(r)
	if err != nil {
		l.conf.Log.WarnContext(r.Context(), "sign-in", slog.String("error", err.Error()))
		if fault.KindOf(err) == fault.Unavailable {
			l.failed(w, r, "away", "The sign-in could not be finished; try again.", http.StatusServiceUnavailable)
			return
		}
		l.failed(w, r, "refused", "The sign-in was refused.", http.StatusForbidden)
		return
	}
	if l.conf.Entered != nil {
		l.conf.Entered(w, r)
	}
	l.cookie(w, l.name("token"), token, l.conf.Valid)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// exchange makes a token out of what the issuer sent.
func (l *Login) exchange(r *http.Request) (token, next string, err error) {
	const op = "login"
	ctx := oidc.ClientContext(r.Context(), l.conf.HTTP)
	a, err := l.attempt(r)
	if err != nil {
		return "", "", err
	}
	query := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(query.Get("state"))) != 1 {
		return "", "", fault.E(op, fault.Denied, "the state is another", errRefused)
	}
	if query.Get("code") == "" {
		return "", "", fault.E(op, fault.Denied, "the issuer gave no code: "+clip(query.Get("error")), errRefused)
	}
	p, err := l.discover(ctx)
	if err != nil {
		return "", "", fault.E(op, fault.Unavailable, "the issuer does not answer", err)
	}
	grant, err := l.oauth(p).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return "", "", fault.E(op, fault.Denied, "the code was not taken", err)
	}
	raw, _ := grant.Extra("id_token").(string)
	id, err := p.Verifier(&oidc.Config{ClientID: l.conf.Client, Now: l.conf.Now}).Verify(ctx, raw)
	if err != nil {
		return "", "", fault.E(op, fault.Denied, "the identity does not hold", err)
	}
	if subtle.ConstantTimeCompare([]byte(a.Nonce), []byte(id.Nonce)) != 1 {
		return "", "", fault.E(op, fault.Denied, "the nonce is another", errRefused)
	}
	actor, err := l.actor(ctx, id)
	if err != nil {
		return "", "", err
	}
	made, err := l.conf.Service.TokenCreate(ctx, pipeline.Caller{Actor: actor.ID}, pipeline.TokenArgs{
		Scopes: scopes(actor), ExpiresAt: l.conf.Now().Add(l.conf.Valid), Name: "sign-in",
	})
	if err != nil {
		return "", "", err
	}
	return made.Secret, a.Next, nil
}

// actor is who an identity is of: an active person of the registry.
func (l *Login) actor(ctx context.Context, id *oidc.IDToken) (*pipeline.Actor, error) {
	const op = "login"
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return nil, fault.E(op, fault.Denied, "the claims do not read", err)
	}
	name, _ := claims[l.conf.Claim].(string)
	if verified, _ := claims["email_verified"].(bool); name == "" || l.conf.Claim == "email" && !verified {
		return nil, fault.E(op, fault.Denied, "the identity has no "+l.conf.Claim+", or it is not verified", errRefused)
	}
	actor, err := l.conf.Service.ActorGet(ctx, contract.ActorID(name))
	if err != nil {
		return nil, fault.E(op, fault.KindOf(err), "the identity has no actor", err)
	}
	if !actor.Active || actor.Type != contract.Human {
		return nil, fault.E(op, fault.Denied, string(actor.ID)+" is no active person", errRefused)
	}
	return actor, nil
}

// scopes is what a signed-in person may do: everything their roles let them,
// but the work of executors and the reading of metrics.
func scopes(a *pipeline.Actor) []string {
	list := []string{string(operation.Read), string(operation.Write), string(operation.Decide), string(operation.Audit)}
	if a.Roles.Has(contract.Admin) {
		list = append(list, string(operation.Administer))
	}
	return list
}

func (l *Login) attempt(r *http.Request) (attempt, error) {
	const op = "login"
	var a attempt
	c, err := r.Cookie(l.name("attempt"))
	if err != nil {
		return a, fault.E(op, fault.Denied, "this browser began no sign-in", errRefused)
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil || a.State == "" || l.conf.Now().Unix() > a.Until {
		return a, fault.E(op, fault.Denied, "the sign-in took too long, or does not read", errRefused)
	}
	a.Next = local(a.Next)
	return a, nil
}

// failed ends a sign-in that failed where people can try again.
func (l *Login) failed(w http.ResponseWriter, r *http.Request, why, text string, status int) {
	if l.conf.Door != "" {
		http.Redirect(w, r, l.conf.Door+"?issuer="+why, http.StatusSeeOther)
		return
	}
	http.Error(w, text, status)
}

// out signs a browser out. The cookie goes to this site only, so nobody else's
// page can sign somebody out.
func (l *Login) out(w http.ResponseWriter, r *http.Request) {
	l.End(w, r)
	w.WriteHeader(http.StatusNoContent)
}

// End ends the token of a signed-in browser and takes it out of it. Whoever calls
// it sees to it that the request is that browser's own will.
func (l *Login) End(w http.ResponseWriter, r *http.Request) {
	if secret := l.Token(r); secret != "" {
		if who, err := l.conf.Service.Authenticate(r.Context(), secret); err == nil {
			if err := l.conf.Service.TokenRevoke(r.Context(), pipeline.Caller{Actor: who.Actor.ID}, who.Token.ID); err != nil {
				l.conf.Log.WarnContext(r.Context(), "sign-out", slog.String("error", err.Error()))
			}
		}
	}
	l.cookie(w, l.name("token"), "", -1)
}

// Token is the token of a signed-in browser, "" when there is none. It counts
// only where the page is protected against requests that other sites forge.
func (l *Login) Token(r *http.Request) string {
	c, err := r.Cookie(l.name("token"))
	if err != nil {
		return ""
	}
	return c.Value
}

// name is the name of a cookie. Its prefix makes browsers refuse one that was
// set by a neighbour or without https.
func (l *Login) name(what string) string {
	if l.secure {
		return "__Host-plimsoll-" + what
	}
	return "plimsoll-" + what
}

func (l *Login) cookie(w http.ResponseWriter, name, value string, valid time.Duration) {
	age := int(valid.Seconds())
	if valid < 0 {
		age = -1
	}
	// Lax, not strict: the first page after the issuer's is reached from there.
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: l.secure, SameSite: http.SameSiteLaxMode,
	})
}

// local is a path of this service, "/" for everything else.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

func random() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func clip(text string) string { return text[:min(len(text), 80)] }
