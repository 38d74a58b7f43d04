package plimsoll_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// What one package, and all together, may allocate before main begins, in KiB.
// Every command pays for all of it, also one that only asks a server, and
// allocation is what start-up costs that does not depend on the machine.
const (
	each = 160 * slack
	all  = 2048 * slack
)

// A client command starts within 60 ms of a program that does nothing: a package
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
		if size > each<<10 {
			t.Errorf("%s allocates %d KiB before a command is read (at most %d): let it wait for its first use", name, size>>10, each)
		}
	}
	if packages < 20 {
		t.Fatalf("the trace names %d packages", packages)
	}
	t.Logf("%d packages allocate %d KiB", packages, total>>10)
	if total > all<<10 {
		t.Errorf("all together allocate %d KiB before a command is read (at most %d)", total>>10, all)
	}
}
