// Package tools describes what the server offers to agents.
package tools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.test/buildregistry/internal/registry"
)

const (
	listBuilds   = "list_builds"
	promoteBuild = "promote_build"
)

type handlers struct{ registry *registry.Registry }

// Register adds every tool to the server.
func Register(server *mcp.Server, r *registry.Registry) {
	h := &handlers{registry: r}
	mcp.AddTool(server, &mcp.Tool{
		Name:        listBuilds,
		Description: "List the last builds of a project.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, h.list)
	mcp.AddTool(server, &mcp.Tool{
		Name:        promoteBuild,
		Description: "Promote one build to its next stage.",
	}, h.promote)
}

func (h *handlers) list(ctx context.Context, _ *mcp.CallToolRequest, in ListArgs) (*mcp.CallToolResult, any, error) {
	builds, err := h.registry.Builds(ctx, in.Project, 20)
	return nil, builds, err
}

func (h *handlers) promote(ctx context.Context, _ *mcp.CallToolRequest, in PromoteArgs) (*mcp.CallToolResult, any, error) {
	build, err := h.registry.Promote(ctx, in.Build, in.Stage)
	return nil, build, err
}
