package consoletest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// axe is the accessibility engine of Deque, as published (docs/licences.md).
//
//go:embed testdata/axe.min.js
var axe string

// Browser is one headless Chromium. Its tabs share nothing with each other.
type Browser struct {
	testing.TB
	url    string
	tokens map[string]string
	ctx    context.Context
}

// Tab is a page that somebody has open.
type Tab struct {
	testing.TB
	url string
	ctx context.Context
}

// Chromium starts a browser for the pages of this service.
func (w *World) Chromium() *Browser {
	w.Helper()
	return Chromium(w.TB, w.URL, w.Tokens)
}

// Chromium starts a browser for the service at an address, in which people sign in
// with these tokens. Where there is no browser the test is skipped, and fails in
// CI, which installs one.
func Chromium(t testing.TB, url string, tokens map[string]string) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium; CI installs Debian's")
		}
		t.Skip("there is no Chromium on this machine")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.WSURLReadTimeout(2*time.Minute))
	for try := 1; ; try++ {
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, end := chromedp.NewContext(allocator)
		err := chromedp.Do(ctx)
		if err == nil {
			t.Cleanup(func() { end(); cancel() })
			return &Browser{TB: t, url: url, tokens: tokens, ctx: ctx}
		}
		end()
		cancel()
		if try == starts {
			t.Fatal(err)
		}
		t.Logf("the browser did not start, once more: %v", err)
	}
}

// starts is how often a browser is started that dies before it has a page: what it
// dies of is its own, and no page has been asked for yet.
const starts = 3

// Tab opens a tab with a profile of its own, in which who has signed in; "" for
// nobody.
func (b *Browser) Tab(who string) *Tab {
	b.Helper()
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t := &Tab{TB: b.TB, url: b.url, ctx: ctx}
	t.Do()
	// What a page throws, and what its policy of contents refuses, fails the test.
	heard := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(heard)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || strings.Contains(m.Text, "Content Security Policy") {
				b.Errorf("the browser says: %s", m)
			}
		}
	}()
	b.Cleanup(func() { end(); <-heard })
	if who != "" {
		yes := true
		_, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{Name: "plimsoll-session", Value: b.tokens[who], URL: b.url, HTTPOnly: &yes})
		if err != nil {
			b.Fatal(err)
		}
	}
	return t
}

// Do takes steps in the tab, within a bounded time.
func (t *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if len(steps) == 0 { // the first call binds the tab to its context
		if err := chromedp.Do(t.ctx); err != nil {
			t.Fatal(err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%v\n%s", err, t.Source())
	}
}

// Open goes to a page.
func (t *Tab) Open(path string) *Tab {
	t.Helper()
	t.Do(chromedp.Navigate(t.url+path), chromedp.WaitReady(chromedp.CSS("main")))
	return t
}

// Source is what the page says now, for messages.
func (t *Tab) Source() string {
	ctx, cancel := context.WithTimeout(t.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ''`))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return text
}

// Text is what an element says, "" when there is none.
func (t *Tab) Text(selector string) string {
	t.Helper()
	return Eval[string](t, fmt.Sprintf(`(document.querySelector(%q) || {innerText: ''}).innerText`, selector))
}

// Has says whether there is such an element.
func (t *Tab) Has(selector string) bool {
	t.Helper()
	return Eval[bool](t, fmt.Sprintf(`document.querySelector(%q) !== null`, selector))
}

// Shows waits until the page says something.
func (t *Tab) Shows(text string) {
	t.Helper()
	until(t.TB, "the page shows "+text, func() bool { return strings.Contains(t.Source(), text) }, t.Source)
}

// Never holds that the page does not say something.
func (t *Tab) Never(text string) {
	t.Helper()
	if s := t.Source(); strings.Contains(s, text) {
		t.Errorf("the page shows %q:\n%s", text, s)
	}
}

// Click presses an element, as a mouse does.
func (t *Tab) Click(selector string) {
	t.Helper()
	t.steady(chromedp.Click(chromedp.CSS(selector)))
}

// steady takes a step again when the page put another element in the place of the
// one it was about to touch, as an open page does when it is brought up to date.
func (t *Tab) steady(step chromedp.Action[chromedp.Void]) {
	t.Helper()
	for try := 0; ; try++ {
		ctx, cancel := context.WithTimeout(t.ctx, patience)
		err := chromedp.Do(ctx, step)
		cancel()
		if err == nil {
			return
		}
		if try == 20 || !strings.Contains(err.Error(), "node with given id") {
			t.Fatalf("%v\n%s", err, t.Source())
		}
	}
}

// Type writes into a field, as a keyboard does; "\r" is the enter key.
func (t *Tab) Type(selector, text string) {
	t.Helper()
	t.steady(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Eval is the value of an expression in the page.
func Eval[T any](t *Tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression[:min(len(expression), 200)], err)
	}
	return v
}

// Light and Dark choose the scheme of colours, Narrow and Wide the width.
func (t *Tab) Light() { t.scheme("light") }

// Dark is the dark scheme.
func (t *Tab) Dark() { t.scheme("dark") }

func (t *Tab) scheme(name string) {
	t.Helper()
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Narrow is the narrowest screen there is to be right on.
func (t *Tab) Narrow() { t.Helper(); t.Do(chromedp.EmulateViewport(320, 720)) }

// Wide is a desk.
func (t *Tab) Wide() { t.Helper(); t.Do(chromedp.EmulateViewport(1280, 800)) }

// Fits holds that nothing but a diff or a table scrolls sideways.
func (t *Tab) Fits() {
	t.Helper()
	if over := Eval[int](t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		wide := Eval[[]string](t, `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll, pre, .diff')).slice(0, 5).map(e => e.tagName + '.' + e.className)`)
		t.Errorf("%s scrolls %d px sideways: %v", Eval[string](t, `location.pathname`), over, wide)
	}
}

// Accessible holds that axe finds nothing serious.
func (t *Tab) Accessible() {
	t.Helper()
	Eval[int](t, axe+";1")
	raw := Eval[string](t, `axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html)}))))`)
	var found []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			t.Errorf("%s: %s (%s): %s", Eval[string](t, `location.pathname`), v.Help, v.ID, strings.Join(v.Nodes, "\n\t"))
		}
	}
}

// Shot keeps a picture of the page as dir/name.png. A name that ends in .webp is
// a picture for a document: small, and of no more than two screens of the page.
func (t *Tab) Shot(dir, name string) {
	t.Helper()
	whole, quality := true, int64(40)
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &whole}
	switch filepath.Ext(name) {
	case ".webp":
		params.Format, params.Quality = page.CaptureScreenshotFormatWebp, &quality
		width := Eval[float64](t, `document.documentElement.clientWidth`)
		height := min(Eval[float64](t, `document.documentElement.scrollHeight`), 1600)
		params.Clip = &page.Viewport{Width: width, Height: height, Scale: 1}
	case ".png":
	default:
		name += ".png"
	}
	picture, err := chromedp.Call(t.ctx, page.CaptureScreenshot, params)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), picture.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}
