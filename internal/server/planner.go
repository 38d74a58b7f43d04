package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
)

// planner is a program of the operator's that makes steps out of an intent
// (docs/spec/contracts.md §4.1). It reads the IntentContract from its standard
// input and prints
//
//	{"description": "...", "steps": ["...", "..."]}
//
// Both are optional; what is absent is the intent's own text. A program that
// fails, takes too long or prints anything else is a failed attempt of the
// generation.
type planner struct{ program string }

const (
	plannerTime   = 25 * time.Second // the attempt has 30 s
	plannerOutput = 1 << 20
)

// Plan implements pipeline.Planner.
func (p planner) Plan(ctx context.Context, intent *contract.Intent) (string, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, plannerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program) //nolint:gosec // the operator's own program
	cmd.Stdin = bytes.NewReader(contract.Encode(intent))
	// What the service was given in its environment, a password of the database
	// for one, is no business of a program that reads what strangers wrote.
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	out := &limited{room: plannerOutput}
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", nil, fmt.Errorf("the planner took longer than %s", plannerTime)
		}
		return "", nil, fmt.Errorf("run the planner: %w", err)
	}
	if out.over {
		return "", nil, fmt.Errorf("the planner printed more than %d bytes", plannerOutput)
	}
	return readPlan(out.text.Bytes())
}

// readPlan reads what a planner printed, strictly.
func readPlan(text []byte) (description string, steps []string, err error) {
	var plan struct {
		Description string   `json:"description"`
		Steps       []string `json:"steps"`
	}
	if _, err := contract.Parse(text); err != nil {
		return "", nil, fmt.Errorf("the plan does not read: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&plan); err != nil {
		return "", nil, fmt.Errorf("the plan does not read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", nil, errors.New("something follows the plan")
	}
	for i, step := range plan.Steps {
		if strings.TrimSpace(step) == "" {
			return "", nil, fmt.Errorf("step %d of the plan is empty", i+1)
		}
	}
	return plan.Description, plan.Steps, nil
}

// limited keeps the first room bytes and swallows the rest.
type limited struct {
	text bytes.Buffer
	room int
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	take := min(len(b), l.room-l.text.Len())
	l.over = l.over || take < len(b)
	l.text.Write(b[:take])
	return len(b), nil
}
