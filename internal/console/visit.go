package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// formLimit is the most a form may hold: the longest text of a request, as forms
// write letters that are not Latin, and room.
const formLimit = 256 << 10

// visit is one request of a browser: who asks, in which language, and what they
// sent.
type visit struct {
	w    http.ResponseWriter
	r    *http.Request
	now  time.Time
	lang string
	// who is the person, nil where nobody is asked.
	who    *pipeline.Identity
	secret string // of their token
	here   string // the page that is open, for links back to it
	failed bool   // its error is being told
}

func (c *Console) visit(w http.ResponseWriter, r *http.Request) *visit {
	chosen := ""
	if cookie, err := r.Cookie(c.cookieName(r, languageCookie)); err == nil {
		chosen = cookie.Value
	}
	return &visit{w: w, r: r, now: c.conf.Now().UTC(), lang: languageOf(r, chosen), here: r.URL.RequestURI()}
}

// me is who asks.
func (v *visit) me() contract.ActorID {
	if v.who == nil {
		return ""
	}
	return v.who.Actor.ID
}

// may says whether the token of whoever asks allows a scope.
func (v *visit) may(s operation.Scope) bool {
	return v.who != nil && slices.Contains(v.who.Token.Scopes, string(s))
}

// caller is whoever asks, as a use case takes them. The role is one they hold;
// "" where the operation asks for none.
func (v *visit) caller(role contract.Role) pipeline.Caller {
	return pipeline.Caller{Actor: v.who.Actor.ID, Role: role, Scopes: v.who.Token.Scopes}
}

// writer is whoever asks, for a use case that writes. The form carries a key made
// with the page, so that a form that is sent twice acts once.
func (v *visit) writer(role contract.Role, op string) (pipeline.Caller, error) {
	by := v.caller(role)
	o, ok := operation.Find(op)
	if !ok {
		panic("console: there is no operation " + op)
	}
	if !v.may(o.Scope) {
		return by, refusal.New(refusal.AuthScopeMissing, "the token does not allow %q", o.Scope)
	}
	key := v.form("key")
	if !strings.HasPrefix(key, "page-") || len(key) > 64 {
		return by, refusal.New(refusal.RequestMalformed, "the form has no key")
	}
	by.Once = pipeline.Once{
		Key: key, Method: v.r.Method, Path: v.r.URL.Path, BodyDigest: contract.Hash([]byte(v.r.PostForm.Encode())),
		Render: func(any) (pipeline.Answer, error) {
			return pipeline.Answer{Status: http.StatusSeeOther, MediaType: "text/plain", Headers: []byte("{}"), Body: []byte{}}, nil
		},
	}
	return by, nil
}

// form is a member of the form, "" when there is none.
func (v *visit) form(name string) string { return v.r.PostForm.Get(name) }

// query is a member of the query.
func (v *visit) query(name string) string { return v.r.URL.Query().Get(name) }

// part says whether a page that is open asks for its news only.
func (v *visit) part() bool { return v.r.Header.Get("Hx-Request") == "true" }

// open is the page that is open: of what a page asks for itself, the page.
func (v *visit) open() string {
	if !v.part() {
		return v.here
	}
	u, err := url.Parse(v.r.Header.Get("Hx-Current-Url"))
	if err != nil {
		return v.here
	}
	return local(u.RequestURI())
}

// secretForm is how tokens begin.
const secretForm = "plm_"

// leaks says that an address holds what looks like a token: a token in an address
// is one in histories and logs.
func leaks(u *url.URL) bool {
	text := u.Path + "\x00" + u.RawQuery // also of a query that does not read
	if q, err := url.QueryUnescape(u.RawQuery); err == nil {
		text += "\x00" + q
	}
	for {
		i := strings.Index(text, secretForm)
		if i < 0 {
			return false
		}
		if text = text[i+len(secretForm):]; len(text) >= secretLetters && !strings.ContainsFunc(text[:secretLetters], notBase64) {
			return true
		}
	}
}

// secretLetters is the least a secret has behind its beginning.
const secretLetters = 32

