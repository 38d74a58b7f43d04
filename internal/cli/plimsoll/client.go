package plimsoll

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

const defaultServer = "http://127.0.0.1:7419"

// session is one call of the program: its flags, and the client they make.
type session struct {
	env    Env
	server string
	as     string
	json   bool
}

// stored is what login keeps.
type stored struct {
	Server string `json:"server"`
	Token  string `json:"token"`
}

func (s *session) stored() (stored, error) {
	var c stored
	text, err := os.ReadFile(s.env.settings())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fault.E("plimsoll", fault.Invalid, "read "+s.env.settings(), err)
	}
	return c, nil
}

func (s *session) store(c stored) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	path := s.env.settings()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fault.E("plimsoll", fault.Unavailable, "make the folder of "+path, err)
	}
	// A file that others may read is not overwritten but replaced.
	fresh := path + ".new"
	err = os.WriteFile(fresh, append(text, '\n'), 0o600)
	if err = errors.Join(err, os.Chmod(fresh, 0o600)); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return fault.E("plimsoll", fault.Unavailable, "write "+path, err)
	}
	return nil
}

// client speaks to one service under one token.
type client struct {
	base  *url.URL
	token string
	as    string
	http  *http.Client
}

func (s *session) client() (*client, error) {
	kept, err := s.stored()
	if err != nil {
		return nil, err
	}
	address := s.server
	for _, other := range []string{s.env.variable("PLIMSOLL_SERVER"), kept.Server, defaultServer} {
		if address == "" {
			address = other
		}
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, usage("%q is no address of a service like https://plimsoll.example", address)
	}
	token := s.env.variable("PLIMSOLL_TOKEN")
	if token == "" && (kept.Server == "" || strings.TrimSuffix(kept.Server, "/") == strings.TrimSuffix(address, "/")) {
		token = kept.Token // a token goes to the service it was stored for
	}
	if token != "" && base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, usage("%s is not https: the token would go over the net in the clear", address)
	}
	return &client{base: base, token: strings.TrimSpace(token), as: s.as, http: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// problem is a refusal of the service.
type problem struct{ api.Problem }

func (p *problem) Error() string {
	text := string(p.Code) + ": " + p.Message
	if p.Path != nil && *p.Path != "" {
		text = string(p.Code) + ": " + *p.Path + ": " + p.Message
	}
	if p.Code == refusal.RequestInternal {
		text += " (" + p.Instance + ")"
	}
	return text
}

// Unwrap lets refusal.CodeOf find the code.
func (p *problem) Unwrap() error { return refusal.New(p.Code, "%s", p.Message) }

// exit is the exit code of a refusal: the answer is no, the request was wrong,
// or there was no answer to be had.
func (p *problem) exit() int {
	switch {
	case p.Status >= 500 || p.Status == http.StatusTooManyRequests:
		return exitUnknown
	case p.Status == http.StatusForbidden, p.Status == http.StatusConflict, p.Status == http.StatusGone, p.Status == http.StatusPreconditionFailed:
		return exitNo
	}
	return exitUsage
}

// call is one request. Media is JSON when Body is set and nothing else is said.
type call struct {
	method, path string
	query        url.Values
	body         any    // marshalled, unless raw is set
	raw          []byte // sent as it is
	media        string
	accept       string
	key          string // made up when the method writes and none is given
	match        string
	lock         int64
	// prefer is the roles to act under, the first that the caller holds, when they
	// hold several that may and named none.
	prefer []contract.Role
}

// answer is what came back.
type answer struct {
	status int
	etag   string
	media  string
	body   []byte
}

const tries = 4

// do makes a request. One that was not answered is made again under the same
// key, so that it is done once.
func (c *client) do(ctx context.Context, q call) (answer, error) {
	body := q.raw
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return answer{}, err
		}
		if q.media == "" {
			q.media = "application/json"
		}
	}
	if q.key == "" && q.method != http.MethodGet {
		q.key = newKey()
	}
	ans, err := c.repeat(ctx, q, body)
	if refusal.CodeOf(err) != refusal.RoleNotNamed || len(q.prefer) == 0 {
		return ans, err
	}
	as, failed := c.preferred(ctx, q.prefer)
	if failed != nil || as == "" {
		return ans, errors.Join(err, failed)
	}
	named := *c
	named.as = string(as)
	return named.repeat(ctx, q, body)
}

// preferred is the first of some roles that the caller holds.
func (c *client) preferred(ctx context.Context, roles []contract.Role) (contract.Role, error) {
	var me api.Me
	if _, err := c.get(ctx, "/v1/me", nil, &me); err != nil {
		return "", err
	}
	for _, r := range roles {
		if slices.Contains(me.Actor.Roles, r) {
			return r, nil
		}
	}
	return "", nil
}

