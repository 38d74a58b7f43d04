package shipgate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// server is the program that speaks the Model Context Protocol. It is a program
// of its own, so that the gate links no network code.
const server = "shipgate-mcp"

const mcpServeLong = `mcp-serve lets an agent ask the gate over the Model Context Protocol, on stdin and
stdout. It turns into the program ` + server + `, which is installed beside this one.

There are five tools, all read-only: shipgate.check, shipgate.preflight,
shipgate.explain, shipgate.capabilities and shipgate.handoff. Nothing is written
and no connection is opened. The session ends when stdin does.`

func mcpServeCommand(env Env) *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use: "mcp-serve", Short: "Let an agent ask the gate over the Model Context Protocol", Long: mcpServeLong, Args: cobra.NoArgs,
		Example: `  claude mcp add shipgate -- shipgate mcp-serve
  codex mcp add shipgate -- shipgate mcp-serve
  shipgate mcp-serve --workspace . < messages.jsonl`,
		RunE: func(c *cobra.Command, _ []string) error {
			var args []string
			if c.Flags().Changed("workspace") {
				args = append(args, "--workspace="+workspace)
			}
			return serve(env, args)
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "the only workspace that may be asked about (default: any, relative to the working directory)")
	return cmd
}

// serve becomes the server, or says how to get it. It is looked for beside this
// program only: one that the working directory or PATH offers is not ours.
func serve(env Env, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return internal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return internal(err)
	}
	name := server
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	file := filepath.Join(filepath.Dir(self), name)
	switch info, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return notInstalled(name + " is not installed beside " + program + " in " + filepath.Dir(self))
	case err != nil:
		return notInstalled(file + " cannot be read")
	case !info.Mode().IsRegular():
		return notInstalled(file + " is no program")
	}
	if err := become(file, args, env); err != nil {
		if _, ok := errors.AsType[ended](err); ok {
			return err
		}
		f := notInstalled(file + " cannot be started")
		f.err = plainError(err)
		return f
	}
	return nil
}

func notInstalled(msg string) *failure {
	f := &failure{kind: otherError, code: exitInternal, msg: msg}
	return f.choosing("Install " + server + " beside " + program + ": make install in the sources of Plimsoll does. Every other command works without it.")
}
