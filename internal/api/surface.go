package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The limits of docs/spec/contracts.md §20.1, and how long a client may take to
// send what it announced.
const (
	bodyLimit    = 1 << 20
	payloadLimit = 64 << 20 // artifacts and ingestion
	bodyGrace    = 30 * time.Second
	bodySpeed    = 64 << 10 // bytes a second, below which a client is too slow
	answerGrace  = time.Minute
	recordGrace  = 5 * time.Second
)

// The media types of bodies.
const (
	jsonMedia  = "application/json"
	mergeMedia = "application/merge-patch+json"
	linesMedia = "application/jsonl"
	anyMedia   = "*/*" // an artifact has the one of its kind
	noMedia    = ""    // no body
)

// endpoint is one row of routes.go with what reads its request.
type endpoint struct {
	op    operation.Operation
	media string // of the body
	types types  // what the OpenAPI document says of it
	// prepare reads body and parameters and answers the call of the use case.
	prepare func(q *request) (call, error)
}

// call is a use case with its arguments. The caller is complete when it is made.
type call func(ctx context.Context, c pipeline.Caller) (answer, error)

// answer is what a handler gives back. A nil serve is JSON of body.
type answer struct {
	status int // 0 is the operation's own
	media  string
	etag   string
	body   any
	raw    []byte
	serve  func(w http.ResponseWriter, r *http.Request) // writes the answer itself
}

// request is one request on its way through the checks.
type request struct {
	http      *http.Request
	id        string
	operation string
	from      string // the address of the caller
	token     *pipeline.Token
	actor     *pipeline.Actor
	op        operation.Operation
	key       string
	body      []byte
	digest    string
	lockToken int64
	held      int64 // of the memory of all bodies
	render    func(result any) (answer, error)
}

// handler serves one path.
func (a *API) handler(methods map[string]endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.conf.Now()
		q := &request{http: r, id: newRequestID(), from: a.client(r)}
		w = &watched{ResponseWriter: w}
		r = r.WithContext(pipeline.WithTrace(context.WithValue(r.Context(), requestKey{}, q.id)))
		q.http = r
		w.Header().Set("Request-Id", q.id)
		deadlines(w, r)
		defer func() { a.memory.Release(q.held) }()
		a.serve(w, r, q, methods)
		if a.conf.Seen != nil {
			a.conf.Seen(r.Context(), q.operation, w.(*watched).status, a.conf.Now().Sub(start))
		}
		attrs := []slog.Attr{slog.String("operation", q.operation), slog.Int("status", w.(*watched).status)}
		if w.Header().Get(replayHeader) != "" {
			attrs = append(attrs, slog.Bool("replayed", true)) // which is not asked anew what it is about
		}
		a.conf.Log.LogAttrs(r.Context(), slog.LevelDebug, "request", attrs...)
	})
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, q *request, methods map[string]endpoint) {
	ans, err := a.call(q, methods)
	if err == nil {
		a.answer(w, r, q, ans)
		return
	}
	if done, ok := errors.AsType[*pipeline.Replayed](err); ok {
		replay(w, done.Request)
		return
	}
	a.fail(w, r, q, err)
}

// call checks the request and runs its use case. A panic in it is a fault of the
// service: the transaction is gone, and the caller gets an incident id.
func (a *API) call(q *request, methods map[string]endpoint) (ans answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.E("api", fault.Internal, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()), nil)
		}
	}()
	made, err := a.check(q, methods)
	if err != nil {
		return answer{}, a.auditRefusal(q, err)
	}
	return made(q.http.Context())
}