func (c *client) repeat(ctx context.Context, q call, body []byte) (answer, error) {
	var last error
	for n := range tries {
		if n > 0 {
			select {
			case <-ctx.Done():
				return answer{}, last
			case <-time.After(time.Duration(n*n) * 200 * time.Millisecond):
			}
		}
		ans, err := c.once(ctx, q, body)
		if err == nil || ctx.Err() != nil {
			return ans, err
		}
		last = err
		p, refused := errors.AsType[*problem](err)
		if refused && p.Code != refusal.StoreUnavailable && p.Code != refusal.RequestInProgress && p.Code != refusal.RequestRateLimited {
			return answer{}, err
		}
	}
	return answer{}, last
}

// once makes a request once.
func (c *client) once(ctx context.Context, q call, body []byte) (answer, error) {
	r, err := c.request(ctx, q, body)
	if err != nil {
		return answer{}, err
	}
	back, err := c.http.Do(r)
	if err != nil {
		return answer{}, unanswered(c.base, err)
	}
	defer func() { _ = back.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(back.Body, 256<<20))
	if err != nil {
		return answer{}, unanswered(c.base, err)
	}
	if back.StatusCode >= 300 {
		return answer{}, refused(back, text)
	}
	return answer{back.StatusCode, back.Header.Get("ETag"), back.Header.Get("Content-Type"), text}, nil
}

func (c *client) request(ctx context.Context, q call, body []byte) (*http.Request, error) {
	u := c.base.JoinPath(q.path)
	u.RawQuery = q.query.Encode()
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	set := func(name, value string) {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if c.token != "" {
		set("Authorization", "Bearer "+c.token)
	}
	set("Content-Type", q.media)
	set("Accept", q.accept)
	set("Acting-Role", c.as)
	set("If-Match", q.match)
	if q.method != http.MethodGet {
		set("Idempotency-Key", q.key)
	}
	if q.lock != 0 {
		set("Plimsoll-Lock-Token", strconv.FormatInt(q.lock, 10))
	}
	set("User-Agent", "plimsoll/"+Version)
	return r, nil
}

func refused(back *http.Response, text []byte) error {
	p := &problem{}
	if err := json.Unmarshal(text, &p.Problem); err != nil || p.Code == "" {
		return fault.E("plimsoll", fault.Unavailable, fmt.Sprintf("the service answered %s", back.Status), nil)
	}
	p.Status = back.StatusCode
	for _, e := range p.Errors {
		e.Pointed = e.Path != "" // which the document does not say
	}
	return p
}

func unanswered(base *url.URL, err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // the URL is said already
	}
	return fault.E("plimsoll", fault.Unavailable, base.Redacted()+" does not answer", err).
		WithHint("is it running? plimsoll serve starts one, plimsoll doctor looks what is wrong")
}

func newKey() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return "cli-" + hex.EncodeToString(b[:])
}

// open is the body of an answer that is read as it comes; the caller closes it.
func (c *client) open(ctx context.Context, q call) (io.ReadCloser, error) {
	r, err := c.request(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	back, err := c.http.Do(r)
	if err != nil {
		return nil, unanswered(c.base, err)
	}
	if back.StatusCode != http.StatusOK {
		defer func() { _ = back.Body.Close() }()
		text, _ := io.ReadAll(io.LimitReader(back.Body, 1<<20))
		return nil, refused(back, text)
	}
	return back.Body, nil
}

// get reads one thing into v.
func (c *client) get(ctx context.Context, path string, query url.Values, v any) (answer, error) {
	ans, err := c.do(ctx, call{method: http.MethodGet, path: path, query: query})
	if err != nil {
		return ans, err
	}
	return ans, decode(ans.body, v)
}

func decode(text []byte, v any) error {
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fault.E("plimsoll", fault.Unavailable, "the service answered something that does not read", err)
	}
	return nil
}

// list reads every page of a list, or limit items of it when that is not 0.
func list[V any](ctx context.Context, c *client, path string, query url.Values, limit int) ([]V, error) {
	if query == nil {
		query = url.Values{}
	}
	items := []V{}
	for {
		size := 200
		if limit > 0 {
			size = min(size, limit-len(items))
		}
		query.Set("limit", strconv.Itoa(size))
		var page api.Page[V]
		if _, err := c.get(ctx, path, query, &page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == "" || limit > 0 && len(items) >= limit {
			return items, nil
		}
		query = url.Values{"cursor": {page.Next}}
	}
}

// as is q with the roles to act under when none is named.
func (q call) as(roles ...contract.Role) call {
	q.prefer = roles
	return q
}
