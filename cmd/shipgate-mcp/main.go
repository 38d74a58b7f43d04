// Command shipgate-mcp lets an agent ask the gate over the Model Context Protocol.
package main

import (
	"os"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/cli/shipgatemcp"
)

func main() { os.Exit(shipgatemcp.Main(os.Args[1:], shipgate.OS())) }
