package shipgatemcp

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/mcp/gate"
)

// Exit codes (docs/spec/verification.md §1.1).
const (
	exitOK       = 0
	exitUsage    = 2
	exitInternal = 4
)

const help = `shipgate-mcp answers an agent's questions to the gate over the Model Context
Protocol, on stdin and stdout. shipgate mcp-serve turns into it.

It reads files and writes none, opens no connection, and has five tools:
shipgate.check, shipgate.preflight, shipgate.explain, shipgate.capabilities and
shipgate.handoff. It ends when stdin does.

Usage:
  shipgate-mcp [--workspace DIR]

Examples:
  claude mcp add shipgate -- shipgate mcp-serve
  shipgate-mcp --workspace . < messages.jsonl

Flags:
  --workspace DIR  the only workspace there is: paths are relative to it, and
                   no call may name another. Left out, paths are relative to the
                   folder the program was started in, and check and preflight
                   may name any workspace
  --version        print the version and exit
  --help           print this and exit
`

// memory is above what the program keeps between calls: from here on it rather
// collects than grows. A diff of 32 MiB needs more while it is judged.
const memory = 192 << 20

// Main answers until the client leaves, and returns the exit code.
func Main(args []string, env shipgate.Env) int {
	flags := flag.NewFlagSet("shipgate-mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	named := flags.String("workspace", "", "")
	version := flags.Bool("version", false, "")
	complain := func(code int, format string, words ...any) int {
		fmt.Fprintf(env.Stderr, "shipgate-mcp: "+format+"\n", words...)
		return code
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(env.Stdout, help)
		return exitOK
	case err != nil:
		return complain(exitUsage, "%s\ntry: shipgate-mcp --help", err)
	case flags.NArg() > 0:
		return complain(exitUsage, "there is no argument %q\ntry: shipgate-mcp --help", flags.Arg(0))
	case *version:
		return shipgate.Main([]string{"--version"}, env)
	}
	d := desk{env: env}
	flags.Visit(func(f *flag.Flag) { d.only = d.only || f.Name == "workspace" })
	if d.only {
		dir := *named
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(env.Dir, dir)
		}
		if info, err := os.Stat(dir); *named == "" || err != nil || !info.IsDir() {
			return complain(exitUsage, "--workspace %q is no folder\nName with --workspace a folder that is there, or leave it out.", *named)
		}
		d.env.Dir = filepath.Clean(dir)
	}
	debug.SetMemoryLimit(memory)
	s := gate.Server{Version: strings.TrimSpace(number()), Ask: d.asks()}
	if err := s.Serve(context.Background(), env.Stdin, env.Stdout); err != nil {
		return complain(exitInternal, "the session broke off: %s", err)
	}
	return exitOK
}
