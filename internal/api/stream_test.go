package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
)

// activate makes intents and lets them begin; each is one event.
func (w *world) activate(from, to int) {
	w.Helper()
	lead := w.actor("lead-001", contract.Human, contract.RolesOf(contract.ProjectLead), "decide", fmt.Sprint(from))
	me := w.actor("user-001", contract.Human, contract.RolesOf(contract.Requester), "write", fmt.Sprint(from))
	for n := from; n <= to; n++ {
		got := w.do(request{method: "POST", path: "/v1/intents", token: me, key: fmt.Sprint("c", n), body: sample["intent.create"]})
		if got.Code != 201 {
			w.Fatalf("%d %s", got.Code, got.Body)
		}
		got = w.do(request{
			method: "POST", path: fmt.Sprintf("/v1/contracts/IC-%03d/activations", n), token: lead, key: fmt.Sprint("a", n),
			body: object{"version": 1, "decision": "approved"},
		})
		if got.Code != 201 {
			w.Fatalf("%d %s", got.Code, got.Body)
		}
	}
}

// message is one message of a stream.
type message struct{ id, event, data string }

type reader struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
}

func (r *reader) next() message {
	r.t.Helper()
	var m message
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the stream broke off: %v", err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data = value
		case "":
			if m.id != "" {
				return m
			}
		}
	}
}

func TestAStreamResumesBehindAPosition(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.Pulse = time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() {
		if err := w.api.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(w.handler)
	defer func() {
		w.api.Close()
		server.Close()
		cancel()
		loop.Wait()
	}()
	token := w.actor("me", contract.Human, contract.RolesOf(contract.Requester), "read")
	open := func(query, last string) *reader {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/events"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept", "text/event-stream")
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		got, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s %s", got.Status, got.Header)
		}
		return &reader{t, got.Body, bufio.NewReader(got.Body)}
	}

	w.activate(1, 2)
	s := open("", "")
	first, second := s.next(), s.next()
	if first.id != "1" || second.id != "2" || first.event != "intent.created.v1" {
		t.Errorf("%+v, %+v", first, second)
	}
	var e struct{ SpecVersion, ID, Type, CorrelationID string }
	if err := json.Unmarshal([]byte(first.data), &e); err != nil || e.SpecVersion != "1.0" || e.Type != first.event || e.CorrelationID != "IC-001" {
		t.Errorf("%v %s", err, first.data)
	}
	// What happens while somebody listens comes by itself.
	w.activate(3, 3)
	if m := s.next(); m.id != "3" {
		t.Errorf("%+v", m)
	}
	if err := s.body.Close(); err != nil {
		t.Fatal(err)
	}
	// Who comes back misses nothing and gets nothing twice.
	w.activate(4, 5)
	again := open("?after=0", "3")
	if a, b := again.next(), again.next(); a.id != "4" || b.id != "5" {
		t.Errorf("%+v, %+v", a, b)
	}
	// A filter that matches later waits, however far the stream has gone on.
	only := open("?after=2&correlationid=IC-006", "")
	w.activate(6, 6)
	if m := only.next(); m.id != "6" {
		t.Errorf("%+v", m)
	}
	// A position in the future waits as well.
	future := open("?after=6", "")
	w.activate(7, 7)
	if m := future.next(); m.id != "7" {
		t.Errorf("%+v", m)
	}
}

// A client that announces a body and sends it too slowly is cut off, and so is
// one that never finishes its header.
func TestASlowClientIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *api.Config) { c.Now = time.Now })
		w.now = time.Now()
		token := w.actor("me", contract.Human, contract.RolesOf(contract.Requester), "write")
		listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: w.handler, ReadHeaderTimeout: 10 * time.Second}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(listener) })
		for name, text := range map[string]string{
			"header": "POST /v1/intents HTTP/1.1\r\nHost: x\r\n",
			"body": "POST /v1/intents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n" +
				"Content-Length: 100\r\n\r\n{",
		} {
			began := time.Now()
			conn := listener.dial()
			if _, err := io.WriteString(conn, text); err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(conn) // until the server hangs up
			if took := time.Since(began); took > time.Minute {
				t.Errorf("a slow %s was waited for %s", name, took)
			}
			if strings.Contains(string(answer), "201") {
				t.Errorf("a slow %s was taken: %s", name, answer)
			}
			_ = conn.Close()
		}
		_ = server.Close()
		serving.Wait()
		if err := w.closeStore(); err != nil {
			t.Error(err)
		}
	})
}

// pipeListener hands out connections that end in the test.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial() net.Conn {
	here, there := net.Pipe()
	l.conns <- there
	return here
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
