package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

func TestSomebodySignsInWithATokenAndOut(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	nobody := w.Visit("")
	if a := nobody.Get("/"); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/signin" {
		t.Fatalf("%d %s", a.Status, a.Header.Get("Location"))
	}
	wrong := nobody.Submit("/signin", "/signin", url.Values{"token": {"pt_nothing"}})
	if wrong.Status != http.StatusUnauthorized || !strings.Contains(wrong.Body, "does not count") || strings.Contains(wrong.Body, "pt_nothing") {
		t.Errorf("%d %s", wrong.Status, wrong.Body)
	}
	in := nobody.Submit("/signin?next=/chains", "/signin", url.Values{"token": {w.Tokens["lea"]}})
	cookies := (&http.Response{Header: in.Header}).Cookies()
	if in.Status != http.StatusSeeOther || in.Header.Get("Location") != "/chains" || len(cookies) != 1 {
		t.Fatalf("%d %v", in.Status, in.Header)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Value != w.Tokens["lea"] {
		t.Errorf("%s", c)
	}
	out := w.Visit("lea").Submit("/signin", "/signout", nil)
	if cookies := (&http.Response{Header: out.Header}).Cookies(); out.Status != http.StatusSeeOther || len(cookies) != 1 || cookies[0].MaxAge >= 0 {
		t.Errorf("%d %v", out.Status, out.Header)
	}
	if strings.Contains(w.Log(), w.Tokens["lea"]) {
		t.Error("the log holds a token")
	}
}

func TestAFormOfAnotherSiteOrSessionDoesNothing(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	cross := lea.PostFrom("/signout", url.Values{}, map[string]string{"Sec-Fetch-Site": "cross-site"})
	if cross.Status != http.StatusForbidden || cross.Header.Get("Set-Cookie") != "" {
		t.Errorf("from elsewhere: %d %v", cross.Status, cross.Header)
	}
	if a := lea.Post("/signout", url.Values{"seal": {"AAAA"}}); a.Status != http.StatusForbidden || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("with no seal of the session: %d %v", a.Status, a.Header)
	}
	if a := lea.Get("/signin?next=//evil.example"); strings.Contains(a.Body, `value="//evil`) || strings.Contains(a.Body, `href="//evil`) {
		t.Error("the sign-in leads to another site")
	}
}

func TestPagesSpeakTheLanguageThatIsAskedFor(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	v := w.Visit("")
	v.Lang = "uk-UA,uk;q=0.9,en;q=0.5"
	if a := v.Get("/signin"); !strings.Contains(a.Body, `<html lang="uk">`) || !strings.Contains(a.Body, "Увійдіть") {
		t.Errorf("%s", a.Body)
	}
	v.Lang = "fr"
	if a := v.Get("/signin"); !strings.Contains(a.Body, `<html lang="en">`) {
		t.Errorf("%s", a.Body)
	}
}
