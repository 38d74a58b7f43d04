package plimsoll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/demo"
	"plimsoll.dev/internal/fault"
)

// demoFlags is the command line of demo.
type demoFlags struct {
	dir, listen, pace        string
	keep, open, once, expose bool
}

func demoCommand(s *session) *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use: "demo", Short: "See the whole path: a service with a sample, four people and two agents", Args: cobra.NoArgs,
		Long: `demo starts a service of its own with a small sample repository, and plays a story on it: requests
to a circle, in two languages; decisions; an agent that does what it was asked, up to a release
note; an agent that adds permissions to its own settings, and is stopped by the boundary; a gate
and a request that wait for somebody. Then it serves until it is interrupted, so that
everything can be looked at: sign in at the address that is printed, with the token of any of the people.

Every line of the story is a command of this program, run as the person in front of it. What the
agents change they change in worktrees of the sample; git is all that is needed besides.

Without --dir the demo lives in a temporary folder that is removed at the end. With --dir it
stays: the same command serves it again, and goes on with a story that was cut off. A folder
that holds anything else is left alone. The tokens are kept in it, readable by you only: it is
a demo, so do not put work of yours into it.`,
		Example: `  plimsoll demo
  plimsoll demo --dir shop-demo --open
  plimsoll demo --pace 5s --listen 127.0.0.1:8080
  plimsoll demo --once --pace fast --json`,
		RunE: func(c *cobra.Command, _ []string) error { return s.demo(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.dir, "dir", "", "folder of the demo, made when it is not there (default: a temporary one)")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7420", "address to serve on; port 0 takes any that is free")
	flags.StringVar(&f.pace, "pace", "", "fast, slow or a duration like 3s between two steps (default: slow on a terminal, else fast)")
	flags.BoolVar(&f.keep, "keep", false, "keep the temporary folder")
	flags.BoolVar(&f.open, "open", false, "open the address in a browser")
	flags.BoolVar(&f.once, "once", false, "end when the story has")
	flags.BoolVar(&f.expose, "expose", false, "allow an address that other machines reach, though the tokens are printed")
	complete(c, "pace", []string{"fast", "slow"})
	work := &cobra.Command{
		Use: "work NAME", Short: "Do what an agent of the story does, in the working directory", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return demo.Work(s.env.Dir, args[0], s.env.Stdout) },
	}
	c.AddCommand(work)
	return c
}

// slow is a pace at which a person can follow.
const slow = 2 * time.Second

func (f *demoFlags) steps(terminal bool) (time.Duration, error) {
	pace := f.pace
	if pace == "" {
		pace = "fast"
		if terminal {
			pace = "slow"
		}
	}
	switch pace {
	case "fast":
		return 0, nil
	case "slow":
		return slow, nil
	}
	d, err := time.ParseDuration(pace)
	if err != nil || d < 0 || d > time.Hour {
		return 0, usage("--pace %q is neither fast nor slow nor a duration like 3s", pace)
	}
	return d, nil
}

// reachable holds that only this machine reaches the address, unless that is
// meant.
func (f *demoFlags) reachable() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return usage("--listen %q is no address like 127.0.0.1:7420", f.listen)
	}
	switch ip := net.ParseIP(host); {
	case loopback(host):
		return nil
	case !f.expose:
		return usage("--listen %s lets other machines in, and the tokens of a demo are printed: use 127.0.0.1, or add --expose", f.listen)
	case host != "" && (ip == nil || !ip.IsUnspecified()):
		return usage("--expose takes every address of this machine, as 0.0.0.0:7420: the people of the demo reach it over the loopback")
	}
	return nil
}

// local is an address as this machine reaches it.
func local(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err == nil && !loopback(host) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// vacant holds that nobody serves on the address, and makes port 0 a port that
// stays the demo's own.
func vacant(ctx context.Context, address string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return "", fault.E("demo", fault.Unavailable, address+" is taken, or no address of this machine", err).
			WithHint("name another: plimsoll demo --listen 127.0.0.1:0 takes any that is free")
	}
	return l.Addr().String(), l.Close()
}

func (s *session) demo(ctx context.Context, f demoFlags) (err error) {
	pace, err := f.steps(s.env.Terminal)
	if err != nil {
		return err
	}
	if err := f.reachable(); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return fault.E("demo", fault.Unavailable, "there is no git on this machine", nil).WithHint("install git; every run of an agent needs it")
	}
	folder, err := s.demoFolder(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.leave()) }()
	address, err := vacant(ctx, f.listen)
	if err != nil {
		return err
	}
	if err := folder.found(ctx, s.env, address); err != nil {
		return s.cut(ctx, folder, err)
	}
	service, err := folder.serve(ctx, s.env, address)
	if err != nil {
		return s.cut(ctx, folder, err)
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	t := &teller{w: s.env.Stdout, json: s.json}
	if f.expose {
		fmt.Fprintln(s.env.Stderr, "plimsoll: whoever reaches "+address+" and sees this output can sign in as anybody here")
	}
	if err := t.serving(folder, service.address); err != nil {
		return err
	}
	if f.open {
		if err := browse(ctx, service.address); err != nil {
			fmt.Fprintln(s.env.Stderr, "plimsoll: no browser was opened: "+oneLine(err.Error()))
		}
	}
	if err := s.play(ctx, f, folder, service, t, pace); err != nil {
		return err
	}
	if f.once || ctx.Err() != nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-service.ended:
		return fault.E("demo", fault.Unavailable, "the service ended by itself, see "+folder.log(), nil)
	}
}

// play plays the story, unless it was played to its end here, and says what there
// is to see.
func (s *session) play(ctx context.Context, f demoFlags, folder *demoFolder, service *demoService, t *teller, pace time.Duration) error {
	office := folder.office(s.env, service.address)
	if !folder.book.Finished {
		program, err := os.Executable()
		if err != nil {
			return fault.E("demo", fault.Unavailable, "this program does not find itself, and it plays the agents", err)
		}
		if folder.resumed {
			for _, p := range demo.People() { // what died under the last start is reported
				if p.Agent || p.ID == "rex" {
					if err := office.Run(ctx, p.ID, []string{"run", "recover"}); err != nil {
						return s.cut(ctx, folder, err)
					}
				}
			}
		}
		var told error
		err = demo.Play(ctx, demo.Config{
			Office: office, Pace: pace, Values: map[string]string{"repo": folder.repository(), "program": program},
			Tell: func(step demo.Told) { told = cmp.Or(told, t.step(step, program)) },
		})
		if err == nil {
			err = told
		}
		if err != nil {
			if f.once && ctx.Err() != nil {
				return errors.Join(s.cut(ctx, folder, err), &exit{exitUnknown})
			}
			return s.cut(ctx, folder, err)
		}
		folder.book.Finished = true
		if err := folder.write(); err != nil {
			return err
		}
	}
	sights, err := demo.Sights(ctx, office)
	if err != nil {
		return s.cut(ctx, folder, err)
	}
	return t.end(sights, service.address, f.once)
}

// cut is what an error is when the reader ended the demo: none, and a word on how
// to go on.
func (s *session) cut(ctx context.Context, folder *demoFolder, err error) error {
	if ctx.Err() == nil {
		return err
	}
	text := "plimsoll: the story was cut off"
	if folder.stays {
		text += "; it goes on with: plimsoll demo --dir " + folder.dir
	}
	fmt.Fprintln(s.env.Stderr, text)
	return nil
}

// browse opens an address with the program that this system has for that.
func browse(ctx context.Context, address string) error {
	line := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		line = []string{"open", address}
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), line[0], line[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it may live as long as the browser
	return nil
}
