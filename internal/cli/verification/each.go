package verification

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each does n pieces of work on all processors. It is the only place of the gate
// that starts more than one thing at once: what is verified is a pure function,
// and so are its pieces. A panic of one of them is the caller's.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var failed atomic.Pointer[any]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				failed.CompareAndSwap(nil, &p)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n && failed.Load() == nil; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var hands sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		hands.Go(work)
	}
	work()
	hands.Wait()
	if p := failed.Load(); p != nil {
		panic(*p)
	}
}
