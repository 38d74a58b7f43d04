package login_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/login"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// issuer is an OpenID Connect issuer that says of everybody what it is told.
type issuer struct {
	*httptest.Server
	t      *testing.T
	key    *rsa.PrivateKey
	asked  int
	nonce  string
	proof  string // the challenge of the code verifier
	claims map[string]any
	sign   *rsa.PrivateKey // another key than the published one, when it is set
	down   bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key, sign: key, claims: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.asked++
		if i.down {
			w.WriteHeader(503)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		i.nonce, i.proof = q.Get("nonce"), q.Get("code_challenge")
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=the-code&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		b64 := base64.RawURLEncoding.EncodeToString
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if r.PostFormValue("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != i.proof {
			w.WriteHeader(400)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.identity()})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) identity() string {
	claims := map[string]any{"iss": i.URL, "aud": "plimsoll", "sub": "1", "nonce": i.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	for name, v := range i.claims {
		claims[name] = v
	}
	text, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	signed := b64([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + b64(text)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.sign, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return signed + "." + b64(signature)
}

// registry knows alice, who is a person, and some who are not.
type registry struct {
	made    []pipeline.TokenArgs
	revoked []string
}

func (g *registry) ActorGet(_ context.Context, id contract.ActorID) (*pipeline.Actor, error) {
	switch id {
	case "alice@example.org":
		return &pipeline.Actor{ID: id, Type: contract.Human, Active: true, Roles: contract.RolesOf(contract.ProjectLead)}, nil
	case "robot@example.org":
		return &pipeline.Actor{ID: id, Type: contract.Agent, Active: true}, nil
	case "gone@example.org":
		return &pipeline.Actor{ID: id, Type: contract.Human}, nil
	}
	return nil, fault.E("", fault.NotFound, "unknown", nil)
}

func (g *registry) TokenCreate(_ context.Context, by pipeline.Caller, a pipeline.TokenArgs) (*pipeline.Secret[*pipeline.Token], error) {
	g.made = append(g.made, a)
	return &pipeline.Secret[*pipeline.Token]{Of: &pipeline.Token{ID: "tok-1", Actor: by.Actor}, Secret: "plm_of_" + string(by.Actor)}, nil
}

func (g *registry) TokenRevoke(_ context.Context, _ pipeline.Caller, id string) error {
	g.revoked = append(g.revoked, id)
	return nil
}

func (g *registry) Authenticate(_ context.Context, secret string) (*pipeline.Identity, error) {
	if !strings.HasPrefix(secret, "plm_of_") {
		return nil, errors.New("unknown")
	}
	return &pipeline.Identity{Actor: &pipeline.Actor{ID: "alice@example.org"}, Token: pipeline.Token{ID: "tok-1"}}, nil
}

type bench struct {
	*testing.T
	issuer   *issuer
	registry *registry
	login    *login.Login
	site     *httptest.Server
	browser  *http.Client
	now      time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, issuer: newIssuer(t), registry: &registry{}, now: time.Now()}
	mux := http.NewServeMux()
	b.site = httptest.NewServer(mux)
	t.Cleanup(b.site.Close)
	var err error
	b.login, err = login.New(login.Config{
		Issuer: b.issuer.URL, Client: "plimsoll", Secret: "s", Redirect: b.site.URL + login.Callback, Claim: "email", Service: b.registry,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/login", b.login)
	mux.Handle("/login/", b.login)
	mux.Handle("/logout", b.login)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.Path + " as " + b.login.Token(r)))
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.browser = &http.Client{Jar: jar}
	return b
}

func (b *bench) get(path string) (status int, body string) {
	b.Helper()
	r, err := b.browser.Get(b.site.URL + path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text := make([]byte, 4096)
	n, _ := r.Body.Read(text)
	return r.StatusCode, string(text[:n])
}

func TestAPersonSignsInAndOut(t *testing.T) {
	b := newBench(t)
	if b.issuer.asked != 0 {
		t.Error("the issuer was asked at the start")
	}
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	if status, body := b.get("/login?next=/gates/PG-001"); status != 200 || body != "/gates/PG-001 as plm_of_alice@example.org" {
		t.Fatalf("%d %s", status, body)
	}
	if a := b.registry.made[0]; strings.Join(a.Scopes, " ") != "read write decide audit" || !a.ExpiresAt.After(b.now) || a.ExpiresAt.After(b.now.Add(24*time.Hour)) {
		t.Errorf("%+v", a)
	}
	r, err := b.browser.Post(b.site.URL+"/logout", "", nil)
	if err != nil || r.StatusCode != 204 {
		t.Fatalf("%v %v", r, err)
	}
	_ = r.Body.Close()
	if len(b.registry.revoked) != 1 {
		t.Error("the token lives on")
	}
	if _, body := b.get("/"); body != "/ as " {
		t.Errorf("signed out, and still %q", body)
	}
	b.get("/login")
	if b.issuer.asked != 1 {
		t.Errorf("the issuer was asked %d times who it is", b.issuer.asked)
	}
}

func TestWhoIsNobodyHereIsRefused(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*bench){
		"no actor":            func(b *bench) { b.issuer.claims["email"] = "mallory@example.org" },
		"not verified":        func(b *bench) { b.issuer.claims["email_verified"] = false },
		"verified as text":    func(b *bench) { b.issuer.claims["email_verified"] = "true" },
		"no email":            func(b *bench) { delete(b.issuer.claims, "email") },
		"an agent":            func(b *bench) { b.issuer.claims["email"] = "robot@example.org" },
		"inactive":            func(b *bench) { b.issuer.claims["email"] = "gone@example.org" },
		"for somebody else":   func(b *bench) { b.issuer.claims["aud"] = "another" },
		"by somebody else":    func(b *bench) { b.issuer.claims["iss"] = "https://evil.example" },
		"another key":         func(b *bench) { b.issuer.sign = other },
		"another nonce":       func(b *bench) { b.issuer.claims["nonce"] = "replayed" },
		"expired":             func(b *bench) { b.issuer.claims["exp"] = time.Now().Add(-time.Hour).Unix() },
		"the attempt too old": func(b *bench) { b.issuer.claims["exp"] = time.Now().Add(-24 * time.Hour).Unix() },
	} {
		b := newBench(t)
		b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
		change(b)
		if status, body := b.get("/login"); status != 403 || len(b.registry.made) != 0 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// An answer that this browser did not ask for is refused, whoever it is of.
func TestAnAnswerNobodyAskedForIsRefused(t *testing.T) {
	b := newBench(t)
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	if status, _ := b.get("/login/callback?code=the-code&state=x"); status != 403 {
		t.Errorf("without an attempt: %d", status)
	}
	b.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.get("/login")
	if status, _ := b.get("/login/callback?code=the-code&state=other"); status != 403 {
		t.Errorf("with another state: %d", status)
	}
	if status, _ := b.get("/login/callback?error=access_denied&state=other"); status != 403 {
		t.Errorf("with an error: %d", status)
	}
	if len(b.registry.made) != 0 {
		t.Error("a token was made")
	}
}

func TestNobodyIsSentElsewhere(t *testing.T) {
	for _, next := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)", "evil", "/\t/evil.example"} {
		b := newBench(t)
		b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
		if status, body := b.get("/login?next=" + url.QueryEscape(next)); status != 200 || !strings.HasPrefix(body, "/ as ") {
			t.Errorf("%s: %d %s", next, status, body)
		}
	}
}

func TestAnIssuerThatIsAwayIsAskedAgain(t *testing.T) {
	b := newBench(t)
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	b.issuer.down = true
	if status, _ := b.get("/login"); status != 503 {
		t.Errorf("%d", status)
	}
	b.issuer.down = false
	if status, _ := b.get("/login"); status != 200 {
		t.Errorf("%d", status)
	}
}

func TestARedirectThatLeadsNowhereIsRefused(t *testing.T) {
	for _, redirect := range []string{"", "/login/callback", "https://x/other", "ftp://x/login/callback"} {
		if _, err := login.New(login.Config{Redirect: redirect}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", redirect, err)
		}
	}
}

// What a sign-in leaves in the browser stays with it and with this site: no
// script reads it, no other site sends it along with a form, and no neighbour
// sets it where people come by https.
func TestTheCookiesOfASignInStayWithTheirSite(t *testing.T) {
	b := newBench(t)
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	b.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, c := range []struct {
		redirect, prefix string
		secure           bool
	}{
		{b.site.URL + login.Callback, "plimsoll-", false},
		{"https://plimsoll.example" + login.Callback, "__Host-plimsoll-", true},
	} {
		signIn, err := login.New(login.Config{
			Issuer: b.issuer.URL, Client: "plimsoll", Secret: "s", Redirect: c.redirect, Claim: "email", Service: b.registry,
			Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
		})
		if err != nil {
			t.Fatal(err)
		}
		begun := httptest.NewRecorder()
		signIn.ServeHTTP(begun, httptest.NewRequest(http.MethodGet, login.Path, http.NoBody))
		r, err := b.browser.Get(begun.Header().Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		back, err := url.Parse(r.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRequest(http.MethodGet, back.RequestURI(), http.NoBody)
		for _, cookie := range begun.Result().Cookies() {
			answer.AddCookie(cookie)
		}
		finished := httptest.NewRecorder()
		signIn.ServeHTTP(finished, answer)
		if finished.Code != http.StatusSeeOther || strings.Contains(finished.Header().Get("Location"), "plm_") {
			t.Fatalf("%s: %d to %q", c.redirect, finished.Code, finished.Header().Get("Location"))
		}
		names := map[string]bool{}
		for _, cookie := range append(begun.Result().Cookies(), finished.Result().Cookies()...) {
			names[cookie.Name] = true
			if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure != c.secure || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("%s: %s", c.redirect, cookie)
			}
		}
		if !names[c.prefix+"attempt"] || !names[c.prefix+"token"] || len(names) != 2 {
			t.Errorf("%s: the cookies are %v", c.redirect, names)
		}
		for _, said := range []*httptest.ResponseRecorder{begun, finished} {
			if h := said.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
				h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s: %v", c.redirect, h)
			}
		}
	}
}

// Where there is a page to sign in at, a sign-in that failed ends there, and one
// that did not is told of before the browser is sent on.
func TestAFailedSignInEndsAtTheDoor(t *testing.T) {
	b := newBench(t)
	entered := 0
	signIn, err := login.New(login.Config{
		Issuer: b.issuer.URL, Client: "plimsoll", Secret: "s", Redirect: b.site.URL + login.Callback, Claim: "email", Service: b.registry, Door: "/signin",
		Entered: func(w http.ResponseWriter, _ *http.Request) { entered++; w.Header().Set("X-Entered", "yes") },
		Log:     slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.issuer.down = true
	away := httptest.NewRecorder()
	signIn.ServeHTTP(away, httptest.NewRequest(http.MethodGet, login.Path, http.NoBody))
	refused := httptest.NewRecorder()
	signIn.ServeHTTP(refused, httptest.NewRequest(http.MethodGet, login.Callback+"?code=x&state=y", http.NoBody))
	for want, said := range map[string]*httptest.ResponseRecorder{"/signin?issuer=away": away, "/signin?issuer=refused": refused} {
		if said.Code != http.StatusSeeOther || said.Header().Get("Location") != want {
			t.Errorf("%d to %q, want %s", said.Code, said.Header().Get("Location"), want)
		}
	}
	if entered != 0 {
		t.Error("a sign-in that failed counts as one")
	}
}

// A link to the sign-out, or an image of it, ends nothing.
func TestALinkSignsNobodyOut(t *testing.T) {
	b := newBench(t)
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	b.get("/login")
	if status, _ := b.get(login.Out); status != 404 || len(b.registry.revoked) != 0 {
		t.Errorf("%d, %v", status, b.registry.revoked)
	}
	if _, body := b.get("/"); body != "/ as plm_of_alice@example.org" {
		t.Errorf("signed out: %q", body)
	}
}

func TestAnAttemptEndsAfterItsTime(t *testing.T) {
	b := newBench(t)
	b.issuer.claims = map[string]any{"email": "alice@example.org", "email_verified": true}
	for wait, want := range map[time.Duration]int{9 * time.Minute: 200, 11 * time.Minute: 403} {
		began := b.now
		b.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path == login.Callback {
				b.now = began.Add(wait)
			}
			return nil
		}
		if status, body := b.get("/login"); status != want {
			t.Errorf("after %s: %d %s", wait, status, body)
		}
		b.now = began
	}
}
