// Command buildregistry serves the build registry to agents.
package main

import (
	"context"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.test/buildregistry/internal/registry"
	"example.test/buildregistry/tools"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "build-registry", Version: "v0.6.0"}, nil)
	tools.Register(server, registry.New(os.Getenv("REGISTRY_URL")))
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
