package shipgate

import (
	"runtime"
	"testing"
)

func TestTheRoomOfTheHeapIsGivenBack(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	makeRoom()
	runtime.GC() // where there are no large pages, nobody has done it
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > heapRoom/2 {
		t.Errorf("the heap holds %d MiB more", grown>>20)
	}
}
