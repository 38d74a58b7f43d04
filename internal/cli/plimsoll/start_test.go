package plimsoll_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// What a package may allocate before main begins, in KiB. Every command pays for
// all of it, also one that only asks a server, and allocation is what start-up
// costs that does not depend on the machine.
const usual = 160

// dear is the packages that take more, each with its reason.
var dear = map[string]int{
	"github.com/santhosh-tekuri/jsonschema/v6": 2048, // compiles the schemas of schemas; it has no other way
	"runtime": 1024,
}

// A client command starts in 60 ms (docs/spec/contracts.md, issue 3): a package
// that fills tables when it is linked takes its part of that from every command.
func TestNothingIsDoneBeforeACommandIsRead(t *testing.T) {
	program, err := os.Executable() // it links what the program links
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, trace.Bytes())
	}
	packages, total := 0, 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		// init NAME @1.2 ms, 3.4 ms clock, 567 bytes, 8 allocs
		var name string
		var at, took float64
		var size int
		if n, _ := fmt.Sscanf(lines.Text(), "init %s @%f ms, %f ms clock, %d bytes,", &name, &at, &took, &size); n < 4 {
			continue
		}
		packages, total = packages+1, total+size
		most, known := dear[name]
		if !known {
			most = usual
		}
		if size > most<<10 {
			t.Errorf("%s allocates %d KiB before a command is read (at most %d): let it wait for the first use, or name it here with its reason", name, size>>10, most)
		}
	}
	if packages < 20 {
		t.Fatalf("the trace names %d packages", packages)
	}
	t.Logf("%d packages allocate %d KiB", packages, total>>10)
	if most := 4096; total > most<<10 {
		t.Errorf("all together allocate %d KiB before a command is read (at most %d)", total>>10, most)
	}
}
