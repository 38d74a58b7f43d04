package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request/constitution"
	reason "plimsoll.dev/internal/request/problem"
)

// circle is the operations of docs/spec/circle.md §10, in the order of their
// table. What the use cases answer with a kind of fault alone is said in the codes
// of the surface here.
func (a *API) circle() []endpoint {
	rows := []endpoint{
		a.requestList(),
		a.requestAsk(),
		a.requestGet(),
		a.requestEvents(),
		a.outcomeList(),
		a.outcomeGet(),
		a.outcomeConfirm(),
		a.outcomeDecline(),
		a.outcomeAdopt(),
		a.consentList(),
		a.consentDecide(),
		a.consentRevoke(),
		a.identityList(),
		a.identityEnroll(),
		a.identityChallenge(),
		a.identityAnswer(),
		a.circleList(),
		a.circleCreate(),
		a.circleGet(),
		a.circleQuorum(),
		a.memberList(),
		a.memberSet(),
		a.memberRemove(),
		a.channelList(),
		a.channelLift(),
		a.workerList(),
		a.clanGet(),
		a.clanFile(),
		a.clanReload(),
	}
	for i := range rows {
		prepare := rows[i].prepare
		rows[i].prepare = func(q *request) (call, error) {
			made, err := prepare(q)
			if err != nil {
				return nil, err
			}
			if a.conf.Circle == nil {
				return nil, refuse(refusal.StoreUnavailable, "no circle is served here")
			}
			return func(ctx context.Context, by pipeline.Caller) (answer, error) {
				ans, err := made(ctx, by)
				return ans, circleError(err)
			}, nil
		}
	}
	return rows
}

// wholeOf is whole for who asks.
func wholeOf[P, I, V any](id string, do func(context.Context, pipeline.Caller, *P) ([]I, error), view func(I) V) endpoint {
	return windowed(id, func(ctx context.Context, by pipeline.Caller, p *P, w window) (Page[V], error) {
		items, err := do(ctx, by, p)
		from := min(int(w.cursor.After), len(items))
		return paged(items[from:], w.limit, view, func(I) string { return w.cursor.after(int64(from + w.limit)) }), err
	})
}

// circleError is err with a code, where it has only a kind.
func circleError(err error) error {
	if err == nil || refusal.CodeOf(err) != "" || reason.CodeOf(err) != "" {
		return err
	}
	if _, replayed := errors.AsType[*pipeline.Replayed](err); replayed {
		return err
	}
	if faults, broken := errors.AsType[constitution.Faults](err); broken {
		all := refusal.List{}
		for _, f := range faults {
			all = append(all, refusal.New(refusal.RequestMalformed, "%s", f.String()))
		}
		return &refused{Refusal: refusal.New(refusal.RequestMalformed, "the configuration was not taken; the one in use stays: %s", faults[0].String()), errors: all}
	}
	message := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		message = f.Msg
	}
	switch fault.KindOf(err) {
	case fault.NotFound:
		return refuse(refusal.RequestNotFound, "%s", message)
	case fault.Invalid:
		return refuse(refusal.RequestMalformed, "%s", message)
	case fault.Conflict:
		// Another was sooner with the same rows: the same request may be made again.
		return fault.E("api", fault.Unavailable, "", err)
	case fault.Denied, fault.Unavailable, fault.Internal:
	}
	return err
}

// reasons is the faults of a circle's use case in the form the contracts give
// theirs, the first of which is the answer's own.
func reasons(err error) (first *reason.Problem, all refusal.List) {
	list, ok := errors.AsType[reason.List](err)
	if !ok {
		first, _ = errors.AsType[*reason.Problem](err)
		return first, nil
	}
	for _, p := range list {
		all = append(all, &refusal.Refusal{Code: refusal.Code(p.Code), Message: p.Message, Path: p.Path, Pointed: p.Pointed})
	}
	return list[0], all
}

// circleProblem is a refusal of the circle as the caller gets to see it.
func circleProblem(err error, instance string) (*Problem, bool) {
	first, all := reasons(err)
	if first == nil {
		return nil, false
	}
	status := first.Code.Status()
	if status == 0 {
		status = http.StatusConflict
	}
	p := &Problem{
		Type: errorBase + string(first.Code), Title: title(first.Code), Status: status, Detail: first.Message, Instance: instance,
		Code: refusal.Code(first.Code), Message: first.Message, Retryable: first.Retryable(),
	}
	if first.Pointed {
		p.Path = &first.Path
	}
	if len(all) > 1 {
		p.Errors = all
	}
	return p, true
}

// title is a code in words.
func title(c reason.Code) string {
	of, what, ok := strings.Cut(string(c), ".")
	if !ok {
		return strings.ReplaceAll(string(c), "_", " ")
	}
	return fmt.Sprintf("%s: %s", of, strings.ReplaceAll(what, "_", " "))
}
