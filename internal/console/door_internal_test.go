package console

import (
	"fmt"
	"testing"
	"time"
)

func TestAnAddressTriesSoOftenAndNoOftener(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	d := newDoors()
	admitted := func(at time.Time, from func(i int) string, n int) (many int) {
		for i := range n {
			if d.admit(at, from(i)) {
				many++
			}
		}
		return many
	}
	one := func(int) string { return "203.0.113.7:4711" }
	network := func(i int) string { return fmt.Sprintf("[2001:db8:0:1::%x]:80", i+1) }
	if n := admitted(now, one, 50); n != doorTries {
		t.Errorf("one address tried %d times", n)
	}
	if n := admitted(now, network, 50); n != doorTries {
		t.Errorf("one network of IPv6 tried %d times", n)
	}
	if n := admitted(now, func(int) string { return "::ffff:203.0.113.7" }, 5); n != 0 {
		t.Errorf("the same address in another spelling tried %d times", n)
	}
	if n := admitted(now, func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }, 50); n != 50 {
		t.Errorf("%d of 50 addresses were admitted", n)
	}
	if n := admitted(now.Add(doorWindow+1), one, 50); n != doorTries {
		t.Errorf("a minute later it tried %d times", n)
	}

	recorded := 0
	for i := range 100 {
		for range 20 {
			if d.record(now, fmt.Sprintf("198.51.100.%d", i)) {
				recorded++
			}
		}
	}
	if recorded != allRecords {
		t.Errorf("%d tries of many addresses were recorded, at most %d are", recorded, allRecords)
	}
	if !d.record(now.Add(doorWindow+1), "198.51.100.1") || len(d.tries) > doorsMost {
		t.Error("a minute later none is recorded")
	}
}