// check is everything before the use case, in the order of
// docs/spec/contracts.md §20.1.
func (a *API) check(q *request, methods map[string]endpoint) (func(context.Context) (answer, error), error) {
	r := q.http
	if methods == nil {
		return nil, refuse(refusal.RequestNotFound, "there is no %s", r.URL.Path)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e, ok := methods[method]
	if !ok {
		return nil, refuse(refusal.RequestMethodNotAllowed, "%s does not take %s", r.URL.Path, r.Method).with("Allow", allow(methods))
	}
	q.op, q.operation = e.op, e.op.ID
	limit := sizeLimit(e)
	if r.ContentLength > limit {
		return nil, refuse(refusal.RequestTooLarge, "the body is larger than %d bytes", limit)
	}
	if err := mediaType(r, e.media); err != nil {
		return nil, err
	}
	if err := a.authenticate(q); err != nil {
		return nil, err
	}
	if q.token != nil && !slices.Contains(q.token.Scopes, string(e.op.Scope)) {
		return nil, refuse(refusal.AuthScopeMissing, "the token does not allow %q", e.op.Scope)
	}
	if err := a.readBody(q, limit); err != nil {
		return nil, err
	}
	role, err := a.key(q)
	if err != nil {
		return nil, err
	}
	if e.media != noMedia && e.media != anyMedia && e.media != linesMedia && !utf8.Valid(q.body) {
		return nil, refuse(refusal.RequestNotUTF8, "the body is not UTF-8")
	}
	if e.media == noMedia && len(q.body) > 0 {
		return nil, refuse(refusal.RequestMalformed, "%s takes no body", e.op.ID)
	}
	if err := lockToken(q); err != nil {
		return nil, err
	}
	made, err := e.prepare(q)
	if err != nil {
		return nil, err
	}
	caller := pipeline.Caller{LockToken: q.lockToken}
	if q.actor != nil {
		caller.Actor, caller.Scopes = q.actor.ID, q.token.Scopes
		if caller.Role, err = acting(q, role); err != nil {
			return nil, err
		}
	}
	if caller.Match, err = ifMatch(r, e.op); err != nil {
		return nil, err
	}
	if e.op.Key {
		caller.Once = q.once()
	}
	return func(ctx context.Context) (answer, error) { return made(ctx, caller) }, nil
}

func sizeLimit(e endpoint) int64 {
	if e.media == anyMedia || e.media == linesMedia {
		return payloadLimit
	}
	return bodyLimit
}

func allow(methods map[string]endpoint) string {
	names := []string{}
	for name := range methods {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// mediaType refuses a body of another type than the route takes. Where the body
// is JSON a missing type is another type.
func mediaType(r *http.Request, want string) error {
	if want == noMedia || want == anyMedia {
		return nil
	}
	got, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || got != want || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return refuse(refusal.RequestUnsupportedMediaType, "the route takes %s", want).with("Accept", want)
	}
	return nil
}

// bearer is the token of a request. A token in the URL is no token.
func bearer(r *http.Request) (secret string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, ok := strings.Cut(values[0], " ")
	secret = strings.TrimSpace(secret)
	return secret, ok && secret != "" && strings.EqualFold(scheme, "Bearer")
}

// authenticate finds out who asks and holds them to the rate of their token.
func (a *API) authenticate(q *request) error {
	if q.op.Scope == "" {
		return nil
	}
	if q.op.Scope == operation.Metrics && a.conf.MetricsFrom != nil && a.conf.MetricsFrom(q.from) {
		return nil
	}
	challenge := func(why string) error {
		return refuse(refusal.AuthRequired, "%s", why).with("WWW-Authenticate", `Bearer realm="plimsoll"`)
	}
	secret, ok := bearer(q.http)
	if !ok {
		return challenge("a bearer token is needed")
	}
	who, err := a.conf.Service.Authenticate(q.http.Context(), secret)
	if err != nil {
		if refusal.CodeOf(err) == refusal.AuthRequired {
			return challenge(message(err))
		}
		return err
	}
	q.token, q.actor = &who.Token, who.Actor
	if wait := a.rates.admit(a.conf.Now(), who.Token.ID); wait > 0 {
		return refuse(refusal.RequestRateLimited, "over the rate of this token").with("Retry-After", seconds(wait))
	}
	return nil
}

// readBody takes the body into memory, within the limit of the route and what
// all requests may use together.
func (a *API) readBody(q *request, limit int64) error {
	r := q.http
	if r.Body == nil || r.Body == http.NoBody {
		q.digest = contract.Hash(nil)
		return nil
	}
	need := r.ContentLength
	if need < 0 {
		need = limit
	}
	// Held until the request is answered: the body is in memory as long.
	need = min(need, a.conf.Memory)
	if err := a.memory.Acquire(r.Context(), need); err != nil {
		return err
	}
	q.held = need
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return refuse(refusal.RequestMalformed, "the body broke off")
	}
	if int64(len(body)) > limit {
		return refuse(refusal.RequestTooLarge, "the body is larger than %d bytes", limit)
	}
	q.body, q.digest = body, contract.Hash(body)
	return nil
}

// key checks the Idempotency-Key and answers the role the request names. A key
// that is known is answered before anything else of the request is read, so a
// request that was taken is taken again even when the contract has moved on.
func (a *API) key(q *request) (contract.Role, error) {
	named := contract.Role(q.http.Header.Get("Acting-Role"))
	if !q.op.Key {
		return named, nil
	}
	q.key = q.http.Header.Get("Idempotency-Key")
	if q.key == "" {
		return "", refuse(refusal.RequestKeyRequired, "%s needs an Idempotency-Key", q.op.ID)
	}
	if !validKey(q.key) || len(q.http.Header.Values("Idempotency-Key")) > 1 {
		return "", refuse(refusal.RequestMalformed, "the Idempotency-Key is 1 to 128 of A-Z a-z 0-9 . _ : - and begins with a letter or digit")
	}
	role := named
	if role == "" {
		role, _ = q.op.Acting(q.actor.Roles)
	}
	known, err := a.conf.Service.Known(q.http.Context(), pipeline.Caller{Actor: q.actor.ID, Role: role, Once: q.once()})
	if err != nil {
		return "", err
	}
	if known != nil {
		return "", &pipeline.Replayed{Request: *known}
	}
	return named, nil
}

func (q *request) once() pipeline.Once {
	target := q.http.URL.Path
	if q.http.URL.RawQuery != "" { // it says what the write is about
		target += "?" + q.http.URL.RawQuery
	}
	return pipeline.Once{Key: q.key, Method: q.http.Method, Path: target, BodyDigest: q.digest, Render: q.kept}
}

func validKey(key string) bool {
	if len(key) > 128 {
		return false
	}
	for i, c := range []byte(key) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._:-", rune(c))) {
			return false
		}
	}
	return key != ""
}

