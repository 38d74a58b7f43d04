// Command shipgate tells a coding agent what it may do next after reading the
// git change.
package main

import (
	"os"

	"plimsoll.dev/internal/cli/shipgate"
)

func main() { os.Exit(shipgate.Main(os.Args[1:], shipgate.OS())) }
