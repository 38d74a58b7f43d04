package shipgate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/adopt/hook"
)

const hookLong = `hook answers a coding agent's host that asks whether the agent may end its turn. It
reads the host's event from stdin, judges the change of the folder that the event
names as check does, runs verification where the check owes it, and prints the
answer in the host's own form: one line of JSON.

It is called by the entry that "shipgate init --hooks" writes, which also answers
for it when it is missing, killed or hung. A result is said once in a session; work
that the agent still owes is said until it is done.

The exit code is 0 whenever there is an answer, a refusal included.`

const hookExamples = `  echo '{"session_id":"s","cwd":"/home/me/shop","hook_event_name":"Stop","stop_hook_active":false}' | shipgate hook claude-code
  shipgate hook cursor --event stop < event.json`

func hookCommand(env Env) *cobra.Command {
	var event string
	names := make([]string, 0, len(hook.Hosts()))
	for _, h := range hook.Hosts() {
		names = append(names, string(h))
	}
	cmd := &cobra.Command{
		Use:       "hook HOST",
		Short:     "Answer a host whose agent wants to end its turn",
		Long:      hookLong,
		Example:   hookExamples,
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !hook.Host(args[0]).Valid() {
				given := "none"
				if len(args) > 0 {
					given = strconv.Quote(strings.Join(args, " "))
				}
				return usage("hook needs the name of one host that it knows, and got %s", given).
					choosing("Name the host that calls: " + strings.Join(names, ", ") + ".")
			}
			host := hook.Host(args[0])
			if c.Flags().Changed("event") && !slices.Contains(host.Events(), event) {
				return usage("--event is %q; for %s it must be one of %s", event, host, strings.Join(host.Events(), ", ")).
					choosing("Name the event as the host does, or leave --event out.")
			}
			return answerHook(c.Context(), env, host, event)
		},
	}
	cmd.Flags().StringVar(&event, "event", "", "the event that is hooked; another one is refused (default: any that the host's agent stops with)")
	cmd.Flags().Bool("json", false, "accepted; the answer is always the host's JSON")
	return cmd
}

// How long the host may take to say what happened, and how long after the
// deadline git's processes get to end.
const (
	eventWait = 10 * time.Second
	graceTime = time.Second
)

// heard is what came of one event; the event is nil where it could not be read.
type heard struct {
	event   *hook.Event
	finding hook.Finding
	memory  *sessionMemory // nil when there is none
}

// answerHook always prints an answer, and one that refuses unless the gate came
// to a result within its time.
func answerHook(ctx context.Context, env Env, host hook.Host, want string) error {
	ctx, cancel := context.WithTimeout(ctx, hook.GateSeconds*time.Second)
	defer cancel()
	// The judgement waits for stdin, for git and for files, and not everything of
	// it can be broken off; the answer cannot wait. What is still running when the
	// answer is out ends with the process.
	done := make(chan heard, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- heard{finding: hook.Failed("an internal failure")}
			}
		}()
		done <- hear(ctx, env, host, want)
	}()
	var h heard
	select {
	case h = <-done:
	case <-ctx.Done():
		select {
		case h = <-done:
		case <-time.After(graceTime):
		}
		// Whatever came at the last moment was judged while its reads were cut off.
		h = heard{finding: hook.Failed(fmt.Sprintf("it took longer than %d seconds", hook.GateSeconds))}
	}
	if h.event == nil {
		return env.print(hook.Answer(&hook.Event{Host: host}, &h.finding, 0).Bytes(host))
	}
	told := h.memory.told(h.finding.Digest)
	reply := hook.Answer(h.event, &h.finding, told)
	if err := env.print(reply.Bytes(host)); err != nil {
		return err
	}
	// Only what was written counts as told; what cannot be remembered is said
	// again.
	h.memory.remember(h.finding.Digest, reply.Told)
	return nil
}

// hear reads the event and judges the change.
func hear(ctx context.Context, env Env, host hook.Host, want string) heard {
	text, err := readEvent(ctx, env.Stdin)
	if err != nil {
		return heard{finding: hook.Failed("the host's event could not be read: " + err.Error())}
	}
	event, wrong := hook.Parse(host, want, text)
	if wrong != nil {
		return heard{finding: hook.Failed("the host's event cannot be: " + wrong.Msg)}
	}
	if event.Aborted {
		return heard{event: event, finding: hook.Finding{Weight: hook.Clear}}
	}
	folders, err := workplaces(ctx, env, event)
	if err != nil {
		return heard{event: event, finding: hook.Failed(err.Error())}
	}
	h := heard{event: event, finding: hook.Finding{Weight: hook.Clear}}
	for _, f := range folders {
		h.finding = hook.Worse(h.finding, judgeFolder(ctx, env, host, f.dir))
	}
	h.memory = openMemory(env, event, folders)
	return h
}

var (
	errSilentHost = errors.New("nothing complete came in time")
	errBrokenHost = errors.New("it is no JSON object of bearable size")
)

// readEvent is the first JSON value on stdin. Its end is enough: some hosts leave
// the stream open.
func readEvent(ctx context.Context, stdin io.Reader) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, eventWait)
	defer cancel()
	if stdin == nil {
		return nil, errBrokenHost
	}
	read := make(chan json.RawMessage, 1)
	// A read of stdin cannot be called off; it ends with the process.
	go func() {
		defer func() {
			if p := recover(); p != nil {
				read <- nil
			}
		}()
		in := bufio.NewReader(io.LimitReader(stdin, hook.MaxEvent+1))
		mark := []byte("\xef\xbb\xbf")
		if head, err := in.Peek(len(mark)); err == nil && bytes.Equal(head, mark) {
			if _, err := in.Discard(len(mark)); err != nil {
				read <- nil
				return
			}
		}
		var value json.RawMessage
		if err := json.NewDecoder(in).Decode(&value); err != nil {
			value = nil
		}
		read <- value
	}()
	select {
	case value := <-read:
		if value == nil {
			return nil, errBrokenHost
		}
		return value, nil
	case <-ctx.Done():
		return nil, errSilentHost
	}
}
