package console_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// ask is a request as it is, without a browser around it.
func ask(t *testing.T, client *http.Client, method, address string, form url.Values, header map[string]string) (*http.Response, string) {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	q, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		q.Header.Set(name, value)
	}
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

func still() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

var sealed = regexp.MustCompile(`name="seal" value="([^"]+)"`)

func sealOf(t *testing.T, body string) string {
	t.Helper()
	m := sealed.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("there is no form in\n%s", body)
	}
	return m[1]
}

// Behind https the cookie is one that no neighbour can set, whoever ends the TLS.
func TestTheCookieIsTheHostsOwnBehindHTTPS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	trusted := consoletest.New(t, "proxy.trust: 127.0.0.1")
	direct := consoletest.New(t, "tls.cert: "+cert, "tls.key: "+key)
	plain := consoletest.New(t)
	over := map[string]string{"X-Forwarded-Proto": "https"}
	for _, c := range []struct {
		name, address string
		w             *consoletest.World
		header        map[string]string
		secure        bool
	}{
		{"a proxy that is trusted", trusted.URL, trusted, over, true},
		{"a proxy that is trusted, over http", trusted.URL, trusted, nil, false},
		{"TLS of its own", strings.Replace(direct.URL, "http://", "https://", 1), direct, nil, true},
		{"a header that nobody vouches for", plain.URL, plain, over, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := still()
			client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the certificate is made here
			defer client.CloseIdleConnections()
			page, body := ask(t, client, "GET", c.address+"/signin", nil, c.header)
			if sts := page.Header.Get("Strict-Transport-Security"); (sts != "") != c.secure {
				t.Errorf("Strict-Transport-Security is %q", sts)
			}
			in, _ := ask(t, client, "POST", c.address+"/signin", url.Values{"seal": {sealOf(t, body)}, "token": {c.w.Tokens["lea"]}}, c.header)
			cookies := in.Cookies()
			if in.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
				t.Fatalf("%d %v", in.StatusCode, in.Header)
			}
			name := "plimsoll-session"
			if c.secure {
				name = "__Host-" + name
			}
			if k := cookies[0]; k.Name != name || k.Secure != c.secure || !k.HttpOnly || k.Path != "/" || k.Domain != "" || k.SameSite != http.SameSiteLaxMode {
				t.Errorf("%s", k)
			}
			// What a neighbour can set, without the prefix, is nobody's session there.
			for _, k := range []string{"plimsoll-session", "__Host-plimsoll-session"} {
				header := map[string]string{"Cookie": k + "=" + c.w.Tokens["lea"]}
				for n, v := range c.header {
					header[n] = v
				}
				a, _ := ask(t, client, "GET", c.address+"/health", nil, header)
				if (a.StatusCode == http.StatusOK) != (k == name) {
					t.Errorf("with %s: %d", k, a.StatusCode)
				}
			}
		})
	}
}

// certificate is a self-signed pair in files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"c.pem": {Type: "CERTIFICATE", Bytes: der}, "k.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
}

// Pages, files, redirects, refusals and errors: none can be framed, sniffed or made
// to load something from elsewhere.
func TestEveryAnswerIsProtected(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	v := w.Visit("lea")
	style := regexp.MustCompile(`href="(/static/[^"]+\.css)"`).FindStringSubmatch(v.Get("/health").Body)
	if style == nil {
		t.Fatal("the page has no style")
	}
	answers := map[string]consoletest.Answer{}
	for path, status := range map[string]int{
		"/health": 200, "/signin": 200, "/": 303, style[1]: 200, "/static/nothing.js": 404, "/favicon.ico": 302, "/health/nothing": 404,
		"/actors/nobody": 404, "/health?x=" + w.Tokens["lea"]: 400,
	} {
		a := v.Get(path)
		if answers[path] = a; a.Status != status {
			t.Errorf("%s: %d, want %d", path, a.Status, status)
		}
	}
	answers["a forged form"] = v.PostFrom("/signout", url.Values{}, map[string]string{"Sec-Fetch-Site": "cross-site"})
	answers["a form without its seal"] = v.Post("/signout", url.Values{})
	answers["nobody's page"] = w.Visit("").Get("/health")
	for what, a := range answers {
		csp := a.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "script-src 'self'", "style-src 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy of contents is %q, without %s", what, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || a.Header.Get("X-Frame-Options") != "DENY" || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
			a.Header.Get("Referrer-Policy") == "" || a.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s: %v", what, a.Header)
		}
		if a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may be read from elsewhere", what)
		}
	}
}

func TestATokenInAnAddressOpensNothingAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	secret := w.Tokens["lea"]
	for _, path := range []string{"/health?token=" + secret, "/health?access_token=" + secret, "/actors/" + secret, "/signin?next=" + url.QueryEscape("/inbox?token="+secret)} {
		for _, who := range []string{"", "sam"} {
			a := w.Visit(who).Get(path)
			if a.Status != http.StatusBadRequest || strings.Contains(a.Body, secret) || a.Header.Get("Set-Cookie") != "" || strings.Contains(a.Header.Get("Location"), secret) {
				t.Errorf("%s as %q: %d %v", strings.ReplaceAll(path, secret, "…"), who, a.Status, a.Header)
			}
		}
	}
	if strings.Contains(w.Log(), secret) {
		t.Error("the log holds the token")
	}
	// What only begins like one is a word.
	if a := w.Visit("lea").Get("/health?q=plm_format"); a.Status != http.StatusOK {
		t.Errorf("%d", a.Status)
	}
}