// lockToken reads the fencing token of a run or lock (docs/spec/contracts.md
// §20.3).
func lockToken(q *request) error {
	owed := slices.Contains(fenced, q.op.ID)
	values := q.http.Header.Values("Plimsoll-Lock-Token")
	if len(values) == 0 {
		// An admin gives somebody's run back without having its token.
		if owed && q.op.ID != "run.release" {
			return refuse(refusal.RequestMalformed, "the header Plimsoll-Lock-Token is missing")
		}
		return nil
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 1 || len(values) > 1 {
		return refuse(refusal.RequestMalformed, "the header Plimsoll-Lock-Token is no token")
	}
	q.lockToken = n
	return nil
}

// fenced is the operations that carry the token of a run.
var fenced = []string{"run.heartbeat", "run.complete", "run.fail", "run.release", "artifact.put"}

// acting is the role the caller acts under. Whether they hold the one they name,
// and may do this under it, is the use case's answer.
func acting(q *request, named contract.Role) (contract.Role, error) {
	if named != "" {
		if !named.Valid() {
			return "", refuse(refusal.RequestMalformed, "the header Acting-Role names no role")
		}
		return named, nil
	}
	role, several := q.op.Acting(q.actor.Roles)
	if several {
		return "", refuse(refusal.RoleNotNamed, "several of your roles may do this; name one in the header Acting-Role")
	}
	return role, nil
}

// ifMatch is the entity tag the caller names, without its quotes. It is compared
// strongly, so a weak one matches nothing.
func ifMatch(r *http.Request, op operation.Operation) (string, error) {
	values := r.Header.Values("If-Match")
	if op.Match == operation.Unread {
		return "", nil
	}
	if len(values) == 0 {
		if op.Match == operation.Demanded {
			return "", refuse(refusal.RequestPreconditionRequired, "%s needs If-Match with the entity tag you saw", op.ID)
		}
		return "", nil
	}
	tag := strings.TrimSpace(values[0])
	if len(values) > 1 || len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' || strings.Contains(tag[1:len(tag)-1], `"`) {
		return "", refuse(refusal.RequestPreconditionFailed, "If-Match is not one strong entity tag")
	}
	return tag[1 : len(tag)-1], nil
}

