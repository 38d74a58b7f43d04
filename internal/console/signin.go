package console

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Whoever has a token signs in with it: the browser then keeps it in a cookie
// that no script reads, and it counts as long as the token does. Signing out
// takes it out of the browser and leaves the token as it is; one that an issuer's
// sign-in made ends there (package login).

// sessionTime is the longest a browser keeps a token.
const sessionTime = 12 * time.Hour

// signInData is the page to sign in.
type signInData struct {
	Next   string
	Issuer string // where to sign in through the issuer, "" without one
	Wrong  string // a key of words/: why the last try failed
}

func (c *Console) signInPage(v *visit) (page, error) {
	d := signInData{Next: local(v.query("next"))}
	if c.conf.SignIn != "" {
		d.Issuer = c.conf.SignIn
	}
	return page{name: "signin", title: "signin.title", data: d}, nil
}

func (c *Console) signIn(v *visit) (page, error) {
	d := signInData{Next: local(v.form("next")), Issuer: c.conf.SignIn, Wrong: "signin.wrong"}
	again := page{name: "signin", title: "signin.title", data: d, status: http.StatusUnauthorized}
	if !c.doors.admit(v.now, c.conf.Client(v.r)) {
		return page{}, &notice{status: http.StatusTooManyRequests, title: "signin.too_often", words: "signin.too_often_how"}
	}
	secret := strings.TrimSpace(v.form("token"))
	if secret == "" || len(secret) > 512 {
		return again, nil
	}
	who, err := c.conf.Contracts.Authenticate(v.r.Context(), secret)
	if refusal.CodeOf(err) == refusal.AuthRequired {
		return again, nil
	}
	if err != nil {
		return page{}, err
	}
	v.who = who
	if !v.may(operation.Read) {
		d.Wrong = "signin.no_read"
		again.data, v.who = d, nil
		return again, nil
	}
	valid := sessionTime
	if left := who.Token.ExpiresAt.Sub(v.now); !who.Token.ExpiresAt.IsZero() && left < valid {
		valid = left
	}
	c.setCookie(v, tokenCookie, secret, valid)
	return page{}, goTo(d.Next)
}

func (c *Console) signOut(v *visit) (page, error) {
	c.setCookie(v, tokenCookie, "", -1)
	return page{}, goTo("/signin")
}

func (c *Console) setLanguage(v *visit) (page, error) {
	for _, l := range languages {
		if v.form("language") == l {
			c.setCookie(v, languageCookie, l, 365*24*time.Hour)
		}
	}
	return page{}, goTo(local(v.form("back")))
}

// doors bounds how often an address may try to sign in: a token cannot be
// guessed, and nobody is to try.
type doors struct {
	mu    sync.Mutex // guards tries
	tries map[string]*tried
}

type tried struct {
	n     int
	since time.Time
}

const (
	doorTries  = 30
	doorWindow = time.Minute
	doorsMost  = 10_000
)

func newDoors() *doors { return &doors{tries: map[string]*tried{}} }

func (d *doors) admit(now time.Time, from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tries[from]
	if t == nil || now.Sub(t.since) > doorWindow {
		if len(d.tries) >= doorsMost {
			clear(d.tries)
		}
		t = &tried{since: now}
		d.tries[from] = t
	}
	t.n++
	return t.n <= doorTries
}
