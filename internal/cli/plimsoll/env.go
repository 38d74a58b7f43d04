package plimsoll

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Env is everything the commands know of the world outside: the whole program
// runs in process under another Env, which is how it is tested.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Dir            string // the absolute working directory
	Terminal       bool   // whether Stdout is one
	// Context ends with the first signal, and Hard is closed by the second.
	Context context.Context //nolint:containedctx // the life of the process
	Hard    <-chan struct{}
}

// OS is the process's own environment.
func OS() Env {
	env := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
	if dir, err := os.Getwd(); err == nil {
		env.Dir = dir
	}
	if info, err := os.Stdout.Stat(); err == nil {
		env.Terminal = info.Mode()&os.ModeCharDevice != 0
	}
	env.Context, env.Hard = signals()
	return env
}

// signals is a context that the first signal ends and a channel that the second
// one closes.
func signals() (context.Context, <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	hard := make(chan struct{})
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		cancel()
		<-caught
		close(hard)
	}()
	return ctx, hard
}

// lookup is the value of an environment variable. The last entry wins, as it
// does for a started process.
func (e Env) lookup(name string) (string, bool) {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if len(e.Environ[i]) > len(name) && e.Environ[i][len(name)] == '=' && e.Environ[i][:len(name)] == name {
			return e.Environ[i][len(name)+1:], true
		}
	}
	return "", false
}

func (e Env) variable(name string) string {
	value, _ := e.lookup(name)
	return value
}

// abs makes a path absolute against the working directory.
func (e Env) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// folder is a folder of this user's, below what a variable of the system names.
func (e Env) folder(variable, usual string) string {
	if base := e.variable(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "plimsoll")
	}
	return filepath.Join(e.variable("HOME"), usual, "plimsoll")
}

// state is where runs are kept.
func (e Env) state() string { return e.folder("XDG_STATE_HOME", filepath.Join(".local", "state")) }

// settings is where the client's own settings are.
func (e Env) settings() string {
	return filepath.Join(e.folder("XDG_CONFIG_HOME", ".config"), "client.json")
}
