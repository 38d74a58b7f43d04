//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"
)

// shown is a contract as the service answers it, with the members these tests
// speak of.
type shown struct {
	Contract document `json:"contract"`
	Meta     struct {
		Source struct {
			ID      string `json:"id"`
			Version int64  `json:"version"`
		} `json:"source"`
		Phase       string   `json:"phase"`
		FreezeCause string   `json:"freezeCause"`
		Digest      string   `json:"approvalDigest"`
		Outstanding []string `json:"outstandingRoles"`
	} `json:"meta"`
}

type document struct {
	ID            string     `json:"id"`
	Kind          string     `json:"kind"`
	State         string     `json:"state"`
	Version       int64      `json:"version"`
	Intent        string     `json:"intent"`
	IntentID      string     `json:"intentId"`
	TaskSeedID    string     `json:"taskSeedId"`
	EntityID      string     `json:"entityId"`
	Status        string     `json:"status"`
	Details       string     `json:"details"`
	Plan          []string   `json:"executionPlan"`
	Risk          string     `json:"riskLevel"`
	Required      []string   `json:"requiredApprovals"`
	Approvals     []approval `json:"approvals"`
	FinalDecision string     `json:"finalDecision"`
	Deadline      string     `json:"approvalDeadline"`
	UpdatedAt     string     `json:"updatedAt"`
	Base          string     `json:"baseCommit"`
	Head          string     `json:"headCommit"`
}

type approval struct {
	Role      string `json:"role"`
	Actor     string `json:"actorId"`
	Decision  string `json:"decision"`
	DecidedAt string `json:"decidedAt"`
}

type chain struct {
	IntentID   string  `json:"intentId"`
	Phase      string  `json:"phase"`
	HeadCommit string  `json:"headCommit"`
	Contracts  []shown `json:"contracts"`
}

// of is the newest version of a kind in the chain.
func (c *chain) of(kind string) (shown, bool) {
	var best shown
	for _, one := range c.Contracts {
		if one.Contract.Kind == kind && one.Contract.Version > best.Contract.Version {
			best = one
		}
	}
	return best, best.Contract.ID != ""
}

type run struct {
	ExecutionID string `json:"executionId"`
	Phase       string `json:"phase"`
	Alive       bool   `json:"alive"`
	Outcome     string `json:"outcome"`
	EvidenceID  string `json:"evidenceId"`
}

type event struct {
	Position int64 `json:"position"`
	Event    struct {
		ID          string `json:"id"`
		Source      string `json:"source"`
		Type        string `json:"type"`
		Subject     string `json:"subject"`
		Correlation string `json:"correlationid"`
		Causation   string `json:"causationid"`
		Data        struct {
			FinalDecision string `json:"finalDecision"`
			Trigger       string `json:"trigger"`
		} `json:"data"`
	} `json:"event"`
}

type record struct {
	Position int64 `json:"position"`
	Record   struct {
		ID      string `json:"id"`
		Actor   string `json:"actorId"`
		Action  string `json:"action"`
		Success bool   `json:"success"`
		Error   *struct {
			Code string `json:"code"`
		} `json:"error"`
	} `json:"record"`
}

// refusal is an answer that is no.
type refusal struct {
	Status     int
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Path       *string `json:"path"`
	EvidenceID string  `json:"evidenceId"`
	Errors     []fault `json:"errors"`
}

// fault is one of several that a body has.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// nobody says that the service itself could not do it now: the same request
// under the same key may be made again.
func (r *refusal) nobody() bool {
	return r.Status >= 500 || r.Code == "request.in_progress"
}

// user is one of the staff speaking HTTP.
type user struct {
	site  *site
	who   string
	as    string // the role to act under, for those with several
	token int64  // of the lock of a run
	at    string // the service to speak to; "" is the one of the site

	accept string
	limit  time.Duration // for the answer; 0 is the one of the transport
}

var transport = &http.Client{
	Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second, ExpectContinueTimeout: 10 * time.Second},
	Timeout:   60 * time.Second,
}

func (s *site) user(who string) user { return user{site: s, who: who} }

func (u user) in(role string) user { u.as = role; return u }

func (u user) holding(token int64) user { u.token = token; return u }

func (u user) accepting(media string) user { u.accept = media; return u }

func (u user) on(p *process) user { u.at = p.address; return u }

// send makes one request once. The error is a *refusal when the service said no,
// and anything else when nobody knows.
func (u user) send(ctx context.Context, method, path, key, media string, body []byte, out any) error {
	at := u.at
	if at == "" {
		at = u.site.address()
	}
	if u.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, u.limit)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, method, at+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+u.site.tokens[u.who])
	for name, value := range map[string]string{"Idempotency-Key": key, "Content-Type": media, "Acting-Role": u.as, "Accept": u.accept} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if u.token != 0 {
		r.Header.Set("Plimsoll-Lock-Token", strconv.FormatInt(u.token, 10))
	}
	back, err := transport.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = back.Body.Close() }()
	text, err := io.ReadAll(back.Body)
	if err != nil {
		return err
	}
	if back.StatusCode >= 300 {
		no := &refusal{Status: back.StatusCode}
		if err := json.Unmarshal(text, no); err != nil {
			return fmt.Errorf("%s %s: %s: %s", method, path, back.Status, text)
		}
		return no
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = text
		return nil
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, out)
}

func (u user) post(ctx context.Context, path, key string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return u.send(ctx, http.MethodPost, path, key, "application/json", text, out)
}

func (u user) get(ctx context.Context, path string, out any) error {
	return u.send(ctx, http.MethodGet, path, "", "", nil, out)
}

// all reads every page of a list.
func all[V any](t testing.TB, u user, path string, query url.Values) []V {
	t.Helper()
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "200")
	list := []V{}
	for {
		var page struct {
			Items []V    `json:"items"`
			Next  string `json:"next"`
		}
		if err := u.get(t.Context(), path+"?"+query.Encode(), &page); err != nil {
			t.Fatalf("list %s: %v", path, err)
		}
		list = append(list, page.Items...)
		if page.Next == "" {
			return list
		}
		query = url.Values{"cursor": {page.Next}}
	}
}

// chain is a chain as it stands now.
func (s *site) chain(intent string) chain {
	s.Helper()
	var c chain
	if err := s.user("ada").get(s.Context(), "/v1/chains/"+intent, &c); err != nil {
		s.Fatalf("show %s: %v", intent, err)
	}
	return c
}
