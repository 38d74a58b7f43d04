//go:build unix

package e2e_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// The waits of docs/spec/contracts.md §4.4 and §12 as they are in production;
// everywhere else a test moves the clock.

func needsTime(t *testing.T) {
	t.Helper()
	if !*slow {
		t.Skipf("SKIPPED: %s waits for minutes: make slow", t.Name())
	}
	t.Parallel()
}

// frozen waits until a contract is, for longer than until does, and holds how
// long it took.
func (j *journey) frozen(kind, cause string, atLeast, atMost time.Duration) {
	j.Helper()
	begun := time.Now()
	for {
		c := j.chain(j.intent)
		one, _ := c.of(kind)
		waited := time.Since(begun)
		if one.Contract.State == "Frozen" {
			if one.Meta.FreezeCause != cause {
				j.Errorf("%s is frozen for %s, want %s", one.Contract.ID, one.Meta.FreezeCause, cause)
			}
			if waited < atLeast {
				j.Errorf("%s was frozen after %v, want at least %v of attempts", one.Contract.ID, waited, atLeast)
			}
			j.Logf("%s: frozen for %s after %.1f s", one.Contract.ID, cause, waited.Seconds())
			return
		}
		if waited > atMost {
			j.Fatalf("%s is %s after %v", j.intent, one.Contract.State, waited)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func TestSlowAGenerationThatFailsFourTimesFreezesItsSource(t *testing.T) {
	needsTime(t)
	path := filepath.Join(t.TempDir(), "plimsoll.db")
	s := found(t, "sqlite:"+path)
	alter := func(statement string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	alter(`CREATE TRIGGER broken BEFORE INSERT ON contracts WHEN NEW.kind = 'TaskSeed' BEGIN SELECT RAISE(ABORT, 'the generator is broken'); END`)
	p := s.serve()
	repo := project(t)
	j := &journey{site: s, repo: repo, intent: "IC-001"}
	s.must(s.command("ada", "intent", "create", "Greet the world"))
	s.must(s.command("lea", "intent", "approve", j.intent))
	j.frozen("IntentContract", "generation_failed", 205*time.Second, 300*time.Second)
	failed := all[record](s, s.user("root"), "/v1/audit", map[string][]string{"action": {"generation.failed"}})
	if len(failed) != 4 {
		t.Errorf("the log has %d failed attempts, want 4", len(failed))
	}
	p.stop()

	alter(`DROP TRIGGER broken`)
	s.serve()
	s.must(s.command("lea", "contract", "resume", j.intent, "--resolution", "the generator is mended"))
	j.task = j.wait("TaskSeed", func(document) bool { return true }).Contract.ID
	j.judged(edits)
	j.reviewed("lea")
	j.published()
	s.prove()
}

func TestSlowALockThatStaysHeldFreezesWhatWaitsForIt(t *testing.T) {
	needsTime(t)
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		s.serve()
		j := s.ask(project(t), "Greet the world", "read_repo", "write_repo")
		s.must(j.work(edits))
		a := j.wait("Acceptance", func(d document) bool { return d.Status == "pending" })
		body := map[string]any{"keys": []string{"contract:" + a.Contract.ID}}
		if err := s.user("bot").in("developer").post(t.Context(), "/v1/locks", "lock-1", body, nil); err != nil {
			t.Fatal(err)
		}
		j.phase("Stabilize")
		s.must(j.work(tests))
		j.frozen("Acceptance", "lock_exhausted", 100*time.Second, 200*time.Second)
	})
}
