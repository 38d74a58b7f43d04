package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/sqlite"
	"plimsoll.dev/internal/webhook"
	"plimsoll.dev/testdata/contracts"
)

var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// world is the surface over a store of its own, with a clock.
type world struct {
	*testing.T
	api     *api.API
	service *pipeline.Service
	store   *faulty
	handler http.Handler

	public     string // key of the audit log
	closeStore func() error

	mu  sync.Mutex // guards now and ids
	now time.Time
	ids int
}

// faulty is a store that can be away, or panic.
type faulty struct {
	pipeline.Store
	fault string
}

func (f *faulty) Update(ctx context.Context, fn func(pipeline.Tx) error) error {
	switch f.fault {
	case "store unreachable":
		return fault.E("store", fault.Unavailable, "update", errors.New("connection refused to 10.0.0.7"))
	case "panic in the handler":
		panic("something of ours is broken")
	case "":
	}
	return f.Store.Update(ctx, func(tx pipeline.Tx) error { return fn(busy{tx, f}) })
}

// busy is a transaction that finds the key of its request in the hands of
// another.
type busy struct {
	pipeline.Tx
	f *faulty
}

func (b busy) Request(actor contract.ActorID, key string) (pipeline.Request, bool, error) {
	if b.f.fault == "under way" {
		return pipeline.Request{}, false, fault.E("store", fault.Conflict, "another transaction has the key", nil)
	}
	return b.Tx.Request(actor, key)
}

// View has everything shifted by hidden events.
func (f *faulty) View(ctx context.Context, fn func(pipeline.Reader) error) error {
	return f.Store.View(ctx, func(r pipeline.Reader) error { return fn(shifted{r, f}) })
}

type shifted struct {
	pipeline.Reader
	f *faulty
}

func (s shifted) EventRange() (first, last int64, err error) {
	if s.f.fault == "events gone" {
		return 100, 200, nil
	}
	return s.Reader.EventRange()
}

