// Command plimsoll is the control plane of work that agents do, and its client.
package main

import (
	"os"

	"plimsoll.dev/internal/cli/plimsoll"
)

func main() { os.Exit(plimsoll.Main(os.Args[1:], plimsoll.OS())) }
