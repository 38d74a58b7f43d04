//go:build unix

package e2e_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll.dev/internal/store/postgres/pgtest"
)

// moved is how soon others must have taken over what a dead node had in hand.
const moved = 15 * time.Second

// TestThreeNodesShareTheWorkAndADeadOrFrozenOneIsReplaced kills one of three
// processes and freezes another in the middle of their work. The third takes
// over; what the frozen one still does when it wakes up is refused.
func TestThreeNodesShareTheWorkAndADeadOrFrozenOneIsReplaced(t *testing.T) {
	s := found(t, pgtest.New(t))
	nodes := []*process{s.serve(), s.serve(), s.serve()}
	third := nodes[2]
	var mu sync.Mutex // guards turn and nodes
	turn := 0
	l := s.load(func() string {
		mu.Lock()
		defer mu.Unlock()
		turn++
		return nodes[turn%len(nodes)].address
	})
	l.limit = 4 * time.Second // a frozen node never answers
	gone := func() *process {
		mu.Lock()
		defer mu.Unlock()
		first := nodes[0]
		nodes = nodes[1:]
		return first
	}
	stopAt := time.Now().Add(time.Hour)
	l.clients(8, func() bool { mu.Lock(); defer mu.Unlock(); return time.Now().Before(stopAt) })
	working := func() {
		begun := l.writes.Load()
		until(t, "a load on all nodes", func() bool { return l.writes.Load() > begun+60 })
		l.longest.Store(0)
	}

	working()
	killed := gone()
	killed.kill()
	time.Sleep(moved)
	afterKill := time.Duration(l.longest.Load())

	working()
	frozen := gone()
	frozen.signal(syscall.SIGSTOP)
	// The kernel takes these for it; it reads them when it wakes up, long after
	// others have declared it dead.
	const late = 10
	answers := make(chan error, late)
	order := func(p *process, n int) error {
		text := fmt.Sprintf("late %d", n)
		return s.user("ada").on(p).post(t.Context(), "/v1/intents", fmt.Sprintf("late-%d", n),
			map[string]any{"intent": text, "priority": "low", "requestedCapabilities": []string{"read_repo"}}, nil)
	}
	for n := range late {
		go func() { answers <- order(frozen, n) }()
	}
	time.Sleep(moved) // by now it is buried
	afterFreeze := time.Duration(l.longest.Load())
	frozen.signal(syscall.SIGCONT)
	refused := 0
	for range late {
		if err := <-answers; err == nil {
			t.Error("a node that was declared dead took a write")
		} else {
			refused++
		}
	}
	if !frozen.ended(patience) {
		t.Errorf("a node that was declared dead goes on\n%s", frozen.log.String())
	} else if frozen.cmd.ProcessState.Success() {
		t.Error("a node that was declared dead ends as if all were well")
	}
	for n := range late {
		if err := order(third, n); err != nil {
			t.Errorf("what the frozen node refused, under the same key: %v", err)
		}
	}
	l.others = late

	mu.Lock()
	stopAt = time.Now()
	mu.Unlock()
	l.finish(2 * patience)
	for what, waited := range map[string]time.Duration{"killed": afterKill, "frozen": afterFreeze} {
		if waited > moved {
			t.Errorf("work waited %v after a node was %s, want at most %v", waited, what, moved)
		}
	}
	f := l.settle(s.prove())
	t.Logf("3 nodes, 1 killed, 1 frozen: %d chains, %d acknowledged writes, %d lost, %d doubled; longest wait after the kill %d ms, after the freeze %d ms; %d late writes refused",
		len(l.ledger), l.writes.Load(), f.lost, f.doubled, afterKill.Milliseconds(), afterFreeze.Milliseconds(), refused)
	third.stop()
}
