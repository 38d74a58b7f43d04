package api

import (
	"context"
	"net/http"
	"reflect"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
)

// types is what the OpenAPI document is made from: the Go types a request is
// decoded into and an answer is encoded from.
type types struct {
	parameters reflect.Type
	body       reflect.Type // nil where the body is no JSON
	answer     reflect.Type // nil where there is none
	media      []string     // of the answer; JSON when empty
	paged      bool
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// typed is the types of an operation that answers with a T.
func typed[T any]() types { return types{answer: typeOf[T]()} }

// none stands for parameters or a body that an operation does not have.
type none struct{}

// read is an operation that answers with one thing.
func read[P, R, V any](id string, do func(context.Context, *P) (R, error), show func(R) (V, string)) endpoint {
	return act(id, noMedia, func(ctx context.Context, _ pipeline.Caller, p *P, _ *none) (R, error) { return do(ctx, p) }, show)
}

// act is an operation with a JSON answer. show gives the view and the entity tag,
// "" for none.
func act[P, B, R, V any](
	id, media string, do func(context.Context, pipeline.Caller, *P, *B) (R, error), show func(R) (V, string),
) endpoint {
	return actAs(id, media, do, func(r R, _ bool) answer {
		view, etag := show(r)
		return answer{body: view, etag: etag}
	}, types{answer: reflect.TypeFor[V]()})
}

// actAs is act where the answer is more than a view. kept says that the answer
// is the one that is stored under the Idempotency-Key: a secret has no place in
// it.
func actAs[P, B, R any](
	id, media string, do func(context.Context, pipeline.Caller, *P, *B) (R, error), show func(r R, kept bool) answer, t types,
) endpoint {
	t.parameters = reflect.TypeFor[P]()
	if media == jsonMedia || media == mergeMedia {
		t.body = reflect.TypeFor[B]()
	}
	return endpoint{op: operationOf(id), media: media, types: t, prepare: func(q *request) (call, error) {
		p, b := new(P), new(B)
		if media == jsonMedia || media == mergeMedia {
			if err := decodeBody(q.body, b); err != nil {
				return nil, err
			}
		}
		if raw, ok := any(b).(*payload); ok {
			*raw = payload(q.body)
		}
		if err := decodeParameters(q.http, q.http.URL.Query(), p); err != nil {
			return nil, err
		}
		q.render = func(result any) (answer, error) {
			r, _ := result.(R) // a use case without a result renders nil
			return show(r, true), nil
		}
		return func(ctx context.Context, c pipeline.Caller) (answer, error) {
			r, err := do(ctx, c, p, b)
			if err != nil {
				return answer{}, err
			}
			return show(r, false), nil
		}, nil
	}}
}

// payload is a body that is taken as it is.
type payload []byte

// nothing is the answer of an operation that has none.
func nothing[R any](R, bool) answer { return answer{} }

// Page is a page of a list. Next is absent on the last one.
type Page[V any] struct {
	Items []V    `json:"items"`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page; absent on the last one."`
}

// window is which part of a list is asked for.
type window struct {
	cursor cursor
	limit  int
}

// list is a list by time. do answers one item more than asked for when there is
// a page after this one.
func list[P, I, V any](
	id string, do func(context.Context, pipeline.Caller, *P, pipeline.Page) ([]I, error), view func(I) V, mark func(I) pipeline.Mark,
) endpoint {
	return windowed(id, func(ctx context.Context, by pipeline.Caller, p *P, w window) (Page[V], error) {
		items, err := do(ctx, by, p, w.cursor.page(w.limit+1))
		return paged(items, w.limit, view, func(last I) string { return w.cursor.behind(mark(last)) }), err
	})
}

// positioned is a list by position.
func positioned[P, I, V any](
	id string, do func(ctx context.Context, by pipeline.Caller, p *P, after int64, limit int) ([]I, error), view func(I) V, position func(I) int64,
) endpoint {
	return windowed(id, func(ctx context.Context, by pipeline.Caller, p *P, w window) (Page[V], error) {
		items, err := do(ctx, by, p, w.cursor.After, w.limit+1)
		return paged(items, w.limit, view, func(last I) string { return w.cursor.after(position(last)) }), err
	})
}

// whole is a list that belongs to one thing and only grows at its end: it is
// read as one and given out in pages.
func whole[P, I, V any](id string, do func(context.Context, *P) ([]I, error), view func(I) V) endpoint {
	return windowed(id, func(ctx context.Context, _ pipeline.Caller, p *P, w window) (Page[V], error) {
		items, err := do(ctx, p)
		from := min(int(w.cursor.After), len(items))
		return paged(items[from:], w.limit, view, func(I) string { return w.cursor.after(int64(from + w.limit)) }), err
	})
}

func paged[I, V any](items []I, limit int, view func(I) V, next func(last I) string) Page[V] {
	page := Page[V]{Items: make([]V, 0, min(len(items), limit))}
	if len(items) > limit {
		items = items[:limit]
		page.Next = next(items[limit-1])
	}
	for _, item := range items {
		page.Items = append(page.Items, view(item))
	}
	return page
}

func windowed[P, V any](id string, do func(context.Context, pipeline.Caller, *P, window) (Page[V], error)) endpoint {
	t := types{parameters: reflect.TypeFor[P](), answer: reflect.TypeFor[Page[V]](), paged: true}
	return endpoint{op: operationOf(id), types: t, prepare: func(q *request) (call, error) {
		p, w, err := filters[P](q)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, by pipeline.Caller) (answer, error) {
			page, err := do(ctx, by, p, w)
			if err != nil {
				return answer{}, err
			}
			return answer{body: page}, nil
		}, nil
	}}
}

// filters reads the parameters of a list. A cursor carries the filters of the
// first page, so they need not be repeated.
func filters[P any](q *request) (*P, window, error) {
	query := q.http.URL.Query()
	c, limit, err := paging(q.op.ID+" "+q.http.URL.Path, query)
	if err != nil {
		return nil, window{}, err
	}
	if query, err = c.query(); err != nil {
		return nil, window{}, refuse(refusal.RequestCursorInvalid, "the cursor was not given out by this list")
	}
	p := new(P)
	if err := decodeParameters(q.http, query, p); err != nil {
		return nil, window{}, err
	}
	return p, window{c, limit}, nil
}

// served is an answer that writes itself: a stream, or more than fits in memory.
func served(serve func(w http.ResponseWriter, r *http.Request)) answer { return answer{serve: serve} }
