package server

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
)

// What a configuration is wired into, for tests that ask it directly.

func (c *Config) Violated(w pipeline.Work) string { return c.Policy.violated(w) }

func (c *Config) PlannerOf() pipeline.Planner { return planner{c.Planner} }

// Tip is the commit of the reference.
func (c *Config) Tip(ctx context.Context) (string, error) {
	return reference{c.ReferenceDir, c.ReferenceBranch}.Tip(ctx, "")
}

// ReadPlan is what a planner's output says.
func ReadPlan(text []byte) (description string, steps []string, err error) { return readPlan(text) }

// Library is the documents of a folder.
func Library(dir string) request.Library { return library{dir} }
