package plimsoll

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Commands is the program's commands to be read, not run: documentation, manual
// pages and completion are printed from them.
func Commands() *cobra.Command {
	return commands(Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
}
