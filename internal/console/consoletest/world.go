// Package consoletest is a service with people and work in it, for the tests of
// the pages: the one that plimsoll serve starts, on a database of its own, told
// what to do through its use cases, with its own queue doing the rest.
package consoletest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/server"
)

// patience is for what happens by itself, far above what an idle machine needs.
const patience = time.Minute

// Staff is who works in every test: each has the office the name stands for.
var Staff = []string{
	"root:human:admin",
	"ada:human:requester",
	"lea:human:project_lead",
	"sam:human:security_reviewer",
	"rex:human:release_manager",
	"dora:human:requester,project_lead,security_reviewer",
	"bot:agent:developer,ci_agent,qa",
}

// World is a service that runs.
type World struct {
	testing.TB
	URL       string
	Contracts *pipeline.Service
	Circle    *request.Service
	Tokens    map[string]string // secrets, by actor

	database string // the file of it
	log      *log
	asked    atomic.Int64
	stop     func() error
}

// log is what the service writes.
type log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// New starts a service. settings are lines of its configuration file.
func New(t testing.TB, settings ...string) *World {
	t.Helper()
	file := "listen: 127.0.0.1:0\naudit.origin: plimsoll.test/log\nlog.format: json\nrepository: shop\n" + strings.Join(settings, "\n") + "\n"
	conf, err := server.Load(server.Source{Name: "test.yaml", File: []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	conf = conf.In(t.TempDir())
	people := []server.Person{}
	for _, text := range Staff {
		p, err := server.ParsePerson(text)
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, p)
	}
	made, err := server.Setup(t.Context(), conf, people, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{TB: t, Tokens: map[string]string{}, database: strings.TrimPrefix(conf.DB, "sqlite:"), log: &log{}}
	for i, m := range made {
		w.Tokens[string(people[i].ID)] = m.Token
	}
	ready := make(chan string, 1)
	s, err := server.New(t.Context(), conf, server.Options{Log: w.log, Version: "1.2.3", Ready: func(a string) { ready <- a }})
	if err != nil {
		t.Fatal(err)
	}
	w.Contracts, w.Circle = s.Contracts(), s.Circle()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	select {
	case a := <-ready:
		w.URL = "http://" + a
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	w.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

// Stop ends the service, as a lost connection looks to a page.
func (w *World) Stop() {
	w.Helper()
	if err := w.stop(); err != nil {
		w.Error(err)
	}
}

// Log is what the service has written so far.
func (w *World) Log() string {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.text.String()
}

// As is somebody under a role; "" where the use case asks for none.
func (w *World) As(who string, role contract.Role) pipeline.Caller {
	return pipeline.Caller{Actor: contract.ActorID(who), Role: role, Once: pipeline.Once{}}
}

// Until waits for something that happens by itself.
func (w *World) Until(what string, is func() bool) {
	w.Helper()
	until(w.TB, what, is, w.Log)
}

func until(t testing.TB, what string, is func() bool, otherwise func() string) {
	t.Helper()
	end := time.Now().Add(patience)
	for !is() {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s\n%s", what, patience, otherwise())
		}
		time.Sleep(5 * time.Millisecond) // the service works on the real clock
	}
}

// Visitor is somebody with a browser that runs no script.
type Visitor struct {
	w      *World
	client *http.Client
	Lang   string // of Accept-Language
	who    string
}

// Visit is a browser in which nobody has signed in; who is whose token a request
// carries, "" for nobody's.
func (w *World) Visit(who string) *Visitor {
	return &Visitor{w: w, who: who, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Answer is what a browser got.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Get opens a page.
func (v *Visitor) Get(path string) Answer { return v.do(http.MethodGet, path, nil, nil) }

// Post sends a form as it is.
func (v *Visitor) Post(path string, form url.Values) Answer {
	return v.do(http.MethodPost, path, form, map[string]string{"Sec-Fetch-Site": "same-origin"})
}

// PostFrom sends a form with headers of its own.
func (v *Visitor) PostFrom(path string, form url.Values, header map[string]string) Answer {
	return v.do(http.MethodPost, path, form, header)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// Submit opens a page, takes what its first form with this action carries, and
// sends it with the fields.
func (v *Visitor) Submit(page, action string, fields url.Values) Answer {
	v.w.Helper()
	a := v.Get(page)
	_, form, found := strings.Cut(a.Body, `action="`+action+`"`)
	if !found {
		v.w.Fatalf("%s has no form for %s (status %d)\n%s", page, action, a.Status, a.Body)
	}
	form, _, _ = strings.Cut(form, "</form>")
	all := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(form, -1) {
		all.Add(m[1], htmlText.Replace(m[2]))
	}
	for name, values := range fields {
		all[name] = values
	}
	return v.Post(action, all)
}

var htmlText = strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">")

func (v *Visitor) do(method, path string, form url.Values, header map[string]string) Answer {
	v.w.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	q, err := http.NewRequestWithContext(v.w.Context(), method, v.w.URL+path, body)
	if err != nil {
		v.w.Fatal(err)
	}
	if form != nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if v.who != "" {
		q.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: v.w.Tokens[v.who]})
	}
	if v.Lang != "" {
		q.Header.Set("Accept-Language", v.Lang)
	}
	for name, value := range header {
		q.Header.Set(name, value)
	}
	r, err := v.client.Do(q)
	if err != nil {
		v.w.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		v.w.Fatal(err)
	}
	return Answer{Status: r.StatusCode, Header: r.Header, Body: string(text)}
}

// Must is v, or the end of the test.
func Must[T any](w *World, v T, err error) T {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *World) text(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	return text
}

func (w *World) next(prefix string) string { return fmt.Sprintf("%s-%03d", prefix, w.asked.Add(1)) }
