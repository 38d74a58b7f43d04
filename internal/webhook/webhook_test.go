package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/sqlite"
	"plimsoll.dev/internal/webhook"
)

var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// world is a store with a clock, a courier, and a subscriber that answers as it
// is told.
type world struct {
	*testing.T
	store   *store.Store
	courier *webhook.Courier
	hook    *httptest.Server

	mu     sync.Mutex // guards now, got and answer
	now    time.Time
	got    []received
	answer func(n int, r received) int
}

type received struct {
	header http.Header
	body   []byte
}

func newWorld(t *testing.T, allowed ...string) *world {
	t.Helper()
	w := &world{T: t, now: start, answer: func(int, received) int { return 204 }}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "plimsoll.db")})
	if err != nil {
		t.Fatal(err)
	}
	w.store, err = store.New(t.Context(), db, store.Config{
		Enqueue: func(context.Context, *sql.Tx, []pipeline.Job) error { return nil }, Now: w.clock, Origin: "plimsoll.test/log",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.hook = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.got = append(w.got, received{r.Header.Clone(), body})
		status := w.answer(len(w.got), received{r.Header, body})
		w.mu.Unlock()
		if status == http.StatusFound {
			rw.Header().Set("Location", "/elsewhere")
		}
		rw.WriteHeader(status)
	}))
	t.Cleanup(w.hook.Close)
	addresses, err := webhook.ParseAddresses(allowed)
	if err != nil {
		t.Fatal(err)
	}
	w.courier = webhook.New(webhook.Config{Store: w.store, Addresses: addresses, Log: slog.New(slog.DiscardHandler), Node: "n1", Limit: 2 * time.Second})
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) after(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) update(fn func(pipeline.Tx) error) {
	w.Helper()
	if err := w.store.Update(w.Context(), fn); err != nil {
		w.Fatal(err)
	}
}

var secret = []byte("0123456789abcdef0123456789abcdef")

func (w *world) subscribe(url string) {
	w.Helper()
	w.update(func(tx pipeline.Tx) error {
		return tx.CreateWebhook(&pipeline.Webhook{
			ID: "wh-1", URL: url, Secret: secret, Enabled: true, CreatedAt: w.now, UpdatedAt: w.now,
			OldSecret: []byte("old"), OldSecretUntil: time.Now().Add(time.Hour),
		})
	})
}

// emit puts the first two events of a chain on the bus.
func (w *world) emit(chain string) {
	w.Helper()
	ic := event.Created(event.Subject{Kind: "IntentContract", ID: chain, Version: 1}, event.Origin{Chain: chain, At: "2026-03-29T10:00:00Z"}, []byte(`{"n":1}`))
	ts := event.Created(event.Subject{Kind: "TaskSeed", ID: strings.Replace(chain, "IC", "TS", 1), Version: 1},
		event.Origin{Chain: chain, Cause: ic.ID, At: "2026-03-29T10:00:01Z"}, []byte(`{"n":2}`))
	w.update(func(tx pipeline.Tx) error {
		if err := tx.CreateChain(&pipeline.Chain{ID: contract.ID(chain), Version: 1, CreatedAt: w.now, UpdatedAt: w.now}); err != nil {
			return err
		}
		if err := tx.Emit(ic); err != nil {
			return err
		}
		return tx.Emit(ts)
	})
}

