package shipgate

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// softMemory is where the collector begins to work harder, so that a source that
// is made to be large is refused in memory that every machine has; 2,000 tools
// take less.
const softMemory = 384 << 20

// lazyCollector is how much the heap grows, in percent of its first 4 MiB, before
// it is collected: a run is over soon, and a tenth of it went into collecting what
// it still needs. 2,000 tools are not collected at all; more of them are, from
// 224 MiB on, and are bounded by softMemory.
const lazyCollector = 5600

// heapRoom is a little less than what a run takes before it is collected: to ask
// for it must begin no collection by itself.
const heapRoom = 208 << 20

// prepareHeap fits the heap to one verification, as far as the environment leaves
// it to us.
func (e Env) prepareHeap() {
	limit, percent := e.lookup("GOMEMLIMIT") == "", e.lookup("GOGC") == ""
	if limit {
		debug.SetMemoryLimit(softMemory)
	}
	if percent {
		debug.SetGCPercent(lazyCollector)
	}
	if limit && percent {
		roomOnce.Do(makeRoom)
	}
}

var roomOnce sync.Once

// makeRoom lets the heap grow into large pages. The system hands memory out where
// it is touched first, and 40,000 times four kilobytes were a seventh of a run.
// The runtime asks for no large pages itself. Here a piece of memory asks for them
// and is given back without having been touched: it takes nothing, and is what
// the heap uses next.
func makeRoom() {
	if largePages(make([]byte, heapRoom)) == nil {
		runtime.GC()
	}
}
