package tools_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.test/buildregistry/internal/registry"
	"example.test/buildregistry/tools"
)

func TestRegister(t *testing.T) {
	tools.Register(mcp.NewServer(&mcp.Implementation{Name: "test"}, nil), registry.New(""))
}
