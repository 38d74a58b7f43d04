//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// remembered is what a package comes to, without the instants in it.
type remembered struct {
	Status    string
	Stops     []string
	Runs      []string // step, attempt, worker, fault
	Artifacts []string // id, type, status, digest
	Owed      []string
}

// comes is what a package comes to. The ids of artifacts follow from the request
// and the step: whatever was made twice would be there twice, or under another id.
func (g *garden) comes(p *pack) remembered {
	g.Helper()
	m := remembered{Status: p.Status, Stops: p.conditions()}
	for _, r := range p.Runs {
		m.Runs = append(m.Runs, fmt.Sprintf("%d.%d %s %s", r.Step, r.Attempt, r.Worker, r.Fault))
	}
	for _, text := range p.Artifacts {
		var a piece
		g.read(string(text), &a)
		digest := a.SHA256
		if a.Type == "identity_challenge" || a.Type == "consent_request" || a.Type == "testimony_draft" || a.Type == "audit_entry" {
			digest = "" // it says until when, on which day, or names a digest that does
		}
		m.Artifacts = append(m.Artifacts, fmt.Sprintf("%s %s %s %s", a.ID, a.Type, a.Status, digest))
	}
	for _, o := range p.Owed {
		m.Owed = append(m.Owed, o.Kind+" "+o.ArtifactID+" "+o.Member)
	}
	slices.Sort(m.Owed)
	return m
}

// plenty is the n-th of many requests, of every chain and beside them.
func (g *garden) plenty(n int) object {
	var e object
	switch n % 7 {
	case 0:
		e = g.decision(fmt.Sprintf("Let us decide whether bed %d is for beans.", n))
	case 1:
		e = g.letter(fmt.Sprintf("Draft a letter to the town council: bed %d is open to everyone on the first of May.", n))
	case 2:
		e = g.request(fmt.Sprintf("I would like to give our circle %d apple saplings as a gift.", n+2), "gift_draft", "gift_draft", "propose_decision")
	case 3:
		e = g.request(fmt.Sprintf("I was offline for a week, please merge my %d edited notes with the shared record.", n), "merge_proposal", "merge_draft")
	case 4:
		e = g.request("Change the constitution: a quorum of three quarters from now on.", "core_change_proposal", "core_change_draft", "propose_decision", "request_consent")
	case 5:
		e = g.note(fmt.Sprintf("Remember that rake %d stands behind the shed.", n))
	default:
		e = g.decision("Use this key for the backup: " + planted())
	}
	e["request_id"] = fmt.Sprintf("p-%04d", n)
	return e
}

// Killed at any instant and started again, the service ends every request with the
// package it would have had, and no worker's effect is doubled
// (docs/spec/circle.md §11.10).
func TestNothingIsLostOfACircleHoweverOftenTheServiceIsKilled(t *testing.T) {
	reference := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "reference.db"))
	defer func() { reference.process().stop() }()
	t.Run("killed", func(t *testing.T) { // which ends when both databases have
		onEach(t, func(t *testing.T, db string) {
			t.Helper()
			killed(t, db, reference)
		})
	})
}

func killed(t *testing.T, db string, reference *garden) {
	t.Helper()
	g := grow(t, db)
	settings := []string{"--identity.key", filepath.Join(g.dir, "identity.key")}
	seed := uint64(time.Now().UnixNano())
	chance := rand.New(rand.NewPCG(seed, 2))
	var over atomic.Bool
	taken := make(chan int, 1)
	repeats := 0
	go func() { // asks one thing after the other, again until it is taken
		n := 0
		for ; !over.Load(); n++ {
			text, _ := json.Marshal(g.plenty(n)) // it is made of texts
			for {
				u := g.user("ada")
				u.limit = 5 * time.Second
				err := u.send(t.Context(), http.MethodPost, "/v1/requests", fmt.Sprintf("plenty-%d", n), "application/json", text, nil)
				if err == nil {
					break
				}
				if r, no := errors.AsType[*refusal](err); no && !r.nobody() {
					t.Errorf("request %d: %v", n, err)
					break
				}
				repeats++
				if over.Load() && g.address() == "" || t.Context().Err() != nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		taken <- n
	}()
	count := (*kills + 3) / 4
	starts := []time.Duration{}
	for n := range count {
		p := g.process()
		time.Sleep(time.Duration(chance.Int64N(int64(2*middle(starts) + 50*time.Millisecond))))
		p.kill()
		begun := time.Now()
		fresh, ready := g.launch(settings...)
		select {
		case at, ok := <-ready:
			if !ok {
				<-fresh.exited
				t.Fatalf("kill %d (seed %d): the service ended instead of serving\n%s", n, seed, fresh.log.String())
			}
			fresh.address = at
		case <-time.After(patience):
			t.Fatalf("kill %d (seed %d): the service does not serve any more", n, seed)
		}
		starts = append(starts, time.Since(begun))
		g.use(fresh)
	}
	over.Store(true)
	total := <-taken
	for n := range total {
		id := fmt.Sprintf("p-%04d", n)
		was := g.comes(g.ended(g.user("ada"), id))
		p, err := reference.sends("ada", reference.plenty(n))
		if err != nil {
			t.Fatal(err)
		}
		if want := reference.comes(p); fmt.Sprint(was) != fmt.Sprint(want) {
			t.Errorf("%s (seed %d) is\n%+v\nand without kills\n%+v", id, seed, was, want)
		}
	}
	// One end for each request, one for each run, in the one audit log.
	ends := map[string]int{}
	for _, r := range all[struct {
		Record struct {
			Action  string `json:"action"`
			ID      string `json:"id"`
			Success bool   `json:"success"`
		} `json:"record"`
	}](t, g.user("root"), "/v1/audit", nil) {
		if r.Record.Action == "request.end" || r.Record.Action == "run.end" {
			ends[r.Record.Action+" "+r.Record.ID]++
		}
	}
	requests := 0
	for key, n := range ends {
		if n > 1 {
			t.Errorf("%s is on record %d times", key, n)
		}
		if strings.HasPrefix(key, "request.end") {
			requests++
		}
	}
	if requests != total {
		t.Errorf("%d requests have an end on record, %d were asked", requests, total)
	}
	g.proveAudit()
	t.Logf("%d kills, %d requests, %d asked again; start median %d ms; seed %d", count, total, repeats, middle(starts).Milliseconds(), seed)
	g.process().stop()
}
