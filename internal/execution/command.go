package execution

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// drain is how long output may still come from what a killed command left
// behind with the pipe in its hands.
const drain = 2 * time.Second

// ending is how a command ended.
type ending struct {
	exit   int // -1 when it did not end by itself
	reason string
}

func (e ending) succeeded() bool { return e.exit == 0 && e.reason == "" }

// spec is a command with everything it runs under.
type spec struct {
	args    []string
	dir     string
	env     []string
	mark    string // NAME=value in env that is this run's alone
	limit   time.Duration
	grace   time.Duration
	capture *capture

	interrupt <-chan struct{} // end it, and let it finish within grace
	hard      <-chan struct{} // end it now
	over      <-chan string   // end it within grace, for a reason
}

// run starts the command in a group of its own and waits for the end of
// everything it started: what is still there when the command is gone is killed,
// since a run that is over must not go on writing.
func (s spec) run() ending {
	program, err := s.program()
	if err != nil {
		return ending{-1, err.Error()}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return ending{-1, "open a pipe for its output: " + err.Error()}
	}
	defer r.Close() // read to its end, or given up
	cmd := &exec.Cmd{Path: program, Args: s.args, Dir: s.dir, Env: s.env, Stdout: w, Stderr: w}
	ownGroup(cmd)
	err = cmd.Start()
	w.Close() // the child has its own
	if err != nil {
		return ending{-1, "start " + s.args[0] + ": " + err.Error()}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, 32<<10)
		for {
			n, err := r.Read(buffer)
			s.capture.Write(buffer[:n]) //nolint:errcheck // never fails
			if err != nil {
				return
			}
		}
	}()
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	end := s.wait(cmd, gone)
	killGroup(cmd)
	killMarked(s.mark)
	select {
	case <-read:
	case <-time.After(drain):
		r.Close() // ends the reading
		<-read
	}
	return end
}

// program finds the command as a shell in its folder would.
func (s spec) program() (string, error) {
	path := lookup(s.env, "PATH")
	program, err := find(s.args[0], s.dir, path)
	if err != nil {
		return "", fmt.Errorf("%s is not found on the search path", s.args[0])
	}
	return program, nil
}

func (s spec) wait(cmd *exec.Cmd, gone <-chan error) ending {
	limit := make(<-chan time.Time)
	if s.limit > 0 {
		t := time.NewTimer(s.limit)
		defer t.Stop()
		limit = t.C
	}
	var kill <-chan time.Time
	interrupt, over, loud := s.interrupt, s.over, s.capture.over
	reason := ""
	stop := func(why string) {
		reason, interrupt, over, loud, limit = why, nil, nil, nil, nil
		interruptGroup(cmd)
		t := time.NewTimer(s.grace)
		kill = t.C
	}
	for {
		select {
		case err := <-gone:
			return ended(err, reason)
		case <-interrupt:
			stop("interrupted")
		case why := <-over:
			stop(why)
		case <-loud:
			stop("it printed more than a run may")
		case <-limit:
			stop(fmt.Sprintf("it took longer than %s", s.limit.Round(time.Millisecond)))
		case <-kill:
			killGroup(cmd)
			kill = nil
		case <-s.hard:
			if reason == "" {
				reason = "interrupted"
			}
			killGroup(cmd)
			return ended(<-gone, reason)
		}
	}
}

func ended(err error, reason string) ending {
	exit, ok := 0, true
	if err != nil {
		var status *exec.ExitError
		if ok = errors.As(err, &status); ok {
			exit = status.ExitCode()
		}
	}
	switch {
	case !ok:
		return ending{-1, err.Error()}
	case reason != "":
		return ending{-1, reason}
	case exit == -1:
		return ending{-1, "a signal ended it: " + err.Error()}
	case exit != 0:
		return ending{exit, fmt.Sprintf("exit status %d", exit)}
	}
	return ending{}
}