// round carries what is due and answers the ids that were received since.
func (w *world) round() []string {
	w.Helper()
	w.mu.Lock()
	before := len(w.got)
	w.mu.Unlock()
	if err := w.courier.Round(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := []string{}
	for _, r := range w.got[before:] {
		ids = append(ids, r.header.Get("webhook-id"))
	}
	slices.Sort(ids)
	return ids
}

func (w *world) deliveries() []pipeline.Delivery {
	w.Helper()
	var list []pipeline.Delivery
	err := w.store.View(w.Context(), func(r pipeline.Reader) (err error) {
		list, err = r.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-1"}, 0, 0)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

const (
	intent = "intent.created.v1/IC-001/1"
	task   = "taskseed.created.v1/TS-001/1"
)

func TestAnEventArrivesSignedAndAsACloudEvent(t *testing.T) {
	w := newWorld(t, "127.0.0.1")
	w.subscribe(w.hook.URL + "/hook?key=topsecret")
	w.emit("IC-001")
	if ids := w.round(); !slices.Equal(ids, []string{intent}) {
		t.Fatalf("received %q", ids)
	}
	r := w.got[0]
	if got := r.header.Get("Content-Type"); got != "application/cloudevents+json; charset=utf-8" {
		t.Errorf("as %s", got)
	}
	var e cloudevents.Event
	if err := json.Unmarshal(r.body, &e); err != nil || e.Validate() != nil {
		t.Fatalf("the library does not take it: %v %v\n%s", err, e.Validate(), r.body)
	}
	if e.ID() != intent || e.Type() != "intent.created.v1" || e.Source() != "/agent-protocols/orchestrator" || e.Subject() != "IC-001" || string(e.Data()) != `{"n":1}` {
		t.Errorf("%s", e)
	}
	stamp := r.header.Get("webhook-timestamp")
	signatures := strings.Fields(r.header.Get("webhook-signature"))
	for i, key := range [][]byte{secret, []byte("old")} {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", intent, stamp, r.body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); len(signatures) != 2 || signatures[i] != want {
			t.Errorf("signatures %q, want %s at %d", signatures, want, i)
		}
	}
}

func TestTheNextEventOfAChainWaitsForTheOneBefore(t *testing.T) {
	w := newWorld(t, "127.0.0.1")
	w.subscribe(w.hook.URL)
	w.emit("IC-001")
	w.emit("IC-002")
	w.answer = func(_ int, r received) int {
		if r.header.Get("webhook-id") == intent {
			return 500
		}
		return 200
	}
	// The chain that fails holds up itself and nobody else.
	w.round()
	if ids := w.round(); !slices.Equal(ids, []string{"taskseed.created.v1/TS-002/1"}) {
		t.Errorf("received %q", ids)
	}
	if ids := w.round(); len(ids) != 0 {
		t.Errorf("before its time: %q", ids)
	}
	// 1 s, 2 s, 4 s.
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		w.after(wait - time.Millisecond)
		if ids := w.round(); len(ids) != 0 {
			t.Errorf("%s is not over: %q", wait, ids)
		}
		w.after(time.Millisecond)
		if ids := w.round(); !slices.Equal(ids, []string{intent}) {
			t.Errorf("after %s: %q", wait, ids)
		}
	}
	w.answer = func(int, received) int { return 202 }
	w.after(8 * time.Second)
	if ids := append(w.round(), w.round()...); !slices.Equal(ids, []string{intent, task}) {
		t.Errorf("received %q", ids)
	}
	for _, d := range w.deliveries() {
		if d.Status != pipeline.DeliveryDelivered || d.EventID == intent && d.Attempts != 5 {
			t.Errorf("%+v", d)
		}
	}
}

func TestTheWaitDoublesUpToAnHour(t *testing.T) {
	for attempts, want := range map[int64]time.Duration{0: 0, 1: time.Second, 2: 2 * time.Second, 12: 2048 * time.Second, 13: time.Hour, 1 << 40: time.Hour} {
		if got := webhook.Wait(attempts); got != want {
			t.Errorf("after %d attempts %s, want %s", attempts, got, want)
		}
	}
}

func TestGoneEndsASubscriptionAndARedirectIsNotFollowed(t *testing.T) {
	w := newWorld(t, "127.0.0.1")
	w.subscribe(w.hook.URL)
	w.emit("IC-001")
	w.answer = func(n int, _ received) int {
		if n == 1 {
			return http.StatusFound
		}
		return http.StatusGone
	}
	w.round()
	if d := w.deliveries()[1]; len(w.got) != 1 || d.LastStatus != 302 || d.Status != pipeline.DeliveryPending {
		t.Errorf("%d requests, %+v", len(w.got), d)
	}
	w.after(time.Minute)
	w.round()
	w.after(time.Hour)
	if ids := w.round(); len(ids) != 0 {
		t.Errorf("received after it was gone: %q", ids)
	}
	err := w.store.View(t.Context(), func(r pipeline.Reader) error {
		h, err := r.Webhook("wh-1")
		if err == nil && h.Enabled {
			t.Error("it is still enabled")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The address counts when the connection is made: a name that is allowed and
// leads inside gets nothing, and the error tells nothing of the URL.
func TestNobodyInsideIsCalled(t *testing.T) {
	w := newWorld(t)
	w.subscribe(w.hook.URL + "/topsecret")
	w.emit("IC-001")
	if ids := w.round(); len(ids) != 0 {
		t.Errorf("received %q", ids)
	}
	if d := w.deliveries()[1]; d.LastError != "the address is forbidden" || d.Attempts != 1 {
		t.Errorf("%+v", d)
	}
	name, err := os.Hostname()
	if err != nil || strings.Contains(name, ":") {
		t.Skip("SKIPPED: this machine has no name")
	}
	addresses, err := webhook.ParseAddresses(nil)
	if err != nil {
		t.Fatal(err)
	}
	url := "https://" + name + ":" + w.hook.URL[strings.LastIndexByte(w.hook.URL, ':')+1:] + "/topsecret"
	if err := addresses.Check(url); err != nil {
		t.Skipf("SKIPPED: the name of this machine is refused by itself: %v", err)
	}
	w.update(func(tx pipeline.Tx) error {
		h, err := tx.Webhook("wh-1")
		if err != nil {
			return err
		}
		h.URL = url
		return tx.UpdateWebhook(h)
	})
	w.after(time.Minute)
	if ids := w.round(); len(ids) != 0 {
		t.Errorf("received %q", ids)
	}
	if d := w.deliveries()[1]; d.LastError != "the address is forbidden" && !strings.HasPrefix(d.LastError, "dial") || strings.Contains(d.LastError, "topsecret") {
		t.Errorf("%+v", d)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		allowed, url string
		ok           bool
	}{
		{"", "https://hooks.example/x", true},
		{"", "https://8.8.8.8/x", true},
		{"", "https://[2606:4700::1111]/x", true},
		{"", "http://hooks.example/x", false},
		{"", "https://localhost/x", false},
		{"", "https://LOCALHOST./x", false},
		{"", "https://a.localhost/x", false},
		{"", "https://2130706433/x", false},
		{"", "https://0x7f000001/x", false},
		{"", "https://127.1/x", false},
		{"", "https://0177.0.0.1/x", false},
		{"", "https://100.64.0.1/x", false},
		{"", "https://192.168.1.1/x", false},
		{"", "https://172.16.0.1/x", false},
		{"", "https://0.0.0.0/x", false},
		{"", "https://224.0.0.1/x", false},
		{"", "https://255.255.255.255/x", false},
		{"", "https://[fe80::1]/x", false},
		{"", "https://[fd00::1]/x", false},
		{"", "https://[64:ff9b::a00:1]/x", false},
		{"", "https://[::ffff:127.0.0.1]/x", false},
		{"", "https://[::127.0.0.1]/x", false},
		{"", "https://[2002:7f00:1::]/x", false},
		{"", "ftp://hooks.example/x", false},
		{"", "https:///x", false},
		{"", "https://hooks.example/x#part", false},
		{"", "not a url", false},
		{"", "https:hooks.example", false},
		{"10.0.0.0/8", "http://10.1.2.3/x", true},
		{"10.0.0.0/8", "http://10.1.2.3:8080/x", true},
		{"10.0.0.0/8", "http://11.1.2.3/x", false},
		{"hooks.internal", "http://hooks.internal/x", true},
		{"hooks.internal", "http://HOOKS.internal./x", true},
		{"hooks.internal", "http://other.internal/x", false},
		{"hooks.internal", "https://user:pw@hooks.internal/x", false},
	} {
		list := []string{}
		if c.allowed != "" {
			list = append(list, c.allowed)
		}
		a, err := webhook.ParseAddresses(list)
		if err != nil {
			t.Fatal(err)
		}
		err = a.Check(c.url)
		if (err == nil) != c.ok {
			t.Errorf("%s beside %q: %v", c.url, c.allowed, err)
		}
	}
	for _, bad := range []string{"", "http://x", "a b", "10.0.0.0/99"} {
		if _, err := webhook.ParseAddresses([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestATestIsSentOnce(t *testing.T) {
	w := newWorld(t, "127.0.0.1")
	w.subscribe(w.hook.URL)
	job := pipeline.Attempt{Job: pipeline.Job{Kind: pipeline.JobPing, Args: []byte(`{"webhook":"wh-1"}`)}, Number: 1, Last: true}
	if err := w.courier.Ping(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if len(w.got) != 1 || !bytes.Contains(w.got[0].body, []byte(`"type":"plimsoll.webhook.test.v1"`)) {
		t.Errorf("%d requests", len(w.got))
	}
	var e cloudevents.Event
	if err := json.Unmarshal(w.got[0].body, &e); err != nil || e.Validate() != nil {
		t.Errorf("%v %v", err, e.Validate())
	}
	w.answer = func(int, received) int { return 500 }
	if err := w.courier.Ping(t.Context(), job); err == nil {
		t.Error("a test that failed is a failed job")
	}
	job.Args = []byte(`{"webhook":"wh-gone"}`)
	if err := w.courier.Ping(t.Context(), job); err != nil {
		t.Error(err)
	}
}

func TestWhatPeopleConfirmedLeavesUnderOneID(t *testing.T) {
	w := newWorld(t, "127.0.0.1")
	w.subscribe(w.hook.URL)
	content := []byte(`{"body":"we open our garden","channel":"webhook"}`)
	w.answer = func(n int, _ received) int { return map[bool]int{true: 500, false: 200}[n <= 1] }
	if err := w.courier.Leave(t.Context(), "wh-1", "art-1/wh-1", "art-1", content); err == nil {
		t.Error("a delivery that failed is a failed job")
	}
	if err := w.courier.Leave(t.Context(), "wh-1", "art-1/wh-1", "art-1", content); err != nil {
		t.Fatal(err)
	}
	if len(w.got) != 2 {
		t.Fatalf("%d requests", len(w.got))
	}
	for _, got := range w.got {
		var e cloudevents.Event
		if err := json.Unmarshal(got.body, &e); err != nil || e.Validate() != nil || e.ID() != "art-1/wh-1" || e.Type() != "plimsoll.circle.bridge.v1" || e.Subject() != "art-1" {
			t.Errorf("%v %s", err, got.body)
		}
		if !bytes.Contains(got.body, content) {
			t.Errorf("not what was confirmed: %s", got.body)
		}
	}
	if err := w.courier.Leave(t.Context(), "wh-gone", "art-1/wh-gone", "art-1", content); err != nil {
		t.Error(err)
	}
}
