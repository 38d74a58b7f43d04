package gate_test

import (
	"fmt"
	"testing"

	"plimsoll.dev/internal/gate"
)

func BenchmarkCheck(b *testing.B) {
	small := change{files: files{settings: added(wildcard), codexConfig: added(fullAccess), "docs/a.md": added("a\n")}}
	large := change{files: files{settings: added(wildcard)}}
	for i := range 1000 {
		large.files[fmt.Sprintf("src/pkg%03d/file.go", i)] = edited("package a\n", "package b\n\nfunc F() {}\n")
	}
	for name, c := range map[string]change{"nothing": {}, "three files": small, "a thousand files": large} {
		in := c.input()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := gate.Check(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