// kept is the answer as it is stored under the key.
func (q *request) kept(result any) (pipeline.Answer, error) {
	ans, err := q.render(result)
	if err != nil {
		return pipeline.Answer{}, err
	}
	status, media, body, err := q.bytes(ans)
	if err != nil {
		return pipeline.Answer{}, err
	}
	headers := canonical.Object{}
	if ans.etag != "" {
		headers = append(headers, canonical.Member{Key: "ETag", Value: ans.etag})
	}
	return pipeline.Answer{Status: status, MediaType: media, Headers: canonical.UTF8.Append(nil, headers), Body: body}, nil
}

func (q *request) bytes(ans answer) (status int, media string, body []byte, err error) {
	status, media, body = ans.status, ans.media, ans.raw
	if status == 0 {
		status = q.op.Success
	}
	if ans.body != nil {
		media = jsonMedia
		body, err = encode(ans.body)
	}
	return status, media, body, err
}

func (a *API) answer(w http.ResponseWriter, r *http.Request, q *request, ans answer) {
	if ans.serve != nil {
		ans.serve(w, r)
		return
	}
	status, media, body, err := q.bytes(ans)
	if err != nil {
		a.fail(w, r, q, err)
		return
	}
	if ans.etag != "" {
		w.Header().Set("ETag", ans.etag)
	}
	write(w, status, media, body)
}

// replayHeader is the header of an answer that was given before.
const replayHeader = "Idempotency-Replayed"

// replay sends the first answer again.
func replay(w http.ResponseWriter, first pipeline.Request) {
	if v, err := contract.Parse(first.Headers); err == nil {
		headers, _ := v.(map[string]any)
		for name, value := range headers {
			if text, ok := value.(string); ok {
				w.Header().Set(name, text)
			}
		}
	}
	w.Header().Set(replayHeader, "true")
	write(w, first.Status, first.MediaType, first.Answer)
}

// auditRefusal leaves the record of a request that never reached its use case:
// with the actor when it is known, else with the address only. Callers nobody
// knows could fill the log, so each address has a bound; what is over it is
// refused all the same.
func (a *API) auditRefusal(q *request, err error) error {
	if _, ok := errors.AsType[*pipeline.Replayed](err); ok || refusal.CodeOf(err) == "" || refusal.CodeOf(err) == refusal.StoreUnavailable {
		return err
	}
	by := pipeline.Caller{}
	recorded := err
	if q.actor == nil {
		if a.anon.admit(a.conf.Now(), q.from) > 0 {
			return err
		}
		recorded = refusal.New(refusal.CodeOf(err), "%s (from %s)", message(err), q.from)
	} else {
		by.Actor, by.Once.Key = q.actor.ID, q.key
		if role := contract.Role(q.http.Header.Get("Acting-Role")); role.Valid() {
			by.Role = role
		}
	}
	op := q.operation
	if op == "" {
		op = "request"
	}
	// The client may be gone; its refusal is recorded all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.http.Context()), recordGrace)
	defer cancel()
	if failed := a.conf.Service.Refuse(ctx, by, op, recorded); refusal.CodeOf(failed) != refusal.CodeOf(err) {
		return failed
	}
	return err
}

// message is the text of the first refusal in err.
func message(err error) string {
	if r, ok := errors.AsType[*refusal.Refusal](err); ok {
		return r.Message
	}
	return err.Error()
}

// client is the address a request comes from, without its port.
func (a *API) client(r *http.Request) string {
	if a.conf.Client != nil {
		return a.conf.Client(r)
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// clean says whether a path is as the routes are written.
func clean(p string) bool { return p == "/" || path.Clean(p) == p && !strings.HasSuffix(p, "/") }

// deadlines gives a client time in proportion to what it announced. A stream
// takes its deadline away again.
func deadlines(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	size := max(r.ContentLength, 0)
	if r.ContentLength < 0 {
		size = bodyLimit
	}
	end := time.Now().Add(bodyGrace + time.Duration(size/bodySpeed)*time.Second)
	_ = c.SetReadDeadline(end)
	_ = c.SetWriteDeadline(end.Add(answerGrace))
}

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
