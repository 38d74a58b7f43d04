package console

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request/problem"
)

// page is what a method of a page answers: the template under page/ and what it
// shows.
type page struct {
	name   string // of the template: page/<name>.html
	title  string // a key of words/, with args
	args   []any
	data   any
	status int // 200 when it is 0
	// trail leads from the top to the page.
	trail []crumb
	// topics is what the page wants to hear of (live.go); none when empty. When it
	// hears something it asks for follow, its own path when that is "", and takes
	// the new content in place of the old; a list that announces says that there is
	// news and moves nothing of what is being read.
	topics   []string
	follow   string
	announce bool
	// pour sends what takes its time, piece by piece, where the page has split.
	pour func(send func(piece string, data any) error) error
	done func() // when the page was sent, or could not be; nil for nothing
}

// split is where a page is cut whose content is poured into it; no text of a
// reader holds it, because templates escape the sign it begins with.
const split = `<template id="split"></template>`

// crumb is a step of the way to a page. Text is shown as it is.
type crumb struct{ Path, Text string }

// policy is the policy of contents: nothing from elsewhere, no script or style in
// a page, and no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")        // for browsers that do not know frame-ancestors
	h.Set("Referrer-Policy", "same-origin") // with none at all, forms would come from nowhere
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// moved sends a browser somewhere else.
type moved struct{ to string }

func (m *moved) Error() string { return "moved to " + m.to }

func goTo(path string) error { return &moved{path} }

// notice is a refusal of the console itself, in words of its own.
type notice struct {
	status int
	title  string // a key of words/
	words  string // what a person can do; a key as well
	args   []any
}

func (n *notice) Error() string { return n.title }

var errNoPage = &notice{status: http.StatusNotFound, title: "problem.no_page", words: "problem.no_page_how"}

// handler serves one row.
func (c *Console) handler(row route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.visit(w, r)
		p, err := c.answer(v, row)
		if err != nil {
			c.fail(v, err)
			return
		}
		c.show(v, p)
	})
}

func (c *Console) answer(v *visit, row route) (p page, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fault.E("console", fault.Internal, fmt.Sprintf("panic: %v\n%s", x, debug.Stack()), nil)
		}
	}()
	if row.open {
		c.greet(v)
	} else if err := c.identify(v); err != nil {
		return page{}, err
	}
	if err := c.readForm(v); err != nil {
		return page{}, err
	}
	return row.do(v)
}

// shell is what every template sees; the page's own data is .Data.
type shell struct {
	Lang      string
	Title     string
	Who       *pipeline.Identity
	Nav       []navItem
	Trail     []crumb
	Topics    string // the query of the live connection, "" for none
	Seal      string // goes into every form
	Key       string // goes into every form that writes
	Here      string
	Follow    string
	Announce  bool
	Version   string
	Waiting   int // in the inbox; -1 is not known
	Languages []string
	Data      any
}

type navItem struct {
	Path, Word, Key string
	Open            bool
}

// show sends a page, whole: what fails half way is an error and no half a page.
func (c *Console) show(v *visit, p page) {
	if p.done != nil {
		defer p.done()
	}
	s := shell{
		Lang: v.lang, Who: v.who, Trail: p.trail, Seal: c.seal(c.session(v)), Key: "page-" + random(16), Here: v.here,
		Version: c.conf.Version, Data: p.data, Topics: topicQuery(p.topics), Languages: languages, Waiting: -1,
		Follow: p.follow, Announce: p.announce,
	}
	if s.Follow == "" {
		s.Follow = v.here
	}
	sheet := c.sheets[v.lang]
	s.Title = sheet.words.say(p.title, p.args...)
	for _, n := range navigation {
		s.Nav = append(s.Nav, navItem{n.Path, n.Word, n.Key, under(v.r.URL.Path, n.Path)})
	}
	if v.who != nil {
		s.Waiting = c.waiting(v)
	}
	var out bytes.Buffer
	if err := sheet.execute(&out, p.name, s); err != nil {
		c.fail(v, fault.E("console.show", fault.Internal, "make the page "+p.name, err))
		return
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Language", v.lang)
	h.Set("Vary", "Cookie, Accept-Language, HX-Request")
	v.w.WriteHeader(max(p.status, http.StatusOK))
	if p.pour != nil {
		c.pour(v, p, visible(out.Bytes()))
		return
	}
	_, _ = v.w.Write(visible(out.Bytes()))
}

// pour sends a page in parts: what is above the split at once, then each piece
// when it is known, and the rest of the page. A reader who went away ends it.
func (c *Console) pour(v *visit, p page, text []byte) {
	control := http.NewResponseController(v.w)
	write := func(b []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeGrace))
		if _, err := v.w.Write(b); err != nil {
			return err
		}
		return control.Flush()
	}
	head, tail, _ := bytes.Cut(text, []byte(split))
	if write(head) != nil {
		return
	}
	err := p.pour(func(piece string, data any) error {
		var out bytes.Buffer
		if err := c.sheets[v.lang].pages[p.name].ExecuteTemplate(&out, piece, data); err != nil {
			return err
		}
		return write(visible(out.Bytes()))
	})
	if err != nil { // the page has no closing part, and no verdict
		if v.r.Context().Err() == nil {
			c.conf.Log.LogAttrs(v.r.Context(), slog.LevelError, "page broke off", slog.String("path", v.r.URL.Path), slog.String("error", err.Error()))
		}
		return
	}
	_ = write(tail)
}

