package arch_test

import (
	"slices"
	"strings"
	"testing"
)

// Whoever checks a bundle must not have to trust the code that keeps what it is
// about: the check shares nothing with the store, the use cases or the network.
func TestTheCheckOfABundleSharesNoCodeWithTheStore(t *testing.T) {
	foreign := []string{module + "/internal/pipeline", module + "/internal/api", module + "/internal/server", module + "/internal/queue", "database/sql", "net/http", "net"}
	for system, g := range graphs(t) {
		deps := g[module+"/internal/bundle"].Deps
		if !slices.Contains(deps, module+"/internal/auditlog") {
			t.Fatalf("%s: the check of a bundle does not check the log: is it still there?", system)
		}
		for _, dep := range deps {
			if slices.Contains(foreign, dep) || strings.HasPrefix(dep, module+"/internal/store") {
				t.Errorf("%s: the check of a bundle is linked with %s", system, dep)
			}
		}
	}
}
