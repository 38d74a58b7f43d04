//go:build unix

package e2e_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A service that is killed at any instant has done everything that it answered,
// and nothing twice (docs/spec/contracts.md §0 "Atomicity", §3.5).

func TestNothingIsLostOrDoubledHoweverOftenTheServiceIsKilled(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		half := (*kills + 1) / 2
		seed := uint64(time.Now().UnixNano())
		chance := rand.New(rand.NewPCG(seed, 1))
		var over atomic.Bool
		l := s.load(nil)
		more := func() bool { return !over.Load() }
		l.clients(16, more)
		l.writers(3, more)

		restarts := []time.Duration{}
		known := []string{}
		killing := time.Now()
		for n := range half {
			p, ready := s.launch()
			begun := time.Now()
			if n%8 == 7 { // before it serves at all
				time.Sleep(time.Duration(chance.Int64N(int64(middle(restarts) + time.Millisecond))))
				p.kill()
				continue
			}
			select {
			case at, ok := <-ready:
				if !ok {
					<-p.exited
					t.Fatalf("kill %d (seed %d): the service ended instead of serving: %v\n%s", n, seed, p.cmd.ProcessState, p.log.String())
				}
				p.address = at
			case <-time.After(patience):
				t.Fatalf("kill %d (seed %d): the service does not serve any more\n%s", n, seed, p.log.String())
			}
			restarts = append(restarts, time.Since(begun))
			s.use(p)
			// A life is as long as a start takes, more or less, whatever machine this
			// is; some are long enough for the jobs of a chain.
			longest := 2 * middle(restarts)
			if n%4 == 0 {
				longest *= 3
			}
			time.Sleep(time.Duration(chance.Int64N(int64(longest))))
			if n%10 == 0 {
				known = append(known, s.checkpoint(known)...)
			}
			p.kill()
		}
		over.Store(true)
		killed := time.Since(killing)

		p := s.serve()
		l.finish(2 * patience) // every chain ends
		here := s.prove()
		s.proveAudit(known...)
		f := l.settle(here)
		slices.Sort(restarts)
		t.Logf("%d kills, %.2f s each, %d chains, %d acknowledged writes, %d requests repeated, %d lost, %d doubled; %d events, %d audit records, %d checkpoints kept; restart median %d ms, most %d ms; seed %d",
			half, killed.Seconds()/float64(half), len(l.ledger), l.writes.Load(), l.repeats.Load(), f.lost, f.doubled, len(here.events), len(here.audit), len(known),
			middle(restarts).Milliseconds(), restarts[len(restarts)-1].Milliseconds(), seed)
		p.stop()
	})
}

// checkpoint keeps what the service has signed so far: the log must never again
// be shorter or another one.
func (s *site) checkpoint(known []string) []string {
	s.Helper()
	var note []byte
	if err := s.user("root").send(s.Context(), "GET", "/v1/audit/checkpoint", "", "", nil, &note); err != nil {
		return nil // it was asked too late
	}
	path := filepath.Join(s.dir, "checkpoint-"+string(rune('a'+len(known)%26))+time.Now().Format("150405.000000"))
	if err := os.WriteFile(path, note, 0o600); err != nil {
		s.Fatal(err)
	}
	return []string{path}
}

func middle(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 100 * time.Millisecond
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}