func under(path, room string) bool {
	return path == room || len(path) > len(room) && path[:len(room)] == room && path[len(room)] == '/'
}

// failure is what the page of an error shows.
type failure struct {
	Why      string   // in the language of the reader
	Further  []string // what exactly was refused, when there is more
	Code     string
	Incident string // of a fault of the service
	Back     string
}

// fail answers with a page that says what happened and what to do. The text of a
// fault of the service stays in the log, under the number the page shows.
func (c *Console) fail(v *visit, err error) {
	if to, ok := errors.AsType[*moved](err); ok {
		if v.part() { // the page itself moves, not what would be put into it
			v.w.Header().Set("HX-Redirect", to.to)
			v.w.WriteHeader(http.StatusNoContent)
			return
		}
		http.Redirect(v.w, v.r, to.to, http.StatusSeeOther)
		return
	}
	if replayed, ok := errors.AsType[*pipeline.Replayed](err); ok && replayed.Request.Status < 400 {
		// It was done before: show what came of it.
		http.Redirect(v.w, v.r, local(v.form("back")), http.StatusSeeOther)
		return
	}
	words := c.sheets[v.lang].words
	f := failure{Back: local(v.form("back"))}
	status, title := http.StatusInternalServerError, "problem.fault"
	switch n, ok := errors.AsType[*notice](err); {
	case ok:
		status, title, f.Why = n.status, n.title, words.say(n.words, n.args...)
	case refusal.CodeOf(err) != "":
		code := refusal.CodeOf(err)
		status, title, f.Code = max(code.Entry().Status, http.StatusBadRequest), "problem.refused", string(code)
		f.Why = words.refusal(string(code))
		f.Further = refusals(err)
	case problem.CodeOf(err) != "":
		code := problem.CodeOf(err)
		status, title, f.Code = max(code.Status(), http.StatusBadRequest), "problem.refused", string(code)
		f.Why = words.refusal(string(code))
		f.Further = refusals(err)
	case fault.KindOf(err) == fault.Unavailable:
		status, title, f.Why = http.StatusServiceUnavailable, "problem.away", words.say("problem.away_how")
		v.w.Header().Set("Retry-After", "2")
		fallthrough
	default:
		f.Incident = "inc-" + random(8)
		if f.Why == "" {
			f.Why = words.say("problem.fault_how")
		}
		if v.r.Context().Err() == nil {
			c.conf.Log.LogAttrs(v.r.Context(), slog.LevelError, "page failed", slog.String("incident", f.Incident),
				slog.String("path", v.r.URL.Path), slog.String("error", err.Error()))
		}
	}
	p := page{name: "problem", title: title, data: f, status: status}
	c.greet(v)
	if v.failed { // the page of the error failed as well
		http.Error(v.w, words.say(title), status)
		return
	}
	v.failed = true
	c.show(v, p)
}

// refusals is the sentences of what was refused, each once. They are made for
// people and hold nothing of the service's inside.
func refusals(err error) []string {
	var list []string
	say := func(text string) {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if l, ok := errors.AsType[refusal.List](err); ok {
		for _, r := range l {
			say(r.Message)
		}
	} else if r, ok := errors.AsType[*refusal.Refusal](err); ok {
		say(r.Message)
	} else if l, ok := errors.AsType[problem.List](err); ok {
		for _, p := range l {
			say(p.Message)
		}
	} else if p, ok := errors.AsType[*problem.Problem](err); ok {
		say(p.Message)
	}
	return list
}

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
