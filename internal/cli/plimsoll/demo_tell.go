package plimsoll

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll.dev/internal/demo"
)

// teller prints what a demo does: sentences for people, or one JSON object a line.
type teller struct {
	w    io.Writer
	json bool
}

func (t *teller) object(v any) error { return json.NewEncoder(t.w).Encode(v) }

func (t *teller) say(format string, args ...any) error {
	_, err := fmt.Fprintf(t.w, format, args...)
	return err
}

// serving says where the demo is and how to sign in.
func (t *teller) serving(d *demoFolder, address string) error {
	if t.json {
		type person struct {
			ID    string   `json:"id"`
			Name  string   `json:"name"`
			Agent bool     `json:"agent"`
			Roles []string `json:"roles"`
			About string   `json:"about"`
			Token string   `json:"token"`
		}
		list := []person{}
		for _, p := range demo.People() {
			list = append(list, person{p.ID, p.Name, p.Agent, p.Roles, p.About, d.book.Tokens[p.ID]})
		}
		return t.object(struct {
			Event   string   `json:"event"`
			Address string   `json:"address"`
			Dir     string   `json:"dir"`
			People  []person `json:"people"`
		}{"serving", address, d.dir, list})
	}
	if err := t.say("The demo is served on %s, and lives in %s\nSign in at %s/signin with the token of one of these people:\n\n", address, d.dir, address); err != nil {
		return err
	}
	for _, p := range demo.People() {
		if !p.Agent {
			if err := t.say("  %-5s %-54s %s\n", p.Name, p.About, d.book.Tokens[p.ID]); err != nil {
				return err
			}
		}
	}
	if err := t.say("\nRobin and Magpie are agents: they work, and decide nothing.\n\n"); err != nil {
		return err
	}
	return nil
}

// step tells of a step before it is taken.
func (t *teller) step(s demo.Told, program string) error {
	if t.json {
		return t.object(struct {
			Event   string   `json:"event"`
			Number  int      `json:"number"`
			Of      int      `json:"of"`
			Name    string   `json:"name"`
			Who     string   `json:"who"`
			What    string   `json:"what"`
			Command []string `json:"command,omitempty"`
			There   bool     `json:"alreadyDone,omitempty"`
		}{"step", s.Number, s.Of, s.Step.Name, s.Step.Who, s.Step.What, s.Line, s.There})
	}
	there := ""
	if s.There {
		there = " (done already)"
	}
	if err := t.say("%2d/%d  %s %s%s\n", s.Number, s.Of, demo.NameOf(s.Step.Who), s.Step.What, there); err != nil || s.There {
		return err
	}
	return t.say("       $ plimsoll %s\n", typed(s.Line, program))
}

// typed is a command line as one types it, in the words of a shell.
func typed(line []string, program string) string {
	out := make([]string, len(line))
	for i, word := range line {
		switch {
		case word == program:
			word = "plimsoll"
		case strings.ContainsAny(word, " \"'$&|<>;()*?`\\"):
			word = strconv.Quote(word)
		}
		out[i] = word
	}
	return strings.Join(out, " ")
}

// end says what there is to see.
func (t *teller) end(list []demo.Sight, address string, once bool) error {
	if t.json {
		return t.object(struct {
			Event  string       `json:"event"`
			Sights []demo.Sight `json:"sights"`
		}{"end", list})
	}
	if err := t.say("\nWhat there is to see:\n\n"); err != nil {
		return err
	}
	for _, one := range list {
		if err := t.say("  %s\n    %s%s\n", one.What, address, one.Path); err != nil {
			return err
		}
	}
	if once {
		return nil
	}
	return t.say("\nInterrupt (Ctrl-C) ends the demo.\n")
}
