// Command triage measures the screen and the triage of the circle on a set of texts
// of its own: how many attacks are detected, how many benign texts are taken for
// one, and how long deciding a request of 4 KiB takes (docs/spec/circle.md §8).
//
// The set has two halves. The rules were tuned on one; the other says how they do
// on texts they were not made for.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"plimsoll.dev"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/request/triage"
	"plimsoll.dev/internal/secrets"
)

func main() {
	misses := flag.Bool("misses", false, "list what went wrong in the half that the rules were tuned on")
	flag.Parse()
	if err := measure(os.Stdout, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "triage:", err)
		os.Exit(1)
	}
}

func measure(out io.Writer, misses bool) error {
	set, err := load()
	if err != nil {
		return err
	}
	finder, err := secrets.New()
	if err != nil {
		return err
	}
	s, err := screen.New(screen.Config{Secrets: finder})
	if err != nil {
		return err
	}
	results := make([]result, len(set))
	for i, t := range set {
		r := s.Read(t.text)
		results[i] = result{sample: t, report: r, stopped: r.Breach() || r.Secrets()}
	}
	printRates(out, results)
	if misses {
		printMisses(out, results)
	}
	decide, err := newDecider(s)
	if err != nil {
		return err
	}
	return printTimes(out, set, decide)
}

// newDecider makes what is timed: the screen and triage of one request, with the
// registry that is shipped.
func newDecider(s *screen.Screen) (func(text string), error) {
	files, err := plimsoll.ClanConfig()
	if err != nil {
		return nil, err
	}
	config, err := constitution.Load(files)
	if err != nil {
		return nil, err
	}
	t, err := triage.New(config.Registry())
	if err != nil {
		return nil, err
	}
	return func(text string) {
		r := s.Read(text)
		t.Decide(triage.Input{Report: &r, Envelope: &envelope.Envelope{
			Circle: envelope.Context{Channel: envelope.Channel{Kind: envelope.Internal}}, Target: envelope.Circle, Consent: envelope.ConsentNotRequired,
			AllowedActions: envelope.Actions(), ExpectedOutputs: envelope.ArtifactTypes(), InputText: text,
		}})
	}, nil
}
