// Package demo is a story about a small shop: four people and two agents take
// requests to a release, to a refusal and to two decisions that wait.
//
// The story is one table (Story). The command plays it, prints it and its tests
// hold it, so that what is shown is what is done. Each row is a command of the
// program as the person beside it would type it; whether it is done is read from
// the service, never remembered, so a story that was cut off goes on where it is.
package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
)

// Circle is the id of the circle of the story, and Repository the name of the
// repository it works on.
const (
	Circle     = "shop"
	Repository = "shop"
)

// Person is somebody of the story, who may be an agent.
type Person struct {
	ID    string   // also the actor's
	Name  string   // as people say it
	Agent bool     // a program that does work and decides nothing
	Roles []string // as the contracts name them
	About string   // who that is, in a few words
}

// People is who the story is about. Rex, who is the admin, registers the others.
func People() []Person {
	work := []string{"developer", "ci_agent", "qa"}
	return []Person{
		{ID: "rex", Name: "Rex", Roles: []string{"release_manager", "admin"}, About: "releases what is agreed, and looks after the service"},
		{ID: "ana", Name: "Ana", Roles: []string{"requester"}, About: "asks for changes of the shop"},
		{ID: "lena", Name: "Lena", Roles: []string{"project_lead"}, About: "leads the project"},
		{ID: "sam", Name: "Sam", Roles: []string{"security_reviewer"}, About: "reviews security"},
		{ID: "robin", Name: "Robin", Agent: true, Roles: work, About: "an agent that does what it was asked"},
		{ID: "magpie", Name: "Magpie", Agent: true, Roles: work, About: "an agent that takes more than it was given"},
	}
}

// NameOf is the name of somebody of the story.
func NameOf(id string) string {
	for _, p := range People() {
		if p.ID == id {
			return p.Name
		}
	}
	return id
}

// Office is how the people of the story reach the service.
type Office interface {
	// Run does one command of the program as somebody.
	Run(ctx context.Context, who string, line []string) error
	// Read reads one thing of the API as somebody. What is not there is a fault of
	// the kind NotFound.
	Read(ctx context.Context, who, path string, v any) error
}

// Told is what Play tells of a step that it takes.
type Told struct {
	Number, Of int // of the step in the story, from 1
	Step       Step
	Line       []string // the command as it is run
	There      bool     // it is done already, and not done again
}

// Config is how a story is played.
type Config struct {
	Office Office
	// Tell is called before each step, and before a step that is there already.
	Tell func(Told)
	// Pace is how long to wait after each step, so that a person can follow.
	Pace time.Duration
	// Values is what a line names in braces besides what the service knows: the
	// repository and the program that plays the agents.
	Values map[string]string
}

const (
	// patience is how long what follows from a step may take.
	patience = 60 * time.Second
	glance   = 20 * time.Millisecond
)

// Play plays the story to its end, from wherever it is. When it answers an error
// or ctx ends, playing again goes on.
func Play(ctx context.Context, c Config) error {
	story := Story()
	for i, s := range story {
		v := &view{ctx: ctx, office: c.Office, of: s.Of}
		told := Told{Number: i + 1, Of: len(story), Step: s}
		told.There = s.Done(v)
		if v.err == nil && !told.There {
			var missing string
			if told.Line, missing = fill(s.Line, v, c.Values); missing != "" && v.err == nil {
				v.err = fault.E("demo.Play", fault.Conflict, fmt.Sprintf("step %q needs the %s, and there is none: the story cannot go on from here", s.Name, missing), nil)
			}
		}
		if v.err != nil {
			return v.err
		}
		c.Tell(told)
		if told.There {
			continue
		}
		if err := take(ctx, c, s, told.Line); err != nil {
			return err
		}
		if err := wait(ctx, c.Pace); err != nil {
			return err
		}
	}
	return nil
}

// take takes one step and waits for what it leads to. A refusal counts only when
// the step is not done then: somebody may have been faster.
func take(ctx context.Context, c Config, s Step, line []string) error {
	refused := c.Office.Run(ctx, s.Who, line)
	if v := (&view{ctx: ctx, office: c.Office, of: s.Of}); refused != nil && s.Of != "" && v.exhausted() {
		// The run before was cut off, and its work is not bad: who leads the project says so.
		lead := []string{"contract", "resume", v.newest("TaskSeed").ID, "--resolution", "The run died with the machine it ran on."}
		if err := c.Office.Run(ctx, "lena", lead); err != nil {
			return err
		}
		refused = c.Office.Run(ctx, s.Who, line)
	}
	limit := time.Now().Add(patience)
	if refused != nil {
		limit = time.Now().Add(time.Second)
	}
	for {
		v := &view{ctx: ctx, office: c.Office, of: s.Of}
		done := s.Done(v)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case v.err != nil:
			return v.err
		case done:
			return nil
		case time.Now().After(limit) && refused != nil:
			return refused
		case time.Now().After(limit):
			return fault.E("demo.Play", fault.Unavailable, fmt.Sprintf("step %q was taken and nothing came of it in %s", s.Name, patience), nil)
		}
		if err := wait(ctx, glance); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// fill puts what is known in the place of each {name} of a line, and answers the
// first name that nothing is known for.
func fill(line []string, v *view, values map[string]string) (out []string, missing string) {
	for _, word := range line {
		if name, braced := strings.CutPrefix(word, "{"); braced {
			name = strings.TrimSuffix(name, "}")
			if word = values[name]; word == "" {
				word = v.value(name)
			}
			if word == "" && missing == "" {
				missing = name
			}
		}
		out = append(out, word)
	}
	return out, missing
}
