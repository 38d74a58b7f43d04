package consoletest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Issuer is an OpenID Connect issuer at which somebody is always signed in.
type Issuer struct {
	*httptest.Server

	mu    sync.Mutex // guards what follows
	who   string
	nonce string
}

// NewIssuer starts one.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{}
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		say(w, object{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		i.mu.Lock()
		i.nonce = q.Get("nonce")
		i.mu.Unlock()
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=the-code&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		say(w, object{"keys": []any{object{
			"kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		now := time.Now()
		claims, err := json.Marshal(object{
			"iss": i.URL, "aud": "plimsoll", "sub": "1", "nonce": i.nonce, "preferred_username": i.who, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		})
		if err != nil {
			panic(err)
		}
		signed := b64([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + b64(claims)
		sum := sha256.Sum256([]byte(signed))
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		say(w, object{"access_token": "x", "token_type": "Bearer", "id_token": signed + "." + b64(signature)})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// Be says who is signed in at the issuer.
func (i *Issuer) Be(who string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.who = who
}

// IssuerHost is the address that people reach a service with an issuer under.
const IssuerHost = "http://plimsoll.test"

// Settings is what a service is told of the issuer.
func (i *Issuer) Settings() []string {
	return []string{
		"oidc.issuer: " + i.URL, "oidc.client: plimsoll", "oidc.redirect: " + IssuerHost + "/login/callback", "oidc.claim: preferred_username",
	}
}
