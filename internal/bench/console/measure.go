package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"time"
)

var asset = regexp.MustCompile(`href="(/static/[^"]+console\.css)"`)

// get asks for a path as somebody; took is the time to the first byte.
func (s *service) get(ctx context.Context, who, path, language string) (took time.Duration, body string, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return 0, "", err
	}
	q.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: s.tokens[who]})
	if language != "" {
		q.AddCookie(&http.Cookie{Name: "plimsoll-language", Value: language})
	}
	began := time.Now()
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(r.Body, first); err != nil {
		return 0, "", fmt.Errorf("%s: %w", path, err)
	}
	took = time.Since(began)
	rest, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", path, r.StatusCode)
	}
	return took, string(first) + string(rest), err
}

// inUkrainian follows the path of a page that is asked for in Ukrainian.
const inUkrainian = " (uk)"

// pageSize is what a page, which is not compressed, has less than.
const pageSize = 60_000

// spent is what this process has taken of the processors, user and system. Whoever
// asks is in it too, and what the service does beside.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pages measures every page that a person opens.
func (s *service) pages(ctx context.Context, out *report, rounds int, only string) error {
	_, home, err := s.get(ctx, "root", "/rules", "")
	if err != nil {
		return err
	}
	file := asset.FindStringSubmatch(home)
	if file == nil {
		return errors.New("the pages name no file of styles")
	}
	type kind struct{ who, path string }
	kinds := []kind{
		{"lea", "/inbox"},
		{"lea", "/inbox" + inUkrainian},
		{"lea", "/decisions/gates/" + string(s.gate) + inUkrainian},
		{"lea", "/decisions/activations/" + string(s.draft)},
		{"lea", "/chains"},
		{"lea", "/chains?state=Published&phase=Published"},
		{"lea", "/chains?risk=high"},
		{"lea", "/chains/" + string(s.chain)},
		{"lea", "/chains/" + string(s.changed) + "/diff"},
		{"lea", "/decisions/gates/" + string(s.gate)},
		{"lea", "/decisions/consents/" + s.artifact},
		{"lea", "/requests"},
		{"lea", "/requests/" + s.request},
		{"root", "/audit"},
		{"root", "/audit?contractId=" + string(s.chain)},
		{"root", "/audit?actorId=lea"},
		{"root", "/audit?role=admin"},
		{"root", "/audit?riskLevel=critical"},
		{"root", "/audit?contractId=0123456789abcdef"},
		{"root", "/audit?date=" + time.Now().UTC().Format(time.DateOnly)},
		{"root", "/audit/1"},
		{"root", "/rules"},
		{"root", "/rules/HOST-MCP-SERVER-ADDED"},
		{"root", "/actors"},
		{"root", "/actors/lea"},
		{"root", "/health"},
	}
	for _, k := range kinds {
		if !strings.HasPrefix(k.path, only) {
			continue
		}
		var took, floor []time.Duration
		var cpu time.Duration
		size, language := 0, ""
		path, uk := strings.CutSuffix(k.path, inUkrainian)
		if uk {
			language = "uk"
		}
		for i := -3; i < rounds; i++ {
			least, _, err := s.get(ctx, k.who, file[1], "")
			if err != nil {
				return err
			}
			used := spent()
			t, body, err := s.get(ctx, k.who, path, language)
			if err != nil {
				return err
			}
			if i >= 0 {
				cpu += spent() - used
				took, floor, size = append(took, t), append(floor, least), len(body)
			}
		}
		out.say(k.path, took, quantile(floor, 50), pageBudget, size, cpu/time.Duration(max(1, rounds)))
	}
	return nil
}

// news measures from a write to its event on an open stream, and to the page that
// has it.
func (s *service) news(ctx context.Context, out *report, rounds int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/live?t=all", nil)
	if err != nil {
		return err
	}
	q.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: s.tokens["lea"]})
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	heard := make(chan time.Time, 64)
	go func() {
		defer close(heard) // the body ends with ctx
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			if lines.Text() == "event: changed" {
				heard <- time.Now()
			}
		}
	}()
	var event, page []time.Duration
	for n := range rounds {
		for quiet := false; !quiet; { // what the change before led to is over
			select {
			case <-heard:
			case <-time.After(500 * time.Millisecond):
				quiet = true
			}
		}
		text := fmt.Sprintf("News number %d of the open page", n)
		began := time.Now()
		if _, err := s.asked(ctx, text); err != nil {
			return err
		}
		var at time.Time
		for {
			var ok bool
			select {
			case at, ok = <-heard:
			case <-time.After(10 * time.Second):
			}
			if !ok {
				return errors.New("an open page heard nothing within 10 s")
			}
			_, body, err := s.get(ctx, "lea", "/chains", "")
			if err != nil {
				return err
			}
			if strings.Contains(body, text) {
				break
			}
		}
		event, page = append(event, at.Sub(began)), append(page, time.Since(began))
	}
	out.say("from a write to its news on an open stream", event, 0, newsBudget, 0, 0)
	out.say("from a write to the page that has it", page, 0, newsBudget, 0, 0)
	return nil
}
