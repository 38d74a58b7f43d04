package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Whoever has a token signs in with it: the browser then keeps it in a cookie
// that no script reads, and it counts as long as the token does. Signing out
// takes it out of the browser and leaves the token as it is; one that an issuer's
// sign-in made ends there (package login). A browser holds one session: signing in
// ends what was there before.

// sessionTime is the longest a browser keeps a token.
const sessionTime = 12 * time.Hour

// signInAction is what tries to sign in that were refused are audited as.
const signInAction = "console.signin"

// recordGrace is how long the record of a refusal may take.
const recordGrace = 5 * time.Second

// signInData is the page to sign in.
type signInData struct {
	Next   string
	Issuer string // where to sign in through the issuer, "" without one
	Wrong  string // a key of words/: why the last try failed
}

func (c *Console) signInPage(v *visit) (page, error) {
	d := signInData{Next: local(v.query("next")), Issuer: c.conf.SignIn}
	switch v.query("issuer") {
	case "refused":
		d.Wrong = "signin.issuer_refused"
	case "away":
		d.Wrong = "signin.issuer_away"
	}
	return page{name: "signin", title: "signin.title", data: d}, nil
}

func (c *Console) signIn(v *visit) (page, error) {
	d := signInData{Next: local(v.form("next")), Issuer: c.conf.SignIn, Wrong: "signin.wrong"}
	again := page{name: "signin", title: "signin.title", data: d, status: http.StatusUnauthorized}
	from := c.conf.Client(v.r)
	if !c.doors.admit(v.now, from) {
		return page{}, &notice{status: http.StatusTooManyRequests, title: "signin.too_often", words: "signin.too_often_how"}
	}
	secret := strings.TrimSpace(v.form("token"))
	if secret == "" || len(secret) > 512 {
		return again, nil
	}
	who, err := c.conf.Contracts.Authenticate(v.r.Context(), secret)
	if refusal.CodeOf(err) == refusal.AuthRequired {
		return again, c.refusedDoor(v, from, err)
	}
	if err != nil {
		return page{}, err
	}
	if !mayRead(who) {
		d.Wrong = "signin.no_read"
		again.data = d
		return again, nil
	}
	if c.conf.SignedIn != nil && c.conf.SignedIn(v.r) != "" {
		c.conf.SignOut(v.w, v.r) // of whoever signed in through the issuer before
	}
	v.who = who
	valid := sessionTime
	if left := who.Token.ExpiresAt.Sub(v.now); !who.Token.ExpiresAt.IsZero() && left < valid {
		valid = left
	}
	c.setCookie(v, tokenCookie, secret, valid)
	return page{}, goTo(d.Next)
}

func mayRead(who *pipeline.Identity) bool {
	return (&visit{who: who}).may(operation.Read)
}

// refusedDoor audits a try to sign in with a token that does not count, with the
// address it came from, within a bound: who tries without end fills no log. Nothing
// is kept of what was tried.
func (c *Console) refusedDoor(v *visit, from string, refused error) error {
	if !c.doors.record(v.now, from) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), recordGrace)
	defer cancel()
	told := refusal.New(refusal.CodeOf(refused), "the token is not valid (from %s)", from)
	if err := c.conf.Contracts.Refuse(ctx, pipeline.Caller{}, signInAction, told); refusal.CodeOf(err) != refusal.AuthRequired {
		return err
	}
	return nil
}

func (c *Console) signOut(v *visit) (page, error) {
	c.setCookie(v, tokenCookie, "", -1)
	if c.conf.SignOut != nil {
		c.conf.SignOut(v.w, v.r)
	}
	return page{}, goTo("/signin")
}

// Forget takes a token that somebody signed in with out of their browser: they
// have signed in through the issuer since.
func (c *Console) Forget(w http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie(c.cookieName(r, tokenCookie)); err == nil {
		c.setCookie(&visit{w: w, r: r}, tokenCookie, "", -1)
	}
}

func (c *Console) setLanguage(v *visit) (page, error) {
	for _, l := range languages {
		if v.form("language") == l {
			c.setCookie(v, languageCookie, l, 365*24*time.Hour)
		}
	}
	return page{}, goTo(local(v.form("back")))
}