// Whoever planted a session in a browser does not have the one that is signed in
// to there, and no form of before counts in it.
func TestSigningInBeginsASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	planted := map[string]string{"Cookie": "plimsoll-session=" + w.Tokens["sam"], "Sec-Fetch-Site": "same-origin"}
	client := still()
	defer client.CloseIdleConnections()
	_, body := ask(t, client, "GET", w.URL+"/signin", nil, planted)
	old := sealOf(t, body)
	in, _ := ask(t, client, "POST", w.URL+"/signin", url.Values{"seal": {old}, "token": {w.Tokens["lea"]}}, planted)
	if in.StatusCode != 303 || len(in.Cookies()) != 1 || in.Cookies()[0].Value != w.Tokens["lea"] {
		t.Fatalf("%d %v", in.StatusCode, in.Header)
	}
	now := map[string]string{"Cookie": "plimsoll-session=" + w.Tokens["lea"], "Sec-Fetch-Site": "same-origin"}
	_, body = ask(t, client, "GET", w.URL+"/health", nil, now)
	if fresh := sealOf(t, body); fresh == old {
		t.Error("two sessions have one seal")
	}
	if a, _ := ask(t, client, "POST", w.URL+"/signout", url.Values{"seal": {old}}, now); a.StatusCode != http.StatusForbidden || len(a.Cookies()) != 0 {
		t.Errorf("a form of the session before: %d", a.StatusCode)
	}
	if a, _ := ask(t, client, "POST", w.URL+"/signin", url.Values{"seal": {"x"}, "token": {w.Tokens["sam"]}}, now); a.StatusCode != http.StatusForbidden {
		t.Errorf("signing in with no seal: %d", a.StatusCode)
	}
}

func TestTriesToSignInAreAuditedWithinABound(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, "proxy.trust: 127.0.0.1")
	count := func() (n int, lines string) {
		list, err := w.Contracts.AuditList(t.Context(), 0, pipeline.AuditFilter{Actions: []string{"console.signin"}}, 1000)
		for _, l := range consoletest.Must(w, list, err) {
			lines += string(l.Text) + "\n"
		}
		return len(list), lines
	}
	client := still()
	defer client.CloseIdleConnections()
	_, body := ask(t, client, "GET", w.URL+"/signin", nil, nil)
	try := func(from string) int {
		a, _ := ask(t, client, "POST", w.URL+"/signin", url.Values{"seal": {sealOf(t, body)}, "token": {"plm_guessed"}}, map[string]string{"X-Forwarded-For": from})
		return a.StatusCode
	}
	codes := map[int]int{}
	for range 40 {
		codes[try("203.0.113.7")]++
	}
	n, lines := count()
	if codes[401] != 30 || codes[429] != 10 || n != 10 {
		t.Errorf("answers %v, %d records", codes, n)
	}
	if !strings.Contains(lines, "auth.required") || !strings.Contains(lines, "from 203.0.113.7") || strings.Contains(lines, "guessed") {
		t.Errorf("%s", lines)
	}
	if code := try("203.0.113.8"); code != 401 {
		t.Errorf("another address: %d", code)
	}
	if n, _ := count(); n != 11 {
		t.Errorf("%d records", n)
	}
}

// listen reads the stream of an open page until it says that the session is over.
func listen(t *testing.T, w *consoletest.World, secret, topic string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/live?t="+topic, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: secret})
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		defer func() { _ = r.Body.Close() }()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok && event != "changed" {
				said <- event
				return
			}
		}
		said <- "the stream broke off"
	}()
	return said
}

func TestAnOpenPageEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	expect := func(what string, said <-chan string) {
		t.Helper()
		select {
		case s := <-said:
			if s != "ended" {
				t.Errorf("%s: %s", what, s)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: the page is told nothing", what)
		}
	}
	made := func(valid time.Duration) (id, secret string) {
		t.Helper()
		k, err := w.Contracts.TokenCreate(t.Context(), w.As("lea", ""), pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: time.Now().Add(valid)})
		return consoletest.Must(w, k, err).Of.ID, k.Secret
	}
	id, secret := made(time.Hour)
	revoked, other := listen(t, w, secret, "of:IC-404"), listen(t, w, w.Tokens["lea"], "of:IC-404")
	if err := w.Contracts.TokenRevoke(t.Context(), w.As("lea", ""), id); err != nil {
		t.Fatal(err)
	}
	expect("a token that was revoked", revoked)
	expect("a page that comes back with it", listen(t, w, secret, "all"))
	_, short := made(2 * time.Second)
	expect("a token whose time is over", listen(t, w, short, "of:IC-404"))
	select {
	case s := <-other:
		t.Errorf("another session of hers: %s", s)
	default:
	}
	no := false
	edited, err := w.Contracts.ActorEdit(t.Context(), w.As("root", contract.Admin), pipeline.ActorEdit{ID: "lea", Active: &no})
	consoletest.Must(w, edited, err)
	expect("an actor who was made inactive", other)

	// The next click leads to where to sign in, and back; what a page asks for
	// itself moves the page.
	lea := w.Visit("lea")
	if a := lea.Get("/health?x=1"); a.Status != 303 || a.Header.Get("Location") != "/signin?next="+url.QueryEscape("/health?x=1") {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	a, body := ask(t, still(), "GET", w.URL+"/health?seen=1", nil, map[string]string{
		"Cookie": "plimsoll-session=" + w.Tokens["lea"], "HX-Request": "true", "HX-Current-URL": w.URL + "/chains/IC-001?tab=diff",
	})
	if a.StatusCode != 204 || body != "" || a.Header.Get("HX-Redirect") != "/signin?next="+url.QueryEscape("/chains/IC-001?tab=diff") {
		t.Errorf("%d %v %s", a.StatusCode, a.Header, body)
	}
}

// A token and the issuer of an organisation are two ways into one kind of session,
// and signing out ends what the issuer's sign-in made.
func TestSomebodySignsInThroughTheIssuerAndOutOfEverything(t *testing.T) {
	t.Parallel()
	issuer := consoletest.NewIssuer(t)
	w := consoletest.New(t, issuer.Settings()...)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "plimsoll.test:") {
			address = strings.TrimPrefix(w.URL, "http://")
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	browser := &http.Client{Jar: jar, Transport: transport}
	defer browser.CloseIdleConnections()
	host := consoletest.IssuerHost
	same := map[string]string{"Sec-Fetch-Site": "same-origin"}

	_, body := ask(t, browser, "GET", host+"/signin?next=/health", nil, nil)
	if !strings.Contains(body, `href="/login?next=%2fhealth"`) || !strings.Contains(body, `id="token"`) {
		t.Fatalf("%s", body)
	}
	issuer.Be("stranger")
	a, body := ask(t, browser, "GET", host+"/login?next=/health", nil, nil)
	if a.Request.URL.Path != "/signin" || !strings.Contains(body, "nobody is registered under your name") {
		t.Errorf("%s %s", a.Request.URL, body)
	}
	// Sam has signed in with a token here before.
	_, body = ask(t, browser, "POST", host+"/signin", url.Values{"seal": {sealOf(t, body)}, "token": {w.Tokens["sam"]}, "next": {"/health"}}, same)
	if !strings.Contains(body, "<b>sam</b>") {
		t.Fatalf("%s", body)
	}
	issuer.Be("lea")
	a, body = ask(t, browser, "GET", host+"/login?next=/actors/me", nil, nil)
	if a.Request.URL.Path != "/actors/me" || !strings.Contains(body, "<b>lea</b>") || !strings.Contains(body, "sign-in") {
		t.Fatalf("%s %s", a.Request.URL, body)
	}
	here, err := url.Parse(host)
	if err != nil {
		t.Fatal(err)
	}
	cookies := jar.Cookies(here)
	if len(cookies) != 1 || cookies[0].Name != "plimsoll-token" {
		t.Fatalf("%v", cookies)
	}
	secret := cookies[0].Value
	ended := listen(t, w, secret, "all")
	a, body = ask(t, browser, "POST", host+"/signout", url.Values{"seal": {sealOf(t, body)}}, same)
	if a.Request.URL.Path != "/signin" || len(jar.Cookies(here)) != 0 {
		t.Errorf("%s %v %s", a.Request.URL, jar.Cookies(here), body)
	}
	if _, err := w.Contracts.Authenticate(t.Context(), secret); err == nil {
		t.Error("the token of the sign-in lives on")
	}
	if s := <-ended; s != "ended" {
		t.Errorf("a page that was open: %s", s)
	}
	if _, err := w.Contracts.Authenticate(t.Context(), w.Tokens["sam"]); err != nil {
		t.Error("a token that sam brought was ended")
	}
	// Signing in with a token ends the issuer's session, too.
	ask(t, browser, "GET", host+"/login", nil, nil)
	first := jar.Cookies(here)[0].Value
	_, body = ask(t, browser, "GET", host+"/signin", nil, nil)
	_, body = ask(t, browser, "POST", host+"/signin", url.Values{"seal": {sealOf(t, body)}, "token": {w.Tokens["sam"]}, "next": {"/health"}}, same)
	if list := jar.Cookies(here); !strings.Contains(body, "<b>sam</b>") || len(list) != 1 || list[0].Value != w.Tokens["sam"] {
		t.Errorf("%v", list)
	}
	if _, err := w.Contracts.Authenticate(t.Context(), first); err == nil {
		t.Error("the session before lives on")
	}
	if strings.Contains(w.Log(), secret) || strings.Contains(w.Log(), first) {
		t.Error("the log holds a token")
	}
}
