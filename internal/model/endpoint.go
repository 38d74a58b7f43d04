package model

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
)

// baseURL reads the address of an endpoint. It is the operator's word, and still
// checked: a key must not travel in an address, and nothing of a request
// unencrypted to another machine by accident.
func baseURL(text string, plain bool) (*url.URL, error) {
	const op = "model.New"
	u, err := url.Parse(text)
	if err != nil || !u.IsAbs() || u.Hostname() == "" || u.Opaque != "" {
		return nil, fault.E(op, fault.Invalid, "the address of the model endpoint is no absolute URL", nil)
	}
	switch {
	case u.User != nil:
		return nil, fault.E(op, fault.Invalid, "the address of the model endpoint holds a user or a password", nil).WithHint("put the key into a file or an environment variable")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fault.E(op, fault.Invalid, "the address of the model endpoint has a query or a fragment", nil)
	case u.Scheme == "http" && !plain && !local(u.Hostname()):
		return nil, fault.E(op, fault.Invalid, "the model endpoint is on another machine and is asked over plain http", nil).WithHint("use https, or say that plain http is meant")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.E(op, fault.Invalid, "the address of the model endpoint is neither http nor https", nil)
	}
	if u.Path = strings.TrimRight(u.Path, "/") + "/"; u.RawPath != "" {
		u.RawPath = strings.TrimRight(u.RawPath, "/") + "/"
	}
	return u, nil
}

func local(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost"
}

// Key is what an endpoint knows us by. It prints as nothing.
type Key struct{ text string }

// maxKey is the longest key, in bytes.
const maxKey = 4096

// ReadKey takes the key from an environment variable or from a file, by their
// names; with neither there is none. A key stands nowhere else: no setting and no
// flag can hold one. The error never holds what was read.
func ReadKey(getenv func(string) string, variable, file string) (Key, error) {
	const op = "model.ReadKey"
	var text, what string
	switch {
	case variable != "" && file != "":
		return Key{}, fault.E(op, fault.Invalid, "the key of the model endpoint is to be read from two places", nil)
	case variable != "":
		text, what = getenv(variable), "the environment variable "+variable
	case file != "":
		what = file
		f, err := os.Open(file)
		if err != nil {
			return Key{}, fault.E(op, fault.Invalid, "read the key of the model endpoint", err)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxKey+2))
		if err := errors.Join(err, f.Close()); err != nil {
			return Key{}, fault.E(op, fault.Invalid, "read the key of the model endpoint", err)
		}
		text = strings.TrimRight(string(b), "\r\n")
	default:
		return Key{}, nil
	}
	if text == "" || len(text) > maxKey || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Key{}, fault.E(op, fault.Invalid, what+" holds no key: it is empty, longer than 4,096 bytes, or has characters no key has", nil)
	}
	return Key{text}, nil
}

// Set says whether there is a key.
func (k Key) Set() bool { return k.text != "" }

// in says whether a text holds the key.
func (k Key) in(text string) bool { return k.text != "" && strings.Contains(text, k.text) }

const hiddenKey = "[key]"

func (k Key) String() string { return hiddenKey }

// GoString keeps %#v from printing the key.
func (k Key) GoString() string { return hiddenKey }

// Format keeps every other verb from printing the key.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hiddenKey) }

// MarshalText keeps encoders from writing the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(hiddenKey), nil }

// LogValue keeps loggers from writing the key.
func (k Key) LogValue() slog.Value { return slog.StringValue(hiddenKey) }

// call is why a call was no answer. Its text is ours: a body may repeat the key,
// or what it was asked.
type call struct {
	status int           // 0: there was no response
	after  time.Duration // when the endpoint wants to be asked again; 0: it does not say
	what   string
}

func (c *call) Error() string {
	switch {
	case c.what != "":
		return c.what
	case c.status > 0:
		return "the model endpoint answered " + strconv.Itoa(c.status)
	}
	return "the model endpoint cannot be reached"
}

func (c *call) hint() string {
	switch c.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the endpoint does not take the key"
	case http.StatusNotFound:
		return "the address or the name of the model is not the endpoint's"
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "the endpoint does not take the question: is it of the protocol that is set, and does it know the model?"
	}
	return "is the endpoint running, and its address right?"
}

// refusal is the call inside an error of a client library. What the library says
// is left behind.
func refusal(err error) *call {
	if c, ok := errors.AsType[*call](err); ok {
		return c
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return &call{}
	}
	return &call{what: "what the model endpoint answered does not read"}
}

// line is the way to one endpoint: no proxy of the environment, no redirect, no
// other host, and no more bytes than are wanted.
type line struct {
	base  *url.URL
	limit int64
	next  *http.Transport
}

func newLine(base *url.URL, l Limits) *line {
	return &line{base: base, limit: l.Response, next: &http.Transport{ // the question's own deadline bounds every wait
		Proxy:                  nil,
		DisableCompression:     true, // a body that unpacks itself would be bounded only after unpacking
		ForceAttemptHTTP2:      true,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    2,
		MaxResponseHeaderBytes: 64 << 10,
	}}
}

func (l *line) client() *http.Client {
	return &http.Client{Transport: l, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (l *line) close() { l.next.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != l.base.Scheme || r.URL.Host != l.base.Host || !strings.HasPrefix(r.URL.Path, l.base.Path) {
		return nil, &call{what: "the question was on its way to another address; it was not sent"}
	}
	r = r.Clone(r.Context())
	for name := range r.Header { // what the libraries tell about the machine
		if strings.HasPrefix(name, "X-Stainless-") {
			delete(r.Header, name)
		}
	}
	r.Header.Set("User-Agent", "plimsoll")
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		c := &call{status: answer.StatusCode, after: retryAfter(answer.Header.Get("Retry-After"))}
		if answer.StatusCode >= 300 && answer.StatusCode < 400 {
			c.what, c.after = "the model endpoint sends us elsewhere; a redirect is not followed", 0
		}
		return nil, c
	}
	answer.Body = &bounded{body: answer.Body, left: l.limit}
	return answer, nil
}

// maxAfter is the longest an endpoint can put a run off: its word is a wish.
const maxAfter = time.Minute

func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n <= 0 { // an HTTP date needs a clock both sides agree on
		return 0
	}
	return min(time.Duration(min(n, 3600))*time.Second, maxAfter)
}

// bounded is a body that ends in an error when it is too long.
type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &call{what: "what the model endpoint answered is larger than an answer may be"}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, &call{what: "what the model endpoint answered is larger than an answer may be"}
	}
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
