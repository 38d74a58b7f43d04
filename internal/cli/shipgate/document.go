package shipgate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate"
)

// fixtureCommand prints the results that an agent shows when no usable gate
// could be started (docs/spec/boundary.md §12).
func fixtureCommand(env Env) *cobra.Command {
	fixtures := map[string]func() *gate.Result{
		"missing-install": gate.MissingInstall,
		"stale-install":   gate.StaleInstall,
	}
	return documentCommand(env, "fixture", "Print a bundled result: ", []string{"missing-install", "stale-install"},
		func(name string) ([]byte, error) { return fixtures[name]().JSON(), nil })
}

// published is the schemas by the name they are asked for (docs/spec/verification.md §1.3).
var published = []struct{ name, file string }{
	{"result", ""}, // of the check, at the path that the protocol names
	{"verifier", "verifier.v0.8"},
	{"verify-run", "verify-run.v4"},
	{"report", "report.v0.34"},
	{"manifest", "shipgate-manifest"},
	{"preflight", "preflight-result.v3"},
	{"preflight-plan", "preflight-plan.v1"},
	{"capability-lock", "capability-lock.v0.6"},
	{"capability-lock-diff", "capability-lock-diff.v0.7"},
	{"agent-handoff", "agent-handoff.v7"},
	{"host-grants-inventory", "host-grants-inventory.v0.2"},
	{"host-grants-drift", "host-grants-drift.v0.2"},
}

// schemaCommand prints the published schemas.
func schemaCommand(env Env) *cobra.Command {
	var names []string
	for _, p := range published {
		names = append(names, p.name)
	}
	return documentCommand(env, "schema", "Print a published JSON schema: ", names, func(name string) ([]byte, error) {
		for _, p := range published {
			if p.name == name && p.file != "" {
				return plimsoll.VerificationSchema(p.file)
			}
		}
		return plimsoll.ResultSchema()
	})
}

// documentCommand is a command that prints one of a few named documents.
func documentCommand(env Env, verb, short string, names []string, document func(name string) ([]byte, error)) *cobra.Command {
	var example []string
	for _, name := range names {
		example = append(example, "  "+program+" "+verb+" "+name)
	}
	list := strings.Join(names, " or ")
	if len(names) > 3 {
		list = "one of " + strconv.Itoa(len(names))
	}
	return &cobra.Command{
		Use:       verb + " " + strings.Join(names, "|"),
		Short:     short + list,
		Example:   strings.Join(example, "\n"),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(names, args[0]) {
				near := nearest(args[0], names)
				return usage("no %s is called %q; there is %s", verb, args[0], strings.Join(names, ", ")).
					offering(program+" "+verb+" "+near, "the nearest name there is")
			}
			text, err := document(args[0])
			if err != nil {
				return internal(fmt.Errorf("print %s %s: %w", verb, args[0], err))
			}
			return env.print(text)
		},
	}
}

// versionLine names the product, not the name the binary was started under:
// callers compare it (docs/spec/verification.md §17).
func versionLine() string { return gate.ToolName + " " + gate.ToolVersion + "\n" }

func versionCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return env.print([]byte(versionLine())) },
	}
}
