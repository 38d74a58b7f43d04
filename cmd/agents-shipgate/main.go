// Command agents-shipgate is shipgate under its other name.
package main

import (
	"os"

	"plimsoll.dev/internal/cli/shipgate"
)

func main() { os.Exit(shipgate.Main(os.Args[1:], shipgate.OS())) }
