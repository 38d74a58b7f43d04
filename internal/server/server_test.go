package server_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logged is a log that a test can read while it is written.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func config(t *testing.T, file string) server.Config {
	t.Helper()
	c, err := server.Load(server.Source{Name: "test.yaml", File: []byte("listen: 127.0.0.1:0\naudit.origin: plimsoll.test/log\nlog.format: json\n" + file)})
	if err != nil {
		t.Fatal(err)
	}
	return c.In(t.TempDir())
}

func people() []server.Person {
	return []server.Person{
		{ID: "alice", Type: contract.Human, Roles: contract.RolesOf(contract.Requester, contract.Admin)},
		{ID: "bob", Type: contract.Human, Roles: contract.RolesOf(contract.ProjectLead)},
		{ID: "runner", Type: contract.Agent, Roles: contract.RolesOf(contract.Developer)},
	}
}

// running is a service that runs until stop is called.
type running struct {
	t    *testing.T
	url  string
	log  *logged
	stop func() error
}

func start(t *testing.T, conf server.Config) *running {
	t.Helper()
	r := &running{t: t, log: &logged{}}
	ready := make(chan string, 1)
	s, err := server.New(t.Context(), conf, server.Options{Log: r.log, Version: "1.2.3", Ready: func(a string) { ready <- a }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	select {
	case a := <-ready:
		r.url = "http://" + a
	case err := <-ended:
		t.Fatal(err)
	}
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

func (r *running) do(method, path, token string, body any) (int, []byte) {
	r.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, bytes.NewReader(text))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Idempotency-Key", "k-"+strings.ReplaceAll(method+path, "/", "-"))
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	out, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.StatusCode, out
}

type object = map[string]any

func TestAnIntentBecomesATaskThroughTheQueue(t *testing.T) {
	conf := config(t, "")
	made, err := server.Setup(t.Context(), conf, people(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, conf)
	alice, bob := made[0].Token, made[1].Token
	intent := object{"intent": "Add a login page", "priority": "low", "requestedCapabilities": []string{"read_repo", "write_repo"}}
	if status, text := r.do("POST", "/v1/intents", alice, intent); status != 400 || !strings.Contains(string(text), "role.not_named") {
		t.Fatalf("%d %s", status, text) // alice is admin too
	}
	q, _ := http.NewRequestWithContext(t.Context(), "POST", r.url+"/v1/intents", strings.NewReader(`{"intent":"Add a login page","priority":"low","requestedCapabilities":["read_repo","write_repo"]}`))
	q.Header = http.Header{"Authorization": {"Bearer " + alice}, "Content-Type": {"application/json"}, "Idempotency-Key": {"k1"}, "Acting-Role": {"requester"}}
	a, err := http.DefaultClient.Do(q)
	if err != nil || a.StatusCode != 201 {
		t.Fatalf("%v %v", a, err)
	}
	_ = a.Body.Close()
	if status, text := r.do("POST", "/v1/contracts/IC-001/activations", bob, object{"version": 1, "decision": "approved"}); status != 201 {
		t.Fatalf("%d %s", status, text)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		status, text := r.do("GET", "/v1/tasks?claimable=true", alice, nil)
		if status == 200 && strings.Contains(string(text), "TS-001") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no task came of it: %d %s\n%s", status, text, r.log)
		}
		time.Sleep(10 * time.Millisecond) // the queue works on the real clock
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, text := r.do("GET", path, "", nil); status != 200 || !strings.Contains(string(text), `"ok"`) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// A job is measured after its change is there for all to see.
	for _, want := range []string{`plimsoll_request_duration_seconds_count{operation="task.list"`, `kind="generate_taskseed",otel_scope`} {
		for {
			status, text := r.do("GET", "/metrics", alice, nil)
			if status == 200 && strings.Contains(string(text), want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("metrics: %d, without %s", status, want)
			}
			time.Sleep(10 * time.Millisecond) // the queue works on the real clock
		}
	}
	if status, _ := r.do("GET", "/metrics", "", nil); status != 401 {
		t.Errorf("metrics for everybody: %d", status)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{alice, bob, "Add a login page"} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
	for line := range strings.Lines(r.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has a line that is no JSON: %s", line)
		}
	}
}

// A stop does not wait for streams, and it finishes what is under way.
func TestAStopIsOrdered(t *testing.T) {
	conf := config(t, "")
	made, err := server.Setup(t.Context(), conf, people(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, conf)
	q, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header = http.Header{"Authorization": {"Bearer " + made[0].Token}, "Accept": {"text/event-stream"}}
	stream, err := http.DefaultClient.Do(q)
	if err != nil || stream.StatusCode != 200 {
		t.Fatalf("%v %v", stream, err)
	}
	defer func() { _ = stream.Body.Close() }()
	began := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream was cut off instead of ended: %v", err)
	}
	log := r.log.String()
	if !strings.Contains(log, `"stopping"`) || !strings.Contains(log, `"stopped"`) {
		t.Errorf("%s", log)
	}
	// Everything is given back: the next process opens the same file.
	start(t, conf)
}

func TestASetupIsMadeOnce(t *testing.T) {
	conf := config(t, "")
	if _, err := server.New(t.Context(), conf, server.Options{}); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "no key") {
		t.Errorf("before a setup: %v", err)
	}
	for _, bad := range [][]server.Person{
		nil,
		{{ID: "a", Type: contract.Agent, Roles: contract.RolesOf(contract.Admin)}},
		{{ID: "a", Type: contract.Human, Roles: contract.RolesOf(contract.Admin)}, {ID: "a", Type: contract.Human}},
		{{ID: "policy-engine", Type: contract.Human, Roles: contract.RolesOf(contract.Admin)}},
		{{ID: "a", Type: "robot", Roles: contract.RolesOf(contract.Admin)}},
	} {
		if _, err := server.Setup(t.Context(), conf, bad, time.Hour); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	made, err := server.Setup(t.Context(), conf, people(), time.Hour)
	if err != nil || len(made) != 3 || made[0].Token == made[1].Token {
		t.Fatalf("%+v %v", made, err)
	}
	if _, err := server.Setup(t.Context(), conf, people(), time.Hour); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second setup: %v", err)
	}
	dir := filepath.Dir(strings.TrimPrefix(conf.DB, "sqlite:"))
	for name, mode := range map[string]os.FileMode{"plimsoll.key": 0o600, "plimsoll.key.pub": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

func TestACopyIsRestoredAfterItIsChecked(t *testing.T) {
	conf := config(t, "")
	if _, err := server.Setup(t.Context(), conf, people(), time.Hour); err != nil {
		t.Fatal(err)
	}
	start(t, conf) // copied while it is served
	folder := t.TempDir()
	copied := filepath.Join(folder, "copy.db")
	if err := server.Backup(t.Context(), conf, copied); err != nil {
		t.Fatal(err)
	}
	if err := server.Backup(t.Context(), conf, copied); fault.KindOf(err) != fault.Conflict {
		t.Errorf("over a file that is there: %v", err)
	}
	other := conf
	other.DB, other.AuditKey = "sqlite:"+filepath.Join(folder, "other.db"), filepath.Join(filepath.Dir(strings.TrimPrefix(conf.DB, "sqlite:")), "plimsoll.key")
	head, err := server.Restore(t.Context(), other, copied)
	if err != nil || head.Count == 0 {
		t.Fatalf("%+v %v", head, err)
	}
	if _, err := server.Restore(t.Context(), other, copied); fault.KindOf(err) != fault.Conflict {
		t.Errorf("over a database that is there: %v", err)
	}
	// A copy whose log was edited is put nowhere.
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE audit SET line = CAST(replace(CAST(line AS TEXT), 'alice', 'malice') AS BLOB) WHERE position = 1`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other.DB = "sqlite:" + filepath.Join(folder, "third.db")
	if _, err := server.Restore(t.Context(), other, copied); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an edited log: %v", err)
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "third") {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}

// Who asks is the address of the connection. What a header says of it counts
// only from a proxy that the configuration names, or a caller could pass for
// one who may read the metrics, or fill the audit log under many names.
func TestOnlyATrustedProxySaysWhoAsks(t *testing.T) {
	conf := config(t, "metrics.allow: [10.0.0.0/8]\nproxy.trust: [192.0.2.1, 192.0.2.2]\n")
	if _, err := server.Setup(t.Context(), conf, people(), time.Hour); err != nil {
		t.Fatal(err)
	}
	s := quiet(t, conf)
	for _, c := range []struct {
		name, from string
		forwarded  []string
		want       int
	}{
		{"an address that may", "10.1.2.3:4711", nil, 200},
		{"an address that may not", "203.0.113.9:4711", nil, 401},
		{"one that says it is another", "203.0.113.9:4711", []string{"10.1.2.3"}, 401},
		{"a proxy of ours for one that may", "192.0.2.1:4711", []string{"10.1.2.3"}, 200},
		{"a proxy of ours for one that may not", "192.0.2.1:4711", []string{"203.0.113.9"}, 401},
		{"what the caller wrote before the proxy did", "192.0.2.1:4711", []string{"10.1.2.3, 203.0.113.9"}, 401},
		{"the same in two headers", "192.0.2.1:4711", []string{"10.1.2.3", "203.0.113.9"}, 401},
		{"two proxies of ours", "192.0.2.1:4711", []string{"10.1.2.3, 192.0.2.2"}, 200},
		{"no address", "192.0.2.1:4711", []string{"10.1.2.3, unknown"}, 401},
		{"an address that may not, which says it is the proxy", "203.0.113.9:4711", []string{"10.1.2.3, 192.0.2.1"}, 401},
	} {
		q := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		q.RemoteAddr = c.from
		for _, line := range c.forwarded {
			q.Header.Add("X-Forwarded-For", line)
		}
		got := httptest.NewRecorder()
		s.Handler().ServeHTTP(got, q)
		if got.Code != c.want {
			t.Errorf("%s: %d, want %d", c.name, got.Code, c.want)
		}
	}
}

// quiet is a service that is set up and serves nobody but the test.
func quiet(t *testing.T, conf server.Config) *server.Server {
	t.Helper()
	s, err := server.New(t.Context(), conf, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestThePageOfTheDocumentCannotBeFramed(t *testing.T) {
	conf := config(t, "")
	if _, err := server.Setup(t.Context(), conf, people(), time.Hour); err != nil {
		t.Fatal(err)
	}
	got := httptest.NewRecorder()
	quiet(t, conf).Handler().ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/docs", http.NoBody))
	if policy := got.Header().Get("Content-Security-Policy"); got.Code != 200 || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("%d %q", got.Code, policy)
	}
}