func notBase64(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// The cookies. Their names begin with __Host- where browsers hold them to it.
const (
	tokenCookie    = "plimsoll-session"
	languageCookie = "plimsoll-language"
)

func (c *Console) cookieName(r *http.Request, name string) string {
	if c.conf.Secure(r) {
		return "__Host-" + name
	}
	return name
}

func (c *Console) setCookie(v *visit, name, value string, valid time.Duration) {
	age := int(valid.Seconds())
	if valid <= 0 {
		age = -1
	}
	http.SetCookie(v.w, &http.Cookie{
		Name: c.cookieName(v.r, name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.conf.Secure(v.r), SameSite: http.SameSiteLaxMode,
	})
}

// secrets is the secrets of the tokens a browser holds: of one somebody signed in
// with, and of an issuer's sign-in.
func (c *Console) secrets(r *http.Request) []string {
	list := []string{}
	if cookie, err := r.Cookie(c.cookieName(r, tokenCookie)); err == nil && cookie.Value != "" {
		list = append(list, cookie.Value)
	}
	if c.conf.SignedIn != nil {
		if secret := c.conf.SignedIn(r); secret != "" {
			list = append(list, secret)
		}
	}
	return list
}

// session is the secret of whoever asks. Of a browser nobody is known of it is
// what the browser holds, so that its forms are its own all the same; "" when it
// holds nothing.
func (c *Console) session(v *visit) string {
	if v.secret != "" {
		return v.secret
	}
	if list := c.secrets(v.r); len(list) > 0 {
		return list[0]
	}
	return ""
}

// identify finds out who asks. Without a token that counts it answers where to
// sign in.
func (c *Console) identify(v *visit) error {
	to := "/signin"
	if v.r.Method == http.MethodGet && v.r.URL.Path != "/" {
		to += "?next=" + url.QueryEscape(v.open())
	}
	v.who, v.secret = nil, ""
	for _, secret := range c.secrets(v.r) {
		who, err := c.conf.Contracts.Authenticate(v.r.Context(), secret)
		if refusal.CodeOf(err) == refusal.AuthRequired {
			continue
		}
		if err != nil {
			return err
		}
		v.who, v.secret = who, secret
		break
	}
	if v.who == nil {
		return goTo(to)
	}
	if !v.may(operation.Read) {
		return &notice{status: http.StatusForbidden, title: "problem.no_read", words: "problem.no_read_how"}
	}
	return nil
}

// greet finds out who asks where nobody has to say.
func (c *Console) greet(v *visit) {
	if v.who == nil && c.identify(v) != nil {
		v.who, v.secret = nil, ""
	}
}

// seal is what forms of this session carry back, so that no other site can make
// one. It holds as long as the session.
func (c *Console) seal(secret string) string {
	m := hmac.New(sha256.New, c.conf.Secret)
	_, _ = m.Write([]byte("form\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

var errForged = &notice{status: http.StatusForbidden, title: "problem.forged", words: "problem.forged_how"}

// readForm reads what a form sent and holds it to the session it was made for.
func (c *Console) readForm(v *visit) error {
	if v.r.Method != http.MethodPost {
		return nil
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, formLimit)
	if err := v.r.ParseForm(); err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			return &notice{status: http.StatusRequestEntityTooLarge, title: "problem.too_large", words: "problem.too_large_how"}
		}
		return &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	if !once(v.r.PostForm) || !legible(v.r.PostForm) {
		return &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	if utf8.RuneCountInString(strings.ReplaceAll(v.form("reason"), "\r", "")) > reasonMost {
		return &notice{status: http.StatusUnprocessableEntity, title: "problem.long_reason", words: "problem.long_reason_how", args: []any{reasonMost}}
	}
	if !hmac.Equal([]byte(v.form("seal")), []byte(c.seal(c.session(v)))) {
		return errForged
	}
	return nil
}

// reasonMost is the most characters that a reason has: the pages, the log and
// everybody who is told of a decision repeat it.
const reasonMost = 4000

// sayOnce is the members that a form has once: what stands there twice could be
// read one way here and another by whatever passed it on.
var sayOnce = []string{"seal", "key", "do", "digest", "version", "reason", "back", "consent", "challenge", "code", "actor", "token"}

func once(form url.Values) bool {
	for _, name := range sayOnce {
		if len(form[name]) > 1 {
			return false
		}
	}
	return true
}

// legible says that all there is in values is text as it is kept: UTF-8 without
// the character zero.
func legible(values url.Values) bool {
	for name, list := range values {
		if !isText(name) || slices.ContainsFunc(list, func(text string) bool { return !isText(text) }) {
			return false
		}
	}
	return true
}

func isText(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// local is a path of this service, "/inbox" for everything else.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/inbox"
	}
	return next
}