// migrated is a database with nothing in it. Bringing one up to date costs more
// than most of what the tests then ask of it.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "plimsoll-api-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "plimsoll.db")
	db, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func newWorld(t *testing.T, change func(*api.Config)) *world {
	t.Helper()
	w := &world{T: t, now: start}
	path := filepath.Join(t.TempDir(), "plimsoll.db")
	file, err := migrated()
	if err := errors.Join(err, os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := auditlog.NewKey(nil, "plimsoll.test/log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := auditlog.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(t.Context(), db, store.Config{
		Enqueue: func(context.Context, *sql.Tx, []pipeline.Job) error { return nil }, Now: w.clock, Origin: signer.Origin(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.public = public
	w.closeStore = sync.OnceValue(s.Close)
	t.Cleanup(func() {
		if err := w.closeStore(); err != nil {
			t.Error(err)
		}
	})
	w.store = &faulty{Store: s}
	addresses, err := webhook.ParseAddresses(nil)
	if err != nil {
		t.Fatal(err)
	}
	conf := pipeline.DefaultConfig()
	conf.Store, conf.NewID, conf.Address = w.store, w.id, addresses.Check
	conf.Secret = func() [32]byte { return sha256.Sum256([]byte(w.id("secret"))) }
	conf.EventRetention = 7 * 24 * time.Hour
	conf.Seal = func(from event.Head, records []event.Chained, now time.Time) (event.Head, []byte, error) {
		return signer.Retain(from, records, now, 0)
	}
	if w.service, err = pipeline.New(conf); err != nil {
		t.Fatal(err)
	}
	surface := api.Config{Service: w.service, Store: w.store, Circle: newCircle(t, s, w), Log: slog.New(slog.DiscardHandler), Now: w.clock, Signer: signer, Version: "1.2.3"}
	if change != nil {
		change(&surface)
	}
	if w.api, err = api.New(surface); err != nil {
		t.Fatal(err)
	}
	w.handler = w.api
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) id(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return prefix + "-" + hex.EncodeToString([]byte{byte(w.ids >> 8), byte(w.ids)})
}

// actor registers somebody and gives them a token.
func (w *world) actor(id contract.ActorID, kind contract.ActorType, roles contract.RoleSet, scopes ...string) (token string) {
	w.Helper()
	token = "plm_" + string(id) + strings.Join(scopes, "-")
	err := w.store.Store.Update(w.Context(), func(tx pipeline.Tx) error {
		_, err := tx.Actor(id)
		if fault.KindOf(err) == fault.NotFound && err != nil {
			err = tx.CreateActor(&pipeline.Actor{ID: id, Type: kind, Roles: roles, Active: true, CreatedAt: w.now, UpdatedAt: w.now})
		}
		if err != nil {
			return err
		}
		return tx.CreateToken(pipeline.Token{
			ID: "tok-" + token, Actor: id, Hash: sha256.Sum256([]byte(token)), Scopes: scopes, CreatedAt: w.now, ExpiresAt: w.now.AddDate(0, 1, 0),
		})
	})
	if err != nil {
		w.Fatal(err)
	}
	return token
}

// request is one call. A body that is no reader is sent as JSON.
type request struct {
	method, path, token, key, role, match, media string
	header                                       http.Header
	body                                         any
}

type response struct {
	*httptest.ResponseRecorder
}

func (r response) problem(t *testing.T) api.Problem {
	t.Helper()
	var p api.Problem
	if r.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %s: %s", r.Code, r.Header().Get("Content-Type"), r.Body)
	}
	if err := json.Unmarshal(r.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v: %s", err, r.Body)
	}
	return p
}

func (w *world) do(q request) response {
	w.Helper()
	var body io.Reader
	media := q.media
	switch b := q.body.(type) {
	case nil:
	case io.Reader:
		body = b
	case []byte:
		body = bytes.NewReader(b)
	case string:
		body = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			w.Fatal(err)
		}
		body = bytes.NewReader(text)
		if media == "" {
			media = "application/json"
			if q.method == http.MethodPatch {
				media = "application/merge-patch+json"
			}
		}
	}
	r := httptest.NewRequestWithContext(w.Context(), q.method, q.path, body)
	for name, value := range map[string]string{
		"Content-Type": media, "Idempotency-Key": q.key, "Acting-Role": q.role, "If-Match": q.match,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	for name, values := range q.header {
		r.Header[name] = values
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return response{recorder}
}

type object = map[string]any

// vector is a request of the specification (docs/spec/contracts.md §19).
type vector struct {
	Name, Mode string
	Request    struct {
		Method, Path   string
		ContentType    *string
		Token          *string
		Scopes         []string
		Roles          []string
		ActingRole     *string
		IdempotencyKey *string
		Body           json.RawMessage
		BodyBytes      int
		RawBody        *string
		RawBodyHex     string
		IfMatch        string
		Earlier        string
		FirstKept      int
		OverRate       bool
		Fault          string
		Stored         *struct {
			ETag    string `json:"etag"`
			ActorID string
		}
	}
	Expected struct {
		Status   any
		Code     string
		Replayed bool
	}
}

func (v vector) status() int {
	n, _ := v.Expected.Status.(json.Number)
	status, _ := n.Int64()
	return int(status)
}

func TestEveryRequestIsAnsweredAsTheSpecificationSays(t *testing.T) {
	seen := 0
	for _, v := range contracts.Load[vector](t, "surface") {
		if v.Mode != "request" {
			continue
		}
		seen++
		t.Run(v.Name, func(t *testing.T) { v.run(t) })
	}
	if seen != 56 {
		t.Errorf("%d vectors", seen)
	}
}

func (v vector) run(t *testing.T) {
	t.Helper()
	in := v.Request
	w := newWorld(t, func(c *api.Config) {
		if in.OverRate {
			c.Rate = api.Rate{PerSecond: 0.001, Burst: 1}
		}
	})
	roles, err := contract.ParseRoles(in.Roles)
	if err != nil {
		t.Fatal(err)
	}
	const me = "adm-001" // the vectors about actors name this one
	token := w.actor(me, contract.Human, roles, in.Scopes...)
	if in.Token == nil {
		token = ""
	} else {
		w.spoil(*in.Token, token, me)
	}
	q := request{method: in.Method, path: in.Path, token: token, match: in.IfMatch}
	if in.ContentType != nil {
		q.media = *in.ContentType
	}
	if in.ActingRole != nil {
		q.role = *in.ActingRole
	}
	if in.IdempotencyKey != nil {
		q.key = *in.IdempotencyKey
	}
	body := []byte(in.Body)
	switch {
	case in.RawBody != nil:
		body = []byte(*in.RawBody)
	case in.RawBodyHex != "":
		if body, err = hex.DecodeString(in.RawBodyHex); err != nil {
			t.Fatal(err)
		}
	case string(in.Body) == "null":
		body = nil
	}
	if n := in.BodyBytes - len(body); n > 0 {
		body = append(body, bytes.Repeat([]byte(" "), n)...)
	}
	if body != nil {
		q.body = body
	}
	v.prepare(w, q, roles)
	got := w.do(q)
	if got.Code != v.status() {
		t.Fatalf("status %d, want %d: %s", got.Code, v.status(), got.Body)
	}
	if v.Expected.Code == "" {
		if replayed := got.Header().Get("Idempotency-Replayed") == "true"; replayed != v.Expected.Replayed {
			t.Errorf("replayed %v", replayed)
		}
		return
	}
	p := got.problem(t)
	if string(p.Code) != v.Expected.Code || p.Status != v.status() || p.Type != "https://agent-protocols/errors/"+v.Expected.Code {
		t.Errorf("got %+v", p)
	}
	if strings.Contains(got.Body.String(), "10.0.0.7") || strings.Contains(got.Body.String(), "something of ours") {
		t.Errorf("the answer tells about the inside: %s", got.Body)
	}
}

// spoil makes a token what its vector says it is.
func (w *world) spoil(state, token string, me contract.ActorID) {
	w.Helper()
	err := w.store.Store.Update(w.Context(), func(tx pipeline.Tx) error {
		switch state {
		case "expired":
			w.mu.Lock()
			w.now = start.AddDate(0, 1, 0)
			w.mu.Unlock()
		case "revoked":
			return tx.RevokeToken("tok-" + token)
		case "inactive actor":
			a, err := tx.Actor(me)
			if err != nil {
				return err
			}
			a.Active = false
			return tx.UpdateActor(a)
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// prepare brings about what the vector says was there before.
func (v vector) prepare(w *world, q request, roles contract.RoleSet) {
	w.Helper()
	in := v.Request
	must := func(r response, status int) {
		w.Helper()
		if r.Code != status {
			w.Fatalf("to prepare: %d %s", r.Code, r.Body)
		}
	}
	if in.Stored != nil && strings.HasPrefix(in.Stored.ETag, `"IC-`) {
		must(w.do(request{
			method: "POST", path: "/v1/intents", token: q.token, key: "before",
			body: object{"intent": "Add a login page", "priority": "low", "requestedCapabilities": []string{"read_repo"}},
		}), 201)
	}
	if in.Stored != nil && in.Stored.ActorID != "" {
		w.actor(contract.ActorID(in.Stored.ActorID), contract.Human, roles)
	}
	switch in.Earlier {
	case "same":
		must(w.do(q), 201)
	case "other body":
		q.body = bytes.Replace(q.body.([]byte), []byte("login"), []byte("logout"), 1)
		must(w.do(q), 201)
	case "other acting role":
		err := w.store.Store.Update(w.Context(), func(tx pipeline.Tx) error {
			return tx.AddRequest(pipeline.Request{
				Actor: "adm-001", Key: q.key, Method: q.method, Path: q.path, Role: contract.Admin,
				BodyDigest: contract.Hash(q.body.([]byte)), Status: 201, At: w.now,
			})
		})
		if err != nil {
			w.Fatal(err)
		}
	case "same, by another actor":
		q.token = w.actor("user-002", contract.Human, roles, in.Scopes...)
		must(w.do(q), 201)
	case "same, refused":
		w.store.fault = "store unreachable"
		must(w.do(q), 503)
		w.store.fault = ""
	case "same, under way":
		w.store.fault = "under way"
	}
	if in.OverRate {
		must(w.do(q), 200)
	}
	if in.Fault != "" {
		w.store.fault = in.Fault
	}
	if in.FirstKept > 0 {
		w.store.fault = "events gone"
	}
}
