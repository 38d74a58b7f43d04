package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"plimsoll.dev/internal/console"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
)

// said is a model that answers what it is told to.
type said struct{ err error }

func (s said) Draft(context.Context, constitution.Prompt, request.Turn) (request.Drafted, error) {
	return request.Drafted{}, s.err
}
func (s said) Name() string { return "small" }

func TestItIsKnownWhetherTheModelAnswered(t *testing.T) {
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	var none *watched
	if none.seen("") != (console.ModelSeen{}) {
		t.Error("a model that is not there was met")
	}
	for _, c := range []struct {
		name string
		err  error
		want console.ModelSeen
	}{
		{"an answer", nil, console.ModelSeen{API: "openai", Name: "small", Asked: now, Answered: true}},
		{"an answer that breaks its contract", fault.E("", fault.Invalid, "no", nil), console.ModelSeen{API: "openai", Name: "small", Asked: now, Answered: true}},
		{"no answer", fault.E("", fault.Unavailable, "no", nil), console.ModelSeen{API: "openai", Name: "small", Asked: now}},
		{"another fault", errors.New("no"), console.ModelSeen{API: "openai", Name: "small", Asked: now}},
		{"a turn that was not sent", fault.E("", fault.Denied, "no", nil), console.ModelSeen{API: "openai", Name: "small"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &watched{Model: said{c.err}, now: func() time.Time { return now }}
			if _, err := w.Draft(t.Context(), constitution.Prompt{}, request.Turn{}); !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			if got := w.seen("openai"); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOfAnAddressOnlyTheHostIsShown(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:word@hooks.example:8443/services/secret?token=x#y": "hooks.example", "https://[2001:db8::1]/x": "2001:db8::1", "%": "",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("%s is shown as %q, want %q", address, got, want)
		}
	}
}
