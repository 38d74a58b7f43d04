package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// start compares two commands of the client with a program that does nothing.
func (b *report) start(ctx context.Context, dir string, o options) (err error) {
	program, bare, home := filepath.Join(dir, "plimsoll"), filepath.Join(dir, "bare"), filepath.Join(dir, "home")
	for to, pkg := range map[string]string{program: "./cmd/plimsoll", bare: "./internal/bench/bare"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-w", "-o", to, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", pkg, err, out)
		}
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "PLIMSOLL_LISTEN=127.0.0.1:0", "PLIMSOLL_SERVER=", "PLIMSOLL_TOKEN=", "PLIMSOLL_RATE_PER_SECOND=0")
		return cmd
	}
	made, err := command(program, "init", "--solo").CombinedOutput()
	if err != nil {
		return fmt.Errorf("plimsoll init: %w: %s", err, made)
	}
	// The port is known later, and the client gives a token to no other address
	// than the one it was kept for.
	token := "PLIMSOLL_TOKEN=" + regexp.MustCompile(`plm_\S+`).FindString(string(made))
	serve := command(program, "serve", "--solo")
	out, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serve.Process.Signal(syscall.SIGTERM), serve.Wait()) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("plimsoll serve said nothing: %w", err)
	}
	address := "http://" + strings.TrimSpace(strings.TrimPrefix(line, "serving on "))

	var floor, version, list []time.Duration
	for i := -2; i < 6*o.rounds; i++ {
		var took [3]time.Duration
		for k, args := range [][]string{{bare}, {program, "--version"}, {program, "intent", "list", "--server", address}} {
			began := time.Now()
			cmd := command(args...)
			cmd.Env = append(cmd.Env, token)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w: %s", args[1:], err, out)
			}
			took[k] = time.Since(began)
		}
		if i >= 0 {
			floor, version, list = append(floor, took[0]), append(version, took[1]), append(list, took[2])
		}
	}
	for _, c := range []struct {
		name string
		took []time.Duration
	}{{"--version", version}, {"intent list", list}} {
		over := middle(c.took) - middle(floor)
		b.say(over <= 60*time.Millisecond, "plimsoll "+c.name+" takes longer than a bare Go program by", ms(over), "≤ 60 ms")
	}
	b.add("a bare Go program; plimsoll --version; plimsoll intent list", ms(middle(floor))+"; "+ms(middle(version))+"; "+ms(middle(list)))
	return nil
}
