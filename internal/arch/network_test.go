package arch_test

import (
	"slices"
	"testing"
)

// unreachable are packages that neither name of the gate may be linked with.
// That makes "it runs locally" a fact of the binary. Package net itself is in
// the binary, because pflag knows addresses as flag values; nothing of ours
// imports it.
var unreachable = []struct{ path, reason string }{
	{"net/http", "the gate opens no network connection"},
	{"net/rpc", "the gate opens no network connection"},
	{"net/smtp", "the gate opens no network connection"},
	{"crypto/tls", "the gate opens no network connection"},
	{"database/sql", "the gate keeps no database"},
	{"log/syslog", "the gate writes to its two streams only"},
	{"plugin", "the gate runs no code of others"},
}

func TestTheGateCannotReachTheNetwork(t *testing.T) {
	for system, g := range graphs(t) {
		for _, program := range []string{"cmd/shipgate", "cmd/agents-shipgate"} {
			deps := g[module+"/"+program].Deps
			if len(deps) == 0 {
				t.Fatalf("%s: %s has no dependencies: is it still there?", system, program)
			}
			for _, u := range unreachable {
				if slices.Contains(deps, u.path) {
					t.Errorf("%s: %s is linked with %s: %s", system, program, u.path, u.reason)
				}
			}
		}
		for _, path := range gatePackages(g) {
			if slices.Contains(g[module+"/"+path].Imports, "net") {
				t.Errorf("%s: %s imports net: the gate opens no network connection", system, path)
			}
		}
	}
}

// gatePackages are the packages of ours that the gate is linked with.
func gatePackages(g graph) []string {
	var paths []string
	for _, dep := range g[module+"/cmd/shipgate"].Deps {
		if path := short(dep); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}
